"""The tables of networks.py."""

from __future__ import annotations

from collections.abc import Sequence

from layer import Missing
from machine import machine, reason
from network_findings import TARGETS, Finding, Simulated, ratios
from rich.console import Console
from rich.markup import escape
from rich.table import Table

CSIM_NOTE = (
    "C-simulation runs on a CPU: its time is never the FPGA's. One core: by the CPU time of the process, "
    "files included; all cores: by the wall time of a process for each. Memory: the most that one process "
    "holds, in MB of 10^6 bytes. SNR: of the outputs to the network in floating point, on the samples."
)
PEER_NOTE = (
    "hls4ml: PyTorch frontend, Vitis backend, io_stream, fixed<16,6>; M MAC/s by CPU time of predict(). "
    "Compile: its compilers alone; writing the project has a column of its own. Memory of its process: with "
    "its frameworks."
)


def modelled_table(findings: Sequence[Finding]) -> Table:
    table = _table(
        "Modelled",
        ("design", "board"),
        (
            "MHz",
            "M MAC\na frame",
            "instances",
            "interval\ncycles",
            "latency\ncycles",
            "frames/s",
            "GOPS",
            "GOPS\nbatch",
        ),
    )
    table.add_column("what binds")
    for found in findings:
        row = found.modelled
        if isinstance(row, Missing):
            continue
        table.add_row(
            found.name,
            row.board,
            f"{row.clock_mhz:g}",
            f"{row.macs / 1e6:,.3f}",
            str(row.instances),
            *(f"{number:,}" for number in (row.interval_cycles, row.latency_cycles)),
            *(f"{number:,.0f}" for number in (row.frames_per_s, row.gops, row.batch_gops)),
            row.binds,
        )
    return table


def measured_table(findings: Sequence[Finding]) -> Table:
    table = _table(
        "Measured here: hlsgen",
        ("design",),
        (
            "framework\nimport s",
            "load\ns",
            "build\ns",
            "Python\nMB",
            "compile\nCPU s",
            "compile\nMB",
            "M MAC/s\none core",
            "M MAC/s\nall cores",
            "frames\na process",
            "C-sim\nMB",
            "SNR\ndB",
        ),
    )
    table.caption = CSIM_NOTE
    for found in findings:
        built, run = found.built, found.simulated
        if isinstance(built, Missing):
            continue
        cells = [f"{seconds:.2f}" for seconds in (built.framework_s, built.load_s, built.build_s)]
        cells.append(f"{built.python_mb:,.0f}")
        if isinstance(run, Simulated):
            cells += [f"{run.compiler.cpu_s:.1f}", f"{run.compiler.peak_mb:,.0f}"]
            cells += [f"{run.core_rate / 1e6:,.1f}", f"{run.all_rate / 1e6:,.1f} ({run.cores})"]
            cells += [str(run.frames), f"{run.csim_mb:,.0f}", _number(found.snr_db, ".1f")]
        table.add_row(found.name, *cells)
    return table


def target_table(findings: Sequence[Finding]) -> Table:
    heads = [f"{one.what}\n{one.bounds}" for one in TARGETS]
    table = _table("Measured here: targets", ("design",), heads)
    for found in findings:
        cells = []
        for target in TARGETS:
            value, met = target.of(found), target.met(found)
            said = {True: "[green]met[/]", False: "[red]not met[/]", None: ""}[met]
            cells.append(said if value is None or met is None else f"{value:,.1f} {said}")
        table.add_row(found.name, *cells)
    return table


def peer_table(findings: Sequence[Finding]) -> Table:
    table = _table(
        "Measured here: hls4ml on the same networks",
        ("design",),
        (
            "convert\ns",
            "write\ns",
            "compile\nCPU s",
            "x hlsgen",
            "compile\nMB",
            "x hlsgen",
            "M MAC/s\none core",
            "hlsgen\nby this",
            "frames",
            "process\nMB",
            "SNR\ndB",
        ),
    )
    table.caption = PEER_NOTE
    for found in findings:
        peer = found.hls4ml
        if isinstance(peer, Missing):
            continue
        by, compiler = ratios(found), peer.compiler
        table.add_row(
            found.name,
            _number(peer.convert_s, ".2f"),
            _number(peer.write_s, ".1f"),
            _number(compiler.cpu_s if compiler else None, ".1f"),
            _number(by["compile CPU s, hls4ml to hlsgen"], ".2f"),
            _number(compiler.peak_mb if compiler else None, ",.0f"),
            _number(by["compile MB, hls4ml to hlsgen"], ".2f"),
            _number(peer.rate / 1e6 if peer.rate else None, ",.1f"),
            _number(by["M MAC/s a core, hlsgen to hls4ml"], ".2f"),
            _number(peer.frames, "d"),
            _number(peer.peak_mb, ",.0f"),
            _number(found.hls4ml_snr_db, ".1f"),
        )
    return table


def remarks(findings: Sequence[Finding]) -> list[str]:
    """What could not be measured, and why; what was written otherwise for hls4ml. A line each."""
    lines = []
    for found in findings:
        if isinstance(found.simulated, Missing):
            lines.append(f"hlsgen on {found.name}: not measured: {reason(found.simulated)}")
        peer = found.hls4ml
        if isinstance(peer, Missing):
            lines.append(f"hls4ml on {found.name}: not measured: {reason(peer)}")
            continue
        if peer.respelled:
            lines.append(f"hls4ml on {found.name}: refused as it is; tried with {peer.respelled}")
        if peer.reason:
            lines.append(f"hls4ml on {found.name}: not measured further: {without_folders(peer.reason)}")
    return lines


def _table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(title=title)
    for name in left:
        table.add_column(name, no_wrap=True)
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def report(findings: Sequence[Finding], out: Console) -> None:
    tables = (modelled_table, measured_table, target_table, peer_table)
    for table in tables:
        out.print(table(findings))
        out.print()
    for line in remarks(findings):
        out.print(escape(line))
    here = machine()
    on = f"{here['cpu']}, {here['cores']} {'core' if here['cores'] == 1 else 'cores'}"
    out.print(f"Measured on: {on}; {here['compiler']}.")


def without_folders(text: str | None) -> str | None:
    """In one line and without folders."""
    return None if text is None else reason(Missing(what="", reason=text))
