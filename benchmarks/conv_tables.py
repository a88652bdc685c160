"""The tables of conv.py, and the rows of its figure."""

from __future__ import annotations

from collections.abc import Sequence

from conv_measure import (
    COMPILE_TARGET,
    CSIM_TARGET,
    Measured,
    compile_cpu,
    compile_reached,
    csim_reached,
    ratio,
    speed,
)
from conv_model import CLOCK_MHZ, NAIVE_FPGA_GFLOPS, PUBLISHED, Modelled
from figure import Row
from layer import Measurement, Missing
from machine import reason
from rich.markup import escape
from rich.table import Table

from hlsgen.search.board_limits import KINDS

CSIM_NOTE = "C-simulation runs on a CPU: its time is never the FPGA's. Both by the CPU time of their process."


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
    peer_table = Table(title="Measured here: the layer on the CPU, float32")
    for name in ("what", "frames", "GFLOPS", "x naive"):
        peer_table.add_column(name, justify="left" if name == "what" else "right")
    naive = speed(measured.naive)
    for found in (measured.naive, measured.pytorch):
        if isinstance(found, Missing):
            peer_table.add_row(_absent(found))
        else:
            times = _times(ratio(found.value, naive))
            peer_table.add_row(found.what, str(found.frames), f"{found.value:,.2f}", times)
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
    others = (speed(measured.hls4ml), speed(measured.reference))
    for found in (measured.fast, measured.reference, measured.hls4ml):
        if isinstance(found, Missing):
            table.add_row(_absent(found))
            continue
        table.add_row(
            found.what,
            str(found.frames),
            f"{found.value / 1e6:,.1f}",
            *(_times(ratio(found.value, other)) for other in others),
            f"{compile_cpu(found):.2f}",
            _times(ratio(compile_cpu(measured.hls4ml), compile_cpu(found))),
            end_section=found is measured.hls4ml,
        )
    table.add_section()
    table.add_row("target, fast headers", "", f">= {CSIM_TARGET:g}", "", "", f"< {COMPILE_TARGET:g}", "")
    reached = (_yes(csim_reached(measured.fast)), _yes(compile_reached(measured.fast)))
    table.add_row("reached", "", reached[0], "", "", reached[1], "")
    return [peer_table, table]


def _absent(missing: Missing) -> str:
    return escape(f"{missing.what}: not measured: {reason(missing)}")


def _yes(answer: bool | None) -> str:
    return "not measured" if answer is None else "[green]yes[/]" if answer else "[red]no[/]"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"
