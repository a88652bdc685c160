"""The summary of a report as tiles: a figure each, with its badge."""

from __future__ import annotations

from dataclasses import dataclass

from hlsgen.base.rates import rate_text
from hlsgen.report.checks import CsimFigures
from hlsgen.report.content import Figures, Report
from hlsgen.report.fit import percent_text
from hlsgen.report.judge import judge_line


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A figure of the summary. kind: its badge; tone: "good" or "bad"; width: "double" or "wide"."""

    name: str
    value: str
    note: str
    kind: str = "modelled"
    tone: str = ""
    width: str = ""


def tiles_of(report: Report) -> tuple[Tile, ...]:
    """The tiles of a build."""
    *modelled, binds = modelled_tiles(report)
    return (*modelled, *_schedule_tiles(report), csim_tile(report.csim), *_judge_tiles(report), binds)


def modelled_tiles(report: Figures) -> tuple[Tile, ...]:
    """The tiles of an estimate; the last one says what binds."""
    speed, total = report.performance, report.total
    micro = total.latency_cycles / report.clock_mhz
    per_frame = "frame" if total.instances == 1 else "frame and instance"
    return (
        Tile(
            name="Frames a second",
            value=rate_text(speed.frames_per_s),
            note=f"{rate_text(speed.batch_frames_per_s)} on a batch of {speed.batch:,}",
        ),
        Tile(name="G operations/s", value=f"{speed.gops:,.1f}", note=f"{2 * total.macs:,} a frame"),
        Tile(
            name="Latency",
            value=_time(micro),
            note=f"{total.latency_cycles:,} cycles, one frame, {total.depths} depths",
        ),
        Tile(name="Interval", value=f"{total.interval_cycles:,}", note=f"cycles a {per_frame}"),
        Tile(name="Instances", value=f"{total.instances:,}", note=_slr_note(report)),
        Tile(
            name="Fits the usable share",
            value=percent_text(report.fit.usable),
            note=f"probability; what is free: {percent_text(report.fit.free)}",
            tone="" if report.fit.confident else "bad",
        ),
        Tile(name="What binds", value=speed.binds, note="", width="wide"),
    )


def _time(micro: float) -> str:
    for size, unit in ((1e6, "s"), (1e3, "ms")):
        if micro >= size:
            return f"{micro / size:.3g} {unit}"
    return f"{micro:.3g} µs"


def _slr_note(report: Figures) -> str:
    placed = [slr for slr in report.slrs if slr.instances]
    what = " kernels" if report.cost.style == "tasks" else ""
    return ", ".join(f"{slr.name}: {slr.instances:,}{what}" for slr in placed)


def csim_tile(csim: CsimFigures) -> Tile:
    """What C-simulation showed."""
    if csim.verdict == "skipped":
        note = "nothing compared"
        return Tile(name="C-simulation", value="skipped", note=note, kind="measured", width="double")
    good = csim.verdict == "equal"
    return Tile(
        name="C-simulation",
        value="equals golden" if good else "differs",
        note=f"{csim.equal:,} of {csim.compared:,} results, bit for bit",
        kind="measured",
        tone="good" if good else "bad",
        width="double",
    )


def _judge_tiles(report: Report) -> tuple[Tile, ...]:
    """What the framework says of the answers."""
    found = report.judge
    if found is None:
        return ()
    value = {
        "exact": "equals the framework",
        "ties": "equals it but for ties",
        "agrees": "agrees",
        "skipped": "not judged",
    }[found.verdict]
    return (
        Tile(
            name="Framework",
            value=value,
            note=judge_line(found),
            kind="measured",
            tone="" if found.verdict == "skipped" else "good",
            width="double",
        ),
    )


def _schedule_tiles(report: Report) -> tuple[Tile, ...]:
    schedule = report.schedule
    if schedule is None or not schedule.loops:
        return ()
    met = sum(loop.ii == loop.ii_target for loop in schedule.loops)
    sure = sum(loop.known == "shown" for loop in schedule.loops)
    return (
        Tile(
            name="II as asked for",
            value=f"{met:,} of {len(schedule.loops):,} loops",
            note=f"{sure:,} shown; longest chain {schedule.longest_ns:.2f} of {schedule.budget_ns:.2f} ns",
            kind="scheduled",
            tone="good" if schedule.verdict == "met" else "bad",
            width="double",
        ),
    )
