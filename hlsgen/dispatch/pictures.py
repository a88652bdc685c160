"""Pictures: a run as a Gantt chart, a sweep as completed instances and response times over the rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.dispatch.figures import Figures, rate_text
from hlsgen.dispatch.node import MICROSECOND
from hlsgen.dispatch.simulation import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
"""Of Okabe and Ito: distinct for colour-blind readers too."""
MARKERS = "osD^vPX*"
ROW_INCHES, MOST_ROWS_INCHES = 0.34, 30
UNITS = ((1e6, "s"), (1e3, "ms"), (1.0, "us"))
NARROW = 0.004
"""Bars of less than this share of the picture are shown together, as dark as they are dense."""
BINS = 1000
"""Times that such bars are counted in: about the picture's pixels."""


def times_text(source: Mapping[str, Sequence[str]]) -> str:
    """Where times come from, in short: "cpu measured, conv modelled"."""
    words = [
        f"{type_} {' and '.join(dict.fromkeys(text.partition(',')[0] for text in texts))}"
        for type_, texts in source.items()
    ]
    return ", ".join(words)


def gantt(
    run: Run, figures: Figures, name: str, source: Mapping[str, Sequence[str]], window_us: float | None
) -> Figure:
    """Elements over time, a colour for each application; window_us: what is shown of it, from its begin."""
    from matplotlib.figure import Figure

    elements = run.node.elements
    begin = min(one.start for one in run.executions)
    end = max(one.end for one in run.executions)
    span_us = (end - begin) / MICROSECOND if window_us is None else window_us
    factor, unit = next((one for one in UNITS if span_us >= 2 * one[0]), UNITS[-1])
    height = 1.5 + min(ROW_INCHES * len(elements), MOST_ROWS_INCHES)
    figure = Figure(figsize=(10, height), layout="constrained")
    axes = figure.subplots()
    scale = 1 / (MICROSECOND * factor)
    shown = [one for one in run.executions if (one.start - begin) * scale < span_us / factor]
    for place, application in enumerate(run.applications):
        for at in range(len(elements)):
            bars = [
                ((one.start - begin) * scale, (one.end - one.start) * scale)
                for one in shown
                if one.element == at and run.instances[one.instance].application == place
            ]
            _draw_bars(axes, at, bars, COLOURS[place % len(COLOURS)], span_us / factor)
        axes.plot([], [], "s", color=COLOURS[place % len(COLOURS)], label=application.name)
    axes.set_yticks(range(len(elements)), [_element_label(one.name, figures) for one in elements])
    axes.set_ylim(len(elements) - 0.4, -0.6)
    axes.set_xlim(0, span_us / factor)
    axes.set_xlabel(f"{unit} since the first task began, simulated; times of tasks: {times_text(source)}")
    what = "" if window_us is None else f", the first {span_us / factor:g} {unit}"
    title = f"{name} under {figures.policy} at {rate_text(figures.injected)} instances/s{what}"
    axes.set_title(title, fontsize="medium")
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=6, fontsize="small", frameon=False)
    return figure


def _draw_bars(axes: Axes, row: int, bars: Sequence[tuple[float, float]], colour: str, span: float) -> None:
    """Bars (begin, width) in a row of the chart, which is `span` long."""
    from matplotlib.colors import to_rgba

    wide = [one for one in bars if one[1] >= NARROW * span]
    place = (row - 0.38, 0.76)
    axes.broken_barh(wide, place, facecolor=colour, edgecolor="white", linewidth=0.4)
    shares = _shares(np.array([one for one in bars if one[1] < NARROW * span]).reshape(-1, 2), span)
    width = span / BINS
    shown = [(index * width, width) for index in np.flatnonzero(shares)]
    shades = [to_rgba(colour, min(1.0, float(share))) for share in shares[shares > 0]]
    axes.broken_barh(shown, place, facecolor=shades, linewidth=0)


