"""report.json that is read again: the same figures as were written, damage that is named, `hlsgen report`."""

from __future__ import annotations

import base64
import copy
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hlsgen.base.errors import DesignError
from hlsgen.report import reading
from hlsgen.report.reading import checked_report
from tests.support.command_line import document, failure, text, working_folder
from tests.support.report_builds import KINDS, content

LEFT_OUT = re.compile(
    "style|interface|memory|ompss|banks|memories|joints|fifos|timing|quantisation|quality|explored|"
    "foldings_tried|weights|kernel|stage_interval_cycles|kernel_interval_cycles|ddr_cycles|ddr_bytes|binds|"
    "cells|px|rows|multipliers|fabric_pe|order|algorithm|arithmetic|chain|in_lanes|out_lanes|least_depth|"
    "smallest_depth|streamed_layers|chosen|kind|"
    "judge|by|frames|read_frames|layers|outputs|ties|snr_db|agreement|snr_db_by_frame|variation_db|given_frames|"
    "ranges|schedule|why|tool_version|instructions|loops|cells|trips|reasons|warnings|errors_measured|depths"
)
"""Keys that not every style or layer has, so that a report without them may be whole."""
CONTRADICTED = {"fifos", "chosen"}
"""Those of them that other parts of a report may refer to."""
BY_NAME = {"binades", "blocked_by", "by_slr", "headroom", "starved_by", "used", "utilisation"}
"""Mappings whose keys are names."""


def page_of(folder: Path) -> str:
    return (folder / "report.html").read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_is_what_was_written(kind: str, builds: Callable[[str], Path]) -> None:
    """Every key, in its order: a report that is read and written again has the same bytes."""
    written = (builds(kind) / "report.json").read_text()
    assert json.dumps(checked_report(json.loads(written)).as_json(), indent=2) + "\n" == written


