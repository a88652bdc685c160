"""Reads of words that the same iteration has read or written before: the vendor's compiler takes the value
that it has (the elimination of redundant loads of LLVM, public reports of 2023.2).

c[i] = c[i] + x;
c[i] = c[i] + y;      one read and one write, however many branches stand between

LLVM's NewGVN, which ran before, does the same as far as it can tell addresses apart; here arrays are known to
be memories of their own, and indices to stay within their dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hlsgen.schedule.accesses import Access, same_word
from hlsgen.schedule.ir import Instruction
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.linear import Linear
from hlsgen.schedule.operation import Operation

Word = tuple[tuple[int, ...], tuple[Linear, ...], int]
"""The banks, the word within them, and the bits of an access."""
Known = dict[Word, tuple[Access, frozenset[int]]]
"""Words whose value is known, with an access of it and the nodes that give the value, one for each way."""
Sources = Callable[[Instruction], Sequence[int]]
"""Gives the nodes of the value that a store writes."""


def drop_repeated(region: Region, sources: Sources) -> None:
    """Take reads of known words from the accesses of memories on the chip."""
    if region.rolled:
        return  # what inner loops write is not known here
    for memory, accesses in region.accesses.items():
        if memory.storage not in ("register", "axi") and not memory.has_parts:
            gone = _Search(region, accesses, sources).gone
            if gone:
                accesses[:] = [one for one in accesses if one.node not in gone]


class _Search:
    """The known words of one memory at each place of an iteration."""

    def __init__(self, region: Region, accesses: Sequence[Access], sources: Sources) -> None:
        self.region, self.sources = region, sources
        self.gone: set[int] = set()
        by_block: dict[str, list[Access]] = {}
        for one in accesses:
            by_block.setdefault(one.block, []).append(one)
        before: dict[str, list[str]] = {}
        for name in region.blocks:
            for follower in region.successors.get(name, ()):
                before.setdefault(follower, []).append(name)
        ends: dict[str, Known] = {}
        for name in region.blocks:
            known = _meet([ends.get(one, {}) for one in before.get(name, ())])
            if name in by_block:
                known = dict(known)
                for one in by_block[name]:
                    self._pass(one, known)
            ends[name] = known

    def _pass(self, access: Access, known: Known) -> None:
        """What is known behind an access."""
        word = self._word(access)
        if not access.writes:
            if word is None:
                return
            if word in known:
                self._take(access, known[word][1])
            else:
                known[word] = access, frozenset((access.value,))
            return
        for other, (met, _) in list(known.items()):
            if access.where is None or met.where is None or same_word(access.where, met.where) is not False:
                del known[other]
        if word is not None:
            known[word] = access, frozenset(self.sources(access.instruction))

    def _word(self, access: Access) -> Word | None:
        where = access.where
        operation = self.region.nodes[access.node].operation
        if where is None or operation is None or not where.exact or where.is_part:
            return None
        if access.instruction.opcode not in ("load", "store"):
            return None
        return where.banks, where.word, operation.widths[0]

    def _take(self, read: Access, values: Iterable[int]) -> None:
        """Let a read give values that are known, a choice of them where they are of several ways."""
        node = self.region.nodes[read.node]
        bits = node.operation.result if node.operation is not None else 0
        node.after = sorted(values)
        node.access = None
        node.operation = None
        if len(node.after) > 1:
            node.operation = Operation(kind="mux", widths=(bits,) * len(node.after), result=bits)
        if read.chooser >= 0:
            self.region.nodes[read.chooser].operation = None
        self.gone.add(read.node)


def _meet(ways: Sequence[Known]) -> Known:
    """What is known whichever way was taken."""
    if not ways or any(not way for way in ways):
        return {}
    first, *others = ways
    if all(other is first for other in others):
        return first
    found: Known = {}
    for word, (access, values) in first.items():
        each = [other[word][1] for other in others if word in other]
        if len(each) == len(others):
            found[word] = access, values.union(*each)
    return found
