"""The Pareto front of widths as a picture: what the metric costs, SVG or PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hlsgen.report.front_file import check_ending, save_figure
from hlsgen.widths.quantised import Candidate, Quantised


def write_picture(found: Quantised, path: Path) -> None:
    """Writes the picture. Raises DesignError: no such kind; OutputError: `path` cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    scale = 100 if found.metric.is_share else 1
    price = 100.0 if found.interval else 1.0
    front = [(price * one.price, scale * one.held_out) for one in found.front]
    axes.plot(
        *zip(*front, strict=True), "o-", color="#0072B2", markersize=4, label="front of widths by tensor"
    )
    even = [one for one in found.uniform if not one.hardware.refusal]
    axes.plot(
        *_columns(even, scale, price), "s", color="#E69F00", markersize=5, label="one width for all, in bits"
    )
    for one in even:
        at = (price * one.price, scale * one.held_out)
        bits = one.name.removesuffix(" bits")
        axes.annotate(bits, at, xytext=(0, 6), textcoords="offset points", ha="center", fontsize="small")
    axes.plot(*_columns([found.chosen], scale, price), "*", color="black", markersize=14, label="chosen")
    said_axes(axes, found)
    check_ending(path)
    save_figure(figure, path)


def said_axes(axes: Any, found: Quantised) -> None:
    """What the axes of a picture of widths say, and floating point as a line."""
    scale = 100 if found.metric.is_share else 1
    axes.axhline(scale * found.floating[1], linestyle=":", color="grey", label="floating point")
    unit = " [%]" if found.metric.is_share else ""
    axes.set_ylabel(f"{found.metric.name}{unit} on {found.held_out} held-out frames, measured")
    what = "sum of shares" if found.least == "all" else f"share of {found.least.upper()}"
    cost = f"{what} of the board [%], one instance" if found.interval else "time of a frame [µs]"
    axes.set_xlabel(f"{cost}, modelled")
    axes.set_title(f"{found.design.name}: {found.hardware_text}")
    axes.grid(color="#DDDDDD", linewidth=0.6)
    axes.legend(loc="lower right", fontsize="small")


def _columns(points: list[Candidate], scale: int, price: float) -> tuple[list[float], list[float]]:
    return [price * one.price for one in points], [scale * one.held_out for one in points]
