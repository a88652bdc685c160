"""How far the cost model is off against published results of the vendor tools, fitted and not.

python benchmarks/predict.py [--json PATH]

Terms: on the rows that no term was fitted to, beside the constants that hlsgen had before it fitted any.
Loops: cycles by the formula of hlsgen/cost/cycles.py. Designs: whole published ones; hlsgen's own have not
been synthesised, so that one of like structure is set beside each, or the reason said why none is comparable.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import hlsgen
from hlsgen.cost.fitting import FEWEST_CONFIGURATIONS, fitted, held_out, published_factors
from hlsgen.cost.published_cores import FAMILIES, PUBLISHED, Family, Row, published_rows
from hlsgen.targets.terms import CELLS, Kind

JSON = Path("build/benchmarks/predict.json")
Constant = Callable[[Row], float]


def _bits(row: Row) -> int:
    return max(row.number("a"), row.number("b"), row.number("bits"))


def _product_rows(row: Row) -> float:
    a, w = (int(part.removesuffix("ns")) for part in row.parameters.split("_")[1:3])
    return (2 * -(-(a + w) // 6) - 1) * (a + w)


NOT_FITTED: dict[tuple[str, Kind], Constant] = {
    ("lut_product", "lut"): _product_rows,
    ("adder", "lut"): _bits,
    ("compare", "lut"): _bits,
    ("select", "lut"): _bits,
    ("multiplexer", "lut"): lambda row: max(1, row.number("bits")) * -(-(row.number("inputs") - 1) // 3),
    ("memory_lutram", "lut"): lambda row: 8 * -(-row.number("words") // 64) * -(-row.number("bits") // 7),
    ("memory_lutram", "ff"): _bits,
    ("memory_block", "ff"): _bits,
    ("fifo_registers", "ff"): lambda row: _bits(row) + 20,
    ("fifo_shift", "ff"): lambda row: _bits(row) + 20,
    ("fifo_lutram", "ff"): lambda row: _bits(row) + 40,
    ("fifo_block", "ff"): lambda row: _bits(row) + 40,
}
"""What hlsgen counted before its terms were fitted: of the routed design, by the primitives' structure."""


@dataclass(frozen=True, kw_only=True)
class TermError:
    """Relative errors of a term on `rows` held-out rows; `before`: of the constant, if there was one."""

    term: str
    kind: Kind
    rows: int
    median: float
    q90: float
    before: float | None


def term_errors(rows: Sequence[Row]) -> list[TermError]:
    """Every fitted figure."""
    return [_term_error(family, kind, rows) for family in FAMILIES for kind in family.kinds]


def _term_error(family: Family, kind: Kind, rows: Sequence[Row]) -> TermError:
    """Fitted anew here: not what the file of terms says of its errors."""
    found = fitted(family, kind, family.kinds[kind], rows).fit
    assert found is not None
    near = [row for row, _ in family.rows(list(rows)) if row.at_our_clocks]
    names = {f"{row.term} {row.parameters}" for row in near}
    if len(names) >= FEWEST_CONFIGURATIONS:
        near = [row for row in near if held_out(f"{row.term} {row.parameters}")]
    constant = NOT_FITTED.get((family.name, kind))
    before = None
    if constant is not None:
        reported = np.array([row.cells(kind) for row in near], np.float64)
        before = float(np.median(_errors(np.array([constant(row) for row in near]), reported)))
    return TermError(
        term=family.name, kind=kind, rows=found.held_out, median=found.median, q90=found.q90, before=before
    )


def _errors(predicted: Any, reported: Any) -> Any:
    return np.abs(predicted - reported) / np.maximum(1.0, reported)


