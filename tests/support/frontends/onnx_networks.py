"""Quantised ONNX models for the tests, and what qonnx, onnxruntime and exact arithmetic make of them."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from hlsgen.base.fixed import FixedType
from hlsgen.frontends.onnx.model import loaded_model
from hlsgen.frontends.onnx.to_graph import float_graph, graph_of_onnx
from hlsgen.model.ir import Graph
from tests.support.frontends.onnx_models import QONNX, Array, model, node, normal, onnx, outputs_of

FRAMES = 8


class Net:
    """Collects the nodes and constants of a quantised model."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value, dtype)
        return name

    def add(self, op: str, inputs: str, **attributes: Any) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(node(op, inputs, name, **attributes))
        return name

    def quant(self, x: str, scale: Any, bits: int = 8, zero: float = 0.0, **attributes: Any) -> str:
        """A Quant node of QONNX."""
        given = {"signed": 1, "narrow": 0, "rounding_mode": "ROUND"} | attributes
        names = " ".join([x, self.constant(scale), self.constant(zero), self.constant(float(bits))])
        return self.add("Quant", names, domain=QONNX, **given)

    def qdq(self, x: str, scale: Any, zero: Any, dtype: Any = np.uint8, **attributes: Any) -> str:
        """QuantizeLinear and DequantizeLinear."""
        names = f"{self.constant(scale)} {self.constant(zero, dtype)}"
        codes = self.add("QuantizeLinear", f"{x} {names}", **attributes)
        return self.add("DequantizeLinear", f"{codes} {names}", **attributes)

    def integers(self, values: Any, scale: Any, dtype: Any = np.int8, axis: int = 0, zero: Any = None) -> str:
        """Constant integers and a DequantizeLinear."""
        zeros = np.zeros(np.shape(scale)) if zero is None else zero
        names = [self.constant(values, dtype), self.constant(scale), self.constant(zeros, dtype)]
        return self.add("DequantizeLinear", " ".join(names), axis=axis)

    def qonnx(self, y: str, output: tuple[int, ...]) -> Any:
        self.nodes.append(node("Identity", y, "y"))
        helper = onnx.helper
        made = model(self.nodes, {"x": (FRAMES, *self.shape)}, self.constants, domains={QONNX: 1})
        made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, (FRAMES, *output)))
        return made

    def onnx(self, y: str, opset: int = 17, **types: int) -> Any:
        self.nodes.append(node("Identity", y, "y"))
        return model(self.nodes, {"x": ("N", *self.shape)}, self.constants, opset=opset, **types)


def executed(made: Any, array: Array) -> Array:
    """What qonnx computes."""
    qonnx = pytest.importorskip("qonnx", reason="needs qonnx: pip install 'hlsgen[onnx]'")
    assert qonnx
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # qonnx's own deprecations
        from qonnx.core.modelwrapper import ModelWrapper
        from qonnx.core.onnx_exec import execute_onnx
        from qonnx.transformation.infer_shapes import InferShapes

        # the nodes are run by onnxruntime, which is behind onnx
        older = partial(onnx.helper.make_model, ir_version=10)
        with mock.patch("qonnx.core.onnx_exec.qonnx_make_model", older):
            wrapper = ModelWrapper(made).transform(InferShapes())
            result: Array = execute_onnx(wrapper, {"x": array})["y"]
    return result


def typed(graph: Graph) -> None:
    """That everything of a graph is fixed point."""
    assert all(isinstance(tensor.type, FixedType) for tensor in graph.tensors().values())


def differences(made: Any, array: Array, step: float, wanted: Array) -> tuple[Graph, Array]:
    """How many codes of `step` the graph's output is from `wanted`."""
    graph = graph_of_onnx(made, name="net")
    typed(graph)
    found = outputs_of(graph, array)[0]
    assert found.shape == wanted.shape
    steps = (found - wanted) / step
    assert np.abs(steps - np.rint(steps)).max() < 1e-3
    return graph, np.rint(steps).astype(int)


