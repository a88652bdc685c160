"""Quantised ONNX models: the values of qonnx and of onnxruntime, exactly or within one code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from hlsgen.base.errors import DesignError  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from hlsgen.layers.conv2d import Conv2d  # noqa: E402
from tests.support.frontends.onnx_models import QONNX, expected, kinds, normal, onnx, referred  # noqa: E402
from tests.support.frontends.onnx_networks import (  # noqa: E402
    FRAMES,
    Net,
    brevitas_like,
    calibrated,
    differences,
    exact,
    executed,
    random_network,
    statically_quantised,
)

QUICK = settings(max_examples=25, deadline=None)


# QONNX, scales that are powers of two


@QUICK
@given(
    bits=st.integers(2, 8),
    signed=st.booleans(),
    narrow=st.booleans(),
    exponent=st.integers(-4, 1),
    mode=st.sampled_from(["ROUND", "FLOOR", "CEIL", "DOWN", "HALF_UP", "HALF_DOWN"]),
    seed=st.integers(0, 99),
)
def test_activations_of_every_kind(
    bits: int, signed: bool, narrow: bool, exponent: int, mode: str, seed: int
) -> None:
    net = Net((3, 4, 5))
    x = net.quant("x", 2.0**-6, 12)  # steps on which halves and other fractions fall
    y = net.quant(x, 2.0**exponent, bits, signed=int(signed), narrow=int(narrow), rounding_mode=mode)
    array = np.float32(2.0 ** (exponent + bits - 1)) * normal(seed, FRAMES, 3, 4, 5)
    made = net.qonnx(y, (3, 4, 5))
    _, steps = differences(made, array, 2.0**exponent, executed(made, array))
    assert not steps.any()


def test_linear_resizing_is_exact_by_powers_of_two() -> None:
    net = Net((3, 4, 5))
    scales = net.constant([1, 1, 2, 4])
    y = net.add("Resize", f"{net.quant('x', 2.0**-4)} - {scales}", mode="linear")
    array = 4 * normal(1, FRAMES, 3, 4, 5)
    made = net.qonnx(net.quant(y, 2.0**-5, 12), (3, 8, 20))
    _, steps = differences(made, array, 2.0**-5, executed(made, array))
    assert not steps.any()


@pytest.mark.parametrize("axis", [1, 3])
def test_constants_joined_to_quantised_tensors(axis: int) -> None:
    """On the tensor's grid, on another, and off every grid; read by a convolution and by quantisers."""
    net = Net((3, 4, 5))
    shape = [FRAMES, 3, 4, 5]
    shape[axis] = 2
    constants = [np.rint(4 * np.broadcast_to(normal(seed, *shape[1:]), shape)) for seed in (1, 2, 3)]
    x = net.quant("x", 2.0**-4)
    alike, other = (net.quant(net.constant(constants[one]), 2.0 ** (2 * one - 4), 6) for one in (0, 1))
    free = net.constant(constants[2] / 7)
    joined = net.add("Concat", f"{alike} {x} {other} {free}", axis=axis)
    weights = net.quant(net.constant(normal(4, 2, 9 if axis == 1 else 3, 1, 1)), 2.0**-3, 4, narrow=1)
    read = net.add("Conv", f"{net.quant(joined, 2.0**-3)} {weights}")
    made = net.qonnx(net.quant(read, 2.0**-3, 12), (2, 4, 5 if axis == 1 else 11))
    array = 4 * normal(5, FRAMES, 3, 4, 5)
    _, steps = differences(made, array, 2.0**-3, executed(made, array))
    assert not steps.any()


