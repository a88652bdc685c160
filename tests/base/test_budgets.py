"""Readers of strangers' text take time and memory in proportion to it, up to a limit that they name."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hlsgen.base.errors import DesignError
from hlsgen.designfile.document import Document
from hlsgen.designfile.tcl_commands import commands
from hlsgen.lint import lint_emitted
from hlsgen.schedule.tcl_script import read_script

Reader = Callable[[Path, str], object]


def tcl_words(_: Path, text: str) -> object:
    return list(commands(Path("x.tcl"), text, {}))


def script(folder: Path, text: str) -> object:
    path = folder / "x.tcl"
    path.write_text(f"open_project p\nset_top f\nadd_files f.cpp\nopen_solution s\n{text}\n")
    (folder / "f.cpp").write_text("void f() {}\n")
    return read_script(path)


def yaml_file(folder: Path, text: str) -> object:
    path = folder / "x.yaml"
    path.write_text(text)
    return Document.read(path).data


def lint(_: Path, text: str) -> object:
    return lint_emitted({"src/x.cpp": text})


INPUTS: dict[str, tuple[Reader, Callable[[int], str]]] = {
    "tcl words of one command": (tcl_words, lambda n: "puts " + "w " * n),
    "tcl commands": (tcl_words, lambda n: "a b\n" * (n // 2)),
    "tcl braces": (tcl_words, lambda n: "x {" * (n // 8) + "}" * (n // 8)),
    "blanks behind file join": (tcl_words, lambda n: "add [file join" + " " * n),
    "blanks and words behind file join": (tcl_words, lambda n: "add [file join" + " a" * n + "\n"),
    "brackets": (tcl_words, lambda n: "add " + "[file join " * (n // 8)),
    "blanks behind file normalize": (tcl_words, lambda n: "add [file normalize " + " " * n),
    "continued lines": (tcl_words, lambda n: "a \\\n" * n),
    "quotes": (tcl_words, lambda n: 'a "' + "\\x" * n + '"'),
    "directives": (script, lambda n: "set_directive_pipeline f/l\n" * min(n // 8, 2000)),
    "foreach": (script, lambda n: "foreach x {" + "a " * n + "} {set y $x}"),
    "yaml list": (yaml_file, lambda n: "layers: [" + "1, " * (n // 8) + "1]"),
    "yaml lines": (yaml_file, lambda n: "a:\n" + "  - b\n" * (n // 16)),
    "c++ statements": (lint, lambda n: "void f() {\n" + "int a;\n" * (n // 16) + "}\n"),
    "c++ pragmas": (lint, lambda n: "void f() {\n" + "#pragma HLS inline\n" * (n // 64) + "}\n"),
    "c++ blanks": (lint, lambda n: "#pragma HLS" + " " * n + "\n"),
}


def seconds(reader: Reader, folder: Path, text: str) -> float:
    begin = time.process_time()
    try:
        reader(folder, text)
    except DesignError as error:
        assert len(str(error)) < 10_000
    return time.process_time() - begin


@pytest.mark.parametrize("name", INPUTS)
def test_twice_the_input_takes_at_most_three_times_the_time(name: str, tmp_path: Path) -> None:
    reader, made = INPUTS[name]
    seconds(reader, tmp_path, made(100))  # what is compiled at the first call
    size = 4_000
    before = min(seconds(reader, tmp_path, made(size)) for _ in range(2))
    while size < 256_000:
        size *= 2
        after = min(seconds(reader, tmp_path, made(size)) for _ in range(2))
        assert after <= max(3 * before, 0.3), f"{size:,}: {before:.3f} s, then {after:.3f} s"
        before = after


def test_doublings_of_a_value_take_no_memory(tmp_path: Path) -> None:
    begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = 'set a "aaaaaaaaaaaaaaaa"\n' + 'set a "$a$a"\n' * 60
    script(tmp_path, text)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begin < 64 << 10


@pytest.mark.parametrize("name", ["DB_PWD", "MY_PGPASS", "HARMLESS"])
def test_no_value_of_the_environment_is_printed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from hlsgen.cli.commands import cli

    monkeypatch.setenv(name, "hunter2-of-nobody")
    (tmp_path / "f.cpp").write_text("int f() { return A; }\n")
    (tmp_path / "x.tcl").write_text(
        f'open_project p\nset_top f\nadd_files f.cpp -cflags "-DA=$::env({name})"\nopen_solution s\n'
        f"set_part $::env({name})\ncreate_clock -period $::env({name})\nset_top $::env({name})\n"
    )
    for more in ([], ["--json"]):
        done = CliRunner().invoke(cli, ["schedule", str(tmp_path / "x.tcl"), *more])
        assert done.exit_code in (1, 4) and "hunter2" not in done.output
        assert name in done.output


def test_paths_of_the_environment_are_obeyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_ROOT", str(tmp_path))
    monkeypatch.setenv("MY_PART", "xczu9eg-ffvb1156-2-e")
    (found,) = script(tmp_path, "set_part $::env(MY_PART)\nadd_files $::env(MY_ROOT)/f.cpp")  # type: ignore[misc]
    assert [value for _, value in found.values["part"]] == ["xczu9eg-ffvb1156-2-e"]
