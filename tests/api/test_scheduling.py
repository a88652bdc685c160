"""A build schedules what it emits: reports say it, loops that miss end it, equal code is scheduled once."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hlsgen
from hlsgen.api import scheduling
from hlsgen.api.project import Project, build
from hlsgen.base.errors import EmissionError, ToolError
from hlsgen.report.reading import read_report
from hlsgen.schedule import kernels
from hlsgen.schedule.kept_parts import FILE, read_kept_parts
from hlsgen.schedule.own_processes import OwnProcesses
from tests.support.command_line import document, run, text, working_folder
from tests.support.schedule_ir import needs_llvm
from tests.support.small_design import DESIGN

Emitted = dict[str, str | bytes]


@pytest.fixture(autouse=True)
def scheduled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(scheduling.VARIABLE, raising=False)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("scheduled")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(scheduling.VARIABLE)
        yield built(folder, folder / "build")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tasks each call has that starts processes: kernels, then their parts."""
    counts: list[int] = []
    start = OwnProcesses.run

    def counting(self: OwnProcesses, task: Any, items: Any, *given: Any, **named: Any) -> Any:
        counts.append(len(items))
        return start(self, task, items, *given, **named)

    monkeypatch.setattr(OwnProcesses, "run", counting)
    return counts


def built(folder: Path, target: Path, design: str = DESIGN, **asked: bool) -> Project:
    path = folder / "small.yaml"
    path.write_text(design)
    return build(hlsgen.load(path), target, csim=False, **asked)


def emitting(monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str]) -> None:
    """Has builds of a layer emit its kernel with a change."""
    style = type(hlsgen.load(Path("small.yaml")).style)
    plan = style.plan

    def changed(self: Any, *given: Any) -> Emitted:
        files: Emitted = dict(plan(self, *given))
        files["src/conv1.h"] = change(str(files["src/conv1.h"]))
        return files

    monkeypatch.setattr(style, "plan", changed)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = working_folder(tmp_path, monkeypatch)
    (folder / "small.yaml").write_text(DESIGN)
    return folder


@needs_llvm
def test_the_report_has_every_pipelined_loop_of_the_emitted_files(project: Project) -> None:
    found = project.report["schedule"]
    loops = {loop["place"] for loop in found["loops"]}
    asked = [
        (f"src/{path.name}", number)
        for path in (project.folder / "src").iterdir()
        if path.is_file()
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if "#pragma HLS pipeline" in line
    ]
    assert len(asked) >= 6
    for file, line in asked:  # in the line behind its loop's head, or a few below
        assert any(f"{file}:{line - back}" in loops for back in (1, 2, 3)), (file, line)
    assert {loop["ii"] for loop in found["loops"]} == {1}
    assert {loop["known"] for loop in found["loops"]} <= {"shown", "likely"}
    assert found["verdict"] == "met"
    assert found["budget_ns"] == pytest.approx(5 * 0.73)
    assert all(0 < loop["chain_ns_estimated"] <= found["budget_ns"] for loop in found["loops"])


@needs_llvm
def test_the_texts_say_what_the_report_says(project: Project) -> None:
    found = project.report["schedule"]
    said = (project.folder / "report.md").read_text()
    page = (project.folder / "report.html").read_text()
    assert f"## Schedule\n\nII 1 in {len(found['loops'])} of {len(found['loops'])} loops" in said
    assert "| II | 1, likely |" in said
    assert 'id="schedule"' in page
    assert f"{len(found['loops'])} of {len(found['loops'])} loops" in page
    for loop in found["loops"]:
        name = f"{loop['label']} {loop['place'].rpartition('/')[2]}".strip()
        assert f"| {name} |" in said
        assert f"<td>{name}</td>" in page or f">{name}<" in page
    (cells,) = found["cells"]
    assert cells["modelled_lut"] == project.report["total"]["lut"]
    assert cells["routed_lut_low"] < cells["routed_lut_estimated"] < cells["routed_lut_high"]
    assert f"| small | {cells['csynth_lut_estimated']:,} | {cells['csynth_ff_estimated']:,} |" in said
    assert f"{cells['routed_lut_estimated']:,} ({cells['routed_lut_low']:,} to" in page
    assert read_report(project.folder).as_json() == project.report


@needs_llvm
def test_the_command_says_it_and_keeps_it(project: Project, here: Path, compiled: list[int]) -> None:
    """With the same bytes wherever it is; and equal code is scheduled once."""
    said = text("build", "small.yaml", "--no-csim", "-o", "out")
    assert re.search(r"schedule: II 1 in \d+ of \d+ loops \(\d+ shown, \d+ likely\); longest chain", said)
    assert compiled == [1, len(read_kept_parts(here / "out"))]
    assert compiled[1] > 2
    shown = document("schedule", "out")
    assert compiled[2:] == [1, 0]  # its parts are those of the build
    places = {loop["place"] for one in shown["kernels"] for loop in one["loops"]}
    report = json.loads((here / "out" / "report.json").read_text())
    assert places == {loop["place"] for loop in report["schedule"]["loops"]}
    assert str(here) not in (here / "out" / FILE).read_text()
    files = {name: (project.folder / name).read_bytes() for name in (FILE, "report.json")}
    assert {name: (here / "out" / name).read_bytes() for name in files} == files
    built(here, here / "out")
    assert compiled[4:] == [1, 0]
    assert {name: (here / "out" / name).read_bytes() for name in files} == files


