"""The foldings of a convolution as a front wave: rows x PE x SIMD, and what multiplies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hlsgen.hardware.conv_folding import MOST_PARTITIONS
from hlsgen.hardware.wave import wave_of
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.conv2d_stage import MOST_TERMS, in_dsp
from hlsgen.layers.packing import SHORTEST_CHAIN
from hlsgen.layers.stage import Fold

MOST_ROWS = 32
MOST_WASTE = 1.15
"""Rows computed for each row of the image."""
MOST_WAVE = 40
"""Elements of a channel that an iteration reads: the banks' crossbar grows with their square."""


def wave_folds(layer: Conv2d) -> Iterator[Fold]:
    """Foldings of the front wave with all multipliers in DSPs, the least parallel first.

    Of row counts that cut the image into equally many tiles only the smallest.
    """
    shapes = {(fold.pe, fold.simd): None for fold in layer.folds() if fold.px == 1}
    for rows in row_counts(layer.output_shape[1]):
        wave = wave_of(layer, rows)
        if rows > 1 and len(wave.row_offsets) * wave.columns_read > MOST_WAVE:
            continue
        for pe, simd in shapes:
            terms = min(simd, layer.group_channels) * layer.taps
            if pe * terms > MOST_PARTITIONS or rows * pe * terms > MOST_TERMS:
                continue
            fold = Fold(rows=rows, pe=pe, simd=simd)
            yield fold
            if _packs(layer, fold):
                yield replace(fold, multipliers="packed")


def _packs(layer: Conv2d, fold: Fold) -> bool:
    if layer.is_float or not in_dsp(layer) or fold.pe % 2 or fold.simd > layer.group_channels:
        return False
    return min(layer.packed_chain, fold.simd * layer.taps) >= SHORTEST_CHAIN


def spread_folds(layer: Conv2d, fold: Fold, parts: int = 8, wished: object = None) -> Iterator[Fold]:
    """`fold` with some of `parts` parts, or all, of the PE's multipliers (float32: adders) in logic cells.

    wished: how many PE's, if that is given.
    """
    if not layer.is_float and not in_dsp(layer):
        return
    packed = fold.multipliers == "packed"
    if not packed:
        yield replace(fold, fabric_pe=fold.pe, multipliers="fabric")
    some = {fold.pe * part // parts for part in range(1, parts)}
    if isinstance(wished, int) and wished < fold.pe:
        some = {wished}
    for fabric_pe in sorted(some - {0}):
        # packed multipliers serve pairs of channels
        if not packed or fabric_pe % 2 == 0:
            yield replace(fold, fabric_pe=fabric_pe)


def row_counts(height: int) -> list[int]:
    """Row counts up to MOST_ROWS that compute few rows beyond the image.

    Of those with equally many tiles only the smallest.
    """
    found = {tiles: -(-height // tiles) for tiles in range(1, height + 1)}
    return sorted(
        {
            rows
            for tiles, rows in found.items()
            if rows <= MOST_ROWS and (rows * tiles <= height * MOST_WASTE or rows <= 2)
        }
    )
