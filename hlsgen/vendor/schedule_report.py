"""What csynth says of each module: <module>_csynth.rpt, and <module>.verbose.sched.rpt with the schedule.

The table of loops is the only place that tells the II asked for beside the II reached; the schedule, the
only one before 2023.1 that tells where in the source an operation stood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hlsgen.designfile.text_files import read_text, refuse

MOST_LOOPS = 20_000
_TITLE = re.compile(r"^== V\w+ HLS Report for '([^']+)'", re.MULTILINE)
_VERSION = re.compile(r"^\* Version: +(\S+)", re.MULTILINE)
_CLOCK = re.compile(
    r"^ *\| *ap_clk *\| *([\d.]+)(?: ns)? *\| *([\d.]+)(?: ns)? *\| *([\d.]+)(?: ns)? *\|", re.MULTILINE
)
_LOOP = re.compile(r"^ +\|[- ]*((?:- |\++ )[^|]*)((?:\|[^|]*){7})\|$", re.MULTILINE)
_TRIPS = re.compile(r'spec_?loop_?tripcount[^\n"]*"[^\n\[]*\[([^\]\n]{1,2000})\]', re.IGNORECASE)
_PLACE = re.compile(r"^(.*):(\d{1,7})$")


@dataclass(frozen=True, kw_only=True)
class SourcePlace:
    """A line of a source file as the tool names it. line: from 1."""

    file: str
    line: int


@dataclass(frozen=True, kw_only=True)
class ScheduledLoop:
    """A row of the table of loops. depth: cycles of an iteration; ii_target None: the tool chose (auto)."""

    name: str
    nesting: int
    ii_target: int | None
    ii: int | None
    depth: int | None
    trip_count: int | None
    pipelined: bool


@dataclass(frozen=True, kw_only=True)
class ModuleSchedule:
    """A module. loop_places: of the loops that stayed, innermost function first; not in *_csynth.rpt."""

    module: str
    version: str
    clock_ns: float | None
    estimated_ns: float | None
    uncertainty_ns: float | None
    loops: tuple[ScheduledLoop, ...]
    loop_places: tuple[tuple[SourcePlace, ...], ...]


def read_schedule(path: Path) -> ModuleSchedule:
    """The report of a module. Raises DesignError: it is none, or holds too many loops."""
    text = read_text(path)
    title = _TITLE.search(text)
    if title is None:
        refuse(path, "is no report of a module: it lacks its title", "take the .rpt files of csynth")
    loops = tuple(_loops(text))
    if len(loops) > MOST_LOOPS:
        refuse(path, f"has more than {MOST_LOOPS:,} loops", "take the report of one module")
    version, clock = _VERSION.search(text), _CLOCK.search(text)
    numbers = [float(number) for number in clock.groups()] if clock else [None, None, None]
    return ModuleSchedule(
        module=title[1],
        version=version[1] if version else "",
        clock_ns=numbers[0],
        estimated_ns=numbers[1],
        uncertainty_ns=numbers[2],
        loops=loops,
        loop_places=tuple(dict.fromkeys(places_of(found[1]) for found in _TRIPS.finditer(text))),
    )


def places_of(text: str) -> tuple[SourcePlace, ...]:
    """`a.h:3->b.cpp:7` and `a.h:3~b.cpp:7`: the place, then those that it was inlined into."""
    places = (_PLACE.match(part.strip()) for part in re.split(r"->|~", text))
    return tuple(SourcePlace(file=found[1], line=int(found[2])) for found in places if found)


def _loops(text: str) -> Iterator[ScheduledLoop]:
    for found in _LOOP.finditer(text):
        label = found[1].rstrip()
        cells = [cell.strip() for cell in found[2].split("|")[1:]]
        signs, _, name = label.partition(" ")
        yield ScheduledLoop(
            name=name.strip(),
            nesting=len(signs) if signs.startswith("+") else 0,
            depth=_count(cells[2]),
            ii=_count(cells[3]),
            ii_target=_count(cells[4]),
            trip_count=_count(cells[5]),
            pipelined=cells[6].startswith("yes"),
        )


def _count(cell: str) -> int | None:
    return int(cell) if re.fullmatch(r"\d{1,13}", cell) else None
