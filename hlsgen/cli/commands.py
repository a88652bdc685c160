"""The command line: arguments and printing only.

Exit codes: 0 fine, 1 the design is wrong, 2 usage, 3 C-simulation differs from golden, 4 an outside tool
failed or is missing (or the output cannot be written), 5 hlsgen emitted code that its own lint or schedule
refuses (a bug), 130 interrupted. A standard stream that is closed counts as /dev/null, and a reader of
standard output that ends (| head) as satisfied: 0. With --json, standard output holds one JSON document, on
errors too: {"error": [{"message", "fix"?, "file"?, "line"?, "column"?}], "exit_code"}.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.table import Table

from hlsgen.base.version import VERSION
from hlsgen.cli.accuracy import accuracy
from hlsgen.cli.cedr import cedr
from hlsgen.cli.completion import BoardName
from hlsgen.cli.console import (
    INTERRUPTED,
    as_json_option,
    note,
    open_streams,
    print_json,
    printing,
    reporting,
    show,
    working,
)
from hlsgen.cli.designs import GivenDesign, design_options, frame_options, judge_option
from hlsgen.cli.junit import junit_file, junit_option
from hlsgen.cli.lint import lint
from hlsgen.cli.loudness import add_loudness
from hlsgen.cli.partition import partition
from hlsgen.cli.pipeline import pipeline
from hlsgen.cli.printing import (
    note_calibration,
    print_build,
    print_clipping,
    print_estimate,
    print_fifos,
    print_judge,
    print_verification,
    print_warnings,
)
from hlsgen.cli.program import program
from hlsgen.cli.quantise import quantise
from hlsgen.cli.reports import calibrate, compare, report
from hlsgen.cli.schedule import schedule
from hlsgen.cli.simulate import simulate
from hlsgen.cli.starpu import starpu
from hlsgen.cli.sweep import sweep
from hlsgen.cli.synth import synth
from hlsgen.cli.tracing import profile, trace

LONGEST_HELP = 400
"""Letters of a command's first sentence."""


