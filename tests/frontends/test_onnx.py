"""Float ONNX models: the graph's golden result is what onnxruntime computes, for each operation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from hlsgen.frontends.onnx import graph_of_onnx  # noqa: E402
from tests.frontends.onnx_models import (  # noqa: E402
    assert_same,
    expected,
    kinds,
    model,
    node,
    normal,
    onnx,
    outputs_of,
)

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
IMAGE = ("N", 4, 6, 8)


def one(
    op: str, *constants: Any, shape: Any = IMAGE, opset: int = 17, frames: int = 2, **attributes: Any
) -> Any:
    """That a model of one node is right, with its constants as the other inputs; None: left out."""
    names = [f"c{number}" for number in range(len(constants))]
    inputs = [
        "x",
        *(name if value is not None else "-" for name, value in zip(names, constants, strict=True)),
    ]
    arrays = {name: value for name, value in zip(names, constants, strict=True) if value is not None}
    made = model([node(op, " ".join(inputs), "y", **attributes)], {"x": shape}, arrays, opset=opset)
    size = [frames if isinstance(axis, str) else axis for axis in shape]
    return assert_same(made, 2 * normal(7, *size))


# sums of products


@st.composite
def windows(draw: st.DrawFn) -> dict[str, Any]:
    """Attributes of a window operation in one or two dimensions, and an input's sizes."""
    rank = draw(st.integers(1, 2))
    size = st.lists(st.integers(1, 3), min_size=rank, max_size=rank)
    kernel, strides, dilations = draw(size), draw(size), draw(size)
    spatial = draw(st.lists(st.integers(7, 10), min_size=rank, max_size=rank))
    attributes: dict[str, Any] = {"strides": strides, "dilations": dilations}
    auto = draw(st.sampled_from(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]))
    if auto == "NOTSET":
        attributes["pads"] = draw(st.lists(st.integers(0, 2), min_size=2 * rank, max_size=2 * rank))
    else:
        attributes["auto_pad"] = auto
        if auto.startswith("SAME"):  # onnxruntime has no such dilations
            attributes["dilations"] = [1] * rank
    return {"kernel": kernel, "spatial": spatial, "attributes": attributes}


