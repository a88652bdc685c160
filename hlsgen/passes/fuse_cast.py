"""A change of type right after a layer that gives its exact result becomes that layer's own.

before  conv1 (gives its accumulator) -> act1 (cast to ufixed<8,3,rnd_conv,sat>)
after   conv1 gives ufixed<8,3,rnd_conv,sat>

Nothing is lost: the exact result holds every bit, so casting it once is the same.
"""

from __future__ import annotations

from dataclasses import replace

from hlsgen.base.fixed import FixedType
from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Binary
from hlsgen.layers.cast import Cast
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.passes.rewriting import merged


def fuse_cast(graph: Graph) -> Graph:
    """Quantizers cost no stage of their own after a convolution or a sum."""
    return merged(graph, _fused)


def _fused(first: Layer, second: Layer) -> Layer | None:
    if not isinstance(second, Cast) or not isinstance(second.result_type, FixedType):
        return None
    if first.is_float:
        return None  # from half to fixed point a cast has an arithmetic of its own
    if isinstance(first, Conv2d) and first.result_type == first.accumulator:
        return replace(first, result_type=second.result_type)
    if isinstance(first, Binary) and first.result_type == first.exact_type:
        return replace(first, result_type=second.result_type)
    return None
