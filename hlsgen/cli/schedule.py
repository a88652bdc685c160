"""hlsgen schedule: what the vendor's compiler will make of the loops of C++, before it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from hlsgen.cli.console import as_json_option, note, print_json, reporting, show, working
from hlsgen.cli.scheduled import Asked, components_of, target_options

if TYPE_CHECKING:
    from hlsgen.base.progress import Progress
    from hlsgen.schedule.results import KernelSchedule, LoopSchedule
    from hlsgen.schedule.usage import Usage


@click.command()
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="BUILD_DIR|SOLUTION|SCRIPT|CONFIG|FILE...",
    type=click.Path(exists=True, path_type=Path),
)
@target_options
@click.option("-v", "--verbose", is_flag=True, help="Show banks, chains and operations of every loop.")
@as_json_option
def schedule(paths: tuple[Path, ...], asked: Asked, verbose: bool, as_json: bool) -> None:
    """The II of every pipelined loop, before any vendor tool runs.

    Of a folder that hlsgen build wrote, of a project of Vitis HLS (its solution, the Tcl script that makes
    it, which is read and not run, or its configuration), or of C++ files of your own: their code is compiled
    to LLVM IR, whose ports, recurrences and chains tell the II, the depth and the longest chain. Options go
    before what a project says. Needs `pip install 'hlsgen[schedule]'`. docs/schedule.md says how far to
    trust it.

    Ends with 0 if every loop meets its II and the clock, with 1 if one does not.
    """
    with reporting(as_json):
        with working(as_json) as progress:
            found = _scheduled(paths, asked, progress)
        if as_json:
            print_json({"kernels": [one.as_json() for one in found]})
        else:
            print_schedules(found, verbose)
        sys.exit(int(any(one.findings() for one in found)))


def scheduled_files(files: Sequence[Path], asked: Asked, as_json: bool) -> list[KernelSchedule]:
    """The schedule of C++ files, with a bar meanwhile."""
    with working(as_json) as progress:
        return _scheduled(files, asked, progress)


def _scheduled(paths: Sequence[Path], asked: Asked, progress: Progress) -> list[KernelSchedule]:
    from hlsgen.schedule.kernels import schedule_build, schedule_components

    if len(paths) == 1 and asked.is_a_build(paths[0]):
        return schedule_build(paths[0], earlier=paths[0], progress=progress)[0]
    return schedule_components(components_of(paths, asked), progress=progress)


def print_schedules(found: Iterable[KernelSchedule], verbose: bool = False) -> None:
    """Prints a table of each kernel's loops, and what is wrong with them."""
    from hlsgen.schedule.measured_errors import HELD_OUT

    for kernel in found:
        clock = f"{kernel.clock_ns:.2f} ns of which {kernel.budget_ns:.2f} ns for chains"
        name = f"{kernel.kernel} ({kernel.solution})" if kernel.solution else kernel.kernel
        title = f"{name}: {kernel.part}, {clock}"
        table = Table("loop", "II", "known", "depth ~", "chain ~ ns", "trips", title=title)
        for loop in kernel.loops:
            guessed = "?" if loop.estimate is None else f"? (~ {loop.estimate})"
            interval = guessed if loop.interval is None else str(loop.interval)
            asked = "" if loop.interval == loop.target else f" (asked {loop.target})"
            table.add_row(
                loop.title,
                f"{interval}{asked}",
                loop.tier.value,
                str(loop.depth),
                f"{loop.chain_ns:.2f}",
                _count(loop.trips),
            )
        show(table)
        if kernel.too_large:
            click.echo("no estimate of its cells: what is too large to be scheduled is not counted")
        else:
            _print_usage(kernel.usage, verbose)
        for finding in kernel.findings():
            click.echo(f"  {finding}")
        for pragma in kernel.dropped:
            note(f"{pragma} counts for nothing here")
        for unplaced in kernel.unplaced:
            note(f"{unplaced}; it counts for nothing")
        for said in (*kernel.ignored, *kernel.moved):
            note(said)
        for said in kernel.by_first_calls:
            note(f"{said}: scheduled, and its cells counted, by the first call of each function alone")
        if verbose:
            for loop in kernel.loops:
                _print_details(loop)
        click.echo(f"{kernel.instructions:,} instructions after unrolling, {kernel.seconds:.1f} s here")
        click.echo(f"errors {HELD_OUT}")


def _print_usage(usage: Usage, verbose: bool) -> None:
    """The estimates of csynth's figures, and of the routed ones with the range of public designs."""
    csynth, routed = usage.csynth, usage.routed
    memories = f"BRAM18 {csynth.bram18:,}" + (f", URAM {csynth.uram:,}" if csynth.uram else "")
    click.echo(
        f"csynth ~ LUT {csynth.lut:,}, FF {csynth.ff:,}, DSP {csynth.dsp:,}, {memories}; "
        f"routed ~ LUT {routed.lut:,} ({routed.lut_low:,} to {routed.lut_high:,}), "
        f"FF {routed.ff:,} ({routed.ff_low:,} to {routed.ff_high:,})"
    )
    if usage.uncounted.lut or usage.uncounted.ff:
        click.echo(f"  not in csynth's: LUT {usage.uncounted.lut:,}, FF {usage.uncounted.ff:,} of cores")
    if usage.unknown:
        click.echo(f"  not counted, as nothing is known of them: {', '.join(usage.unknown)}")
    if verbose:
        for kind, cells in usage.by_kind.items():
            click.echo(f"  {kind}: LUT {cells.lut:,}, FF {cells.ff:,}, DSP {cells.dsp:,}")


def _count(trips: int | None) -> str:
    return "" if trips is None else f"{trips:,}"


def _print_details(loop: LoopSchedule) -> None:
    click.echo(f"{loop.title}")
    for bank in loop.banks:
        click.echo(
            f"  {bank.array}: {bank.banks} banks of {bank.storage}; "
            f"the busiest: {bank.reads} reads, {bank.writes} writes"
        )
    for step in loop.chain:
        click.echo(f"  chain: {step.kind} {step.bits} bits {step.ns:.2f} ns {step.place or ''}")
    operations = ", ".join(f"{count} {name}" for name, count in list(loop.operations.items())[:12])
    click.echo(f"  {operations}; {loop.registers:,} bits alive between stages")
