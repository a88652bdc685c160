"""hlsgen quantise: the widths of every tensor with the least hardware that keeps the answers."""

from __future__ import annotations

from pathlib import Path

import click
from rich.table import Table

from hlsgen.cli.console import print_json, reporting, show, working
from hlsgen.cli.designs import GivenDesign, design_options, frame_options, metric_options, note_own_metric
from hlsgen.cli.printing import print_warnings


@click.command()
@design_options
@frame_options
@metric_options
@click.option(
    "--loss",
    type=float,
    default=0.01,
    show_default=True,
    metavar="L",
    help="What the metric may lose against floating point, on the frames that choose.",
)
@click.option(
    "--sigma",
    type=float,
    default=1.5,
    show_default=True,
    metavar="S",
    help="How many standard errors of the loss are to stay below --loss too; 0: the loss alone.",
)
@click.option(
    "--least",
    type=click.Choice(["all", "lut", "ff", "bram18", "uram", "dsp"]),
    default="all",
    show_default=True,
    help="What shall be the least: the sum of the board's shares, or one kind's.",
)
@click.option(
    "--widths",
    default="2,3,4,5,6,7,8,10,12,16",
    show_default=True,
    metavar="B,B",
    help="Bits that a tensor may have.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DESIGN",
    help="Write the choice as a design file.",
)
@click.option(
    "--front",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write the front's designs as files into DIR.",
)
@click.option("--force", is_flag=True, help="Replace design files that are there already.")
@click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE", help="The Pareto front: .svg or .png."
)
def quantise(
    given: GivenDesign,
    as_json: bool,
    frames: int | None,
    input_file: Path | None,
    labels: Path | None,
    metric: str | None,
    loss: float,
    sigma: float,
    least: str,
    widths: str,
    output: Path | None,
    front: Path | None,
    force: bool,
    plot: Path | None,
) -> None:
    """Find the bits of every tensor of DESIGN with the least hardware that keeps its answers."""
    with reporting(as_json):
        from hlsgen.loading.importing import write_design
        from hlsgen.report.front_file import check_ending
        from hlsgen.widths.design_file import design_text
        from hlsgen.widths.front_file import write_picture
        from hlsgen.widths.search import quantise as search

        if plot is not None:
            check_ending(plot)
        bits = _bits(widths)
        with working(as_json) as progress:
            loaded = given.load(progress)
            note_own_metric(loaded, metric)
            found = search(
                loaded,
                input_file,
                labels,
                metric=metric,
                loss=loss,
                sigma=sigma,
                least=least,
                widths=bits,
                frames=frames,
                progress=progress,
            )
        written = []
        if output is not None:
            write_design(
                design_text(found, found.chosen, given.path, output, given.board, given.clock_mhz),
                output,
                force=force,
            )
            written.append(output)
        if front is not None:
            front.mkdir(parents=True, exist_ok=True)
            for number, one in enumerate(found.front, 1):
                path = front / f"{loaded.name}_{number}.yaml"
                write_design(
                    design_text(found, one, given.path, path, given.board, given.clock_mhz), path, force=force
                )
                written.append(path)
        if plot is not None:
            write_picture(found, plot)
            written.append(plot)
        if as_json:
            print_json(found.as_json())
            return
        table = Table(
            "",
            "weights / others",
            found.metric.name,
            "held out",
            "LUT",
            "DSP",
            "BRAM18",
            found.price_name,
            "gap",
        )
        for one in found.rows:
            on_front = "*" if one in found.front else ""
            of = one.hardware
            cells = [f"{of.lut:,}", f"{of.dsp:,}", f"{of.bram18:,}", found.price_text(one.price)]
            table.add_row(
                f"{'chosen: ' if one is found.chosen else ''}{one.name}{on_front}",
                one.bits,
                found.metric.text(one.metric),
                found.metric.text(one.held_out),
                *(["none fits", "", "", ""] if of.refusal else cells),
                "" if one.gap is None else f"{one.gap:.1%}",
            )
        print_warnings(found.warnings)
        for line in found.headline:
            click.echo(line)
        show(table)
        click.echo("chosen: " + ", ".join(f"{name} {bits}" for name, bits in found.chosen.widths.items()))
        for path in written:
            click.echo(f"wrote {click.format_filename(path)}")


def _bits(text: str) -> list[int]:
    """The numbers of --widths. Raises click.BadParameter: it lists none."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 4 for part in parts):
        raise click.BadParameter(f"{text!r:.80} is no list such as 4,6,8", param_hint="--widths")
    return [int(part) for part in parts]
