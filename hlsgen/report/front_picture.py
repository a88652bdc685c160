"""The Pareto front as a picture: where every point lies, in pixels. Frames a second are logarithmic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hlsgen.report.charts import short
from hlsgen.report.explored import Search
from hlsgen.report.graph_picture import number
from hlsgen.report.roofline_picture import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Tick

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, kw_only=True)
class FrontPicture:
    """The front's picture in pixels of a box of width x height. points: (x, y, what it is); greedy: None if
    it found nothing.
    """

    width: int
    height: int
    frame: tuple[str, str, str, str]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    line: str
    points: tuple[tuple[str, str, str], ...]
    chosen: tuple[str, str]
    greedy: tuple[str, str] | None


def draw_front(search: Search) -> FrontPicture:
    rates = [one.frames_per_s for one in search.front]
    if search.greedy is not None:
        rates.append(search.greedy.frames_per_s)
    low, high = math.log10(min(rates)) - 0.1, math.log10(max(rates)) + 0.1

    def x(rate: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(rate) - low) / (high - low)

    def y(share: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(1.0, share)

    places = [(number(x(one.frames_per_s)), number(y(one.largest_share))) for one in search.front]
    chosen = next(index for index, one in enumerate(search.front) if one.chosen)
    greedy = None
    if search.greedy is not None:
        share = max(search.greedy.utilisation.values(), default=0.0)
        greedy = (number(x(search.greedy.frames_per_s)), number(y(share)))
    return FrontPicture(
        width=WIDTH,
        height=HEIGHT,
        frame=(number(LEFT), number(TOP), number(WIDTH - RIGHT), number(HEIGHT - BOTTOM)),
        x_ticks=tuple(Tick(at=number(x(rate)), label=short(rate)) for rate in _round_rates(low, high)),
        y_ticks=tuple(Tick(at=number(y(share)), label=f"{share:.0%}") for share in SHARES),
        line="M" + " L".join(f"{across},{down}" for across, down in places),
        points=tuple(
            (*place, f"{one.frames_per_s:,.0f} frames/s, {one.instances:,} x {one.interval:,} cycles")
            for place, one in zip(places, search.front, strict=True)
        ),
        chosen=places[chosen],
        greedy=greedy,
    )


def _round_rates(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each power of ten between; only the powers if these are many."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    steps = (1, 2, 5) if high - low < 3 else (1,)
    found = [step * 10.0**power for power in powers for step in steps]
    return [rate for rate in found if low <= math.log10(rate) <= high]
