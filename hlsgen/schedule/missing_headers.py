"""Headers that a file names as another machine had them: by a path of that machine, with backslashes, or in
other letters than their files have (Windows tells `Graph.h` and `graph.h` not apart).

A header of the missing name is put into a folder of ours, which includes the one that was meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from hlsgen.schedule.clang import messages
from hlsgen.schedule.languages import INCLUDE

COMMON = ("ap_int.h", "ap_fixed.h", "hls_stream.h", "ap_axi_sdata.h")
"""What the headers of the vendor's libraries include."""
OVERLAY = "overlay.json"
"""Clang's list of files that it is to see at other paths."""
DEPTH = "a/b/c/d"
"""Folders within ours, from which names that go up still lead into it."""
MOST_PARTS = 60
_MISSING = re.compile(r"'([^'\n]+)' file not found")
_ELSEWHERE = re.compile(r"[A-Za-z]:[\\/]|/")


def searched_in(folder: Path) -> list[str]:
    """The compiler's arguments with which it finds what stands in for headers, which is below `folder`."""
    overlay = folder / OVERLAY
    placed = ["-ivfsoverlay", str(overlay)] if overlay.is_file() else []
    return [f"-I{folder / DEPTH}", *placed]


def stand_in(errors: str, folder: Path, include_folders: Sequence[Path]) -> bool:
    """Put headers in the place of those that the compiler's `errors` miss; whether one was put there.

    A path of another drive is a header of ours of that name where none is found, or one with what the
    vendor's libraries bring with them: of most that are named so nothing else is used; where it is, the
    compiler says what is missing.
    """
    put = False
    for message in messages(errors):
        missing = _MISSING.search(message.message)
        if missing is None:
            continue
        name = missing[1]
        meant = _meant(name, [Path(message.file).parent, *include_folders])
        if name.startswith("/"):  # one of the vendor's by its full path is ours of that name
            meant = meant or next((one for one in [INCLUDE / name.rsplit("/", 1)[1]] if one.is_file()), None)
            put = (meant is not None and _placed(name, meant, folder / OVERLAY)) or put
            continue
        stub = Path(_plain(folder / DEPTH / name))
        text = _text(name, meant)
        if text and not stub.exists() and stub.is_relative_to(folder):
            for needed in (stub.parent, folder / DEPTH):  # a name that goes up leads through it
                needed.mkdir(parents=True, exist_ok=True)
            stub.write_text(text, encoding="utf-8")
            put = True
    return put


def _placed(name: str, meant: Path, overlay: Path) -> bool:
    """Let the compiler see a file at another path too; whether it did not before."""
    known = json.loads(overlay.read_text(encoding="utf-8"))["roots"] if overlay.is_file() else []
    if any(one["name"] == name for one in known):
        return False
    roots = [*known, {"type": "file", "name": name, "external-contents": str(meant)}]
    overlay.parent.mkdir(parents=True, exist_ok=True)
    overlay.write_text(json.dumps({"version": 0, "roots": roots}), encoding="utf-8")
    return True


def _text(name: str, meant: Path | None) -> str:
    """What the header in the place of a missing one of a relative name, or of another drive, says; empty if
    nothing is known of it."""
    if meant is not None:
        return f'#include "{meant}"\n'
    if not _ELSEWHERE.match(name):
        return ""
    ours = re.split(r"[\\/]", name)[-1]
    names = (ours,) if (INCLUDE / ours).is_file() else COMMON
    return "".join(f"#include <{one}>\n" for one in names)


def _plain(path: Path) -> str:
    """A path without what goes up, which no folder need be there for."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    return str(Path(*parts))


def _meant(name: str, folders: Sequence[Path]) -> Path | None:
    """The file that a name means: of a path on another machine the one with its longest end that is there."""
    elsewhere = _ELSEWHERE.match(name)
    parts = [part for part in re.split(r"[\\/]", name[elsewhere.end() :] if elsewhere else name) if part]
    if not parts or len(parts) > MOST_PARTS:
        return None
    for first in range(len(parts) if elsewhere else 1):
        end = parts[first:]
        above = bool(elsewhere) and len(end) > 1  # a name alone may be that of another file there
        for folder in dict.fromkeys(one for base in folders for one in _with_parents(base, above)):
            found = _in_any_case(folder, end)
            if found is not None:
                return found
    return None


def _with_parents(folder: Path, wanted: bool) -> Iterator[Path]:
    yield folder
    if wanted:
        yield from folder.resolve().parents


def _in_any_case(folder: Path, parts: Sequence[str]) -> Path | None:
    """The file below a folder whose name is that, capitals or not."""
    for part in parts:
        exact = folder / part
        if part != ".." and not exact.exists():
            try:
                near = sorted(one for one in folder.iterdir() if one.name.lower() == part.lower())
            except OSError:
                return None
            if not near:
                return None
            exact = near[0]
        folder = exact
    return folder.resolve() if folder.is_file() else None
