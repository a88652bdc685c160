"""What long work says of itself while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

Say = Callable[[str], None]


class Progress(Protocol):
    """Told what is going on, and how much of it is done where that is known."""

    def __call__(self, text: str, done: int = 0, total: int = 0, /) -> None: ...


def silent(_text: str, _done: int = 0, _total: int = 0, /) -> None:
    """Progress that nobody watches."""
