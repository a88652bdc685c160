"""Typing of quantised graphs: what is beside the codes goes where it must, and the codes stay exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType
from hlsgen.layers.base import Tensor
from hlsgen.passes.quantisers import Direction, Grid, rounded
from hlsgen.passes.scaled import (
    MOST_FACTOR_BITS,
    Scaled,
    compressed,
    exact_fraction,
    multipliers,
    weights_and_scale,
)

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from hlsgen.base.errors import DesignError  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import QONNX, expected, kinds, model, node, normal, onnx, outputs_of  # noqa: E402
from tests.support.frontends.onnx_networks import FRAMES, Net, differences, exact, executed  # noqa: E402

STEP = np.float32(0.0713)


def start(scale: float = 0.0217, **given: Any) -> tuple[Net, str]:
    """A net and its quantised input [4, 6, 6]."""
    net = Net((4, 6, 6))
    return net, net.quant("x", np.float32(scale), **given)


def conv(
    net: Net, x: str, members: int = 6, channels: int = 4, *, bias: bool = False, **attributes: Any
) -> str:
    """A convolution whose weights have a scale for each channel."""
    weights = normal(members, members, channels // attributes.get("group", 1), 3, 3)
    scale = np.abs(weights).max(axis=(1, 2, 3), keepdims=True) / 127
    names = f"{x} {net.quant(net.constant(weights), scale)}"
    if bias:
        names += f" {net.constant(normal(9, members))}"
    return net.add("Conv", names, pads=[1, 1, 1, 1], **attributes)


def assert_exact(net: Net, y: str, *shape: int, step: Any = STEP, most: float = 0.0) -> Any:
    """That the codes of the net's end, quantised, are those of exact arithmetic but for a share of `most`."""
    made = net.qonnx(net.quant(y, step), shape)
    array = 2 * normal(5, FRAMES, *net.shape)
    graph, steps = differences(made, array, step, exact(made, array))
    assert np.abs(steps).max(initial=0) <= 1 and (steps != 0).mean() <= most
    return graph


def assert_near(net: Net, y: str, *shape: int, error: float) -> Any:
    """That the net's values, which nothing quantises, are within `error` of exact arithmetic."""
    made = net.qonnx(y, shape)
    array = 2 * normal(5, FRAMES, *net.shape)
    graph = graph_of_onnx(made, name="net")
    assert np.abs(outputs_of(graph, array)[0] - exact(made, array)).max() <= error
    return graph


# what moves elements takes along what belongs to its channel


def test_a_slice_of_channels() -> None:
    net, x = start()
    starts, ends, axes = (net.constant([value], np.int64) for value in (1, 4, 1))
    y = net.add("Slice", f"{conv(net, x, bias=True)} {starts} {ends} {axes}")
    graph = assert_exact(net, y, 3, 6, 6)
    assert kinds(graph) == ["conv2d", "crop", "affine"]


def test_a_pixel_shuffle_mixes_channels() -> None:
    net, x = start()
    y = net.add("DepthToSpace", conv(net, x, 8, bias=True), blocksize=2)
    graph = assert_exact(net, y, 2, 12, 12, most=0.005)
    assert kinds(graph) == ["conv2d", "affine", "rearrange"]


@pytest.mark.parametrize("value", [0.0, 0.5])
@pytest.mark.parametrize("bias", [False, True])
def test_borders(value: float, bias: bool) -> None:
    net, x = start()
    pads = net.constant([0, 0, 1, 1, 0, 0, 1, 1], np.int64)
    y = net.add("Pad", f"{conv(net, x, bias=bias)} {pads} {net.constant(value)}")
    assert_exact(net, y, 6, 8, 8, most=0.005)


def test_a_border_on_the_grid() -> None:
    net, x = start(0.25)
    pads = net.constant([0, 1, 0, 0, 0, 1, 0, 0], np.int64)
    y = net.add("Pad", f"{x} {pads} {net.constant(0.75)}")
    assert kinds(assert_exact(net, y, 6, 6, 6, step=np.float32(0.25))) == ["pad"]


# limits


