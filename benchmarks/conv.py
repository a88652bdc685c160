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
import platform
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import peers
from peers import Measurement, Missing, Row
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import hlsgen
from hlsgen.cost.resources import Resources
from hlsgen.csim.compiler import Headers, compile_testbench, find_compiler
from hlsgen.csim.simulation import compare, simulate
from hlsgen.emit.plan import plan_of
from hlsgen.errors import HlsgenError, ToolError
from hlsgen.mapping.placement import KINDS, usable
from hlsgen.output import write_files
from hlsgen.tasks import TasksDesign

DESIGNS = Path(__file__).resolve().parent.parent / "designs"
JSON = Path("build/benchmarks/conv.json")
PRECISIONS = {"conv": "fp32", "conv_fixed16": "fixed16", "conv_int8": "int8"}
BOARDS = ("u200", "zcu102")
CLOCK_MHZ = 300.0
TARGETS = {
    ("conv", "u200"): 500.0,
    ("conv_fixed16", "u200"): 2000.0,
    ("conv_int8", "u200"): 4000.0,
    ("conv", "zcu102"): 200.0,
    ("conv_fixed16", "zcu102"): 700.0,
    ("conv_int8", "zcu102"): 1400.0,
}
"""GOPS to reach, by design and board."""
CSIM_TARGET = 300.0
"""Million multiply-accumulates a second of C-simulation, on one core."""
COMPILE_TARGET = 5.0
"""Seconds of CPU time to compile the C-simulation in."""
CSIM_NOTE = (
    "C-simulation runs on a CPU: its time is never the FPGA's. hls4ml by CPU time, hlsgen by wall time."
)
DERIVED_NOTE = "D4.8: TEXTAROSSA deliverable; GFLOPS derived from its text and table 3.1"
CSIM_REPEATS = 3


@dataclass(frozen=True, kw_only=True)
class Published:
    """What D4.8 says of its pipelined design, or what follows from that."""

    source: str = "TEXTAROSSA deliverable D4.8, section 3.6 and table 3.1"
    board: str = "u200"
    clock_mhz: float = CLOCK_MHZ
    instances: int = 10
    resources: Resources = Resources(bram18=3378, dsp=462, ff=425_818, lut=335_165, uram=17)
    """LUT: 28.35 % of 1,182,240. The table's own number repeats its FF."""
    macs_per_cycle: int = 9
    """Of an instance; derived: 46 DSP are 9 fp32 multipliers and adders, of 5 DSP each."""

    @property
    def gflops_at_most(self) -> float:
        """If every instance multiplied in every cycle; not a measurement of D4.8."""
        return 2 * self.macs_per_cycle * self.instances * self.clock_mhz / 1e3


PUBLISHED = Published()
NAIVE_FPGA_GFLOPS = 0.2 / 9
"""D4.8's FPGA version without optimisation: one operation every 9 cycles at 200 MHz."""


# ---------------------------------------------------------------- modelled


@dataclass(frozen=True, kw_only=True)
class Region:
    """An SLR: what the design uses there, and the board's usable share of it."""

    name: str
    instances: int
    used: Resources
    usable: Resources

    @property
    def within(self) -> bool:
        return all(getattr(self.used, kind) <= getattr(self.usable, kind) for kind in KINDS)


@dataclass(frozen=True, kw_only=True)
class Modelled:
    """A design on a board, as the cost model has it. `gops` is the steady state's.

    proven: whether the bank map that all instances share has no collision at any anchor, tried one by one.
    """

    design: str
    board: str
    precision: str
    clock_mhz: float
    gops: float
    batch: int
    batch_gops: float
    target: float
    instances: int
    resources: Resources
    binds: str
    regions: tuple[Region, ...]
    proven: bool

    @property
    def less_memory(self) -> bool:
        return self.resources.bram18 < PUBLISHED.resources.bram18

    @property
    def within(self) -> bool:
        """Whether no SLR is filled beyond its usable share."""
        return all(region.within for region in self.regions)

    @property
    def reached(self) -> bool:
        """Steady state and batch reach the target; fp32 on the U200 also with less BRAM than published."""
        fast = min(self.gops, self.batch_gops) >= self.target
        comparable = (self.precision, self.board) == ("fp32", PUBLISHED.board)
        return fast and (self.less_memory or not comparable)

    def as_json(self) -> dict[str, Any]:
        regions = [{**asdict(region), "within": region.within} for region in self.regions]
        return {
            "kind": "modelled",
            **asdict(self),
            "regions": regions,
            "within": self.within,
            "reached": self.reached,
        }


