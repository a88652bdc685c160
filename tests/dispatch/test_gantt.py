"""The Gantt picture shows elements as dark as they are busy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hlsgen.dispatch.node import MICROSECOND
from hlsgen.dispatch.pictures import gantt

TASKS = 20_000


def darkness(busy: float) -> float:
    """The share of ink in the row of an element that is busy for short times all over the run."""
    period = 10 * MICROSECOND
    executions = [
        SimpleNamespace(start=n * period, end=n * period + busy * period, element=0, instance=0)
        for n in range(TASKS)
    ]
    executions.append(
        SimpleNamespace(start=TASKS * period, end=TASKS * period + period, element=1, instance=0)
    )
    run: Any = SimpleNamespace(
        node=SimpleNamespace(elements=[SimpleNamespace(name="cpu1"), SimpleNamespace(name="cpu2")]),
        executions=executions,
        applications=[SimpleNamespace(name="app")],
        instances=[SimpleNamespace(application=0)],
    )
    figures: Any = SimpleNamespace(busy={"cpu1": busy, "cpu2": 0.0}, policy="EFT", injected=1.0)
    picture = gantt(run, figures, "net", {"cpu": ["measured"]}, None)
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(picture)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3].astype(float)
    axes = picture.axes[0]
    # within the row, beside the lines of the grid
    (left, low), (right, high) = axes.transData.transform([(0, 0.3), (axes.get_xlim()[1], -0.3)])
    part = pixels[int(len(pixels) - high) + 1 : int(len(pixels) - low) - 1, int(left) + 2 : int(right) - 2]
    colour = np.array([0x00, 0x72, 0xB2], float)
    return float(((255 - part) / (255 - colour)).mean())


@pytest.mark.parametrize("busy", [0.01, 0.07, 0.5, 0.9])
def test_a_row_is_as_dark_as_its_element_is_busy(busy: float) -> None:
    assert darkness(busy) == pytest.approx(busy, rel=0.35, abs=0.03)