def test_constants_joined_to_integers_between_quantisers() -> None:
    net = Net((3, 4, 5))
    scale, zero = net.constant(0.125), net.constant(7, np.uint8)
    codes = net.add("QuantizeLinear", f"x {scale} {zero}")
    joined = net.add("Concat", f"{codes} {net.constant(np.full((1, 1, 4, 5), 11), np.uint8)}", axis=1)
    y = net.qdq(net.add("DequantizeLinear", f"{joined} {scale} {zero}"), 0.25, 3)
    made = net.onnx(y)
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    array = 4 * normal(5, 1, 3, 4, 5)
    _, steps = differences(made, array, 0.25, expected(made, array)[0])
    assert not steps.any()


def test_integers_clipped_to_fewer_bits() -> None:
    """As Brevitas exports four bits (QCDQ): their types have four bits too."""
    net = Net((3, 4, 5))
    weights = (net.constant(2.0 ** np.array([-3, -2])), net.constant(np.zeros(2), np.int8))
    codes = net.add("QuantizeLinear", f"{net.constant(normal(1, 2, 3, 1, 1))} {' '.join(weights)}", axis=0)
    limited = net.add("Clip", f"{codes} {net.constant(-7, np.int8)} {net.constant(7, np.int8)}")
    w = net.add("DequantizeLinear", f"{limited} {' '.join(weights)}", axis=0)

    def clipped(x: str, scale: float, low: int, high: int, zero: int) -> str:
        step = f"{net.constant(scale)} {net.constant(zero, np.uint8)}"
        ends = f"{net.constant(low, np.uint8)} {net.constant(high, np.uint8)}"
        codes = net.add("Clip", f"{net.add('QuantizeLinear', f'{x} {step}')} {ends}")
        return net.add("DequantizeLinear", f"{codes} {step}")

    y = clipped(net.add("Conv", f"{clipped('x', 0.25, 1, 15, 8)} {w}"), 0.5, 0, 3, 0)
    made = net.onnx(y)
    array = 4 * normal(5, FRAMES, 3, 4, 5)
    graph, steps = differences(made, array, 0.5, expected(made, array)[0])
    assert not steps.any()
    (conv,) = (layer for layer in graph.layers if isinstance(layer, Conv2d))
    widths = (graph.inputs[0].tensor.type, conv.weight_type, graph.outputs[0].tensor.type)
    assert [type_.width for type_ in widths] == [4, 5, 2]  # weights of both scales on one grid


def test_a_convolutional_network_is_exact() -> None:
    net = Net((3, 8, 8))
    x = net.quant("x", 2.0**-5)
    w1 = net.quant(net.constant(normal(1, 6, 3, 3, 3)), 2.0**-4, 6, narrow=1)
    b1 = net.quant(net.constant(normal(2, 6)), 2.0**-9, 12)
    c = net.add("Relu", net.add("Conv", f"{x} {w1} {b1}", pads=[1, 1, 1, 1]))
    p = net.add("MaxPool", net.quant(c, 2.0**-3, 6, signed=0), kernel_shape=[2, 2], strides=[2, 2])
    w2 = net.quant(net.constant(normal(3, 6, 1, 3, 3)), 2.0**-5, 5)
    d = net.quant(net.add("Conv", f"{p} {w2}", group=6, pads=[1, 1, 1, 1]), 2.0**-2, 7)
    s = net.quant(net.add("Add", f"{d} {p}"), 2.0**-2, 8)
    f = net.add("Flatten", net.add("AveragePool", s, kernel_shape=[2, 2], strides=[2, 2]))
    w3 = net.quant(net.constant(normal(4, 24, 5)), 2.0**-6, 8)
    y = net.add("MatMul", f"{f} {w3}")
    made = net.qonnx(y, (5,))
    array = normal(5, FRAMES, 3, 8, 8)
    graph, steps = differences(made, array, 2.0**-10, executed(made, array))
    assert not steps.any()
    assert "affine" not in kinds(graph) and "clamp" not in kinds(graph) and "cast" not in kinds(graph)
    assert str(graph.input.type) == "fixed<8,3,rnd_conv,sat>"
    assert all(port.scale == 1 for port in (*graph.inputs, *graph.outputs))


