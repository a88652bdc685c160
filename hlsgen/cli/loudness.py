"""-v and -q, which every command has: more on standard error, or nothing but errors.

-v shows what the library logs (loggers hlsgen.*): steps with the seconds since the command began, and the
commands that are run. -q leaves out notes, warnings, and what shows progress. Standard output is the same.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import Any

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


def add_loudness(command: click.Command) -> None:
    """Gives a command -v and -q; one that has a -v of its own shows the log with it, too."""
    own = [one for one in command.params if "--verbose" in one.opts]
    for one in own:
        one.callback = _noted("verbose")
    command.params.append(
        click.Option(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            callback=_noted("quiet"),
            help="Nothing but results and errors.",
        )
    )
    if not own:
        command.params.append(
            click.Option(
                ["-v", "--verbose"],
                is_flag=True,
                expose_value=False,
                callback=_noted("verbose"),
                help="Show the steps with their times, and the commands that are run.",
            )
        )
    command.callback = _loud(command.callback)


def _noted(key: str) -> Callable[[click.Context, click.Parameter, bool], bool]:
    """Keeps what was asked for with the command. It begins with the command, not here: of a command whose
    other words are wrong nothing would end it.
    """

    def note(context: click.Context, _option: click.Parameter, wanted: bool) -> bool:
        context.meta[f"{__name__}.{key}"] = wanted
        return wanted

    return note


def _loud(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    """The command, as loud as was asked for. Raises click.UsageError: -v and -q."""
    assert callback is not None, "a group has no options of its own"

    @wraps(callback)
    def command(*words: Any, **options: Any) -> Any:
        meta = click.get_current_context().meta
        hush, show = (meta.get(f"{__name__}.{key}", False) for key in ("quiet", "verbose"))
        if hush and show:
            raise click.UsageError("--verbose and --quiet contradict each other")
        with _hushed() if hush else _shown_log() if show else nullcontext():
            return callback(*words, **options)

    return command


@contextmanager
def _shown_log() -> Iterator[None]:
    from hlsgen.cli.console import say

    logger = logging.getLogger("hlsgen")
    handler, before = _Shown(say), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


@contextmanager
def _hushed() -> Iterator[None]:
    global _quiet
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HlsgenWarning)
        _quiet = True
        try:
            yield
        finally:
            _quiet = False
