"""A cast right after a layer that has no exact type becomes that layer's own, so that it rounds once.

before  sigmoid1 (gives ufixed<16,1>, for want of a better type) -> quant1 (cast to ufixed<8,0,rnd_conv,sat>)
after   sigmoid1 gives ufixed<8,0,rnd_conv,sat>

This is for a graph whose types `integer_graph` has just chosen: a result that nothing but a quantiser reads
has no type of its own. What is exact before a cast fuse_clamp and fuse_cast have joined before.
"""

from __future__ import annotations

from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Binary
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.table import Table
from hlsgen.layers.unary import Selection
from hlsgen.model.ir import Graph
from hlsgen.passes.rewriting import merged


def round_once(graph: Graph) -> Graph:
    """Quantisers cost no stage of their own after a function or an average.

    Of two in a row the first alone: what it rounds to the second rounds again.
    """
    quantised: set[str] = set()

    def joined(first: Layer, second: Layer) -> Layer | None:
        both = None if first.name in quantised else _rounded_once(first, second)
        if both is not None:
            quantised.add(first.name)
        return both

    return merged(graph, joined)


def _rounded_once(first: Layer, second: Layer) -> Layer | None:
    if not isinstance(second, Cast) or isinstance(first, Cast | Clamp | Conv2d | Binary | Selection):
        return None  # joined before where they are exact
    if isinstance(first, Table) and not first.is_exact:
        return None  # straight pieces are good to a quarter of a step of what they give: the finer the better
    if isinstance(first, Table) and first.units is not None:
        return None  # rounded for its quantiser already
    joined = first.retyped(tuple(tensor.type for tensor in first.sources), second.result_type)
    return None if joined.check() else joined