def test_weights_are_the_codes_of_their_quantiser() -> None:
    weights = normal(1, 6, 3, 3, 3)
    net = Net((3, 8, 8))
    w = net.quant(net.constant(weights), 2.0**-4, 6, narrow=1)
    y = net.add("Conv", f"{net.quant('x', 2.0**-5)} {w}")
    layer = graph_of_onnx(net.qonnx(y, (6, 6, 6)), name="net").layers[0]
    assert np.array_equal(layer.weights, np.clip(np.rint(weights * 16), -31, 31))  # type: ignore[attr-defined]
    assert str(layer.weight_type) == "fixed<6,2>"  # type: ignore[attr-defined]


def test_scales_of_each_channel_that_are_powers_of_two() -> None:
    for spread in (3, 9):
        scale = 2.0 ** -np.linspace(4, 4 + spread, 6).round().reshape(-1, 1, 1, 1)
        net = Net((3, 8, 8))
        w = net.quant(net.constant(normal(1, 6, 3, 3, 3) * scale * 8), scale, 5)
        y = net.quant(net.add("Conv", f"{net.quant('x', 2.0**-5)} {w}"), 2.0**-7, 8)
        made = net.qonnx(y, (6, 6, 6))
        array = normal(5, FRAMES, 3, 8, 8)
        graph, steps = differences(made, array, 2.0**-7, executed(made, array))
        assert not steps.any()
        assert ("affine" in kinds(graph)) == (spread == 9)


def test_one_bit_weights_and_activations() -> None:
    net = Net((3, 8, 8))
    one = net.constant(1.0)
    x = net.add("BipolarQuant", f"x {one}", domain=QONNX)
    w = net.add("BipolarQuant", f"{net.constant(normal(1, 4, 3, 3, 3))} {net.constant(0.5)}", domain=QONNX)
    a = net.add("BipolarQuant", f"{net.add('Conv', f'{x} {w}')} {one}", domain=QONNX)
    w = net.quant(net.constant(normal(2, 5, 4, 3, 3)), 0.5, 1)
    y = net.quant(net.add("Conv", f"{a} {w}"), 1.0, 1)
    made = net.qonnx(y, (5, 4, 4))
    array = normal(5, FRAMES, 3, 8, 8)
    _, steps = differences(made, array, 1.0, executed(made, array))
    assert not steps.any()


@pytest.mark.parametrize("value", [0.5, 0.3, -7.0, 100.0])
@pytest.mark.parametrize("signed", [0, 1])
@pytest.mark.parametrize("scale", [0.25, 0.3])
def test_a_padding_keeps_its_value(value: float, signed: int, scale: float) -> None:
    """Beside the grid of what is padded, and beyond its range: it neither rounds nor saturates to that."""
    net = Net((3, 8, 8))
    pads = net.constant([0, 0, 1, 1, 0, 0, 1, 1], np.int64)
    y = net.add("Pad", f"{net.quant('x', scale, 5, signed=signed)} {pads} {net.constant(value)}")
    ones = net.quant(net.constant(np.eye(3).reshape(3, 3, 1, 1)), 1.0, 2)
    made = net.qonnx(net.quant(net.add("Conv", f"{y} {ones}"), 2.0**-6, 16), (3, 10, 10))
    array = 3 * normal(1, FRAMES, 3, 8, 8)
    _, steps = differences(made, array, 2.0**-6, executed(made, array))
    assert not steps.any()


def test_a_padding_far_beyond_is_refused() -> None:
    net = Net((3, 8, 8))
    pads = net.constant([0, 0, 1, 1, 0, 0, 1, 1], np.int64)
    y = net.add("Pad", f"{net.quant('x', 0.25, 5)} {pads} {net.constant(-1e30)}")
    with pytest.raises(DesignError, match="is padded with -1e\\+30, but its values lie within"):
        graph_of_onnx(net.qonnx(net.quant(y, 0.5), (3, 10, 10)), name="net")


