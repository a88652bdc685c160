"""-v and -q, which every command has: more on standard error, or nothing but errors.

-v shows what the library logs (loggers hlsgen.*): steps with the seconds since the command began, and the
commands that are run. -q leaves out notes, warnings, and what shows progress. Standard output is the same.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable

import click

from hlsgen.base.errors import HlsgenWarning

_quiet = False


def quiet() -> bool:
    """Whether nothing but results and errors is wanted."""
    return _quiet


class _Shown(logging.Handler):
    """Lines on standard error, each with the seconds since the command began."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()
        self.begun = time.monotonic()
        self.say = say

    def emit(self, record: logging.LogRecord) -> None:
        self.say(f"[{time.monotonic() - self.begun:7.2f} s] {record.getMessage()}")


def _show_log(context: click.Context, _option: click.Parameter, wanted: bool) -> bool:
    """Shows the log until the command ends. Raises click.UsageError: with --quiet."""
    if not wanted:
        return wanted
    from hlsgen.cli.console import say

    if _quiet:
        raise click.UsageError("--verbose and --quiet contradict each other")
    logger = logging.getLogger("hlsgen")
    handler, before = _Shown(say), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)

    def undo() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)

    context.call_on_close(undo)
    return wanted


def _hush(context: click.Context, _option: click.Parameter, wanted: bool) -> bool:
    """Leaves out what is no result and no error until the command ends."""
    global _quiet
    if not wanted or _quiet:
        return wanted
    _quiet = True
    context.with_resource(warnings.catch_warnings())
    warnings.simplefilter("ignore", HlsgenWarning)

    def undo() -> None:
        global _quiet
        _quiet = False

    context.call_on_close(undo)
    return wanted


def add_loudness(command: click.Command) -> None:
    """Gives a command -v and -q; one that has a -v of its own shows the log with it, too."""
    own = [one for one in command.params if "--verbose" in one.opts]
    for one in own:
        one.callback = _show_log
    # eager, in this order: --quiet is known when --verbose is looked at, wherever they stand
    hush = click.Option(
        ["-q", "--quiet"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_hush,
        help="Nothing but results and errors.",
    )
    command.params.append(hush)
    if not own:
        show = click.Option(
            ["-v", "--verbose"],
            is_flag=True,
            expose_value=False,
            callback=_show_log,
            help="Show the steps with their times, and the commands that are run.",
        )
        command.params.append(show)
