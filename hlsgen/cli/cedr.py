"""The command `hlsgen cedr`."""

from __future__ import annotations

from pathlib import Path

import click

from hlsgen.cli.console import print_json, reporting, working
from hlsgen.cli.designs import GivenDesign, design_options, frame_options


@click.command()
@design_options
@frame_options
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Folder [build/NAME_cedr]."
)
@click.option("--no-run", is_flag=True, help="Write it without compiling and running it.")
def cedr(
    given: GivenDesign,
    as_json: bool,
    frames: int | None,
    input_file: Path | None,
    output: Path | None,
    no_run: bool,
) -> None:
    """Write DESIGN, a network or a layer, as an application of CEDR; run it alone."""
    with reporting(as_json):
        from hlsgen.api.cedr import build_cedr

        with working(as_json) as progress:
            loaded = given.load(progress)
            folder = output or Path("build") / f"{loaded.name}_cedr"
            made = build_cedr(
                loaded, folder, frames=frames, input_file=input_file, run=not no_run, progress=progress
            )
        if as_json:
            print_json(
                {
                    "design": loaded.name,
                    "calls": made.calls,
                    "on_cpu": list(made.on_cpu),
                    "frames": made.frames,
                    "verdict": "skipped" if no_run else "equal",
                    "folder": str(folder),
                }
            )
            return
        for name, calls in made.calls.items():
            click.echo(f"{name}: {calls:,} calls of the DASH API a frame")
        if made.on_cpu:
            click.echo(f"on the CPU: {', '.join(made.on_cpu)}")
        click.echo(made.said.rstrip() or "not run")
        shown = click.format_filename(folder)
        click.echo(f"wrote {shown}/ (the application is in {shown}/cedr/)")
