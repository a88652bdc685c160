"""The command `hlsgen program`."""

from __future__ import annotations

from pathlib import Path

import click

from hlsgen.cli.console import as_json_option, note, print_json, reporting, working
from hlsgen.cli.printing import print_verification, print_warnings


@click.command()
@click.argument("design", type=click.Path(path_type=Path))
@click.option(
    "--for",
    "build",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="A build of style: shared, whose processor is to run DESIGN.",
)
@click.option(
    "--input",
    "input_file",
    type=click.Path(path_type=Path),
    metavar="X.npy",
    help="Your own frames, [N, C, H, W].",
)
@click.option(
    "--frames", type=click.IntRange(1, 100_000), metavar="N", help="How many frames (16, or the batch)."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="OUT", help="Folder [build/NAME_for_DIR]."
)
@click.option("--no-csim", is_flag=True, help="Write it without C-simulation (no compiler needed).")
@as_json_option
def program(
    design: Path,
    build: Path,
    input_file: Path | None,
    frames: int | None,
    output: Path | None,
    no_csim: bool,
    as_json: bool,
) -> None:
    """Write the program of DESIGN's network for a processor that is built already: no synthesis."""
    with reporting(as_json):
        from hlsgen.api.design import load
        from hlsgen.api.program import program_for
        from hlsgen.report.program import program_line

        with working(as_json) as progress:
            progress("reading the design")
            loaded = load(design, say=note, progress=progress)
            folder = output or Path("build") / f"{loaded.name}_for_{build.resolve().name}"
            made = program_for(
                loaded,
                build,
                folder,
                frames=frames,
                input_file=input_file,
                csim=not no_csim,
                progress=progress,
            )
        if as_json:
            print_json({**made.report, "folder": str(folder)})
            return
        print_warnings(made.figures.warnings)
        click.echo(program_line(made.figures))
        if made.figures.left_to_host:
            click.echo(f"left to the host, without hardware: {', '.join(made.figures.left_to_host)}")
        if made.verification is not None:
            print_verification(loaded.macs, made.verification)
        else:
            click.echo("C-simulation skipped")
        click.echo(
            f"wrote {click.format_filename(folder)}/ (start with {click.format_filename(folder)}/report.md)"
        )
