"""The words in which a convolution's rows come from DDR and go there, and the iterations that they take."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from hlsgen.base.fixed import NumberType
from hlsgen.hardware.conv_folding import Folding
from hlsgen.hardware.wave import Wave
from hlsgen.layers.conv2d import Conv2d
from hlsgen.targets.board import Board

RowColumns = tuple[int, int]
"""Columns of a row in DDR, with its padding, in and out."""
FLOAT_SUM_LATENCY = 12
"""Iterations between two uses of a partial sum in fp32: the adder (7 to 8 cycles) and the memory around it.
"""
FIXED_SUM_LATENCY = 4
BAND_LATENCY = 8
"""Iterations from the write of an element of the band to its first read that the pipeline is allowed to need.
"""
TRANSFER_SLACK = 0.75
"""Share of the cycles in which results leave: DDR needs the rest for refreshes and turns."""
LATENCY_WORDS = 256
"""Words of bursts under way that cover the latency of DDR at one word a cycle."""
MOST_BURST = 64
MOST_OUTSTANDING = 64


def pass_columns(wave: Wave, channel_steps: int, drain_words: int) -> int:
    """Iterations of a pass: the columns, or what its results take to leave, or what a sum needs until its
    next use.
    """
    drain = math.ceil(drain_words / TRANSFER_SLACK)
    columns = max(wave.columns, -(-drain // channel_steps))
    if channel_steps == 1:
        return columns
    latency = FLOAT_SUM_LATENCY if wave.layer.is_float else FIXED_SUM_LATENCY
    return max(columns, latency)


def fill_stalls(wave: Wave, in_lanes: int, tile_iterations: int) -> tuple[int, int]:
    """(in a frame, after its last tile): iterations that only fill, as words arrive one an iteration."""
    channels, _, width = wave.layer.in_shape
    row_words = channels * -(-width // in_lanes)
    rows = wave.rows_by_tile
    waits = np.where(rows > 0, rows * row_words - tile_iterations + BAND_LATENCY, 0).clip(0)
    return int(waits.sum()), int(waits[0])


def row_columns(layer: Conv2d, board: Board) -> list[RowColumns]:
    """The columns of a row in DDR, its padding to whole words included, that there may be in and out."""
    ports = ((layer.input_type, layer.in_shape[2]), (layer.result_type, layer.output_shape[2]))
    read, written = (
        sorted({_padded(width, lanes) for lanes in _lane_choices(type_, width, board)})
        for type_, width in ports
    )
    return list(product(read, written))


def input_lanes(wave: Wave, tile_iterations: int, board: Board, columns: int | None = None) -> int:
    """Neighbouring columns of a word: a power of two, the fewest with which no tile (or the least time) waits
    for its rows.
    """
    choices = _lane_choices(wave.layer.input_type, wave.layer.in_shape[2], board, columns)
    return min(choices, key=lambda lanes: (fill_stalls(wave, lanes, tile_iterations), lanes))


def output_lanes(wave: Wave, folding: Folding, board: Board, padded: int | None = None) -> int:
    """Neighbouring columns of an output word: the fewest with which a pass is not longer than its columns."""
    layer = wave.layer
    channel_steps = layer.in_shape[0] // folding.simd
    width = layer.output_shape[2]

    def columns(lanes: int) -> int:
        return pass_columns(wave, channel_steps, folding.rows * folding.pe * -(-width // lanes))

    choices = _lane_choices(layer.result_type, width, board, padded)
    return min(choices, key=lambda lanes: (columns(lanes), lanes))


def _lane_choices(type_: NumberType, width: int, board: Board, columns: int | None = None) -> list[int]:
    """Powers of two up to the port's width; more than a row has columns would only be padding.

    columns: those of a row with its padding; None: any.
    """
    most = max(1, board.memory.port_bits // type_.container_bits)
    found = [1 << power for power in range(most.bit_length()) if power == 0 or 1 << power - 1 < width]
    return [lanes for lanes in found if columns in (None, _padded(width, lanes))]


def _padded(width: int, lanes: int) -> int:
    return -(-width // lanes) * lanes


def burst_limit(shortest: int) -> int:
    """The m_axi burst length for bursts of at least `shortest` words: a power of two."""
    return min(MOST_BURST, 1 << (shortest - 1).bit_length())


def outstanding(shortest: int) -> int:
    """Bursts under way that cover the latency of DDR."""
    return max(2, min(MOST_OUTSTANDING, -(-LATENCY_WORDS // shortest)))
