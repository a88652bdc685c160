"""`Design.profile`: ranges counted apart, noise whose parts add up, and advice that helps if followed."""

from __future__ import annotations

import math
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import hlsgen
from hlsgen.base.errors import ToolError
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.model.ir import run_golden
from hlsgen.tracing import frames as frames_module
from hlsgen.tracing import profile as profile_module
from hlsgen.tracing.noise import at_outputs, layer_noise
from hlsgen.tracing.profile import Profile
from hlsgen.tracing.ranges import RangeCount
from tests.support.places import ROOT
from tests.tracing.test_trace import X, made_net, of_hooks

COARSE = {"default": "fixed<18,5>", "block_conv2": {"output": "fixed<4,2>"}}


@cache
def design(**precision: Any) -> hlsgen.Design:
    return hlsgen.from_torch(made_net(), (3, 13, 9), precision=precision or COARSE)


@cache
def profile() -> Profile:
    return design().profile(X)


def test_ranges_are_those_of_the_modules_results() -> None:
    hooks = of_hooks(made_net(), X)
    for tensor, module, call in (("stem_1", "stem.1", 0), ("block_conv1", "block.relu", 0), ("fc", "fc", 0)):
        wanted = hooks[module][call].astype(np.float64)
        found = profile().tensor(tensor)
        assert found.of_floats and found.values == wanted.size
        assert (found.least, found.most) == pytest.approx((wanted.min(), wanted.max()), rel=1e-4, abs=1e-6)
        assert found.mean_abs == pytest.approx(np.abs(wanted).mean(), rel=1e-4)
        assert found.quantiles[0.9] == pytest.approx(np.quantile(np.abs(wanted), 0.9), rel=1e-3)
        powers = np.floor(np.log2(np.abs(wanted[np.abs(wanted) > 1e-5])))
        for power, count in zip(*np.unique(powers, return_counts=True), strict=True):
            if power > -16:
                assert abs(found.binades[int(power)] - count) <= 2  # float32 and float64 at a boundary


