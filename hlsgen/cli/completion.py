"""What a shell completes of an argument: the boards' names, beside files."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType


class BoardName(StringParamType):
    """A board's name, or the path of a board file; what it is is checked where it is loaded."""

    name = "board"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The boards that begin so and board files of this folder; else the shell's own files."""
        from hlsgen.targets.board import board_names

        names = [*board_names(), *sorted(path.name for path in Path().glob("*.yaml"))]
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]
