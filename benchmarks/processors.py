"""csynth's cells of shared processors by the cost model, and by the operations of their compiled code.

python benchmarks/processors.py [NAME ...]

NAME: of PROCESSORS, all without any. For a ZCU102 at 300 MHz; both columns are modelled, one from the
processor's constants and one from what Clang leaves of its emitted C++ (`hlsgen schedule`, whose extra it
needs).
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from hlsgen.base.output import write_files
from hlsgen.cost.processor import processor_resources
from hlsgen.cost.resources import Resources
from hlsgen.emit.shared import processor_files
from hlsgen.hardware.processor import Processor
from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.targets.board import Board, load_board

BOARD = "zcu102"
CLOCK_MHZ = 300.0
SMALL = Processor(
    rows=5,
    lanes=8,
    activation_bits=8,
    weight_bits=8,
    unsigned=False,
    pixel_depth=1024,
    weight_depth=128,
    weight_beat_bits=128,
)
LARGE = replace(
    SMALL, rows=7, lanes=16, pixel_depth=4096, weight_depth=512, weight_beat_bits=512, unsigned=True
)
WINDOWS: dict[str, Any] = {
    "unsigned": True,
    "window_columns": 113,
    "window_results": 112,
    "window_products": True,
    "window_largest": True,
}
PROCESSORS = {
    "8 bits": SMALL,
    "scales, tables, pools": replace(
        SMALL, unsigned=True, fabric_lanes=2, pool_columns=56, tables=True, scales=True
    ),
    "windows over results": replace(SMALL, **WINDOWS),
    "six output channels more": replace(SMALL, extra_lanes=6, carried_words=512, fabric_lanes=4),
    "16 bits, windows": replace(
        SMALL,
        rows=3,
        activation_bits=16,
        weight_bits=16,
        window_columns=57,
        window_results=56,
        window_products=True,
    ),
    "float32": replace(
        SMALL, rows=3, lanes=4, activation_bits=32, weight_bits=32, fabric_lanes=2, floating=True
    ),
    "large": LARGE,
    "large, windows": replace(LARGE, **WINDOWS),
    "large, 16 output channels more": replace(LARGE, extra_lanes=16, carried_words=512),
}


def by_operations(processor: Processor, board: Board) -> Resources:
    """csynth's cells of the emitted kernel, counted in its compiled code."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "build"
        write_files(folder, processor_files(processor, name="net", source="benchmarks/processors.py"))
        component = Component(
            top="net",
            files=(folder / "src/net.cpp",),
            target=Target(part=board.part, version="2024.2", clock_ns=1e3 / CLOCK_MHZ),
            include_folders=(folder / "src",),
        )
        return schedule_component(component).usage.csynth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(PROCESSORS))
    board = load_board(BOARD)
    table = Table(title=f"csynth's cells by operations, the model over them ({BOARD}, {CLOCK_MHZ:g} MHz)")
    for head in ("processor", "rows x lanes", "LUT", "model", "FF", "model", "DSP", "model"):
        table.add_column(head, justify="left" if head == "processor" else "right")
    for name in parser.parse_args().names:
        processor = PROCESSORS[name]
        model = processor_resources(processor, board.terms.of("csynth"))
        counted = by_operations(processor, board)
        table.add_row(
            name,
            f"{processor.rows} x {processor.lanes} x {processor.outputs}",
            f"{counted.lut:,.0f}",
            f"{model.lut / counted.lut:.2f}",
            f"{counted.ff:,.0f}",
            f"{model.ff / counted.ff:.2f}",
            f"{counted.dsp:,.0f}",
            f"{model.dsp:,.0f}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
