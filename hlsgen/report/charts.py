"""The geometry of the charts of report.html: bars in percent of their box, the roofline in pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hlsgen.report.content import Report, Resources, Span
from hlsgen.report.graph_picture import number

RESOURCES = ("lut", "ff", "dsp", "bram18", "uram")
TITLES = {"lut": "LUT", "ff": "FF", "dsp": "DSP", "bram18": "BRAM18", "uram": "URAM"}
TICKS = 5
"""On an axis of cycles, at most."""


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
    """Of a chart's width, never beyond it."""
    return number(min(100.0, max(0.0, 100 * part / whole))) if whole > 0 else "0"


def resource_chart(
    title: str, used: Resources, usable: Resources, free: Resources, errors: dict[str, float], note: str = ""
) -> BarChart:
    """Bars over what the platform leaves free, with a mark where the usable share ends."""
    bars = []
    for kind in RESOURCES:
        have, limit, whole = (getattr(one, kind) for one in (used, usable, free))
        if not whole and not have:
            continue
        share = f"{have / limit:.0%} of usable" if limit else "none is usable"
        error = errors.get(kind)
        spread = "" if error is None else f" ± {error:.0%}"
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


def cycles_chart(report: Report) -> BarChart:
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
            note=layer.kind,
            title=f"{layer.name}: {layer.interval_cycles:,} cycles a frame, II = {layer.ii}",
            tone="hot" if layer.interval_cycles == slowest else "",
        )
        for layer in report.layers
    ]
    return BarChart(title="Cycles a frame, by layer", bars=tuple(bars), ticks=axis(longest))


def timeline_chart(title: str, spans: Sequence[Span], last: int) -> BarChart:
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


# ---------------------------------------------------------------- roofline

WIDTH, HEIGHT = 640, 330
LEFT, RIGHT, TOP, BOTTOM = 58, 18, 16, 44


@dataclass(frozen=True, kw_only=True)
class Tick:
    at: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Roof:
    """A ceiling of multipliers: its line, and where its name stands."""

    path: str
    label_y: str
    name: str
    title: str
    own: bool


@dataclass(frozen=True, kw_only=True)
class RooflinePicture:
    """In pixels of a box of WIDTH x HEIGHT, both axes logarithmic."""

    width: int
    height: int
    frame: tuple[str, str, str, str]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    slope: str
    slope_label: tuple[str, str, str]
    roofs: tuple[Roof, ...]
    intensity: str
    point: tuple[str, str]
    attainable: tuple[str, str]


def draw_roofline(report: Report) -> RooflinePicture:
    roof = report.roofline
    peaks = [one.gops for one in roof.ceilings]
    at = max(roof.ops_per_byte, 1e-6)
    ridges = [peak / roof.ddr_gb_per_s for peak in peaks]
    x_low, x_high = _decades([at, *ridges])
    reached = max(roof.achieved_gops, 1e-6)
    y_low, y_high = _decades([reached, max(roof.attainable_gops, 1e-6), *peaks])
    y_low = min(y_low, y_high - 3)

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(value) - x_low) / (x_high - x_low)

    def y(value: float) -> float:
        share = (math.log10(value) - y_low) / (y_high - y_low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(1.0, max(0.0, share))

    highest, lowest = max(peaks), 10.0**y_low
    begin = max(10.0**x_low, lowest / roof.ddr_gb_per_s)
    end = highest / roof.ddr_gb_per_s
    points = [(begin, begin * roof.ddr_gb_per_s), (end, highest)]
    names = _apart([y(peak) - 6 for peak in peaks])
    return RooflinePicture(
        width=WIDTH,
        height=HEIGHT,
        frame=(number(LEFT), number(TOP), number(WIDTH - RIGHT), number(HEIGHT - BOTTOM)),
        x_ticks=tuple(
            Tick(at=number(x(10.0**power)), label=short(10.0**power)) for power in range(x_low, x_high + 1)
        ),
        y_ticks=tuple(
            Tick(at=number(y(10.0**power)), label=short(10.0**power)) for power in range(y_low, y_high + 1)
        ),
        slope="M" + " L".join(f"{number(x(a))},{number(y(b))}" for a, b in points),
        slope_label=(
            number(x(begin) + 10),
            number(HEIGHT - BOTTOM - 10),
            f"DDR {roof.ddr_gb_per_s:,.1f} GB/s",
        ),
        roofs=tuple(
            Roof(
                path=f"M{number(x(ridge))},{number(y(one.gops))} H{number(WIDTH - RIGHT)}",
                label_y=number(label_y),
                name=f"{one.name}: {one.gops:,.0f}",
                title=one.basis,
                own=one is roof.ceilings[-1],
            )
            for one, ridge, label_y in zip(roof.ceilings, ridges, names, strict=True)
        ),
        intensity=number(x(at)),
        point=(number(x(at)), number(y(reached))),
        attainable=(number(x(at)), number(y(max(roof.attainable_gops, 1e-6)))),
    )


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Powers of ten that have the values between them, with some room."""
    low = math.floor(math.log10(min(values)) - 0.3)
    high = math.ceil(math.log10(max(values)) + 0.2)
    return low, max(high, low + 1)


def _apart(places: Sequence[float], least: float = 14.0) -> list[float]:
    """Places of labels, none closer than `least` to another; the topmost keeps its own."""
    found = list(places)
    order = sorted(range(len(places)), key=lambda index: places[index])
    for upper, lower in zip(order, order[1:], strict=False):
        found[lower] = max(found[lower], found[upper] + least)
    return found