def _shares(bars: NDArray[np.float64], span: float) -> NDArray[np.float64]:
    """The share of each of BINS times that bars [N, (begin, width)] fill."""
    edges = np.linspace(0.0, span, BINS + 1)
    begins, ends = np.sort(bars[:, 0]), np.sort(bars.sum(axis=1))
    # the time filled up to each edge: that of bars which began, less what of them lies behind it
    filled = _elapsed(begins, edges) - _elapsed(ends, edges)
    shares: NDArray[np.float64] = np.diff(filled) / (span / BINS)
    return shares


def _elapsed(since: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """At each edge, the times that have gone by since each moment before it, added up."""
    count = np.searchsorted(since, edges)
    sums = np.concatenate([[0.0], np.cumsum(since)])
    found: NDArray[np.float64] = edges * count - sums[count]
    return found


def _element_label(name: str, figures: Figures) -> str:
    return f"{name}  {figures.busy[name]:4.0%}"


def sweep_picture(found: Sequence[dict[str, Any]], name: str, source: Mapping[str, Sequence[str]]) -> Figure:
    """Completed instances a second above, mean response times below, over the rate of arrivals.

    With several policies a column for each node and a colour for each policy; else a colour for each node.
    """
    from matplotlib.figure import Figure

    nodes = list(dict.fromkeys(one["resources"] for one in found))
    policies = list(dict.fromkeys(one["policy"] for one in found))
    columns: list[str | None] = [*nodes] if len(policies) > 1 else [None]
    series = policies if len(policies) > 1 else nodes
    key = "policy" if len(policies) > 1 else "resources"
    figure = Figure(figsize=(2 + 4.2 * len(columns), 7.5), layout="constrained")
    grid = figure.subplots(2, len(columns), squeeze=False, sharex=True, sharey="row")
    for at, node in enumerate(columns):
        above, below = grid[0][at], grid[1][at]
        for number, label in enumerate(series):
            of = [one for one in found if one[key] == label and node in (None, one["resources"])]
            _line(above, below, of, label, number)
        _limits(above, [one for one in found if node in (None, one["resources"])])
        _plain_ticks(above, "")
        _plain_ticks(below, "s")
        above.set_title(node or f"{name} under {policies[0]}", fontsize="medium")
        below.set_xlabel("instances that arrive a second")
    grid[0][0].set_ylabel("instances completed a second, simulated")
    grid[1][0].set_ylabel("mean response time, simulated")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize="small", frameon=False)
    figure.suptitle(f"{name}; times of tasks: {times_text(source)}", fontsize="medium")
    return figure


def _plain_ticks(axes: Axes, unit_above: str) -> None:
    """Figures at 1, 2 and 5 of each power of ten: 2k, 50k."""
    from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

    for axis, unit in ((axes.xaxis, ""), (axes.yaxis, unit_above)):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(EngFormatter(unit=unit, sep=" " if unit else ""))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(color="#E4E4E4", linewidth=0.6)


def _line(above: Axes, below: Axes, of: Sequence[dict[str, Any]], label: str, number: int) -> None:
    of = sorted(of, key=lambda one: float(one["injected_per_s"]))
    rates = [one["arrived_per_s"] for one in of]
    style: dict[str, Any] = {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 9 - 1.2 * number % 6,
        "markerfacecolor": "none",
        "linewidth": 1.3,
        "label": label,
    }
    above.loglog(rates, [one["completed_per_s"] for one in of], **style)
    below.loglog(rates, [one["response_us"]["mean"] / 1e6 for one in of], **style)


def _limits(axes: Axes, of: Sequence[dict[str, Any]]) -> None:
    """The line on which all that arrives is completed, and what no policy can exceed."""
    rates = [one["arrived_per_s"] for one in of]
    ends = [min(rates), max(rates)]
    axes.plot(ends, ends, color="#BBBBBB", linewidth=1, zorder=0, label="all that arrives")
    for number, most in enumerate(sorted({one["capacity_per_s"] for one in of})):
        if most <= 1.5 * max(rates):
            label = "no policy can do more" if number == 0 else None
            axes.axhline(most, color="black", linewidth=0.8, linestyle=":", label=label)
