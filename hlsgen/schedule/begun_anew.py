"""Nests that are not perfect and that the vendor's compiler makes one loop of all the same.

What stands in front of the inner loop and behind it is done in its first and last iteration, and a sum
begins anew through a choice. Seen in reports of nests that no pragma is about, both of whose loops have a
constant number of iterations: ransaraw98/DNN_HLS in 2020.2; correlation, covariance and dft of PolyBench,
md_knn of MachSuite in 2022.2 and later (II 5 where the sum takes 4 cycles). Not where an AXI port or a stream
stands beside the inner loop, a call or a root, or where a word is read in front that the nest writes
(spmv_ellpack).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.ir import Function, Instruction, Local
from hlsgen.schedule.linear import Addresses
from hlsgen.schedule.memories import Memories
from hlsgen.schedule.nests import addresses_in, is_perfect
from hlsgen.schedule.releases import release_of

FLATTENS = (2020, 2)
"""The first release of which such nests were seen."""
FLATTENS_WRITES = (2022, 2)
"""The first one of those that write a memory in front of the inner loop: in 2020.2 `y[j] = 0` there keeps the
loops apart (public reports, II 4)."""
_HARMLESS = re.compile(r"llvm\.(?!sqrt|pow|exp|log|sin|cos|mem)|__hls_(?:mark|keep)")


def flattens_imperfect(version: str) -> bool:
    """Whether a release does it."""
    return release_of(version) >= FLATTENS


def flattens_writes(version: str) -> bool:
    """Whether it does so where a memory is written in front of the inner loop."""
    return release_of(version) >= FLATTENS_WRITES


def is_begun_anew(
    function: Function,
    loop: Loop,
    addresses: Addresses,
    trips: Mapping[str, int],
    memories: Memories,
    *,
    writes: bool,
) -> bool:
    """Whether the loop around one becomes one loop with it though it does something by itself.

    writes: even if it writes a memory in front of the inner one.
    """
    parent = loop.parent
    if parent is None or parent.inner != [loop] or is_perfect(function, parent, [loop]):
        return False
    if not (loop.header in trips and parent.header in trips):
        return False
    ports = {base.name for base, found in memories.by_base.items() if any(one.bundle for one in found)}
    own = parent.blocks - loop.blocks
    before = _before(function, parent, loop)
    if any(len([one for one in _next(function, name) if one in parent.blocks]) != 1 for name in before):
        return False
    if not writes and any(one.opcode == "store" for one in _accesses(function, before)):
        return False
    written = {_base(one, addresses) for one in _accesses(function, parent.blocks) if one.opcode == "store"}
    for one in (one for name in own for one in function.blocks[name].instructions):
        if one.opcode == "call" and not _HARMLESS.match(one.callee):
            return False
        if addresses_in(one) and _base(one, addresses) in ports:
            return False
    read = (one for one in _accesses(function, before) if one.opcode == "load")
    return all(_base(one, addresses) not in written for one in read)


def _accesses(function: Function, names: Collection[str]) -> list[Instruction]:
    return [
        one for name in names for one in function.blocks[name].instructions if one.opcode in ("load", "store")
    ]


def _base(one: Instruction, addresses: Addresses) -> str:
    address = addresses.of(addresses_in(one)[0])
    return address.base.name if address is not None and isinstance(address.base, Local) else "?"


def _next(function: Function, name: str) -> list[str]:
    return list(dict.fromkeys(function.blocks[name].successors))


def _before(function: Function, parent: Loop, loop: Loop) -> set[str]:
    """The blocks of the outer loop that come before the inner one in an iteration."""
    found: set[str] = set()
    waiting = [loop.header]
    while waiting:
        at = waiting.pop()
        for name in parent.blocks - loop.blocks - found:
            if at in function.blocks[name].successors and at != parent.header:
                found.add(name)
                waiting.append(name)
    return found