@lru_cache
def modelled(design: str, board: str) -> Modelled:
    """The figures of designs/<design>.yaml on `board`; nothing is compiled or run."""
    loaded = hlsgen.load(DESIGNS / f"{design}.yaml", board=board)
    deployment = loaded.choice.deployment
    placed = [instance.slr for instance in deployment.instances]
    return Modelled(
        design=design,
        board=board,
        precision=PRECISIONS[design],
        clock_mhz=deployment.clock_mhz,
        gops=deployment.gops,
        batch=deployment.batch,
        batch_gops=deployment.batch_gops,
        target=TARGETS[design, board],
        instances=len(placed),
        resources=deployment.total,
        binds=deployment.binds,
        regions=tuple(
            Region(
                name=slr.name,
                instances=placed.count(slr.name),
                used=deployment.used_in(slr.name),
                usable=usable(slr, deployment.board),
            )
            for slr in deployment.board.slrs
        ),
        proven=deployment.mapping.bank_map.proves(deployment.mapping.patterns),
    )


# ---------------------------------------------------------------- measured


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Frames to measure with: `float_` for the CPU's convolutions, the others for C-simulation."""

    float_: int
    fast: int
    reference: int
    hls4ml: int


FULL = Effort(float_=64, fast=64, reference=16, hls4ml=8)
QUICK = Effort(float_=8, fast=8, reference=2, hls4ml=1)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was measured here, in one run; Missing where that was not possible."""

    naive: Measurement | Missing
    pytorch: Measurement | Missing
    fast: Measurement | Missing
    reference: Measurement | Missing
    hls4ml: Measurement | Missing


def measure(effort: Effort, progress: Callable[[str], None] = lambda _: None) -> Measured:
    """All measurements, one after the other; C-simulation and hls4ml on conv_fixed16's weights and frames."""
    progress("naive C++ on one core")
    naive = peers.naive_cpp(effort.float_)
    progress("PyTorch on all cores")
    pytorch = peers.pytorch(effort.float_)
    design = hlsgen.load(DESIGNS / "conv_fixed16.yaml", board=PUBLISHED.board)
    progress("C-simulation of conv_fixed16, fast headers")
    fast = csim(design, Headers.FAST, effort.fast)
    progress("C-simulation of conv_fixed16, reference headers")
    reference = csim(design, Headers.REFERENCE, effort.reference)
    progress("hls4ml on the same layer")
    layer = design.layer
    hls4ml = peers.hls4ml_csim(
        layer.weight_type.decode(layer.weights),
        layer.bias_type.decode(layer.bias),
        layer.input_type.decode(design.codes(design.sample_frames(effort.hls4ml))),
    )
    return Measured(naive=naive, pytorch=pytorch, fast=fast, reference=reference, hls4ml=hls4ml)


def csim(design: TasksDesign, headers: Headers, frames: int) -> Measurement | Missing:
    """Multiply-accumulates a second of the emitted kernel, compiled for this machine, on one core.

    The best of CSIM_REPEATS runs. Missing if there is no compiler or a result is not golden's, bit for bit.
    """
    what = f"hlsgen C-simulation, {headers.value} ap headers"
    codes = design.codes(design.sample_frames(frames))
    golden = design.golden_codes({"input": codes})[design.layer.name]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, plan_of(design, frames=codes[:1], golden=golden[:1]))
        executable = folder / "testbench"
        try:
            before = peers.children_cpu()
            compiled = compile_testbench(folder, design.name, executable, headers=headers)
            compile_cpu = peers.children_cpu() - before
            runs = [simulate(design.layer, executable, codes, folder) for _ in range(CSIM_REPEATS)]
        except HlsgenError as failure:
            return Missing(what=what, reason=str(failure).split("\nfix:")[0].removeprefix("error: "))
    differing = compare(runs[-1].output, golden, design.layer.output_type).mismatches
    if differing:
        return Missing(what=what, reason=f"{differing} results differ from golden")
    seconds = min(run.seconds for run in runs)
    return Measurement(
        what=what,
        value=design.layer.macs * frames / seconds,
        unit="MAC/s per core",
        seconds=seconds,
        frames=frames,
        detail={
            "compile CPU s": compile_cpu,
            "compile wall s": compiled.seconds,
            "repeats": CSIM_REPEATS,
            "results equal to golden": int(golden.size),
        },
    )


