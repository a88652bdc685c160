"""The command that runs the vendor's tools: synth, with a live log."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import click
from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from hlsgen.cli.completion import BoardName
from hlsgen.cli.console import as_json_option, note, print_json, remark, reporting, working
from hlsgen.cli.loudness import quiet
from hlsgen.cli.reports import print_synthesised

if TYPE_CHECKING:
    from hlsgen.vendor.observer import SynthesisObserver
    from hlsgen.vendor.vitis import Synthesised

SHOWN_LINES = 8
"""Lines of a tool's log on a terminal."""


@click.command()
@click.argument("what", metavar="DESIGN_OR_BUILD_DIR", type=click.Path(path_type=Path))
@click.option(
    "--to",
    type=click.Choice(["csynth", "cosim", "xo", "xclbin", "all"]),
    default="csynth",
    show_default=True,
    help="How far: all is xclbin, host program, and emulation's settings or the SD card. Kernels that run by "
    "themselves, with AXI streams only, have no cosim.",
)
@click.option(
    "--target", type=click.Choice(["hw", "hw_emu"]), default="hw", show_default=True, help="For xclbin."
)
@click.option("--platform", metavar="P", help="A Vitis platform's name or .xpfm file [the board's].")
@click.option(
    "--timeout",
    "hours",
    type=click.FloatRange(0, 10_000, min_open=True),
    metavar="HOURS",
    help="End all steps after so long, together [no limit].",
)
@click.option("--restart", is_flag=True, help="Run steps again that are complete.")
@click.option("--board", type=BoardName(), metavar="B", help="With a design: another board than its own.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Build folder [build/NAME]."
)
@as_json_option
def synth(
    what: Path,
    to: str,
    target: str,
    platform: str | None,
    hours: float | None,
    restart: bool,
    board: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Synthesise a design with Vitis, as `make` in its build folder does, step by step.

    A design file is built first. Steps that are complete, with inputs that have not changed, are kept.
    """
    if what.is_dir() and (board or output):
        raise click.UsageError("--board and -o go with a design file, not with a build folder")
    with reporting(as_json):
        from hlsgen.vendor.vitis import Request, synthesise

        folder = what if what.is_dir() else _built(what, board, output, to, as_json)
        request = Request(to=to, target=target, platform=platform, hours=hours, restart=restart)
        with watching(as_json) as watch:
            done = synthesise(folder, request, watch)
        if as_json:
            print_json(done.as_json())
        else:
            print_done(done)


def _built(design: Path, board: str | None, output: Path | None, to: str, as_json: bool) -> Path:
    """The build folder of a design file, built as `hlsgen build` does."""
    from hlsgen.api.design import load
    from hlsgen.api.project import build
    from hlsgen.cli.printing import print_earlier_builds, print_warnings
    from hlsgen.vendor.tools import check_tools

    with working(as_json) as progress:
        progress("reading the design")
        loaded = load(design, board=board, say=note, progress=progress)
        folder = output or Path("build") / loaded.name
        if not folder.exists():
            # before minutes of building; of a folder that is there some steps may be complete
            check_tools(to)
        project = build(loaded, folder, progress=progress)
    print_warnings(project.figures.warnings)
    if project.figures.schedule is not None:
        print_warnings(project.figures.schedule.warnings)
    print_earlier_builds(project)
    return folder


@contextmanager
def watching(as_json: bool) -> Iterator[SynthesisObserver]:
    from hlsgen.vendor.observer import SilentObserver

    console = Console(stderr=True, highlight=False)
    if as_json or quiet():
        yield SilentObserver()
    elif not console.is_terminal:
        yield Plain()
    else:
        shown = Shown()
        with Live(shown, console=console, refresh_per_second=4, transient=True):
            yield shown


class Plain:
    """A line on standard error for whatever begins or ends; the tools' own lines are in the logs."""

    def begin(self, steps: Sequence[str]) -> None:
        self.steps = steps
        self.number = 0

    def started(self, step: str, log: str) -> None:
        self.number += 1
        self._line(f"{step}: started, log {log}")

    def kept(self, step: str) -> None:
        self.number += 1
        self._line(f"{step}: complete before")

    def line(self, text: str) -> None: ...

    def at(self, text: str) -> None:
        self._line(f"  {text}")

    def ended(self, step: str, seconds: float) -> None:
        self._line(f"{step}: complete in {duration(seconds)}")

    def say(self, text: str) -> None:
        note(text)

    def _line(self, text: str) -> None:
        remark(f"[{self.number}/{len(self.steps)}] {text}")


class Shown:
    """The progress on a terminal: the steps, what the running one is at, the last lines of its log.

    Another thread shows it again and again, hence the lock.
    """

    def __init__(self) -> None:
        self.spinner = Spinner("dots")
        self.steps: dict[str, str] = {}
        self.running = self.log = self.now = ""
        self.begun = time.monotonic()
        self.lines: deque[str] = deque(maxlen=SHOWN_LINES)
        self.lock = Lock()

    def begin(self, steps: Sequence[str]) -> None:
        with self.lock:
            self.steps = dict.fromkeys(steps, "")
            self.running = "looking for the tools"

    def started(self, step: str, log: str) -> None:
        with self.lock:
            self.running, self.log, self.now, self.begun = step, log, "", time.monotonic()
            self.lines.clear()

    def kept(self, step: str) -> None:
        with self.lock:
            self.steps[step] = "complete before"

    def line(self, text: str) -> None:
        if text.strip():
            with self.lock:
                self.lines.append(text)

    def at(self, text: str) -> None:
        self.now = text

    def ended(self, step: str, seconds: float) -> None:
        with self.lock:
            self.steps[step] = f"complete in {duration(seconds)}"

    def say(self, text: str) -> None:
        note(text)

    def __rich__(self) -> Group:
        with self.lock:
            steps, lines = list(self.steps.items()), list(self.lines)
            running, log, now, begun = self.running, self.log, self.now, self.begun
        rows: list[Text | Spinner] = [Text(f"  {name}: {how}") for name, how in steps if how]
        clock = duration(time.monotonic() - begun)
        self.spinner.update(text=Text(f"{running}, {clock}{f': {now}' if now else ''}"))
        rows.append(self.spinner)
        rows += [Text(f"    {line}", style="dim", no_wrap=True, overflow="ellipsis") for line in lines]
        rows += [Text(f"  log: {log}", style="dim")] if log else []
        return Group(*rows)


def duration(seconds: float) -> str:
    """12 s, 3 min 5 s, or 2 h 14 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def print_done(done: Synthesised) -> None:
    print_synthesised(done.reports)
    steps = ", ".join(
        f"{step.name} {'kept' if step.status == 'kept' else duration(step.seconds)}" for step in done.steps
    )
    folder = click.format_filename(done.folder)
    release = f" with Vitis {done.release}" if done.release else ""
    click.echo(f"{done.request.to} done{release}: {steps}; in {folder}/ (logs in {folder}/synth/)")
