"""The schedules of parts by what they are made of, so that a build schedules again only what has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from hlsgen.schedule.component import Target
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.processes import Part
from hlsgen.schedule.results import PartSchedule
from hlsgen.schedule.sites import MARK_INDEX

FILE = "schedule.json"
"""In a build folder."""
MAX_BYTES = 64 << 20
_PACKAGES = ("hlsgen", "ziglang", "llvmlite")
_SOURCES = ("*.py", "*.csv")


@dataclass(frozen=True, kw_only=True)
class Work:
    """A part of a kernel and all that its schedule depends on."""

    part: Part
    pragmas: Sequence[Pragma]
    target: Target


@dataclass(frozen=True)
class KeptParts:
    """Schedules by the digest of their work, those of a folder's sources with paths from there."""

    folder: Path | None = None
    known: dict[str, PartSchedule] = field(default_factory=dict)

    def digest(self, work: Work) -> str:
        """Of the IR, the pragmas that it marks, the target, and what makes a schedule of them."""
        part = work.part
        marked = sorted({int(found) for found in MARK_INDEX.findall(part.ir)})
        pragmas = [(index, work.pragmas[index]) for index in marked]
        own = [part.ir, part.root, sorted(part.lines), part.interval, part.given]
        whole = [*own, pragmas, work.target, _maker()]
        return hashlib.sha256(self._from_folder(repr(whole)).encode()).hexdigest()

    def relative(self, schedule: PartSchedule) -> PartSchedule:
        """The schedule with places from the folder."""
        return _PART.validate_json(self._from_folder(_PART.dump_json(schedule).decode()))

    def _from_folder(self, text: str) -> str:
        if self.folder is None:
            return text
        return text.replace(json.dumps(f"{self.folder}/", ensure_ascii=False)[1:-1], "")

    def forget_but(self, digests: Collection[str]) -> None:
        """Keeps no other than these."""
        for digest in self.known.keys() - set(digests):
            del self.known[digest]

    def text(self) -> str:
        """What a build folder keeps."""
        return _PARTS.dump_json(dict(sorted(self.known.items()))).decode() + "\n"


def read_kept_parts(build: Path) -> dict[str, PartSchedule]:
    """What a build folder keeps; nothing where that is missing or damaged: it is made again."""
    path = build / FILE
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
            return {}
        return _PARTS.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return {}


@cache
def _maker() -> str:
    """What tells one maker of schedules from another: the packages' versions, and this room's own files."""
    found = hashlib.sha256()
    for name in _PACKAGES:
        try:
            found.update(f"{name} {metadata.version(name)}\n".encode())
        except metadata.PackageNotFoundError:
            continue
    room = Path(__file__).parent
    for path in sorted(path for pattern in _SOURCES for path in room.rglob(pattern)):
        found.update(path.relative_to(room).as_posix().encode() + b"\n" + path.read_bytes())
    return found.hexdigest()


_PART = TypeAdapter(PartSchedule)
_PARTS = TypeAdapter(dict[str, PartSchedule])
