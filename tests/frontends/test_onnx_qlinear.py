"""Integer operations of onnxruntime's own domain: the codes that ONNX Runtime computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from hlsgen.base.errors import DesignError  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import expected, model, node, normal, outputs_of  # noqa: E402
from tests.support.frontends.onnx_networks import statically_quantised  # noqa: E402

MICROSOFT = "com.microsoft"
SHAPE = (3, 4, 6, 5)
UINT8, INT8 = onnx.TensorProto.UINT8, onnx.TensorProto.INT8
SCALES = {"xs": np.float32(0.0371), "ys": np.float32(0.0523), "zs": np.float32(0.0411)}


def codes(seed: int, dtype: Any, shape: tuple[int, ...] = SHAPE) -> Any:
    ends = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(ends.min, ends.max + 1, shape).astype(dtype)


def check(
    op: str,
    inputs: str,
    *,
    dtype: Any = np.uint8,
    shape: tuple[int, ...] = SHAPE,
    ties: float = 0.0,
    **more: Any,
) -> None:
    """That at most a fraction `ties` of the codes is one beside: float32 decides ties."""
    constants = {
        **SCALES,
        "xz": np.array(3, dtype),
        "yz": np.array(7, dtype),
        "zz": np.array(11, dtype),
        "k": codes(9, dtype, (1, *shape[1:])),
        **more.pop("constants", {}),
    }
    second = {"v": shape} if " v " in f" {inputs} " else {}
    used = {name: array for name, array in constants.items() if name in inputs.split()}
    type_ = UINT8 if dtype == np.uint8 else INT8
    made = model(
        [node(op, inputs, "y", domain=MICROSOFT, **more)],
        {"x": shape, **second},
        used,
        input_type=type_,
        output_type=type_,
        domains={MICROSOFT: 1},
    )
    frames = [codes(seed, dtype, shape) for seed, _ in enumerate(("x", *second))]
    wanted = expected(made, *frames)[0].astype(np.float64)
    found = outputs_of(graph_of_onnx(made, name="net"), *frames)[0]
    assert found.shape == wanted.shape
    apart = np.abs(found - wanted)
    assert apart.max() <= (1 if ties else 0) and np.count_nonzero(apart) <= ties * apart.size


BOTH = pytest.mark.parametrize("dtype", [np.uint8, np.int8])


@BOTH
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_two_operands(op: str, dtype: Any) -> None:
    check(op, "x xs xz v ys yz zs zz", dtype=dtype, ties=0.01)
    check(op, "x xs xz k ys yz zs zz", dtype=dtype, ties=0.01, shape=(1, 4, 6, 5))


@BOTH
def test_functions(dtype: Any) -> None:
    check("QLinearLeakyRelu", "x xs xz ys yz", dtype=dtype, alpha=0.13, ties=0.01)
    check("QLinearSigmoid", "x xs xz ys yz", dtype=dtype, ties=0.01)


@BOTH
@pytest.mark.parametrize("last", [0, 1])
def test_pools(dtype: Any, last: int) -> None:
    check("QLinearGlobalAveragePool", "x xs xz ys yz", dtype=dtype, channels_last=last, ties=0.05)
    window = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 0]}
    for counted in (0, 1):
        more = {"count_include_pad": counted, "channels_last": last}
        check("QLinearAveragePool", "x xs xz ys yz", dtype=dtype, ties=0.01, **window, **more)


@BOTH
def test_concatenation(dtype: Any) -> None:
    check("QLinearConcat", "zs zz x xs xz v ys yz", dtype=dtype, axis=1, ties=0.01)


@BOTH
@pytest.mark.parametrize("opset", [11, 13])
def test_softmax(dtype: Any, opset: int) -> None:
    scale, zero = np.float32(1 / 256), np.array(0 if dtype == np.uint8 else -128, dtype)
    constants = {"ps": scale, "pz": zero}
    check("QLinearSoftmax", "x xs xz ps pz", dtype=dtype, axis=3, opset=opset, constants=constants, ties=0.03)


@BOTH
@pytest.mark.parametrize("transposed", [0, 1])
def test_gemm(dtype: Any, transposed: int) -> None:
    weights = codes(5, np.int8, (6, 20) if transposed else (20, 6))
    bias = np.arange(-3000, 3000, 1000, dtype=np.int32)
    constants = {"w": weights, "wz": np.zeros(6, np.int8), "ws": np.linspace(0.001, 0.004, 6), "b": bias}
    constants["gs"] = np.float32(0.31)
    more = {"transB": transposed, "constants": constants, "dtype": dtype, "shape": (3, 20)}
    check("QGemm", "x xs xz w ws wz b gs yz", ties=0.01, **more)


def test_a_network_that_quantize_static_writes(tmp_path: Path) -> None:
    """Residual, with pools, a LeakyRelu and a Gemm, in the format QOperator."""
    quantization = pytest.importorskip("onnxruntime.quantization")
    nodes = [
        node("Conv", "x w1 b1", "c", pads=[1, 1, 1, 1]),
        node("LeakyRelu", "c", "l", alpha=0.1),
        node("Conv", "l w2 b1", "d", pads=[1, 1, 1, 1]),
        node("Add", "d l", "a"),
        node("AveragePool", "a", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Sigmoid", "p", "s"),
        node("Concat", "p s", "j", axis=1),
        node("GlobalAveragePool", "j", "g"),
        node("Flatten", "g", "f"),
        node("Gemm", "f v b2", "y"),
    ]
    constants = {
        "w1": normal(1, 4, 2, 3, 3) / 4,
        "w2": normal(2, 4, 4, 3, 3) / 6,
        "b1": normal(3, 4) / 4,
        "v": normal(4, 8, 3),
        "b2": normal(5, 3),
    }
    made = model(nodes, {"x": (1, 2, 8, 6)}, constants, opset=17)
    frames = normal(6, 20, 1, 2, 8, 6)

    written = statically_quantised(
        made,
        tmp_path,
        frames[:, 0],
        quant_format=quantization.QuantFormat.QOperator,
        per_channel=False,
        activation_type=quantization.QuantType.QUInt8,
        weight_type=quantization.QuantType.QUInt8,
    )
    ops = {one.op_type for one in written.graph.node}
    assert {"QLinearAdd", "QLinearLeakyRelu", "QGemm", "QLinearGlobalAveragePool", "QLinearConcat"} <= ops
    graph = graph_of_onnx(written, name="net")
    step = max(one.scale for one in graph.outputs)
    for frame in frames:
        wanted = expected(written, frame)[0]
        assert np.abs(outputs_of(graph, frame)[0] - wanted).max() <= 2.5 * float(np.max(step))


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("QLinearConcat", {"axis": 1}),
        ("QLinearGlobalAveragePool", {"channels_last": 0}),
        ("QLinearGlobalAveragePool", {"channels_last": 1}),
        ("QLinearSoftmax", {"axis": 1, "opset": 12}),
        ("QLinearSoftmax", {"axis": 1, "opset": 13}),
    ],
)
def test_operations_of_constants_are_refused(op: str, attributes: dict[str, int]) -> None:
    nodes = [
        node(op, "s z c s z" if op == "QLinearConcat" else "c s z s z", "p", domain=MICROSOFT, **attributes),
        node("DequantizeLinear", "p s z", "d"),
        node("Add", "x d", "y"),
    ]
    constants = {"c": codes(0, np.uint8, (1, 4, 4, 2)), "s": np.float32(0.1), "z": np.uint8(0)}
    made = model(nodes, {"x": (1, 4, 4, 2)}, constants, domains={MICROSOFT: 1})
    with pytest.raises(DesignError, match="its input .* is constant"):
        graph_of_onnx(made, name="net")
