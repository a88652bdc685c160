"""The files of a project of Vitis HLS: which C++ it compiled, with which flags, and where they lie now.

Written down thrice: hls.app (vivado_hls.app of the older tool), script.tcl and the solution's _data.json,
each relative to another folder, or absolute on another machine. What is not found below the given root is
missing.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hlsgen.designfile.tcl_commands import TclCommand
from hlsgen.designfile.text_files import read_text
from hlsgen.schedule.moved_files import parts_of
from hlsgen.vendor.xml_tree import read_tree

MOST_FILES = 2_000


@dataclass(frozen=True, kw_only=True)
class ProjectFile:
    """A file as the project names it. flags: of the compiler."""

    name: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CompilerFlags:
    """Flags sorted: folders of -I as written, defines as NAME or NAME=VALUE, and all others."""

    include_folders: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def named_in_app(path: Path) -> Iterator[ProjectFile]:
    """The sources that hls.app lists, without test benches. Raises DesignError: it is no XML."""
    for element in read_tree(path).iter():
        if element.tag.rpartition("}")[2] != "file" or element.get("tb", "false") not in ("false", "0"):
            continue
        yield ProjectFile(name=element.get("name", ""), flags=split_flags(element.get("cflags", "")))


def named_in_script(script: Sequence[TclCommand]) -> Iterator[ProjectFile]:
    """The sources that add_files of a script names, without test benches."""
    for command in script:
        options, names = command.values()
        if command.name == "add_files" and "tb" not in options:
            for name in " ".join(names).split():
                yield ProjectFile(name=name, flags=split_flags(options.get("cflags", "")))


def named_in_data(path: Path) -> Iterator[ProjectFile]:
    """The sources of <solution>_data.json; none if it is another JSON file."""
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError):
        return
    files = data.get("Files") if isinstance(data, dict) else None
    for name in files.get("CSource") or () if isinstance(files, dict) else ():
        if isinstance(name, str):
            yield ProjectFile(name=name)


def split_flags(flags: str) -> tuple[str, ...]:
    """Words of a line of flags; a quote left open ends with the line."""
    try:
        return tuple(shlex.split(flags.replace("\\", "/")))
    except ValueError:
        return tuple(flags.split())


def sorted_flags(flags: Sequence[str]) -> CompilerFlags:
    """Flags by kind; `-I folder` and `-Ifolder` are the same."""
    kinds: dict[str, dict[str, None]] = {"-I": {}, "-D": {}, "": {}}
    words = iter(flags)
    for word in words:
        kind = word[:2] if word[:2] in ("-I", "-D") else ""
        value = (word[2:] or next(words, "")) if kind else word
        if value:
            kinds[kind][value] = None
    return CompilerFlags(
        include_folders=tuple(kinds["-I"]), defines=tuple(kinds["-D"]), others=tuple(kinds[""])
    )


class Finder:
    """Where a named file or folder is today, below root and nowhere else.

    bases: the folders that names may be relative to, the likeliest first.
    """

    def __init__(self, root: Path, bases: Sequence[Path]) -> None:
        self.root = root.resolve()
        self.bases = tuple(dict.fromkeys(base.resolve() for base in bases))

    def find(self, name: str, *, folder: bool = False) -> Path | None:
        """The path; a name of another machine is found by its longest end that is there."""
        parts = [] if "$" in name else parts_of(name)
        for end in range(len(parts)):
            for base in self.bases:
                found = self._inside(base.joinpath(*parts[end:]), folder=folder)
                if found is not None:
                    return found
        return None

    def _inside(self, path: Path, *, folder: bool) -> Path | None:
        try:
            there = path.resolve()
            present = there.is_dir() if folder else there.is_file()
        except (OSError, RuntimeError):
            return None
        return there if present and there.is_relative_to(self.root) else None


def bases_of(root: Path, solution: Path) -> list[Path]:
    """The folders that names may be relative to: that of the project first."""
    project = solution.parent
    above = [folder for folder in project.parent.resolve().parents if folder.is_relative_to(root.resolve())]
    return [project.parent, solution, project, *above]