def test_trinary_weights_and_two_bits() -> None:
    net = Net((3, 8, 8))
    x = net.quant("x", 0.5, 2, signed=0)
    w = net.quant(net.constant(normal(1, 4, 3, 3, 3)), 1.0, 2, narrow=1)
    made = net.qonnx(net.quant(net.add("Conv", f"{x} {w}"), 1.0, 4), (4, 6, 6))
    array = normal(5, FRAMES, 3, 8, 8)
    _, steps = differences(made, array, 1.0, executed(made, array))
    assert not steps.any()


def test_biases_finer_than_the_products() -> None:
    """Eight bits below the products a bias is exact."""
    net = Net((3, 8, 8))
    x = net.quant("x", 2.0**-3)
    w = net.quant(net.constant(normal(1, 4, 3, 3, 3)), 2.0**-3, 6)
    bias = np.array([5, -3, 1, 255]) * 2.0**-14
    made = net.qonnx(net.quant(net.add("Conv", f"{x} {w} {net.constant(bias)}"), 2.0**-5, 12), (4, 6, 6))
    array = normal(5, FRAMES, 3, 8, 8)
    graph, steps = differences(made, array, 2.0**-5, executed(made, array))
    assert not steps.any()
    assert kinds(graph) == ["conv2d"]


@pytest.mark.parametrize("function", ["Sigmoid", "Tanh", "Elu", "Softplus", "HardSigmoid", "LeakyRelu"])
def test_functions_between_quantisers(function: str) -> None:
    net = Net((3, 4, 5))
    x = net.quant("x", 2.0**-5)
    made = net.qonnx(net.quant(net.add(function, x), 2.0**-6, 8), (3, 4, 5))
    array = 2 * normal(5, FRAMES, 3, 4, 5)
    graph, steps = differences(made, array, 2.0**-6, executed(made, array))
    assert not steps.any()
    assert len(graph.layers) == 1


def test_shapes_and_layout_between_quantisers() -> None:
    net = Net((8, 8, 3))
    x = net.quant(net.add("Transpose", "x", perm=[0, 3, 1, 2]), 2.0**-5)
    w = net.quant(net.constant(normal(1, 8, 3, 3, 3)), 2.0**-4, 6)
    c = net.quant(net.add("Conv", f"{x} {w}", pads=[1, 1, 1, 1]), 2.0**-2, 6)
    d = net.add("DepthToSpace", c, blocksize=2)
    e = net.add("Concat", f"{d} {net.add('Neg', d)}", axis=1)
    p = net.add("Pad", f"{e} {net.constant([0, 0, 1, 0, 0, 0, 0, 2], np.int64)}")
    y = net.add("Transpose", p, perm=[0, 2, 3, 1])
    made = net.qonnx(y, (17, 18, 4))
    array = normal(5, FRAMES, 8, 8, 3)
    _, steps = differences(made, array, 2.0**-2, executed(made, array))
    assert not steps.any()


# QONNX, other scales


@pytest.mark.parametrize("scales", [False, True])
def test_batch_normalisation_residuals_and_real_scales(scales: bool) -> None:
    made, step = brevitas_like(scales)
    array = normal(5, FRAMES, 3, 8, 8)
    _, steps = differences(made, array, np.float32(step), executed(made, array))
    assert np.abs(steps).max() <= 1 and (steps != 0).mean() < 0.01
    _, steps = differences(made, array, np.float32(step), exact(made, array))
    assert np.abs(steps).max() <= 1 and (steps != 0).mean() < 0.01


