"""Averages as sums whose divisor goes to the scale: exact in integers."""

from __future__ import annotations

from dataclasses import replace

from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.pool2d import Pool2d


def counts_zeros(layer: Pool2d | GlobalPool) -> bool:
    """Whether zeros outside the image take part in an average."""
    if isinstance(layer, GlobalPool):
        return False
    return layer.divisor is not None or (layer.count_include_pad and any(layer.padding))


def summed(layer: Pool2d | GlobalPool) -> tuple[Pool2d | GlobalPool, int]:
    """An average as a sum and what it must be divided by; itself and 1 if the windows differ."""
    if isinstance(layer, GlobalPool):
        return replace(layer, function="sum"), layer.pixels
    if len(layer.distinct_counts) > 1:
        return layer, 1
    return replace(layer, divisor=1), layer.distinct_counts[0]