@needs_llvm
def test_other_clocks_and_other_code_are_scheduled_anew(
    project: Project, here: Path, compiled: list[int]
) -> None:
    """And chains beyond a clock faster than the board's are warnings."""
    shutil.copytree(project.folder, here / "out")
    parts = len(read_kept_parts(here / "out"))
    found = built(here, here / "out", DESIGN + "clock_mhz: 400\n").figures.schedule
    assert compiled == [1, parts]
    assert found is not None
    assert found.warnings
    # 0.73 of 2.5 ns
    assert any(
        re.search(r"a chain of [\d.]+ ns where the clock leaves 1\.8[23]", one) for one in found.warnings
    )
    assert found.warnings[0] in (here / "out" / "report.md").read_text()
    built(here, here / "out", DESIGN.replace("[2, 8, 8]", "[2, 8, 9]"))
    assert 0 < compiled[3] <= parts
    assert len(read_kept_parts(here / "out")) == parts  # what no kernel needs any more is forgotten


@needs_llvm
@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"a": 3}', b"\xff\xfe", b'{"a": {"loops": [{}]}}'])
def test_damaged_files_are_made_again(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / FILE).write_bytes(damage)
    assert read_kept_parts(tmp_path) == {}


@needs_llvm
def test_a_loop_that_misses_its_ii_ends_the_build(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the sum that the iteration before has written, not one of many iterations ago
    promise = re.compile(r"(dependence variable=partial inter RAW distance=)\d+")
    emitting(monkeypatch, lambda code: promise.sub(r"\g<1>1", code))
    result = run("build", "small.yaml", "--no-csim", "-o", "out")
    assert result.exit_code == EmissionError.exit_code == 5
    said = result.stderr
    assert "loops that its schedule refuses" in said
    assert re.search(r"conv1\.h:\d+: II \d+ where 1 is asked for: ", said)
    assert not (here / "out").exists()
    assert "This is a bug of hlsgen, not of the design" in said
    assert "--no-schedule" in said
    assert "schedule: skipped: it was not asked for" in text(
        "build", "small.yaml", "--no-csim", "--no-schedule", "-o", "out"
    )


@pytest.mark.parametrize("how", ["asked", "variable", "package", "both"])
def test_why_it_is_skipped(here: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    if how == "variable":
        monkeypatch.setenv(scheduling.VARIABLE, "1")
    if how in ("package", "both"):
        names = ("absent_clang", "absent_llvm") if how == "both" else ("json", "absent_llvm")
        monkeypatch.setattr(scheduling, "PACKAGES", names)
    project = built(here, here / "out", schedule=how != "asked")
    reason = {
        "asked": "it was not asked for",
        "variable": "HLSGEN_NO_SCHEDULE is set",
        "package": "absent_llvm is not installed (pip install 'hlsgen[schedule]')",
        "both": "absent_clang and absent_llvm are not installed (pip install 'hlsgen[schedule]')",
    }[how]
    assert project.report["schedule"] == {"verdict": "skipped", "why": reason}
    said = (here / "out" / "report.md").read_text()
    assert f"Skipped: {reason}." in said
    assert "| II | 1, modelled: the code was not scheduled |" in said
    assert not (here / "out" / FILE).exists()
    assert read_report(here / "out").as_json() == project.report


@needs_llvm
def test_a_compiler_that_fails_costs_no_build(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise ToolError("error: LLVM failed on small\nfix: another release")

    monkeypatch.setattr(kernels, "schedule_build", failing)
    found = built(here, here / "out").report["schedule"]
    assert found["verdict"] == "skipped"
    assert found["why"].endswith("LLVM failed on small")


def test_builds_of_before_there_was_a_schedule_are_read(project: Project, here: Path) -> None:
    content = {key: value for key, value in project.report.items() if key != "schedule"}
    (here / "report.json").write_text(json.dumps(content))
    assert read_report(here).schedule is None


def test_a_process_that_is_too_large_is_a_warning(
    project: Project, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its loops are missing, which no silence may say; it is no fault of the emitted code."""

    def one_left_out(*given: Any, **asked: Any) -> Any:
        found, kept = schedule_build(*given, **asked)
        return [replace(one, too_large=("conv1: some 2,000,000 instructions",)) for one in found], kept

    schedule_build = kernels.schedule_build
    monkeypatch.setattr(kernels, "schedule_build", one_left_out)
    shutil.copytree(project.folder, here / "out")  # whose parts are not scheduled again
    found = document("build", "small.yaml", "--no-csim", "-o", "out")
    assert "conv1: some 2,000,000 instructions" in json.dumps(found)