def test_limits_on_the_way() -> None:
    """ReLU6 and a bias off the grid, whose limit is no multiple of the sums' scale."""
    net = Net((3, 8, 8))
    w = net.quant(net.constant(normal(1, 6, 3, 3, 3)), 0.0217, 6)
    c = net.add("Conv", f"{net.quant('x', 0.031)} {w} {net.constant(normal(2, 6))}")
    y = net.quant(net.add("Clip", f"{c} {net.constant(0.0)} {net.constant(1.7)}"), 0.0139, 8, signed=0)
    made = net.qonnx(y, (6, 6, 6))
    array = normal(5, FRAMES, 3, 8, 8)
    _, steps = differences(made, array, np.float32(0.0139), executed(made, array))
    assert np.abs(steps).max() <= 1 and (steps != 0).mean() < 0.002


# QuantizeLinear and DequantizeLinear


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize(("zero", "dtype"), [(0, np.int8), (131, np.uint8), (-7, np.int8), (117, np.uint8)])
def test_a_network_of_static_quantisation(zero: int, dtype: Any, per_channel: bool) -> None:
    made, step = calibrated(zero, dtype, per_channel)
    array = 2 * normal(5, FRAMES, 3, 10, 10)
    for optimised in (False, True):
        wanted = expected(made, array, optimised=optimised)[0]
        _, steps = differences(made, array, np.float32(step), wanted)
        assert np.abs(steps).max() <= 1
        assert (steps != 0).mean() < 0.05


@QUICK
@given(
    zero=st.integers(0, 255),
    pads=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    scale=st.floats(0.01, 0.2),
    seed=st.integers(0, 99),
)
def test_zero_points_and_padding(zero: int, pads: list[int], scale: float, seed: int) -> None:
    """Padding is with the zero point, whatever it is; one layer deep no code differs but by a tie."""
    net = Net((3, 6, 6))
    x = net.qdq("x", np.float32(0.03), zero)
    weights = net.integers(np.random.default_rng(seed).integers(-127, 128, (4, 3, 3, 3)), np.float32(0.01))
    made = net.onnx(net.qdq(net.add("Conv", f"{x} {weights}", pads=pads), np.float32(scale), 255 - zero))
    array = 3 * normal(seed, FRAMES, 3, 6, 6)
    _, steps = differences(made, array, np.float32(scale), expected(made, array)[0])
    assert np.abs(steps).max() <= 1 and (steps != 0).mean() < 0.01


def test_scales_that_are_powers_of_two_are_exact() -> None:
    net = Net((3, 8, 8))
    x = net.qdq("x", 2.0**-5, 0, np.int8)
    w = net.integers(np.random.default_rng(1).integers(-127, 128, (8, 3, 3, 3)), 2.0**-7)
    b = net.integers(np.random.default_rng(1).integers(-999, 999, 8), np.full(8, 2.0**-12), np.int32)
    c = net.qdq(net.add("Relu", net.add("Conv", f"{x} {w} {b}")), 2.0**-4, 0, np.uint8)
    made = net.onnx(net.qdq(net.add("AveragePool", c, kernel_shape=[3, 3]), 2.0**-5, 0, np.uint8))
    array = normal(5, FRAMES, 3, 8, 8)
    graph, steps = differences(made, array, 2.0**-5, expected(made, array)[0])
    assert not steps.any()
    assert kinds(graph) == ["conv2d", "pool2d"]