@QUICK
@given(window=windows(), groups=st.sampled_from([1, 2, 4]), bias=st.booleans(), seed=st.integers(0, 99))
def test_convolutions(window: dict[str, Any], groups: int, bias: bool, seed: int) -> None:
    weights = normal(seed, 8, 4 // groups, *window["kernel"])
    constants = {"w": weights} | ({"b": normal(seed + 1, 8)} if bias else {})
    conv = node("Conv", "x w b" if bias else "x w", "y", group=groups, **window["attributes"])
    made = model([conv], {"x": ["N", 4, *window["spatial"]]}, constants)
    graph = assert_same(made, normal(seed + 2, 2, 4, *window["spatial"]))
    assert kinds(graph) == ["conv2d"]


@QUICK
@given(
    window=windows(),
    groups=st.sampled_from([1, 2]),
    extra=st.integers(0, 1),
    bias=st.booleans(),
    seed=st.integers(0, 99),
)
def test_transposed_convolutions(
    window: dict[str, Any], groups: int, extra: int, bias: bool, seed: int
) -> None:
    attributes = dict(window["attributes"])
    rank = len(window["kernel"])
    if attributes.get("auto_pad", "NOTSET") == "NOTSET":
        # onnxruntime takes an output padding below the stride only
        most = attributes["strides"]
        attributes["output_padding"] = [min(extra, limit - 1) for limit in most]
        reach = [(k - 1) * d + 1 for k, d in zip(window["kernel"], attributes["dilations"], strict=True)]
        limits = [min(2, span) for span in reach * 2]
        attributes["pads"] = [min(p, m) for p, m in zip(attributes["pads"], limits, strict=True)]
    else:  # onnxruntime differs where SAME must add to the full result
        attributes["dilations"] = [1] * rank
        attributes["strides"] = [
            min(pair) for pair in zip(window["kernel"], attributes["strides"], strict=True)
        ]
    constants = {"w": normal(seed, 4, 6 // groups, *window["kernel"])}
    constants |= {"b": normal(seed + 1, 6)} if bias else {}
    conv = node("ConvTranspose", "x w b" if bias else "x w", "y", group=groups, **attributes)
    made = model([conv], {"x": ["N", 4, *window["spatial"]]}, constants)
    assert_same(made, normal(seed + 2, 2, 4, *window["spatial"]))


@pytest.mark.parametrize("mode", ["NOTSET", "SAME_UPPER", "SAME_LOWER"])
def test_a_transposed_convolution_of_a_given_output_shape(mode: str) -> None:
    attributes = {"auto_pad": mode, "output_shape": [11, 14], "strides": [2, 2]}
    one("ConvTranspose", normal(1, 4, 3, 4, 3), **attributes)


@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize("bias", [(5,), (1, 5), (1,), None])
def test_gemm(trans_b: int, bias: tuple[int, ...] | None) -> None:
    weights = normal(1, 5, 7) if trans_b else normal(1, 7, 5)
    extra = [] if bias is None else [normal(2, *bias)]
    graph = one("Gemm", weights, *extra, shape=("N", 7), transB=trans_b, alpha=0.5, beta=-2.0)
    assert kinds(graph) == ["dense"]


@pytest.mark.parametrize("shape", [("N", 7), ("N", 3, 7), ("N", 2, 3, 7)])
@pytest.mark.parametrize("weights", [(7, 5), (7,)])
def test_matrix_products(shape: tuple[Any, ...], weights: tuple[int, ...]) -> None:
    one("MatMul", normal(1, *weights), shape=shape)


def test_a_matrix_with_an_axis_in_front() -> None:
    one("MatMul", normal(1, 1, 7, 5), shape=("N", 3, 7))


def test_a_constant_times_a_tensor() -> None:
    made = model([node("MatMul", "w x", "y")], {"x": ["N", 7, 3]}, {"w": normal(1, 5, 7)})
    assert_same(made, normal(2, 2, 7, 3))


def test_the_bias_that_follows_a_matrix_product_is_part_of_it() -> None:
    nodes = [node("MatMul", "x w", "p"), node("Add", "b p", "y")]
    made = model(nodes, {"x": ["N", 3, 7]}, {"w": normal(1, 7, 5), "b": normal(2, 5)})
    assert kinds(assert_same(made, normal(3, 2, 3, 7))).count("affine") == 0


@pytest.mark.parametrize("shape", [("N", 4), ("N", 4, 6), IMAGE])
def test_batch_normalisation(shape: tuple[Any, ...]) -> None:
    statistics = [normal(seed, 4) for seed in range(3)]
    one("BatchNormalization", *statistics, np.abs(normal(3, 4)), shape=shape, epsilon=1e-3)


# windows and axes


@QUICK
@given(
    window=windows(),
    op=st.sampled_from(["MaxPool", "AveragePool"]),
    ceil=st.integers(0, 1),
    include=st.integers(0, 1),
)
def test_pools(window: dict[str, Any], op: str, ceil: int, include: int) -> None:
    attributes = dict(window["attributes"], kernel_shape=window["kernel"])
    average = op == "AveragePool"
    if attributes.get("auto_pad", "").startswith("SAME"):  # onnxruntime shifts windows that are too small
        attributes["strides"] = [
            min(pair) for pair in zip(window["kernel"], attributes["strides"], strict=True)
        ]
    if average:
        del attributes["dilations"]
        attributes["count_include_pad"] = include
    if "pads" in attributes:  # onnxruntime takes pads below the kernel only
        limits = [k - 1 for k in window["kernel"]] * 2
        attributes["pads"] = [min(p, m) for p, m in zip(attributes["pads"], limits, strict=True)]
        attributes["ceil_mode"] = ceil
    made = model([node(op, "x", "y", **attributes)], {"x": ["N", 3, *window["spatial"]]}, opset=19)
    graph = assert_same(made, normal(3, 2, 3, *window["spatial"]))
    assert kinds(graph) == ["pool2d"]


@pytest.mark.parametrize("shape", [("N", 4, 7), IMAGE])
@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool"])
def test_global_pools(op: str, shape: tuple[Any, ...]) -> None:
    assert kinds(one(op, shape=shape))[-1] == "global_pool"


@pytest.mark.parametrize("op", ["ReduceMean", "ReduceMax", "ReduceSum"])
@pytest.mark.parametrize("axes", [(2, 3), (-1,), (1,), (1, 2, 3), (2,)])
@pytest.mark.parametrize("keep", [0, 1])
def test_reductions(op: str, axes: tuple[int, ...], keep: int) -> None:
    one(op, np.array(axes), opset=18, keepdims=keep)
    if op != "ReduceSum":
        one(op, opset=13, axes=axes, keepdims=keep)
    else:
        one(op, opset=11, axes=axes, keepdims=keep)


def test_a_reduction_of_no_axes() -> None:
    nodes = [node("ReduceMean", "x", "m", noop_with_empty_axes=1), node("Relu", "m", "y")]
    assert_same(model(nodes, {"x": IMAGE}, opset=18), normal(1, 2, 4, 6, 8))


@pytest.mark.parametrize("shape", [("N", 5), ("N", 5, 7), IMAGE])
@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axis", [1, -1])
def test_softmax(shape: tuple[Any, ...], opset: int, axis: int) -> None:
    one("Softmax", shape=shape, opset=opset, axis=axis)


@pytest.mark.parametrize("axis", [1, 2, -1])
@pytest.mark.parametrize("keep", [0, 1])
def test_arg_max(axis: int, keep: int) -> None:
    nodes = [node("ArgMax", "x", "i", axis=axis, keepdims=keep), node("Cast", "i", "y", to=1)]
    assert_same(model(nodes, {"x": IMAGE}), normal(1, 2, 4, 6, 8))
    assert_same(model(nodes[:1], {"x": IMAGE}, outputs="i", output_type=7), normal(1, 2, 4, 6, 8))


# element by element

FUNCTIONS: list[tuple[str, int, dict[str, Any]]] = [
    ("Abs", 17, {}),
    ("Celu", 17, {"alpha": 0.7}),
    ("Clip", 6, {}),
    ("Clip", 10, {"min": -0.5, "max": 0.75}),
    ("Elu", 17, {"alpha": 1.5}),
    ("Erf", 17, {}),
    ("Exp", 17, {}),
    ("Gelu", 20, {}),
    ("Gelu", 20, {"approximate": "tanh"}),
    ("HardSigmoid", 17, {}),
    ("HardSigmoid", 17, {"alpha": 0.5, "beta": 0.25}),
    ("HardSwish", 17, {}),
    ("LeakyRelu", 17, {}),
    ("LeakyRelu", 17, {"alpha": 0.25}),
    ("Mish", 18, {}),
    ("Neg", 17, {}),
    ("Relu", 17, {}),
    ("Selu", 17, {}),
    ("Selu", 17, {"alpha": 1.5, "gamma": 2.0}),
    ("Shrink", 17, {"lambd": 0.75}),
    ("Shrink", 17, {"lambd": 0.75, "bias": 0.75}),
    ("Sigmoid", 17, {}),
    ("Sign", 17, {}),
    ("Softplus", 17, {}),
    ("Softsign", 17, {}),
    ("Tanh", 17, {}),
    ("ThresholdedRelu", 17, {"alpha": 0.5}),
]


@pytest.mark.parametrize(("op", "opset", "attributes"), FUNCTIONS, ids=lambda value: str(value))
def test_functions(op: str, opset: int, attributes: dict[str, Any]) -> None:
    if (op, opset) == ("Clip", 6):  # without limits it is no layer
        nodes = [node("Clip", "x", "c"), node("Relu", "c", "y")]
        assert kinds(assert_same(model(nodes, {"x": IMAGE}, opset=9), normal(1, 2, 4, 6, 8))) == ["clamp"]
        return
    graph = one(op, opset=opset, **attributes)
    assert 1 <= len(graph.layers) <= 2


@pytest.mark.parametrize(
    "limits", [(-0.5, 0.75), (None, 0.5), (-1.0, None), (0.0, 3.4028235e38), (1.0, -1.0)]
)
def test_clip(limits: tuple[float | None, float | None]) -> None:
    one("Clip", *(None if limit is None else np.float32(limit) for limit in limits), opset=18)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize("shape", [(), (1,), (4, 1, 1), (8,), (1, 4, 1, 1), (6, 8), (4, 6, 8)])
def test_arithmetic_with_constants(op: str, shape: tuple[int, ...]) -> None:
    constant = np.asarray(np.abs(normal(1, *shape)) + np.float32(0.5), np.float32)
    one(op, constant)
    if op != "Div":
        made = model([node(op, "c x", "y")], {"x": IMAGE}, {"c": constant})
        assert_same(made, normal(2, 2, 4, 6, 8))


def test_a_constant_that_makes_the_tensor_larger() -> None:
    one("Add", normal(1, 5, 1), shape=("N", 1, 8))


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Sum"])
@pytest.mark.parametrize("right", [(4, 6, 8), (4, 1, 1), (1, 6, 8), (1, 1, 1), (4, 6, 1)])
def test_arithmetic_of_two_tensors(op: str, right: tuple[int, ...]) -> None:
    made = model([node(op, "a b", "y")], {"a": IMAGE, "b": ["N", *right]})
    assert_same(made, normal(1, 2, 4, 6, 8), normal(2, 2, *right))


def test_sums_of_many() -> None:
    made = model([node("Sum", "a b c a", "y")], {"a": IMAGE, "b": IMAGE}, {"c": normal(3, 4, 1, 1)})
    assert_same(made, normal(1, 2, 4, 6, 8), normal(2, 2, 4, 6, 8))


@pytest.mark.parametrize("op", ["Max", "Min"])
def test_limits_by_max_and_min(op: str) -> None:
    one(op, np.float32(0.25), np.array([0.5], np.float32))


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0])
def test_powers(exponent: float) -> None:
    nodes = [node("Pow", "x e", "p"), node("Tanh", "p", "y")]
    assert_same(model(nodes, {"x": IMAGE}, {"e": np.float32(exponent)}), normal(1, 2, 4, 6, 8))


@pytest.mark.parametrize("shape", [(1,), (4, 1, 1), (1, 4, 1, 1)])
def test_prelu(shape: tuple[int, ...]) -> None:
    one("PRelu", normal(1, *shape))


HALF, ROOT, THIRD = np.float32(0.5), np.float32(math.sqrt(2)), np.float32(3.0)
C, CUBE = np.float32(math.sqrt(2 / math.pi)), np.float32(0.044715)
PATTERNS: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "x * sigmoid(x)": ([node("Sigmoid", "x", "s"), node("Mul", "x s", "y")], {}, "silu"),
    "sigmoid(1.5 x) * x": (
        [node("Mul", "x k", "u"), node("Sigmoid", "u", "s"), node("Mul", "s x", "y")],
        {"k": np.float32(1.5)},
        "silu",
    ),
    "0.5 * (x * (1 + erf(x / sqrt 2)))": (
        [
            node("Div", "x r", "u"),
            node("Erf", "u", "e"),
            node("Add", "e one", "f"),
            node("Mul", "x f", "g"),
            node("Mul", "g h", "y"),
        ],
        {"r": ROOT, "one": np.float32(1), "h": HALF},
        "gelu",
    ),
    "(x * 0.5) * (1 + erf(x * 0.707))": (
        [
            node("Mul", "x h", "a"),
            node("Mul", "x r", "u"),
            node("Erf", "u", "e"),
            node("Add", "one e", "f"),
            node("Mul", "a f", "y"),
        ],
        {"r": np.float32(math.sqrt(0.5)), "one": np.float32(1), "h": HALF},
        "gelu",
    ),
    "tanh approximation of GELU": (
        [
            node("Pow", "x three", "p"),
            node("Mul", "p cube", "q"),
            node("Add", "x q", "s"),
            node("Mul", "s c", "u"),
            node("Tanh", "u", "t"),
            node("Add", "t one", "f"),
            node("Mul", "x h", "a"),
            node("Mul", "a f", "y"),
        ],
        {"three": THIRD, "cube": CUBE, "c": C, "one": np.float32(1), "h": HALF},
        "gelu_tanh",
    ),
    "x * tanh(softplus(x))": (
        [node("Softplus", "x", "s"), node("Tanh", "s", "t"), node("Mul", "x t", "y")],
        {},
        "mish",
    ),
    "x * relu6(x + 3) / 6": (
        [
            node("Add", "x three", "a"),
            node("Clip", "a zero six", "c"),
            node("Div", "c six", "d"),
            node("Mul", "x d", "y"),
        ],
        {"three": THIRD, "zero": np.float32(0), "six": np.float32(6)},
        "hard_swish",
    ),
    "x * hardsigmoid(x)": ([node("HardSigmoid", "x", "s"), node("Mul", "x s", "y")], {}, "hard_swish"),
}


