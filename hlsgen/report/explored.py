"""What the search for the best mapping found, as a build tells it (the section `explored` of report.json)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from hlsgen.report.tables import table

T = TypeVar("T")
MOST_ROWS = 16
"""Of the front that are shown in a table; all of them are in report.json."""


def explored_line(found: dict[str, Any]) -> str:
    """How good the kernel is, in a line."""
    made = found["kernels_made"]
    solved = f"{found['problems_solved']} problems solved, {made} kernel{'s' if made != 1 else ''} made"
    model = model_text(found["streamed_layers"])
    if found["proven"]:
        text = f"proven the fastest of {model} ({solved})"
    else:
        text = f"within {found['gap']:.2%} of the fastest of {model}: none has more than "
        text += f"{found['bound']:,.0f} frames/s ({solved})"
    if found["greedy"]:
        more = found["point"]["frames_per_s"] / found["greedy"]["frames_per_s"] - 1
        text += f"; {more:.1%} faster than the greedy baseline"
    return text


def model_text(streamed: int) -> str:
    """What the search looked at, where weights of so many layers had to be streamed."""
    if not streamed:
        return "this model"
    return f"this model with the weights of {streamed} layer{'s' if streamed > 1 else ''} streamed"


def explored_text(report: dict[str, Any]) -> str:
    """A section of report.md; empty if nothing was searched."""
    found = report.get("explored")
    if not found:
        return ""
    rows = [
        (
            f"{one['frames_per_s']:,.0f}" + (" (this one)" if one["chosen"] else ""),
            one["instances"],
            f"{one['interval']:,}",
            f"{one['largest_share']:.1%}",
        )
        for one in some_points(found["front"], [one["chosen"] for one in found["front"]])
    ]
    some = f", {len(rows)} of its {len(found['front'])} points" if len(rows) < len(found["front"]) else ""
    text = f"## Search\n\nThis mapping is {explored_line(found)}. The Pareto front{some}:\n\n"
    return text + table(("frames/s", "instances", "cycles a frame", "largest share of a resource"), rows)


def some_points(front: Sequence[T], chosen: Sequence[bool]) -> list[T]:
    """The points to show: of a long front some, evenly, and the chosen one."""
    if len(front) <= MOST_ROWS:
        return list(front)
    last = len(front) - 1
    wanted = {round(number * last / (MOST_ROWS - 1)) for number in range(MOST_ROWS)}
    return [one for number, one in enumerate(front) if number in wanted or chosen[number]]
