"""What the search for the best mapping found, as a build tells it (the section `explored` of report.json)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from hlsgen.designfile.validation import Entries
from hlsgen.report.section import (
    MOST_ROWS,
    Count,
    Counts,
    Flag,
    Number,
    Positive,
    Section,
    Shares,
    Some,
    Text,
)
from hlsgen.report.tables import table

MOST_POINTS = 16
"""The most points of the front that a table shows; all of them are in report.json."""


@dataclass(frozen=True, kw_only=True)
class FrontPoint(Section):
    """A point: instances of the kernel whose largest share of the usable board is least at its interval.

    used: of all instances, by kind. chosen: the kernel that explore takes.
    """

    frames_per_s: Positive
    interval: Some
    instances: Some
    largest_share: Number
    used: Counts
    chosen: Flag = False


@dataclass(frozen=True, kw_only=True)
class SearchPoint(Section):
    """A kernel with its instances.

    latency_us: of one frame, from DDR to DDR. cost: of all instances, the sum of the shares of each kind that
    the board has for kernels. used: of all instances. by_slr: how many lie in each SLR; None: one lies over
    several.
    """

    frames_per_s: Positive
    interval_cycles: Count
    latency_us: Number
    instances: Count
    by_slr: Counts | None
    cost: Number
    used: Counts
    utilisation: Shares


@dataclass(frozen=True, kw_only=True)
class Search(Section):
    """What the search for the best mapping found; hlsgen/explore/result.py says what each figure is."""

    point: SearchPoint
    bound: Number
    gap: Number
    proven: Flag
    multiplier_fps: Number | None
    multiplier_share: Number | None
    binds: Text
    greedy: SearchPoint | None
    front: Annotated[tuple[FrontPoint, ...], Entries(1, MOST_ROWS)]
    slr_crossings: Count
    problems_solved: Count
    kernels_made: Count
    streamed_layers: Count = 0


def explored_line(found: Search) -> str:
    """How good the kernel is, in a line."""
    made = found.kernels_made
    solved = f"{found.problems_solved} problems solved, {made} kernel{'s' if made != 1 else ''} made"
    model = model_text(found.streamed_layers)
    if found.proven:
        text = f"proven the fastest of {model} ({solved})"
    else:
        text = f"within {found.gap:.2%} of the fastest of {model}: none has more than "
        text += f"{found.bound:,.0f} frames/s ({solved})"
    if found.greedy:
        more = found.point.frames_per_s / found.greedy.frames_per_s - 1
        text += f"; {more:.1%} faster than the greedy baseline"
    return text


def model_text(streamed: int) -> str:
    """What the search looked at, where weights of so many layers had to be streamed."""
    if not streamed:
        return "this model"
    return f"this model with the weights of {streamed} layer{'s' if streamed > 1 else ''} streamed"


def explored_text(found: Search | None) -> str:
    """A section of report.md; empty if nothing was searched."""
    if found is None:
        return ""
    rows = [
        (
            f"{one.frames_per_s:,.0f}" + (" (this one)" if one.chosen else ""),
            one.instances,
            f"{one.interval:,}",
            f"{one.largest_share:.1%}",
        )
        for one in some_points(found.front)
    ]
    some = f", {len(rows)} of its {len(found.front)} points" if len(rows) < len(found.front) else ""
    text = f"## Search\n\nThis mapping is {explored_line(found)}. The Pareto front{some}:\n\n"
    return text + table(("frames/s", "instances", "cycles a frame", "largest share of a resource"), rows)


def some_points(front: Sequence[FrontPoint]) -> list[FrontPoint]:
    """The points to show: of a long front some, evenly, and the chosen one."""
    if len(front) <= MOST_POINTS:
        return list(front)
    last = len(front) - 1
    wanted = {round(number * last / (MOST_POINTS - 1)) for number in range(MOST_POINTS)}
    return [one for number, one in enumerate(front) if number in wanted or one.chosen]