class Commands(click.Group):
    """A group that keeps the promises of --json and of the exit codes for wrong usage too."""

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        words = list(sys.argv[1:] if args is None else args)
        try:
            code = super().main(words, prog_name or "hlsgen", **{**extra, "standalone_mode": False})
        except click.ClickException as error:
            with suppress(OSError):
                if "--json" in words:
                    print_json({"error": [{"message": error.format_message()}], "exit_code": error.exit_code})
                error.show()
            sys.exit(error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            sys.exit(INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)

    def make_context(self, *words: Any, **extra: Any) -> click.Context:
        with printing():  # help and version
            return super().make_context(*words, **extra)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        add_loudness(cmd)
        super().add_command(cmd, name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each with its whole first sentence, on several lines where it needs them."""
        commands = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(limit=LONGEST_HELP)) for name, one in commands])

    def invoke(self, ctx: click.Context) -> Any:
        with printing():  # the commands' help
            return super().invoke(ctx)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="hlsgen")
def cli() -> None:
    """From a convolution or a trained CNN to a verified Vitis HLS project."""


cli.add_command(accuracy)
cli.add_command(calibrate)
cli.add_command(cedr)
cli.add_command(compare)
cli.add_command(lint)
cli.add_command(profile)
cli.add_command(program)
cli.add_command(partition)
cli.add_command(pipeline)
cli.add_command(quantise)
cli.add_command(report)
cli.add_command(schedule)
cli.add_command(simulate)
cli.add_command(starpu)
cli.add_command(sweep)
cli.add_command(synth)
cli.add_command(trace)


@cli.command()
@design_options
@frame_options
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Build folder [build/NAME]."
)
@click.option("--no-csim", is_flag=True, help="Emit and report without C-simulation (no compiler needed).")
@click.option("--no-schedule", is_flag=True, help="Do not schedule the emitted code (hlsgen schedule).")
@judge_option
@junit_option
def build(
    given: GivenDesign,
    as_json: bool,
    frames: int | None,
    input_file: Path | None,
    output: Path | None,
    no_csim: bool,
    no_schedule: bool,
    no_judge: bool,
    junit: Path | None,
) -> None:
    """Check, map, emit, C-simulate, schedule and report DESIGN."""
    with reporting(as_json), junit_file(junit, given.path) as write_junit:
        from hlsgen.api.project import build as build_project

        with working(as_json) as progress:
            loaded = given.load(progress)
            folder = output or Path("build") / loaded.name
            project = build_project(
                loaded,
                folder,
                frames=frames,
                input_file=input_file,
                csim=not no_csim,
                schedule=not no_schedule,
                judge=not no_judge,
                progress=progress,
            )
        write_junit(project)
        if as_json:
            print_json({**project.report, "folder": str(folder)})
        else:
            print_build(project)


@cli.command()
@design_options
@frame_options
def check(given: GivenDesign, as_json: bool, frames: int | None, input_file: Path | None) -> None:
    """Check DESIGN without building it: every mistake, each with its place.

    With --frames or --input, the model's framework judges its answers on these frames.
    """
    with reporting(as_json):
        from hlsgen.api.project import judge_only

        with working(as_json) as progress:
            loaded = given.load(progress)
            note_calibration(loaded)
            loaded.choose(progress)
            loaded.check()
            asked = frames is not None or input_file is not None
            said = judge_only(loaded, frames, input_file, progress) if asked else None
        if as_json:
            judge = {} if said is None else {"judge": said.as_json()}
            print_json({"design": loaded.name, "board": loaded.board.name, "verdict": "ok", **judge})
        else:
            print_judge(said)
            instances = loaded.estimate().instances
            fit = "1 instance fits" if instances == 1 else f"{instances} instances fit"
            fit += f" {loaded.board.title}"
            click.echo(f"{click.format_filename(given.path)}: ok; {fit}")


@cli.command()
@design_options
@frame_options
@click.option(
    "--headers", type=click.Choice(["fast", "reference"]), default="fast", help="Which ap_fixed headers."
)
@judge_option
def csim(
    given: GivenDesign,
    as_json: bool,
    frames: int | None,
    input_file: Path | None,
    headers: str,
    no_judge: bool,
) -> None:
    """C-simulate DESIGN and compare with golden, leaving no files behind."""
    with reporting(as_json):
        from hlsgen.api.project import simulate_only
        from hlsgen.csim.compiler import Headers
        from hlsgen.report.checks import csim_figures

        with working(as_json) as progress:
            loaded = given.load(progress)
            found = simulate_only(
                loaded,
                frames=frames,
                input_file=input_file,
                headers=Headers(headers),
                judge=not no_judge,
                progress=progress,
            )
        if as_json:
            names = {"design": loaded.name, "board": loaded.board.name}
            csim_json = csim_figures(found.verification).as_json()
            parts = {"csim": csim_json, "judge": found.judge.as_json()}
            print_json({**names, **found.figures.as_json(), **parts})
        else:
            print_warnings(found.figures.warnings)
            print_clipping(found.figures)
            print_verification(loaded.macs, found.verification)
            print_judge(found.judge)


@cli.command()
@design_options
@click.option("--fifos", is_flag=True, help="Look for the shallowest FIFOs that cost no speed.")
def estimate(given: GivenDesign, fifos: bool, as_json: bool) -> None:
    """Cycles, resources and speed of DESIGN, modelled; nothing is written."""
    with reporting(as_json):
        with working(as_json) as progress:
            loaded = given.load(progress)
            note_calibration(loaded)
            loaded.choose(progress)
            found = loaded.estimate()
            if fifos:
                progress("looking for the shallowest FIFOs")
                found = found.with_smallest_fifos()
            figures = found.figures()
        if as_json:
            print_json(figures.as_json())
            return
        print_estimate(figures)
        if fifos:
            print_fifos(figures)


@cli.command()
@design_options
@click.option("--target-fps", type=float, metavar="F", help="The cheapest hardware with F frames a second.")
@click.option("--max-latency-us", type=float, metavar="L", help="... and no longer from DDR to DDR a frame.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DESIGN", help="Write it as a design file."
)
@click.option("--force", is_flag=True, help="Replace a design file that is there already.")
@click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE", help="The Pareto front: .svg or .png."
)
def explore(
    given: GivenDesign,
    as_json: bool,
    target_fps: float | None,
    max_latency_us: float | None,
    output: Path | None,
    force: bool,
    plot: Path | None,
) -> None:
    """Find the fastest mapping of DESIGN for its board, or the cheapest for a target."""
    with reporting(as_json):
        from hlsgen.explore.console import front_table, headline, layer_table
        from hlsgen.explore.design_file import fixed_design
        from hlsgen.loading.importing import write_design
        from hlsgen.report.front_file import check_ending, write_front
        from hlsgen.report.front_picture import draw_front
        from hlsgen.search.board_limits import whole_of

        if plot is not None:
            check_ending(plot)
        with working(as_json) as progress:
            loaded = given.load(progress)
            note_calibration(loaded)
            found = loaded.explore(target_fps=target_fps, max_latency_us=max_latency_us, progress=progress)
        if output is not None:
            write_design(
                fixed_design(
                    found,
                    given.path,
                    output,
                    board=given.board,
                    clock_mhz=given.clock_mhz,
                    precision=given.precision,
                ),
                output,
                force=force,
            )
        if plot is not None:
            title = f"{loaded.name} on {loaded.board.title} at {loaded.clock_mhz:g} MHz"
            write_front(draw_front(found.search_figures(), whole_of(loaded.board)), title, plot)
        if as_json:
            print_json(found.as_json())
            return
        show(layer_table(found))
        show(front_table(found))
        for line in headline(found):
            click.echo(line)
        for path in (output, plot):
            if path is not None:
                click.echo(f"wrote {click.format_filename(path)}")


@cli.command("import")
@click.argument("model")
@click.option(
    "--shape",
    "shapes",
    metavar="C,H,W",
    multiple=True,
    help="With PyTorch, and ONNX where it is open: the shape of a frame, the batch left out; of several "
    "inputs each in turn.",
)
@click.option(
    "--input-type",
    metavar="TYPE",
    help="Of a quantised model: the type of inputs that nothing quantises first.",
)
@click.option(
    "--default-type",
    metavar="TYPE",
    help="With Keras: the type of layers without quantizers, in a model where others have some.",
)
@click.option(
    "--samples",
    type=click.Path(path_type=Path),
    metavar="X.npy",
    multiple=True,
    help="Typical frames, [N, C, H, W], to choose number types from; of several inputs each in turn.",
)
@click.option(
    "--weights",
    type=click.Path(path_type=Path),
    help="With PyTorch: a state_dict to load; with a .json file of Keras: its weights.",
)
@click.option(
    "--board",
    type=BoardName(),
    metavar="B",
    default="u200",
    show_default=True,
    help="The board to design for.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="DESIGN", help="[NAME.yaml]")
@click.option("--force", is_flag=True, help="Replace a design file that is there already.")
@as_json_option
def import_(
    model: str,
    shapes: tuple[str, ...],
    input_type: str | None,
    default_type: str | None,
    samples: tuple[Path, ...],
    weights: Path | None,
    board: str,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Show what MODEL holds and write a design file for it.

    MODEL is net.py:make_net (PyTorch; that function of yours is run), net.onnx, or net.h5 (Keras, QKeras).
    """
    with reporting(as_json):
        from hlsgen.loading.importing import import_model, write_design, write_schema
        from hlsgen.targets.board import load_board

        load_board(board)
        folder = output.parent if output else Path()
        sizes = [_shape(shape) for shape in shapes]
        found = import_model(
            model,
            folder,
            shapes=sizes,
            input_type=input_type,
            default_type=default_type,
            weights=weights,
            board=board,
            samples=samples,
            say=note,
        )
        path = output or Path(f"{found.graph.name}.yaml")
        write_design(found.text, path, force=force)
        write_schema(path.parent)
        layers = found.graph.layers
        if as_json:
            rows = [
                {"name": one.name, "kind": one.kind, "shape": list(one.output_shape), "macs": one.macs}
                for one in layers
            ]
            figures = {"design": str(path), "framework": found.framework, "layers": rows}
            print_json({**figures, "warnings": list(found.warnings)})
            return
        print_warnings(found.warnings)
        table = Table("layer", "kind", "gives", "multiply-accumulates", title=f"{model} ({found.framework})")
        for one in layers:
            table.add_row(one.name, one.kind, " x ".join(map(str, one.output_shape)), f"{one.macs:,}")
        show(table)
        click.echo(f"{len(layers)} layers, {found.graph.macs:,} multiply-accumulates a frame")
        click.echo(f"wrote {click.format_filename(path)}; next: hlsgen build {click.format_filename(path)}")


def _shape(text: str) -> tuple[int, ...]:
    """The shape that --shape gives. Raises click.UsageError: no list of positive numbers."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise click.UsageError(f"--shape takes sizes such as 3,32,32, not {text!r}")
    return tuple(int(part) for part in parts)


@cli.command()
@as_json_option
@click.option(
    "--template", is_flag=True, help="Print a board file to fill in: hlsgen boards --template > my.yaml"
)
def boards(as_json: bool, template: bool) -> None:
    """The boards that hlsgen knows; another one is another YAML file."""
    with reporting(as_json):
        from hlsgen.targets.board import board_template, list_boards

        if template:
            if as_json:
                raise click.UsageError("--template prints a board file, which is YAML: leave --json out")
            click.echo(board_template(), nl=False)
            return

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
            "memory GB/s",
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


@cli.command()
@click.argument("of", type=click.Choice(["design", "board"]), default="design")
def schema(of: str) -> None:
    """The JSON Schema of a design file, or of a board file, for editors."""
    with reporting(as_json=True):
        from hlsgen.designfile.json_schemas import design_json_schema
        from hlsgen.targets.board import board_json_schema

        print_json(design_json_schema() if of == "design" else board_json_schema())


def main() -> None:
    open_streams()
    # a command keeps most of what it makes: looking for cycles in it over and over takes a second of a build
    gc.set_threshold(100_000, 20, 100)
    cli()