@pytest.mark.parametrize("text", PATTERNS)
def test_functions_written_out(text: str) -> None:
    nodes, constants, function = PATTERNS[text]
    graph = assert_same(model(nodes, {"x": IMAGE}, constants), 3 * normal(1, 2, 4, 6, 8))
    assert [getattr(layer, "function", "") for layer in graph.layers] == [function]


def test_a_gate_of_another_tensor_stays_a_product() -> None:
    made = model([node("Sigmoid", "a", "s"), node("Mul", "b s", "y")], {"a": IMAGE, "b": IMAGE})
    graph = assert_same(made, normal(1, 2, 4, 6, 8), normal(2, 2, 4, 6, 8))
    assert kinds(graph) == ["table", "mul"]


# shapes


@pytest.mark.parametrize("perm", [[0, 2, 3, 1], [0, 1, 3, 2], [0, 3, 1, 2]])
def test_transposes(perm: list[int]) -> None:
    nodes = [node("Transpose", "x", "t", perm=perm), node("Relu", "t", "y")]
    graph = assert_same(model(nodes, {"x": IMAGE}), normal(1, 2, 4, 6, 8))
    assert kinds(graph) == ["clamp"]  # an output port says the order


@pytest.mark.parametrize("shape", [[0, -1], [0, 4, 48], [-1, 192], [0, 2, 2, -1], [0, 0, 8, 6]])
def test_reshapes(shape: list[int]) -> None:
    nodes = [node("Reshape", "x s", "r"), node("Relu", "r", "y")]
    assert_same(model(nodes, {"x": IMAGE}, {"s": np.array(shape)}), normal(1, 2, 4, 6, 8))


