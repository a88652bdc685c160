"""Which conditions decide over a block of an iteration: whether it runs, and by which way it was reached."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hlsgen.schedule.control_flow import control_dependence, dominators
from hlsgen.schedule.ir import Function, Instruction, Operand
from hlsgen.schedule.iteration import Region


class Conditions:
    """The nodes of conditions, known for a block once it was entered; blocks are entered in their order.

    `sources` gives the nodes of operands.
    """

    def __init__(
        self,
        function: Function,
        region: Region,
        entry: str,
        sources: Callable[[Sequence[Operand]], list[int]],
    ) -> None:
        self.function, self.region, self.entry, self.sources = function, region, entry, sources
        self.depends = control_dependence(entry, region.successors)
        self.immediate = dominators(entry, region.successors)
        self.rank = {name: at for at, name in enumerate(region.blocks)}
        self.of: dict[str, list[int]] = {}
        """The conditions under which each block runs, those of the blocks around it too."""
        self.staying: dict[str, list[int]] = {}

    def enter(self, name: str) -> None:
        """Find the conditions of a block: all that it depends on were entered before."""
        found: dict[int, None] = dict.fromkeys(self._staying(name))
        for branching, _ in self.depends[name]:
            if self.rank[branching] >= self.rank[name]:
                continue
            for node in [*self.of[branching], *self.decide(branching)]:
                found[node] = None
        self.of[name] = list(found)

    def _staying(self, name: str) -> list[int]:
        """The nodes of the conditions that may end the loop before a block is reached."""
        above = self.immediate.get(name, name)
        if self.region.loop is None or above == name:
            return []
        inherited = self.staying.get(above, [])
        self.staying[name] = [*inherited, *(self.decide(above) if self.leaves(above) else ())]
        return self.staying[name]

    def leaves(self, block: str) -> bool:
        """Whether the loop may end behind a block."""
        loop = self.region.loop
        return loop is not None and any(
            one not in loop.blocks for one in self.function.blocks[block].successors
        )

    def decide(self, block: str) -> list[int]:
        """The nodes of the condition that a block's branch takes."""
        return self.sources(self.function.blocks[block].instructions[-1].operands[:1])

    def choosers(self, phi: Instruction, block: str) -> list[int]:
        """The conditions that tell by which edge a block is entered: of branches below its dominator."""
        above = self.immediate.get(block, self.entry)
        found: dict[int, None] = {}
        waiting = [label for label in phi.labels if label in self.rank]
        seen = set(waiting)
        for label in waiting:
            if len(self.region.successors.get(label, ())) > 1:
                found.update(dict.fromkeys(self.decide(label)))
            for branching, _ in self.depends.get(label, ()):
                if self.rank[branching] >= self.rank[above] and branching not in seen:
                    seen.add(branching)
                    waiting.append(branching)
                if self.rank[branching] >= self.rank[above]:
                    found.update(dict.fromkeys(self.decide(branching)))
        return list(found)
