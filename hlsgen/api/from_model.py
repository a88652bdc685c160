"""A trained network, as its framework has it -> a design: what `hlsgen.from_torch` and its like are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError, Problem, warned
from hlsgen.base.fixed import FixedType
from hlsgen.designfile.clock import DEFAULT_UNCERTAINTY
from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.designfile.margins import Margin
from hlsgen.designfile.precision_grammar import Given, precision_of
from hlsgen.loading.arguments import input_shapes
from hlsgen.loading.frameworks import Original, Source, graph_of, with_original
from hlsgen.loading.from_graph import Options, from_graph
from hlsgen.model.precision import to_nearest
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.targets.board import Board

if TYPE_CHECKING:
    import torch

    from hlsgen.frontends.onnx.input_shapes import InputShapes

Interface = str | Mapping[str, str] | None
Shapes = Sequence[int] | Sequence[Sequence[int]]
"""The shape of a frame, or of a frame of each input."""


def from_torch(
    model: torch.nn.Module,
    input_shape: Shapes,
    *,
    calibration: ArrayLike | Sequence[ArrayLike] | None = None,
    precision: Given = None,
    board: str | Board = "u200",
    clock_mhz: float | None = None,
    uncertainty: float = DEFAULT_UNCERTAINTY,
    margin: Margin | None = None,
    batch: int = 64,
    name: str | None = None,
    constraints: NetworkConstraints | None = None,
    style: str = "dataflow",
    interface: Interface = None,
) -> Design:
    """A PyTorch model as users write it -> a design. x and y of it are NCHW, as the model's.

    input_shape: without the batch; several inputs: a list of shapes. calibration: typical frames of the
    input(s), [N, *input_shape]. precision: "auto" (the default with calibration data), a type for all
    activations ("fixed<16,6>" without), a width such as 8 or "int8" (the range of each tensor is chosen from
    the calibration frames), or a mapping by layer name; see hlsgen.model.precision. "float32": weights and
    sums too, with style "tasks" or "shared".
    uncertainty: share of the clock's period that HLS keeps back for routing, margin: share of the usable LUTs
    and FFs that stays free for the model's error, or "auto" (None: the board's), as of the design file.
    style: "dataflow", one streaming kernel with every layer a stage; "tasks", a kernel for every layer;
    "shared", processors that run all layers as a program; "auto", the fastest of these that fits.
    interface: "memory" (the default): DDR at both ends; "stream": AXI streams from and to other kernels; or
    {"input": "stream"} and the like.
    Raises DesignError: an operation that there is no layer for, contradictory shapes, types too narrow.

    Example:

    >>> import numpy as np, torch, hlsgen
    >>> model = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU())
    >>> frames = np.random.default_rng(1).uniform(0, 1, (20, 1, 8, 8))
    >>> design = hlsgen.from_torch(model.eval(), input_shape=(1, 8, 8), calibration=frames, board="zcu102")
    >>> design.golden(frames).shape
    (20, 4, 8, 8)
    """
    options = Options(
        calibration=calibration,
        precision=precision,
        board=board,
        clock_mhz=clock_mhz,
        uncertainty=uncertainty,
        margin=margin,
        batch=batch,
        constraints=constraints,
        style=style,
        interface=interface,
    )
    source = Source(model=model, name=_name_of(model, name), input_shapes=input_shapes(input_shape))
    graph = graph_of("torch", source)
    return _design("torch", source, from_graph(graph, options, f"{type(model).__name__} (PyTorch)"))


def from_qkeras(
    model: object,
    *,
    calibration: ArrayLike | Sequence[ArrayLike] | None = None,
    precision: Given = None,
    board: str | Board = "u200",
    clock_mhz: float | None = None,
    uncertainty: float = DEFAULT_UNCERTAINTY,
    margin: Margin | None = None,
    batch: int = 64,
    name: str | None = None,
    constraints: NetworkConstraints | None = None,
    style: str = "dataflow",
    interface: Interface = None,
    weights: str | Path | None = None,
) -> Design:
    """A QKeras model (or its file) -> a design with just its quantizers' types. x and y are NHWC, as its own.

    precision={"input": type}: of inputs that no quantizer reads first, else fixed<16,6>; "default" and
    "weights": the types of layers without quantizers beside layers that have some; {"conv1": {"output":
    type}} and "accumulator": types in place of the quantizers', which is said as a warning. A plain model of
    Keras, 2 or 3, is quantised as `from_torch` does. weights: the file of them beside a .json file.
    Raises DesignError as `from_torch` does.

    Example:

    >>> import os
    >>> os.environ["TF_USE_LEGACY_KERAS"] = "1"  # QKeras asks for it, before TensorFlow is imported
    >>> import numpy as np, tf_keras, qkeras, hlsgen
    >>> kernel, act = qkeras.quantized_bits(4, 0, alpha=1), qkeras.quantized_relu(6, 2)
    >>> model = tf_keras.Sequential([
    ...     tf_keras.Input((8, 8, 1)),
    ...     qkeras.QConv2D(4, 3, kernel_quantizer=kernel, bias_quantizer=kernel, name="conv"),
    ...     qkeras.QActivation(act, name="relu"),
    ... ])
    >>> design = hlsgen.from_qkeras(model, precision={"input": "ufixed<8,0>"}, board="zcu102")
    >>> x = np.random.default_rng(1).integers(0, 256, (2, 8, 8, 1)) / 256
    >>> bool((design.golden(x) == model.predict(x, verbose=0)).all())
    True
    """
    options = Options(
        calibration=calibration,
        precision=precision,
        board=board,
        clock_mhz=clock_mhz,
        uncertainty=uncertainty,
        margin=margin,
        batch=batch,
        constraints=constraints,
        style=style,
        interface=interface,
    )
    wished, default = precision_of(precision), None
    source = Source(
        model=model,
        name=_name_of(model, name),
        input_types=[_wished_input(precision)],
        precision=wished,
        weights=None if weights is None else Path(weights),
    )
    graph = graph_of("qkeras", source)
    if not graph.input.is_float and isinstance(wished.default, FixedType):
        # the frontend has used the default for what has no quantizer
        default = wished.default
        options = replace(options, precision=replace(wished, default="auto", weights=None))
    made = from_graph(graph, options, f"{graph.name} (QKeras)", default_type=default)
    return _design("qkeras", source, made)


def from_onnx(
    model: object,
    *,
    input_shape: Shapes | Mapping[str, Sequence[int]] | None = None,
    calibration: ArrayLike | Sequence[ArrayLike] | None = None,
    precision: Given = None,
    board: str | Board = "u200",
    clock_mhz: float | None = None,
    uncertainty: float = DEFAULT_UNCERTAINTY,
    margin: Margin | None = None,
    batch: int = 64,
    name: str | None = None,
    constraints: NetworkConstraints | None = None,
    style: str = "dataflow",
    interface: Interface = None,
) -> Design:
    """An ONNX or QONNX file (or ModelProto) -> a design; quantised models keep their own types.

    input_shape: without the batch, of a model that leaves sizes open; several inputs: a list of shapes, or a
    mapping by name of those that are open. What is mended or doubtful in a model is said as a warning.
    precision of a quantised model: {"input": type}, of inputs that it computes with before it quantises them;
    {"output": type}, of its outputs, which are exact or have 16 bits below their step by default;
    {"conv1": {"output": type}} and "accumulator", in place of the model's, which is said as a warning.
    Raises DesignError as `from_torch` does.

    Example:

    >>> import numpy as np, onnx, hlsgen
    >>> rng = np.random.default_rng(1)
    >>> weights = onnx.numpy_helper.from_array(rng.normal(0, 0.3, (4, 1, 3, 3)).astype("float32"), "w")
    >>> graph = onnx.helper.make_graph(
    ...     [onnx.helper.make_node("Conv", ["x", "w"], ["y"])],
    ...     "net",
    ...     [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 1, 8, 8])],
    ...     [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 4, 6, 6])],
    ...     [weights],
    ... )
    >>> onnx.save(onnx.helper.make_model(graph), "net.onnx")
    >>> design = hlsgen.from_onnx("net.onnx", precision="fixed<16,6>", board="zcu102")
    >>> design.golden(rng.uniform(0, 1, (2, 1, 8, 8))).shape
    (2, 4, 6, 6)
    """
    options = Options(
        calibration=calibration,
        precision=precision,
        board=board,
        clock_mhz=clock_mhz,
        uncertainty=uncertainty,
        margin=margin,
        batch=batch,
        constraints=constraints,
        style=style,
        interface=interface,
    )
    source = Source(
        model=model,
        name=_name_of(model, name),
        input_types=[_wished_input(precision)],
        input_shapes=_onnx_shapes(input_shape),
        precision=precision_of(precision),
    )
    graph = graph_of("onnx", source, warned)
    return _design("onnx", source, from_graph(graph, options, f"{graph.name} (ONNX)"))


def _design(framework: str, source: Source, style: NetworkStyle[Any]) -> Design:
    """The design, which knows the model that it was made from: `Design.trace` runs it."""
    return Design(with_original(style, Original(framework=framework, source=source)))


def _wished_input(precision: Given) -> FixedType | None:
    """The type that inputs shall have which no quantiser of the network reads first; None: none is wished."""
    type_ = precision_of(precision).input
    return to_nearest(type_) if isinstance(type_, FixedType) else None


def _onnx_shapes(given: Shapes | Mapping[str, Sequence[int]] | None) -> InputShapes:
    if isinstance(given, Mapping):
        return {name: input_shapes(shape)[0] for name, shape in given.items()}
    return [] if given is None else input_shapes(given)


def _name_of(model: object, given: str | None) -> str:
    """The name that is given, else a C++ identifier from the model's class, its own name, or its file's.

    Raises DesignError: what is given is no string.
    """
    from hlsgen.designfile.names import valid_name

    if given is not None and not isinstance(given, str):
        raise DesignError(Problem(message=f"name is {given!r:.80}", fix="a string such as 'net', or None"))
    if given:
        return given
    own = getattr(model, "name", None)
    text = (
        Path(model).stem
        if isinstance(model, str | Path)
        else own
        if isinstance(own, str)
        else type(model).__name__
    )
    return valid_name(text)
