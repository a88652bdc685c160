"""The dispatcher from a model, as its framework or its file has it, to its graph: an entry for each.

Another framework is another entry of FRAMEWORKS, a folder of hlsgen/frontends, and its key of `model:` in
hlsgen/designfile/model_schema.py.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hlsgen.base.errors import Place
from hlsgen.base.fixed import FixedType
from hlsgen.base.progress import Say, silent
from hlsgen.base.short_repr import Brief
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.model.precision import Precision

if TYPE_CHECKING:
    from hlsgen.frontends.onnx.input_shapes import InputShapes


@dataclass(frozen=True, kw_only=True)
class Source(Brief):
    """A model, and what its user says of it besides.

    model: the framework's own object, or the path of a file. function: of a Python file, what makes the
    model. name: the graph's. input_shapes: of a frame of each input. input_types: of inputs that a quantised
    model does not quantise first. precision: of what has no quantizer beside what has one. weights: a file
    beside the model's. place: where a design file names the model.
    """

    model: Any
    name: str
    function: str | None = None
    input_shapes: InputShapes = ()
    input_types: Sequence[FixedType | None] = ()
    precision: Precision | None = None
    weights: Path | None = None
    place: Place | None = None


@dataclass(frozen=True, kw_only=True)
class Framework(Brief):
    """How models of a framework are read.

    endings: of its files. shapes: whether the user says those of the inputs: they are needed, the file has
    them, or it may leave them open.
    """

    title: str
    endings: tuple[str, ...]
    shapes: Literal["needed", "known", "open"]
    read: Callable[[Source, Say], Graph]


def graph_of(framework: str, source: Source, say: Say = silent) -> Graph:
    """The graph of a model. `say` is told what was mended. Raises DesignError, ToolError as frontends do."""
    graph = FRAMEWORKS[framework].read(source, say)
    if sum(one.weights.nbytes for one in graph.layers if isinstance(one, Conv2d)) > LARGE_BYTES:
        gc.collect()  # a framework's own graph holds itself in circles, and all weights with it
    return graph


def _torch(source: Source, _: Say) -> Graph:
    from hlsgen.frontends.torch.to_graph import graph_of_module, load_module

    assert not isinstance(source.input_shapes, Mapping), "of a module they are in the order of its arguments"
    module = source.model
    if source.function is not None:
        module = load_module(source.model, source.function, source.weights, source.place)
    return graph_of_module(module, list(source.input_shapes), name=source.name)


def _qkeras(source: Source, _: Say) -> Graph:
    from hlsgen.frontends.qkeras.to_graph import graph_of_keras

    return graph_of_keras(
        source.model,
        name=source.name,
        input_type=source.input_types[0] if source.input_types else None,
        precision=source.precision,
        weights=source.weights,
    )


def _onnx(source: Source, say: Say) -> Graph:
    from hlsgen.frontends.onnx.to_graph import graph_of_onnx

    return graph_of_onnx(
        source.model,
        name=source.name,
        input_types=source.input_types,
        input_shapes=source.input_shapes,
        say=say,
    )


LARGE_BYTES = 1 << 26
"""Weights that are worth a fraction of a second for the memory of their copies."""

FRAMEWORKS = {
    "torch": Framework(title="PyTorch", endings=(".py",), shapes="needed", read=_torch),
    "qkeras": Framework(
        title="QKeras", endings=(".h5", ".hdf5", ".keras", ".json"), shapes="known", read=_qkeras
    ),
    "onnx": Framework(title="ONNX", endings=(".onnx",), shapes="open", read=_onnx),
}
"""The frameworks, by the key of `model:` in a design file."""
