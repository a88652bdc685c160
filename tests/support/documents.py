"""What the tests of the documents share: their tables and blocks, and the constants that they state."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import hlsgen.layers
from tests.support.places import ROOT

DOCS = ROOT / "docs"
LAYER_FILES = {file.name for file in Path(hlsgen.layers.__path__[0]).glob("*.py")}


def document(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def ticked(text: str) -> list[str]:
    """What stands between backticks."""
    return re.findall(r"`([^`]+)`", text)


def rows(text: str) -> Iterator[list[str]]:
    """The rows of the tables in a text, heads included, as stripped cells."""
    for line in text.splitlines():
        if line.startswith("|") and not line.startswith("|-"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def files(text: str) -> dict[str, str]:
    """Blocks that are headed by a path and a colon, by that path."""
    return dict(re.findall(r"^`([\w/.-]+)`:\n\n```\w+\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL))


def blocks(text: str, language: str) -> list[str]:
    """All blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def stated_constants(text: str) -> dict[str, object]:
    """`module.NAME` after a number (or a list of them), or before `is` and a number: what that says it is."""
    numbers = r"((?:[\d.,^-]+, )*[\d.,^-]+)"
    said: dict[str, object] = {}
    for number, names in re.findall(rf"{numbers}\s\(((?:`[\w.]+\.[A-Z_]+`(?:,\s+)?)+)\)", text):
        said |= dict.fromkeys(ticked(names), _value(number))
    for name, number in re.findall(rf"`([\w.]+\.[A-Z_]+)` is {numbers}", text):
        said[name] = _value(number.rstrip("."))
    every = re.findall(r"`([\w.]+\.[A-Z][A-Z_]+)`", text)
    assert set(every) == set(said), f"{set(every) - set(said)} stand without their number"
    return said


def _value(text: str) -> object:
    if ", " in text:
        return tuple(_value(part) for part in text.split(", "))
    plain = text.replace(",", "").replace("^", "**")
    assert re.fullmatch(r"[\d.*-]+", plain), text
    return eval(plain)


def assert_constants_are_as_stated(text: str) -> dict[str, object]:
    """A module is one of hlsgen.layers, or of hlsgen with its path."""
    said = stated_constants(text)
    assert said
    for name, value in said.items():
        path, constant = name.rsplit(".", 1)
        package = "hlsgen.layers" if f"{path}.py" in LAYER_FILES else "hlsgen"
        assert getattr(importlib.import_module(f"{package}.{path}"), constant) == value, name
    return said