def loop_errors() -> dict[str, int]:
    """Loops whose latency the formula gives exactly, within one cycle, and all."""
    with (PUBLISHED / "vitis-loops.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    off = []
    for line in lines:
        trips, ii, depth, latency = (int(line[name]) for name in LOOP_COLUMNS)
        off.append(abs((trips - 1) * ii + depth - 1 - latency))
    return {"loops": len(off), "exact": off.count(0), "within_one": sum(one <= 1 for one in off)}


LOOP_COLUMNS = ("trip_count", "ii", "iteration_latency", "loop_latency")


@dataclass(frozen=True, kw_only=True)
class DesignError:
    """A published design, and hlsgen's of the same function: figures, or why there is none."""

    design: str
    stage: str
    published: dict[str, int]
    modelled: dict[str, int]
    stated: dict[str, float]
    why: str


DESIGN = """
name: conv
board: u200
clock_mhz: 300
style: tasks
batch: 64
input: {{shape: [16, {size}, {size}], type: float32}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 16, kernel: 3, bias: true, weights: {{seed: 1}}}}
mapping: {{instances: {instances}, conv1: {{rows: 1, pe: 1, simd: 1}}}}
"""
KINDS = ("dsp", "bram18", "lut", "ff")
FUNCTIONS = {
    "conv2d 16->16 3x3 64x64 fp32 pipelined x10": (
        64,
        10,
        "same function and multipliers; whole frames on chip",
    ),
}
"""By design: height and width, instances, and how its structure differs from that of `_same_function`."""
WHY_NOT = {
    "conv2d 16->16 3x3 64x64 fp32 naive": "not pipelined",
    "conv 16->16 3x3 56x56 fp32 sequential": "one multiplier; hlsgen has all of the kernel's",
    "conv 16->16 3x3 56x56 fp32 parallel": "other multipliers than one kernel's",
    "residual block 16->16 56x56 fp32": "other parallelism in each of its layers",
    "SVHN CNN 32x32x3 16 bit": "pruned weights are constants in its logic",
    "SVHN CNN 32x32x3 6 bit": "pruned weights are constants in its logic",
    "conv2d 28x28x3->32 4x4 stride 4 default": "unrolled im2col; weights are constants in its logic",
}


def design_errors() -> list[DesignError]:
    """Every published design."""
    with (PUBLISHED / "vitis-designs.csv").open(encoding="utf-8", newline="") as file:
        return [_design(line) for line in csv.DictReader(file)]


def _design(line: dict[str, str]) -> DesignError:
    published = {kind: int(line[kind]) for kind in KINDS}
    name, stage = line["design"], line["stage"]
    if name not in FUNCTIONS:
        return DesignError(
            design=name, stage=stage, published=published, modelled={}, stated={}, why=WHY_NOT[name]
        )
    size, instances, why = FUNCTIONS[name]
    report = _same_function(size, instances).estimate().as_json()
    cost = report["cost"]["csynth" if stage == "csynth" else "routed"]
    total = report["total"]
    return DesignError(
        design=name,
        stage=stage,
        published=published,
        modelled={"dsp": total["dsp"], "bram18": total["bram18"], "lut": cost["lut"], "ff": cost["ff"]},
        stated={kind: cost[f"{kind}_error"] for kind in CELLS},
        why=why,
    )


def _same_function(size: int, instances: int) -> hlsgen.Design:
    """The convolution with one row, PE and SIMD: nine multipliers an instance."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conv.yaml"
        path.write_text(DESIGN.format(size=size, instances=instances), encoding="utf-8")
        return hlsgen.load(path)


def tables(found: dict[str, Any]) -> list[Table]:
    """What is found, for a person."""
    terms = Table("term", "", "rows", "median", "90 %", "median, not fitted", title="csynth's rows, held out")
    for one in found["terms"]:
        before = "" if one["before"] is None else f"{one['before']:.0%}"
        errors = (f"{one['median']:.1%}", f"{one['q90']:.1%}")
        terms.add_row(one["term"], one["kind"].upper(), str(one["rows"]), *errors, before)
    head = (
        "published design",
        "",
        *(kind.upper() for kind in KINDS),
        "how it differs, or why not comparable",
    )
    designs = Table(*head, title="whole designs")
    for one in found["designs"]:
        cells = [_beside(one, kind) for kind in KINDS]
        designs.add_row(one["design"], one["stage"], *cells, one["why"])
    return [terms, designs]


def _beside(one: dict[str, Any], kind: str) -> str:
    published = one["published"][kind]
    if not one["modelled"]:
        return f"{published:,}"
    modelled = one["modelled"][kind]
    return f"{published:,}, modelled {modelled:,} ({modelled / published - 1:+.0%})"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=Path, default=JSON, metavar="PATH")
    chosen = parser.parse_args(arguments)
    factors = published_factors()
    found: dict[str, Any] = {
        "terms": [vars(one) for one in term_errors(published_rows())],
        "loops": loop_errors(),
        "routed_over_csynth": factors.model_dump(),
        "designs": [vars(one) for one in design_errors()],
    }
    console = Console(width=150)
    for table in tables(found):
        console.print(table)
    loops = found["loops"]
    console.print(
        f"loops: {loops['exact']} of {loops['loops']} to the cycle, {loops['within_one']} within one\n"
        f"routed over csynth: LUT {factors.lut.factor:g} +- {factors.lut.error:.0%}, "
        f"FF {factors.ff.factor:g} +- {factors.ff.error:.0%}, over {factors.lut.designs} designs"
    )
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    chosen.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
