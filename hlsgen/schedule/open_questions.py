"""Dependences that would keep an II above what is asked for, and that the code neither shows nor rules out.

Of the loops of public reports that were looked at none had the II that such a dependence would give.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hlsgen.schedule.ir import Instruction, Local
from hlsgen.schedule.iteration import Carried, Node
from hlsgen.schedule.memories import ANY_BANK, Where


def is_guessed(nodes: Sequence[Node], edge: Carried, definitions: Mapping[str, Instruction]) -> bool:
    """Whether a dependence hangs on two different indices of counters, which the tool may tell apart where it
    is not told here. Of indices that are read from memory (a histogram) it knows no more."""
    if edge.is_port:
        return True  # seen in one design alone, of words whose addresses differ
    if edge.begins:
        return True  # of ten loops that a late condition ends six had the II that follows from its cycles
    both = [nodes[one].access for one in (edge.source, edge.target)]
    places = [one.where for one in both if one is not None and one.where is not None]
    if not edge.assumed or len(places) < len(both):
        return False
    if all(ANY_BANK in place.banks for place in places):
        return True  # registers that an index chooses: the tool takes some of them to be the same
    return places[0] != places[1] and not any(_is_data(place, definitions) for place in places)


def _is_data(place: Where, definitions: Mapping[str, Instruction]) -> bool:
    """Whether an index is computed from what is read."""
    waiting = [name for form in place.word for name, _ in form.terms]
    seen: set[str] = set()
    while waiting:
        one = definitions.get(waiting.pop())
        if one is None or one.name in seen or one.opcode == "phi":
            continue
        seen.add(one.name)
        if one.opcode in ("load", "call"):
            return True
        waiting += [each.name for each in one.operands if isinstance(each, Local)]
    return False


def says_guessed(edge: Carried | None, least: int) -> Iterator[str]:
    """That an II hangs on such a dependence. least: the II without."""
    if edge is None:
        return
    what = f"whether {edge.through} is read where it was written"
    if edge.is_port:
        what = f"whether a read of {edge.through} waits for the answer to the last write"
    elif edge.begins:
        what = f"in which cycle {edge.through} is known"
    yield f"the II is {least} or more: {what} cannot be told"
