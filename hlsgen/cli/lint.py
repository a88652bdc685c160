"""hlsgen lint: the pragma lint on any C++ files."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import click

from hlsgen.cli.console import as_json_option, print_json, reporting
from hlsgen.cli.schedule import print_schedules, scheduled_files
from hlsgen.cli.scheduled import Asked, target_options


@click.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE...",
)
@target_options
@click.option(
    "--schedule", "with_schedule", is_flag=True, help="Schedule the loops too, as hlsgen schedule does."
)
@click.option("--warnings-as-errors", is_flag=True, help="End with 1 on warnings too.")
@as_json_option
def lint(
    files: tuple[str, ...], asked: Asked, with_schedule: bool, warnings_as_errors: bool, as_json: bool
) -> None:
    """Check every #pragma HLS of C++ files, and the dataflow regions, ports and sizes around them.

    With --schedule loops that miss their II or the clock are findings too; --top, --part and the other
    options of a target are for that. Ends with 0 if there is no error, with 1 if there is one. docs/lint.md
    lists the rules.
    """
    with reporting(as_json):
        from hlsgen.lint import Severity
        from hlsgen.lint import lint as lint_files

        linted = lint_files(files, _regular_file, tuple(map(str, asked.folders)))
        errors, warnings = linted.count(Severity.ERROR), linted.count(Severity.WARNING)
        kernels = scheduled_files([Path(file) for file in files], asked, as_json) if with_schedule else []
        wrong = errors > 0 or (warnings_as_errors and warnings > 0)
        wrong = wrong or any(kernel.findings() for kernel in kernels)
        if as_json:
            document = {**linted.as_json(), "findings": [one.as_json() for one in linted.findings]}
            schedules = {"schedule": [one.as_json() for one in kernels]} if with_schedule else {}
            print_json({**document, **schedules})
            sys.exit(int(wrong))
        for finding in linted.findings:
            click.echo(str(finding))
        if linted.dropped:
            click.echo(f"and {linted.dropped:,} more findings, in files with too many to read")
        counts = (errors, Severity.ERROR), (warnings, Severity.WARNING)
        said = ", ".join(f"{count} {what.value}{'' if count == 1 else 's'}" for count, what in counts)
        plural = "" if linted.pragmas == 1 else "s"
        click.echo(f"{linted.pragmas} pragma{plural} in {len(files)} file{'s'[: len(files) > 1]}: {said}")
        print_schedules(kernels)
        sys.exit(int(wrong))


def _regular_file(path: str) -> bytes | None:
    """The file's first bytes, as many as are ever read and one more; None if it is none. Raises OSError."""
    from hlsgen.lint.text import MAX_BYTES

    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return None
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
