"""Passes over networks: what they join, what they leave alone, and that the result stays the same."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import MAX_TENSOR_WIDTH, FixedType, FloatType, Overflow, Rounding
from hlsgen.base.type_text import parse_type
from hlsgen.designfile.precision_grammar import precision_of
from hlsgen.layers.base import Tensor
from hlsgen.layers.binary import Add
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.rearrange import Rearrange
from hlsgen.model.ir import Graph, Port, run_golden, verify
from hlsgen.model.precision import AUTO_WIDTHS, Fits, LayerPrecision, Precision, fitted, whole_range
from hlsgen.passes import BUILT_PASSES, FIXED_PASSES, FLOAT_PASSES, INTEGER_PASSES, run_passes
from hlsgen.passes.drop_unread import drop_unread
from hlsgen.passes.fold_affine import fold_affine
from hlsgen.passes.fuse_cast import fuse_cast
from hlsgen.passes.fuse_clamp import fuse_clamp
from hlsgen.passes.integer_graph import integer_graph
from hlsgen.passes.reorder_inputs import reorder_inputs
from hlsgen.quantising.accuracy import measured
from hlsgen.quantising.choose_types import choose_types
from hlsgen.quantising.float_run import FloatRun
from hlsgen.quantising.value_ranges import ValueRanges
from tests.support.networks import frames, relu, residual_network, tensor

BYTE = FixedType(8, 4)
SATURATING = FixedType(8, 4, True, Rounding.RND, Overflow.SAT)


def names(graph: Graph) -> list[str]:
    return [layer.name for layer in graph.layers]


EVERY: set[Callable[..., Graph]] = {
    *BUILT_PASSES,
    *INTEGER_PASSES,
    *FLOAT_PASSES,
    *FIXED_PASSES,
    integer_graph,
}


@pytest.mark.parametrize("name", sorted(one.__name__ for one in EVERY))
def test_each_pass_shows_its_graph_before_and_after_in_a_file_of_its_name(name: str) -> None:
    module = importlib.import_module(f"hlsgen.passes.{name}")
    assert getattr(module, name) in EVERY
    assert re.search(r"^before  \S.*\n(?:        .*\n)*after   \S", module.__doc__ or "", re.MULTILINE)


def test_what_no_output_needs_is_dropped() -> None:
    graph = residual_network()
    shape = graph.layers[0].output_shape
    aside = relu("aside", "conv1", shape), relu("last", "aside", shape)
    dropped = drop_unread(replace(graph, layers=(*graph.layers, *aside)))
    assert names(dropped) == names(graph) and dropped.inputs == graph.inputs


def turned_input(*atoms: tuple[int, int], offset: int = 0) -> Graph:
    """x [2, 3, 4] -> a rearrange of one atom for each axis -> relu."""
    turned = Rearrange(
        name="r", inputs=("x",), source=tensor((2, 3, 4)), axes=tuple((one,) for one in atoms), offset=offset
    )
    last = relu("y", "r", turned.output_shape)
    inputs, outputs = (Port.of("x", turned.source),), (Port.of("out", last.output, "y"),)
    return Graph(name="net", inputs=inputs, layers=(turned, last), outputs=outputs)


@pytest.mark.parametrize("axes", list(permutations((0, 1, 2))))
def test_an_order_of_axes_goes_into_the_port(axes: tuple[int, int, int]) -> None:
    graph = reorder_inputs(turned_input(*(((2, 12), (3, 4), (4, 1))[axis] for axis in axes)))
    assert names(graph) == ["y"] and not verify(graph)
    x = np.random.default_rng(0).normal(size=(5, 2, 3, 4))
    given = {"x": graph.inputs[0].to_tensor(x)}
    wanted = np.maximum(x.transpose(0, *(1 + axis for axis in axes)), 0)
    np.testing.assert_array_equal(run_golden(graph, given)["y"], wanted)


def test_a_mirror_or_a_part_of_the_input_keeps_its_rearrange() -> None:
    for graph in (turned_input((2, 12), (3, 4), (4, -1), offset=3), turned_input((2, 12), (3, 4), (2, 1))):
        assert names(reorder_inputs(graph)) == ["r", "y"]


def test_batch_norms_go_into_the_convolutions_before_them() -> None:
    graph = residual_network()
    folded = fold_affine(graph)
    assert names(folded) == ["conv1", "relu1", "conv2", "leaky2", "conv3", "add", "relu3", "pool"]
    x = {"x": frames(2)}
    np.testing.assert_allclose(
        run_golden(folded, x)["pool"], run_golden(graph, x)["pool"], rtol=0, atol=1e-12
    )
    assert not verify(folded)


def test_a_batch_norm_stays_where_something_else_reads_the_convolution() -> None:
    graph = residual_network()
    shown = Port.of("z", graph.layers[0].output, "conv1")
    folded = fold_affine(replace(graph, outputs=(*graph.outputs, shown)))
    assert "bn1" in names(folded) and "bn2" not in names(folded)


def test_a_convolution_with_limits_takes_no_batch_norm() -> None:
    graph = residual_network()
    first = replace(graph.layers[0], low=0.0)
    assert "bn1" in names(fold_affine(replace(graph, layers=(first, *graph.layers[1:]))))


def test_limits_go_into_the_convolution_and_an_output_follows() -> None:
    graph = fold_affine(residual_network())
    shown = replace(graph, layers=graph.layers[:2], outputs=(Port.of("y", graph.layers[1].output, "relu1"),))
    fused = fuse_clamp(shown)
    assert names(fused) == ["conv1"]
    assert fused.outputs[0].source == "conv1"
    assert isinstance(fused.layers[0], Conv2d) and fused.layers[0].low == 0.0
    x = {"x": frames(2)}
    np.testing.assert_array_equal(run_golden(fused, x)["conv1"], run_golden(shown, x)["relu1"])


def fixed_pair(last: str) -> Graph:
    """A convolution that gives its exact sums, and a clamp or cast that reads them."""
    layer = residual_network().layers[0]
    assert isinstance(layer, Conv2d)
    codes = np.random.default_rng(0).integers(-8, 8, layer.weights.shape)
    exact = replace(layer, weight_type=FixedType(4, 1), bias_type=BYTE, weights=codes).retyped((BYTE,), None)
    result = FixedType(6, 3, True, Rounding.RND_CONV, Overflow.SAT)
    after: Clamp | Cast
    if last == "clamp":
        after = Clamp(
            name="last", inputs=("conv1",), source=exact.output, low=-1.0, high=2.5, result_type=result
        )
    else:
        after = Cast(name="last", inputs=("conv1",), source=exact.output, result_type=result)
    return Graph(
        name="net",
        inputs=(Port.of("x", Tensor(shape=(3, 8, 8), type=BYTE)),),
        layers=(exact, after),
        outputs=(Port.of("y", after.output, "last"),),
    )


@pytest.mark.parametrize("last", ["clamp", "cast"])
def test_exact_sums_are_limited_and_cast_in_the_convolution(last: str) -> None:
    graph = fixed_pair(last)
    fused = run_passes(graph)
    assert names(fused) == ["conv1"]
    x = {"x": np.random.default_rng(1).integers(-128, 128, (3, 3, 8, 8))}
    np.testing.assert_array_equal(run_golden(fused, x)["conv1"], run_golden(graph, x)["last"])


@pytest.mark.parametrize("last", ["clamp", "cast"])
def test_rounded_sums_are_not_rounded_twice_in_one(last: str) -> None:
    graph = fixed_pair(last)
    first, after = graph.layers
    assert isinstance(first, Conv2d) and isinstance(after, Clamp | Cast)
    rounded = replace(first, result_type=SATURATING)
    layers = (rounded, after.retyped((SATURATING,), after.result_type))
    assert names(run_passes(graph.with_layers(layers))) == ["conv1", "last"]


def test_an_exact_sum_of_two_tensors_is_cast_in_the_addition() -> None:
    tensor = Tensor(shape=(2, 2, 2), type=BYTE)
    add = Add(name="add", inputs=("a", "b"), left=tensor, right=tensor, result_type=BYTE).retyped(
        (BYTE, BYTE), None
    )
    cast = Cast(name="cast", inputs=("add",), source=add.output, result_type=SATURATING)
    graph = Graph(
        name="net",
        inputs=(Port.of("a", tensor), Port.of("b", tensor)),
        layers=(add, cast),
        outputs=(Port.of("y", cast.output, "cast"),),
    )
    fused = fuse_cast(graph)
    assert names(fused) == ["add"]
    x = {name: np.random.default_rng(n).integers(-128, 128, (4, 2, 2, 2)) for n, name in enumerate("ab")}
    np.testing.assert_array_equal(run_golden(fused, x)["add"], run_golden(graph, x)["cast"])


def flattened_image(order: str = "rows", shown: bool = False) -> Graph:
    """Two dense layers that read an image flattened in some order; `shown`: the vector is an output too."""
    image = Tensor(shape=(3, 2, 4), type=BYTE)
    atoms = {"rows": ((2, 4), (4, 1), (3, 8)), "channels": ((3, 8), (2, 4), (4, 1))}[order]
    flat = Rearrange(name="flat", inputs=("x",), source=image, axes=(atoms, (), ()))
    generator = np.random.default_rng(0)
    layers = [
        Dense(
            name=name,
            inputs=("flat",),
            in_shape=(24, 1, 1),
            out_channels=2,
            input_type=BYTE,
            weight_type=FixedType(4, 1),
            bias_type=BYTE,
            accumulator=BYTE,
            result_type=BYTE,
            weights=generator.integers(-8, 8, (2, 24, 1, 1)),
            bias=np.zeros(0, np.int64),
        ).retyped((BYTE,), None)
        for name in ("fc1", "fc2")
    ]
    outputs = [Port.of(f"y{n}", layer.output, layer.name) for n, layer in enumerate(layers)]
    if shown:
        outputs.append(Port.of("vector", flat.output, "flat"))
    return Graph(name="net", inputs=(Port.of("x", image),), layers=(flat, *layers), outputs=tuple(outputs))


@pytest.mark.parametrize(
    ("order", "shown", "left"),
    [
        ("rows", False, ["fc1", "fc2"]),
        ("rows", True, ["flat", "fc1", "fc2"]),
        ("channels", False, ["flat", "fc1", "fc2"]),
    ],
)
def test_dense_layers_read_images_in_the_order_of_their_streams(
    order: str, shown: bool, left: list[str]
) -> None:
    graph = flattened_image(order, shown)
    skipped = run_passes(graph)
    assert names(skipped) == left
    assert [layer.inputs for layer in skipped.layers[-2:]] == [("x",) if order == "rows" else ("flat",)] * 2
    x = {"x": np.random.default_rng(1).integers(-128, 128, (3, 3, 2, 4))}
    got, wanted = run_golden(skipped, x), run_golden(graph, x)
    for port in graph.outputs:
        np.testing.assert_array_equal(got[port.source], wanted[port.source])


# ---------------------------------------------------------------- types


def reference() -> Graph:
    return run_passes(residual_network(), FLOAT_PASSES)


def test_one_type_for_all_rounds_and_saturates_unless_it_says_otherwise() -> None:
    fixed = run_passes(choose_types(reference(), precision_of("fixed<16,6>"), None), FIXED_PASSES)
    types = {layer.name: str(layer.output_type) for layer in fixed.layers}
    assert types["conv1"] == types["pool"] == types["relu3"] == "fixed<16,6,rnd,sat>"
    wrapping = choose_types(reference(), precision_of("fixed<16,6,trn_zero,sat_zero>"), None)
    assert str(wrapping.layers[0].output_type) == "fixed<16,6,trn_zero,sat_zero>"


def test_what_only_a_slope_or_a_limit_reads_stays_exact() -> None:
    fixed = choose_types(reference(), precision_of("fixed<8,4>"), None)
    by_name = {layer.name: layer for layer in fixed.layers}
    conv2, add = by_name["conv2"], by_name["add"]
    assert isinstance(conv2, Conv2d) and conv2.result_type == conv2.accumulator
    assert isinstance(add, Add) and add.result_type == add.exact_type


def test_exact_products_of_products_end_at_the_widest_tensor() -> None:
    graph = residual_network()
    shape, layers = graph.layers[0].output_shape, list(graph.layers[:1])
    for number in range(3):
        layer = Leaky(
            name=f"slope{number}",
            inputs=(layers[-1].name,),
            source=layers[-1].output,
            slopes=np.array([0.25, 0.3, 0.35, 0.4]),
            slope_type=FloatType(),
            result_type=FloatType(),
        )
        layers.append(layer)
    layers.append(relu("limit", layers[-1].name, shape))
    outputs = (Port.of("y", layers[-1].output, "limit"),)
    fixed = choose_types(
        replace(graph, layers=tuple(layers), outputs=outputs), precision_of("fixed<16,6>"), None
    )
    widths = [layer.output_type.width for layer in fixed.layers if isinstance(layer.output_type, FixedType)]
    assert len(widths) == 5 and max(widths) <= MAX_TENSOR_WIDTH
    assert widths[1] > 32 and str(fixed.layers[2].output_type) == "fixed<16,6,rnd,sat>"


@pytest.mark.parametrize("width", [8, 12, 16])
def test_more_bits_are_nearer_to_floating_point(width: int) -> None:
    graph, x = reference(), {"x": frames(4)}
    fixed = run_passes(choose_types(graph, precision_of(f"fixed<{width},4>"), None), FIXED_PASSES)
    (last,) = [one for one in measured(fixed, FloatRun(graph, x)).accuracy if one.name == "pool"]
    # 6 dB a bit, less what a range of 4 integer bits for values around 1 wastes
    assert 6 * (width - 4) - 12 < last.snr_db < 6 * width


def test_auto_reaches_its_target_on_every_tensor_it_chooses() -> None:
    graph, x = reference(), {"x": frames(16)}
    for target in (20.0, 40.0, 60.0):
        fixed = choose_types(graph, Precision(target_db=target), ValueRanges(FloatRun(graph, x), 1.0))
        values = run_golden(graph, x)
        type_ = fixed.inputs[0].tensor.type
        assert isinstance(type_, FixedType)
        error = np.mean((type_.decode(type_.encode(values["x"])) - values["x"]) ** 2)
        assert 10 * np.log10(np.mean(values["x"] ** 2) / error) > target - 1.5
    assert len({str(layer.output_type) for layer in fixed.layers}) > 2


def test_types_by_layer() -> None:
    constraints = precision_of(
        {"default": "fixed<8,4>", "conv3": {"output": "fixed<10,5>", "weights": "fixed<5,1>"}}
    )
    fixed = choose_types(reference(), constraints, None)
    (conv3,) = [layer for layer in fixed.layers if layer.name == "conv3"]
    assert isinstance(conv3, Conv2d)
    assert (str(conv3.result_type), str(conv3.weight_type)) == ("fixed<10,5,rnd,sat>", "fixed<5,1>")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("fixed<0,1>", "precision"),
        (7.5, "must be auto, a number type or a width, not 7.5"),
        ({"conv1": {"wieghts": "fixed<8,1>"}}, "conv1: `wieghts` is no key"),
        ({"conv1": 3.5}, "precision: `conv1` is no key"),
        ({"acumulator": "tight"}, "did you mean 'accumulator'"),
        ({"accumulator": "float64"}, "must be exact, tight or a number type"),
        ({"target_db": 3}, "`target_db` must be a number from 6 to 120"),
        ({"headroom": "2"}, "`headroom` must be a number from 1 to 16"),
        ({"calibration": "x.npy"}, "in a design file only"),
    ],
)
def test_wrong_precisions(given: object, message: str) -> None:
    with pytest.raises(DesignError, match=message):
        precision_of(given)  # type: ignore[arg-type]


def test_a_layer_that_there_is_not() -> None:
    with pytest.raises(DesignError, match="precision names conv9, which is no layer of net"):
        choose_types(reference(), Precision(default=BYTE, layers={"conv9": LayerPrecision()}), None)


def test_auto_without_calibration() -> None:
    with pytest.raises(DesignError, match="auto chooses types from calibration data, and none is given"):
        choose_types(reference(), Precision(), None)


def test_weights_that_leave_a_given_type() -> None:
    constraints = precision_of({"default": "fixed<8,4>", "weights": "fixed<8,-3>"})
    with pytest.raises(DesignError, match="conv1: weights: .* leave the range of fixed<8,-3>"):
        choose_types(reference(), constraints, None)


def test_the_best_range_clips_outliers_only_where_that_pays() -> None:
    values = np.random.default_rng(0).normal(0, 1, 20_000)
    spread, _ = fitted(values, 4, signed=True)
    assert spread.integer == 3
    values[0] = 100.0
    clipped, error = fitted(values, 4, signed=True)
    assert clipped.integer < whole_range(values, 4).integer
    assert error < np.mean(
        (whole_range(values, 4).decode(whole_range(values, 4).encode(values)) - values) ** 2
    )


def test_the_narrowest_type_that_suffices_is_found() -> None:
    values = np.random.default_rng(0).normal(0, 1, 1000)
    fits = Fits(values=values, signed=True)
    for target in (20.0, 30.0, 50.0, 80.0):
        type_ = fits.of(target)
        noise = np.mean((type_.decode(type_.encode(values)) - values) ** 2)
        narrower = AUTO_WIDTHS[AUTO_WIDTHS.index(type_.width) - 1]
        worst = np.mean(values**2) * 10 ** (-target / 10)
        assert noise <= worst < fitted(values, narrower, signed=True)[1]
    assert fits.of(300.0).width == AUTO_WIDTHS[-1]


def test_a_range_holds_every_value() -> None:
    for largest in (0.4999, 0.5, 0.99, 1.0, 1.01, 7.99, 8.0):
        values = np.array([-largest, largest])
        type_ = whole_range(values, 8)
        assert abs(type_.decode(type_.encode(values)) - values).max() <= type_.resolution / 2
        assert type_.integer <= parse_type("fixed<8,5>").integer
