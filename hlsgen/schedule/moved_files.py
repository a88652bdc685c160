"""Files and folders that a project names by a path of another machine, which is not here:
`D:/work/prj/src/fir.cpp` in a configuration that stands in prj.

Where the longest end of such a path leads to one below the project's folder, or one of those around it, that
one is meant; each is told. The last name alone counts in the project's own folder only. A relative path may
begin in a folder around the project's as well, in which the tool was run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

MOST_ABOVE = 4
"""Folders around the project's that an end may begin in."""
MOST_PARTS = 60
_DRIVE = re.compile(r"[A-Za-z]:/")


class MovedFiles:
    """Where the files are that a project in a folder names; `told` says of which another was taken."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        here = folder.resolve()
        # not the root: what begins there is the whole name
        self._above = [above for above in here.parents if above.parent != above][:MOST_ABOVE]
        self.told: list[str] = []

    def file(self, name: str) -> Path:
        """The file of a name; what the name says if there is none."""
        return self._found(name, folder=False)

    def include_folder(self, name: str) -> Path:
        """The folder of a name; what the name says if there is none."""
        return self._found(name, folder=True)

    def _found(self, name: str, *, folder: bool) -> Path:
        plain = name.replace("\\", "/")
        for said in (name, plain):
            if is_there(self._folder / said, folder=folder):
                return Path(os.path.normpath(self._folder / said))
        for end, is_last in _ends(plain):
            above = [] if is_last else self._above
            for base in [self._folder, *above]:
                if is_there(base / end, folder=folder):
                    self.told.append(f"{name} is not there: {base / end} is taken for it")
                    return base / end
        return Path(os.path.normpath(self._folder / name))


def parts_of(name: str) -> list[str]:
    """The parts of a path as any machine has it, without its drive; none of one that is no path."""
    plain = re.sub(r"^[A-Za-z]:", "", name.strip().replace("\\", "/"))
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    return [] if len(parts) > MOST_PARTS or "\0" in name else parts


def _ends(name: str) -> Iterator[tuple[str, bool]]:
    """The ends of a whole path, the longest first, and whether each is its last name alone; a relative one
    has no other than itself, and one that goes up has none."""
    parts = parts_of(name)
    if ".." in parts:
        return
    whole = name.startswith("/") or _DRIVE.match(name)
    for at in range(len(parts) if whole else min(1, len(parts))):
        yield "/".join(parts[at:]), bool(whole) and at + 1 == len(parts)


def is_there(path: Path, *, folder: bool = False) -> bool:
    """Whether there is a file, or a folder; there is none of a name that no system takes."""
    try:
        return path.is_dir() if folder else path.is_file()
    except (OSError, ValueError):
        return False
