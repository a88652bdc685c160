"""Builds of a few small files, and whether a folder holds one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from hlsgen.base.manifest import MANIFEST
from hlsgen.base.output import MARK, replacing, write_files

Tree = dict[str, bytes]


def tree(folder: Path) -> Tree:
    """Every file below `folder` but the lists of builds, and its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }


def content(number: int) -> dict[str, str | bytes]:
    return {MARK: f'{{"build": {number}}}\n', "src/kernel.cpp": f"// {number}\n", "host/Makefile": "host:\n"}


def make(target: Path, number: int) -> None:
    with replacing(target) as fresh:
        write_files(fresh, content(number))


def earlier_build(tmp_path: Path) -> Iterator[Path]:
    """An earlier build, alone in its folder; after the test nothing else may be left there."""
    target = tmp_path / "builds" / "conv"
    make(target, 1)
    yield target
    assert [path.name for path in target.parent.iterdir()] == ["conv"]


def is_build(target: Path, number: int, more: Mapping[str, str | bytes] = MappingProxyType({})) -> bool:
    """Whether it holds this build, and what more there is."""
    return tree(target) == {
        name: text.encode() for name, text in {**content(number), **more}.items() if isinstance(text, str)
    }
