"""`auto`: the network's answer on frames that chose no types, judged by PyTorch in floating point."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import hlsgen
from hlsgen.base.fixed import FixedType
from hlsgen.cli.commands import cli
from hlsgen.layers.steps import Steps
from hlsgen.model.confidence import least_agreement
from hlsgen.model.precision import Floats, binade, fitted, whole_range
from hlsgen.quantising.accuracy import expected_agreement
from hlsgen.quantising.float_run import FloatRun
from hlsgen.quantising.value_ranges import ValueRanges
from tests.support.networks import frames as normal_frames
from tests.support.networks import residual_network

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch import nn  # noqa: E402

SHAPE = (3, 12, 12)


def pictures(count: int, seed: int) -> Floats:
    """Smooth frames of uneven contrast, as photographs are."""
    generator = np.random.default_rng(seed)
    coarse = generator.normal(0, 1, (count, 3, 4, 4)).repeat(3, axis=2).repeat(3, axis=3)
    contrast = np.exp(generator.normal(-1, 0.4, (count, 1, 1, 1)))
    return np.clip(contrast * (coarse + generator.normal(0, 0.2, (count, *SHAPE))), -1, 1).astype(np.float32)


class Excited(nn.Module):  # type: ignore[misc, name-defined]
    """Channels scaled by what a small network says of their means, as in MobileNetV3 and RegNetY."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, 4, 1)
        self.excite = nn.Conv2d(4, channels, 1)

    def forward(self, x: Any) -> Any:
        gate = self.excite(torch.relu(self.squeeze(x.mean((2, 3), keepdim=True))))
        return x * nn.functional.hardsigmoid(gate)


def hard() -> Any:
    """What makes types hard to choose: hard swish, depthwise, groups, excitation, many layers."""
    torch.manual_seed(5)
    layers: list[Any] = [nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.Hardswish()]
    for groups in (16, 4, 16, 4, 16, 4):
        layers += [nn.Conv2d(16, 16, 3, padding=1, groups=groups, bias=False), nn.BatchNorm2d(16)]
        layers += [nn.Hardswish(), Excited(16), nn.Conv2d(16, 16, 1, bias=False), nn.BatchNorm2d(16)]
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None
    net.train()(torch.from_numpy(pictures(32, 99)))
    return net.eval()


def judged(net: Any, design: Any, x: Floats) -> tuple[float, float]:
    """Decibels and agreement of golden with PyTorch."""
    with torch.no_grad():
        wanted = net(torch.from_numpy(x)).double().numpy()
    got = design.golden(x)
    decibels = 10 * np.log10(np.var(wanted) / np.mean((got - wanted) ** 2))
    return float(decibels), float(np.mean(got.argmax(1) == wanted.argmax(1)))


def widths(design: Any) -> int:
    return sum(layer.output_type.width for layer in design.graph.layers)


def test_the_answer_is_kept_on_frames_that_were_not_seen() -> None:
    net = hard()
    design = hlsgen.from_torch(net, SHAPE, calibration=pictures(32, 1))
    decibels, agreement = judged(net, design, pictures(128, 2))
    assert decibels > 27 and agreement > 0.965
    held_out = design.reached.held_out  # type: ignore[attr-defined]
    assert held_out.frames == 16 and held_out.worst_db >= 30
    assert held_out.worst_db == pytest.approx(decibels, abs=4)


def test_as_much_as_is_asked_for_and_no_more() -> None:
    """Beyond 16 bits too: with these alone it was 80 dB at the most."""
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 4)).eval()
    made = {}
    for wanted in (15, 30, 60, 100):
        precision = {"output_db": wanted}
        made[wanted] = hlsgen.from_torch(net, SHAPE, calibration=pictures(16, 1), precision=precision)
        decibels, _ = judged(net, made[wanted], pictures(64, 2))
        assert wanted - 3 < decibels < wanted + 10
    sizes = [widths(design) for design in made.values()]
    assert sizes == sorted(set(sizes))
    assert max(layer.output_type.width for layer in made[100].graph.layers) > 16  # type: ignore[attr-defined]


