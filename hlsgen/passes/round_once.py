"""Casts and limits taken into the layer before them, so that it rounds once and no stage only casts.

before  sigmoid1 (gives ufixed<16,1>, for want of a better type) -> quant1 (cast to ufixed<8,0,rnd_conv,sat>)
after   sigmoid1 gives ufixed<8,0,rnd_conv,sat>

This is for a graph whose types a frontend has just chosen: a result that nothing but a quantiser reads has no
type of its own. What is exact before a cast the passes of every graph join, and they are used here too.
"""

from __future__ import annotations

from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Binary
from hlsgen.layers.cast import Cast
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.table import Table
from hlsgen.layers.unary import Selection
from hlsgen.model.ir import Graph
from hlsgen.passes.fuse_cast import fuse_cast
from hlsgen.passes.fuse_clamp import fuse_clamp
from hlsgen.passes.rewriting import merged


def fused(graph: Graph) -> Graph:
    """The graph without the casts and limits that the layer before can do."""
    return merged(fuse_cast(fuse_clamp(graph)), _rounded_once)


def _rounded_once(first: Layer, second: Layer) -> Layer | None:
    if not isinstance(second, Cast) or isinstance(first, Cast | Conv2d | Binary | Selection):
        return None  # of sums and products the passes have joined what is exact
    if isinstance(first, Table) and not first.is_exact:
        return None  # straight pieces are good to a quarter of a step of what they give: the finer the better
    joined = first.retyped(tuple(tensor.type for tensor in first.sources), second.result_type)
    return None if joined.check() else joined
