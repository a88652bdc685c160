"""docs/ompss.md: its targets and variables are the Makefile's, its rules the lint's, its numbers are ours."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from hlsgen.base.type_text import parse_type
from hlsgen.lint import lint
from tests.support.build_folders import CASES, emitted, write_build
from tests.support.documents import assert_constants_are_as_stated, blocks, document, rows, ticked

TEXT = document("ompss.md")
PROSE = re.sub(r"^```.*?^```", "", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_constants() -> None:
    assert_constants_are_as_stated(TEXT)


def test_targets_and_variables() -> None:
    makefile = emitted(CASES["channels"].deployment())["ompss/Makefile"]
    (commands,) = blocks(TEXT, "console")
    targets = [
        word
        for line in commands.splitlines()
        if line.startswith("make ")
        for word in line.split("#")[0].split()
    ]
    for target in set(targets) - {"make"}:
        assert re.search(rf"\b{target}\b", makefile), target
    variables = [word for word in ticked(PROSE) if re.fullmatch("[A-Z][A-Z_]+", word)]
    assert len(variables) > 7
    for variable in set(variables) - {"NAME_LAYER"}:
        assert f"$({variable})" in makefile or f"ifdef {variable}" in makefile, variable


def test_argument_types() -> None:
    table = [row for row in rows(TEXT) if "`codes`" in row[0] or "`fixed`" in row[0] or "ARGUMENTS" in row[0]]
    head, codes, fixed = table
    for own, plain, whole in zip(head[1:4], codes[1:4], fixed[1:4], strict=True):
        type_ = parse_type(own.strip("`"))
        bits, integer = re.findall(r"-?\d+", whole)
        assert int(bits) == type_.dtype.itemsize * 8
        assert int(bits) - int(integer) == type_.fraction  # type: ignore[union-attr]
        assert ("unsigned" in plain) == ("ap_ufixed" in whole) == own.startswith("`u")


def test_the_lint_has_the_rules(tmp_path: Path) -> None:
    source = write_build("int8", tmp_path / "build") / "ompss" / "conv_tasks.cpp"
    source.write_text(source.read_text().replace("num_instances(conv_task::INSTANCES)", "num_instances(0)"))
    linted = lint([str(source)], lambda path: Path(path).read_bytes() if Path(path).is_file() else None)
    (found,) = [one for one in linted.findings if one.rule.name == "ompss-task"]
    assert (found.place.line, found.place.column) == (13, 31)
    assert "Expected this to evaulate to a constant" in found.message


def test_the_help_names_every_target(tmp_path: Path) -> None:
    makefile = emitted(CASES["int8"].deployment())["ompss/Makefile"]
    (tmp_path / "Makefile").write_text(makefile)
    done = subprocess.run(["make", "-C", tmp_path, "help"], capture_output=True, text=True, check=True)
    for target in ("sequential", "openmp", "program-p", "design-p", "bitstream-p", "clean"):
        assert f"\n  {target}" in done.stdout