def test_agreement_is_reached_where_decibels_are_not_asked_for() -> None:
    net, x = hard(), pictures(32, 1)
    found = {}
    for wanted in (0, 1):
        precision = {"output_db": 0, "agreement": wanted}
        design = hlsgen.from_torch(net, SHAPE, calibration=x, precision=precision)
        held = sorted(set(range(32)) - design.calibration.of_ranges)
        found[wanted] = judged(net, design, x[held])[1]
    assert found[0] < 1 == found[1]


def test_scores_are_judged_behind_what_hides_them() -> None:
    """Of a softmax whose probabilities are all but 0 and 1 the outputs have no noise to see."""
    torch.manual_seed(2)
    scores = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 2))
    with torch.no_grad():
        scores[3].weight *= 60
    net = nn.Sequential(scores, nn.Softmax(1)).eval()
    design: Any = hlsgen.from_torch(net, SHAPE, calibration=pictures(32, 1))
    (name,) = [one.name for one in design.reached.held_out.scores]
    (layer,) = [layer for layer in design.graph.layers if layer.name == name]
    x = pictures(64, 2)
    with torch.no_grad():
        wanted = scores.eval()(torch.from_numpy(x)).double().numpy()
    codes = {design.graph.inputs[0].name: design.graph.inputs[0].tensor.type.encode(x)}
    got = layer.output_type.decode(design.golden_codes(codes)[name]).reshape(wanted.shape)
    assert 10 * np.log10(np.var(wanted) / np.mean((got - wanted) ** 2)) > 27


def test_indices_are_judged_by_their_agreement_and_their_scores() -> None:
    class Largest(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 6, 3)

        def forward(self, x: Any) -> Any:
            return self.conv(x).argmax(1)

    torch.manual_seed(0)
    net = Largest().eval()
    design: Any = hlsgen.from_torch(net, SHAPE, calibration=pictures(32, 1))
    x = pictures(64, 2)
    with torch.no_grad():
        same = np.mean(design.golden(x) == net(torch.from_numpy(x)).numpy())
    assert same > 0.98
    (score,) = design.reached.held_out.scores
    assert score.snr_db >= 30
    assert design.reached.held_out.outputs[0].agreement == pytest.approx(same, abs=0.02)


# ---------------------------------------------------------------- ranges