@pytest.mark.parametrize("opset", [11, 13])
def test_flatten_squeeze_and_unsqueeze(opset: int) -> None:
    axes: dict[str, Any] = {"axes": [2]} if opset < 13 else {}
    constants = {} if opset < 13 else {"a": np.array([2])}
    extra = "" if opset < 13 else " a"
    nodes = [
        node("Relu", "x", "r"),
        node("Unsqueeze", f"r{extra}", "u", **axes),
        node("Squeeze", f"u{extra}", "s", **axes),
        node("Flatten", "s", "f"),
        node("Gemm", "f w", "y"),
    ]
    constants["w"] = normal(1, 192, 3)
    graph = assert_same(model(nodes, {"x": IMAGE}, constants, opset=opset), normal(2, 2, 4, 6, 8))
    assert kinds(graph) == ["clamp", "rearrange", "dense"]


SLICES = [
    ([1], [3], [1], None),
    ([0, 1], [100, -1], [2, 3], None),
    ([1], [100], [3], [2]),
    ([-1], [-100], [3], [-1]),
    ([5], [0], [2], [-2]),
]


@pytest.mark.parametrize(("starts", "ends", "axes", "steps"), SLICES)
def test_slices(starts: list[int], ends: list[int], axes: list[int], steps: list[int] | None) -> None:
    arrays = [np.array(values) for values in (starts, ends, axes, steps) if values is not None]
    names = [f"c{number}" for number in range(len(arrays))]
    nodes = [node("Slice", " ".join(["x", *names]), "s"), node("Relu", "s", "y")]
    made = model(nodes, {"x": IMAGE}, dict(zip(names, arrays, strict=True)))
    assert_same(made, normal(1, 2, 4, 6, 8))
    if steps is None:
        nodes = [node("Slice", "x", "s", starts=starts, ends=ends, axes=axes), node("Relu", "s", "y")]
        assert_same(model(nodes, {"x": IMAGE}, opset=9), normal(1, 2, 4, 6, 8))


