"""The command on many designs: sweep."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from hlsgen.cli.completion import BoardName
from hlsgen.cli.console import as_json_option, print_json, reporting, say, show
from hlsgen.cli.loudness import quiet

if TYPE_CHECKING:
    from hlsgen.sweep.jobs import Job, Outcome
    from hlsgen.sweep.sweep import Swept


class Scheduler(click.ParamType[str]):
    """serial, local, a queue's name, or an address."""

    name = "scheduler"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from hlsgen.sweep.cluster import ADDRESS, QUEUES

        known = ("serial", "local", *QUEUES)
        text = str(value)
        if text not in known and not ADDRESS.fullmatch(text):
            self.fail(f"{text!r} is none of {', '.join(known)} and no address such as tcp://host:8786")
        return text


class Target(click.ParamType[float]):
    """A number of frames a second."""

    name = "target"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and number > 0):
            self.fail(f"{value!r} is no number of frames a second")
        return number


@click.command()
@click.argument("designs", nargs=-1, required=True, metavar="DESIGN...", type=click.Path(path_type=Path))
@click.option(
    "--board",
    "boards",
    type=BoardName(),
    multiple=True,
    metavar="B",
    help="Each design on it; may be repeated.",
)
@click.option(
    "--target-fps",
    "targets",
    multiple=True,
    type=Target(),
    metavar="F",
    help="With --run explore: frames a second to reach; may be repeated.",
)
@click.option(
    "--run",
    type=click.Choice(["estimate", "explore", "build"]),
    default="estimate",
    show_default=True,
    help="What is done with each.",
)
@click.option(
    "--synth",
    "step",
    type=click.Choice(["csynth", "cosim", "xo", "xclbin", "all"]),
    metavar="STEP",
    help="Build each and synthesise it as far: csynth, cosim, xo, xclbin or all.",
)
@click.option(
    "--target", type=click.Choice(["hw", "hw_emu"]), default="hw", show_default=True, help="With --synth."
)
@click.option("--platform", metavar="P", help="With --synth: a Vitis platform's name or .xpfm [the board's].")
@click.option(
    "--timeout",
    "hours",
    type=click.FloatRange(0, 10_000, min_open=True),
    metavar="HOURS",
    help="With --synth: end a job's tools after so long.",
)
@click.option(
    "--terms", type=click.Path(path_type=Path), metavar="FILE", help="Terms of LUT and FF, for all designs."
)
@click.option(
    "--scheduler",
    type=Scheduler(),
    default="local",
    show_default=True,
    metavar="S",
    help="Where: serial, local (processes of this machine), tcp://HOST:PORT, slurm, pbs, ...",
)
@click.option(
    "--workers", type=click.IntRange(1, 10_000), metavar="N", help="Processes [local: cores; a queue: 1]."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path("sweep"),
    show_default=True,
    help="Where results are kept; what is done there already is not done again.",
)
@as_json_option
def sweep(
    designs: tuple[Path, ...],
    boards: tuple[str, ...],
    targets: tuple[float, ...],
    run: str,
    step: str | None,
    target: str,
    platform: str | None,
    hours: float | None,
    terms: Path | None,
    scheduler: str,
    workers: int | None,
    output: Path,
    as_json: bool,
) -> int:
    """Run every DESIGN on every board, side by side, and keep each result as it comes."""
    if targets and run != "explore":
        raise click.UsageError(f"--target-fps needs --run explore: {run} takes a design's mapping as it is")
    if workers and (scheduler == "serial" or "://" in scheduler):
        raise click.UsageError(f"--workers has no meaning with --scheduler {scheduler}")
    if step and run == "explore":
        raise click.UsageError("--synth builds designs as they are: --run explore does not go with it")
    if not step and (target != "hw" or platform or hours):
        raise click.UsageError("--target, --platform and --timeout need --synth")
    with reporting(as_json):
        from hlsgen.sweep.cluster import check_scheduler
        from hlsgen.sweep.sweep import SERIAL, Request
        from hlsgen.sweep.sweep import sweep as swept_by
        from hlsgen.vendor.vitis import Request as Synthesis

        if scheduler != SERIAL:
            check_scheduler(scheduler)
        request = Request(
            designs=designs,
            boards=boards,
            targets=targets,
            run="synth" if step else run,
            terms=terms,
            folder=output,
            scheduler=scheduler,
            workers=workers,
            synthesis=Synthesis(to=step, target=target, platform=_absolute(platform), hours=hours)
            if step
            else None,
        )
        with watching(as_json) as watch:
            swept = swept_by(request, watch)
        if as_json:
            print_json(swept.as_json())
        else:
            print_sweep(swept)
    return swept.exit_code


