"""Several kernels at a time, each in a process of its own; configurations and flags."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.base.errors import DesignError
from hlsgen.schedule.component import (
    Component,
    Target,
    amount,
    components_of_build,
    read_config,
    split_flags,
)
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
    assert [one.loops[0].interval for one in found] == [2, 1, 3]
    assert told == [("compiling", 0, 3), *(("scheduling", done, 3) for done in (1, 2, 3))]
    assert timeless(found) == timeless([schedule_component(one) for one in components])


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


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("300MHz", 10 / 3),
        ("0.3GHz", 10 / 3),
        ("3.33ns", 3.33),
        ("3.33", 3.33),
        (" 5 ns ", 5.0),
        ("1e1", 10.0),
        ("27%", 2.7),
        ("abc", None),
        ("", None),
        ("0MHz", None),
        ("1.2.3", None),
        ("5 s", None),
        ("-3ns", None),
    ],
)
def test_amounts(text: str, ns: float | None) -> None:
    assert amount(text, 10.0) == (None if ns is None else pytest.approx(ns))


CONFIG = """part=xczu7ev-ffvc1156-2-e
# syn.top=not_this
[hls]
clock = 200MHz
clock_uncertainty=10%
flow_target=vitis
syn.file=a.cpp
syn.file=src/b.cpp
tb.file=tb.cpp
syn.cflags=-Isrc -I include -DN=4 -DFAST -O3 -std=c++14 -fplugin=evil.so
syn.top=top
"""


def test_a_configuration_is_read(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cfg"
    path.write_text(CONFIG, encoding="utf-8")
    found = read_config(path)
    assert found is not None
    assert found.top == "top"
    assert found.files == (tmp_path / "a.cpp", tmp_path / "src" / "b.cpp")
    assert found.include_folders == (tmp_path / "src", tmp_path / "include")
    assert dict(found.defines) == {"N": "4", "FAST": "1"}
    assert found.flags == ("-std=c++14",)
    assert found.target == Target(part="xczu7ev-ffvc1156-2-e", clock_ns=5.0, uncertainty_ns=0.5)
    assert components_of_build(tmp_path) == [replace(found, folder=tmp_path)]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("clock = 200MHz", "clock = fast", "clock is 'fast'"),
        ("clock = 200MHz\n", "", "has no clock"),
        ("part=xczu7ev-ffvc1156-2-e\n", "", "has no part"),
        ("clock_uncertainty=10%", "clock_uncertainty=much", "clock_uncertainty is 'much'"),
        ("clock_uncertainty=10%", "clock_uncertainty=200%", "kept back"),
        ("part=xczu7ev-ffvc1156-2-e", "part=nonsense", "nothing is known of a part 'nonsense'"),
    ],
)
def test_a_wrong_configuration_is_named(tmp_path: Path, before: str, after: str, message: str) -> None:
    path = tmp_path / "kernel.cfg"
    path.write_text(CONFIG.replace(before, after), encoding="utf-8")
    with pytest.raises(DesignError) as caught:
        read_config(path)
    assert message in str(caught.value)
    assert caught.value.problems[0].fix


def test_other_configurations_are_of_no_kernel(tmp_path: Path) -> None:
    path = tmp_path / "link.cfg"
    path.write_text("[connectivity]\nnk=top:1:top_1\n", encoding="utf-8")
    assert read_config(path) is None
    with pytest.raises(DesignError, match="holds no configuration of a kernel"):
        components_of_build(tmp_path)


def test_flags_of_a_command_line(tmp_path: Path) -> None:
    includes, defines, flags = split_flags("-I'a b' -DX=1=2 -D Y -std=gnu++17 -Wall x.cpp", tmp_path)
    assert includes == (tmp_path / "a b",)
    assert defines == {"X": "1=2", "Y": "1"}
    assert flags == ("-std=gnu++17",)
