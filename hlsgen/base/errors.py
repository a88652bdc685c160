"""What hlsgen says when something outside it is wrong. This module imports nothing of ours.

A mistake of the user is a `Problem`; a design may hold many and all are reported at once in one
`DesignError`. An outside tool that is missing or fails is a `ToolError`. A C-simulation that does not
equal golden is a `MismatchError`. Every other exception is a bug of hlsgen and shows its traceback.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Place:
    """A position in a text file. `line` and `column` count from 1; `excerpt` is that line's text."""

    file: str
    line: int
    column: int
    excerpt: str = ""
    width: int = 1


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One mistake: what is wrong, where, and what would be accepted (`fix`)."""

    message: str
    fix: str
    place: Place | None = None

    def __str__(self) -> str:
        if self.place is None:
            return f"error: {self.message}\nfix: {self.fix}"
        where = self.place
        lines = [f"{where.file}:{where.line}:{where.column}: error: {self.message}"]
        if where.excerpt.strip():
            gutter = f"{where.line:>5} | "
            lines.append(gutter + where.excerpt)
            lines.append(
                " " * (len(gutter) - 2) + "| " + " " * (where.column - 1) + "^" * max(1, where.width)
            )
        lines.append(f"fix: {self.fix}")
        return "\n".join(lines)


class HlsgenError(Exception):
    """Base of the errors that a user can cause and mend; `exit_code` is the command line's."""

    exit_code: int = 1


class DesignError(HlsgenError):
    """The design is wrong. Holds every independent mistake that was found."""

    exit_code = 1

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[DesignError], tuple[tuple[Problem, ...]]]:
        # an exception is pickled by its text else, whose letters would be the problems in another process
        return type(self), (self.problems,)


@contextmanager
def collecting(problems: list[Problem]) -> Iterator[None]:
    """A DesignError ends the block, and its problems go to `problems`; what follows may find more."""
    try:
        yield
    except DesignError as error:
        problems += error.problems


class MismatchError(HlsgenError):
    """The emitted C++ ran, and its result is not golden's (or breaks a memory's port limit)."""

    exit_code = 3


class JudgeError(MismatchError):
    """The framework computes something else from the model than hlsgen has read."""


class ToolError(HlsgenError):
    """An outside tool is missing or failed; the message names it, its exit status and its log."""

    exit_code = 4


class OutputError(HlsgenError):
    """The output folder cannot be written, or holds what is not hlsgen's."""

    exit_code = 4


class EmissionError(HlsgenError):
    """hlsgen emitted code that its own lint refuses: a bug of hlsgen, whatever the design says."""

    exit_code = 5


class NotOursError(OutputError):
    """The folder to build into holds something that hlsgen did not make; nothing was touched."""

    exit_code = 2


class HlsgenWarning(UserWarning):
    """Base of what Python users are warned of."""


class ClippingWarning(HlsgenWarning):
    """Frames hold values, or lead to values, that number types of the design clip to an extent that harms."""


class HostLayersWarning(HlsgenWarning):
    """What was opened computes no outputs of the network, but what layers at its end read."""


class BudgetWarning(HlsgenWarning):
    """A batch is larger than the one that a memory budget was planned for: it takes more."""


class CalibrationWarning(HlsgenWarning):
    """Number types were chosen from frames that are not the user's: a photograph, or random numbers."""


def warn_caller(message: str, kind: type[HlsgenWarning]) -> None:
    """A warning of Python's that names the line which called hlsgen."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)


def warned(message: str) -> None:
    """A HlsgenWarning that names the line which called hlsgen."""
    warn_caller(message, HlsgenWarning)


def error_json(error: HlsgenError) -> list[dict[str, Any]]:
    """The problems of an error as --json prints them."""
    if not isinstance(error, DesignError):
        message, _, fix = str(error).removeprefix("error: ").partition("\nfix: ")
        return [{"message": message, **({"fix": fix} if fix else {})}]
    problems = []
    for problem in error.problems:
        where = problem.place
        place = {"file": where.file, "line": where.line, "column": where.column} if where else {}
        problems.append({"message": problem.message, "fix": problem.fix, **place})
    return problems