def test_integer_inputs_and_outputs() -> None:
    """A model of integer operations: uint8 in, uint8 out."""
    net = Net((3, 8, 8))
    rng = np.random.default_rng(1)
    names = [
        "x",
        net.constant(0.02),
        net.constant(121, np.uint8),
        net.constant(rng.integers(-127, 128, (8, 3, 3, 3)), np.int8),
        net.constant(0.003 * (1 + rng.random(8))),
        net.constant(np.zeros(8), np.int8),
        net.constant(0.013),
        net.constant(99, np.uint8),
        net.constant(rng.integers(-3000, 3000, 8), np.int32),
    ]
    c = net.add("QLinearConv", " ".join(names), pads=[1, 0, 0, 1])
    p = net.add("MaxPool", c, kernel_shape=[2, 2], strides=[2, 2])
    f = net.add("Flatten", p)
    names = [
        f,
        names[6],
        names[7],
        net.constant(rng.integers(0, 256, (72, 5)), np.uint8),
        net.constant(0.002),
    ]
    names += [net.constant(130, np.uint8), net.constant(0.05), net.constant(77, np.uint8)]
    made = net.onnx(net.add("QLinearMatMul", " ".join(names)), input_type=2, output_type=2)
    array = rng.integers(0, 256, (8, 3, 8, 8)).astype(np.uint8)
    graph, steps = differences(made, array, 1.0, referred(made, array).astype(np.float64))
    assert np.abs(steps).max() <= 1 and (steps != 0).mean() < 0.03
    assert str(graph.input.type) == "ufixed<8,8,rnd,wrap>"
    assert graph.outputs[0].scale == 1 and graph.output.type.width == 8  # type: ignore[union-attr]


def test_products_of_integers_are_exact() -> None:
    net = Net((3, 8, 8))
    rng = np.random.default_rng(1)
    w = net.constant(rng.integers(-127, 128, (8, 3, 3, 3)), np.int8)
    c = net.add("ConvInteger", f"x {w} {net.constant(121, np.uint8)} {net.constant(3, np.int8)}")
    made = net.onnx(c, input_type=2, output_type=6)
    array = rng.integers(0, 256, (8, 3, 8, 8)).astype(np.uint8)
    _, steps = differences(made, array, 1.0, referred(made, array).astype(np.float64))
    assert not steps.any()
    net = Net((7,))
    w = net.constant(rng.integers(-127, 128, (7, 5)), np.int8)
    m = net.add("Cast", net.add("MatMulInteger", f"x {w}"), to=1)
    made = net.onnx(net.add("Mul", f"{m} {net.constant(0.25)}"), input_type=3)
    array = rng.integers(-128, 128, (8, 7)).astype(np.int8)
    _, steps = differences(made, array, 0.25, referred(made, array))
    assert not steps.any()


def test_four_bits() -> None:
    net = Net((3, 8, 8))
    made_codes = np.random.default_rng(1).integers(-8, 8, (4, 3, 3, 3))
    x = net.qdq("x", 0.25, 3, onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.UINT4))
    w = net.integers(made_codes, 0.125, onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.INT4))
    made = net.onnx(net.qdq(net.add("Conv", f"{x} {w}"), 0.3, 128), opset=21)
    array = normal(5, FRAMES, 3, 8, 8)
    _, steps = differences(made, array, np.float32(0.3), expected(made, array)[0])
    assert np.abs(steps).max() <= 1 and (steps != 0).mean() < 0.01


@pytest.mark.parametrize("seed", range(16))
def test_what_onnxruntimes_quantiser_makes_of_random_networks(tmp_path: Path, seed: int) -> None:
    """The codes of exact arithmetic, and onnxruntime's but for ties, which float32 breaks at random."""
    frames = normal(seed, FRAMES, 3, 8, 8)
    types = pytest.importorskip("onnxruntime.quantization").QuantType
    made = statically_quantised(
        random_network(seed),
        tmp_path,
        frames,
        per_channel=bool(seed & 1),
        activation_type=types.QInt8 if seed & 2 else types.QUInt8,
    )
    last = next(one for one in made.graph.node if one.output[0] == "y")
    assert last.op_type == "DequantizeLinear"
    scales = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in made.graph.initializer}
    step = float(scales[last.input[1]])
    _, steps = differences(made, frames, step, exact(made, frames))
    assert np.abs(steps).max() <= 1 and (steps != 0).mean() < 0.03
    _, steps = differences(made, frames, step, expected(made, frames)[0])
    assert np.abs(steps).max() <= 4 and (np.abs(steps) > 1).mean() < 0.1
