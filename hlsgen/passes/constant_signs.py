"""Signs that are the same for every input: what exporters make of an activation of one unsigned bit.

Brevitas exports QuantReLU(bit_width=1), which gives 0 or s, as a ReLU and a BipolarQuant, which gives -s or
s. The file says what qonnx computes, +s everywhere, and no longer what was trained.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Add, Mul
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.pad import Pad
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.table import Table
from hlsgen.layers.thresholds import Thresholds
from hlsgen.layers.unary import Selection
from hlsgen.model.ir import Graph
from hlsgen.passes.quantisers import FakeQuant

WARNING = (
    "{name} is the sign of values that are never below 0, so that all its results are +{size:g}: Brevitas "
    "exports QuantReLU(bit_width=1), which gives 0 or {size:g}, this way (fix: train with "
    "QuantReLU(bit_width=2), or a QuantIdentity of one bit without a ReLU before it)"
)
NEVER_BELOW_ZERO = frozenset({"sigmoid", "hard_sigmoid", "exp", "abs", "softplus"})


def constant_signs(graph: Graph) -> list[str]:
    """A sentence for each sign, in a float graph, of values that are never below 0."""
    found: set[str] = set()
    """Tensors without a value below 0, whatever the network reads."""
    sentences = []
    for layer in graph.layers:
        if isinstance(layer, FakeQuant) and layer.grid.bipolar and layer.inputs[0] in found:
            sentences.append(WARNING.format(name=layer.name, size=layer.grid.scale.max()))
        if _never_below_zero(layer, found):
            found.add(layer.name)
    return sentences


def _never_below_zero(layer: Layer, found: Collection[str]) -> bool:
    """Whether no result of a layer is below 0. found: the tensors of which that is known."""
    match layer:
        case Clamp() | Conv2d() if layer.low is not None and layer.low >= 0:
            return True
        case Table():
            return layer.function in NEVER_BELOW_ZERO
        case Thresholds():
            return min(layer.values[0], layer.values[-1]) >= 0
        case FakeQuant() if layer.grid.low >= 0:
            return True
        case Affine() if (np.asarray(layer.weights) < 0).any() or (np.asarray(layer.bias) < 0).any():
            return False
        case Pad() if layer.value < 0:
            return False
        case FakeQuant() if layer.grid.bipolar:
            return False
        case (
            Selection()
            | Pool2d()
            | GlobalPool()
            | Concat()
            | Add()
            | Mul()
            | Affine()
            | Clamp()
            | FakeQuant()
        ):
            return all(source in found for source in layer.inputs)
    return False
