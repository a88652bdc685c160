"""The memories that a function is given, as its caller declares them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hlsgen.schedule.declared_memories import GivenMemories, memories_of_pointer, memories_of_variable
from hlsgen.schedule.given_arrays import Given
from hlsgen.schedule.ir import Global, Local, Type
from hlsgen.schedule.memories import Memory
from hlsgen.schedule.pragma_releases import understood
from hlsgen.schedule.sites import Sites, VariableSite


def given_memories(given: Sequence[Given], version: str, bundle: str) -> GivenMemories:
    """What tells the memories of a function's arguments.

    `version`: the release of the tool. `bundle` is the AXI port of pointers that the kernel is given and no
    pragma gives an interface.
    """
    by_argument = {one.argument: one for one in given}

    def of_argument(argument: str, shape: Type | None) -> list[Memory]:
        one = by_argument.get(argument)
        return [] if one is None else _memories(one, shape, version, bundle)

    return of_argument


def _memories(given: Given, shape: Type | None, version: str, bundle: str) -> list[Memory]:
    """Those of a register, as of a number that is given by reference, the code tells as well."""
    described: dict[tuple[Local | Global, int], list[VariableSite]] = {}
    sites = Sites(plain=[], variables=list(given.sites))
    for site in understood(sites, version, kernel_flow=bool(bundle)).variables:
        described.setdefault((given.base, site.offset), []).append(site)
    if given.type is not None:
        found = memories_of_variable(given.base, given.type, described, constant=given.constant)
    elif isinstance(given.base, Local):
        found = memories_of_pointer(given.base, described, bundle, shape)
    else:
        found = []
    return [
        replace(
            memory,
            base=Local(given.argument),
            start=0 if given.row else memory.start - given.offset,
            dimensions=tuple(one for one in memory.dimensions if not given.row or one.stride < given.row),
            argument=True,
            interface=given.type is None,
        )
        for memory in found
        if memory.dimensions or memory.bundle
    ]
