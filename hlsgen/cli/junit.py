"""--junit FILE: the checks of a build as JUnit XML, whether it ends well or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hlsgen.base.errors import HlsgenError

if TYPE_CHECKING:
    from hlsgen.api.project import Project

junit_option = click.option(
    "--junit",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the checks as JUnit XML, of a build that fails too.",
)


@contextmanager
def junit_file(path: Path | None, design: Path) -> Iterator[Callable[[Project], None]]:
    """What is to be called with the project once it is built; an error of the block is written and goes on.

    path: the file, None: none is wanted. design: its file, after which the suite of a build that failed is
    named. Raises OutputError: the file cannot be written, which is looked at before anything is built.
    """
    if path is None:
        yield lambda _project: None
        return

    from hlsgen.base.output import check_place, write_whole
    from hlsgen.report.junit import cases_of, failed_case, junit_xml

    def write(project: Project) -> None:
        write_whole(path, junit_xml(project.design.name, cases_of(project.figures)))

    check_place(path, "--junit")
    try:
        yield write
    except HlsgenError as error:
        write_whole(path, junit_xml(design.stem, [failed_case(error)]))
        raise
