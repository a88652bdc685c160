"""hlsgen accuracy: what a network's answers are worth, and its hardware, by precision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.table import Table

from hlsgen.cli.console import note, print_json, reporting, show, working
from hlsgen.cli.designs import GivenDesign, design_options, frame_options, metric_options, note_own_metric


@click.command()
@design_options
@frame_options
@metric_options
@click.option(
    "--precisions",
    default="16,8,6,4",
    show_default=True,
    metavar="P,P",
    help="Widths, or other number types, beside floating point and the design's own; none: no others.",
)
@click.option("--no-hardware", is_flag=True, help="Only the answers: no hardware is looked for.")
def accuracy(
    given: GivenDesign,
    as_json: bool,
    frames: int | None,
    input_file: Path | None,
    labels: Path | None,
    metric: str | None,
    precisions: str,
    no_hardware: bool,
) -> None:
    """Show what DESIGN's answers are worth in floating point, in its own types and in fewer bits."""
    with reporting(as_json):
        from hlsgen.widths.by_precision import accuracy as table_of

        wished = _precisions(precisions)
        with working(as_json) as progress:
            loaded = given.load(progress)
            note_own_metric(loaded, metric)
            found = table_of(
                loaded,
                input_file,
                labels,
                metric=metric,
                precisions=wished,
                frames=frames,
                hardware=not no_hardware,
                progress=progress,
            )
        if as_json:
            print_json(found.as_json())
            return
        heads = found.heads
        if no_hardware:
            heads = [*heads[:-5], heads[-1]]
        table = Table(*heads)
        for row in found.rows:
            cells = row.cells(found.metric)
            table.add_row(*([*cells[:-5], cells[-1]] if no_hardware else cells))
        click.echo(found.headline)
        show(table)
        for line in found.signs:
            click.echo(f"sign: {line}")
        for line in found.notes:
            note(line)


def _precisions(text: str) -> list[Any]:
    """What --precisions lists. Raises click.BadParameter: it is no list of values of a design file."""
    import yaml

    if text == "none":
        return []
    try:
        found = yaml.safe_load(f"[{text}]")
    except (yaml.YAMLError, ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not found or None in found:
        message = f"{text!r:.80} is no list such as 16,8,6,4 or 8,auto,'\"fixed<16,6>\"'"
        raise click.BadParameter(message, param_hint="--precisions")
    return found
