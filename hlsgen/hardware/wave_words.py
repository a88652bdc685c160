"""How many pixels a word of a front wave's streams has, and the rows that arrive for each of its tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from hlsgen.hardware.wave import wave_of
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import Times


def fewest_waiting(choices: Sequence[int], waits: Callable[[int], int]) -> int:
    """The first of `choices` that makes nothing wait, else the first of those that make wait the least."""
    found = choices[0]
    least = waits(found)
    for choice in choices[1:]:
        if not least:
            break
        longer = waits(choice)
        if longer < least:
            found, least = choice, longer
    return found


def powers(width: int, most: int) -> list[int]:
    """Powers of two up to `most`; more pixels than a row has would only be padding."""
    found, px = [1], 2
    while px <= most and px // 2 < width:
        found.append(px)
        px *= 2
    return found


# a search looks at hundreds of foldings of a layer, one layer after the other


@lru_cache(maxsize=32)
def rows_arriving(layer: Conv2d, rows: int) -> Times:
    """[tiles] rows of the input that arrive for each tile, those below the last window with the last one."""
    wave = wave_of(layer, rows)
    found = wave.rows_by_tile.copy()
    found[-1] += layer.read_shape[1] - wave.rows_used
    return found


@lru_cache(maxsize=32)
def arriving_rows(layer: Conv2d, rows: int) -> tuple[Times, Times]:
    """The different values of `rows_arriving`, and how often each is."""
    values, counts = np.unique(rows_arriving(layer, rows), return_counts=True)
    return values, counts


@lru_cache(maxsize=32)
def arriving_pairs(layer: Conv2d, rows: int) -> tuple[tuple[int, int], ...]:
    """`arriving_rows` as plain numbers."""
    values, counts = arriving_rows(layer, rows)
    return tuple(zip(values.tolist(), counts.tolist(), strict=True))