def test_batch_normalisation_after_limits() -> None:
    net, x = start()
    c = net.add("Clip", f"{conv(net, x, bias=True)} {net.constant(-0.3)} {net.constant(1.1)}")
    statistics = [normal(1, 6), normal(2, 6), normal(3, 6), np.abs(normal(4, 6)) + 1]
    y = net.add("BatchNormalization", " ".join([c, *map(net.constant, statistics)]))
    assert_exact(net, y, 6, 6, 6, most=0.01)


def test_one_scale_after_limits_moves_them() -> None:
    net, x = start()
    y = net.add("Mul", f"{net.add('Relu', conv(net, x))} {net.constant(0.37)}")
    y = net.add("Clip", f"{net.add('Add', f'{y} {net.constant(0.1)}')} - {net.constant(0.9)}")
    assert kinds(assert_exact(net, y, 6, 6, 6)) == ["conv2d", "affine"]


def test_limits_before_a_convolution() -> None:
    """ReLU of plain codes is a limit of codes, and of sums a limit of the convolution that has them."""
    net, x = start()
    y = net.add("Relu", x)
    assert kinds(assert_exact(net, conv(net, y), 6, 6, 6)) == ["clamp", "conv2d", "affine"]
    net, x = start(0.25)
    weights = net.quant(net.constant(normal(1, 4, 4, 3, 3)), 0.125, 4)
    y = conv(net, net.add("Relu", net.add("Conv", f"{x} {weights}")))
    graph = assert_exact(net, y, 6, 4, 4)
    assert kinds(graph) == ["conv2d", "conv2d", "affine"]
    assert graph.layers[0].output_type.signed is False


def test_limits_that_exclude_each_other() -> None:
    net, x = start()
    y = net.add("Clip", f"{net.add('Relu', x)} - {net.constant(-1.0)}")
    assert_exact(net, y, 4, 6, 6)


# convolutions


@pytest.mark.parametrize("group", [1, 6])
def test_a_convolution_of_sums_with_a_scale_for_each_channel(group: int) -> None:
    net, x = start(0.25, bits=4)
    y = conv(net, conv(net, x), channels=6, group=group)
    graph = assert_exact(net, y, 6, 6, 6, most=0.005)
    assert kinds(graph).count("conv2d") == 2
    assert kinds(graph).count("affine") == (1 if group == 6 else 2)


def test_weights_of_powers_of_two_have_the_type_that_their_quantiser_says() -> None:
    net, x = start(0.25)
    weights = net.quant(net.constant(0.1 * normal(1, 2, 4, 3, 3)), [[[[0.5]]], [[[0.125]]]], 6)
    made = net.qonnx(net.add("Conv", f"{x} {weights}"), (2, 4, 4))
    assert str(graph_of_onnx(made, name="net").layers[0].weight_type) == "fixed<8,5>"  # type: ignore[attr-defined]


def test_a_transposed_convolution_with_a_scale_for_each_channel() -> None:
    net, x = start()
    weights = normal(1, 4, 3, 3, 2)
    scale = np.abs(weights).max(axis=(0, 2, 3), keepdims=True) / 127
    names = f"{x} {net.quant(net.constant(weights), scale)} {net.constant(normal(2, 3))}"
    assert_exact(net, net.add("ConvTranspose", names, strides=[2, 3]), 3, 13, 17, most=0.001)


def test_a_flattened_image_and_a_dense_layer() -> None:
    net, x = start()
    f = net.add("Flatten", x)
    weights = normal(1, 144, 5)
    w = net.quant(net.constant(weights), np.abs(weights).max(axis=0, keepdims=True) / 127)
    b = net.constant(normal(2, 5))
    assert_exact(net, net.add("Gemm", f"{f} {w} {b}", alpha=-0.5), 5)
    net, x = start()
    w = net.quant(net.constant(weights), np.abs(weights).max() / 127)
    m = net.add("MatMul", f"{net.add('Flatten', x)} {w}")
    y = net.add("Add", f"{m} {net.constant(normal(2, 5))}")
    assert kinds(assert_exact(net, y, 5))[-2:] == ["dense", "affine"]


def test_an_enormous_bias() -> None:
    net, x = start()
    weights = net.quant(net.constant(normal(1, 2, 4, 3, 3)), 0.25)
    y = net.add("Conv", f"{net.quant('x', 0.25)} {weights} {net.constant([1e30, 0.0])}")
    with pytest.raises(DesignError, match="steps behind it"):
        graph_of_onnx(net.qonnx(net.quant(y, 0.25), (2, 4, 4)), name="net")


