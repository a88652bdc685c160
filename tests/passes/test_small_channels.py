"""Channels whose scales lie many decades apart: none loses its bits to a larger one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

pytest.importorskip("qonnx", reason="needs qonnx: pip install 'hlsgen[onnx]'")

from hlsgen.base.coded import nearly_each  # noqa: E402
from hlsgen.base.fixed import FixedType  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from hlsgen.layers.base import Tensor  # noqa: E402
from hlsgen.passes.scaled import Scaled  # noqa: E402
from hlsgen.passes.threshold_codes import on_codes, signs_of  # noqa: E402
from tests.support.frontends.onnx_models import QONNX, Array, outputs_of  # noqa: E402
from tests.support.frontends.onnx_networks import FRAMES, Net, differences, exact, executed  # noqa: E402

CHANNELS = 48
SHAPE = (CHANNELS, 3, 4)


def decades(rng: np.random.Generator, least: float = -12, most: float = 3) -> Array:
    """Scales of both signs, as batch normalisation has them once training gave channels up; some are 0."""
    values = 10.0 ** rng.uniform(least, most, CHANNELS) * rng.choice([-1, 1], CHANNELS)
    values[rng.integers(0, CHANNELS, 2)] = 0
    return np.asarray(values, np.float32)


def by_channel(net: Net, values: Array) -> str:
    return net.constant(values.reshape(-1, 1, 1))


def lines(net: Net, x: str, rng: np.random.Generator, kind: str) -> str:
    """A scale and a shift for each channel, whose zeros lie among the values of `x`, many of them exactly."""
    scale = decades(rng)
    zeros = np.where(rng.random(CHANNELS) < 0.5, rng.integers(-9, 9, CHANNELS), rng.normal(0, 5, CHANNELS))
    if kind == "affine":
        shift = np.asarray(scale * np.asarray(zeros, np.float32), np.float32)
        return net.add("Add", f"{net.add('Mul', f'{x} {by_channel(net, scale)}')} {by_channel(net, shift)}")
    shift = np.where(rng.random(CHANNELS) < 0.5, 0.0, scale * rng.normal(size=CHANNELS))
    variance = rng.uniform(0.5, 9, CHANNELS)
    statistics = " ".join(net.constant(one) for one in (scale, shift, zeros, variance))
    return net.add("BatchNormalization", f"{x} {statistics}")


@pytest.mark.parametrize("between", ["", "MaxPool", "LeakyRelu", "Clip"])
@pytest.mark.parametrize("kind", ["affine", "batch norm"])
@pytest.mark.parametrize("seed", range(4))
def test_signs_behind_scales_of_many_decades(seed: int, kind: str, between: str) -> None:
    rng = np.random.default_rng(seed)
    net = Net(SHAPE)
    y = lines(net, net.quant("x", 1.0, 6), rng, kind)
    if between == "MaxPool":
        y = net.add("MaxPool", y, kernel_shape=[1, 2], strides=[1, 2])
    elif between == "LeakyRelu":
        y = net.add("LeakyRelu", y, alpha=0.1)
    elif between == "Clip":
        y = net.add("Clip", f"{y} {net.constant(-1.0)} {net.constant(1.0)}")
    made = net.qonnx(net.add("BipolarQuant", f"{y} {net.constant(1.0)}", domain=QONNX), SHAPE)
    array = rng.integers(-32, 32, (FRAMES, *SHAPE)).astype(np.float32)
    _, steps = differences(made, array, 1.0, executed(made, array))
    assert not steps.any()


@pytest.mark.parametrize("signed", [True, False])
def test_signs_are_those_of_fractions(signed: bool) -> None:
    rng = np.random.default_rng(8)
    for _ in range(400):
        type_ = FixedType(5, int(rng.integers(-3, 9)), signed)
        # of float32's bits, so that the multiple is a double
        scale = np.array([float(np.float32(rng.normal() * 10.0 ** rng.uniform(-30, 30)))])
        scale *= rng.random() > 0.1
        multiple = rng.integers(-70, 70) / 2 * type_.resolution
        shift = scale * multiple if rng.random() < 0.5 else rng.normal(size=1) * 10.0 ** rng.uniform(-30, 30)
        factors, offsets = signs_of(scale, shift, type_)
        for code in range(type_.min_code, type_.max_code + 1):
            value = Fraction(code) * Fraction(type_.resolution)
            wanted = Fraction(float(scale[0])) * value + Fraction(float(shift[0])) >= 0
            assert (int(factors.codes[0]) * code + int(offsets.codes[0]) >= 0) == wanted
        assert offsets.type.min_code <= offsets.codes[0] <= offsets.type.max_code


def test_thresholds_at_the_code_0_are_those_of_fractions() -> None:
    """A small shift behind a scale of ordinary size decides whether 0 reaches a threshold of 0."""
    shifts = np.array([-1e-9, 1e-9, -1e-20, 0.0, 1e-20, 0.25, np.nextafter(0.25, 0, dtype=np.float32)])
    tensor = Tensor(shape=(shifts.size, 1, 1), type=FixedType(6, 6))
    x = Scaled(name="x", tensor=tensor, scale=np.full(shifts.size, 0.1), shift=shifts)
    rows = np.array([[0.0, 0.25]])
    reached = on_codes(np.broadcast_to(rows, (shifts.size, 2)), x) <= 0
    wanted = [[Fraction(float(shift)) >= Fraction(float(row)) for row in rows[0]] for shift in shifts]
    assert reached.tolist() == wanted


@pytest.mark.parametrize("mode", ["ROUND", "FLOOR", "CEIL"])
@pytest.mark.parametrize("seed", range(3))
def test_quantisers_behind_scales_of_many_decades(seed: int, mode: str) -> None:
    """Exact arithmetic but for values within 2**-17 steps of a tie, with large channels that saturate."""
    rng = np.random.default_rng(seed)
    net = Net(SHAPE)
    scale = by_channel(net, decades(rng, -5, 4))
    y = net.add("Mul", f"{net.quant('x', 0.0371, 12)} {scale}")
    made = net.qonnx(net.quant(y, 0.0113, 8, rounding_mode=mode), SHAPE)
    array = rng.normal(0, 40, (FRAMES, *SHAPE)).astype(np.float32)
    _, steps = differences(made, array, np.float32(0.0113), exact(made, array))
    assert np.abs(steps).max() <= 1 and (steps != 0).mean() < 5e-4


def test_each_number_keeps_its_significant_bits() -> None:
    values = np.array([1e-7, 1.0, 0.3, 2e4])
    coded: Any = nearly_each(values, 24, 99)
    assert (np.abs(coded.values - values) <= values * 2.0**-24).all()
    assert nearly_each(values, 24, 12).type.fraction == 12 and coded.type.width <= 24 + 39
    assert nearly_each(np.zeros(2), 24, 12).type.width == 1


def test_a_lone_small_scale_costs_no_bits() -> None:
    """Equal scales have factors of 24 bits, whatever their size."""
    net = Net(SHAPE)
    y = net.add("Mul", f"{net.quant('x', 0.0371, 12)} {net.constant(3e-8)}")
    graph = graph_of_onnx(net.qonnx(net.quant(y, 1.13e-7, 8), SHAPE), name="net")
    layer: Any = graph.layers[-1]
    assert layer.weight_type.width == 24
    outputs_of(graph, np.zeros((1, *SHAPE), np.float32))


@pytest.mark.parametrize("seed", range(6))
def test_slopes_are_rounded_once(seed: int) -> None:
    """PRelu of codes, by fractions: halves to even, on scales that are powers of two and on others."""
    rng = np.random.default_rng(seed)
    net = Net(SHAPE)
    step, scale = 2.0**-3, float(np.float32(rng.choice([2.0**-7, 0.0131, 0.0317])))
    shift = rng.choice([0.0, 3 * scale, 0.1377])
    slopes = np.asarray(decades(rng, -6, 0), np.float32)
    x = net.quant("x", scale, 9)
    if shift:
        x = net.add("Add", f"{x} {net.constant(shift)}")
    made = net.qonnx(net.quant(net.add("PRelu", f"{x} {by_channel(net, slopes)}"), step, 6), SHAPE)
    codes = rng.integers(-256, 256, (FRAMES, *SHAPE))
    found = outputs_of(graph_of_onnx(made, name="net"), codes * scale)[0] / step
    wanted = np.empty(codes.shape)
    for index, code in np.ndenumerate(codes):
        value = int(code) * Fraction(scale) + Fraction(float(np.float32(shift)))
        value *= 1 if value >= 0 else Fraction(float(slopes[index[1]]))
        wanted[index] = min(max(round(value / Fraction(step)), -32), 31)
    assert (found != wanted).mean() < (1e-5 if scale == 2.0**-7 else 1e-4)