def test_splits_and_joins() -> None:
    nodes = [
        node("Split", "x s", "a b", axis=1),
        node("Split", "b", "c d e", axis=2),
        node("Relu", "a", "f"),
        node("Concat", "c e d", "g", axis=2),
        node("Concat", "g f", "y", axis=1),
    ]
    assert_same(model(nodes, {"x": IMAGE}, {"s": np.array([1, 3])}), normal(1, 2, 4, 6, 8))
    nodes[0] = node("Split", "x", "a b", axis=1, split=[1, 3])
    assert_same(model(nodes, {"x": IMAGE}, opset=11), normal(1, 2, 4, 6, 8))
    uneven = [node("Split", "x", "a b c", axis=3, num_outputs=3), node("Concat", "c a b", "y", axis=3)]
    assert_same(model(uneven, {"x": IMAGE}, opset=18), normal(1, 2, 4, 6, 8))


@pytest.mark.parametrize("indices", [np.array(1), np.array([1, 3]), np.array([-2, -1]), np.array([0])])
def test_gather(indices: Any) -> None:
    nodes = [node("Gather", "x i", "g", axis=1), node("Relu", "g", "y")]
    assert_same(model(nodes, {"x": IMAGE}, {"i": indices}), normal(1, 2, 4, 6, 8))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
