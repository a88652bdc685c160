"""The wheel and the source distribution: what they carry, what they say, and that the wheel works."""

from __future__ import annotations

import email
import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from tests.support.places import ROOT
from tests.support.small_design import DESIGN

for needed in ("hatchling", "hatch_fancy_pypi_readme"):
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both."""
    place = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(place)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return place


@pytest.fixture(scope="module")
def wheel(made: Path) -> zipfile.ZipFile:
    (path,) = made.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith("dist-info/METADATA"))
    return email.message_from_bytes(wheel.read(name))


def sources(folder: str) -> set[str]:
    """The files of a folder that are not made by running."""
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_carries_the_package_templates_and_boards(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    wanted = sources("hlsgen") | {
        f"hlsgen/data/{one}" for folder in ("templates", "boards") for one in sources(folder)
    }
    assert wanted <= names, sorted(wanted - names)[:5]
    others = {name for name in names - wanted if ".dist-info/" not in name}
    assert not others, "nothing else goes into a user's environment"


def test_the_source_distribution_builds_and_tests(made: Path) -> None:
    (path,) = made.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("hlsgen", "templates", "boards", "designs", "tests", "docs", "benchmarks"):
        missing = sources(folder) - names
        assert not missing, sorted(missing)[:5]
    assert {"pyproject.toml", "README.md", "LICENSE", "Makefile", "mkdocs.yml"} <= names


def test_the_page_on_an_index_leads_nowhere_wrong(metadata: Message) -> None:
    page = metadata.get_payload()
    assert isinstance(page, str)
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert re.findall(r"\]\((?!https?:)[^)]*\)", page) == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"\]\((?!https?:)[^)]*\)", readme)) > 10, "there is something to leave out"
    # a link's words stay where they were
    assert "or your own." in page and "[your own](docs/boards.md)" in readme
    assert page.count("```") == readme.count("```")


def test_the_metadata_say_for_whom_it_is(metadata: Message) -> None:
    assert metadata["Name"] == "hlsgen" and metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    classifiers = metadata.get_all("Classifier") or []
    assert "Topic :: Scientific/Engineering :: Electronic Design Automation (EDA)" in classifiers
    assert not any(one.startswith("License ::") for one in classifiers), (
        "an index refuses it beside an expression"
    )
    assert {"torch", "qkeras", "onnx", "cluster", "schedule"} <= set(metadata.get_all("Provides-Extra") or [])
    assert "FPGA" in metadata["Keywords"]


def test_what_is_in_the_wheel_builds_a_design(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """Its own templates and boards, from a folder that has nothing of the repository."""
    wheel.extractall(tmp_path / "site")
    (tmp_path / "small.yaml").write_text(DESIGN)
    script = (
        "import hlsgen, sys; assert hlsgen.__file__.startswith(sys.argv.pop(1)), hlsgen.__file__; "
        "from hlsgen.cli import main; main()"
    )
    words = [str(tmp_path / "site"), "build", "small.yaml", "--frames", "1", "--no-schedule"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    ran = subprocess.run(
        [sys.executable, "-c", script, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert "results equal golden bit for bit" in ran.stdout
    assert (tmp_path / "build/small/report.json").exists()
