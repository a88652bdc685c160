"""What csynth counts for one pipeline, or for what runs one state after the other.

The tool's rules, read off public utilisation reports (docs/schedule.md has the counts): sums, comparisons,
logic and choices have cells of their own wherever they stand; cores (products in DSPs or of several cycles,
floating point, divisions) are shared by operations that start in different cycles of an interval; a word that
an iteration keeps for one interval or two is a register for each, for longer one register and a shift
register of 64 FFs and 32 LUTs, however wide and long.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hlsgen.cost.resources import Resources
from hlsgen.schedule.address_cells import address_cells
from hlsgen.schedule.areas import Areas
from hlsgen.schedule.cores import LIKE
from hlsgen.schedule.delays import FLOATS
from hlsgen.schedule.ir import Local
from hlsgen.schedule.iteration import Node
from hlsgen.schedule.operation import DIVISIONS, Operation
from hlsgen.schedule.scheduled_regions import ScheduledRegion
from hlsgen.schedule.unbegun import begins

SHIFTED_FROM = 3
"""Intervals for which a word is kept, from which on a shift register takes the place of registers."""
SHIFT_REGISTER = Resources(lut=32, ff=64)
NEVER_LATE = frozenset({"phi", "register_write"})
SAME_CORE = {"fsub": "fadd", "uitofp": "sitofp", "fptoui": "fptosi"}
NO_DSP = "_nodsp"
"""Behind the kind of a core that is built without DSPs."""
Core = tuple[str, tuple[int, ...]]
"""The kind of a core and its widths."""
PIPELINE_LOGIC = 4
"""LUTs of gates that enable and hold a pipeline."""
MODULES_SINCE = 2021.1
"""From this release on a pipelined loop is a module of its own."""
MOST_BITS = 4096
"""Of a word whose array is not known."""
READY_SINCE = 2022.1
"""From this release on a pipeline carries its end along."""


@dataclass(frozen=True, kw_only=True)
class CoreUse:
    """How many cores of a kind operations take."""

    operation: Operation
    """The widest of them."""
    count: int
    uses: int
    fabric: bool = False
    """Without DSPs."""


@dataclass(frozen=True, kw_only=True)
class RegionCells:
    """Cells of a part by what they are for, and how many states its machine has."""

    operations: Resources
    multiplexers: Resources
    registers: Resources
    control: Resources
    cores: Mapping[Core, CoreUse]
    """Cores that parts which do not run at the same time share."""
    states: int


def region_cells(
    part: ScheduledRegion,
    areas: Areas,
    escaping: Collection[str],
    left_out: Collection[int],
    without: frozenset[str] = frozenset(),
) -> RegionCells:
    """The cells of a part. escaping: values that others read; left_out: nodes that are not counted, for
    another part has them; without: values that are none (unbegun.py).
    """
    not_there = {
        node.index
        for node in part.region.nodes
        if node.instruction is not None
        and node.instruction.name in without
        and node.instruction.opcode == "phi"
    }
    counted = _Counted(part, areas, escaping, frozenset(left_out) | not_there, without)
    operations, cores = counted.operations()
    return RegionCells(
        operations=operations,
        multiplexers=counted.multiplexers(),
        registers=counted.registers(),
        control=counted.control(),
        cores=cores,
        states=part.schedule.interval if part.pipelined else part.schedule.depth,
    )


class _Counted:
    """One part while it is counted."""

    def __init__(
        self,
        part: ScheduledRegion,
        areas: Areas,
        escaping: Collection[str],
        left_out: frozenset[int],
        without: frozenset[str],
    ) -> None:
        self.part, self.areas, self.escaping, self.without = part, areas, escaping, without
        self.version = areas.delays.library.version
        self.schedule = part.schedule
        self.left_out = left_out | part.region.counting  # nest_cells.py counts those
        self.chosen = part.region.chosen - left_out
        self.late: set[int] = set()
        self.nodes = [node for node in part.region.nodes if node.index not in self.left_out]
        self.inner = {**part.merges.products, **part.merges.ternary, **part.merges.luts}
        self.products = {
            product: total for product, total in part.merges.products.items() if product not in part.in_fabric
        }
        self.fused = frozenset(self.products.values())
        self.written = {
            node.instruction.name
            for node in self.nodes
            if node.instruction is not None
            and node.operation is not None
            and node.operation.kind == "register_write"
        }
        """Registers that iterations write."""

    # operations

    def operations(self) -> tuple[Resources, dict[Core, CoreUse]]:
        """All operations but those of cores that other parts may share, and these cores."""
        total = address_cells(self.part, self.areas, self.left_out)
        starts: dict[Core, list[int]] = {}
        widest: dict[Core, Operation] = {}
        for index, operation in self._operations():
            core = self._core(index, operation)
            if core is None:
                total += self._alone(index, operation)
                continue
            starts.setdefault(core, []).append(self.schedule.starts[index][0])
            wider = sum(operation.widths) > sum(widest.get(core, operation).widths)
            widest[core] = operation if wider else widest.get(core, operation)
        cores = {}
        for core, uses in starts.items():
            fabric = core[0].endswith(NO_DSP)
            use = CoreUse(operation=widest[core], count=self._at_once(uses), uses=len(uses), fabric=fabric)
            if core[0].removesuffix(NO_DSP) in (*FLOATS, *LIKE):
                cores[core] = use
            elif core[0] in DIVISIONS and not self.part.pipelined:
                total += self.areas.division_alone(use.operation).times(use.count)
            else:
                total += core_cells(use, self.areas)
        return total, cores

    def _operations(self) -> Iterator[tuple[int, Operation]]:
        for node in self.nodes:
            operation = self.part.operation(node.index)
            if operation is None or node.access is not None or operation.kind in ("phi", "mux"):
                continue
            if node.instruction is not None and node.index not in self.part.unread:
                yield node.index, operation

    def _core(self, index: int, operation: Operation) -> Core | None:
        """What operations must have in common to share a core; None: it is none."""
        kind = SAME_CORE.get(operation.kind, operation.kind)
        if kind in FLOATS or kind in LIKE:
            fabric = index in self.part.in_fabric
            return kind + NO_DSP if fabric else kind, (max((*operation.widths, operation.result)) > 32,)
        steps = self.schedule.finishes[index][0] > self.schedule.starts[index][0]
        dsp = index not in self.part.merges.products and index not in self.part.in_fabric
        if kind in DIVISIONS or (kind == "mul" and steps and dsp):
            return kind, (*operation.widths, operation.result)
        return None

    def _alone(self, index: int, operation: Operation) -> Resources:
        if index in self.products:
            return self.areas.product_in_sum()
        if index in self.part.in_fabric:
            return self.areas.product_in_fabric(operation)
        if index in self.fused:
            return Resources()
        if operation.kind == "register_write":
            first = self._is_set(self.part.region.nodes[index])  # its first value is written too
            return self.areas.mux(len(operation.widths) - (not first))
        ternary = self.part.merges.ternary
        if index in ternary or index in ternary.values():
            return self.areas.ternary_half(operation.result)
        return self.areas.operation(operation)

    def _at_once(self, starts: list[int]) -> int:
        """How many cores of a kind it takes for operations that start in these cycles."""
        if self.part.pipelined:
            return -(-len(starts) // self.schedule.interval)
        return max(Tally(starts).values())

    # choices

    def multiplexers(self) -> Resources:
        """Where paths meet, values of registers, banks that are chosen when it runs."""
        total = Resources()
        for node in self.nodes:
            operation = node.operation
            if operation is None:
                continue
            if operation.kind == "mux":
                total += self.areas.mux(len(operation.widths))
            elif operation.kind == "phi":
                total += self.areas.mux(2) if self._is_chosen(node) else Resources()
        return total

    def _is_chosen(self, node: Node) -> bool:
        """Whether what a register holds is chosen where it is read.

        Where registers are written, their first value is too, and one is chosen for the other only where a
        pipeline reads them in its first cycle (`ap_sig_allocacmp` of reports: 1,762 of the 13,070 registers
        of 1,260 pipelines).
        """
        if not self._is_set(node):
            return False
        name = node.instruction.name if node.instruction is not None else ""
        if name not in self.written:
            return True
        readers = [index for index in self.part.graph.readers[node.index] if index not in self.left_out]
        return self.part.pipelined and any(self.schedule.starts[index][0] == 0 for index in readers)

    def _is_set(self, node: Node) -> bool:
        """Whether a register gets its first value from somewhere, and has it not from the start."""
        one = node.instruction
        if one is None or not begins(one, self.part, self.without):
            return False
        return not any(
            isinstance(value, Local) and value.name in self.part.begun_with for value in one.operands
        )

    # registers

    def registers(self) -> Resources:
        """Words that are kept from a cycle to later ones.

        What comes out of one core or one bank in different cycles shares registers.
        """
        until = self._until()
        total = Resources()
        shared: dict[object, list[tuple[int, int, int]]] = {}
        chosen = (self.part.region.nodes[index] for index in sorted(self.chosen))
        for node in [*self.nodes, *chosen]:
            operation = node.operation
            if operation is None or not operation.result or node.index in self.inner:
                continue
            name = node.instruction.name if node.instruction is not None else ""
            if node.index in self.part.unread or name in self.part.begun_with:
                continue
            ready = self.schedule.finishes[node.index][0]
            if node.index in self.late:
                ready = until[node.index]
            held = operation.kind == "phi" or bool(name) and name in self.escaping
            source = (
                None if held or self.part.pipelined and self.schedule.interval == 1 else self._source(node)
            )
            bits = min(operation.result, _word_bits(node))
            if source is None:
                total += self._kept(bits, until[node.index] - ready, held=held)
            elif until[node.index] > ready:
                shared.setdefault(source, []).append((ready, until[node.index], bits))
        for words in shared.values():
            total += Resources(ff=self._most_at_once(words) * max(bits for _, _, bits in words))
        return total

    def _source(self, node: Node) -> object | None:
        """The core or the bank that a word comes out of; None: gates of its own."""
        if node.access is not None and node.access.where is not None:
            return node.access.where.memory, node.access.where.banks
        operation = self.part.operation(node.index)
        return None if operation is None else self._core(node.index, operation)

    def _most_at_once(self, words: Sequence[tuple[int, int, int]]) -> int:
        """How many words are kept in the same cycle of an interval, at most."""
        kept: Tally[int] = Tally()
        for ready, last, _ in words:
            for cycle in range(ready, last):
                kept[cycle % self.schedule.interval if self.part.pipelined else cycle] += 1
        return max(kept.values())

    def _kept(self, bits: int, cycles: int, *, held: bool) -> Resources:
        """A word of `bits` that is kept for so many cycles; held: in a register in any case."""
        intervals = self._intervals(cycles)
        if not self.part.pipelined:
            return Resources(ff=bits if intervals or held else 0)
        own = Resources(ff=bits if held else 0)
        if intervals < SHIFTED_FROM:
            return own + Resources(ff=bits * max(0, intervals))
        return own + Resources(ff=bits) + SHIFT_REGISTER

    def _until(self) -> list[int]:
        """The last cycle in which each node's word is read, through wires and what is built as one.

        Gates whose word would be kept longer than it takes to keep what they read stand where it is read, as
        the vendor's scheduler has them: `late` gets them.
        """
        until = [cycle for cycle, _ in self.schedule.finishes]
        joined = {**self.part.merges.ternary, **self.part.merges.luts}
        for node in reversed(self.part.region.nodes):
            last = joined.get(node.index)
            read = self.schedule.starts[node.index][0]
            if node.operation is None:
                read = max(read, until[node.index])
            elif last is not None:
                read = self.schedule.starts[last][0]
            elif node.index in self.fused:
                read -= 1  # the DSP has a register for what is added
            elif self._waits(node, until):
                read = until[node.index]
                self.late.add(node.index)
            for before in node.after:
                until[before] = max(until[before], read)
        return until

    def _waits(self, node: Node, until: Sequence[int]) -> bool:
        """Whether it takes no more registers to keep what gates read than to keep what they give."""
        operation, index = node.operation, node.index
        start, ready = self.schedule.starts[index][0], self.schedule.finishes[index][0]
        if operation is None or node.access is not None or start != ready or until[index] <= ready:
            return False
        if operation.kind in NEVER_LATE or index in self.inner or index in self.part.region.counting:
            return False
        own = operation.result * self._intervals(until[index] - ready)
        more = 0
        for before in set(node.after) - (self.part.region.counting - self.part.region.chosen):
            made = self.schedule.finishes[before][0]
            longer = self._intervals(until[index] - made) - self._intervals(until[before] - made)
            more += self._bits(before) * max(0, longer)
        return more <= own

    def _bits(self, index: int) -> int:
        """Bits of a node's word, of wires those of what they join."""
        node = self.part.region.nodes[index]
        if node.operation is not None:
            return node.operation.result
        return sum(
            one.result for at in node.after if (one := self.part.region.nodes[at].operation) is not None
        )

    def _intervals(self, cycles: int) -> int:
        """In how many registers a word stands that is kept for so many cycles."""
        if not self.part.pipelined:
            return int(cycles > 0)
        return -(-cycles // self.schedule.interval)

    # control

    def control(self) -> Resources:
        """Enables and the end of a pipeline; of what is none the machine of its function takes care."""
        if not self.part.pipelined:
            return Resources()
        interval = self.schedule.interval
        stages = -(-self.schedule.depth // interval)
        total = Resources(lut=PIPELINE_LOGIC, ff=stages - 1) + self.areas.mux(2).times(2)
        if self.version >= MODULES_SINCE:
            total += Resources(ff=1 + interval) + self.areas.mux(2)
        if self.version >= READY_SINCE and interval == 1:
            total += Resources(ff=max(0, stages - 2))
        elif self.version >= READY_SINCE:
            total += Resources(ff=stages + 1) + self.areas.mux(2).times(stages + 1)
        if interval > 1 and self.version >= MODULES_SINCE:
            total += self.areas.mux(interval + 1)
        channels = {name.rsplit(".", 1)[0] for name in self.part.region.streams}
        return total + self.areas.mux(2).times(len(channels))


def _word_bits(node: Node) -> int:
    """The most bits that a node gives at once: a copy of many elements is a loop over them."""
    if node.access is None or node.access.where is None:
        return MOST_BITS
    return node.access.where.memory.word_bits or MOST_BITS


def core_cells(use: CoreUse, areas: Areas) -> Resources:
    """Cores, and the choice of each one's operands."""
    choices = areas.mux(-(-use.uses // use.count)).times(2 * use.count)
    return areas.operation(use.operation, fabric=use.fabric).times(use.count) + choices
