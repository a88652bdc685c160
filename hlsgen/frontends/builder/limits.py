"""How large a model may be: what is larger is refused as it is read, before it takes gigabytes or minutes.

docs/networks.md states these figures. Those of a design file with one convolution: `design_file`.
"""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np

from hlsgen.base.errors import Problem
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.pool2d import Pool2d
from hlsgen.model.ir import Graph

MOST_TENSOR_ELEMENTS = 1 << 26
"""Elements of a tensor of one frame."""
MOST_FRAME_ELEMENTS = 1 << 29
"""Elements of all tensors of one frame together: golden holds them at once."""
MOST_MACS = 1 << 40
"""Multiply-accumulates of a frame; a pooling window counts as many as it has places."""
MOST_WINDOW_PLACES = 1 << 18
"""Places of a pooling window."""
MOST_NUMBER = 2.0**128
"""Magnitude of a weight: no float32 is larger."""

MOST_NODES = 1 << 16
"""Nodes of an ONNX graph, local functions written out."""
MOST_FOLDED_BYTES = 1 << 28
"""Bytes of all that is computed of an ONNX graph's constants, or this many times the constants themselves:"""
FOLDED_TIMES = 8
MOST_FOLDED_MACS = 1 << 32
"""Multiply-accumulates of a product of constants."""

MOST_PICKLE_BYTES = 1 << 24
"""Bytes of what a file of PyTorch's says about its tensors."""
MOST_PICKLE_STEPS = 1 << 20
"""Steps of the pickles in it: a tensor takes some forty."""
LEAST_UNPACKED_BYTES = 1 << 26
"""Bytes to which a file of PyTorch's may unpack, or so many times its size:"""
UNPACKED_TIMES = 16


def shape_problem(what: str, shape: tuple[int, ...]) -> Problem | None:
    """What is wrong with the size of a tensor of one frame."""
    elements = math.prod(shape)
    if elements <= MOST_TENSOR_ELEMENTS:
        return None
    sizes = " x ".join(map(str, shape))
    message = f"{what} of {sizes} has {elements:,} elements, more than {MOST_TENSOR_ELEMENTS:,}"
    return Problem(message=message, fix="a smaller image, or fewer channels")


def layer_problems(layer: Layer) -> list[Problem]:
    """What is wrong with the size of a layer, or with that of its numbers."""
    found = [shape_problem(f"{layer.name}: its result", layer.output_shape)]
    if isinstance(layer, Conv2d | Pool2d):
        channels, height, width = layer.sources[0].shape
        top, left, bottom, right = layer.padding
        padded = (channels, height + top + bottom, width + left + right)
        found.append(shape_problem(f"{layer.name}: its padded input", padded))
    if _window(layer) > MOST_WINDOW_PLACES:
        message = f"{layer.name}: a window of {_window(layer):,} places, more than {MOST_WINDOW_PLACES:,}"
        found.append(Problem(message=message, fix="a smaller window, or several in turn"))
    if not _largest(layer) <= MOST_NUMBER:
        message = f"{layer.name}: it has a weight of {_largest(layer):.3g}, which no float32 holds"
        found.append(Problem(message=message, fix="weights that a float32 holds"))
    return [problem for problem in found if problem is not None]


def graph_problems(graph: Graph) -> list[Problem]:
    """What is wrong with the size of a whole network."""
    elements = sum(math.prod(tensor.shape) for tensor in graph.tensors().values())
    work = sum(layer.macs + _window(layer) * math.prod(layer.output_shape) for layer in graph.layers)
    return [
        Problem(message=f"the model {graph.name} has {count:,} {what}, more than {most:,}", fix=fix)
        for count, what, most, fix in (
            (elements, "elements in the tensors of a frame", MOST_FRAME_ELEMENTS, "a smaller image"),
            (work, "multiply-accumulates a frame", MOST_MACS, "a smaller image or network"),
        )
        if count > most
    ]


def _largest(layer: Layer) -> float:
    """The largest magnitude of its floating-point parameters; NaN if there is one."""
    arrays = [value for one in fields(layer) if isinstance(value := getattr(layer, one.name), np.ndarray)]
    floats = [array for array in arrays if array.dtype.kind == "f"]
    ends = [end for array in floats for end in (array.max(initial=0.0), -array.min(initial=0.0))]
    return float(np.max(ends, initial=0.0))


def _window(layer: Layer) -> int:
    """Places of a pooling window; 0: the layer has none."""
    return math.prod(layer.kernel) if isinstance(layer, Pool2d) else 0
