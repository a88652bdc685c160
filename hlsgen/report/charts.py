"""The geometry of the charts of report.html: bars in percent of their box, the roofline in pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hlsgen.report.content import Figures, Report
from hlsgen.report.figures import Slr
from hlsgen.report.graph_picture import number
from hlsgen.report.section import Counted, ResourceFigures
from hlsgen.report.timing import Span, Timing

RESOURCES = ("lut", "ff", "dsp", "bram18", "uram")
TITLES = {"lut": "LUT", "ff": "FF", "dsp": "DSP", "bram18": "BRAM18", "uram": "URAM"}
WHOLE = ("all SLRs",)
"""What a kernel that is larger than an SLR lies in."""
MOST_STALLS = 12
TICKS = 5
"""The most ticks of an axis of cycles."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A row of a bar chart. Parts and marks are in percent of the row's width.

    parts: (begin, width, tone); marks: (place, what it is). text: right of the bar; title: for all of it.
    """

    name: str
    parts: tuple[tuple[str, str, str], ...]
    text: str
    title: str
    note: str = ""
    marks: tuple[tuple[str, str], ...] = ()
    tone: str = ""


@dataclass(frozen=True, kw_only=True)
class BarChart:
    """ticks: (place in percent, label) of the axis below; empty: none."""

    title: str
    bars: tuple[Bar, ...]
    note: str = ""
    ticks: tuple[tuple[str, str], ...] = ()


def percent(part: float, whole: float) -> str:
    """The share of a chart's width, never beyond it."""
    return number(min(100.0, max(0.0, 100 * part / whole))) if whole > 0 else "0"


def resource_charts(report: Figures) -> tuple[BarChart, ...]:
    """The whole board with the errors of LUT and FF, then its SLRs if there are several."""
    regions = _regions(report)
    several, usable, free = len(regions) > 1, usable_of(report), _together([slr.free for slr in regions])
    routed = report.cost.routed
    errors = {"lut": routed.lut_error, "ff": routed.ff_error}
    title = "Whole board" if several else regions[0].name
    charts = [_resource_chart(title, report.total, usable, free, errors)]
    if several:
        for slr in regions:
            what = "kernel" if report.cost.style == "tasks" else "instance"
            note = f"{slr.instances:,} {what}{'' if slr.instances == 1 else 's'}"
            note = "a part of the instance" if report.borders else note
            note += f", {', '.join(slr.ddr)}" if slr.ddr else ""
            charts.append(_resource_chart(slr.name, slr.used, slr.usable, slr.free, {}, note))
    return tuple(charts)


def usable_of(report: Figures) -> ResourceFigures:
    """What a design may use of the whole board."""
    return _together([slr.usable for slr in _regions(report)])


def _regions(report: Figures) -> list[Slr]:
    """The SLRs, each by itself."""
    return [slr for slr in report.slrs if slr.name not in WHOLE]


def _together(parts: Sequence[ResourceFigures]) -> ResourceFigures:
    """The sum, which may be larger than any figure that a report may have."""
    return ResourceFigures(**{kind: sum(getattr(part, kind) for part in parts) for kind in RESOURCES})


def _resource_chart(
    title: str,
    used: Counted,
    usable: Counted,
    free: Counted,
    errors: Mapping[str, float],
    note: str = "",
) -> BarChart:
    """Bars over what the platform leaves free, with a mark where the usable share ends."""
    bars = []
    for kind in RESOURCES:
        have, limit, whole = (getattr(one, kind) for one in (used, usable, free))
        if not whole and not have:
            continue
        share = f"{have / limit:.0%} of usable" if limit else "none is usable"
        spread = f" ± {errors[kind]:.0%}" if kind in errors else ""
        bars.append(
            Bar(
                name=TITLES[kind],
                parts=(("0", percent(have, whole or have), "over" if have > limit else "fill"),),
                text=f"{have:,}{spread}",
                note=share,
                title=f"{TITLES[kind]}: {have:,}{spread} of {limit:,} usable, {whole:,} free in the platform",
                marks=((percent(limit, whole), f"usable: {limit:,}"),) if whole else (),
            )
        )
    return BarChart(title=title, bars=tuple(bars), note=note)


def cycles_chart(report: Figures) -> BarChart:
    """Cycles a frame of each layer, the slowest marked; the scale ends at the slowest process."""
    others = [joint.interval_cycles for joint in report.joints]
    longest = max([layer.interval_cycles for layer in report.layers] + others + [1])
    slowest = max(layer.interval_cycles for layer in report.layers)
    bars = [
        Bar(
            name=layer.name,
            parts=(
                (
                    "0",
                    percent(layer.interval_cycles, longest),
                    "hot" if layer.interval_cycles == slowest else "fill",
                ),
            ),
            text=f"{layer.interval_cycles:,}",
            title=f"{layer.name}: {layer.interval_cycles:,} cycles a frame, II = {layer.ii}",
            tone="hot" if layer.interval_cycles == slowest else "",
        )
        for layer in report.layers
    ]
    return BarChart(title="Cycles a frame, by layer", bars=tuple(bars), ticks=axis(longest))


