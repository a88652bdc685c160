"""A model for each ONNX operator and QONNX quantiser that hlsgen reads: for recorded_operations.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.support.frontends.onnx_models import QONNX, model, node

IMAGE, SIGNAL, VECTOR = ("N", 4, 6, 8), ("N", 4, 8), ("N", 8)
DOMAIN = {QONNX: 1}


def _numbers(*shape: int) -> Any:
    return np.random.default_rng(0).normal(0, 1, shape).astype(np.float32)


def _one(op: str, *constants: Any, shape: Sequence[Any] = IMAGE, opset: int = 18, **attributes: Any) -> Any:
    """A model of one node, whose inputs after the first are constants; None: left out."""
    names = [f"c{n}" if constant is not None else "-" for n, constant in enumerate(constants)]
    given = {name: constant for name, constant in zip(names, constants, strict=True) if name != "-"}
    first = node(op, " ".join(["x", *names]), "y", **attributes)
    return model([first], {"x": shape}, given, opset=opset)


def _then_relu(op: str, *constants: Any, shape: Sequence[Any] = IMAGE, **attributes: Any) -> Any:
    """For operators whose result is a view: a model that computes nothing is refused."""
    names = [f"c{n}" for n in range(len(constants))]
    nodes = [node(op, " ".join(["x", *names]), "v", **attributes), node("Relu", "v", "y")]
    return model(nodes, {"x": shape}, dict(zip(names, constants, strict=True)), opset=18)


def _two(op: str, **attributes: Any) -> Any:
    return model([node(op, "a b", "y", **attributes)], {"a": IMAGE, "b": IMAGE}, opset=18)


def examples() -> Iterator[Any]:
    """Models of a node or a few."""
    yield from _sums()
    yield from _elementwise()
    yield from _shapes()
    yield from _quantised()


def _sums() -> Iterator[Any]:
    yield _one("Conv", _numbers(3, 4, 3, 3))
    yield _one("ConvTranspose", _numbers(4, 3, 2, 2), strides=[2, 2])
    yield _one("Gemm", _numbers(8, 5), shape=VECTOR)
    yield _one("MatMul", _numbers(8, 5), shape=VECTOR)
    yield _one("MatMul", _numbers(8, 5))
    weights = {"w": _numbers(8, 5), "b": _numbers(5)}
    yield model([node("MatMul", "x w", "p"), node("Add", "p b", "y")], {"x": VECTOR}, weights)
    yield _one("BatchNormalization", *[_numbers(4) ** 2 for _ in range(4)])
    yield _one("MaxPool", kernel_shape=[2, 2])
    yield _one("AveragePool", kernel_shape=[2, 2])
    yield _one("GlobalAveragePool")
    yield _one("GlobalMaxPool")
    for op in ("ReduceMean", "ReduceMax", "ReduceSum"):
        yield _one(op, np.array([2, 3]))
        yield _one(op, np.array([3]))
    yield _one("Softmax", axis=1)
    yield _one("LogSoftmax", axis=1)
    yield _one("ReduceMin", np.array([2, 3]))
    yield _one("ArgMax", axis=1)
    yield _one("ArgMin", axis=1)


def _elementwise() -> Iterator[Any]:
    for op in ("Abs", "Celu", "Elu", "Erf", "Exp", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Neg"):
        yield _one(op)
    for op in (
        "Relu",
        "Selu",
        "Shrink",
        "Sigmoid",
        "Sign",
        "Softplus",
        "Softsign",
        "Tanh",
        "ThresholdedRelu",
    ):
        yield _one(op)
    yield _one("Gelu", opset=20)
    yield _one("Swish", opset=24)
    yield _one("Clip", np.float32(-1), np.float32(1))
    yield _one("Max", np.float32(0.25))
    yield _one("Min", np.float32(0.25))
    yield _one("PRelu", _numbers(4, 1, 1))
    yield _one("Pow", np.float32(2))
    for op in ("Add", "Sub", "Mul", "Div", "Sum"):
        yield _one(op, _numbers(4, 1, 1) ** 2 + np.float32(1))
    for op in ("Add", "Sub", "Mul", "Sum", "Max", "Min", "Mean"):
        yield _two(op)
    yield model([node("CastLike", "x c", "z"), node("Relu", "z", "y")], {"x": IMAGE}, {"c": np.float32(1)})
    for op in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal"):
        made = [node(op, "x c", "m"), node("Where", "m x d", "y")]
        yield model(made, {"x": IMAGE}, {"c": np.float32(0.5), "d": _numbers(4, 1, 1)})
    logic = [node("And", "m n", "a"), node("Or", "m n", "o"), node("Not", "o", "p"), node("Or", "a p", "q")]
    masks = [node("Greater", "x c", "m"), node("Greater", "x d", "n"), *logic, node("Where", "q x d", "y")]
    yield model(masks, {"x": IMAGE}, {"c": np.float32(0.5), "d": _numbers(4, 1, 1)})
    yield model([node("Sigmoid", "x", "s"), node("Mul", "x s", "y")], {"x": IMAGE})


def _shapes() -> Iterator[Any]:
    yield _two("Concat", axis=1)
    yield _one("Pad", np.array([0, 0, 1, 1, 0, 0, 1, 1]))
    yield _one("Pad", np.array([0, 0, 1, 1, 0, 0, 1, 1]), mode="reflect")
    yield _one("DepthToSpace", blocksize=2)
    yield _one("SpaceToDepth", blocksize=2)
    yield _one(
        "Resize", None, np.array([1, 1, 2, 2], np.float32), coordinate_transformation_mode="asymmetric"
    )
    yield _one("Upsample", np.array([1, 1, 2, 2], np.float32), opset=9)
    yield _one("Resize", None, np.array([1, 1, 2, 2], np.float32), mode="linear")
    yield _one("Upsample", np.array([1, 1, 2, 2], np.float32), opset=9, mode="linear")
    yield _one("Slice", np.array([1]), np.array([3]), np.array([2]))
    yield _one("Gather", np.array([0, 2]), axis=1)
    yield _one("Gather", np.array([0, 1, 3]), axis=1)
    yield _one("Tile", np.array([1, 2, 1, 1]))
    yield _one("Expand", np.array([1, 4, 6, 8]), shape=("N", 1, 6, 8))
    split = node("Split", "x", "a b", axis=1, num_outputs=2)
    yield model([split], {"x": IMAGE}, outputs="a b", opset=18)
    yield _then_relu("Transpose", perm=[0, 2, 3, 1])
    yield _then_relu("Flatten")
    yield _then_relu("Reshape", np.array([0, -1]))
    yield _then_relu("Unsqueeze", np.array([2]), shape=VECTOR)
    yield _then_relu("Squeeze", np.array([1]), shape=("N", 1, 8))
    yield _then_relu("Identity")
    yield _then_relu("Dropout")
    yield _then_relu("Cast", to=1)
    shape = [node("Shape", "x", "s"), node("Reshape", "x s", "v"), node("Relu", "v", "y")]
    yield model(shape, {"x": IMAGE})
    size = [node("Size", "x", "n"), node("Reshape", "n one", "s"), node("Concat", "one s", "t", axis=0)]
    size += [node("Reshape", "x t", "v"), node("Relu", "v", "y")]
    yield model(size, {"x": (1, 2, 4)}, {"one": np.array([1])})


def _quantised() -> Iterator[Any]:
    for op in ("Quant", "IntQuant"):
        yield _quantiser(op, 0.25)
        yield _quantiser(op, 0.3)
    nodes = [node("BipolarQuant", "x s", "y", domain=QONNX)]
    yield model(nodes, {"x": IMAGE}, {"s": np.float32(0.5)}, domains=DOMAIN)
    rows = {"s": np.float32(0.125), "z": np.float32(0), "b": np.float32(8), "t": _numbers(4, 1)}
    attributes = {"domain": QONNX, "signed": 1, "narrow": 0, "rounding_mode": "ROUND"}
    counted = node("MultiThreshold", "q t", "y", domain=QONNX, out_dtype="UINT1")
    yield model([node("Quant", "x s z b", "q", **attributes), counted], {"x": IMAGE}, rows, domains=DOMAIN)
    cut = {"s": np.float32(0.125), "z": np.float32(0), "b": np.float32(8), "c": np.float32(0.5)}
    cut["left"] = np.float32(6)
    nodes = [
        node("Quant", "x s z b", "q", **attributes),
        node("Trunc", "q s z b c left", "y", domain=QONNX, rounding_mode="FLOOR"),
    ]
    yield model(nodes, {"x": IMAGE}, cut, domains={QONNX: 2})
    scale, zero = np.float32(0.05), np.int8(0)
    constants = {"s": scale, "z": zero, "t": np.float32(0.2), "w": np.ones((3, 4, 1, 1), np.int8)}
    constants["m"] = np.ones((8, 5), np.int8)
    first = node("QuantizeLinear", "x s z", "q")
    last = node("DequantizeLinear", "r t z", "y")
    yield model([first, node("DequantizeLinear", "q t z", "y")], {"x": IMAGE}, constants)
    yield model([first, node("QLinearConv", "q s z w s z t z", "r"), last], {"x": IMAGE}, constants)
    yield model([first, node("QLinearMatMul", "q s z m s z t z", "r"), last], {"x": VECTOR}, constants)
    for op, shape, weights in (("ConvInteger", IMAGE, "w"), ("MatMulInteger", VECTOR, "m")):
        sums = [node(op, f"q {weights}", "i"), node("Cast", "i", "y", to=1)]
        yield model([first, *sums], {"x": shape}, constants)


def _quantiser(op: str, scale: float) -> Any:
    """Twice: the first types the input, the second is a layer."""
    attributes = {"domain": QONNX, "signed": 1, "narrow": 0, "rounding_mode": "ROUND"}
    constants = {"s": np.float32(0.125), "t": np.float32(scale), "z": np.float32(0), "b": np.float32(8)}
    constants["c"] = np.float32(4)
    nodes = [node(op, "x s z b", "q", **attributes), node(op, "q t z c", "y", **attributes)]
    return model(nodes, {"x": IMAGE}, constants, domains=DOMAIN)