def exact(made: Any, *inputs: Array) -> Array:
    """What the model says in float64: every scale, bias and quantiser as it is, nothing else rounded."""
    graph, known = float_graph(loaded_model(made), "net")
    assert known is not None
    return outputs_of(graph, *inputs)[0]


def brevitas_like(scales: bool) -> tuple[Any, float]:
    """Convolutions with batch normalisation, a residual, ReLU; scales by channel or not."""
    rng = np.random.default_rng(3)
    net = Net((3, 8, 8))

    def conv(x: str, seed: int, members: int, channels: int, **attributes: Any) -> str:
        weights = normal(seed, members, channels, 3, 3)
        scale = (
            np.abs(weights).max(axis=(1, 2, 3), keepdims=True) / 127
            if scales
            else np.abs(weights).max() / 127
        )
        quantised = net.quant(net.constant(weights), scale, 8, narrow=1)
        y = net.add("Conv", f"{x} {quantised}", pads=[1, 1, 1, 1], **attributes)
        statistics = [rng.normal(size=members), rng.normal(size=members), rng.normal(size=members)]
        names = [net.constant(array) for array in (*statistics, np.abs(rng.normal(size=members)) + 2)]
        return net.add("BatchNormalization", " ".join([y, *names]))

    x = net.quant("x", 0.0237)
    r = net.quant(net.add("Relu", conv(x, 1, 6, 3)), 0.0173, 8, signed=0)
    c = net.quant(conv(r, 2, 6, 6), 0.031)
    s = net.quant(net.add("Relu", net.add("Add", f"{c} {r}")), 0.041, 6, signed=0)
    y = net.quant(conv(s, 3, 5, 6), 0.057)
    return net.qonnx(y, (5, 8, 8)), 0.057


