"""Several kernels at a time, each in a process of its own; configurations and flags."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.base.errors import DesignError
from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.front_end import SourceError
from hlsgen.schedule.kernels import schedule_component, schedule_components
from hlsgen.schedule.results import KernelSchedule
from tests.support.schedule_ir import needs_llvm

TARGET = Target(part="xcu200-fsgd2104-2-e", clock_ns=5.0)
KERNEL = """void {name}(const int a[64], int b[64]) {{
#pragma HLS interface ap_memory port=a
#pragma HLS interface ap_memory port=b
    for (int i = 0; i < 60; ++i) {{
#pragma HLS pipeline II=1
        b[i] = {value};
    }}
}}
"""


def component(folder: Path, name: str, value: str = "a[i] + 1") -> Component:
    """A kernel in a file of its own."""
    path = folder / f"{name}.cpp"
    path.write_text(KERNEL.format(name=name, value=value), encoding="utf-8")
    return Component(top=name, files=(path,), target=TARGET)


def timeless(found: list[KernelSchedule]) -> list[KernelSchedule]:
    return [replace(one, seconds=0.0) for one in found]


@needs_llvm
def test_kernels_keep_their_order(tmp_path: Path) -> None:
    components = [
        component(tmp_path, "first", "a[i] + a[i + 1] + a[i + 2]"),
        component(tmp_path, "second"),
        component(tmp_path, "third", "a[i] + a[i + 1] + a[i + 2] + a[i + 3] + a[i + 4]"),
    ]
    told: list[tuple[str, int, int]] = []
    found = schedule_components(components, jobs=2, progress=lambda *one: told.append(one))
    assert [one.kernel for one in found] == ["first", "second", "third"]
    assert [one.loops[0].likely for one in found] == [2, 1, 3]
    assert told == [("compiling", 0, 3), *(("scheduling", done, 3) for done in (1, 2, 3))]
    assert timeless(found) == timeless([schedule_component(one) for one in components])


@needs_llvm
def test_parts_that_two_kernels_share(tmp_path: Path) -> None:
    """Solutions of a script may differ in what no schedule asks for."""
    same = component(tmp_path, "same")
    found = schedule_components([same, component(tmp_path, "other", "a[i] + a[i + 1]"), same], jobs=2)
    assert [one.kernel for one in found] == ["same", "other", "same"]
    assert timeless(found[:1]) == timeless(found[2:]) == timeless([schedule_component(same)])


@needs_llvm
def test_errors_come_out_of_their_process_whole(tmp_path: Path) -> None:
    wrong = component(tmp_path, "wrong", "undeclared")
    with pytest.raises(SourceError) as caught:
        schedule_components([component(tmp_path, "good"), wrong], jobs=1)
    (problem,) = caught.value.problems
    assert "undeclared" in problem.message
    assert problem.place is not None
    assert (Path(problem.place.file).name, problem.place.line) == ("wrong.cpp", 6)
    with pytest.raises(DesignError, match="define no function absent"):
        schedule_components([replace(component(tmp_path, "good"), top="absent")], jobs=1)


def test_errors_are_pickled_with_their_problems() -> None:
    with pytest.raises(DesignError) as caught:
        Target(part="nonsense", clock_ns=5.0, version="newest", uncertainty_ns=6.0)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.problems == caught.value.problems
    assert len(again.problems) == 3
    assert str(again) == str(caught.value)
    assert isinstance(pickle.loads(pickle.dumps(SourceError(again.problems))), SourceError)


@pytest.mark.parametrize("clock_ns", [0.0, -1.0, float("inf"), float("nan")])
def test_a_clock_is_a_time(clock_ns: float) -> None:
    with pytest.raises(DesignError, match="a clock of"):
        Target(part="xczu7ev", clock_ns=clock_ns)
