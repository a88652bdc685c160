"""hlsgen schedule: what the vendor's compiler will make of the loops of C++, before it runs."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from hlsgen.cli.console import as_json_option, note, print_json, reporting, show, working

if TYPE_CHECKING:
    from hlsgen.base.progress import Progress
    from hlsgen.schedule.component import Component
    from hlsgen.schedule.results import KernelSchedule, LoopSchedule
    from hlsgen.schedule.usage import Usage


def target_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say for what C++ files are scheduled; the command gets them as `asked`."""

    @functools.wraps(command)
    def wrapped(
        top: str,
        part: str,
        clock: str,
        uncertainty: str | None,
        tool_version: str,
        flow: str,
        folders: tuple[str, ...],
        defines: tuple[str, ...],
        scripts: tuple[str, ...],
        **rest: Any,
    ) -> None:
        asked = Asked(
            top=top,
            part=part,
            clock=clock,
            uncertainty=uncertainty,
            version=tool_version,
            flow=flow,
            folders=tuple(Path(folder) for folder in folders),
            defines=defines,
            scripts=tuple(Path(script) for script in scripts),
        )
        command(asked=asked, **rest)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


_OPTIONS = (
    click.option("--top", default="", metavar="NAME", help="The kernel's function [what nothing calls]."),
    click.option(
        "--part", default="xcu200-fsgd2104-2-e", show_default=True, metavar="PART", help="The device."
    ),
    click.option("--clock", default="300MHz", show_default=True, metavar="CLOCK", help="300MHz, 3.33ns."),
    click.option("--uncertainty", metavar="TIME", help="Kept back of the clock, ns or % [27%]."),
    click.option(
        "--tool-version", default="2024.2", show_default=True, metavar="RELEASE", help="Of Vitis HLS."
    ),
    click.option(
        "--flow",
        type=click.Choice(["vitis", "vivado"]),
        default="vitis",
        show_default=True,
        help="A kernel of a card, or an IP.",
    ),
    click.option(
        "-I",
        "folders",
        multiple=True,
        type=click.Path(exists=True, file_okay=False),
        metavar="DIR",
        help="Look for included headers there too.",
    ),
    click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro."),
    click.option(
        "--directives",
        "scripts",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="Obey directives of a Tcl script (read, not run) or a configuration.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the options say of the kernel in C++ files, and of its target."""

    top: str
    part: str
    clock: str
    uncertainty: str | None
    version: str
    flow: str
    folders: tuple[Path, ...]
    defines: tuple[str, ...]
    scripts: tuple[Path, ...]

    def component(self, files: Sequence[Path]) -> Component:
        """The kernel of those files. Raises DesignError: a time, or a script, cannot be read."""
        from hlsgen.base.errors import DesignError, Problem
        from hlsgen.schedule.component import Component, Target, amount
        from hlsgen.schedule.directives import read_directives

        if self.clock.strip().replace(".", "", 1).isdigit():
            message = f"the clock {self.clock} has no unit"
            fix = f"{self.clock}MHz or {self.clock}ns"
            raise DesignError(Problem(message=message, fix=fix))
        clock_ns = amount(self.clock)
        kept = None if self.uncertainty is None else amount(self.uncertainty, clock_ns or 0.0)
        if clock_ns is None or (self.uncertainty is not None and kept is None):
            wrong = self.clock if clock_ns is None else self.uncertainty
            raise DesignError(Problem(message=f"{wrong!r} is no time", fix="as 300MHz, 3.33ns or 27%"))
        target = Target(
            part=self.part,
            clock_ns=clock_ns,
            uncertainty_ns=kept,
            version=self.version,
            kernel_flow=self.flow == "vitis",
        )
        macros = dict(one.partition("=")[::2] for one in self.defines)
        return Component(
            top=self.top,
            files=tuple(files),
            target=target,
            include_folders=self.folders,
            defines={name: value or "1" for name, value in macros.items()},
            directives=tuple(one for script in self.scripts for one in read_directives(script)),
        )


@click.command()
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="BUILD_DIR|CONFIG|FILE...",
    type=click.Path(exists=True, path_type=Path),
)
@target_options
@click.option("-v", "--verbose", is_flag=True, help="Show banks, chains and operations of every loop.")
@as_json_option
def schedule(paths: tuple[Path, ...], asked: Asked, verbose: bool, as_json: bool) -> None:
    """The II of every pipelined loop, before any vendor tool runs.

    Of a folder that hlsgen build wrote, a configuration file of Vitis HLS, or C++ files of your own: their
    code is compiled to LLVM IR, whose ports, recurrences and chains tell the II, the depth and the longest
    chain. Needs `pip install 'hlsgen[schedule]'`. docs/schedule.md says how far to trust it.

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
    from hlsgen.base.errors import DesignError, Problem
    from hlsgen.schedule.component import read_config
    from hlsgen.schedule.kernels import schedule_build, schedule_components

    found: list[KernelSchedule] = []
    components: list[Component] = []
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += schedule_build(path, earlier=path, progress=progress)[0]
        elif path.suffix in (".cfg", ".ini"):
            component = read_config(path)
            if component is None:
                raise DesignError(
                    Problem(message=f"{path} names no syn.top", fix="the configuration of a kernel")
                )
            components.append(component)
        else:
            files.append(path)
    components += [asked.component(files)] if files else []
    return [*found, *(schedule_components(components, progress=progress) if components else [])]


def print_schedules(found: Iterable[KernelSchedule], verbose: bool = False) -> None:
    """Prints a table of each kernel's loops, and what is wrong with them."""
    from hlsgen.schedule.measured_errors import HELD_OUT

    for kernel in found:
        clock = f"{kernel.clock_ns:.2f} ns of which {kernel.budget_ns:.2f} ns for chains"
        title = f"{kernel.kernel}: {kernel.part}, {clock}"
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
        for option in kernel.ignored:
            note(option)
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