def calibrated(zero: int, dtype: Any, per_channel: bool) -> tuple[Any, float]:
    """A network as onnxruntime's static quantisation makes it."""
    net = Net((3, 10, 10))

    def conv(x: str, scale: float, seed: int, members: int, channels: int, **attributes: Any) -> str:
        codes = np.random.default_rng(seed).integers(-127, 128, (members, channels, 3, 3))
        steps = 0.004 * (1 + np.random.default_rng(seed).random(members if per_channel else ()))
        weights = net.integers(codes, steps)
        bias_codes = np.random.default_rng(seed).integers(-4000, 4000, members)
        bias = net.integers(bias_codes, np.broadcast_to(scale * steps, members).astype(np.float32), np.int32)
        return net.add("Conv", f"{x} {weights} {bias}", **attributes)

    x = net.qdq("x", 0.0217, zero, dtype)
    a = net.qdq(
        net.add("Relu", conv(x, 0.0217, 1, 8, 3, pads=[1, 1, 1, 1])), 0.0471, np.iinfo(dtype).min, dtype
    )
    p = net.qdq(
        net.add("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2]), 0.0471, np.iinfo(dtype).min, dtype
    )
    c = net.qdq(conv(p, 0.0471, 2, 8, 8, pads=[1, 1, 1, 1]), 0.083, zero, dtype)
    s = net.qdq(net.add("Add", f"{c} {p}"), 0.091, zero, dtype)
    j = net.qdq(net.add("Concat", f"{s} {p}", axis=1), 0.095, zero, dtype)
    g = net.qdq(net.add("GlobalAveragePool", j), 0.037, zero, dtype)
    f = net.add("Flatten", g)
    w = net.integers(np.random.default_rng(9).integers(-127, 128, (16, 5)), 0.0071)
    y = net.qdq(net.add("MatMul", f"{f} {w}"), 0.043, zero, dtype)
    return net.onnx(y), 0.043


def random_network(seed: int) -> Any:
    """A float network of random layers on an input [N, 3, 8, 8], for a quantiser to work on."""
    rng = np.random.default_rng(seed)
    net = Net((3, 8, 8))
    tensors = [(net.add("Conv", f"x {net.constant(rng.normal(size=(6, 3, 3, 3)) / 3)}", pads=[1] * 4), 6, 8)]
    for _ in range(int(rng.integers(3, 8))):
        x, channels, size = tensors[int(rng.integers(max(0, len(tensors) - 3), len(tensors)))]
        alike = [name for name, *shape in tensors if shape == [channels, size]]
        other = alike[int(rng.integers(len(alike)))]
        numbers = [net.constant(rng.normal(size=channels)) for _ in range(3)]
        match rng.choice(
            ["conv", "depthwise", "relu", "max", "average", "join", "norm", "table", "leaky", "pad"]
        ):
            case "conv":
                weights = net.constant(rng.normal(size=(8, channels, 3, 3)) / 3)
                tensors.append((net.add("Conv", f"{x} {weights}", pads=[1] * 4), 8, size))
            case "depthwise":
                names = f"{x} {net.constant(rng.normal(size=(channels, 1, 3, 3)))} {numbers[0]}"
                tensors.append((net.add("Conv", names, pads=[1] * 4, group=channels), channels, size))
            case "relu":
                y = net.add("Clip", f"{x} {net.constant(0.0)} {net.constant(1.5)}")
                tensors.append((y, channels, size))
            case "max" if size >= 4:
                y = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
                tensors.append((y, channels, size // 2))
            case "average" if size >= 4:
                window = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}
                y = net.add("AveragePool", x, count_include_pad=int(rng.integers(2)), **window)
                tensors.append((y, channels, (size + 1) // 2))
            case "join":
                if rng.integers(2):
                    tensors.append((net.add("Concat", f"{x} {other}", axis=1), 2 * channels, size))
                else:
                    y = net.add(str(rng.choice(["Add", "Mul"])), f"{x} {other}")
                    tensors.append((y, channels, size))
            case "norm":
                names = " ".join([x, *numbers, net.constant(rng.random(channels) + 0.5)])
                tensors.append((net.add("BatchNormalization", names), channels, size))
            case "table":
                y = net.add(str(rng.choice(["Sigmoid", "HardSwish", "Tanh"])), x)
                tensors.append((y, channels, size))
            case "leaky":
                tensors.append((net.add("LeakyRelu", x, alpha=0.125), channels, size))
            case "pad":
                pads = net.constant([0, 0, 1, 1, 0, 0, 1, 1], np.int64)
                y = net.add("Pad", f"{x} {pads} {net.constant(float(rng.choice([0, 0.75])))}")
                tensors.append((y, channels, size + 2))
    x, channels, size = tensors[-1]
    if rng.integers(2):
        flat = net.add("Flatten", net.add("GlobalAveragePool", x))
        names = f"{flat} {net.constant(rng.normal(size=(channels, 5)))} {net.constant(rng.normal(size=5))}"
        x = net.add("Gemm", names)
    net.nodes[-1].output[0] = "y" if net.nodes[-1].output[0] == x else x
    if net.nodes[-1].output[0] != "y":
        net.nodes.append(node("Relu", x, "y"))
    return model(net.nodes, {"x": ("N", 3, 8, 8)}, net.constants)


def statically_quantised(made: Any, folder: Path, frames: Array, **options: Any) -> Any:
    """The model as onnxruntime's quantiser makes it, calibrated with `frames`, one by one."""
    quantization = pytest.importorskip("onnxruntime.quantization")

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.frames = iter({"x": frame[None]} for frame in frames)

        def get_next(self) -> Any:
            return next(self.frames, None)

    onnx.save(made, folder / "float.onnx")
    quantization.quantize_static(
        str(folder / "float.onnx"), str(folder / "quantised.onnx"), Reader(), **options
    )
    return onnx.load(folder / "quantised.onnx")