class Bounded(nn.Module):  # type: ignore[misc, name-defined]
    """Three tensors with a limit of their own, one without, and one that just stays positive."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1, bias=False)

    def forward(self, x: Any) -> Any:
        y = self.conv(x)
        return nn.functional.relu6(y), torch.sigmoid(y), y, (0.2 * y).mean((2, 3)) + 0.5


def types(headroom: float, x: Floats) -> tuple[list[FixedType], list[FixedType]]:
    """Of the outputs, and of the input."""
    torch.manual_seed(0)
    precision = {"output_db": 0, "agreement": 0, "target_db": 40, "headroom": headroom}
    design: Any = hlsgen.from_torch(Bounded().eval(), SHAPE, calibration=x, precision=precision)
    return [port.tensor.type for port in design.graph.outputs], [design.graph.inputs[0].tensor.type]


def test_a_range_has_room_beyond_what_was_seen_unless_it_ends_there() -> None:
    x = np.clip(32 * pictures(16, 1), -8, 8)
    tight, tight_input = types(1, x)
    roomy, roomy_input = types(4, x)
    assert roomy[0].integer - tight[0].integer in (0, 1) and roomy[0].integer <= 3  # ReLU6
    assert roomy[1].integer == tight[1].integer and not tight[1].signed  # sigmoid
    assert roomy[2].integer == tight[2].integer + 2
    assert roomy_input[0].integer == tight_input[0].integer  # most frames have the largest value, 8
    assert not tight[3].signed and roomy[3].signed


def test_a_tensor_in_which_frames_differ_has_more_room() -> None:
    """Loudness of a power law: the type holds a hundred other frames, as with a bit to spare it does not."""
    graph, generator = residual_network(), np.random.default_rng(0)

    def loud(count: int) -> Floats:
        return normal_frames(count) * generator.pareto(2.0, (count, 1, 1, 1))

    held = dict.fromkeys((None, 2.0, 1.0), 0)
    for _ in range(20):
        run, furthest = FloatRun(graph, {"x": loud(16)}), np.abs(loud(100)).max()
        for given in held:
            ranges = ValueRanges(run, given)
            type_ = ranges.tensor("x").of(60)
            held[given] += type_.max_code * type_.resolution > furthest
            assert given is None or set(ranges.headrooms.values()) == {given}
    assert held[None] >= 14 and held[None] - 5 >= held[2.0] > held[1.0]
    calibration = loud(16)
    even = ValueRanges(FloatRun(graph, {"x": normal_frames(16)}), None)
    assert max(even.headrooms.values()) < 2.5 and even.headrooms["x"] == 2
    few = ValueRanges(FloatRun(graph, {"x": calibration[:6]}), None)
    assert set(few.headrooms.values()) == {4.0}
    roomy = ValueRanges(FloatRun(graph, {"x": normal_frames(16)}), None, 2.0)
    assert roomy.headrooms["x"] == 2 * even.headrooms["x"]
    silent = ValueRanges(FloatRun(graph, {"x": 0 * calibration}), None)
    assert silent.headrooms["x"] == 2


def test_the_agreement_that_noise_leaves_is_that_of_many_draws() -> None:
    """Also of frames that all agree: three in a hundred of the next ones do not."""
    generator = np.random.default_rng(0)
    scores = generator.normal(0, 1, (2000, 10))
    for size in (0.01, 0.03, 0.1):
        noisy = scores + generator.normal(0, size, scores.shape) + generator.normal(0, 9, (2000, 1))
        share = np.mean(noisy.argmax(1) == scores.argmax(1))
        assert expected_agreement(noisy, scores) == pytest.approx(share, abs=0.02)
        assert expected_agreement(noisy[:40], scores[:40]) == pytest.approx(share, abs=0.04)
    assert expected_agreement(scores, scores) == 1


def test_frames_held_out_choose_no_range() -> None:
    graph, x = residual_network(), normal_frames(12)
    run = FloatRun(graph, {"x": x})
    held = [run.kept[position] for position in run.held_out]
    assert sorted([*held, *run.range_frames]) == list(range(12))
    assert [frame // 2 for frame in held] == list(range(6)), "one of every two"
    louder = x.copy()
    louder[held] *= 50
    first, second = (ValueRanges(FloatRun(graph, {"x": one}), 2.0) for one in (x, louder))
    for layer in graph.layers:
        assert first.tensor(layer.name).of(40) == second.tensor(layer.name).of(40)


@pytest.mark.parametrize("count", [1, 2, 3, 40, 300])
def test_frames_are_dealt_evenly_over_a_sorted_file(count: int) -> None:
    run = FloatRun(residual_network(), {"x": np.zeros((count, 3, 8, 8))})
    held = {run.kept[position] for position in run.held_out}
    assert len(held) == min(count // 2, 64)
    assert not held & set(run.range_frames) and len(run.range_frames) == count - count // 2
    for part in np.array_split(np.arange(count), 4):
        share = len(held & set(part.tolist())) / max(1, len(held))
        assert abs(share - len(part) / count) <= 1 / max(1, len(held))
    assert len(run.judging) == min(16, max(1, len(held)))


def test_types_need_no_logarithm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last bits are the machine's: log2(8) may be less than 3. Ranges end at powers of two exactly."""

    def refused(*_: Any) -> None:
        raise AssertionError("a logarithm chooses a type")

    for module in (np, math):
        monkeypatch.setattr(module, "log2", refused)
    for exponent in (-40, -3, 0, 1, 3, 29):
        power = 2.0**exponent
        below, above = np.nextafter(power, 0.0), np.nextafter(power, np.inf)
        assert [binade(one) for one in (below, power, above)] == [exponent - 1, exponent, exponent]
        # -2**n is the least code of n + 1 integer bits; 2**n is none of them
        assert whole_range(np.array([-power]), 12).integer == exponent + 1
        assert whole_range(np.array([power]), 12).integer == exponent + 2
        values = power * np.array([-1.0, -0.5, 0.5])
        type_, error = fitted(values, 12, signed=True)
        assert (type_.integer, error) == (exponent + 2, 0.0)  # the widest of the ranges that are tried


# ---------------------------------------------------------------- what is said


