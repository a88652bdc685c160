"""`hlsgen profile` and `hlsgen trace`: which layer of a design ruins its network's answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from hlsgen.cli.console import note, print_json, reporting, show, working
from hlsgen.cli.designs import GivenDesign, design_options, frame_options
from hlsgen.cli.printing import note_calibration

if TYPE_CHECKING:
    from hlsgen.api.design import Design
    from hlsgen.report.profile import ProfileFigures, TraceFigures

FRAMES = 32
"""Of the design's own samples, where no number is asked for."""
SHOWN_ROWS = 60
"""Rows of a table on the console; pages and JSON have all."""
output_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write a page and the figures there.",
)


@click.command()
@design_options
@frame_options
@output_option
def profile(
    given: GivenDesign, as_json: bool, frames: int | None, input_file: Path | None, output: Path | None
) -> None:
    """Ranges beside types, the noise of each layer of DESIGN, and which type to widen."""
    with reporting(as_json):
        from hlsgen.tracing.figures import profile_figures
        from hlsgen.tracing.files import write_profile

        with working(as_json) as progress:
            loaded = given.load(progress)
            note_calibration(loaded)
            found = loaded.profile(_frames(loaded, frames, input_file), progress=progress)
        written = [] if output is None else write_profile(found, output)
        if as_json:
            print_json(found.as_json())
            return
        _print_profile(profile_figures(found))
        _print_written(written)


@click.command()
@design_options
@frame_options
@output_option
@click.option("--values", is_flag=True, help="With -o: the values of every layer too, trace.npz.")
@click.option("--no-framework", is_flag=True, help="Compare with floating point; do not run the framework.")
def trace(
    given: GivenDesign,
    as_json: bool,
    frames: int | None,
    input_file: Path | None,
    output: Path | None,
    values: bool,
    no_framework: bool,
) -> None:
    """Every layer of DESIGN beside the framework's own, and the first that goes wrong."""
    with reporting(as_json):
        from hlsgen.tracing.figures import trace_figures
        from hlsgen.tracing.files import write_trace

        if values and output is None:
            raise click.UsageError("--values goes with -o: values are written to a folder")
        with working(as_json) as progress:
            loaded = given.load(progress)
            note_calibration(loaded)
            x = _frames(loaded, frames, input_file)
            found = loaded.trace(x, framework=not no_framework, progress=progress)
        written = [] if output is None else write_trace(found, output, values=values)
        if as_json:
            print_json(found.as_json())
            return
        _print_trace(trace_figures(found))
        _print_written(written)


def _frames(design: Design, frames: int | None, file: Path | None) -> Any:
    """Frames in the framework's layout: of a file, else of the design's own samples."""
    count = frames or (None if file is not None else FRAMES)
    sampled = design.given.sampled(count, file=file)
    arrays = [port.from_tensor(sampled.values[port.name]) * port.scale for port in design.given.graph.inputs]
    return arrays[0] if len(arrays) == 1 else arrays


def _print_written(paths: list[str]) -> None:
    for path in paths:
        click.echo(f"wrote {click.format_filename(path)}")


def _print_profile(found: ProfileFigures) -> None:
    from hlsgen.report.profile import short_type
    from hlsgen.report.profile_pictures import noise_table, range_table

    tables = [noise_table(found)] if found.noise else []
    for content in (*tables, range_table(found)):
        _show(content.title, content.head, content.rows, content.numbers)
    for line in found.verdict:
        click.echo(line)
    for one in found.advice:
        click.echo(f"{one.layer}: {one.why}; {short_type(one.type)} now, write: {one.design_file}")


def _print_trace(found: TraceFigures) -> None:
    from hlsgen.report.profile_pictures import trace_table

    content = trace_table(found)
    _show(f"{content.title} against {found.judge or 'nothing'}", content.head, content.rows, content.numbers)
    for line in found.verdict:
        click.echo(line)


def _show(
    title: str, head: tuple[str, ...], rows: tuple[tuple[str, ...], ...], numbers: tuple[int, ...]
) -> None:
    table = Table(title=title)
    for column, name in enumerate(head):
        table.add_column(name, justify="right" if column in numbers else "left")
    for row in rows[:SHOWN_ROWS]:
        table.add_row(*row)
    show(table)
    if len(rows) > SHOWN_ROWS:
        note(f"{len(rows) - SHOWN_ROWS} more rows: -o DIR or --json shows all")
