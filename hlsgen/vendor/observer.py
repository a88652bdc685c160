"""What is told of a synthesis as it goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class SynthesisObserver(Protocol):
    """One who looks on."""

    def begin(self, steps: Sequence[str]) -> None:
        """The steps that lead to what was asked for."""

    def started(self, step: str, log: str) -> None: ...

    def kept(self, step: str) -> None:
        """The step was complete, and its inputs are what they were."""

    def line(self, text: str) -> None:
        """A tool has printed it."""

    def at(self, text: str) -> None:
        """What the tool is at within the step."""

    def ended(self, step: str, seconds: float) -> None: ...

    def say(self, text: str) -> None:
        """Something that the user should know."""


class SilentObserver:
    """A watch that says nothing."""

    def begin(self, steps: Sequence[str]) -> None: ...
    def started(self, step: str, log: str) -> None: ...
    def kept(self, step: str) -> None: ...
    def line(self, text: str) -> None: ...
    def at(self, text: str) -> None: ...
    def ended(self, step: str, seconds: float) -> None: ...
    def say(self, text: str) -> None: ...
