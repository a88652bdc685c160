"""A scale and shift after a convolution goes into its weights; only in a network that is not quantised yet.

before  conv1 -> bn1 (affine) -> relu1
after   bn1' = conv1 with weights * scale and bias * scale + shift -> relu1

The convolution must have no limits of its own and no other reader. It keeps its name; readers of the affine
layer read the convolution. Two affine layers in a row become one in the same way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hlsgen.layers.affine import Affine
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.passes.rewriting import merged


def fold_affine(graph: Graph) -> Graph:
    """Batch norm disappears wherever a convolution, a dense or another affine layer is right before it."""
    return merged(graph, _folded)


def _folded(first: object, second: object) -> Conv2d | None:
    if not isinstance(first, Conv2d) or not isinstance(second, Affine) or not second.is_float:
        return None
    if first.low is not None or first.high is not None:
        return None
    scale = np.asarray(second.weights, np.float64).reshape(-1)
    weights = np.asarray(first.weights, np.float64) * scale[:, None, None, None]
    bias = np.zeros(first.out_channels) if not first.bias.size else np.asarray(first.bias, np.float64) * scale
    if second.bias.size:
        bias = bias + second.bias
    kept = bool(first.bias.size or second.bias.size)
    return replace(
        first, weights=weights, bias=bias if kept else np.zeros(0), low=second.low, high=second.high
    )
