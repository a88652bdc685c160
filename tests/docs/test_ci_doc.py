"""docs/ci.md: the pipelines' own commands run, and the container file has README's."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import hlsgen.base.errors as errors
from tests.support.command_line import run
from tests.support.documents import blocks, document, files, rows
from tests.support.places import ROOT

DOC = document("ci.md")
FILES = files(DOC)
WORKFLOW = yaml.safe_load(FILES[".github/workflows/kernel.yml"])
GITLAB = yaml.safe_load(FILES[".gitlab-ci.yml"])
INSTALL = "pip install './hlsgen[schedule]'"


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("ci")
    (place / "net.yaml").write_text(FILES["net.yaml"])
    (place / "keep.py").write_text(FILES["keep.py"])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("HLSGEN_NO_SCHEDULE", "1")
        yield place


def steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = WORKFLOW["jobs"]["build"]["steps"]
    return found


def commands() -> list[str]:
    return [step["run"] for step in steps() if "run" in step and "if" not in step]


@pytest.fixture(scope="module")
def built(folder: Path) -> Path:
    """The folder once the pipelines' build has run in it."""
    assert run(*shlex.split(commands()[1])[1:]).exit_code == 0
    return folder


def keep() -> subprocess.CompletedProcess[str]:
    words = shlex.split(next(one for one in commands() if "keep.py" in one))
    assert words[0] == "python"
    return subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True)


def test_both_pipelines_install_and_then_do_the_same() -> None:
    assert commands() == GITLAB["kernel"]["script"]
    assert commands()[0] == INSTALL
    # `on` is a truth value in YAML 1.1, as YAML's own loader reads it
    assert set(WORKFLOW[True]) == {"push", "pull_request"}


def test_the_pipelines_commands_run_and_leave_what_is_kept(built: Path) -> None:
    assert commands()[1] in blocks(DOC, "console")[0]
    uploaded = steps()[-1]["with"]["path"].split()
    reported = GITLAB["kernel"]["artifacts"]["reports"]["junit"]
    assert uploaded == [reported, *GITLAB["kernel"]["artifacts"]["paths"]]
    for path in (*uploaded, "build/net/report.md"):
        assert (built / path).exists(), path
    assert ET.parse(reported).getroot().get("failures") == "0"
    (summary,) = (step["run"] for step in steps() if "GITHUB_STEP_SUMMARY" in step.get("run", ""))
    assert summary.split()[1] == "build/net/report.md"


def test_kept_figures(built: Path) -> None:
    """New ones are written and end a pipeline; equal ones pass; a worse one fails, a better one is said."""
    first = keep()
    assert first.returncode == 1 and "look at it and commit it" in first.stderr
    kept = json.loads((built / "kept.json").read_text())
    assert (keep().returncode, keep().stdout) == (0, "")
    report = json.loads((built / "build/net/report.json").read_text())
    for kind, change, code in (
        ("frames_per_s", 1, 1),
        ("frames_per_s", -1, 0),
        ("lut", -1, 1),
        ("dsp", 1, 0),
        ("uram", -1, 1),
    ):
        (built / "kept.json").write_text(json.dumps({**kept, kind: kept[kind] + change}))
        found = keep()
        assert found.returncode == code, found.stderr
        assert found.stdout.startswith(("better", "WORSE")[code] + f": {kind} ")
    assert kept["frames_per_s"] == report["performance"]["frames_per_s"]


def test_estimate_has_the_figures_that_are_kept(built: Path) -> None:
    result = run(*shlex.split(blocks(DOC, "console")[1])[1:])
    found, kept = json.loads(result.stdout), json.loads((built / "build/net/report.json").read_text())
    assert found["performance"]["frames_per_s"] == kept["performance"]["frames_per_s"]
    assert {found["total"][kind] == kept["total"][kind] for kind in ("dsp", "bram18", "lut")} == {True}


def test_exit_codes_are_those_of_the_errors() -> None:
    listed = {row[0] for row in rows(DOC.split("## Exit codes")[1].split("##")[0])} - {"code"}
    classes = [one for one in vars(errors).values() if isinstance(one, type)]
    codes = {one.exit_code for one in classes if issubclass(one, errors.HlsgenError)}
    assert listed == {"0", "130", *map(str, codes)}


# ---- the container -----------------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    text = (ROOT / "docs/Containerfile").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines]


def test_the_container_runs_the_two_commands_of_the_readme() -> None:
    ran = [words for kind, words in instructions() if kind == "RUN"]
    readme = (ROOT / "README.md").read_text()
    commands = re.findall(r"^(make \w+) +#", readme, flags=re.MULTILINE)
    assert commands == ["make demo", "make test"]
    assert [one for one in ran if one.startswith("make ")] == commands
    assert "Python 3.11 or newer, g++ and make on the machine" in readme
    (apt,) = (one for one in ran if "apt-get install" in one)
    assert set(apt.split("--no-install-recommends ")[1].split(" && ")[0].split()) == {"g++", "make"}


def test_the_container_is_no_root_and_ends_with_the_command() -> None:
    kinds = [kind for kind, _ in instructions()]
    assert set(kinds) <= {"FROM", "RUN", "USER", "ENV", "WORKDIR", "COPY", "ENTRYPOINT", "CMD"}
    assert [words for kind, words in instructions() if kind == "USER"] == ["hlsgen"]
    assert (
        kinds.index("USER") < kinds.index("COPY") < [words for _, words in instructions()].index("make demo")
    )
    stages = [words for kind, words in instructions() if kind == "FROM"]
    assert [one.split(" AS ")[1] for one in stages] == ["demo", "test", "hlsgen"]
    assert stages[-1].startswith("demo "), "the tests are no part of what is shipped"
    assert instructions()[-2:] == [("ENTRYPOINT", '["hlsgen"]'), ("CMD", '["--help"]')]


def test_what_git_leaves_out_the_container_leaves_out() -> None:
    left = (ROOT / "docs/Containerfile.dockerignore").read_text().split()
    for name in (".venv", "build", "dist", ".hypothesis", ".git"):
        assert name in left
