"""Sums of many words as trees: the vendor's compiler balances expressions of integers before it schedules.

Its log says `Balancing expressions in function ...`. In public reports a sum that is written as a chain
(`total += a[k] * b[k]`, unrolled) has the adders and the widths of a tree.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from hlsgen.schedule.ir import Block, Function, Instruction, IntType, Local, Module, Operand
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.source_functions import SourceFunctions, calls_of, function_at, named

FEWEST = 4
"""Words of a sum from which on it is balanced."""
_STEPS = {"mul": 3, "load": 2, "call": 2, "udiv": 30, "sdiv": 30, "urem": 30, "srem": 30}
"""About how much later than its operands an operation's result is there: a cast takes nothing, others 1."""
_FREE = frozenset({"sext", "zext", "trunc", "freeze", "getelementptr", "bitcast"})
LAST = 1 << 30
"""The height of a register's value: it is added last, so that its recurrence stays short."""


def balance(
    function: Function, module: Module, pragmas: Sequence[Pragma], addresses: Collection[str]
) -> None:
    """Rebuild the sums of a function, but those that are `addresses`, as trees of least height.

    Not where the source says `expression_balance off`.
    """
    off = named(pragmas, "expression_balance", "off")
    as_written = SourceFunctions(function, module).around(off) if off else frozenset()
    kept = {
        number
        for number, place in module.places.items()
        if any(function_at(one) in as_written for one in calls_of(place))
    }
    users: dict[str, list[Instruction]] = {}
    for _, one in function.instructions():
        for operand in one.operands:
            if isinstance(operand, Local):
                users.setdefault(operand.name, []).append(one)
    for block in function.blocks.values():
        sums = {
            one.name: one
            for one in block.instructions
            if one.opcode == "add"
            and isinstance(one.type, IntType)
            and one.name not in addresses
            and one.place not in kept
        }
        if len(sums) >= FEWEST - 1:
            _Balancing(block, sums, users).rebuild()


@dataclass(frozen=True)
class _Balancing:
    """The sums of one block, by name."""

    block: Block
    sums: Mapping[str, Instruction]
    users: Mapping[str, list[Instruction]]

    def rebuild(self) -> None:
        inner = {name for name in self.sums if self._is_inner(name)}
        trees = {
            name: leaves
            for name in self.sums
            if name not in inner and len(leaves := self._leaves(self.sums[name], inner)) >= FEWEST
        }
        if not trees:
            return
        gone = set().union(*(self._inside(self.sums[name], inner) for name in trees))
        heights: dict[str, int] = {}
        rebuilt: list[Instruction] = []
        for one in self.block.instructions:
            if one.name in gone:
                continue
            parts = self._tree(one, trees[one.name], heights) if one.name in trees else [one]
            for part in parts:
                _note_height(part, heights)
            rebuilt += parts
        self.block.instructions[:] = rebuilt

    def _is_inner(self, name: str) -> bool:
        """Whether a sum is read by one other of the block alone."""
        readers = self.users.get(name, [])
        return len(readers) == 1 and readers[0].name in self.sums and readers[0].type == self.sums[name].type

    def _leaves(self, root: Instruction, inner: Collection[str]) -> list[Operand]:
        found: list[Operand] = []
        waiting = list(reversed(root.operands))
        while waiting:
            operand = waiting.pop()
            if isinstance(operand, Local) and operand.name in inner:
                waiting += reversed(self.sums[operand.name].operands)
            else:
                found.append(operand)
        return found

    def _inside(self, root: Instruction, inner: Collection[str]) -> set[str]:
        found: set[str] = set()
        waiting = list(root.operands)
        while waiting:
            operand = waiting.pop()
            if isinstance(operand, Local) and operand.name in inner and operand.name not in found:
                found.add(operand.name)
                waiting += self.sums[operand.name].operands
        return found

    def _tree(
        self, root: Instruction, leaves: list[Operand], heights: Mapping[str, int]
    ) -> list[Instruction]:
        """The sums that add the leaves, the lowest two at a time; the last has the root's name."""
        waiting = [(_height(leaf, heights), at, leaf) for at, leaf in enumerate(leaves)]
        heapq.heapify(waiting)
        parts: list[Instruction] = []
        while len(waiting) > 1:
            first, second = heapq.heappop(waiting), heapq.heappop(waiting)
            name = f"{root.name}.sum{len(parts)}" if waiting else root.name
            parts.append(replace(root, name=name, operands=(first[2], second[2]), flags=frozenset()))
            height = 1 + max(first[0], second[0])
            heapq.heappush(waiting, (height, len(leaves) + len(parts), Local(name)))
        return parts


def _height(operand: Operand, heights: Mapping[str, int]) -> int:
    return heights.get(operand.name, 0) if isinstance(operand, Local) else 0


def _note_height(one: Instruction, heights: dict[str, int]) -> None:
    if not one.name:
        return
    if one.opcode == "phi":
        heights[one.name] = LAST
        return
    below = max((_height(operand, heights) for operand in one.operands), default=0)
    step = 0 if one.opcode in _FREE else _STEPS.get(one.opcode, 1)
    heights[one.name] = (below if below < LAST else 0) + step
