"""docs/asked-for.md: its commands and snippets run, and show what the page says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import failure, run
from tests.support.documents import blocks, document, files
from tests.support.places import ROOT

pytest.importorskip("torch", reason="torch is not installed")

DOC = document("asked-for.md")
FILES = files(DOC)
COMMANDS = [line.split()[1:] for block in blocks(DOC, "console") for line in block.splitlines()]
SNIPPETS = [block for block in blocks(DOC, "python") if block not in FILES.values()]
MOST_UNROLLED = 4096
"""What the threads say that Vivado HLS unrolls at most."""


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("asked")
    (place / "tmp").mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text, encoding="utf-8")
    (place / "designs").symlink_to(ROOT / "designs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        yield place


def test_the_document_has_what_is_tested_here() -> None:
    assert list(FILES) == ["unsupported.py", "layers.yaml", "unet.py", "unet.yaml"]
    assert [command[:2] for command in COMMANDS] == [
        ["build", "designs/digits.yaml"],
        ["estimate", "designs/digits.yaml"],
        ["import", "unsupported.py:make_net"],
        ["estimate", "designs/digits.yaml"],
        ["estimate", "unet.yaml"],
    ]
    assert len(SNIPPETS) == 1


def test_every_question_names_its_threads() -> None:
    questions = DOC.split("\n## ")[1:]
    assert len(questions) == 6 and all(part.splitlines()[0].endswith("?") for part in questions)
    for part in questions:
        links = re.findall(
            r"\[([\w -]+)\]\(https://github\.com/([\w-]+/[\w-]+)/(?:issues|pull)/(\d+)\)", part
        )
        assert links
        assert all(text.split()[-1] == number for text, _, number in links), "a link's text names its thread"


def test_depths_of_fifos(folder: Path) -> None:
    result = run(*COMMANDS[0])
    assert result.exit_code == 0, result.output
    report = json.loads((folder / "digits" / "report.json").read_text())
    assert report["csim"]["verdict"] == "skipped"
    assert report["fifos"]
    for fifo in report["fifos"]:
        assert fifo["depth"] >= fifo["least_depth"] >= 1
    assert "deadlock below" in (folder / "digits" / "report.md").read_text()


def test_the_cost() -> None:
    result = run(*COMMANDS[1])
    assert result.exit_code == 0, result.output
    for word in ("DSP", "BRAM18", "URAM", "LUT", "FF", "frames/s", "as routed", "with a probability of"):
        assert word in result.output


def test_unsupported_layers() -> None:
    said = failure(1, *COMMANDS[2])
    (wanted,) = re.findall(r"^```\n(unsupported.*?)^```", DOC, re.MULTILINE | re.DOTALL)
    assert wanted in said + "\n"


def test_weights_at_run_time() -> None:
    with pytest.warns(UserWarning, match="random numbers"):
        exec(compile(SNIPPETS[0], "asked-for.md", "exec"), {})


def test_slrs() -> None:
    result = run(*COMMANDS[3])
    assert result.exit_code == 0, result.output
    for slr in ("SLR0", "SLR1", "SLR2"):
        assert slr in result.output


def test_a_unet() -> None:
    result = run(*COMMANDS[4], "--json")
    assert result.exit_code == 0, result.output
    layers = json.loads(result.stdout)["layers"]
    assert len(layers) >= 9
    assert 1 < max(layer["folding"].get("macs_per_cycle", 1) for layer in layers) < MOST_UNROLLED


def test_the_unet_has_the_threads_size() -> None:
    namespace: dict[str, object] = {}
    exec(compile(FILES["unet.py"], "unet.py", "exec"), namespace)
    net = namespace["make_net"]()  # type: ignore[operator]
    assert sum(one.numel() for one in net.parameters()) == pytest.approx(14_000, rel=0.25)
