"""Every command and snippet of the pages in docs/ is run, here or by a page's own test, or says why not.

A page without a test of its own is run from top to bottom in a folder with its files: lines of ```console,
blocks of ```python in one namespace. A ```text block behind them holds lines of what was printed. Above one
"Exit code N." is what its last command ends with, and "Not run by the tests: why." leaves it out.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.command_line import run
from tests.support.documents import DOCS, document, files
from tests.support.places import ROOT

OWN = {
    "accuracy.md": "test_accuracy_doc.py",
    "adding-a-layer.md": "test_adding_a_layer.py",
    "asked-for.md": "test_asked_for_doc.py",
    "cedr.md": "test_cedr_doc.py",
    "ci.md": "test_ci_doc.py",
    "memory.md": "test_memory_doc.py",
    "networks.md": "test_networks_doc.py",
    "ompss.md": "test_ompss_doc.py",
    "partition.md": "test_partition_doc.py",
    "pipeline.md": "test_pipeline_doc.py",
    "profile.md": "test_profile_doc.py",
    "quantise.md": "test_quantise_doc.py",
    "simulate.md": "test_simulate_doc.py",
    "training.md": "test_training_doc.py",
}
"""Pages whose own test runs their blocks."""
NEEDS = {
    "start.md": ("torch",),
    "concepts.md": (),
    "explore.md": ("qkeras",),
    "from-hls4ml.md": ("qkeras", "torch"),
    "from-finn.md": ("onnx", "qonnx", "brevitas"),
}
"""Packages without which a page is skipped."""
NOT_RUN = re.compile(r"^Not run by the tests: (\S.{9,}\.)$")
EXIT = re.compile(r"^Exit code (\d)\.$")
SYNOPSIS = re.compile(r"\[-|\.\.\.")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block. above: the paragraph in front of it; line: where it begins, from 1."""

    language: str
    text: str
    above: str
    line: int

    @property
    def why_not(self) -> str | None:
        """The reason for which it is not run, if it is said."""
        found = NOT_RUN.match(self.above)
        return found.group(1) if found else None


def blocks_of(page: str) -> list[Block]:
    text = document(page)
    return [
        Block(
            one.group(1),
            one.group(2),
            text[: one.start()].rstrip().rsplit("\n\n", 1)[-1].rsplit("\n", 1)[-1],
            text[: one.start()].count("\n") + 1,
        )
        for one in FENCE.finditer(text)
    ]


def runs(page: str) -> bool:
    written = set(files(document(page)).values())
    return any(
        block.language == "console" or (block.language == "python" and block.text not in written)
        for block in blocks_of(page)
        if block.why_not is None
    )


PAGES = sorted(path.name for path in DOCS.glob("*.md") if path.name != "CHANGELOG.md")
HERE = [page for page in PAGES if page not in OWN and runs(page)]


@pytest.mark.parametrize("page", sorted(OWN))
def test_a_page_with_its_own_test_is_named_there(page: str) -> None:
    source = (ROOT / "tests/docs" / OWN[page]).read_text(encoding="utf-8")
    assert page in PAGES and page in source


@pytest.mark.parametrize("page", PAGES)
def test_no_command_hides_in_a_block_without_a_language(page: str) -> None:
    """Own tests look at plain blocks in their own ways; elsewhere a command is run, or says why not."""
    if page in OWN:
        return
    hidden = [
        f"docs/{page}:{block.line}: {line}"
        for block in blocks_of(page)
        if block.language in ("", "text", "sh", "bash", "py") and block.why_not is None
        for line in block.text.splitlines()
        if re.match(r"(\$ )?(hlsgen|make|pip|python) ", line) and not SYNOPSIS.search(line)
    ]
    assert not hidden, "make it a ```console block, or say why it is not run:\n" + "\n".join(hidden)


def packages(page: str) -> None:
    for name in NEEDS.get(page, ()):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed, which docs/{page} needs")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", HERE)
def test_the_blocks_of_a_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages(page)
    text = document(page)
    for name, content in files(text).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "designs").symlink_to(ROOT / "designs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("HLSGEN_NO_SCHEDULE", "1")
    before = set(sys.modules)
    try:
        follow(page, files(text))
    finally:
        for name in set(sys.modules) - before:
            if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


def follow(page: str, written: dict[str, str]) -> None:
    """Runs a page from top to bottom."""
    names: dict[str, object] = {"__name__": "__main__"}
    said = ""
    for block in blocks_of(page):
        place = f"docs/{page}:{block.line}"
        if block.why_not is not None or block.text in written.values():
            continue
        if block.language == "console":
            expected = EXIT.match(block.above)
            said = commands(block.text, int(expected.group(1)) if expected else 0, place)
        elif block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, place, "exec"), names)
            said = out.getvalue()
        elif block.language == "text":
            missing = [line for line in block.text.splitlines() if line.strip() not in said]
            assert not missing, f"{place} states what was not printed: {missing}\n{said}"


def commands(text: str, last: int, place: str) -> str:
    """Runs the lines; the last one ends with the exit code `last`, the others with 0."""
    said = ""
    lines = [shlex.split(line, comments=True) for line in text.replace("\\\n", " ").splitlines()]
    lines = [line for line in lines if line]
    for number, words in enumerate(lines):
        if words[0] == "hlsgen":
            result = run(*words[1:])
            code, output = result.exit_code, result.output
        elif words[0] == "make":
            done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
            code, output = done.returncode, done.stdout + done.stderr
        else:
            raise AssertionError(
                f"{place}: neither hlsgen nor make: {' '.join(words)}; say why it is not run"
            )
        assert code == (last if number == len(lines) - 1 else 0), f"{place}: {' '.join(words)}\n{output}"
        said += output
    return said


def test_a_block_that_is_not_run_says_why() -> None:
    block = Block("console", "hlsgen synth x\n", "Not run by the tests: it needs Vitis.", 1)
    assert block.why_not == "it needs Vitis."
    assert Block("console", "hlsgen synth x\n", "Not run by the tests.", 1).why_not is None
