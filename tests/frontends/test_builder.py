"""The graph builder: views, what they cost, and that every layer reads what NumPy says it should."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hlsgen.cpp_names import CPP_KEYWORDS
from hlsgen.errors import DesignError, Place
from hlsgen.frontends.builder import GraphBuilder, Value
from hlsgen.frontends.names import Names, valid_name
from hlsgen.layers.base import Tensor
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.rearrange import Rearrange
from tests.frontends.ports import kinds, outputs_of

Array = NDArray[Any]
FRAMES = 2


def frames(*shape: int, seed: int = 0) -> Array:
    """[FRAMES, *shape] of small integers, all sums of which are exact."""
    return np.random.default_rng(seed).integers(-8, 9, (FRAMES, *shape)).astype(np.float64)


def check(
    shape: Sequence[int],
    build: Callable[[GraphBuilder, Value], Value],
    expected: Callable[[Array], Array],
    layers: list[str] | None = None,
    channels_last: bool = False,
) -> None:
    """That what `build` makes of an input gives what `expected` says, with just these layers."""
    builder = GraphBuilder("net", channels_last)
    builder.output("y", build(builder, builder.input("x", shape)))
    graph = builder.build()
    given_frames = frames(*shape)
    wanted = np.stack([expected(frame) for frame in given_frames])
    got = outputs_of(graph, given_frames)["y"]
    assert got.shape == wanted.shape
    np.testing.assert_array_equal(got, wanted)
    if layers is not None:
        assert kinds(graph) == layers


def double(builder: GraphBuilder, x: Value) -> Value:
    return builder.affine(x, 2.0)


# views


SHAPES = st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple)


@st.composite
def programs(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[str, Any]]]:
    """A shape, and steps that change it: what they are and with which arguments."""
    shape = draw(SHAPES)
    steps: list[tuple[str, Any]] = []
    now = shape
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(("reshape", "permute", "flip", "slice", "repeat", "tile", "layer")))
        rank = len(now)
        axis = draw(st.integers(0, rank - 1))
        if kind == "reshape":
            sizes, left = [], math.prod(now)
            while left > 1 and len(sizes) < 3:
                size = draw(st.sampled_from([n for n in range(1, left + 1) if left % n == 0]))
                sizes.append(size)
                left //= size
            now = (*sizes, left)
            steps.append((kind, now))
        elif kind == "permute":
            order = tuple(draw(st.permutations(range(rank))))
            now = tuple(now[number] for number in order)
            steps.append((kind, order))
        elif kind == "flip":
            steps.append((kind, axis))
        elif kind == "slice":
            begin = draw(st.integers(0, now[axis] - 1))
            step = draw(st.integers(1, 3))
            size = draw(st.integers(1, (now[axis] - begin + step - 1) // step))
            now = (*now[:axis], size, *now[axis + 1 :])
            steps.append((kind, (axis, begin, size, step)))
        elif kind == "layer":
            steps.append((kind, axis))
        else:
            times = draw(st.integers(1, 3))
            if math.prod(now) * times > 500:
                continue
            now = (*now[:axis], now[axis] * times, *now[axis + 1 :])
            steps.append((kind, (axis, times)))
    return shape, steps


def built(builder: GraphBuilder, x: Value, steps: list[tuple[str, Any]]) -> Value:
    for kind, given_ in steps:
        match kind:
            case "reshape":
                x = builder.reshape(x, given_)
            case "permute":
                x = builder.permute(x, given_)
            case "flip":
                x = builder.flip(x, (given_,))
            case "slice":
                x = builder.slice(x, *given_)
            case "repeat":
                x = builder.repeat(x, *given_)
            case "tile":
                x = builder.tile(x, *given_)
            case "layer":
                x = builder.affine(x, along(x.shape, given_), 1.0)
    return x


def computed(x: Array, steps: list[tuple[str, Any]]) -> Array:
    for kind, given_ in steps:
        match kind:
            case "reshape":
                x = x.reshape(given_)
            case "permute":
                x = x.transpose(given_)
            case "flip":
                x = np.flip(x, given_)
            case "slice":
                axis, begin, size, step = given_
                x = np.take(x, range(begin, begin + size * step, step)[:size], axis)
            case "repeat":
                x = np.repeat(x, given_[1], given_[0])
            case "tile":
                axis, times = given_
                x = np.concatenate([x] * times, axis)
            case "layer":
                x = x * along(x.shape, given_) + 1.0
    return x


def along(shape: Sequence[int], axis: int) -> Array:
    """1, 2, 3 ... along an axis, broadcast along the others."""
    return np.arange(1.0, shape[axis] + 1).reshape([-1 if n == axis else 1 for n in range(len(shape))])


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs(), st.booleans())
def test_any_views_and_layers_give_what_numpy_gives(
    program: tuple[tuple[int, ...], list[tuple[str, Any]]], channels_last: bool
) -> None:
    shape, steps = program
    steps = [*steps, ("layer", 0)]
    check(shape, lambda b, x: built(b, x, steps), lambda x: computed(x, steps), None, channels_last)


@settings(max_examples=150, deadline=None)
@given(programs())
def test_views_cost_at_most_one_layer_if_no_reshape_breaks_them(
    program: tuple[tuple[int, ...], list[tuple[str, Any]]],
) -> None:
    shape, steps = program
    steps = [step for step in steps if step[0] in ("permute", "flip", "slice")]
    rank = len(shape)
    steps = [step for step in steps if step[0] != "permute" or len(step[1]) == rank]
    sizes = list(shape)
    for kind, given_ in steps:  # drop the slices that fit another shape
        if kind == "permute":
            sizes = [sizes[number] for number in given_]
        elif kind == "slice":
            axis, begin, size, step = given_
            if axis >= rank or begin + (size - 1) * step >= sizes[axis]:
                return
            sizes[axis] = size
        elif given_ >= rank:
            return
    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("x", shape)
    builder.materialise(built(builder, x, steps))
    assert len(builder._layers) <= 1


def test_indices_are_the_positions_in_the_tensor() -> None:
    x = Value.of("x", Tensor(shape=(2, 3, 4), type=None), (2, 3, 4), ((0,), (1,), (2,)))  # type: ignore[arg-type]
    image = np.arange(24).reshape(2, 3, 4)
    turned = x.permuted((2, 0, 1)).flipped(1)
    np.testing.assert_array_equal(turned.indices(), np.flip(image.transpose(2, 0, 1), 1))


def test_arrangement_says_which_axes_are_channels_rows_and_columns() -> None:
    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("x", (2, 3, 4))
    assert x.arrangement == ((0,), (1,), (2,))
    assert builder.permute(x, (2, 0, 1)).arrangement == ((1,), (2,), (0,))
    assert builder.reshape(x, (2, 12)).arrangement is None
    assert builder.flip(x, (0,)).arrangement is None
    channels_last = GraphBuilder("net", channels_last=True).input("x", (3, 4, 2))
    assert channels_last.arrangement == ((2,), (0,), (1,))


def test_a_split_becomes_crops_and_no_rearrangement() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        first, second = b.split(x, 0, (1, 3))
        return b.concat([double(b, second), first], 0)

    check(
        (4, 3, 3), build, lambda x: np.concatenate([2 * x[1:], x[:1]]), ["affine", "crop", "crop", "concat"]
    )


def test_a_slice_with_steps_of_several_axes_is_one_crop() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        return b.softmax(b.slice(b.slice(x, 1, 1, 2, 3), 2, 0, 3, 2), 0)

    builder = GraphBuilder("net", channels_last=False)
    builder.output("y", build(builder, builder.input("x", (2, 6, 6))))
    assert kinds(builder.build()) == ["crop", "softmax"]


@pytest.mark.parametrize(("begin", "size", "step"), [(3, 3, 1), (1, 7, 3), (0, 4, 3), (2, 3, 5), (7, 10, 1)])
def test_a_slice_that_is_no_box_of_the_image_is_rearranged(begin: int, size: int, step: int) -> None:
    check(
        (2, 3, 4),
        lambda b, x: b.clamp(b.slice(b.flatten(double(b, x)), 0, begin, size, step), None, 9.0),
        lambda x: np.minimum(2 * x.reshape(-1)[begin : begin + size * step : step][:size], 9),
        ["affine", "rearrange", "clamp"],
    )


def test_the_same_part_of_two_values_is_cut_out_before_they_are_added() -> None:
    check(
        (4, 3, 3),
        lambda b, x: b.add(b.slice(double(b, x), 0, 1, 1), b.slice(b.clamp(x, 0.0, None), 0, 1, 1)),
        lambda x: 2 * x[1:2] + np.maximum(x[1:2], 0),
        ["affine", "clamp", "crop", "crop", "add"],
    )


def test_the_same_view_is_materialised_once() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        turned = b.flip(x, (2,))
        pools = [b.pool2d(turned, function, (2, 2)) for function in ("max", "average")]
        return b.add(*pools)

    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("x", (2, 4, 4))
    builder.output("y", build(builder, x))
    assert kinds(builder.build()) == ["rearrange", "pool2d", "pool2d", "add"]


def test_upsampling_comes_after_what_takes_each_element_by_itself() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        return b.clamp(b.repeat(b.repeat(x, 1, 2), 2, 2), 0.0, None)

    check(
        (2, 3, 3),
        build,
        lambda x: np.maximum(x, 0).repeat(2, 1).repeat(2, 2),
        ["clamp", "rearrange"],
    )


def test_an_error_names_where_it_is() -> None:
    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("x", (2, 3))
    place = Place(file="model.py", line=7, column=1)
    with builder.at("block.view", place, said="view in block"), pytest.raises(DesignError) as caught:
        builder.reshape(x, (4, 2))
    problem = caught.value.problems[0]
    assert problem.message == "view in block: 2 x 3 elements cannot become 4 x 2"
    assert problem.place == place


def test_what_does_not_broadcast_is_refused() -> None:
    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("x", (2, 3))
    with pytest.raises(DesignError, match="2 x 3 does not broadcast to 2 x 4"):
        builder.expand(x, (2, 4))


# ports


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("channels_last", [False, True])
def test_permutations_at_both_ends_cost_nothing(order: tuple[int, int, int], channels_last: bool) -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        pooled = b.pool2d(b.permute(x, order), "max", (2, 1))
        return b.permute(pooled, order)

    def expected(x: Array) -> Array:
        turned = x.transpose(order)
        rows = 0 if channels_last else 1
        first, second = (np.take(turned, range(n, turned.shape[rows] - 1 + n), rows) for n in (0, 1))
        return np.maximum(first, second).transpose(order)

    check((4, 3, 5), build, expected, ["pool2d"], channels_last)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4)])
def test_flattened_outputs_keep_the_frameworks_order(shape: tuple[int, ...], channels_last: bool) -> None:
    check(
        shape,
        lambda b, x: b.flatten(b.clamp(x, 0.0, 3.0)),
        lambda x: np.clip(x, 0, 3).reshape(-1),
        ["clamp"],
        channels_last,
    )


def test_an_output_that_no_port_can_say_is_rearranged() -> None:
    check((4, 3, 3), lambda b, x: b.flip(double(b, x), (0,)), lambda x: 2 * x[::-1], ["affine", "rearrange"])


def test_outputs_of_more_than_three_axes() -> None:
    check(
        (4, 3, 2),
        lambda b, x: b.permute(b.reshape(double(b, x), (2, 2, 3, 2)), (3, 1, 0, 2)),
        lambda x: 2 * x.reshape(2, 2, 3, 2).transpose(3, 1, 0, 2),
    )


def test_an_input_that_two_layers_rearrange_differently_keeps_its_shape() -> None:
    def build(b: GraphBuilder, x: Value) -> Value:
        left = b.pool2d(b.permute(x, (1, 2, 0)), "max", (1, 1))
        return b.add(b.flatten(left), b.flatten(double(b, x)))

    check((2, 3, 4), build, lambda x: x.transpose(1, 2, 0).reshape(-1) + 2 * x.reshape(-1))


def test_layers_that_nothing_needs_are_left_out() -> None:
    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("x", (2, 3, 3))
    builder.table(x, "sigmoid")
    builder.output("y", builder.clamp(x, 0.0, None))
    assert kinds(builder.build()) == ["clamp"]


def test_a_model_that_computes_nothing_is_refused() -> None:
    builder = GraphBuilder("net", channels_last=False)
    builder.output("y", builder.input("x", (2, 3, 3)))
    with pytest.raises(DesignError, match="computes nothing"):
        builder.build()


def test_an_unused_input_is_refused() -> None:
    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("x", (2, 3, 3))
    builder.input("mask", (2,))
    builder.output("y", double(builder, x))
    with pytest.raises(DesignError, match="do not depend on its input mask"):
        builder.build()


@pytest.mark.parametrize("shape", [(1, 2, 3, 4), (0, 3)])
def test_inputs_of_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(DesignError, match="the input x of the model net is"):
        GraphBuilder("net", channels_last=False).input("x", shape)


def test_a_layer_that_breaks_its_rules_is_refused() -> None:
    builder = GraphBuilder("net", channels_last=False)
    x = builder.input("x", (2, 3, 3))
    with builder.at("features.0"), pytest.raises(DesignError, match="features_0: the window covers 5 x 5"):
        builder.pool2d(x, "max", (5, 5))


# layers


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


# names


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        ("layer1.0.conv1", "layer1_0_conv1"),
        ("0.weight", "n0_weight"),
        ("int", "int1"),
        ("ap_pool", "n_ap_pool"),
        ("input", "input1"),
        ("read", "read1"),
        ("FC", "fc"),
        ("__a__b__", "a_b"),
        ("size_t", "size_t1"),
        ("instances", "instances1"),
        ("été", "t"),
        ("_t", "t"),
        ("", "n"),
        ("a" * 80, "a" * 63),
    ],
)
def test_valid_names(wish: str, name: str) -> None:
    assert valid_name(wish) == name


@given(st.lists(st.text(max_size=70) | st.sampled_from(sorted(CPP_KEYWORDS)), max_size=8))
def test_any_names_become_valid_and_unique(wishes: list[str]) -> None:
    from hlsgen.schema_values import check_identifier

    names = Names()
    made = [names.unique(wish) for wish in wishes]
    assert len({name.lower() for name in made}) == len(made)
    for name in made:
        check_identifier(name)


def test_layers_are_never_called_as_the_graph_or_its_inputs() -> None:
    builder = GraphBuilder("net", channels_last=False, taken=("kept",))
    x = builder.input("x", (2, 3, 3))
    for wish in ("net", "x", "kept", "conv", "conv"):
        with builder.at(wish):
            x = builder.clamp(x, 0.0, None)
    builder.output("y", x)
    assert [layer.name for layer in builder.build().layers] == ["net_2", "x_2", "kept_2", "conv", "conv_2"]