@settings(max_examples=60, deadline=None)
@given(
    width=st.integers(2, 12),
    integer=st.integers(-4, 8),
    signed=st.booleans(),
    rounding=st.sampled_from([Rounding.TRN, Rounding.RND]),
    size=st.floats(0.01, 100),
    parts=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_counts_of_any_type(
    width: int, integer: int, signed: bool, rounding: Rounding, size: float, parts: int, seed: int
) -> None:
    """Against plain loops over the values."""
    type_ = FixedType(width, integer, signed, rounding, Overflow.SAT)
    values = np.random.default_rng(seed).laplace(0, size, (6, 3, 4, 1))
    values[:, 1] = 0.5
    values[0, 0, 0] = 0.0
    codes = type_.encode(values)
    count = RangeCount(name="x", part="result", type=type_, of_floats=True)
    for part in range(parts):
        count.add(values[part::parts], codes[part::parts])
    found = count.range()
    flat, coded = values.reshape(-1).tolist(), codes.reshape(-1).tolist()
    step = type_.resolution
    lost = [v for v, c in zip(flat, coded, strict=True) if v and not c and abs(v) < step]
    assert found.lost == pytest.approx(len(lost) / len(flat))
    used = max(max(c, -c - 1) for c in coded)
    bits = next(n for n in range(200) if used < 2**n)
    assert found.spare == max(0, width - signed - bits)
    assert found.spare_below == (
        min((next(n for n in range(64) if c >> n & 1) for c in coded if c), default=0)
    )
    assert sum(found.binades.values()) + found.zeros == found.values == len(flat)
    assert all(
        count == sum(2.0**power <= abs(v) < 2.0 ** (power + 1) for v in flat)
        for power, count in found.binades.items()
    )
    assert found.dead_channels == sum(len(set(codes[:, c].reshape(-1).tolist())) == 1 for c in range(3))
    assert found.top is not None and found.bottom is not None
    assert 2.0**found.bottom == step
    if width > signed:
        assert 2.0**found.top <= type_.max_code * step < 2.0 ** (found.top + 1)


def test_clipped_values_are_those_beyond_the_range() -> None:
    made = design(default="fixed<18,5>", fc="fixed<6,-2>")
    found = made.profile(X)
    codes = run_golden(made.graph, made.inputs_of(X))
    fc = next(layer for layer in made.graph.layers if layer.name == "fc")
    read = torch.from_numpy(made.graph.tensors()[fc.inputs[0]].type.decode(codes[fc.inputs[0]])).permute(
        0, 2, 3, 1
    )
    weights = torch.from_numpy(fc.weight_type.decode(fc.weights)[:, :, 0, 0])
    bias = torch.from_numpy(fc.bias_type.decode(fc.bias))
    sums = torch.nn.functional.linear(read.flatten(1), weights, bias).numpy()
    half = 2.0**-9  # of a step of fixed<6,-2>
    outside = (sums >= 31 * 2.0**-8 + half) | (sums < -(2.0**-3) - half)
    assert 0.1 < outside.mean() < 0.9
    assert found.tensor("fc").clipped == pytest.approx(outside.mean())
    (noise,) = [one for one in found.noise if one.name == "fc"]
    assert noise.cause == "clipping"
    assert found.advice[0].layer == "fc" and found.advice[0].new.integer > -2
    assert "by clipping" in found.advice[0].why


def test_weights_that_leave_their_type_or_vanish() -> None:
    made = design()
    weights = made_net().fc.weight.detach().numpy().astype(np.float64)
    found = profile().tensor("fc", "weights")
    assert found.values == weights.size and found.of_floats
    assert found.most == pytest.approx(weights.max())
    fc = next(layer for layer in made.graph.layers if layer.name == "fc")
    lost = (weights != 0) & (np.abs(weights) < fc.weight_type.resolution / 2)
    assert found.lost == pytest.approx(lost.mean())
    assert found.clipped == 0.0


def test_the_parts_of_the_noise_add_up() -> None:
    made = design()
    reference = made.given.reference
    assert reference is not None
    codes = dict(run_golden(made.graph, made.inputs_of(X)))
    floats = run_golden(reference, {"x": np.float64(X)})
    types = made.graph.tensors()
    for found, own in layer_noise(made.graph, reference, codes, floats):
        error = types[found.name].type.decode(codes[found.name]) - floats[found.name]
        assert found.total == pytest.approx(np.square(error).sum())
        assert found.added == pytest.approx(np.square(own).sum())
        if found.name == "fc":
            read = types["mul"].type.decode(codes["mul"])
            net = made_net().double()
            with torch.no_grad():
                handed = net.fc(torch.from_numpy(read).flatten(1)).numpy() - floats["fc"][:, :, 0, 0]
            np.testing.assert_allclose(own[:, :, 0, 0] + handed, error[:, :, 0, 0], atol=1e-6)
            assert found.weights > 0 and found.rounding > 0 and found.clipping == 0


def test_the_noise_of_one_layer_at_the_outputs_is_what_that_layer_alone_does() -> None:
    """A design in which every other layer is as good as exact is the judge."""
    made = design()
    (found,) = [one for one in profile().noise if one.name == "block_conv2"]
    wanted = of_hooks(made_net(), X)["fc"][0].astype(np.float64)
    noise = np.square(made.golden(X)[: profile().effect_frames] - wanted[: profile().effect_frames]).mean()
    measured = 10 * math.log10(np.var(wanted[: profile().effect_frames]) / noise)
    assert found.output_db == pytest.approx(measured, abs=0.3)
    assert profile().worst is not None and profile().worst.name == "block_conv2"
    assert profile().verdict()[0].startswith("block_conv2 ruins it most: 100%")


def test_noise_of_the_last_layer_reaches_the_outputs_as_it_is() -> None:
    made = design()
    reference = made.given.reference
    assert reference is not None
    floats = run_golden(reference, {"x": np.float64(X)})
    own = np.random.default_rng(0).normal(0, 0.01, floats["fc"].shape)
    share = at_outputs(reference, "fc", own, floats)
    assert share == pytest.approx(np.square(own).mean() / np.var(floats["fc"]))
    assert at_outputs(reference, "x", 0 * np.float64(X), floats) == 0


def test_advice_that_is_followed_mends_the_layer() -> None:
    one = profile().advice[0]
    assert (one.layer, one.key) == ("block_conv2", "output")
    assert (
        one.design_file
        == f'precision: {{layers: {{block_conv2: "{FixedType(one.new.width, one.new.integer)}"}}}}'
    )
    assert one.new.integer < one.old.integer  # its highest bits are never used
    mended = hlsgen.from_torch(made_net(), (3, 13, 9), precision={**COARSE, **one.precision}).profile(X)
    before, after = (
        next(noise.output_db for noise in each.noise if noise.name == "block_conv2")
        for each in (profile(), mended)
    )
    assert before is not None and after is not None
    assert after > before + 15


def test_frames_in_parts_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames_module, "PART_ELEMENTS", 16 * 1200)
    parts = design().profile(X)
    for one, other in zip(profile().tensors, parts.tensors, strict=True):
        mine, theirs = one.as_json(), other.as_json()
        for key in ("mean_abs", "quantiles"):
            assert mine.pop(key) == pytest.approx(theirs.pop(key), rel=0.02)
        assert mine == theirs
    for noise, again in zip(profile().noise, parts.noise, strict=True):
        assert noise.added == pytest.approx(again.added)


def test_large_networks_run_the_worst_layers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = design().given.reference
    assert reference is not None
    monkeypatch.setattr(profile_module, "EFFECT_MACS", reference.macs // 3)
    found = design().profile(X)
    ran = [one for one in found.noise if one.added and one.at_outputs is not None]
    assert found.effect_frames == 1 and 0 < len(ran) < len([one for one in found.noise if one.added])
    assert found.worst is not None and found.worst.name == "block_conv2"


def test_a_network_with_types_of_its_own_has_ranges_and_no_noise() -> None:
    made = hlsgen.from_qkeras(ROOT / "designs" / "raider" / "raider.h5")
    x = np.random.default_rng(0).normal(0, 2, (6, *made.graph.inputs[0].shape))
    found = made.profile(x)
    assert not found.noise and not found.advice
    assert "types of its own" in found.verdict()[0]
    tensor = found.tensor("conv1")
    codes = run_golden(made.graph, made.inputs_of(x))["conv1"]
    assert not tensor.of_floats and tensor.lost is None
    assert tensor.most == made.graph.tensors()["conv1"].type.decode(codes).max()
    assert "relu1" in found.names["conv1"]


def test_a_table_needs_pandas() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ToolError, match="fix: pip install pandas"):
            profile().to_frame()


def test_a_table_of_pandas() -> None:
    pytest.importorskip("pandas", reason="needs pandas")
    frame = profile().to_frame()
    assert frame.loc["block_conv2.result", "cause"] == "rounding"
    assert frame.loc["fc.weights", "type"] == "fixed<18,-1>"
