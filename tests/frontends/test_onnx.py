"""Float ONNX models: the graph's golden result is what onnxruntime computes; sums, windows, whole models."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import (  # noqa: E402
    IMAGE,
    assert_same,
    expected,
    kinds,
    model,
    node,
    normal,
    one,
    onnx,
    outputs_of,
)

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


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


@pytest.mark.parametrize("op", ["ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum"])
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
@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
def test_arg_max(axis: int, keep: int, op: str) -> None:
    nodes = [node(op, "x", "i", axis=axis, keepdims=keep), node("Cast", "i", "y", to=1)]
    assert_same(model(nodes, {"x": IMAGE}), normal(1, 2, 4, 6, 8))
    assert_same(model(nodes[:1], {"x": IMAGE}, outputs="i", output_type=7), normal(1, 2, 4, 6, 8))


def test_ceil_mode_takes_no_window_behind_the_image() -> None:
    """The last window would begin in the padding."""
    one("MaxPool", shape=("N", 4, 5, 5), kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1)


def test_a_bias_that_broadcasts_otherwise_stays_a_sum() -> None:
    nodes = [node("MatMul", "x w", "p"), node("Add", "p b", "y")]
    for shape in ((3, 1), (1,), (3, 5)):
        made = model(nodes, {"x": ["N", 3, 7]}, {"w": normal(1, 7, 5), "b": normal(2, *shape)})
        assert "affine" in kinds(assert_same(made, normal(3, 2, 3, 7)))


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


# what PyTorch exports


@pytest.mark.parametrize("dynamo", [False, True])
def test_what_pytorch_exports(tmp_path: Path, dynamo: bool) -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'hlsgen[torch]'")
    pytest.importorskip("onnxscript", reason="torch.onnx needs onnxscript")

    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
            self.norm = torch.nn.BatchNorm2d(8)
            self.up = torch.nn.ConvTranspose2d(8, 4, 2, stride=2)
            self.last = torch.nn.Linear(4 * 8 * 8, 5)

        def forward(self, x: Any) -> Any:
            functional = torch.nn.functional
            y = functional.silu(self.norm(self.first(x)))
            y = functional.gelu(functional.max_pool2d(y, 2), approximate="tanh")
            y = functional.hardswish(self.up(y))
            z = functional.interpolate(functional.avg_pool2d(y, 2), scale_factor=2)
            y = functional.mish(torch.cat([y, z], 1)[:, 2:6])
            return self.last(y.reshape(y.size(0), -1)).softmax(-1)

    torch.manual_seed(1)
    net = Net().eval()
    x = torch.from_numpy(normal(1, 2, 3, 8, 8))
    file = tmp_path / "net.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporters' own deprecations
        logging.disable(logging.WARNING)
        try:
            axes = (
                {"dynamic_shapes": {"x": {0: torch.export.Dim("batch")}}}
                if dynamo
                else {"dynamic_axes": {"x": {0: "batch"}}, "input_names": ["x"]}
            )
            torch.onnx.export(net, (x,), str(file), dynamo=dynamo, verbose=False, **axes)
        finally:
            logging.disable(logging.NOTSET)
    graph = graph_of_onnx(file, name="net")
    found = outputs_of(graph, x.numpy())[0]
    assert np.abs(found - net(x).detach().numpy()).max() < 1e-5
    functions = [layer.function for layer in graph.layers if layer.kind == "table"]  # type: ignore[attr-defined]
    assert functions == ["silu", "gelu_tanh", "hard_swish", "mish"]
