"""The command line: arguments and printing only.

Exit codes: 0 fine, 1 the design is wrong, 2 usage, 3 C-simulation differs from golden, 4 an outside tool failed or is missing
(or the output cannot be written).
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click
from rich.console import Console
from rich.table import Table

from hlsgen.errors import DesignError, HlsgenError
from hlsgen.version import VERSION

if TYPE_CHECKING:
    from hlsgen.project import Project, Verification

INTERRUPTED = 130
F = TypeVar("F", bound=Callable[..., Any])

err = Console(stderr=True, highlight=False)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="hlsgen")
def cli() -> None:
    """From a convolution to a verified Vitis HLS and OmpSs-2@FPGA project."""


def design_options(command: F) -> F:
    """DESIGN, --board and --json, as every command on a design has them."""
    for option in (
        click.option(
            "--json",
            "as_json",
            is_flag=True,
            help="Print one JSON document on standard output, nothing else.",
        ),
        click.option("--board", metavar="B", help="Another board than the design's (see: hlsgen boards)."),
        click.argument("design", type=click.Path(path_type=Path)),
    ):
        command = option(command)
    return command


def frame_options(command: F) -> F:
    """--input and --frames: what C-simulation runs on."""
    for option in (
        click.option(
            "--input",
            "input_file",
            type=click.Path(path_type=Path),
            metavar="X.npy",
            help="Your own frames, [N, C, H, W].",
        ),
        click.option(
            "--frames",
            type=click.IntRange(1, 100_000),
            metavar="N",
            help="How many frames (16, or the batch).",
        ),
    ):
        command = option(command)
    return command


@cli.command()
@design_options
@frame_options
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Build folder [build/NAME]."
)
@click.option("--no-csim", is_flag=True, help="Emit and report without C-simulation (no compiler needed).")
def build(
    design: Path,
    board: str | None,
    as_json: bool,
    frames: int | None,
    input_file: Path | None,
    output: Path | None,
    no_csim: bool,
) -> None:
    """Check, map, emit, C-simulate and report DESIGN."""
    with reporting(as_json):
        from hlsgen.design import load
        from hlsgen.project import build as build_project

        with working(as_json) as progress:
            progress("reading the design")
            loaded = load(design, board=board)
            folder = output or Path("build") / loaded.name
            project = build_project(
                loaded, folder, frames=frames, input_file=input_file, csim=not no_csim, progress=progress
            )
        if as_json:
            print_json({**project.report, "folder": str(folder)})
        else:
            print_build(project)


@cli.command()
@design_options
def check(design: Path, board: str | None, as_json: bool) -> None:
    """Check DESIGN without building it: every mistake, each with its place."""
    with reporting(as_json):
        from hlsgen.design import load

        loaded = load(design, board=board)
        deployment = loaded.choice.deployment
        if as_json:
            print_json({"design": loaded.name, "board": loaded.board.name, "verdict": "ok"})
        else:
            click.echo(f"{design}: ok; {len(deployment.instances)} instances fit {loaded.board.title}")


@cli.command()
@design_options
@frame_options
@click.option(
    "--headers", type=click.Choice(["fast", "reference"]), default="fast", help="Which ap_fixed headers."
)
def csim(
    design: Path, board: str | None, as_json: bool, frames: int | None, input_file: Path | None, headers: str
) -> None:
    """C-simulate DESIGN and compare with golden, leaving no files behind."""
    with reporting(as_json):
        from hlsgen.csim.compiler import Headers
        from hlsgen.design import load
        from hlsgen.project import csim_report, simulate_only

        with working(as_json) as progress:
            progress("reading the design")
            loaded = load(design, board=board)
            verification = simulate_only(
                loaded, frames=frames, input_file=input_file, headers=Headers(headers), progress=progress
            )
        if as_json:
            print_json(
                {"design": loaded.name, "board": loaded.board.name, "csim": csim_report(loaded, verification)}
            )
        else:
            print_verification(loaded.layer.macs, verification)


@cli.command()
@design_options
def estimate(design: Path, board: str | None, as_json: bool) -> None:
    """Cycles, resources and speed of DESIGN, modelled; nothing is written."""
    with reporting(as_json):
        from hlsgen.design import load

        with working(as_json) as progress:
            progress("choosing the hardware")
            figures = load(design, board=board).estimate().as_json()
        if as_json:
            print_json(figures)
        else:
            print_estimate(figures)


@cli.command()
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document on standard output, nothing else."
)
def boards(as_json: bool) -> None:
    """The boards that hlsgen knows; another one is another YAML file."""
    with reporting(as_json):
        from hlsgen.board import list_boards

        known = list_boards()
        if as_json:
            print_json({"boards": [board.model_dump(mode="json") for board in known]})
            return
        table = Table(
            "board",
            "title",
            "part",
            "DSP",
            "BRAM18",
            "URAM",
            "LUT",
            "FF",
            "DDR GB/s",
            title="free for kernels",
        )
        for board in known:
            total = board.total
            speed = sum(bank.gb_per_s for bank in board.memory.banks)
            figures = (total.dsp, total.bram18, total.uram, total.lut, total.ff)
            table.add_row(
                board.name, board.title, board.part, *(f"{figure:,}" for figure in figures), f"{speed:g}"
            )
        show(table)


@contextmanager
def reporting(as_json: bool) -> Iterator[None]:
    """Errors of the user as text (or JSON) with their exit code; anything else is a bug and shows its traceback."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except HlsgenError as error:
        if as_json:
            print_json({"error": error_json(error), "exit_code": error.exit_code})
        click.echo(str(error), err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        click.echo("interrupted; an earlier build is unchanged", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def error_json(error: HlsgenError) -> list[dict[str, Any]]:
    """The problems of an error as JSON."""
    if not isinstance(error, DesignError):
        return [{"message": str(error)}]
    problems = []
    for problem in error.problems:
        where = problem.place
        place = {"file": where.file, "line": where.line, "column": where.column} if where else {}
        problems.append({"message": problem.message, "fix": problem.fix, **place})
    return problems


@contextmanager
def working(as_json: bool) -> Iterator[Callable[[str], None]]:
    """A spinner on a terminal that says what is going on; nothing otherwise."""
    if as_json or not err.is_terminal:
        yield lambda _: None
        return
    with err.status("") as status:
        yield lambda text: status.update(text + " ...")


def show(table: Table) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    console.print(table)


def print_json(document: dict[str, Any]) -> None:
    click.echo(json.dumps(document, indent=2))


def print_build(project: Project) -> None:
    for warning in project.report["warnings"]:
        click.echo(f"warning: {warning}", err=True)
    print_estimate(project.report)
    if project.verification is not None:
        print_verification(project.design.layer.macs, project.verification)
    else:
        click.echo("C-simulation skipped")
    click.echo(f"wrote {project.folder}/ (start with {project.folder}/report.md)")


def print_verification(macs: int, verification: Verification) -> None:
    comparison = verification.comparison
    rate = verification.frames * macs / max(verification.run_seconds, 1e-9) / 1e6
    equal = comparison.compared - comparison.mismatches
    click.echo(
        f"C-simulation: {equal:,} of {comparison.compared:,} results equal golden bit for bit "
        f"({verification.frames} frames; compiled in {verification.compile_seconds:.1f} s, ran at {rate:,.0f} M MAC/s on this machine)"
    )
    click.echo("Memory ports: no iteration asks for more than there are; iterations equal the model's")


def print_estimate(figures: dict[str, Any]) -> None:
    speed, total, layer = figures["performance"], figures["total"], figures["layers"][0]
    folding = layer["folding"]
    click.echo(
        f"{figures['design']} on {figures['board']} at {figures['clock_mhz']:g} MHz: {total['instances']} instances of "
        f"{folding['macs_per_cycle']} multiply-accumulates a cycle (rows {folding['rows']}, PE {folding['pe']}, SIMD {folding['simd']}, "
        f"{folding['arithmetic']})"
    )
    click.echo(
        f"modelled: {speed['gops']:,.1f} G operations/s, {speed['frames_per_s']:,.0f} frames/s "
        f"({speed['batch_gops']:,.1f} and {speed['batch_frames_per_s']:,.0f} on a batch of {speed['batch']}); binds: {speed['binds']}"
    )
    table = Table("modelled", "instances", "DSP", "BRAM18", "URAM", "LUT", "FF")
    for slr in figures["slrs"]:
        cells = [
            _cell(slr["used"][kind], slr["usable"][kind]) for kind in ("dsp", "bram18", "uram", "lut", "ff")
        ]
        table.add_row(f"{slr['name']} (of usable)", str(slr["instances"]), *cells)
    table.add_row(
        "total",
        str(total["instances"]),
        *(f"{total[kind]:,}" for kind in ("dsp", "bram18", "uram", "lut", "ff")),
    )
    show(table)


def _cell(used: int, limit: int) -> str:
    return f"{used:,} ({used / limit:.0%})" if limit else f"{used:,}"


def main() -> None:
    cli()
