"""The Pareto front as a picture (SVG or PNG)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hlsgen.base.errors import DesignError, OutputError, Problem
from hlsgen.explore.result import Explored
from hlsgen.search.board_limits import KINDS, whole_of

ENDINGS = (".svg", ".png")
NAMES = {"lut": "LUT", "ff": "FF", "bram18": "BRAM18", "uram": "URAM", "dsp": "DSP"}
COLOURS = {"lut": "#0072B2", "ff": "#56B4E9", "bram18": "#E69F00", "uram": "#CC79A7", "dsp": "#009E73"}
"""Okabe and Ito's, which colour-blind people tell apart."""


def check_ending(path: Path) -> None:
    """Raises DesignError: no picture of this kind is drawn."""
    if path.suffix not in ENDINGS:
        message = f"the plot is to be written to {path}, which is no {' or '.join(ENDINGS)} file"
        raise DesignError(Problem(message=message, fix="--plot front.svg"))


def draw_front(explored: Explored[Any], path: Path) -> None:
    """Frames a second against shares of the usable board. Raises OutputError: `path` cannot be written."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter, PercentFormatter

    check_ending(path)
    board = explored.design.board
    whole = whole_of(board)
    kinds = [kind for kind in KINDS if getattr(whole, kind)]
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    rates = [one.frames_per_s for one in explored.front]
    for kind in kinds:
        shares = [one.used[kind] / getattr(whole, kind) for one in explored.front]
        axes.plot(
            rates, shares, color=COLOURS[kind], linestyle="none", marker=".", markersize=5, label=NAMES[kind]
        )
    largest = [one.largest_share for one in explored.front]
    axes.plot(rates, largest, color="black", linewidth=1.6, label="largest share", zorder=1)
    point = explored.point
    share = max(point.utilisation.values())
    axes.plot([point.frames_per_s], [share], "*", color="black", markersize=14, label="chosen", zorder=5)
    if explored.greedy:
        share = max(explored.greedy.utilisation.values())
        axes.plot(
            [explored.greedy.frames_per_s],
            [share],
            "x",
            color="#D55E00",
            markersize=7,
            label="greedy",
            zorder=6,
        )
    if explored.multiplier_fps:
        axes.axvline(explored.multiplier_fps, color="grey", linestyle=":", label="all DSPs at work")
    axes.set_xscale("log")
    axes.set_ylim(0, 1.05)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_minor_formatter(EngFormatter(sep=""))
    axes.tick_params(axis="x", which="minor", labelsize="small")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("frames a second, modelled")
    axes.set_ylabel("share of what may be used of the board")
    axes.set_title(f"{explored.design.name} on {board.title} at {explored.design.clock_mhz:g} MHz")
    axes.grid(color="#DDDDDD", linewidth=0.5)
    axes.legend(loc="upper left", fontsize="small")
    # same figures, same bytes: no random ids, no date
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    try:
        with matplotlib.rc_context({"svg.hashsalt": "hlsgen"}):
            figure.savefig(path, dpi=120, metadata=metadata)
    except OSError as error:
        message = f"error: cannot write {path}: {error.strerror or error}\nfix: another --plot"
        raise OutputError(message) from None
