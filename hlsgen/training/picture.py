"""The Pareto fronts before and after training in one picture, SVG or PNG."""

from __future__ import annotations

from pathlib import Path

from hlsgen.report.front_file import check_ending, save_figure
from hlsgen.training.trained import TrainedFront
from hlsgen.widths.front_file import said_axes
from hlsgen.widths.quantised import Candidate


def write_trained_picture(found: TrainedFront, path: Path) -> None:
    """Writes the picture. Raises DesignError: no such kind; OutputError: `path` cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    scale = 100 if found.found.metric.is_share else 1

    def at(one: Candidate) -> tuple[float, float]:
        return 100 * one.price, scale * one.held_out

    for front, colour, label in (
        (found.found.front, "#999999", "front of widths before training"),
        (found.front, "#0072B2", "front after training"),
    ):
        xs, ys = zip(*map(at, front), strict=True)
        axes.plot(xs, ys, "o-", color=colour, markersize=4, label=label)
    for row in found.rows:
        if row.better:
            axes.annotate(
                "",
                xy=at(row.after),
                xytext=at(row.before),
                arrowprops={"arrowstyle": "->", "color": "#D55E00", "linewidth": 0.8},
            )
    axes.plot(*at(found.chosen.after), "*", color="black", markersize=14, label="chosen after training")
    said_axes(axes, found.found)
    check_ending(path)
    save_figure(figure, path)
