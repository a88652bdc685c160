"""Functions of the source, after they were inlined: what is left of them are the places of instructions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import PurePath

from hlsgen.schedule.ir import Function, Module, Place
from hlsgen.schedule.pragmas import Pragma

SourceFunction = tuple[str, str]
"""Name of the file, without its folders, and of the function: the compiler writes folders in several ways."""


@cache
def _file_name(file: str) -> str:
    return PurePath(file).name


def function_at(place: Place) -> SourceFunction:
    """The function that a place stands in."""
    return _file_name(place.file), place.function


def calls_of(place: Place | None) -> Iterator[Place]:
    """A place, and those of the calls that it was inlined at, the outermost last."""
    while place is not None:
        yield place
        place = place.inlined_at


class SourceFunctions:
    """The functions of the source that instructions of a function came from, with their lines."""

    def __init__(self, function: Function, module: Module) -> None:
        self.lines: dict[SourceFunction, set[int]] = {}
        for number in {one.place for _, one in function.instructions()}:
            for place in calls_of(module.places.get(number)):
                self.lines.setdefault(function_at(place), set()).add(place.line)

    def around(self, pragmas: Iterable[Pragma]) -> frozenset[SourceFunction]:
        """The functions that pragmas stand in."""
        found = (self._around(one) for one in pragmas)
        return frozenset(one for one in found if one is not None)

    def _around(self, pragma: Pragma) -> SourceFunction | None:
        """That with the nearest line behind the pragma."""
        file = _file_name(pragma.file)
        behind = [
            (min(line for line in lines if line >= pragma.line), function)
            for function, lines in self.lines.items()
            if function[0] == file and max(lines) >= pragma.line
        ]
        return min(behind)[1] if behind else None


def named(pragmas: Sequence[Pragma], name: str, word: str = "") -> list[Pragma]:
    """The pragmas of a name, with a word if one is given."""
    return [one for one in pragmas if one.name == name and (not word or word in one.words)]
