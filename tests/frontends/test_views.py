"""The graph builder's views and ports: what they are, and what they cost; and the names that it gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError, Place
from hlsgen.frontends.builder.builder import GraphBuilder, Value
from hlsgen.layers.base import Tensor
from tests.support.frontends.builds import Array, check, double
from tests.support.frontends.ports import kinds

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


def test_layers_are_never_called_as_the_graph_or_its_inputs() -> None:
    builder = GraphBuilder("net", channels_last=False, taken=("kept",))
    x = builder.input("x", (2, 3, 3))
    for wish in ("net", "x", "kept", "conv", "conv"):
        with builder.at(wish):
            x = builder.clamp(x, 0.0, None)
    builder.output("y", x)
    assert [layer.name for layer in builder.build().layers] == ["net_2", "x_2", "kept_2", "conv", "conv_2"]
