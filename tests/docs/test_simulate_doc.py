"""docs/simulate.md: its scenario does what the page says, and what it lists is there."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest
import yaml

from hlsgen.cli.simulate import POLICIES as CHOICES
from hlsgen.designfile.document import Document
from hlsgen.dispatch import figures, schema
from hlsgen.dispatch.policies import POLICIES
from hlsgen.dispatch.schema import ApplicationSection, CpuTimesFile, ScenarioFile
from hlsgen.partitioning.times import read_times
from tests.support.command_line import document as document_of
from tests.support.command_line import run, text, working_folder
from tests.support.documents import blocks, document, rows, ticked
from tests.support.places import ROOT

DOC = document("simulate.md")
SCENARIO, NETWORK, TIMES = blocks(DOC, "yaml")
SLIDES = ROOT / "designs/simulate"


def test_the_scenario_does_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    working_folder(tmp_path, monkeypatch)
    (tmp_path / "radar.yaml").write_text(SCENARIO)
    said = text("simulate", "radar.yaml")
    (shown,) = re.findall(r"`hlsgen simulate radar.yaml` ends with\n\n```\n(.*?)```", DOC, re.DOTALL)
    assert said.endswith(shown), said
    files = {name for row in rows(DOC) for name in ticked(row[0]) if "." in name and "/" not in name}
    assert files == {path.name for path in (tmp_path / "simulate/radar").iterdir()} - {".hlsgen"}
    found = document_of("simulate", "radar.yaml")
    assert "utilisation" in found and found["response_us"].keys() >= {"mean", "p50", "p95", "p99", "max"}


def test_every_key_of_a_scenario_is_shown() -> None:
    shown = yaml.safe_load(SCENARIO)
    prose = re.sub(r"^```.*?^```$", "", DOC, flags=re.MULTILINE | re.DOTALL)
    words = {word for one in ticked(prose) for word in re.findall(r"\w+", one)}
    assert set(ScenarioFile.model_fields) <= set(shown) | words
    known = {key for one in (*shown["applications"], *yaml.safe_load(NETWORK)) for key in one}
    assert set(ApplicationSection.model_fields) <= known
    CpuTimesFile.model_validate(yaml.safe_load(TIMES))


def test_the_policies_and_numbers_are_those_of_the_code() -> None:
    table = DOC.split("## The policies")[1]
    assert (
        tuple(ticked(row[0])[0] for row in rows(table) if ticked(row[0])[:1] and row[0] != "node")[:6]
        == POLICIES
    )
    assert CHOICES == POLICIES
    assert f"less than {figures.KEPT:.0%} of what arrives".replace("%", " %") in DOC
    assert f"{schema.MOST_RUNS:,} tasks of all instances" in DOC
    assert f"up to {schema.MOST_ELEMENTS}" in SCENARIO


def test_the_files_of_the_picture_are_right_and_their_table_complete() -> None:
    """The network itself takes PyTorch, and is read by the command below where that is installed."""
    scenario = Document.read(SLIDES / "slides.yaml").validate(ScenarioFile)
    assert scenario.applications[0].network == "resnet18.yaml"
    table = Document.read(SLIDES / "resnet18_cpu.yaml").validate(CpuTimesFile)
    assert table.microseconds["conv1"] > 1000
    for picture in re.findall(r"\(img/(.*?)\)", DOC):
        assert (ROOT / "docs/img" / picture).is_file()


@pytest.mark.parametrize("name", ["camera", "detector"])
def test_the_files_of_the_real_networks_are_right_and_their_tables_measured(name: str) -> None:
    scenario = Document.read(SLIDES / f"{name}.yaml").validate(ScenarioFile)
    (application,) = scenario.applications
    assert application.cpu_times is not None and application.network is not None
    times = read_times(SLIDES / application.cpu_times)
    assert times.machine in "AMD EPYC, 1 thread" and "AMD EPYC server" in DOC
    assert all(seconds > 0 for seconds in times.layers.values())
    assert (SLIDES / application.network).is_file()


@pytest.mark.networks
@pytest.mark.parametrize("name", ["camera", "detector"])
def test_the_rows_of_the_real_networks(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for needed in ("torch", "qkeras"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    working_folder(tmp_path, monkeypatch)
    (block,) = (one for one in DOC.split("```") if one.startswith("\nhlsgen") and "camera.yaml" in one)
    commands = block.replace("\\\n", " ").splitlines()
    (command,) = (one.split() for one in commands if f"{name}.yaml" in one)
    (tmp_path / "designs").symlink_to(ROOT / "designs")
    points = json.loads(run(*command[1:], "--json").stdout)["points"]
    lines = [line for line in DOC.splitlines() if line.startswith("|")]
    for node in {one["resources"] for one in points}:
        done = [one["completed_per_s"] for one in points if one["resources"] == node]
        cells = " | ".join(f"{one:,.0f}" if one > 1000 else f"{one:.1f}" for one in done)
        assert any(f"| {node} |" in line and line.endswith(f"| {cells} |") for line in lines), (node, cells)


@pytest.mark.networks
def test_the_command_of_the_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    working_folder(tmp_path, monkeypatch)
    words = ["--policy", "HEFT_RT", "--policy", "SIMPLE", "--instances", "50", "--rate", "20:2000:6"]
    nodes = ["--resources", "cpu=3", "--resources", "cpu=3,conv=2,fft=1,zip=1"]
    result = run("simulate", str(SLIDES / "slides.yaml"), *words, *nodes)
    assert result.exit_code == 0, result.output
    assert "24 simulations" in result.stdout
