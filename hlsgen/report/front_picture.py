"""The Pareto front as a picture: where everything lies, in pixels. Frames a second are logarithmic.

report.html shows it, and `hlsgen explore --plot` writes it to a file (front_file.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hlsgen.report.charts import TITLES, short
from hlsgen.report.explored import Search
from hlsgen.report.graph_picture import number
from hlsgen.report.roofline_picture import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Tick
from hlsgen.report.section import Counted

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
COLOURS = {"lut": "#0072B2", "ff": "#56B4E9", "bram18": "#E69F00", "uram": "#CC79A7", "dsp": "#009E73"}
"""Okabe and Ito's colours, which colour-blind people tell apart."""

Place = tuple[str, str]
"""A place: x and y."""


@dataclass(frozen=True, kw_only=True)
class KindDots:
    """The shares of one kind of resource, a dot for each point of the front."""

    name: str
    colour: str
    places: tuple[Place, ...]


@dataclass(frozen=True, kw_only=True)
class FrontPicture:
    """The front's picture in pixels of a box of width x height.

    line: through the largest share of each point, `points` with what each is in words. greedy: None if it
    found nothing. limit: x of the frames a second with all DSPs at work; None: no layer needs one.
    """

    width: int
    height: int
    frame: tuple[str, str, str, str]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    kinds: tuple[KindDots, ...]
    line: str
    points: tuple[tuple[str, str, str], ...]
    chosen: Place
    greedy: Place | None
    limit: str | None


def draw_front(search: Search, usable: Counted) -> FrontPicture:
    """The picture. usable: what a design may use of the board."""
    greedy, limit = search.greedy, search.multiplier_fps
    rates = [one.frames_per_s for one in search.front]
    rates += [greedy.frames_per_s] if greedy else []
    rates += [limit] if limit else []
    low, high = math.log10(min(rates)) - 0.1, math.log10(max(rates)) + 0.1

    def x(rate: float) -> str:
        return number(LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(rate) - low) / (high - low))

    def y(share: float) -> str:
        return number(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(1.0, share))

    places = [(x(one.frames_per_s), y(one.largest_share)) for one in search.front]
    return FrontPicture(
        width=WIDTH,
        height=HEIGHT,
        frame=(number(LEFT), number(TOP), number(WIDTH - RIGHT), number(HEIGHT - BOTTOM)),
        x_ticks=tuple(Tick(at=x(rate), label=short(rate)) for rate in _round_rates(low, high)),
        y_ticks=tuple(Tick(at=y(share), label=f"{share:.0%}") for share in SHARES),
        kinds=tuple(
            KindDots(
                name=TITLES[kind],
                colour=colour,
                places=tuple((x(one.frames_per_s), y(one.used.get(kind, 0) / whole)) for one in search.front),
            )
            for kind, colour in COLOURS.items()
            if (whole := getattr(usable, kind))
        ),
        line="M" + " L".join(f"{across},{down}" for across, down in places),
        points=tuple(
            (*place, f"{one.frames_per_s:,.0f} frames/s, {one.instances:,} x {one.interval:,} cycles")
            for place, one in zip(places, search.front, strict=True)
        ),
        chosen=next(place for place, one in zip(places, search.front, strict=True) if one.chosen),
        greedy=(x(greedy.frames_per_s), y(max(greedy.utilisation.values(), default=0.0))) if greedy else None,
        limit=x(limit) if limit else None,
    )


def _round_rates(low: float, high: float) -> list[float]:
    """The rates of the ticks: 1, 2 and 5 of each power of ten; only the powers if these are many."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    steps = (1, 2, 5) if high - low < 3 else (1,)
    found = [step * 10.0**power for power in powers for step in steps]
    return [rate for rate in found if low <= math.log10(rate) <= high]
