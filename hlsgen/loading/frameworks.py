"""The dispatcher from a model, as its framework or its file has it, to its graph: an entry for each.

Another framework is another entry of FRAMEWORKS, a folder of hlsgen/frontends, and its key of `model:` in
hlsgen/designfile/model_schema.py.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hlsgen.base.errors import Place
from hlsgen.base.fixed import FixedType
from hlsgen.base.progress import Say, silent
from hlsgen.base.short_repr import Brief
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.documents import ModelDocument
from hlsgen.model.ir import Graph
from hlsgen.model.origins import LayerValues, Origin
from hlsgen.model.precision import Precision
from hlsgen.styles.network_style import NetworkStyle

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

    @cached_property
    def module(self) -> Any:
        """The PyTorch module that this is, or that its function makes: once, as it may differ each time."""
        from hlsgen.frontends.torch.load import load_module

        if self.function is None:
            return self.model
        return load_module(self.model, self.function, self.weights, self.place)


@dataclass(frozen=True, kw_only=True)
class Framework(Brief):
    """How models of a framework are read.

    endings: of its files. shapes: whether the user says those of the inputs: they are needed, the file has
    them, or it may leave them open. values: how the framework itself runs a model and shows these tensors.
    """

    title: str
    endings: tuple[str, ...]
    shapes: Literal["needed", "known", "open"]
    read: Callable[[Source, Say], Graph]
    values: Callable[[Source, Sequence[Origin]], LayerValues]
    modules: Callable[[Source], ModelDocument] | None = None


@dataclass(frozen=True, kw_only=True)
class Original(Brief):
    """The model that a design was made from, to be run by its framework: a FrameworkModel.

    A model from a file of Keras or ONNX is read once more then.
    """

    framework: str
    source: Source

    def layer_values(self, origins: Sequence[Origin]) -> LayerValues:
        """What runs the model and shows these tensors. Raises DesignError, ToolError as `graph_of` does."""
        return FRAMEWORKS[self.framework].values(self.source, origins)

    def modules(self) -> ModelDocument | None:
        """The model written down, module by module; None: its framework has none."""
        modules = FRAMEWORKS[self.framework].modules
        return None if modules is None else modules(self.source)


def with_original(style: NetworkStyle[Any], original: Original | None) -> NetworkStyle[Any]:
    """A network that knows the model it was made from; of one with modules the graph as read is not kept."""
    has_modules = original is not None and FRAMEWORKS[original.framework].modules is not None
    return replace(style, original=original, as_read=None if has_modules else style.as_read)


def graph_of(framework: str, source: Source, say: Say = silent) -> Graph:
    """The graph of a model. `say` is told what was mended. Raises DesignError, ToolError as frontends do."""
    graph = FRAMEWORKS[framework].read(source, say)
    if sum(one.weights.nbytes for one in graph.layers if isinstance(one, Conv2d)) > LARGE_BYTES:
        gc.collect()  # a framework's own graph holds itself in circles, and all weights with it
    return graph


def _torch(source: Source, _: Say) -> Graph:
    from hlsgen.frontends.torch.to_graph import graph_of_module

    assert not isinstance(source.input_shapes, Mapping), "of a module they are in the order of its arguments"
    return graph_of_module(source.module, list(source.input_shapes), name=source.name)


def _torch_values(source: Source, origins: Sequence[Origin]) -> LayerValues:
    from hlsgen.frontends.torch.layer_values import layer_values

    assert not isinstance(source.input_shapes, Mapping), "of a module they are in the order of its arguments"
    return layer_values(source.module, list(source.input_shapes), origins)


def _torch_modules(source: Source) -> ModelDocument:
    from hlsgen.frontends.torch.modules import module_document

    assert not isinstance(source.input_shapes, Mapping), "of a module they are in the order of its arguments"
    return module_document(source.module, list(source.input_shapes))


def _qkeras(source: Source, _: Say) -> Graph:
    from hlsgen.frontends.qkeras.to_graph import graph_of_keras

    return graph_of_keras(
        source.model,
        name=source.name,
        input_type=source.input_types[0] if source.input_types else None,
        precision=source.precision,
        weights=source.weights,
    )


def _qkeras_values(source: Source, origins: Sequence[Origin]) -> LayerValues:
    from hlsgen.frontends.qkeras.layer_values import layer_values
    from hlsgen.frontends.qkeras.load import loaded_model
    from hlsgen.frontends.qkeras.to_graph import NAMES

    return layer_values(loaded_model(source.model, NAMES, source.weights), origins)


def _onnx_values(source: Source, origins: Sequence[Origin]) -> LayerValues:
    from hlsgen.frontends.onnx.layer_values import layer_values

    return layer_values(source.model, source.input_shapes, origins)


def _onnx(source: Source, say: Say) -> Graph:
    from hlsgen.frontends.onnx.to_graph import graph_of_onnx

    return graph_of_onnx(
        source.model,
        name=source.name,
        input_types=source.input_types,
        input_shapes=source.input_shapes,
        output_type=source.precision.output if source.precision else None,
        say=say,
    )


LARGE_BYTES = 1 << 26
"""Weights that are worth a fraction of a second for the memory of their copies."""

FRAMEWORKS = {
    "torch": Framework(
        title="PyTorch",
        endings=(".py",),
        shapes="needed",
        read=_torch,
        values=_torch_values,
        modules=_torch_modules,
    ),
    "qkeras": Framework(
        title="QKeras",
        endings=(".h5", ".hdf5", ".keras", ".json"),
        shapes="known",
        read=_qkeras,
        values=_qkeras_values,
    ),
    "onnx": Framework(title="ONNX", endings=(".onnx",), shapes="open", read=_onnx, values=_onnx_values),
}
"""The frameworks, by the key of `model:` in a design file."""
