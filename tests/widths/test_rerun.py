"""Networks that are run from their first difference on give what whole runs give, from less work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hlsgen
from hlsgen.base.progress import silent
from hlsgen.layers.conv2d import Conv2d
from hlsgen.loading.from_graph import calibrated
from hlsgen.quantising.value_ranges import ValueRanges
from hlsgen.widths import rerun, sensitivity
from hlsgen.widths.rerun import Rerun, answers_of
from hlsgen.widths.tensors import Typing, variables

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn


class Branches(nn.Module):  # type: ignore[misc, name-defined]
    """A residual block, a pool and two outputs, so that tensors are read late and by several layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3, padding=1)
        self.second = nn.Conv2d(4, 4, 3, padding=1)
        self.last = nn.Conv2d(4, 3, 1)
        self.fc = nn.Linear(16, 3)

    def forward(self, x: Any) -> Any:
        a = torch.relu(self.first(x))
        b = torch.relu(self.second(a) + a)
        c = torch.max_pool2d(b, 2)
        return self.last(c), self.fc(c.flatten(1)[:, :16])


@pytest.fixture(scope="module")
def frames() -> Any:
    return np.random.default_rng(5).normal(0, 1, (12, 2, 4, 4))


@pytest.fixture(scope="module")
def typing(frames: Any) -> Typing:
    torch.manual_seed(1)
    design = hlsgen.from_torch(Branches().eval(), (2, 4, 4), calibration=frames, precision=8)
    run = calibrated(design.given)  # type: ignore[arg-type]
    precision = design.given.precision  # type: ignore[attr-defined]
    return Typing(
        reference=run.graph, own=precision, ranges=ValueRanges(run, precision.headroom), any_weights=()
    )


@settings(max_examples=12, deadline=None)
@given(at=st.integers(0, 20), bits=st.sampled_from((2, 5, 9, 16)))
def test_answers_are_those_of_whole_runs(typing: Typing, frames: Any, at: int, bits: int) -> None:
    known = variables(typing)
    values = {typing.reference.inputs[0].name: frames}
    held = Rerun(typing.graph(typing.precision({})), values)
    one = known[at % len(known)]
    graph = typing.graph(typing.precision({one: bits}))
    for got, wanted in zip(held.answers_of(graph), answers_of(graph, values), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_only_what_follows_is_run(typing: Typing, frames: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {typing.reference.inputs[0].name: frames}
    held = Rerun(typing.graph(typing.precision({})), values)
    ran: list[str] = []
    whole = Conv2d.golden

    def golden(self: Conv2d, *codes: Any, **more: Any) -> Any:
        ran.append(self.name)
        return whole(self, *codes, **more)

    monkeypatch.setattr(Conv2d, "golden", golden)
    known = {str(one): one for one in variables(typing)}
    held.answers_of(typing.graph(typing.precision({known["last weights"]: 3})))
    held.answers_of(typing.graph(typing.precision({})))
    assert ran == ["last"]
    held.answers_of(typing.graph(typing.precision({known["second"]: 3})))
    assert ran == ["last", "second", "last", "fc"]


def test_frames_in_parts(typing: Typing, frames: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {typing.reference.inputs[0].name: frames}
    whole = answers_of(typing.reference, values)
    monkeypatch.setattr(rerun, "MOST_ELEMENTS", 64 * 5)
    for got, wanted in zip(answers_of(typing.reference, values), whole, strict=True):
        np.testing.assert_array_equal(got, wanted)


def noise_of(typing: Typing, frames: Any, widths: Sequence[int]) -> Any:
    values = {typing.reference.inputs[0].name: frames}
    wanted = answers_of(typing.reference, values)
    return sensitivity.sensitivity(typing, values, wanted, variables(typing), widths, silent)


def test_a_large_network_is_measured_where_it_matters(
    typing: Typing, frames: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fewer frames and the law of rounding for wide types, no noise is far from what is measured."""
    widths = (2, 3, 4, 5, 6, 7, 8, 10)
    whole = noise_of(typing, frames, widths)
    monkeypatch.setattr(sensitivity, "MOST_MACS", 0)
    runs: list[object] = []
    graph = Typing.graph
    monkeypatch.setattr(Typing, "graph", lambda self, one: runs.append(one) or graph(self, one))
    few = noise_of(typing, frames, widths)
    assert len(runs) < 1 + 0.9 * len(widths) * len(whole)
    for one, noise in whole.items():
        loud = noise > 1e-5  # 50 dB: less is chance, and no budget tells it apart
        assert (few[one][loud] < 8 * noise[loud]).all() and (noise[loud] < 8 * few[one][loud]).all()