def mappings(value: Any, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The ways to the mappings of a document, in lists to those of the first and of the last entry."""
    if isinstance(value, dict):
        yield way
        for key, item in value.items():
            yield from mappings(item, (*way, key))
    elif isinstance(value, list):
        for index in sorted({0, len(value) - 1} if value else ()):
            yield from mappings(value[index], (*way, index))


def at(document: Any, way: tuple[str | int, ...]) -> Any:
    for step in way:
        document = document[step]
    return document


@pytest.mark.parametrize("kind", ["layer", "best", "tasks"])
def test_a_key_that_is_missing_is_named(kind: str, builds: Callable[[str], Path]) -> None:
    """A report without it is refused with its place, or may be that of a design that has no such thing."""
    report = content(builds(kind))
    named = 0
    for way in mappings(report):
        for key in list(at(report, way)):
            changed = copy.deepcopy(report)
            del at(changed, way)[key]
            try:
                checked_report(changed)
            except DesignError as error:
                (problem,) = error.problems
                said = f"`{'.'.join(map(str, (*way, key)))}` is missing"
                assert said in problem.message or key in CONTRADICTED, problem.message
                named += 1
            else:
                assert LEFT_OUT.fullmatch(key) or {*way[-1:]} & BY_NAME, (way, key)
    assert named > 80


def without(*way: str | int) -> Callable[[dict[str, Any]], None]:
    def change(report: dict[str, Any]) -> None:
        place: Any = report
        for step in way[:-1]:
            place = place[step]
        del place[way[-1]]

    return change


def with_value(value: object, *way: str | int) -> Callable[[dict[str, Any]], None]:
    def change(report: dict[str, Any]) -> None:
        place: Any = report
        for step in way[:-1]:
            place = place[step]
        place[way[-1]] = value

    return change


def with_edge(source: str, to: str, *fifos: str) -> Callable[[dict[str, Any]], None]:
    def change(report: dict[str, Any]) -> None:
        report["graph"]["edges"].append({"from": source, "to": to, "fifos": list(fifos)})

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without("design"), "`design` is missing"),
        (without("layers", 0, "dsp"), "`layers.0.dsp` is missing"),
        (with_value([], "layers"), "`layers` must be a list of 1 to"),
        (with_value("many", "total", "dsp"), "`total.dsp` must be a whole number"),
        (with_value(-1, "total", "dsp"), "`total.dsp` must be a whole number"),
        (with_value(10**40, "total", "lut"), "`total.lut` must be a whole number"),
        (with_value(float("nan"), "performance", "gops"), "`performance.gops` must be a number"),
        (with_value(float("inf"), "roofline", "ddr_gb_per_s"), "`roofline.ddr_gb_per_s` must be"),
        (with_value(0, "clock_mhz"), "`clock_mhz` must be a number"),
        (with_value("a\nb", "layers", 0, "name"), "must be one line"),
        (with_value("x" * 5000, "layers", 0, "name"), "must be one line"),
        (with_value("good", "csim", "verdict"), "`csim.verdict` must be equal or differs or skipped"),
        (with_value([1], "layers", 0, "folding", "px"), "must be a whole number"),
        (with_edge("pool", "conv1"), "`graph` has an edge to conv1 from what is no input"),
        (with_edge("conv1", "conv1"), "`graph` has an edge to conv1"),
        (with_edge("x", "nowhere"), "`graph` names layers that are not there"),
        (with_edge("x", "conv1", "none_s"), "`graph` names streams that are not there"),
        (with_value("conv1", "layers", 1, "name"), "`layers` has the name conv1 twice"),
    ],
)
def test_a_damaged_report_is_refused(
    change: Callable[[dict[str, Any]], None], said: str, builds: Callable[[str], Path]
) -> None:
    report = content(builds("dataflow"))
    change(report)
    with pytest.raises(DesignError) as caught:
        checked_report(report)
    (problem,) = caught.value.problems
    assert problem.message.startswith("report.json is damaged: ")
    assert said in problem.message
    assert problem.fix == "build the design again with this hlsgen"


# ---------------------------------------------------------------- hlsgen report


def test_a_build_reads_nothing_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> object:
        raise AssertionError(f"{folder} is read again")

    working_folder(tmp_path, monkeypatch)
    monkeypatch.setattr(reading, "build_json", refuse)
    text("build", "small.yaml", "--no-csim")
    data = re.findall('base64,([^"]*)', page_of(Path("build/small")))
    assert [base64.b64decode(one) for one in data] == [Path("build/small/banks.svg").read_bytes()]


def test_the_command_makes_the_page_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    working_folder(tmp_path, monkeypatch)
    text("build", "small.yaml", "--no-csim")
    page = Path("build/small/report.html")
    first = page.read_bytes()
    page.unlink()
    assert text("report", "build/small") == "wrote build/small/report.html\n"
    assert page.read_bytes() == first
    assert document("report", "build/small", "-o", "a page.html") == {
        "build": "build/small",
        "page": "a page.html",
    }
    assert Path("a page.html").read_bytes() == first
    assert page.stat().st_mode & 0o777 == 0o644


def test_the_command_opens_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    working_folder(tmp_path, monkeypatch)
    text("build", "small.yaml", "--no-csim")
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    text("report", "build/small", "--open")
    assert opened == [(tmp_path / "build/small/report.html").as_uri()]


def test_a_link_in_a_build_folder_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    working_folder(tmp_path, monkeypatch)
    text("build", "small.yaml", "--no-csim")
    Path("mine.txt").write_text("years of work")
    Path("build/small/report.html").unlink()
    Path("build/small/report.html").symlink_to(tmp_path / "mine.txt")
    text("report", "build/small")
    assert Path("mine.txt").read_text() == "years of work"
    assert page_of(Path("build/small")).startswith("<!DOCTYPE html>")


def test_what_the_command_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    working_folder(tmp_path, monkeypatch)
    text("build", "small.yaml", "--no-csim")
    assert "nowhere is no folder" in failure(1, "report", "nowhere")
    assert "tmp holds no report.json" in failure(1, "report", "tmp")
    assert "error: cannot write no/page.html" in failure(4, "report", "build/small", "-o", "no/page.html")
    before = page_of(Path("build/small"))
    report = content(Path("build/small"))
    del report["slrs"]
    Path("build/small/report.json").write_text(json.dumps(report))
    said = failure(1, "report", "build/small")
    assert "build/small/report.json is damaged: `slrs` is missing" in said
    Path("build/small/report.json").write_text("[" * 100_000)
    assert "is no JSON" in failure(1, "report", "build/small")
    Path("build/small/report.json").write_bytes(b"\xff\xfe")
    assert "is no text" in failure(1, "report", "build/small")
    assert page_of(Path("build/small")) == before
    assert [name for name in os.listdir("build/small") if name.startswith(".")] == [".hlsgen"]
