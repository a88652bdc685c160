"""The roofline as a picture: where every line, label and point lies, in pixels. Both axes are logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hlsgen.report.charts import short
from hlsgen.report.graph_picture import number
from hlsgen.report.roofline import Roofline

WIDTH, HEIGHT = 640, 330
LEFT, RIGHT, TOP, BOTTOM = 58, 18, 16, 44


@dataclass(frozen=True, kw_only=True)
class Tick:
    at: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Roof:
    """A ceiling of multipliers: its line, how it is drawn ("own", "one", "two"), and what it is."""

    path: str
    tone: str
    name: str
    title: str


@dataclass(frozen=True, kw_only=True)
class RooflinePicture:
    """The roofline in pixels of a box of WIDTH x HEIGHT, both axes logarithmic."""

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
    reached: str
    most: str


def draw_roofline(roof: Roofline) -> RooflinePicture:
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

    def begin_of(peak: float) -> str:
        return f"M{number(x(peak / roof.ddr_gb_per_s))},{number(y(peak))}"

    highest, lowest = max(peaks), 10.0**y_low
    begin = max(10.0**x_low, lowest / roof.ddr_gb_per_s)
    end = highest / roof.ddr_gb_per_s
    middle = math.sqrt(begin * end)
    points = [(begin, begin * roof.ddr_gb_per_s), (end, highest)]
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
            number(x(middle) + 10),
            number(y(middle * roof.ddr_gb_per_s) + 14),
            f"DDR {roof.ddr_gb_per_s:,.1f} GB/s",
        ),
        roofs=tuple(
            Roof(
                path=f"{begin_of(one.gops)} H{number(WIDTH - RIGHT)}",
                tone=tone,
                name=f"{one.name}, {one.gops:,.1f}",
                title=one.basis,
            )
            for one, tone in zip(roof.ceilings, _tones(len(peaks)), strict=True)
        ),
        intensity=number(x(at)),
        point=(number(x(at)), number(y(reached))),
        attainable=(number(x(at)), number(y(max(roof.attainable_gops, 1e-6)))),
        reached=f"{roof.achieved_gops:,.1f}",
        most=f"{roof.attainable_gops:,.1f}",
    )


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Powers of ten that have the values between them, with some room."""
    low = math.floor(math.log10(min(values)) - 0.3)
    high = math.ceil(math.log10(max(values)) + 0.2)
    return low, max(high, low + 1)


def _tones(count: int) -> tuple[str, ...]:
    """The last one is the design's own."""
    return (*(("one", "two")[min(index, 1)] for index in range(count - 1)), "own")
