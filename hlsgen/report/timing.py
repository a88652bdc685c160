"""The simulated timing of a streaming kernel in report.json and report.md."""

from __future__ import annotations

from typing import Any

from hlsgen.report.tables import table
from hlsgen.timing.timing import ProcessTiming, Timing

MOST_ROWS = 10


def timing_figures(timing: Timing | None) -> dict[str, Any]:
    """Keys of report.json: `timing`, in cycles of a period of the steady state; `timeline`, of one frame.

    Empty, both, of a kernel whose period is too long to simulate.
    """
    if timing is None:
        return {"timing": {}, "timeline": []}
    return {
        "timing": {
            "interval_cycles": timing.interval_cycles,
            "latency_cycles": timing.latency_cycles,
            "period_cycles": timing.period_cycles,
            "period_frames": timing.period_frames,
            "waits": [str(wait) for wait in timing.waits],
            "stalls": [_stall(one) for one in timing.processes],
            "kind": "modelled",
        },
        "timeline": [
            {"name": one.name, "begin": one.begin, "first_output": one.first_output, "end": one.end}
            for one in timing.processes
        ],
    }


def _stall(one: ProcessTiming) -> dict[str, Any]:
    return {
        "name": one.name,
        "busy_cycles": one.busy,
        "starved_cycles": sum(one.starved.values()),
        "blocked_cycles": sum(one.blocked.values()),
        "starved_by": one.starved,
        "blocked_by": one.blocked,
    }


def timing_text(report: dict[str, Any]) -> str:
    """A section of report.md: the stages that wait most, and for what."""
    timing = report["timing"]
    if not timing:
        why = "its frames have too many words, or are too short to repeat themselves"
        return f"## Timing\n\nNot simulated: {why}."
    frames, period = timing["period_frames"], timing["period_cycles"]
    what = "a frame" if frames == 1 else f"{frames} frames"
    text = (
        f"Simulated with FIFOs of these depths: {timing['latency_cycles']:,} cycles for the first frame, "
        f"{period:,} for {what} in the steady state."
    )
    if timing["waits"]:
        text += f" Longer than the slowest stage alone: {', '.join(timing['waits'])}."
    stalls = [one for one in timing["stalls"] if one["starved_cycles"] or one["blocked_cycles"]]
    stalls.sort(key=lambda one: one["busy_cycles"])
    if not stalls:
        return f"## Timing\n\n{text} No stage ever waits."
    rows = [
        (
            f"`{one['name']}`",
            f"{one['busy_cycles']:,} ({one['busy_cycles'] / period:.0%})",
            _by(one["starved_by"]),
            _by(one["blocked_by"]),
        )
        for one in stalls[:MOST_ROWS]
    ]
    text += f" The {len(rows)} of {len(timing['stalls'])} processes that wait most, in cycles of {what}:"
    head = ("process", "busy", "waits for words of", "waits for room in")
    return f"## Timing\n\n{text}\n\n{table(head, rows)}"


def _by(cycles: dict[str, int]) -> str:
    """`conv1_s` 120, `skip_s` 8; the longest first"""
    longest = sorted(cycles.items(), key=lambda item: -item[1])
    return ", ".join(f"`{name}` {count:,}" for name, count in longest)
