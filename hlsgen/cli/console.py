"""How commands end, and what they show meanwhile: errors with their exit codes, a spinner, tables, JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

import click
from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table

from hlsgen.base.errors import HlsgenError, OutputError, ToolError, error_json
from hlsgen.base.progress import Progress, logged, silent
from hlsgen.cli.loudness import quiet

INTERRUPTED = 130
err = Console(stderr=True, highlight=False)
as_json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document on standard output, nothing else."
)


@contextmanager
def reporting(as_json: bool) -> Iterator[None]:
    """Errors of the user as text (or JSON) with their exit code; anything else is a bug: a traceback."""
    interrupted = False

    def interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    signals = (signal.SIGINT, signal.SIGTERM)
    heard = [number for number in signals if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in heard}
    try:
        with printing(as_json):
            yield
    except HlsgenError as error:
        _fail(error_json(error), str(error), error.exit_code, as_json)
    except MemoryError:
        text = "error: there is not enough memory\nfix: fewer --frames, or a smaller layer"
        _fail(error_json(ToolError(text)), text, ToolError.exit_code, as_json)
    except KeyboardInterrupt:
        _fail_interrupted(as_json)
    except Exception:
        # what a signal met inside a library's callback may arrive as that library's own error
        if not interrupted:
            raise
        _fail_interrupted(as_json)
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextmanager
def printing(as_json: bool = False) -> Iterator[None]:
    """What cannot be written is said with exit code 4; a reader that has seen enough is no error."""
    try:
        yield
    except BrokenPipeError:
        _discard_output()
        sys.exit(0)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        text = f"error: {where}{error.strerror or error}\nfix: free some space, and check permissions"
        _fail(error_json(OutputError(text)), text, OutputError.exit_code, as_json)


def _discard_output() -> None:
    """Discards what is left of standard output, so that nothing is flushed at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_streams() -> None:
    """A standard stream that the shell has closed becomes /dev/null.

    Else the next file that is opened would be standard output, and get what is printed.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, mode))


def _fail_interrupted(as_json: bool) -> NoReturn:
    message = "interrupted; the build folder is as it was, or complete"
    _fail([{"message": message}], message, INTERRUPTED, as_json)


def _fail(problems: list[dict[str, Any]], text: str, code: int, as_json: bool) -> NoReturn:
    if as_json:
        with suppress(OSError):  # standard output may be what failed
            print_json({"error": problems, "exit_code": code})
    say(text)
    sys.exit(code)


_bars: list[Bar] = []
"""What is shown on the terminal now: texts go above it."""


def say(text: str) -> None:
    """Prints a text to standard error, as far as that can be written."""
    with suppress(OSError):
        if _bars:
            _bars[-1].console.print(text, markup=False, soft_wrap=True)
        else:
            click.echo(text, err=True)


@contextmanager
def working(as_json: bool) -> Iterator[Progress]:
    """Shows on a terminal what is going on, with a bar where it is known how much is done; else only the
    log has it.
    """
    if as_json or quiet() or not err.is_terminal:
        yield silent
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=err, transient=True) as bar:
        task = bar.add_task("", total=None)

        def show_progress(text: str, done: int = 0, total: int = 0, /) -> None:
            bar.update(task, description=text, completed=done, total=total or None)

        _bars.append(bar)
        try:
            yield logged(show_progress)
        finally:
            _bars.remove(bar)


def remark(text: str) -> None:
    """Says what is neither a result nor an error, unless --quiet."""
    if not quiet():
        say(text)


def note(text: str) -> None:
    remark(f"note: {text}")


class _Output(Console):
    """Standard output, whose reader may have seen enough."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def show(table: Table) -> None:
    # names are those of files and models of others: no brackets in them are markup
    console = _Output(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 100)
    console.print(table)


def print_json(document: dict[str, Any]) -> None:
    click.echo(json.dumps(document, indent=2, allow_nan=False))
