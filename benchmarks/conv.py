"""The layer of figure 3.8: what hlsgen models for it, beside the published design and what others reach here.

python benchmarks/conv.py [--quick] [--json PATH] [--figure DIR]

The layer: 16 channels of 64 x 64, 16 output channels, 3 x 3, with bias. Every figure is called modelled (the
cost model's, for the FPGA), measured (a CPU's, on the machine this runs on) or published (TEXTAROSSA
deliverable D4.8, the design that figure 3.8 and table 3.1 describe). C-simulation is a CPU's work: its time
says nothing about the FPGA's. A multiply-accumulate counts as two operations.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import layer
from conv_measure import (
    COMPILE_TARGET,
    CSIM_TARGET,
    FULL,
    QUICK,
    Measured,
    compile_reached,
    csim_reached,
    measure,
    ratios,
)
from conv_model import NAIVE_FPGA_GFLOPS, PUBLISHED, TARGETS, Modelled, modelled
from conv_tables import CSIM_NOTE, figure_rows, measured_tables, modelled_table, region_table
from figure import figure_3_8
from layer import Measurement, Missing
from machine import machine, reason
from rich.console import Console

import hlsgen

JSON = Path("build/benchmarks/conv.json")
DERIVED_NOTE = "D4.8: TEXTAROSSA deliverable; GFLOPS derived from its text and table 3.1"


def document(models: Sequence[Modelled], measured: Measured | None) -> dict[str, Any]:
    """Everything as JSON; `measured` and the machine's description are left out if nothing was measured."""
    published = {
        "kind": "published",
        **asdict(PUBLISHED),
        "gflops_at_most": PUBLISHED.gflops_at_most,
        "naive_gflops": NAIVE_FPGA_GFLOPS,
        "derived": ["macs_per_cycle", "gflops_at_most", "naive_gflops", "resources.lut"],
    }
    geometry = {
        "in_shape": [layer.CHANNELS, layer.HEIGHT, layer.WIDTH],
        "out_channels": layer.FILTERS,
        "kernel": layer.KERNEL,
        "macs": layer.MACS,
    }
    result = {
        "layer": geometry,
        "hlsgen": hlsgen.__version__,
        "published": published,
        "modelled": [row.as_json() for row in models],
    }
    if measured is not None:
        result["machine"] = machine()
        result["measured"] = {name: _finding(found) for name, found in vars(measured).items()} | {
            "note": CSIM_NOTE,
            "ratios": ratios(measured),
            "targets": {
                "csim M MAC/s": CSIM_TARGET,
                "csim reached": csim_reached(measured.fast),
                "compile CPU s": COMPILE_TARGET,
                "compile reached": compile_reached(measured.fast),
            },
        }
    return result


def _finding(found: Measurement | Missing) -> dict[str, Any]:
    if isinstance(found, Missing):
        return {"kind": "missing", "what": found.what, "reason": reason(found)}
    return {"kind": "measured", **asdict(found)}


def main() -> None:
    """Model, measure, print; write the JSON and, if asked, the figure."""
    parser = argparse.ArgumentParser(description="The layer of figure 3.8: modelled, measured and published.")
    parser.add_argument("--quick", action="store_true", help="measure with fewer frames")
    parser.add_argument("--json", type=Path, default=JSON, metavar="PATH", help=f"write JSON here [{JSON}]")
    parser.add_argument("--figure", type=Path, metavar="DIR", help="write figure_3_8.png and .svg here")
    arguments = parser.parse_args()
    # what goes to a file is not cut to a terminal's 80 columns
    out, err = Console(highlight=False), Console(stderr=True, highlight=False)
    if not out.is_terminal:
        out = Console(highlight=False, width=160)

    def progress(text: str) -> None:
        err.print(f"{text} ...")

    models = []
    for design, board in TARGETS:
        progress(f"modelling {design} on {board}")
        models.append(modelled(design, board))
    measured = measure(QUICK if arguments.quick else FULL, progress)
    report = document(models, measured)

    for table in (modelled_table(models), region_table(models), *measured_tables(measured)):
        out.print(table)
        out.print()
    fp32 = models[0]
    out.print(
        f"{fp32.precision} on the {fp32.board.upper()}, modelled beside published: "
        f"{fp32.gops / PUBLISHED.gflops_at_most:.1f} times the GFLOPS (at least) with "
        f"{fp32.resources.bram18:,} BRAM18 for {PUBLISHED.resources.bram18:,} "
        f"(and {fp32.resources.dsp:,} DSP for {PUBLISHED.resources.dsp:,}; "
        f"D4.8's GFLOPS follow from {PUBLISHED.macs_per_cycle} multiply-accumulates a cycle an instance)."
    )
    here = report["machine"]
    on = f"{here['cpu']}, {here['cores']} {'core' if here['cores'] == 1 else 'cores'}"
    out.print(f"Measured on: {on}; {here['compiler']}.")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    err.print(f"wrote {arguments.json}")
    if arguments.figure is not None:
        arguments.figure.mkdir(parents=True, exist_ok=True)
        note = f"measured here: {on}, float32\n{DERIVED_NOTE}"
        rows = figure_rows(models, measured)
        written = figure_3_8(rows, arguments.figure / "figure_3_8", note=note)
        err.print(f"wrote {', '.join(str(path) for path in written)}")


if __name__ == "__main__":
    main()