def test_pads(mode: str) -> None:
    amounts = [0, 0, 1, 2, 0, 0, 3, 1]
    one("Pad", np.array(amounts), np.float32(1.5), mode=mode)
    one("Pad", opset=9, mode=mode, pads=amounts, value=1.5)


def test_pads_of_chosen_axes_and_of_channels() -> None:
    one("Pad", np.array([1, 2, 0, 1]), np.float32(0.5), np.array([1, -1]), opset=18)
    one("Pad", np.array([0, 0, -1, 0, 0, 0, 2, -3]))


def test_expand_and_tile() -> None:
    nodes = [node("Relu", "x", "r"), node("Expand", "r s", "e"), node("Tile", "e t", "y")]
    constants = {"s": np.array([1, 4, 3, 5]), "t": np.array([1, 1, 2, 1])}
    assert_same(model(nodes, {"x": ["N", 4, 1, 5]}, constants), normal(1, 2, 4, 1, 5))


RESIZES = [
    ("asymmetric", "floor"),
    ("half_pixel", "round_prefer_floor"),
    ("half_pixel", "round_prefer_ceil"),
    ("pytorch_half_pixel", "round_prefer_floor"),
]


@pytest.mark.parametrize(("where", "rounding"), RESIZES)
@pytest.mark.parametrize("scale", [(2, 3), (4, 1)])
def test_upsampling(where: str, rounding: str, scale: tuple[int, int]) -> None:
    attributes = {"coordinate_transformation_mode": where, "nearest_mode": rounding}
    one("Resize", None, np.array([1, 1, *scale], np.float32), **attributes)
    one("Resize", None, None, np.array([2, 4, 6 * scale[0], 8 * scale[1]]), shape=(2, 4, 6, 8), **attributes)
    one("Resize", None, np.array(scale, np.float32), opset=18, axes=[2, 3], **attributes)


def test_upsampling_of_older_operator_sets() -> None:
    one("Resize", np.array([1, 1, 2, 2], np.float32), opset=10)
    one("Upsample", np.array([1, 1, 2, 2], np.float32), opset=9)


def test_downsampling_by_a_whole_factor_is_a_slice() -> None:
    attributes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    graph = one("Resize", None, np.array([1, 1, 0.5, 0.25], np.float32), **attributes)
    assert kinds(graph) == ["crop"]


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space_and_back(mode: str) -> None:
    one("DepthToSpace", blocksize=2, mode=mode)
    one("SpaceToDepth", blocksize=2)


def test_what_does_nothing() -> None:
    nodes = [
        node("Identity", "x", "a"),
        node("Dropout", "a", "b"),
        node("Cast", "b", "c", to=1),
        node("Relu", "c", "y"),
    ]
    assert kinds(assert_same(model(nodes, {"x": IMAGE}), normal(1, 2, 4, 6, 8))) == ["clamp"]


def test_shapes_computed_in_the_model_are_folded() -> None:
    nodes = [
        node("Relu", "x", "r"),
        node("Shape", "r", "shape"),
        node("Gather", "shape zero", "batch", axis=0),
        node("Size", "r", "size"),
        node("Div", "size batch", "rest"),
        node("Unsqueeze", "batch first", "b"),
        node("Unsqueeze", "rest first", "f"),
        node("Concat", "b f", "s", axis=0),
        node("Reshape", "r s", "y"),
    ]
    constants = {"zero": np.array(0), "first": np.array([0])}
    for batch in ("N", 1, 2):
        made = model(nodes, {"x": [batch, 4, 6, 8]}, constants)
        assert_same(made, normal(1, 1 if batch == 1 else 2, 4, 6, 8))