def timeline_charts(report: Report) -> tuple[BarChart, ...]:
    """Ports and layers, then what stands between them; empty if nothing was simulated."""
    if not report.timeline:
        return ()
    last = max(1, *(span.end for span in report.timeline))
    joints = {joint.name for joint in report.joints if joint.name.startswith(("fork_", "convert_", "relay_"))}
    between = [span for span in report.timeline if span.name in joints]
    shown = [span for span in report.timeline if span.name not in joints]
    charts = [_timeline_chart("From the first word to the last", shown, last)]
    if between:
        charts.append(_timeline_chart("Forks and converters in the first frame", between, last))
    return tuple(charts)


def _timeline_chart(title: str, spans: Sequence[Span], last: int) -> BarChart:
    """When each process works on the first frame: paler until its first output."""
    bars = []
    for span in spans:
        first = span.begin if span.first_output is None else min(max(span.first_output, span.begin), span.end)
        parts = [
            (percent(span.begin, last), percent(first - span.begin, last), "pale"),
            (percent(first, last), percent(span.end - first, last), "fill"),
        ]
        out = "" if span.first_output is None else f", first output at {span.first_output:,}"
        bars.append(
            Bar(
                name=span.name,
                parts=tuple(part for part in parts if part[1] != "0"),
                text=f"{span.begin:,} – {span.end:,}",
                title=f"{span.name}: from cycle {span.begin:,} to {span.end:,}{out}",
            )
        )
    return BarChart(title=title, bars=tuple(bars), ticks=axis(last))


def stall_chart(timing: Timing) -> BarChart:
    """What the processes that wait most do in the steady state."""
    rows = sorted(timing.stalls, key=lambda one: one.busy_cycles - one.starved_cycles - one.blocked_cycles)
    period = max(timing.period_cycles, 1)
    bars = []
    for one in rows[:MOST_STALLS]:
        bars.append(
            Bar(
                name=one.name,
                parts=_stacked(
                    (one.busy_cycles, "fill"),
                    (one.starved_cycles, "pale"),
                    (one.blocked_cycles, "hot"),
                    whole=period,
                ),
                text=f"{one.busy_cycles / period:.0%} busy",
                title=f"{one.name}: busy {one.busy_cycles:,}, waits for words {one.starved_cycles:,}, "
                f"for room {one.blocked_cycles:,} of {period:,} cycles",
            )
        )
    frames = "a frame" if timing.period_frames == 1 else f"{timing.period_frames:,} frames"
    which = (
        f"{len(bars)} of {len(rows):,} processes, those" if len(bars) < len(rows) else "all processes, those"
    )
    note = f"{period:,} cycles for {frames}; {which} that wait most first"
    return BarChart(title="In the steady state", bars=tuple(bars), note=note)


def _stacked(*parts: tuple[int, str], whole: int) -> tuple[tuple[str, str, str], ...]:
    found, begin = [], 0
    for size, tone in parts:
        if size:
            found.append((percent(begin, whole), percent(size, whole), tone))
        begin += size
    return tuple(found)


def accuracy_chart(report: Report) -> BarChart:
    """Signal to noise of each layer, in dB; None is exact."""
    tensors = report.quantisation or ()
    finite = [one.snr_db for one in tensors if one.snr_db is not None]
    whole = max([*finite, 1.0])
    names = {layer.name for layer in report.layers}
    bars = []
    for one in tensors:
        text = "equal" if one.snr_db is None else f"{one.snr_db:.1f} dB"
        same = "" if one.agreement is None else f", {one.agreement:.0%} same largest score"
        bars.append(
            Bar(
                name=one.name,
                parts=(("0", percent(whole if one.snr_db is None else one.snr_db, whole), "fill"),),
                text=text,
                note=(one.type if one.name in names else f"output, {one.type}") + same,
                title=f"{one.name}: {text}{same}",
            )
        )
    return BarChart(title="dB of signal to noise", bars=tuple(bars))


def axis(last: int) -> tuple[tuple[str, str], ...]:
    """Round places from 0 on: (percent, label)."""
    rough = max(1.0, last / TICKS)
    power = 10 ** math.floor(math.log10(rough))
    step = next(int(factor * power) for factor in (1, 2, 5, 10) if factor * power >= rough)
    return tuple((percent(at, last), short(at)) for at in range(0, last + 1, step))


def short(value: float) -> str:
    """1,500 -> 1.5 k: three digits at most where that is exact enough for an axis or a tile."""
    for size, letter in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
