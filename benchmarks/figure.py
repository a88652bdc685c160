"""Figure 3.8: bars of GFLOPS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from layer import CHANNELS, FILTERS, HEIGHT, KERNEL, WIDTH

Source = Literal["measured here", "modelled", "published (D4.8)"]
COLOURS: dict[Source, str] = {
    "measured here": "#0072B2",
    "modelled": "#E69F00",
    "published (D4.8)": "#8A8A8A",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One bar of figure 3.8; `note` stands under the label. at_most: the value is a bound."""

    label: str
    gflops: float
    source: Source
    note: str = ""
    at_most: bool = False


def figure_3_8(rows: Sequence[Row], path: Path, *, note: str = "") -> tuple[Path, Path]:
    """Write the bar chart to `path` with .png and .svg; returns both. GFLOPS on a log axis, first row on top.

    `note` stands below the axis. The same arguments give the same SVG.
    Raises ValueError: no rows, or a value that a log axis cannot show.
    """
    if not rows or any(not (np.isfinite(row.gflops) and row.gflops > 0) for row in rows):
        raise ValueError("figure 3.8 needs at least one row, and positive values")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch
    from matplotlib.ticker import FuncFormatter

    style: Any = {"svg.hashsalt": "hlsgen", "font.size": 10, "font.family": "DejaVu Sans"}
    with matplotlib.rc_context(style):
        figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.62 * len(rows)), layout="constrained")
        places = range(len(rows))
        values = [row.gflops for row in rows]
        axes.barh(places, values, height=0.62, color=[COLOURS[row.source] for row in rows])
        for place, row in zip(places, rows, strict=True):
            axes.annotate(
                f"{'≤ ' if row.at_most else ''}{_three_digits(row.gflops)}  {row.source}",
                (row.gflops, place),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        axes.set_yticks(places, [f"{row.label}\n{row.note}" if row.note else row.label for row in rows])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        # A bar of a log axis may begin anywhere: a little below the least, with room for words at the right.
        axes.set_xlim(min(values) / 3, max(values) * 40)
        axes.set_xlabel("GFLOPS (fixed point: GOPS), log scale" + (f"\n{note}" if note else ""))
        axes.set_title(
            f"Figure 3.8: 2D convolution, {CHANNELS} x {HEIGHT} x {WIDTH} to {FILTERS}, {KERNEL} x {KERNEL}",
            fontsize=11,
        )
        axes.grid(axis="x", which="major", color="#DDDDDD")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        used = [source for source in COLOURS if any(row.source == source for row in rows)]
        handles = [Patch(color=COLOURS[source], label=source) for source in used]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(used), frameon=False)
        png, svg = path.with_suffix(".png"), path.with_suffix(".svg")
        figure.savefig(png, dpi=150, metadata={"Software": None})
        figure.savefig(svg, metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    return png, svg


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
