"""The designs at several clocks, side by side: what they are modelled to reach where 300 MHz is not.

python benchmarks/clocks.py [--json PATH] [--clocks MHZ ...] [--boards B ...] [DESIGN ...]

DESIGN: a name in designs/ or a path to a design file; without any, all of designs/. Of each design what
`hlsgen build` chooses by itself at that clock, inside the board's margin. Frames and operations a second are
modelled; nothing is compiled.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from machine import DESIGNS
from rich.console import Console
from rich.table import Table

import hlsgen
from hlsgen.base.errors import DesignError

CLOCKS = (220.0, 250.0, 300.0)
"""Public networks on a U200 reached about 220 MHz; what 250 would give; the memory controllers' clock."""
JSON = Path("build/benchmarks/clocks.json")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A design on a board at a clock. gops: two operations a multiply-accumulate. usable: the probability to
    stay inside the usable share. problem: why there are no figures.
    """

    design: str
    board: str
    clock_mhz: float
    frames_per_s: float = 0.0
    gops: float = 0.0
    binds: str = ""
    usable: float = 0.0
    problem: str = ""


def measured(path: Path, board: str, clocks: Sequence[float]) -> Iterator[Row]:
    """The rows of a design, one a clock."""
    for clock in clocks:
        names = {"design": path.stem, "board": board, "clock_mhz": clock}
        try:
            design = hlsgen.load(path, board=board, clock_mhz=clock)
            found = design.estimate()
        except DesignError as error:
            yield Row(**names, problem=str(error.problems[0].message))
            continue
        yield Row(
            **names,
            frames_per_s=found.frames_per_s,
            gops=2 * design.macs * found.frames_per_s / 1e9,
            binds=found.binds,
            usable=found.fit.usable,
        )


def tabled(rows: Sequence[Row], clocks: Sequence[float]) -> Table:
    """A design and board a line, its clocks beside each other."""
    heads = [f"{clock:g} MHz" for clock in clocks]
    table = Table("design", "board", *heads, "binds", title="modelled: frames/s (GOPS)")
    for design, board in dict.fromkeys((row.design, row.board) for row in rows):
        same = [row for row in rows if (row.design, row.board) == (design, board)]
        cells = ["refused" if row.problem else f"{row.frames_per_s:,.0f} ({row.gops:,.0f})" for row in same]
        table.add_row(design, board, *cells, same[-1].binds)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("designs", nargs="*", metavar="DESIGN")
    parser.add_argument("--json", type=Path, default=JSON, metavar="PATH")
    parser.add_argument("--clocks", type=float, nargs="+", default=CLOCKS, metavar="MHZ")
    parser.add_argument("--boards", nargs="+", default=["u200", "zcu102"], metavar="B")
    given = parser.parse_args()
    paths = [DESIGNS / f"{name}.yaml" if "." not in name else Path(name) for name in given.designs]
    rows: list[Row] = []
    for path in paths or sorted(DESIGNS.glob("*.yaml")):
        for board in given.boards:
            rows += measured(path, board, given.clocks)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    Console(width=160).print(tabled(rows, given.clocks))


if __name__ == "__main__":
    main()
