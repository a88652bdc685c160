"""The graph builder's layers: each reads what NumPy says it should, in whatever view that comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hlsgen.base.errors import DesignError
from hlsgen.frontends.builder.builder import GraphBuilder, Value
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.rearrange import Rearrange
from tests.support.frontends.builds import FRAMES, Array, check, double, frames
from tests.support.frontends.ports import kinds, outputs_of


def convolved(image: Array, weights: Array) -> Array:
    """[C, H, W] by [M, C, KH, KW], no padding."""
    windows = np.lib.stride_tricks.sliding_window_view(image, weights.shape[2:], (1, 2))
    return np.einsum("chwij,mcij->mhw", windows, weights)


@pytest.mark.parametrize("channels_last", [False, True])
def test_conv2d_takes_weights_in_pytorchs_layout_in_both_layouts(channels_last: bool) -> None:
    weights = frames(4, 3, 2, 3)[0]

    def expected(x: Array) -> Array:
        image = x.transpose(2, 0, 1) if channels_last else x
        result = convolved(image, weights) + 1
        return result.transpose(1, 2, 0) if channels_last else result

    shape = (5, 6, 3) if channels_last else (3, 5, 6)
    check(shape, lambda b, x: b.conv2d(x, weights, np.ones(4)), expected, ["conv2d"], channels_last)


@pytest.mark.parametrize("channels_last", [False, True])
def test_a_signal_is_an_image_of_one_row(channels_last: bool) -> None:
    weights = frames(4, 3, 1, 3)[0]

    def expected(x: Array) -> Array:
        signal = x.T if channels_last else x
        result = convolved(signal[:, None], weights)[:, 0]
        return result.T if channels_last else result

    shape = (6, 3) if channels_last else (3, 6)
    check(shape, lambda b, x: b.conv2d(x, weights), expected, ["conv2d"], channels_last)


@pytest.mark.parametrize("channels_last", [False, True])
def test_dense_after_flatten_permutes_its_weights(channels_last: bool) -> None:
    """The one layer in between is the image in the order in which its stream comes anyhow."""
    weights = frames(4, 24)[0]
    builder = GraphBuilder("net", channels_last)
    x = builder.input("x", (2, 3, 4))
    image = double(builder, x)
    builder.output("y", builder.dense(builder.flatten(image), weights))
    graph = builder.build()
    got = outputs_of(graph, frames(2, 3, 4))["y"]
    np.testing.assert_array_equal(got, 2 * frames(2, 3, 4).reshape(FRAMES, -1) @ weights.T)
    assert kinds(graph) == ["affine", "rearrange", "dense"]
    between = graph.layers[1]
    assert isinstance(between, Rearrange)
    channels, height, width = image.tensor.shape
    stream = np.arange(24).reshape(channels, height, width).transpose(1, 2, 0).reshape(-1)
    np.testing.assert_array_equal(between.indices.reshape(-1), stream)


def test_dense_of_any_view_of_a_vector_needs_no_layer_in_between() -> None:
    weights = frames(4, 6)[0]
    check(
        (6,),
        lambda b, x: b.dense(b.flip(double(b, x), (0,)), weights, np.ones(4)),
        lambda x: weights @ (2 * x[::-1]) + 1,
        ["affine", "dense"],
    )


def test_dense_of_a_part_of_a_tensor() -> None:
    weights = frames(4, 6)[0]
    check(
        (4, 3, 3),
        lambda b, x: b.dense(b.flatten(b.slice(b.slice(double(b, x), 0, 1, 2), 1, 2, 1)), weights),
        lambda x: weights @ (2 * x[1:3, 2]).reshape(-1),
        ["affine", "crop", "rearrange", "dense"],
    )


def test_dense_of_repeated_elements() -> None:
    weights = frames(4, 6)[0]
    check((3,), lambda b, x: b.dense(b.repeat(x, 0, 2), weights), lambda x: weights @ x.repeat(2))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_dense_along_any_axis(axis: int) -> None:
    size = (2, 3, 4)[axis]
    weights = frames(5, size)[0]
    check(
        (2, 3, 4),
        lambda b, x: b.dense(double(b, x), weights, np.ones(5), axis),
        lambda x: np.moveaxis(np.moveaxis(2 * x, axis, -1) @ weights.T + 1, -1, axis),
    )


def test_dense_on_channels_that_are_last_is_one_convolution() -> None:
    weights = frames(5, 4)[0]
    check(
        (4, 2, 3),
        lambda b, x: b.permute(b.dense(b.permute(double(b, x), (1, 2, 0)), weights), (2, 0, 1)),
        lambda x: np.einsum("mc,chw->mhw", weights, 2 * x),
        ["affine", "conv2d"],
    )


def transposed(x: Array, weights: Array, stride: int, dilation: int) -> Array:
    """[C, H, W] by [C, M, KH, KW] from the definition: each input pixel adds a stamp."""
    channels, height, width = x.shape
    rows, columns = (((n - 1) * dilation + 1) for n in weights.shape[2:])
    out = np.zeros((weights.shape[1], (height - 1) * stride + rows, (width - 1) * stride + columns))
    for row in range(height):
        for column in range(width):
            stamp = np.einsum("c,cmij->mij", x[:, row, column], weights)
            top, left = row * stride, column * stride
            out[:, top : top + rows : dilation, left : left + columns : dilation] += stamp
    return out


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2, 3])
@pytest.mark.parametrize("channels_last", [False, True])
def test_transposed_convolution_stamps_each_input_pixel(
    stride: int, dilation: int, channels_last: bool
) -> None:
    weights = frames(2, 3, 3, 2)[0]

    def expected(x: Array) -> Array:
        image = x.transpose(2, 0, 1) if channels_last else x
        result = transposed(image, weights, stride, dilation)[:, 1:-2]
        return result.transpose(1, 2, 0) if channels_last else result

    shape = (4, 3, 2) if channels_last else (2, 4, 3)
    pairs = {"stride": (stride, stride), "dilation": (dilation, dilation)}
    check(
        shape,
        lambda b, x: b.conv_transpose2d(x, weights, padding=(1, 0, 2, 0), **pairs),
        expected,
        None,
        channels_last,
    )


def test_transposed_convolution_multiplies_no_inserted_zeros() -> None:
    """Kernel 4 and stride 2: each of the four phases has 2 x 2 taps, none of them zero."""
    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("x", (3, 5, 5))
    y = builder.conv_transpose2d(x, np.ones((3, 4, 4, 4)), stride=(2, 2), padding=(1, 1, 1, 1))
    builder.output("y", y)
    graph = builder.build()
    convolution = graph.layers[0]
    assert isinstance(convolution, Conv2d)
    assert convolution.weights.shape == (16, 3, 2, 2) and convolution.weights.all()
    assert y.shape == (4, 10, 10)
    assert kinds(graph) == ["conv2d", "rearrange", "crop"]


def test_a_transposed_convolution_without_a_result_is_refused() -> None:
    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("x", (1, 2, 2))
    with builder.at("up"), pytest.raises(DesignError, match="up: 2 rows become -1 once"):
        builder.conv_transpose2d(x, np.ones((1, 1, 1, 1)), padding=(2, 0, 1, 0))


def test_batch_normalisation_after_a_transposed_convolution_stays_next_to_it() -> None:
    """Scales per channel go before the shuffle, where a pass can fold them into the convolution."""
    weights, scale = frames(2, 3, 3, 3)[0], np.array([1.0, 2, 3]).reshape(3, 1, 1)
    check(
        (2, 4, 4),
        lambda b, x: b.clamp(
            b.affine(b.conv_transpose2d(x, weights, stride=(2, 2)), scale, -scale), 0.0, None
        ),
        lambda x: np.maximum(transposed(x, weights, 2, 1) * scale - scale, 0),
        ["conv2d", "affine", "clamp", "rearrange", "crop"],
    )


def test_what_a_part_needs_does_not_go_before_the_cut() -> None:
    check(
        (4, 3, 3),
        lambda b, x: b.clamp(b.materialise(b.slice(double(b, x), 0, 0, 2)), 0.0, None),
        lambda x: np.maximum(2 * x[:2], 0),
        ["affine", "crop", "clamp"],
    )


@pytest.mark.parametrize("right", [(4, 3, 2), (4, 1, 1), (1, 3, 2), (4, 3, 1), (1, 1, 1), (2,), (3, 1)])
@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("channels_last", [False, True])
def test_two_values_broadcast(
    right: tuple[int, ...], operation: str, swapped: bool, channels_last: bool
) -> None:
    builder = GraphBuilder("net", channels_last)
    values = [builder.input("a", (4, 3, 2)), builder.input("b", right)]
    arrays = [frames(4, 3, 2), frames(*right, seed=1)]
    lifted = [arrays[0], arrays[1].reshape(FRAMES, *(1,) * (3 - len(right)), *right)]
    if swapped:
        values.reverse()
        lifted.reverse()
    builder.output("y", getattr(builder, operation)(*values))
    numpys = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
    got = outputs_of(builder.build(), *arrays)["y"]
    np.testing.assert_array_equal(got, numpys[operation](*lifted))


def test_a_gate_of_one_pixel_needs_no_layer_in_between() -> None:
    check(
        (4, 3, 2),
        lambda b, x: b.mul(x, b.reduce(x, "sum", (1, 2), keep=True)),
        lambda x: x * x.sum((1, 2), keepdims=True),
        ["global_pool", "mul"],
    )


def test_two_values_with_the_same_view_need_no_layer_in_between() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        return b.add(b.flip(double(b, x), (1,)), b.flip(b.clamp(x, 0.0, None), (1,)))

    check(
        (2, 3, 4),
        build,
        lambda x: (2 * x + np.maximum(x, 0))[:, ::-1],
        ["affine", "clamp", "add", "rearrange"],
    )


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (1, 2), (0, 1), (0, 2), (0, 1, 2), (-1,)])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("function", ["max", "average", "sum"])
@pytest.mark.parametrize("channels_last", [False, True])
def test_reduce(axes: tuple[int, ...], keep: bool, function: str, channels_last: bool) -> None:
    numpys: dict[str, Callable[..., Any]] = {"max": np.max, "average": np.mean, "sum": np.sum}
    check(
        (4, 2, 8),
        lambda b, x: b.reduce(x, function, axes, keep),  # type: ignore[arg-type]
        lambda x: np.asarray(numpys[function](x, axis=axes, keepdims=keep)),
        None,
        channels_last,
    )


def test_the_mean_over_the_pixels_is_one_global_pool() -> None:
    check((4, 2, 8), lambda b, x: b.reduce(x, "average", (1, 2)), lambda x: x.mean((1, 2)), ["global_pool"])


def test_the_mean_over_rows_is_a_pool() -> None:
    check((4, 2, 8), lambda b, x: b.reduce(x, "average", (1,)), lambda x: x.mean(1), ["pool2d"])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("keep", [False, True])
def test_argmax_along_any_axis_is_the_first_of_equals(axis: int, keep: bool) -> None:
    check(
        (3, 3, 5),
        lambda b, x: b.argmax(b.clamp(x, 0.0, 2.0), axis, keep),
        lambda x: np.argmax(np.clip(x, 0, 2), axis, keepdims=keep),
    )


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
def test_softmax_along_any_axis(shape: tuple[int, ...]) -> None:
    for axis in range(len(shape)):
        builder = GraphBuilder("net", channels_last=False)
        builder.output("y", builder.softmax(builder.input("x", shape), axis))
        x = frames(*shape)
        powers = np.exp(x)
        wanted = powers / powers.sum(1 + axis, keepdims=True)
        np.testing.assert_allclose(outputs_of(builder.build(), x)["y"], wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("channels_last", [False, True])
def test_concat_along_any_axis_is_one_layer(axis: int, channels_last: bool) -> None:
    check(
        (2, 3, 4),
        lambda b, x: b.concat([x, double(b, x), x], axis),
        lambda x: np.concatenate([x, 2 * x, x], axis),
        ["affine", "concat"],
        channels_last,
    )


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_stacking_along_a_new_axis(axis: int) -> None:
    check(
        (2, 3, 4),
        lambda b, x: b.concat([b.unsqueeze(x, axis), b.unsqueeze(double(b, x), axis)], axis),
        lambda x: np.stack([x, 2 * x], axis),
    )


AMOUNTS = [[(1, 2), (0, 0), (0, 0)], [(0, 0), (1, 0), (2, 1)], [(1, 1), (-1, 2), (0, -2)]]


@pytest.mark.parametrize("amounts", AMOUNTS)
@pytest.mark.parametrize("channels_last", [False, True])
def test_pad_with_a_constant(amounts: list[tuple[int, int]], channels_last: bool) -> None:
    def expected(x: Array) -> Array:
        for axis, sides in enumerate(amounts):
            before, after = (max(0, -side) for side in sides)
            x = np.take(x, range(before, x.shape[axis] - after), axis)
        return np.pad(x, [(max(0, a), max(0, b)) for a, b in amounts], constant_values=7)

    check((3, 4, 5), lambda b, x: b.pad(x, amounts, 7.0), expected, None, channels_last)


def test_pad_of_four_axes() -> None:
    amounts = [(1, 0), (0, 1), (2, 0), (0, 2)]
    check(
        (4, 3, 2),
        lambda b, x: b.pad(b.reshape(x, (2, 2, 3, 2)), amounts),
        lambda x: np.pad(x.reshape(2, 2, 3, 2), amounts),
    )


def test_pad_of_two_axes_that_share_the_columns() -> None:
    amounts = [(0, 0), (0, 0), (1, 0), (0, 2)]
    check(
        (2, 3, 8),
        lambda b, x: b.pad(b.reshape(x, (2, 3, 4, 2)), amounts),
        lambda x: np.pad(x.reshape(2, 3, 4, 2), amounts),
    )


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
@pytest.mark.parametrize("channels_last", [False, True])
def test_pad_with_what_is_there(mode: str, channels_last: bool) -> None:
    amounts = [(0, 0), (1, 2), (3, 0)]
    check(
        (3, 4, 5),
        lambda b, x: b.pad(x, amounts, mode=mode),  # type: ignore[arg-type]
        lambda x: np.pad(x, amounts, mode=mode),  # type: ignore[call-overload]
        None,
        channels_last,
    )


def test_a_border_wider_than_what_is_there_is_refused() -> None:
    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("x", (1, 3, 3))
    with pytest.raises(DesignError, match="a reflect border of 3 elements is wider than an axis of 3"):
        builder.pad(x, [(0, 0), (3, 0), (0, 0)], mode="reflect")


@pytest.mark.parametrize("column_first", [False, True])
@pytest.mark.parametrize("channels_last", [False, True])
def test_depth_to_space_and_back(column_first: bool, channels_last: bool) -> None:
    def expected(x: Array) -> Array:
        image = x.transpose(2, 0, 1) if channels_last else x
        _, height, width = image.shape
        if column_first:
            parts = image.reshape(2, 2, 3, height, width).transpose(0, 3, 1, 4, 2)
        else:
            parts = image.reshape(2, 3, 2, height, width).transpose(2, 3, 0, 4, 1)
        result = parts.reshape(2, height * 2, width * 3)
        return result.transpose(1, 2, 0) if channels_last else result

    shape = (3, 4, 12) if channels_last else (12, 3, 4)
    check(
        shape,
        lambda b, x: b.depth_to_space(double(b, x), (2, 3), column_first),
        lambda x: expected(2 * x),
        ["affine", "rearrange"],
        channels_last,
    )
    check(
        shape,
        lambda b, x: b.space_to_depth(
            b.depth_to_space(double(b, x), (2, 3), column_first), (2, 3), column_first
        ),
        lambda x: 2 * x,
        ["affine"],
        channels_last,
    )


def test_prelu_of_each_channel_and_of_all() -> None:
    slopes = np.array([0.5, -1.0, 2.0]).reshape(3, 1, 1)
    for given_slopes in (slopes, 0.25):
        check(
            (3, 2, 2),
            lambda b, x, given_slopes=given_slopes: b.leaky(x, given_slopes),  # type: ignore[misc]
            lambda x, given_slopes=given_slopes: np.where(x >= 0, x, x * given_slopes),  # type: ignore[misc]
            ["leaky"],
        )


def test_parameters_of_a_float_graph_are_float64() -> None:
    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("x", (2, 3, 3))
    x = builder.affine(x, 2, np.ones((2, 1, 1), np.float32))
    x = builder.leaky(x, np.float32(0.5))
    builder.output("y", builder.conv2d(x, np.ones((1, 2, 1, 1), np.int64)))
    affine, leaky, conv = builder.build().layers
    arrays = [affine.weights, affine.bias, leaky.slopes, conv.weights, conv.bias]  # type: ignore[attr-defined]
    assert {array.dtype for array in arrays} == {np.dtype(np.float64)}