def test_channels_that_batch_normalisation_switches_off() -> None:
    net, x = start()
    gamma = np.array([0.0, 1.0, -2.0, 0.0, 0.5, 1.5])
    statistics = [gamma, normal(2, 6), normal(3, 6), np.abs(normal(4, 6)) + 1]
    y = net.add("BatchNormalization", " ".join([conv(net, x), *map(net.constant, statistics)]))
    p = net.add("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    assert_exact(net, p, 6, 3, 3, most=0.005)
    net, x = start()
    off = [np.zeros(6), normal(2, 6), normal(3, 6), np.ones(6)]
    y = net.add("BatchNormalization", " ".join([conv(net, x), *map(net.constant, off)]))
    assert_exact(net, y, 6, 6, 6)


# pools


@pytest.mark.parametrize("include", [0, 1])
@pytest.mark.parametrize("bias", [False, True])
def test_averages_with_a_border(include: int, bias: bool) -> None:
    net, x = start()
    window = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    y = net.add("AveragePool", conv(net, x, bias=bias), count_include_pad=include, **window)
    assert_exact(net, y, 6, 3, 3, most=0.01)


def test_averages_of_codes_whose_scale_is_kept_are_sums() -> None:
    net, x = start()
    y = net.add("AveragePool", x, kernel_shape=[3, 3])
    assert kinds(assert_exact(net, y, 4, 4, 4)) == ["pool2d", "affine"]
    net, x = start()
    graph = assert_exact(net, net.add("GlobalAveragePool", x), 4, 1, 1)
    assert graph.layers[0].function == "sum"


def test_averages_at_outputs_are_exact_sums_with_the_count_in_their_scale() -> None:
    net, x = start(0.25)
    graph = assert_near(net, net.add("AveragePool", x, kernel_shape=[3, 3]), 4, 4, 4, error=1e-12)
    assert graph.output.type.width == 12 and graph.outputs[0].scale == pytest.approx(1 / 9)


def test_averages_of_unequal_windows_have_eight_bits_more() -> None:
    net, x = start(0.25)
    y = net.add("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    graph = assert_near(net, y, 4, 6, 6, error=0.25 * 2**-9)
    assert graph.output.type.fraction == 10


def test_sums_over_axes() -> None:
    net, x = start()
    y = net.add("ReduceSum", f"{conv(net, x, bias=True)} {net.constant([2, 3], np.int64)}", keepdims=0)
    assert_exact(net, y, 6, step=np.float32(1.7), most=0.03)


# joins


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("limits", [(False, False), (True, True), (True, False)])
def test_joins_of_different_scales(axis: int, limits: tuple[bool, bool]) -> None:
    net, x = start()
    parts = [conv(net, x, bias=True), net.quant(conv(net, x), 0.0619)]
    parts = [net.add("Relu", part) if limit else part for part, limit in zip(parts, limits, strict=True)]
    shape = (12, 6, 6) if axis == 1 else (6, 12, 6)
    assert_exact(net, net.add("Concat", " ".join(parts), axis=axis), *shape, most=0.005)


def test_a_join_of_equal_scales_costs_nothing() -> None:
    net, x = start()
    y = net.add("Concat", f"{x} {net.add('MaxPool', x, kernel_shape=[1, 1])}", axis=2)
    assert kinds(assert_exact(net, y, 4, 12, 6, step=np.float32(0.0217))) == ["pool2d", "concat"]


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
def test_two_tensors(op: str) -> None:
    net, x = start()
    left, right = conv(net, x, bias=True), net.add("Relu", net.quant(conv(net, x), 0.0619))
    assert_exact(net, net.add(op, f"{left} {right}"), 6, 6, 6, step=np.float32(0.5), most=0.01)


def test_a_gate_for_each_channel() -> None:
    net, x = start()
    g = net.quant(net.add("Sigmoid", net.add("GlobalAveragePool", x)), 2.0**-7, 8, signed=0)
    assert_exact(net, net.add("Mul", f"{x} {g}"), 4, 6, 6, step=np.float32(0.03), most=0.005)


def test_scales_that_differ_by_a_power_of_two_join_exactly() -> None:
    net, x = start(0.03)
    y = net.add("Add", f"{x} {net.quant(net.add('Neg', x), np.float32(0.03) * 4)}")
    assert_exact(net, y, 4, 6, 6, step=np.float32(0.07))


# functions


@pytest.mark.parametrize("function", ["Sigmoid", "Elu", "HardSwish", "Softplus", "Gelu"])
def test_functions_of_real_scales(function: str) -> None:
    """The function reads codes of a power of two, at most an eighth of the steps that the model has."""
    net, x = start()
    if function == "Gelu":
        net.nodes.append(node("Erf", net.add("Mul", f"{x} {net.constant(np.sqrt(0.5))}"), "e"))
        one = net.add("Add", f"e {net.constant(1.0)}")
        y = net.add("Mul", f"{net.add('Mul', f'{x} {one}')} {net.constant(0.5)}")
    else:
        y = net.add(function, x)
    assert_exact(net, y, 4, 6, 6, step=np.float32(0.0213), most=0.01)


@pytest.mark.parametrize("op", ["Sigmoid", "GlobalAveragePool", "Add", "Conv", "Identity"])
def test_what_is_quantised_twice_is_rounded_twice(op: str) -> None:
    net, x = start(2.0**-4)
    names = {
        "Add": f"{x} {net.quant(x, 2.0**-3)}",
        "Conv": f"{x} {net.quant(net.constant(normal(6, 4, 4, 3, 3)), 2.0**-5)}",
    }
    y = net.add(op, names.get(op, x), **({"pads": [1, 1, 1, 1]} if op == "Conv" else {}))
    made = net.qonnx(
        net.quant(net.quant(y, 2.0**-5), 2.0**-3, 4), (4, 1, 1) if op.startswith("Global") else (4, 6, 6)
    )
    array = 2 * normal(5, FRAMES, 4, 6, 6)
    _, steps = differences(made, array, 2.0**-3, executed(made, array))
    assert (steps != 0).mean() < 0.003


def test_leaky_slopes() -> None:
    net, x = start()
    y = net.add("PRelu", f"{conv(net, x)} {net.constant(np.abs(normal(1, 6, 1, 1)))}")
    assert_exact(net, y, 6, 6, 6)
    net, x = start()
    y = net.add("LeakyRelu", net.add("Neg", conv(net, x)), alpha=0.1)
    assert_exact(net, y, 6, 6, 6, most=0.005)


def test_softmax_at_the_end() -> None:
    net, x = start()
    f = net.add("Flatten", net.add("GlobalAveragePool", conv(net, x)))
    graph = assert_near(net, net.add("Softmax", f), 6, error=2e-3)
    assert str(graph.output.type) == "ufixed<16,1,rnd_conv,sat>"


def test_the_largest_of_sums_with_a_scale_for_each_channel() -> None:
    net, x = start()
    y = net.add("Cast", net.add("ArgMax", conv(net, x), axis=1, keepdims=1), to=1)
    assert_near(net, y, 1, 6, 6, error=0)


def test_real_results_at_the_end() -> None:
    """Sums keep their scale at the port; what has none of its own is rounded to steps an eighth as large."""
    net, x = start()
    w = net.quant(net.constant(normal(1, 6, 4, 3, 3)), np.float32(0.017))
    graph = assert_near(net, net.add("Conv", f"{x} {w}"), 6, 4, 4, error=1e-9)
    assert graph.outputs[0].scale == pytest.approx(0.0217 * 0.017) and kinds(graph) == ["conv2d"]
    net, x = start()
    assert_near(net, conv(net, x, bias=True), 6, 6, 6, error=1e-4)


@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_signs(shift: float) -> None:
    net, x = start()
    y = net.add("Add", f"{net.add('Clip', f'{conv(net, x)} {net.constant(-1.0)}')} {net.constant(shift)}")
    y = net.add("BipolarQuant", f"{y} {net.constant(0.7)}", domain=QONNX)
    made = net.qonnx(y, (6, 6, 6))
    array = normal(5, FRAMES, 4, 6, 6)
    _, steps = differences(made, array, np.float32(0.7), executed(made, array))
    assert not steps.any()


def test_signs_of_what_is_never_negative() -> None:
    net, x = start()
    y = net.add("BipolarQuant", f"{net.add('Relu', x)} {net.constant(1.0)}", domain=QONNX)
    array = normal(5, FRAMES, 4, 6, 6)
    assert (outputs_of(graph_of_onnx(net.qonnx(y, (4, 6, 6)), name="net"), array)[0] == 1).all()


def test_activations_with_a_scale_for_each_channel() -> None:
    net, x = start()
    scale = np.array([0.03, 0.05, 0.07, 0.02, 0.09, 0.11]).reshape(6, 1, 1)
    y = net.quant(net.add("Relu", conv(net, x, bias=True)), scale)
    y = conv(net, y, 6, 6, group=6)
    assert_exact(net, y, 6, 6, 6, most=0.01)


@pytest.mark.parametrize("mode", ["FLOOR", "CEIL"])
@pytest.mark.parametrize("zero", [0.0, 3.0])
def test_rounding_modes_with_real_scales(mode: str, zero: float) -> None:
    net, x = start()
    y = net.quant(conv(net, x, bias=True), np.float32(0.05), zero=zero, rounding_mode=mode)
    made = net.qonnx(y, (6, 6, 6))
    array = normal(5, FRAMES, 4, 6, 6)
    _, steps = differences(made, array, np.float32(0.05), executed(made, array))
    assert np.abs(steps).max() <= 1 and (steps != 0).mean() < 0.005


def test_integers_that_are_dequantised_otherwise_than_they_were_quantised() -> None:
    net = Net((4, 6, 6))
    zero = [net.constant(value, np.uint8) for value in (3, 9)]
    codes = net.add("QuantizeLinear", f"x {net.constant(0.05)} {zero[0]}")
    y = net.add("DequantizeLinear", f"{codes} {net.constant(0.08)} {zero[1]}")
    made = net.onnx(net.qdq(y, np.float32(0.0613), 100))
    array = 2 * normal(5, FRAMES, 4, 6, 6)
    _, steps = differences(made, array, np.float32(0.0613), expected(made, array)[0])
    assert np.abs(steps).max() <= 1 and (steps != 0).mean() < 0.005


def test_a_scale_for_each_channel_of_integers() -> None:
    net = Net((4, 6, 6))
    scale = np.array([0.0313, 0.0517, 0.0719, 0.0211], np.float32)
    x = net.qdq("x", 0.05, 7)
    y = net.qdq(x, scale, np.zeros(4), np.int8, axis=1)
    made = net.onnx(net.qdq(y, np.float32(0.0613), 100))
    array = 2 * normal(5, FRAMES, 4, 6, 6)
    _, steps = differences(made, array, np.float32(0.0613), exact(made, array))
    assert np.abs(steps).max() <= 1 and (steps != 0).mean() < 0.005


def test_a_constant_that_is_quantised_and_added() -> None:
    net, x = start()
    c = net.quant(net.constant(normal(1, 4, 6, 6)), 0.03)
    assert_exact(net, net.add("Add", f"{x} {c}"), 4, 6, 6, most=0.005)


def test_weights_that_are_moved_after_their_quantiser() -> None:
    net, x = start()
    weights = normal(1, 3, 6, 4, 3)
    w = net.quant(net.constant(weights), np.abs(weights).max(axis=(0, 2, 3), keepdims=True) / 127)
    y = net.add("Conv", f"{x} {net.add('Transpose', w, perm=[1, 2, 3, 0])}")
    assert kinds(assert_exact(net, y, 6, 4, 4)) == ["conv2d", "affine"]


def test_integers_that_are_integers_for_a_while() -> None:
    net = Net((3, 6, 6))
    scale, zero = net.constant(0.031), net.constant(7, np.uint8)
    codes = net.add("Cast", net.add("QuantizeLinear", f"x {scale} {zero}"), to=6)
    y = net.add("Mul", f"{net.add('Cast', codes, to=1)} {net.constant(0.25)}")
    made = net.onnx(y)
    array = normal(5, FRAMES, 3, 6, 6)
    _, steps = differences(made, array, 0.25, expected(made, array)[0])
    assert not steps.any()


def test_microsofts_quantisers() -> None:
    net = Net((3, 6, 6))
    names = f"{net.constant(0.0031)} {net.constant(7, np.uint16)}"
    codes = net.add("QuantizeLinear", f"x {names}", domain="com.microsoft")
    net.nodes.append(node("DequantizeLinear", f"{codes} {names}", "y", domain="com.microsoft"))
    made = model(net.nodes, {"x": ("N", 3, 6, 6)}, net.constants, domains={"com.microsoft": 1})
    made.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("y", 1, ("N", 3, 6, 6)))
    array = normal(5, FRAMES, 3, 6, 6)
    graph, steps = differences(made, array, np.float32(0.0031), expected(made, array)[0])
    assert not steps.any() and graph.input.type.width == 17


def test_one_dimension() -> None:
    net = Net((3, 16))
    x = net.quant("x", 0.0217)
    w = net.quant(net.constant(normal(1, 4, 3, 5)), np.float32(0.021))
    y = net.add(
        "MaxPool", net.add("Conv", f"{x} {w}", pads=[2, 2], dilations=[1]), kernel_shape=[2], strides=[2]
    )
    assert_exact(net, y, 4, 8)


# numbers


@pytest.mark.parametrize("direction", Direction)
def test_rounding_is_that_of_qonnx(direction: Direction) -> None:
    quant = pytest.importorskip("qonnx.custom_op.general.intquant", reason="needs qonnx")
    values = np.arange(-32, 33) / 8
    wanted = quant.resolve_rounding_mode(direction.value)(values)
    assert np.array_equal(rounded(values, direction), wanted)
    if direction.rounding is not None:
        type_ = FixedType(8, 8, True, direction.rounding)
        assert np.array_equal(type_.encode(values), wanted)


@given(
    st.lists(
        st.floats(-1e6, 1e6, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-30),
        max_size=5,
        min_size=1,
    )
)
def test_multipliers_are_nearest(values: list[float]) -> None:
    factors = multipliers(np.array(values))
    codes, type_ = factors.codes, factors.type
    sizes = np.abs(values)
    spread = np.log2(sizes.max() / sizes[sizes > 0].min()) if sizes.any() else 0
    assert type_.width <= min(24 + np.ceil(spread), MOST_FACTOR_BITS + 1)
    assert codes.max() <= type_.max_code and codes.min() >= type_.min_code
    errors = np.abs(np.ldexp(codes.astype(float), -type_.fraction) - values)
    assert (errors <= np.maximum(sizes * 2.0**-23, sizes.max() * 2.0 ** (1 - MOST_FACTOR_BITS))).all()


def test_a_multiplier_that_rounds_up_to_a_power_of_two() -> None:
    factors = multipliers(np.array([1 - 2.0**-40]))
    assert (factors.codes.tolist(), str(factors.type)) == ([1], "ufixed<1,1>")
    assert multipliers(np.zeros(2)).codes.tolist() == [0, 0]


def test_exact_fractions() -> None:
    tensor = Tensor(shape=(1, 1, 1), type=FixedType(8, 8))
    assert exact_fraction(Scaled(name="x", tensor=tensor, scale=np.array([0.125]))) == 3
    assert exact_fraction(Scaled(name="x", tensor=tensor, shift=np.array([0.5]))) == 1
    assert exact_fraction(Scaled(name="x", tensor=tensor, scale=np.array([2.0**-200]))) is None
    assert exact_fraction(Scaled(name="x", tensor=tensor, scale=np.array([0.375]))) is None
    assert compressed(np.ones(3)).tolist() == [1.0]


def test_equal_grids() -> None:
    grid = Grid(scale=np.ones(1), low=-8, high=7)
    assert grid.equals(Grid(scale=np.ones(1), low=-8, high=7))
    assert not grid.equals(Grid(scale=np.ones(1), low=-7, high=7))
    assert not grid.equals(Grid(scale=np.ones(2), low=-8, high=7))


def test_scales_of_weights() -> None:
    codes = np.ones((2, 1, 1, 1), np.int64)
    found, fraction, beside, growth = weights_and_scale(codes, np.array([0.5, 0.125]))
    assert (found.reshape(-1).tolist(), fraction, beside.tolist(), growth) == ([4, 1], 3, [1.0], 2)
