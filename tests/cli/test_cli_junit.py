"""--junit: what the file says of builds that end well and of those that do not, as an XML parser reads it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from hlsgen.base.errors import EmissionError, MismatchError, ToolError
from hlsgen.report.junit import Case, failed_case, junit_xml
from tests.support.command_line import document, run, working_folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return working_folder(tmp_path, monkeypatch)


def suite_of(path: Path) -> ET.Element:
    """The only suite, whose counts are those of its cases."""
    root = ET.parse(path).getroot()
    assert root.tag == "testsuites"
    (suite,) = root
    for tag, key in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert suite.get(key) == root.get(key) == str(len(suite.findall(f"testcase/{tag}")))
    assert suite.get("tests") == root.get("tests") == str(len(suite))
    return suite


def test_a_build_has_a_case_for_each_check(folder: Path) -> None:
    report = document("build", "small.yaml", "--frames", "2", "--junit", "checks.xml")
    suite = suite_of(folder / "checks.xml")
    name = report["design"]
    assert suite.get("name") == name
    cases = [(str(one.get("classname")).removeprefix(f"{name}."), one.get("name")) for one in suite]
    assert len(set(cases)) == len(cases)
    assert ("design", f"fits {report['board']}") in cases
    assert [one for kind, one in cases if kind == "csim"] == ["results"]
    assert [one for kind, one in cases if kind == "iterations"] == list(report["csim"]["iterations_measured"])
    assert sum(kind == "schedule" for kind, _ in cases) == max(1, len(report["schedule"].get("loops", [])))
    assert suite.get("failures") == suite.get("errors") == "0"


def test_a_network_has_a_case_for_each_layer(folder: Path) -> None:
    (folder / "net.yaml").write_text(
        "name: net\nboard: zcu102\nstyle: dataflow\nprecision: 'fixed<8,2>'\n"
        "input: {shape: [1, 8, 8], type: 'fixed<8,1>', samples: random}\nlayers:\n"
        "  - {name: conv1, kind: conv2d, out_channels: 2, kernel: 3, weights: {seed: 1}}\n"
        "  - {name: conv2, kind: conv2d, out_channels: 2, kernel: 3, weights: {seed: 2}}\n"
    )
    report = document("build", "net.yaml", "--frames", "2", "--no-schedule", "--junit", "checks.xml")
    suite = suite_of(folder / "checks.xml")
    named = {one.get("name"): str(one[0].text) for one in suite if one.get("classname") == "net.csim"}
    assert list(named) == [one["name"] for one in report["csim"]["layers"]] == ["conv1", "conv2"]
    for one in report["csim"]["layers"]:
        assert named[one["name"]].startswith(
            f"{one['compared']:,} of {one['compared']:,} results equal golden"
        )
    assert [one.get("name") for one in suite if one.get("classname") == "net.fifos"] == ["emitted depths"]


def test_what_is_left_out_is_skipped(folder: Path) -> None:
    result = run("build", "small.yaml", "--no-csim", "--no-schedule", "--junit", "checks.xml")
    assert result.exit_code == 0
    suite = suite_of(folder / "checks.xml")
    skipped = [
        one.get("classname", "").rpartition(".")[2] for one in suite if one.find("skipped") is not None
    ]
    assert skipped == ["csim", "judge", "schedule"]


def test_a_wrong_design_is_a_failure_with_all_its_mistakes(folder: Path) -> None:
    result = run("build", "wrong.yaml", "--junit", "checks.xml")
    assert result.exit_code == 1
    (case,) = suite_of(folder / "checks.xml")
    assert case.get("classname") == "wrong.design"
    failure = case.find("failure")
    assert failure is not None and failure.text is not None
    assert failure.text.strip() == result.stderr.strip()
    assert failure.get("message") == failure.text.splitlines()[0]


def test_a_missing_compiler_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert run("build", "small.yaml", "--junit", "checks.xml").exit_code == 4
    (case,) = suite_of(folder / "checks.xml")
    assert case.find("error") is not None
    assert "no-such-compiler" in str(case[0].text)
    assert not (folder / "build/small").exists()


@pytest.mark.parametrize("where", ["nowhere/checks.xml", "."])
def test_a_file_that_cannot_be_written_is_said_before_anything_is_built(folder: Path, where: str) -> None:
    result = run("build", "small.yaml", "--junit", where)
    assert result.exit_code == 4
    assert f"error: cannot write {Path(where)}: " in result.stderr
    assert "fix: another file with --junit" in result.stderr
    assert not (folder / "build").exists()


def test_kinds_of_errors() -> None:
    for error, kind, outcome in (
        (MismatchError("m"), "csim", "failed"),
        (EmissionError("e"), "emitted code", "failed"),
        (ToolError("t"), "tools", "error"),
    ):
        case = failed_case(error)
        assert (case.kind, case.outcome, case.text) == (kind, outcome, str(error))


def test_texts_that_xml_cannot_hold_still_parse(folder: Path) -> None:
    """A name from outside: markup is text, and what XML has no spelling for is replaced."""
    hostile = "a</testcase>&<x y=\"'>\x00\x1b[31m]]>\ud800"
    case = Case(kind="csim", name=hostile, text=hostile, outcome="failed")
    path = folder / "hostile.xml"
    path.write_text(junit_xml("net", [case]), encoding="utf-8")
    (found,) = suite_of(path)
    shown = hostile.replace("\x00", "\ufffd").replace("\x1b", "\ufffd").replace("\ud800", "\ufffd")
    assert found.get("name") == shown and found[0].text == shown
