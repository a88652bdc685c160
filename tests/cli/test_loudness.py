"""-v, -q and the log: what each shows, and that standard output stays as it is."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner

from hlsgen.base.errors import HlsgenWarning
from hlsgen.cli.commands import cli
from hlsgen.cli.loudness import quiet
from tests.support.small_design import DESIGN

STEP = re.compile(r"^\[ *\d+\.\d\d s\] .+$")


@pytest.fixture
def design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.yaml"
    path.write_text(DESIGN)
    return path


def ran(*words: str, code: int = 0) -> tuple[str, str]:
    """Standard output and standard error of a command."""
    found = CliRunner().invoke(cli, words)
    assert found.exit_code == code, found.output
    return found.stdout, found.stderr


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_every_command_has_both(command: str) -> None:
    options = [option for one in cli.commands[command].params for option in one.opts]
    for option in ("-v", "--verbose", "-q", "--quiet"):
        assert options.count(option) == 1
    _, error = ran(command, "-q", "-v", "--no-such-option", code=2)
    assert error
    assert not quiet(), "a command that did not begin leaves the next one as it was"
    assert not any(one[2] is HlsgenWarning for one in warnings.filters)


def test_verbose_shows_steps_with_their_times_and_commands(design: Path) -> None:
    plain = ran("csim", str(design), "--frames", "2")
    output, error = ran("csim", str(design), "--frames", "2", "--verbose")
    assert output.splitlines()[0].split("(")[0] == plain[0].splitlines()[0].split("(")[0]
    lines = [line for line in error.splitlines() if STEP.match(line)]
    said = "\n".join(lines)
    for step in ("reading the design", "choosing the hardware", "computing golden for 2 frames"):
        assert step in said
    assert re.search(r"running \S*(g\+\+|c\+\+|clang)", said) or "ended after" in said
    times = [float(line[1:9]) for line in lines]
    assert times == sorted(times)
    assert not STEP.search(plain[1])
    assert logging.getLogger("hlsgen").level == logging.NOTSET, "the next command is not verbose"
    assert [type(one) for one in logging.getLogger("hlsgen").handlers] == [logging.NullHandler]


def test_json_stays_one_document(design: Path) -> None:
    output, error = ran("estimate", str(design), "--json", "-v")
    assert json.loads(output) == json.loads(ran("estimate", str(design), "--json", "-q")[0])
    assert "reading the design" in error


def test_quiet_leaves_out_notes_and_warnings_but_no_error(design: Path) -> None:
    network = design.with_name("network.yaml")
    network.write_text(
        "name: net\nboard: zcu102\nstyle: dataflow\ninput: {shape: [1, 8, 8], type: 'fixed<8,1>'}\n"
        "layers:\n  - {name: conv1, kind: conv2d, out_channels: 2, kernel: 3, weights: {seed: 1}}\n"
    )
    output, error = ran("estimate", str(network))
    assert "note: number types were chosen from a stand-in" in error
    assert ran("estimate", str(network), "--quiet") == (output, "")
    assert "note:" in ran("estimate", str(network))[1], "the next command is not quiet"
    _, error = ran("estimate", "missing.yaml", "-q", code=1)
    assert error.startswith("error: ")
    _, error = ran("estimate", str(network), "-q", "-v", code=2)
    assert "contradict" in error
    assert "contradict" in ran("estimate", str(network), "-v", "-q", code=2)[1]


def test_the_library_prints_nothing_and_logs_all(design: Path) -> None:
    """In an own process: nobody has configured logging there; then with a handler."""
    code = (
        "import logging, hlsgen, sys\n"
        "if len(sys.argv) > 1: logging.basicConfig(level=logging.DEBUG, format='%(name)s %(message)s')\n"
        "design = hlsgen.load('small.yaml')\n"
        "project = design.build('built', frames=2, schedule=False)\n"
        "project.csim(design.outputs_of and __import__('numpy').zeros((1, *design.graph.inputs[0].shape)))\n"
    )
    silent = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (silent.stdout, silent.stderr) == ("", "")
    told = subprocess.run([sys.executable, "-c", code, "log"], capture_output=True, text=True, check=True)
    assert told.stdout == ""
    assert "hlsgen.steps computing golden for 2 frames" in told.stderr
    assert "hlsgen.commands running " in told.stderr
