"""What the vendor's compiler builds once though it is called in several places.

Everything is inlined here. The tool keeps a function that says `inline off`, or is large, as a module; calls
of it that run one after the other, not in a pipeline nor as processes of a dataflow, share the one instance.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection, Iterator, Sequence

from hlsgen.schedule.ir import Place
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.scheduled_regions import FunctionRegions, ScheduledRegion
from hlsgen.schedule.source_functions import SourceFunctions, calls_of, function_at, named

KEPT_OPERATIONS = 300
"""A function with more operations is kept; smaller ones the tool inlines, with their loops."""
Calls = tuple[tuple[str, str, int], ...]
"""File and function, and the line that it is called at (0 of the first), the outermost first."""


def path_of(place: Place | None) -> Calls:
    """The calls that lead to a place."""
    found = []
    for one in calls_of(place):
        above = one.inlined_at
        found.append((*function_at(one), above.line if above is not None else 0))
    return tuple(reversed(found))


def process_of(part: ScheduledRegion, source: Source) -> Calls:
    """The process of a dataflow that a part belongs to; empty: it stands in none."""
    path = path_of(part.place)
    inside = [at for at, one in enumerate(path[:-1]) if one[:2] in source.dataflow]
    return path[: inside[-1] + 2] if inside else ()


def repeated(parts: FunctionRegions, source: Source) -> list[set[int]]:
    """For each part the nodes that stand for a call of a function that was counted at its first call."""
    first: dict[Calls, Calls] = {}
    found: list[set[int]] = []
    for part in parts.parts:
        if part.pipelined:
            path = path_of(part.place)
            again = not _is_first(path, source, first)
            found.append({node.index for node in part.region.nodes} if again else set())
            continue
        dropped: set[int] = set()
        for node in part.region.nodes:
            place = node.instruction.place if node.instruction is not None else -1
            if place < 0:
                again = bool(node.after) and dropped.issuperset(node.after)
            else:
                again = not _is_first(path_of(parts.module.places.get(place)), source, first)
            if again:
                dropped.add(node.index)
        found.append(dropped)
    return found


def _is_first(path: Calls, source: Source, first: dict[Calls, Calls]) -> bool:
    """Whether a path is the first of those that share its functions."""
    canonical = path[:1]
    for end in range(2, len(path) + 1):
        caller, callee = path[end - 2], path[end - 1]
        shares = caller[:2] not in source.dataflow and callee[:2] in source.kept
        canonical = (*canonical, (*callee[:2], 0) if shares else callee)
        if shares and first.setdefault(canonical, path[:end]) != path[:end]:
            return False
    return True


class Source:
    """What of the source's functions matters: which are kept as modules, which are dataflows."""

    def __init__(self, parts: FunctionRegions, pragmas: Sequence[Pragma]) -> None:
        functions = SourceFunctions(parts.function, parts.module)
        self.dataflow = functions.around(named(pragmas, "dataflow"))
        inlined = [one for one in named(pragmas, "inline") if not {"off", "recursive"} & set(one.words)]
        self.kept = frozenset(_kept(parts)) - functions.around(inlined)
        self.kept |= functions.around(named(pragmas, "inline", "off"))


def _kept(parts: FunctionRegions) -> Collection[tuple[str, str]]:
    """The functions of many operations in one call."""
    kept: set[tuple[str, str]] = set()
    tally: Tally[Calls] = Tally()
    for part in parts.parts:
        for place in _operations(part, parts):
            path = path_of(place)
            for end in range(2, len(path) + 1):
                tally[path[:end]] += 1
    kept.update(path[-1][:2] for path, count in tally.items() if count > KEPT_OPERATIONS)
    return kept


def _operations(part: ScheduledRegion, parts: FunctionRegions) -> Iterator[Place]:
    for node in part.region.nodes:
        if node.operation is not None and node.instruction is not None:
            place = parts.module.places.get(node.instruction.place)
            if place is not None:
                yield place