@pytest.mark.parametrize(("agreeing", "frames"), [(32, 32), (8, 8), (30, 32), (1, 5), (0, 4)])
def test_the_least_agreement_is_the_share_at_which_so_many_have_one_chance_in_twenty(
    agreeing: int, frames: int
) -> None:
    share = least_agreement(agreeing, frames)
    chance = sum(
        math.comb(frames, k) * share**k * (1 - share) ** (frames - k) for k in range(agreeing, frames + 1)
    )
    assert chance == pytest.approx(0.05 if agreeing else 1.0)


def test_too_few_frames_are_said(tmp_path: Any) -> None:
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(400, 4)).eval()
    said = {}
    for count in (1, 4, 16):
        design = hlsgen.from_torch(net, SHAPE, calibration=pictures(count, 1))
        project = design.build(tmp_path / str(count), csim=False)
        said[count] = [one for one in project.report["warnings"] if "judged" in one]
        quality = project.report["quality"]
        assert (quality["held_out"] or {"frames": 0})["frames"] == count // 2
        text = (tmp_path / str(count) / "report.md").read_text()
        assert ("8 of 8 frames agree (at least 68 % of all, with 95% confidence)" in text) == (count == 16)
    assert "on the frame that chose them; give 16 frames or more" in said[1][0]
    assert "on 2 frames that did not choose them, too few; give 16" in said[4][0]
    assert said[16] == []


def test_what_was_not_reached_is_said(tmp_path: Any) -> None:
    """The types of the last layer are the user's, and too narrow for what is asked."""
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(400, 10)).eval()
    x = pictures(32, 1)
    names = [layer.name for layer in hlsgen.from_torch(net, SHAPE, precision="fixed<16,6>").graph.layers]
    precision = {"default": "auto", names[-1]: {"output": "fixed<4,1>"}}
    design = hlsgen.from_torch(net, SHAPE, calibration=x, precision=precision)
    warnings = design.build(tmp_path / "net", csim=False).report["warnings"]
    assert any("less than the 30 of precision: output_db" in one for one in warnings)
    assert any("less than the 99.0% of precision: agreement" in one for one in warnings)


# ---------------------------------------------------------------- while it goes on


def test_what_is_going_on_is_said_while_types_are_tried(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By every command that reads a design."""
    (tmp_path / "net.py").write_text(
        "from torch import nn\n\ndef make_net():\n    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())\n"
    )
    (tmp_path / "net.yaml").write_text(
        'name: net\nboard: zcu102\nmodel: {torch: "net.py:make_net"}\n'
        "input: {shape: [1, 6, 6], samples: random}\nprecision: auto\n"
    )
    said: list[str] = []

    @contextmanager
    def watched(_as_json: bool) -> Iterator[Any]:
        yield lambda text, *_: said.append(text)

    monkeypatch.setattr("hlsgen.cli.commands.working", watched)
    for command in ("check", "estimate", "explore"):
        said.clear()
        assert CliRunner().invoke(cli, [command, str(tmp_path / "net.yaml")]).exit_code == 0
        running, first, *_ = said[said.index("reading the design") + 1 :]
        assert running == "running the calibration frames in floating point"
        assert first == "choosing number types: trial 1, 40 dB for each tensor"


# ---------------------------------------------------------------- networks of other kinds


class Masked(nn.Module):  # type: ignore[misc, name-defined]
    """A comparison chooses between values; its zeros and ones have no noise of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3), nn.Conv2d(3, 8, 3)
        self.head = nn.Linear(800, 4)

    def forward(self, x: Any) -> Any:
        y, z = self.first(x), self.second(x)
        return self.head(torch.where(y > 0.25, 2 * y, z).flatten(1))


def test_a_network_with_masks_keeps_its_answer() -> None:
    torch.manual_seed(0)
    net = Masked().eval()
    design = hlsgen.from_torch(net, SHAPE, calibration=pictures(32, 1))
    decibels, agreement = judged(net, design, pictures(64, 2))
    assert decibels > 24 and agreement > 0.96  # what is next to the limit may fall on either side of it
    masks = [layer for layer in design.graph.layers if isinstance(layer, Steps)]
    assert masks and all(set(layer.values) <= {0.0, 1.0} for layer in masks)


def test_log_softmax_is_judged_as_regression_too() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 6), nn.LogSoftmax(1)
    ).eval()
    design = hlsgen.from_torch(net, SHAPE, calibration=pictures(32, 1))
    decibels, agreement = judged(net, design, pictures(64, 2))
    assert decibels > 27 and agreement > 0.96