def _absolute(platform: str | None) -> str | None:
    """A platform's file may be read by a worker in another working folder."""
    return os.path.abspath(platform) if platform and platform.endswith(".xpfm") else platform


class Watched:
    """The progress of a sweep on standard error: a bar on a terminal, else a line for each job that ends."""

    def __init__(self, console: Console, bar: Progress | None) -> None:
        self.console = console
        self.bar = bar
        self.total = self.done = self.failed = 0
        if bar is not None:
            self.task = bar.add_task("", total=None, counts="")

    def begin(self, total: int, kept: int) -> None:
        self.total, self.done = total, kept
        if kept:
            self.say(f"{kept} of {total} jobs were done before; they are not done again")
        self.running(0)

    def running(self, jobs: int) -> None:
        if self.bar is None:
            return
        ended = self.done + self.failed
        counts = f"{self.done} done, {jobs} running, {self.failed} failed, {self.total - ended - jobs} left"
        self.bar.update(self.task, total=self.total, completed=ended, counts=counts)

    def ended(self, job: Job, outcome: Outcome) -> None:
        self.done += outcome.done
        self.failed += not outcome.done
        if self.bar is not None:
            return
        speed = f"{outcome.summary.frames_per_s:,.0f} frames/s" if outcome.summary else "failed"
        self._line(f"[{self.done + self.failed}/{self.total}] {job}: {speed}")

    def say(self, text: str) -> None:
        self._line(f"note: {text}")

    def _line(self, text: str) -> None:
        self.console.print(text, markup=False, soft_wrap=True)


class Quiet:
    """A watch that says nothing: with --json."""

    def begin(self, total: int, kept: int) -> None: ...
    def running(self, jobs: int) -> None: ...
    def ended(self, job: Job, outcome: Outcome) -> None: ...
    def say(self, text: str) -> None: ...


@contextmanager
def watching(as_json: bool) -> Iterator[Watched | Quiet]:
    # made here and not on import: standard error may be another one by now
    console = Console(stderr=True, highlight=False)
    if as_json or quiet():
        yield Quiet()
    elif not console.is_terminal:
        yield Watched(console, None)
    else:
        columns = (BarColumn(), TextColumn("{task.fields[counts]}"), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            yield Watched(console, bar)


def print_sweep(swept: Swept) -> None:
    """The table on standard output; what failed on standard error, what several jobs say only once."""
    head = ("board", "frames/s", "cycles", "copies", "DSP", "LUT", "binds")
    targets = any(job.target_fps for job, _ in swept.outcomes)
    synthesised = any(outcome.summary and outcome.summary.synthesis for _, outcome in swept.outcomes)
    last = ("reports", "their DSP", "their LUT") if synthesised else ()
    table = Table(Column("modelled", overflow="fold"), *(["target"] if targets else []), *head, *last)
    for job, outcome in swept.outcomes:
        one = outcome.summary
        first = [job.title, *([f"{job.target_fps or 0:,.0f}"] if targets else [])]
        if one is None:
            table.add_row(*first, job.board or "", "failed")
            continue
        figures = (one.frames_per_s, one.interval_cycles, one.instances, one.dsp, one.lut)
        cells = [*(f"{figure:,.0f}" for figure in figures), one.binds]
        if one.synthesis is not None:
            found = (one.synthesis.dsp, one.synthesis.lut)
            cells.append(one.synthesis.stage or "none")
            cells += ["" if figure is None else f"{figure:,.0f}" for figure in found]
        table.add_row(*first, one.board, *cells)
    show(table)
    for text in dict.fromkeys(outcome.text for _, outcome in swept.outcomes if not outcome.done):
        say(text)
    done = sum(outcome.done for _, outcome in swept.outcomes)
    folder = click.format_filename(swept.request.folder)
    click.echo(f"{done} of {len(swept.outcomes)} jobs done; in {folder}/ (sweep.json is the table)")