def test_weights_computed_in_the_model_are_folded() -> None:
    nodes = [
        node("Transpose", "v", "t", perm=[1, 0, 2, 3]),
        node("Mul", "t g", "w"),
        node("Constant", "", "b", value_floats=[0.5, -1.0, 2.0]),
        node("Conv", "x w b", "y"),
    ]
    constants = {"v": normal(1, 4, 3, 3, 3), "g": normal(2, 3, 1, 1, 1)}
    assert kinds(assert_same(model(nodes, {"x": IMAGE}, constants), normal(3, 2, 4, 6, 8))) == ["conv2d"]


# whole models


def residual() -> Any:
    nodes = [
        node("Conv", "x w1 b1", "/stem/conv/out", pads=[1, 1, 1, 1], name="/stem/conv/Conv"),
        node("Relu", "/stem/conv/out", "r", name="/stem/act/Relu"),
        node("Conv", "r w2", "c", pads=[1, 1, 1, 1], name="int"),
        node("Add", "c r", "a"),
        node("MaxPool", "a", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("GlobalAveragePool", "p", "g"),
        node("Flatten", "g", "f"),
        node("Gemm", "f w3 b3", "l"),
        node("Softmax", "l", "scores"),
    ]
    constants = {
        "w1": normal(1, 4, 3, 3, 3),
        "b1": normal(2, 4),
        "w2": normal(3, 4, 4, 3, 3),
        "w3": normal(4, 4, 5),
        "b3": normal(5, 5),
    }
    return model(nodes, {"x": ["N", 3, 8, 8]}, constants, outputs="scores")


def test_a_residual_network_and_its_names() -> None:
    graph = assert_same(residual(), normal(9, 2, 3, 8, 8))
    names = [layer.name for layer in graph.layers]
    assert names[:3] == ["stem_conv", "stem_act", "int1"]
    assert [port.name for port in graph.outputs] == ["scores"]
    assert graph.name == "net"


def test_a_file_and_a_model_in_memory_give_the_same(tmp_path: Path) -> None:
    made = residual()
    onnx.save(made, tmp_path / "net.onnx")
    array = normal(9, 2, 3, 8, 8)
    first = outputs_of(graph_of_onnx(made, name="net"), array)[0]
    assert np.array_equal(first, outputs_of(graph_of_onnx(tmp_path / "net.onnx", name="net"), array)[0])


def test_weights_beside_the_file(tmp_path: Path) -> None:
    made = residual()
    wanted = expected(made, normal(9, 2, 3, 8, 8))[0]
    onnx.save(made, tmp_path / "net.onnx", save_as_external_data=True, location="net.data", size_threshold=0)
    found = outputs_of(graph_of_onnx(tmp_path / "net.onnx", name="net"), normal(9, 2, 3, 8, 8))[0]
    assert np.abs(found - wanted).max() < 1e-5


def test_local_functions_are_inlined() -> None:
    helper = onnx.helper
    body = helper.make_function(
        "local", "Twice", ["a"], ["c"], [node("Relu", "a", "b"), node("Add", "b b", "c")], made_imports()
    )
    made = model(
        [helper.make_node("Twice", ["x"], ["y"], domain="local")], {"x": IMAGE}, domains={"local": 1}
    )
    made.functions.append(body)
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, IMAGE))
    assert kinds(assert_same(made, normal(1, 2, 4, 6, 8))) == ["clamp", "add"]


def made_imports() -> list[Any]:
    return [onnx.helper.make_opsetid("", 17)]


@pytest.mark.parametrize("opset", range(9, 23))
def test_every_operator_set(opset: int) -> None:
    made = model(
        [node("Conv", "x w", "c"), node("Relu", "c", "r"), node("GlobalAveragePool", "r", "y")],
        {"x": IMAGE},
        {"w": normal(1, 3, 4, 3, 3)},
        opset=opset,
    )
    assert_same(made, normal(2, 2, 4, 6, 8))


@pytest.mark.parametrize("dtype", [10, 11])
def test_half_and_double_precision(dtype: int) -> None:
    weights = normal(1, 3, 4, 3, 3).astype(np.float16 if dtype == 10 else np.float64)
    made = model([node("Conv", "x w", "y")], {"x": IMAGE}, input_type=dtype, output_type=dtype)
    made.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    graph = graph_of_onnx(made, name="net")
    layer = graph.layers[0]
    assert np.array_equal(layer.weights, weights.astype(np.float64))  # type: ignore[attr-defined]
