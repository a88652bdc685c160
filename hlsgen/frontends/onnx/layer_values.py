"""What ONNX' own runtimes compute in every tensor of a model.

ONNX Runtime where it is installed, with every tensor as an output, nothing fused, and products of integers
that are the same on every processor; QONNX's execution for models with its quantisers; else the reference
evaluator of the package onnx.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from hlsgen.base.errors import ToolError
from hlsgen.base.progress import silent
from hlsgen.frontends.onnx.dialects import CHANNELS_LAST, QUANT_DOMAINS
from hlsgen.frontends.onnx.functions import every_node
from hlsgen.frontends.onnx.input_shapes import InputShapes
from hlsgen.frontends.onnx.integer_products import make_signs_alike
from hlsgen.frontends.onnx.model import OnnxModel, loaded_model, onnx_package
from hlsgen.model.origins import Floats, FrameworkRun, LayerValues, Origin

RUNTIME_IR = 10
"""The IR version that ONNX Runtime of today and of some years ago knows; newer ones add nothing read here."""
Feed = dict[str, Any]
Tensors = Callable[[Feed], Mapping[str, Any]]


def layer_values(source: Any, input_shapes: InputShapes, origins: Sequence[Origin]) -> LayerValues:
    """Runs the model on frames and shows these tensors of it, those inside a branch of an If left out.

    Frames go through it as many at a time as the model says, one where it leaves that open. Raises ToolError:
    QONNX's quantisers without the package qonnx, or a runtime fails on the model. Else as `loaded_model`.
    """
    model = loaded_model(source, input_shapes, silent)
    outer = {name for node in model.proto.graph.node for name in node.output}
    shapes = {one.key: one.shape for one in origins if one.key in outer}
    tensors = _runner(model, list(dict.fromkeys([*model.outputs, *shapes])))

    def run(frames: Sequence[Floats]) -> FrameworkRun:
        parts: dict[str, list[Floats]] = {}
        count = len(frames[0])
        for first in range(0, count, model.batch):
            some = min(model.batch, count - first)
            for name, array in tensors(_feed(model, frames, first)).items():
                parts.setdefault(name, []).append(np.asarray(array, np.float64)[:some])
        values = {name: np.concatenate(arrays) for name, arrays in parts.items()}
        return FrameworkRun(
            outputs=[values[name] for name in model.outputs],
            layers={
                name: values[name]
                for name, shape in shapes.items()
                if name in values and values[name].shape[1:] == shape
            },
        )

    return LayerValues(title=runtime(model.proto), of=run)


def _feed(model: OnnxModel, frames: Sequence[Floats], first: int) -> Feed:
    """A batch from frame `first` on, its last frame again where there are too few."""
    feed = {}
    for one, array in zip(model.inputs, frames, strict=True):
        where = np.minimum(np.arange(first, first + model.batch), len(array) - 1)
        feed[one.name] = np.asarray(array[where]).astype(one.dtype)
    return feed


def runtime(proto: Any) -> str:
    """The name of what runs a model here."""
    if any(node.domain in (*QUANT_DOMAINS, CHANNELS_LAST) for node in every_node(proto.graph)):
        return "QONNX"
    return "ONNX Runtime" if importlib.util.find_spec("onnxruntime") else "onnx.reference"


def _runner(model: OnnxModel, names: Sequence[str]) -> Tensors:
    name = runtime(model.proto)
    try:
        if name == "QONNX":
            return _with_qonnx(model, names)
        return _with_onnxruntime(model, names) if name == "ONNX Runtime" else _with_reference(model, names)
    except ImportError as error:
        message = f"running {model.title} needs the package {error.name or 'qonnx'}, which cannot be imported"
        raise ToolError(f"{message}\nfix: pip install qonnx, or a trace without the framework") from None


def _with_onnxruntime(model: OnnxModel, names: Sequence[str]) -> Tensors:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    shown = _showing(model, names)
    try:
        make_signs_alike(shown)
        session = onnxruntime.InferenceSession(
            shown.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # of onnx' and onnxruntime's own classes, which share no base
        raise _failure(model, "ONNX Runtime", error) from None
    return _guarded(
        model, "ONNX Runtime", lambda feed: dict(zip(names, session.run(names, feed), strict=True))
    )


def _with_reference(model: OnnxModel, names: Sequence[str]) -> Tensors:
    evaluator = onnx_package().reference.ReferenceEvaluator(_showing(model, names))
    return _guarded(
        model, "onnx.reference", lambda feed: dict(zip(names, evaluator.run(list(names), feed), strict=True))
    )


def _with_qonnx(model: OnnxModel, names: Collection[str]) -> Tensors:
    with _quiet():
        execution = importlib.import_module("qonnx.core.onnx_exec")
        wrapper = importlib.import_module("qonnx.core.modelwrapper").ModelWrapper
        shapes = importlib.import_module("qonnx.transformation.infer_shapes").InferShapes
    copy = type(model.proto)()
    copy.CopyFrom(model.proto)
    for value, one in zip(_inputs(copy, model), model.inputs, strict=True):
        for axis, size in zip(value.type.tensor_type.shape.dim, (model.batch, *one.shape), strict=True):
            axis.dim_value = size
    try:
        with _quiet(), _runnable_nodes(execution):
            ready = wrapper(copy).transform(shapes())
    except Exception as error:  # whatever QONNX's passes raise for a model that they do not know
        raise _failure(model, "QONNX", error) from None

    def tensors(feed: Feed) -> Mapping[str, Any]:
        single = {name: array.astype(np.float32) for name, array in feed.items()}
        with _quiet(), _runnable_nodes(execution):
            every = execution.execute_onnx(ready, single, return_full_exec_context=True)
        return {name: every[name] for name in names if name in every}

    return _guarded(model, "QONNX", tensors)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what QONNX and its packages say of their own age."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _runnable_nodes(execution: Any) -> Iterator[None]:
    """QONNX has ONNX Runtime run a model of each node, of an IR that this may not know: now of RUNTIME_IR."""
    make_model = execution.qonnx_make_model
    execution.qonnx_make_model = partial(onnx_package().helper.make_model, ir_version=RUNTIME_IR)
    try:
        yield
    finally:
        execution.qonnx_make_model = make_model


def _inputs(proto: Any, model: OnnxModel) -> list[Any]:
    """The model's inputs in the order of `model.inputs`; initialisers may be among the graph's."""
    named = {value.name: value for value in proto.graph.input}
    return [named[one.name] for one in model.inputs]


def _showing(model: OnnxModel, names: Sequence[str]) -> Any:
    """A copy of the model whose outputs are these tensors."""
    copy = type(model.proto)()
    copy.CopyFrom(model.proto)
    del copy.graph.output[:]
    copy.graph.output.extend(onnx_package().ValueInfoProto(name=name) for name in names)
    copy.ir_version = min(copy.ir_version, RUNTIME_IR)
    return copy


def _guarded(model: OnnxModel, runtime_name: str, tensors: Tensors) -> Tensors:
    def run(feed: Feed) -> Mapping[str, Any]:
        try:
            return tensors(feed)
        except Exception as error:  # of the runtime's own classes, which share no base
            raise _failure(model, runtime_name, error) from None

    return run


def _failure(model: OnnxModel, runtime_name: str, error: Exception) -> ToolError:
    said = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
    return ToolError(f"{runtime_name} cannot run {model.title}: {said}\nfix: a trace without the framework")


def computed_shapes(model: OnnxModel, names: Sequence[str]) -> tuple[str, dict[str, tuple[int, ...]]]:
    """The name of the runtime, and the shapes, with the batch, of these tensors as it computes them of zeros.

    Raises ToolError: it cannot run the model.
    """
    zeros = [np.zeros((1, *one.shape)) for one in model.inputs]
    found = _runner(model, names)(_feed(model, zeros, 0))
    return runtime(model.proto), {name: tuple(np.shape(array)) for name, array in found.items()}
