"""The configurations of Vitis HLS (from 2023.2 on) that a solution may have been made with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from hlsgen.base.errors import DesignError
from hlsgen.designfile.text_files import read_text
from hlsgen.schedule.configuration import TOP, Configuration, parse
from hlsgen.vendor.project_files import Finder, bases_of

COMPONENT = "vitis-comp.json"
NEAR = 3
"""Folders, from the solution's own upwards, whose configurations count whatever their top is."""
MOST = 4
"""Configurations of one folder that are looked at."""


def configurations(folder: Path, root: Path, top: str = "") -> Iterator[Configuration]:
    """Those that the component names, then those in the folders above, the nearest first.

    root: none is looked for outside of it. top: the kernel that those further up must be of; empty: none
    of those counts.
    """
    seen: set[Path] = set()
    for at, path in _paths(folder, root):
        if path in seen:
            continue
        seen.add(path)
        try:
            found = parse(path)
        except OSError:
            continue
        if at < NEAR or (top and found.one(TOP, "") == top):
            yield found


def _paths(folder: Path, root: Path) -> Iterator[tuple[int, Path]]:
    """Paths, with how far above the solution they are looked for."""
    inside = root.resolve()
    above = [one for one in (folder, *folder.parents) if one.resolve().is_relative_to(inside)]
    for one in above[:NEAR]:
        finder = Finder(root, [one, *bases_of(root, folder)])
        named = (finder.find(name) for name in _named_by_component(one / COMPONENT))
        yield from ((0, path) for path in named if path)
    for at, one in enumerate(above):
        near = (path.resolve() for path in sorted(one.glob("*.cfg"))[:MOST])
        yield from ((at, path) for path in near if path.is_file() and path.is_relative_to(inside))


def _named_by_component(path: Path) -> list[str]:
    """The configurations that a component's file names; none where it is not there, or is of another kind."""
    try:
        data = json.loads(read_text(path)) if path.is_file() else None
    except (DesignError, ValueError, RecursionError):
        return []
    said = data.get("configuration") if isinstance(data, dict) else None
    names = said.get("configFiles") if isinstance(said, dict) else None
    return [name for name in names if isinstance(name, str)][:MOST] if isinstance(names, list) else []
