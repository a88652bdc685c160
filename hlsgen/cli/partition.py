"""hlsgen partition: which layers belong on the FPGA and which on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from hlsgen.cli.console import note, print_json, reporting, show, working
from hlsgen.cli.designs import GivenDesign, design_options

if TYPE_CHECKING:
    from hlsgen.partitioning.result import Partitioned


@click.command()
@design_options
@click.option(
    "--devices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The devices there are; without it this machine's CPUs and the design's board.",
)
@click.option(
    "--tasks",
    type=click.IntRange(1, 60),
    default=20,
    show_default=True,
    metavar="N",
    help="Of how many tasks the network is made at the most; layers between are fused.",
)
@click.option(
    "--write-times",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Measure this machine's CPU, write what every layer takes, and end: for `times` of another machine.",
)
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="A picture: .svg or .png.")
def partition(
    given: GivenDesign,
    as_json: bool,
    devices: Path | None,
    tasks: int,
    write_times: Path | None,
    plot: Path | None,
) -> None:
    """Find which device computes which layers of DESIGN, for the most frames a second."""
    with reporting(as_json):
        from hlsgen.base.output import check_place
        from hlsgen.partitioning.partition import measured_times
        from hlsgen.partitioning.partition import partition as search
        from hlsgen.report.front_file import check_ending

        if plot is not None:
            check_ending(plot)
        for path, option in ((write_times, "--write-times"), (plot, "--plot")):
            if path is not None:
                check_place(path, option)
        with working(as_json) as progress:
            loaded = given.load(progress)
            if write_times is not None:
                from hlsgen.partitioning.times import write_times as write

                write(measured_times(loaded, tasks=tasks, progress=progress), write_times)
                click.echo(f"wrote {click.format_filename(write_times)}")
                return
            found = search(loaded, devices, tasks=tasks, progress=progress)
        if plot is not None:
            from hlsgen.partitioning.picture import write_picture

            write_picture(found, plot)
        if as_json:
            print_json(found.as_json())
            return
        _show(found)
        if plot is not None:
            click.echo(f"wrote {click.format_filename(plot)}")


def _show(found: Partitioned) -> None:
    """The partition as text."""
    from hlsgen.partitioning.result import DEVICE_HEADS

    for line in found.notes:
        note(line)
    click.echo(found.headline)
    if found.found.binds:
        click.echo(f"binds: {', '.join(found.found.binds[:3])}")
    for heads, rows in ((found.task_heads, found.task_cells), (DEVICE_HEADS, found.device_cells)):
        table = Table(*heads)
        for cells in rows:
            table.add_row(*cells)
        show(table)
    for text in found.route_texts:
        click.echo(text)
    if found.as_pipeline is not None:
        click.echo(f"the first way at work: hlsgen pipeline DESIGN {found.as_pipeline}")
    for name, figures in found.kernels.items():
        click.echo(f"kernel {name}: {', '.join(f'{value:,} {key}' for key, value in figures.items())}")
