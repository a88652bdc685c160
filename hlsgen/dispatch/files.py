"""What a simulation or a sweep leaves in its folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hlsgen.base.output import replacing, write_files
from hlsgen.dispatch.figures import Figures
from hlsgen.dispatch.pictures import gantt, sweep_picture
from hlsgen.dispatch.points import saturation
from hlsgen.dispatch.scenario import Scenario
from hlsgen.dispatch.simulation import Run
from hlsgen.dispatch.trace import RUNTIMES, TIMING, runtime_trace, timing_trace
from hlsgen.report.front_file import save_figure

ENDINGS = (".svg", ".png")
KIND = "simulated"


def run_json(scenario: Scenario, found: Figures) -> dict[str, Any]:
    """A simulation as --json prints it."""
    return {**_head(scenario), **found.as_json()}


def sweep_json(scenario: Scenario, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A sweep as --json prints it."""
    return {**_head(scenario), "saturation": saturation(found), "points": list(found)}


def _head(scenario: Scenario) -> dict[str, Any]:
    return {
        "scenario": scenario.name,
        "kind": KIND,
        "times": {type_: list(texts) for type_, texts in scenario.source.items()},
        "estimates": "kind" if scenario.by_kind else "task",
        "seed": scenario.seed,
        "frames": {one.name: one.frames for one in scenario.applications},
        "warnings": list(scenario.warnings),
    }


def write_run(folder: Path, scenario: Scenario, done: Run, found: Figures, window_us: float | None) -> None:
    """Writes the figures, CEDR's logs and the Gantt chart, whole or not at all.

    Raises NotOursError: the folder holds something else. OutputError: it cannot be written.
    """
    with replacing(folder) as fresh:
        write_files(
            fresh,
            {
                "simulation.json": _text(run_json(scenario, found)),
                TIMING: timing_trace(done),
                RUNTIMES: runtime_trace(done),
            },
        )
        picture = gantt(done, found, scenario.name, scenario.source, window_us)
        for ending in ENDINGS:
            save_figure(picture, fresh / f"gantt{ending}")


def write_sweep(folder: Path, scenario: Scenario, found: Sequence[dict[str, Any]]) -> None:
    """Writes the table of a sweep and its picture; raises as `write_run` does."""
    with replacing(folder) as fresh:
        write_files(fresh, {"sweep.json": _text(sweep_json(scenario, found))})
        picture = sweep_picture(found, scenario.name, scenario.source)
        for ending in ENDINGS:
            save_figure(picture, fresh / f"sweep{ending}")


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
