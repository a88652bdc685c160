"""What long work says of itself while it goes on.

Steps go to the logger hlsgen.steps, whoever watches: as INFO, once each; commands that are run go to
hlsgen.commands as DEBUG. The library prints nothing: without a handler of the user's nothing is seen.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

Say = Callable[[str], None]
STEPS = logging.getLogger("hlsgen.steps")


class Progress(Protocol):
    """Told what is going on, and how much of it is done where that is known."""

    def __call__(self, text: str, done: int = 0, total: int = 0, /) -> None: ...


def silent(text: str, done: int = 0, _total: int = 0, /) -> None:
    """Progress that nobody watches; the log has it."""
    if not done:
        STEPS.info("%s", text)


def logged(shown: Progress) -> Progress:
    """The same progress, whose steps are in the log, too."""

    def both(text: str, done: int = 0, total: int = 0, /) -> None:
        silent(text, done, total)
        shown(text, done, total)

    return both
