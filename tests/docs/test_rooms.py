"""The rooms of docs/architecture.md: each is there, and none imports one above it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import hlsgen
from tests.support.documents import DOCS

PACKAGE = Path(hlsgen.__file__).parent
LOOSE = {"__init__.py", "__main__.py", "py.typed"}


def rooms() -> list[str]:
    """From top to bottom, as the page lists them."""
    block = re.search(r"```\n(cli/.*?)```", (DOCS / "architecture.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    return re.findall(r"^([a-z]+)/", block[1], re.MULTILINE)


def imported(source: str) -> Iterator[tuple[int, str]]:
    """Lines and the rooms of hlsgen that they import, wherever in the file they stand."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            whole = node.module == "hlsgen"
            names = [f"hlsgen.{one.name}" for one in node.names] if whole else [node.module]
        elif isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            if package == "hlsgen":
                yield node.lineno, rest.partition(".")[0]


def arrows_upwards(room: str, source: str, order: list[str]) -> list[tuple[int, str]]:
    below = set(order[order.index(room) :])
    return [(line, name) for line, name in imported(source) if name in order and name not in below]


def test_the_page_lists_just_the_rooms_there_are() -> None:
    there = {path.name for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert len(rooms()) == len(set(rooms()))
    assert set(rooms()) == there
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert files <= LOOSE, "a module beside the rooms"


def test_no_room_imports_one_above_it() -> None:
    order = rooms()
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports hlsgen.{name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if len(path.relative_to(PACKAGE).parts) > 1
        for line, name in arrows_upwards(path.relative_to(PACKAGE).parts[0], path.read_text(), order)
    ]
    assert not wrong, "\n".join(wrong)


def test_an_arrow_upwards_is_seen_however_it_is_written() -> None:
    source = (
        "from __future__ import annotations\n"
        "from typing import TYPE_CHECKING\n"
        "from hlsgen.base.errors import Problem\n"
        "if TYPE_CHECKING:\n"
        "    from hlsgen.api.design import Design\n"
        "def later():\n"
        "    from hlsgen import explore\n"
        "    import hlsgen.cli.commands\n"
    )
    assert arrows_upwards("emit", source, rooms()) == [(5, "api"), (7, "explore"), (8, "cli")]


def test_every_module_says_what_it_is() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path
