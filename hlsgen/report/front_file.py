"""The picture of the Pareto front as a file, SVG or PNG."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hlsgen.base.errors import DesignError, OutputError, Problem
from hlsgen.report.front_picture import FrontPicture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".png")
DPI = 150
TITLE = 24
"""Pixels above the picture."""


def check_ending(path: Path) -> None:
    """Checks the name of a file to write. Raises DesignError: no picture of this kind is drawn."""
    if path.suffix not in ENDINGS:
        message = f"the plot is to be written to {path}, which is no {' or '.join(ENDINGS)} file"
        raise DesignError(Problem(message=message, fix="--plot front.svg"))


def write_front(picture: FrontPicture, title: str, path: Path) -> None:
    """Writes the picture. Raises DesignError: no such kind; OutputError: `path` cannot be written."""
    from matplotlib.figure import Figure

    check_ending(path)
    height = picture.height + TITLE
    figure = Figure(figsize=(picture.width / 80, height / 80))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, picture.width), ylim=(picture.height, -TITLE))
    axes.set_axis_off()
    left, top, right, bottom = map(float, picture.frame)
    for tick in picture.x_ticks:
        axes.plot([float(tick.at)] * 2, [top, bottom], color="#DDDDDD", linewidth=0.6, zorder=0)
        axes.text(float(tick.at), bottom + 6, tick.label, ha="center", va="top", fontsize="small")
    for tick in picture.y_ticks:
        axes.plot([left, right], [float(tick.at)] * 2, color="#DDDDDD", linewidth=0.6, zorder=0)
        axes.text(left - 7, float(tick.at), tick.label, ha="right", va="center", fontsize="small")
    middle = (left + right) / 2
    axes.text(middle, picture.height - 7, "frames a second, modelled", ha="center", fontsize="small")
    axes.text(13, (top + bottom) / 2, "share of what may be used", rotation=90, va="center", fontsize="small")
    axes.text(middle, -4, title, ha="center", fontsize="medium")
    for kind in picture.kinds:
        axes.plot(*_columns(kind.places), ".", color=kind.colour, markersize=5, label=kind.name)
    axes.plot(
        *_columns((x, y) for x, y, _ in picture.points), color="black", linewidth=1.6, label="largest share"
    )
    axes.plot(*_columns([picture.chosen]), "*", color="black", markersize=14, label="chosen")
    if picture.greedy:
        axes.plot(*_columns([picture.greedy]), "x", color="#D55E00", markersize=7, label="greedy")
    if picture.limit:
        axes.plot([float(picture.limit)] * 2, [top, bottom], ":", color="grey", label="all DSPs at work")
    axes.legend(loc="upper left", bbox_to_anchor=(left, top), bbox_transform=axes.transData, fontsize="small")
    save_figure(figure, path)


def save_figure(figure: Figure, path: Path) -> None:
    """Writes a picture, of the same figures the same bytes. Raises OutputError: `path` cannot be written."""
    import matplotlib

    # no random ids, no date
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    try:
        with matplotlib.rc_context({"svg.hashsalt": "hlsgen"}):
            figure.savefig(path, dpi=DPI, metadata=metadata)
    except OSError as error:
        message = f"error: cannot write {path}: {error.strerror or error}\nfix: another --plot"
        raise OutputError(message) from None


def _columns(places: Iterable[tuple[str, str]]) -> tuple[list[float], list[float]]:
    """The x of all places, and the y."""
    found = [(float(x), float(y)) for x, y in places]
    return [x for x, _ in found], [y for _, y in found]
