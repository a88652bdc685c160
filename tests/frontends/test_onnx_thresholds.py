"""MultiThreshold of QONNX: codes as qonnx computes them, with whatever scales and limits stand before it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("qonnx", reason="needs qonnx: pip install 'hlsgen[onnx]'")

from hlsgen.base.errors import DesignError  # noqa: E402
from hlsgen.base.type_text import parse_type  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from hlsgen.layers.thresholds import Thresholds  # noqa: E402
from tests.support.frontends.onnx_models import QONNX, Array, kinds, normal, outputs_of  # noqa: E402
from tests.support.frontends.onnx_networks import FRAMES, Net, differences, executed  # noqa: E402

QUICK = settings(max_examples=25, deadline=None)


def threshold(net: Net, x: str, rows: Any, **attributes: Any) -> str:
    """A MultiThreshold node."""
    given = {"out_dtype": "UINT8", "out_scale": 1.0, "out_bias": 0.0} | attributes
    return net.add("MultiThreshold", f"{x} {net.constant(rows)}", domain=QONNX, **given)


def same_as_qonnx(net: Net, y: str, shape: tuple[int, ...], step: float, spread: float = 4) -> Any:
    made = net.qonnx(y, shape)
    array = np.float32(spread) * normal(5, FRAMES, *net.shape)
    graph, steps = differences(made, array, step, executed(made, array))
    assert not steps.any()
    return graph


@QUICK
@given(
    count=st.integers(1, 9),
    rows=st.sampled_from([1, 3]),
    scale=st.sampled_from([1.0, 0.25, 2.0, 0.3, -0.5]),
    bias=st.sampled_from([0.0, -1.0, -0.5, 0.3, 7.25]),
    exponent=st.integers(-3, 1),
    seed=st.integers(0, 99),
)
def test_any_thresholds(count: int, rows: int, scale: float, bias: float, exponent: int, seed: int) -> None:
    """Some between two codes, some on one, some that no input reaches, unsorted."""
    net = Net((3, 4, 5))
    numbers = np.rint(normal(seed, rows, count) * 24) / 16
    numbers[:, 0] *= 99
    y = threshold(net, net.quant("x", 2.0**exponent, 6), numbers, out_scale=scale, out_bias=bias)
    made = net.qonnx(y, (3, 4, 5))
    array = 4 * normal(5, FRAMES, 3, 4, 5)
    graph = graph_of_onnx(made, name="net")
    # a bias off the steps is rounded where the model ends
    assert np.abs(outputs_of(graph, array)[0] - executed(made, array)).max() < 0.02 * abs(scale)
    assert set(kinds(graph)) <= {"steps", "thresholds", "affine", "cast"}


@pytest.mark.parametrize(
    ("layout", "shape", "channels"),
    [("NCHW", (3, 4, 5), 3), ("NHWC", (4, 5, 3), 3), ("", (4, 5, 3), 4), ("NC", (6,), 6), ("", (6,), 6)]
    + [("NWC", (5, 3), 3), ("", (5, 3), 3), ("NCW", (5, 3), 5)],
)
def test_every_layout(layout: str, shape: tuple[int, ...], channels: int) -> None:
    net = Net(shape)
    rows = np.sort(normal(1, channels, 3), axis=1)
    graph = same_as_qonnx(net, threshold(net, net.quant("x", 0.125), rows, data_layout=layout), shape, 1.0, 1)
    (layer,) = [layer for layer in graph.layers if isinstance(layer, Thresholds)]
    assert layer.thresholds.shape == (channels, 3)


def test_a_network_as_finn_leaves_it() -> None:
    """Whole weights without quantisers, thresholds for each channel, codes with a bias and of one bit."""
    net = Net((3, 8, 8))
    rng = np.random.default_rng(1)

    def conv(x: str, members: int, channels: int, low: int, high: int) -> str:
        return net.add("Conv", f"{x} {net.constant(rng.integers(low, high + 1, (members, channels, 3, 3)))}")

    x = net.quant("x", 1.0, 8, signed=0)
    rows = np.sort(rng.integers(-400, 400, (6, 3)), axis=1)
    a = threshold(net, conv(x, 6, 3, -1, 1), rows, out_dtype="INT2", out_bias=-2.0)
    signs = np.where(rng.integers(0, 2, (4, 6, 3, 3)), 1, -1)
    sums = net.add("Conv", f"{a} {net.constant(signs)}")
    b = threshold(
        net, sums, rng.integers(-9, 9, (4, 1)) + 0.5, out_dtype="BIPOLAR", out_scale=2.0, out_bias=-1.0
    )
    y = conv(b, 5, 4, -2, 1)
    graph = same_as_qonnx(net, y, (5, 2, 2), 1.0, 60)
    layers = {layer.name: layer for layer in graph.layers}
    assert [str(layer.output_type) for layer in layers.values() if isinstance(layer, Thresholds)] == [
        "fixed<2,2>",
        "fixed<1,1,trn,sat>",
    ]
    widths = [layer.weight_type.width for layer in layers.values() if hasattr(layer, "weight_type")]
    assert widths[:2] == [2, 2]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("scales", [0.5, 0.0173])
def test_scales_biases_and_limits_go_into_the_thresholds(sign: int, scales: float) -> None:
    """Batch normalisation with factors of either sign and a ReLU before thresholds: no layer of their own."""
    net = Net((3, 6, 6))
    weights = net.quant(net.constant(normal(1, 6, 3, 3, 3)), scales, 4, narrow=1)
    sums = net.add("Conv", f"{net.quant('x', 0.25, 5)} {weights}")
    factors = np.array([0.3, 0.7, 1.1, sign * 0.4, 2.0, sign * 0.9], np.float32).reshape(6, 1, 1)
    moved = net.add(
        "Add", f"{net.add('Mul', f'{sums} {net.constant(factors)}')} {net.constant(normal(2, 6, 1, 1))}"
    )
    limited = net.add("Clip", f"{moved} {net.constant(0.0)} {net.constant(2.5)}")
    rows = np.sort(3 * normal(3, 6, 3), axis=1)
    made = net.qonnx(threshold(net, limited, rows), (6, 4, 4))
    array = 2 * normal(5, FRAMES, 3, 6, 6)
    graph, steps = differences(made, array, 1.0, executed(made, array))
    assert np.abs(steps).max() <= 1 and (steps != 0).mean() < 0.002  # a tie in float32
    assert kinds(graph) == (["conv2d", "thresholds"] if sign > 0 else ["conv2d", "affine", "thresholds"])


def test_channels_of_one_scale_share_a_step_function() -> None:
    net = Net((3, 4, 5))
    y = threshold(net, net.quant("x", 0.25, 5), [[-1.0, 0.1, 0.1, 2.0, 99.0]], out_scale=0.5)
    graph = same_as_qonnx(net, y, (3, 4, 5), 0.5)
    assert kinds(graph) == ["steps"]
    assert str(graph.outputs[0].tensor.type) == "ufixed<3,2>"


def test_integers_of_the_models_input_are_compared_as_they_are() -> None:
    net = Net((3, 4, 5))
    made = net.qonnx(threshold(net, "x", [[3.0, 7.0, 200.0]]), (3, 4, 5))
    graph = graph_of_onnx(made, name="net", input_types=[parse_type("ufixed<8,8>")])  # type: ignore[list-item]
    array: Array = np.random.default_rng(1).integers(0, 256, (FRAMES, 3, 4, 5)).astype(np.float32)
    np.testing.assert_array_equal(outputs_of(graph, array)[0], executed(made, array))


@pytest.mark.parametrize(
    ("rows", "attributes", "words"),
    [
        (np.zeros((2, 3)), {}, "thresholds have the shape [2, 3], or are no numbers, for 3 channels"),
        (np.zeros((3, 0)), {}, "thresholds have the shape [3, 0]"),
        (np.zeros(3), {}, "thresholds have the shape [3]"),
        (np.full((3, 2), np.nan), {}, "are no numbers"),
        (np.zeros((3, 2)), {"out_scale": 0.0}, "out_scale is 0"),
        (np.zeros((3, 2)), {"data_layout": "CNHW"}, "data_layout CNHW has the channels at axis 0 of 4"),
        (np.zeros((3, 2)), {"data_layout": "NHWDEC"}, "data_layout NHWDEC has the channels at axis 5 of 4"),
    ],
)
def test_refusals(rows: Any, attributes: dict[str, Any], words: str) -> None:
    net = Net((3, 4, 5))
    made = net.qonnx(threshold(net, net.quant("x", 0.25), rows, **attributes), (3, 4, 5))
    with pytest.raises(DesignError) as caught:
        graph_of_onnx(made, name="net")
    assert words in str(caught.value)


def test_weights_that_are_not_whole_are_refused_beside_thresholds() -> None:
    net = Net((3, 4, 5))
    y = net.add(
        "Conv", f"{threshold(net, net.quant('x', 0.25), [[0.0]])} {net.constant(normal(1, 2, 3, 1, 1))}"
    )
    with pytest.raises(DesignError, match="its weights are not quantised"):
        graph_of_onnx(net.qonnx(y, (2, 4, 5)), name="net")