def machine() -> dict[str, str | int]:
    """What the measurements were made on; neither its name nor where anything lies."""
    try:
        compiler = peers.first_line([find_compiler(), "--version"])
    except (ToolError, peers.Failed):
        compiler = "no compiler found"
    return {
        "cpu": _cpu_model(),
        "architecture": platform.machine(),
        "cores": peers.cores(),
        "compiler": compiler,
        "python": platform.python_version(),
        "system": platform.system(),
    }


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.processor() or "unknown"


# ---------------------------------------------------------------- the report


def document(models: Sequence[Modelled], measured: Measured | None) -> dict[str, Any]:
    """Everything as JSON; `measured` and the machine's description are left out if nothing was measured."""
    published = {
        "kind": "published",
        **asdict(PUBLISHED),
        "gflops_at_most": PUBLISHED.gflops_at_most,
        "naive_gflops": NAIVE_FPGA_GFLOPS,
        "derived": ["macs_per_cycle", "gflops_at_most", "naive_gflops", "resources.lut"],
    }
    layer = {
        "in_shape": [peers.CHANNELS, peers.HEIGHT, peers.WIDTH],
        "out_channels": peers.FILTERS,
        "kernel": peers.KERNEL,
        "macs": peers.MACS,
    }
    result = {
        "layer": layer,
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


def reason(missing: Missing) -> str:
    """In one line and without folders."""
    return re.sub(r"(?<![\w.])/(?:[^\s/:'\"]+/)+", "", " ".join(missing.reason.split()))


def ratios(measured: Measured) -> dict[str, float | None]:
    """How many times as fast, or as quick to compile; None where one of the two is missing."""
    pairs = {
        "PyTorch to naive C++": (measured.pytorch, measured.naive),
        "fast headers to reference headers": (measured.fast, measured.reference),
        "fast headers to hls4ml": (measured.fast, measured.hls4ml),
        "reference headers to hls4ml": (measured.reference, measured.hls4ml),
    }
    found = {name: _ratio(_speed(one), _speed(other)) for name, (one, other) in pairs.items()}
    found["compile CPU time, hls4ml to fast headers"] = _ratio(
        _compile_cpu(measured.hls4ml), _compile_cpu(measured.fast)
    )
    found["compile CPU time, reference headers to fast headers"] = _ratio(
        _compile_cpu(measured.reference), _compile_cpu(measured.fast)
    )
    return found


def _speed(found: Measurement | Missing) -> float | None:
    return found.value if isinstance(found, Measurement) else None


def _compile_cpu(found: Measurement | Missing) -> float | None:
    return float(found.detail["compile CPU s"]) if isinstance(found, Measurement) else None


def _ratio(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None


def csim_reached(found: Measurement | Missing) -> bool | None:
    speed = _speed(found)
    return None if speed is None else speed / 1e6 >= CSIM_TARGET


def compile_reached(found: Measurement | Missing) -> bool | None:
    seconds = _compile_cpu(found)
    return None if seconds is None else seconds < COMPILE_TARGET


def figure_rows(models: Sequence[Modelled], measured: Measured) -> list[Row]:
    """The bars of figure 3.8, in its order and then ours. What is missing has no bar."""
    rows = []
    for found, label in ((measured.naive, "CPU naive"), (measured.pytorch, "PyTorch (CPU)")):
        if isinstance(found, Measurement):
            where = "listing 3.1 in C++, one core" if found is measured.naive else _threads(found)
            rows.append(Row(label=label, gflops=found.value, source="measured here", note=where))
    rows += [
        Row(
            label="D4.8 FPGA naive, U200",
            gflops=NAIVE_FPGA_GFLOPS,
            source="published (D4.8)",
            note="an operation every 9 cycles, 200 MHz",
        ),
        Row(
            label="D4.8 FPGA pipelined, U200",
            gflops=PUBLISHED.gflops_at_most,
            source="published (D4.8)",
            note=f"by its {PUBLISHED.resources.dsp} DSP; {_instances(PUBLISHED.instances)}",
            at_most=True,
        ),
    ]
    rows += [
        Row(
            label=f"hlsgen {row.precision}, {row.board.upper()}",
            gflops=row.gops,
            source="modelled",
            note=_instances(row.instances),
        )
        for row in models
    ]
    return rows


def _instances(count: int) -> str:
    return f"{count} {'instance' if count == 1 else 'instances'}, {CLOCK_MHZ:g} MHz"


def _threads(found: Measurement) -> str:
    return f"torch {str(found.detail['torch']).split('+')[0]}, all cores ({found.detail['threads']})"


# ---------------------------------------------------------------- printing


def modelled_table(models: Sequence[Modelled]) -> Table:
    table = Table(title="Modelled at 300 MHz, inside the usable share of every SLR, beside D4.8 as published")
    for name in ("design", "board"):
        table.add_column(name, no_wrap=True)
    for name in (
        "GOPS\nsteady",
        "GOPS\nbatch",
        "target",
        "reached",
        "instances",
        "DSP",
        "BRAM18",
        "URAM",
        "LUT",
        "FF",
    ):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("what binds")
    for row in models:
        used = row.resources
        table.add_row(
            f"{row.design} ({row.precision})",
            row.board,
            f"{row.gops:,.0f}",
            f"{row.batch_gops:,.0f}",
            f"{row.target:,.0f}",
            _yes(row.reached),
            str(row.instances),
            *(f"{number:,}" for number in (used.dsp, used.bram18, used.uram, used.lut, used.ff)),
            row.binds,
            end_section=row is models[-1],
        )
    used = PUBLISHED.resources
    table.add_row(
        "D4.8 (fp32)",
        PUBLISHED.board,
        f"≤ {PUBLISHED.gflops_at_most:.0f}",
        "",
        "",
        "",
        str(PUBLISHED.instances),
        *(f"{number:,}" for number in (used.dsp, used.bram18, used.uram, used.lut, used.ff)),
        "published; its GOPS derived",
    )
    return table


def region_table(models: Sequence[Modelled]) -> Table:
    table = Table(title="Modelled, by SLR: used of the usable share")
    for name in ("design", "board", "SLR"):
        table.add_column(name, no_wrap=True)
    for name in ("instances", *(kind.upper() for kind in KINDS), "within", "bank map\nproven"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in models:
        for region in row.regions:
            first = region is row.regions[0]
            table.add_row(
                row.design if first else "",
                row.board if first else "",
                region.name,
                str(region.instances),
                *(f"{getattr(region.used, k):,} / {getattr(region.usable, k):,}" for k in KINDS),
                _yes(region.within),
                _yes(row.proven) if first else "",
                end_section=region is row.regions[-1],
            )
    return table


def measured_tables(measured: Measured) -> list[Table]:
    """Two tables: the CPU's convolutions in float32, and C-simulation."""
    speed = Table(title="Measured here: the layer on the CPU, float32")
    for name in ("what", "frames", "GFLOPS", "x naive"):
        speed.add_column(name, justify="left" if name == "what" else "right")
    naive = _speed(measured.naive)
    for found in (measured.naive, measured.pytorch):
        if isinstance(found, Missing):
            speed.add_row(_absent(found))
        else:
            times = _times(_ratio(found.value, naive))
            speed.add_row(found.what, str(found.frames), f"{found.value:,.2f}", times)
    table = Table(title="Measured here: C-simulation of the layer in 16 bits, one core", caption=CSIM_NOTE)
    for name in (
        "what",
        "frames",
        "M MAC/s",
        "x hls4ml",
        "x reference",
        "compile\nCPU s",
        "hls4ml\nby this",
    ):
        table.add_column(name, justify="left" if name == "what" else "right")
    others = (_speed(measured.hls4ml), _speed(measured.reference))
    for found in (measured.fast, measured.reference, measured.hls4ml):
        if isinstance(found, Missing):
            table.add_row(_absent(found))
            continue
        table.add_row(
            found.what,
            str(found.frames),
            f"{found.value / 1e6:,.1f}",
            *(_times(_ratio(found.value, other)) for other in others),
            f"{_compile_cpu(found):.2f}",
            _times(_ratio(_compile_cpu(measured.hls4ml), _compile_cpu(found))),
            end_section=found is measured.hls4ml,
        )
    table.add_section()
    table.add_row("target, fast headers", "", f">= {CSIM_TARGET:g}", "", "", f"< {COMPILE_TARGET:g}", "")
    reached = (_yes(csim_reached(measured.fast)), _yes(compile_reached(measured.fast)))
    table.add_row("reached", "", reached[0], "", "", reached[1], "")
    return [speed, table]


def _absent(missing: Missing) -> str:
    return escape(f"{missing.what}: not measured: {reason(missing)}")


def _yes(answer: bool | None) -> str:
    return "not measured" if answer is None else "[green]yes[/]" if answer else "[red]no[/]"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


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
        written = peers.figure_3_8(rows, arguments.figure / "figure_3_8", note=note)
        err.print(f"wrote {', '.join(str(path) for path in written)}")


if __name__ == "__main__":
    main()
