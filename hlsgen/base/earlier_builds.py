"""What becomes of hours of synthesis when their design is built again into the same folder.

Equal sources: the results move to the new build, whose files keep the times of their equals, so neither make
nor `hlsgen synth` does anything again. Other sources: the earlier build goes whole to earlier/HASH in the new
one. A build without results of the vendor's tools is replaced; of it stays only what is neither hlsgen's nor
made of hlsgen's files, such as a user's notes.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from hlsgen.base.manifest import foreign_files

EARLIER = "earlier"
RESULTS = (
    "vitis/*_hls",
    "vitis/*_work",
    "vitis/*.xo",
    "vitis/done",
    "build_dir.*",
    "_x.*",
    "package.*",
)
"""What takes long to make. What else is in the folder of a build that has such is kept with it."""
SOURCES = ("src/**/*", "vitis/*.tcl", "vitis/*.cfg")
"""What the results are made of."""
HASH_DIGITS = 8


def keep_results(old: Path, new: Path) -> None:
    """Takes out of `old`, which is about to be removed, what has to stay with `new`, which replaces it.

    Each of its moves is whole or not at all, and it goes on where one that was killed has stopped. Raises
    OSError.
    """
    for build in sorted(earlier_builds(old)):
        _put_aside(build, new, build.name)
    if (old / EARLIER).is_dir():
        (old / EARLIER).rmdir()
    same = sources(old) == sources(new)
    if has_results(old) and same:
        _keep_times(old, new)
        _move_others(old, new)
        return
    foreign = foreign_files(old)
    # a file of the user's whose place the new build takes stays with all the rest of the earlier one
    if has_results(old) or any(os.path.lexists(new / path) for path in foreign):
        whole = hashlib.sha256(repr(sources(old)).encode()).hexdigest()
        _put_aside(old, new, whole[:HASH_DIGITS])
        return
    for path in foreign:
        (new / path.parent).mkdir(parents=True, exist_ok=True)
        (old / path).rename(new / path)


def has_results(build: Path) -> bool:
    return any(True for pattern in RESULTS for _ in build.glob(pattern))


def earlier_builds(build: Path) -> set[Path]:
    """The builds that were put aside."""
    return set((build / EARLIER).iterdir()) if (build / EARLIER).is_dir() else set()


def sources(build: Path) -> list[tuple[str, str]]:
    """Path and SHA-256 of every source."""
    return [
        (path.relative_to(build).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest())
        for pattern in SOURCES
        for path in sorted(build.glob(pattern))
        if path.is_file()
    ]


def _put_aside(build: Path, new: Path, name: str) -> None:
    """Moves a whole build below `new`, beside others that were made of the same sources."""
    target = new / EARLIER / name
    number = 1
    while target.exists():
        number += 1
        target = new / EARLIER / f"{name}-{number}"
    target.parent.mkdir(exist_ok=True)
    build.rename(target)


def _keep_times(old: Path, new: Path) -> None:
    """Gives the files of `new` that have equals in `old` the times of these."""
    for path in new.rglob("*"):
        before = old / path.relative_to(new)
        if path.is_file() and before.is_file() and path.read_bytes() == before.read_bytes():
            times = before.stat()
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _move_others(old: Path, new: Path) -> None:
    """Moves files and folders that `new` has no counterpart of."""
    for path in sorted(old.iterdir()):
        beside = new / path.name
        if not os.path.lexists(beside):
            path.rename(beside)
        elif path.is_dir() and not path.is_symlink() and beside.is_dir():
            _move_others(path, beside)
