"""Limits right after a convolution become the convolution's own.

before  conv1 -> relu1 (clamp at 0)
after   conv1 with low = 0

Fixed point: only where the clamp reads the exact sums, since then nothing is rounded between the two.
"""

from __future__ import annotations

from dataclasses import replace

from hlsgen.base.fixed import FixedType
from hlsgen.layers.base import Layer
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.passes.rewriting import merged


def fuse_clamp(graph: Graph) -> Graph:
    """ReLU, ReLU6 and their like cost no stage of their own after a convolution."""
    return merged(graph, _fused)


def _fused(first: Layer, second: Layer) -> Layer | None:
    if not isinstance(first, Conv2d) or not isinstance(second, Clamp):
        return None
    if isinstance(first.result_type, FixedType) and first.result_type != first.accumulator:
        return None
    if first.low is not None or first.high is not None:
        return None
    if second.low is not None and second.high is not None and second.low > second.high:
        return None
    return replace(first, low=second.low, high=second.high, result_type=second.result_type)
