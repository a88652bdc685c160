"""The commands on what builds have written, and the vendor tools: report, compare and calibrate."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from hlsgen.cli.console import as_json_option, note, print_json, reporting, show

if TYPE_CHECKING:
    from hlsgen.report.synthesised import SynthesisFigures
    from hlsgen.vendor.calibrate import Calibrated


@click.command()
@click.argument("build_dir", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="[BUILD_DIR/report.html]"
)
@click.option("--open", "show_it", is_flag=True, help="Show it in a browser.")
@as_json_option
def report(build_dir: Path, output: Path | None, show_it: bool, as_json: bool) -> None:
    """Make the page of a build anew: report.html, one file with everything in it.

    From report.json of BUILD_DIR, with what `hlsgen compare` has put there.
    """
    with reporting(as_json):
        from hlsgen.base.output import write_whole
        from hlsgen.report.html import PAGE, html_of_build

        path = output or build_dir / PAGE
        write_whole(path, html_of_build(build_dir))
        if as_json:
            print_json({"build": str(build_dir), "page": str(path)})
        else:
            click.echo(f"wrote {click.format_filename(path)}")
        if show_it and not webbrowser.open(path.resolve().as_uri()):
            note("no browser is known here; open the file by hand")


@click.command()
@click.argument("build_dir", type=click.Path(path_type=Path))
@click.argument("reports", nargs=-1, type=click.Path(path_type=Path))
@as_json_option
def compare(build_dir: Path, reports: tuple[Path, ...], as_json: bool) -> None:
    """Put synthesised figures beside the model's.

    REPORTS are csynth.xml, *_cosim.rpt and utilisation reports of the kernels of BUILD_DIR; without any,
    those below BUILD_DIR. They are written into its report.json, report.md and report.html.
    """
    with reporting(as_json):
        from hlsgen.vendor.compare import compare_build

        found, notes = compare_build(build_dir, reports)
        for text in notes:
            note(text)
        if as_json:
            print_json({"build": str(build_dir), "synthesised": [one.as_json() for one in found]})
            return
        print_synthesised(found)
        click.echo(f"wrote them into {click.format_filename(build_dir)}/report.json and report.md")


def print_synthesised(found: Iterable[SynthesisFigures]) -> None:
    """Prints a table of each report."""
    from hlsgen.report.synthesised import HEADS

    for one in found:
        table = Table(*HEADS, title=f"{one.top}: {one.about}")
        for cells in one.rows():
            table.add_row(*cells)
        show(table)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    default=Path("terms.yaml"),
    show_default=True,
    help="The file of terms to write.",
)
@click.option(
    "--terms",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The terms that the builds were modelled with [hlsgen's own].",
)
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@as_json_option
def calibrate(folder: Path, output: Path, terms: Path | None, force: bool, as_json: bool) -> None:
    """Refit LUT and FF to the builds below FOLDER that have reports of the vendor tools.

    Writes a file of terms for the option --terms of build, check, csim and estimate.
    """
    with reporting(as_json):
        from hlsgen.loading.importing import write_design
        from hlsgen.targets.terms import load_terms, packaged_terms, terms_text
        from hlsgen.vendor.calibrate import calibrate as refitted

        done = refitted(folder, load_terms(terms) if terms else packaged_terms())
        write_design(terms_text(done.file), output, force=force)
        for text in done.notes:
            note(text)
        if as_json:
            print_json({"terms": str(output), "refitted": [one.as_json() for one in done.refits]})
            return
        show(refit_table(done))
        name = click.format_filename(output)
        click.echo(f"wrote {name}; next: hlsgen build DESIGN --terms {name}")


def refit_table(done: Calibrated) -> Table:
    """Errors before and after, each design predicted from the others alone."""
    head = ("style", "target", "cells", "designs", "median before", "90 %", "median after", "90 %", "scales")
    table = Table(*head)
    for one in done.refits:
        errors = [f"{value:.1%}" for value in (*one.before, *one.after)]
        different = sorted(set(one.scales.values()))
        scales = f"{different[0]:g}" if len(different) == 1 else f"{different[0]:g} to {different[-1]:g}"
        table.add_row(one.style, one.target, one.kind.upper(), str(one.designs), *errors, scales)
    return table
