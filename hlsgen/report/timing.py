"""The simulated timing of a streaming kernel in report.json and report.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from hlsgen.report.section import Count, Counts, Rows, Section, Text, Texts
from hlsgen.report.tables import table
from hlsgen.timing.timing import ProcessTiming
from hlsgen.timing.timing import Timing as SimulatedTiming

MOST_ROWS = 10


@dataclass(frozen=True, kw_only=True)
class Span(Section):
    """The cycles in which a process, a kernel or a part of a call works on the first frame."""

    name: Text
    begin: Count
    first_output: Count | None
    end: Count


@dataclass(frozen=True, kw_only=True)
class Stall(Section):
    """A process in a period: cycles in which it begins iterations, waits for words, and for room.

    starved_by, blocked_by: the latter two by stream.
    """

    name: Text
    busy_cycles: Count
    starved_cycles: Count
    blocked_cycles: Count
    starved_by: Counts
    blocked_by: Counts


@dataclass(frozen=True, kw_only=True)
class Timing(Section):
    """A period of a streaming kernel's steady state. waits: what makes it longer than its slowest stage."""

    interval_cycles: Count
    latency_cycles: Count
    period_cycles: Count
    period_frames: Count
    waits: Texts
    stalls: Annotated[tuple[Stall, ...], Rows]
    kind: Text = "modelled"


def timing_figures(timing: SimulatedTiming) -> Timing:
    """The section `timing`: cycles of a period of the steady state."""
    return Timing(
        interval_cycles=timing.interval_cycles,
        latency_cycles=timing.latency_cycles,
        period_cycles=timing.period_cycles,
        period_frames=timing.period_frames,
        waits=tuple(str(wait) for wait in timing.waits),
        stalls=tuple(_stall(one) for one in timing.processes),
    )


def timing_spans(timing: SimulatedTiming) -> tuple[Span, ...]:
    """The section `timeline`: when each process works on the first frame."""
    return tuple(
        Span(name=one.name, begin=one.begin, first_output=one.first_output, end=one.end)
        for one in timing.processes
    )


def spans_in_turn(parts: Iterable[tuple[str, int]]) -> list[Span]:
    """The section `timeline` of parts that work one after the other, of each (name, cycles)."""
    rows, begin = [], 0
    for name, cycles in parts:
        rows.append(Span(name=name, begin=begin, first_output=None, end=begin + cycles))
        begin += cycles
    return rows


def _stall(one: ProcessTiming) -> Stall:
    return Stall(
        name=one.name,
        busy_cycles=one.busy,
        starved_cycles=sum(one.starved.values()),
        blocked_cycles=sum(one.blocked.values()),
        starved_by=one.starved,
        blocked_by=one.blocked,
    )


def timing_text(timing: Timing | None, depths: str) -> str:
    """A section of report.md: the stages that wait most, and for what. None: it was not simulated.

    depths: whose depths of pipelines it rests on, in words.
    """
    if timing is None:
        why = "its frames have too many words, or are too short to repeat themselves"
        return f"## Timing\n\nNot simulated: {why}."
    period = timing.period_cycles
    what = "a frame" if timing.period_frames == 1 else f"{timing.period_frames} frames"
    text = (
        f"Simulated with FIFOs of these depths, {depths}: {timing.latency_cycles:,} cycles for the first "
        f"frame, {period:,} for {what} in the steady state."
    )
    if timing.waits:
        text += f" Longer than the slowest stage alone: {', '.join(timing.waits)}."
    stalls = [one for one in timing.stalls if one.starved_cycles or one.blocked_cycles]
    stalls.sort(key=lambda one: one.busy_cycles)
    if not stalls:
        return f"## Timing\n\n{text} No stage ever waits."
    rows = [
        (
            f"`{one.name}`",
            f"{one.busy_cycles:,} ({one.busy_cycles / period:.0%})",
            _by(one.starved_by),
            _by(one.blocked_by),
        )
        for one in stalls[:MOST_ROWS]
    ]
    text += f" The {len(rows)} of {len(timing.stalls)} processes that wait most, in cycles of {what}:"
    head = ("process", "busy", "waits for words of", "waits for room in")
    return f"## Timing\n\n{text}\n\n{table(head, rows)}"


def _by(cycles: Mapping[str, int]) -> str:
    """`conv1_s` 120, `skip_s` 8; the longest first"""
    longest = sorted(cycles.items(), key=lambda item: -item[1])
    return ", ".join(f"`{name}` {count:,}" for name, count in longest)
