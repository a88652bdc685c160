"""A partition as a picture: of every task, which device computes how many of its frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hlsgen.base.rates import rate_text
from hlsgen.partitioning.result import Partitioned
from hlsgen.report.front_file import check_ending, save_figure

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")


def write_picture(found: Partitioned, path: Path) -> None:
    """Writes the picture. Raises DesignError: no such kind; OutputError: `path` cannot be written."""
    from matplotlib.figure import Figure

    check_ending(path)
    tasks = found.chain.tasks
    figure = Figure(figsize=(8, 1.8 + 0.26 * len(tasks)), layout="constrained")
    axes = figure.add_subplot()
    left = np.zeros(len(tasks))
    places = np.arange(len(tasks))
    for number, device in enumerate(found.devices):
        share = 100 * found.found.shares[:, number] / found.frames_per_s
        if share.any():
            colour = COLOURS[number % len(COLOURS)]
            axes.barh(places, share, left=left, color=colour, label=f"{device.name}: {device.about}")
            left += share
    axes.set_yticks(places, [task.name for task in tasks], fontsize="small")
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the frames [%]")
    axes.set_title(f"{found.design}: {rate_text(found.frames_per_s)} frames/s")
    figure.legend(loc="outside lower center", fontsize="small", frameon=False)
    save_figure(figure, path)
