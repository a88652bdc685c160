"""A region while it grows: an instruction of one iteration after the other becomes nodes.

Branches become choices, as in the vendor's compiler: every operation of the body starts when its operands
are there, what writes (memories, streams, ports) waits for the conditions that it stands under, and where
paths meet a multiplexer chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hlsgen.schedule.accesses import TAKES_A_WORD, Access, Paths, ordered, stream_of
from hlsgen.schedule.bursts import PortRequests
from hlsgen.schedule.choices import Choices
from hlsgen.schedule.conditions import Conditions
from hlsgen.schedule.control_flow import Loop, passing_by, reverse_postorder
from hlsgen.schedule.divisions import instead_of_division
from hlsgen.schedule.intrinsics import COUNTS, EXTREMES, MATHS, SATURATING, library_function
from hlsgen.schedule.ir import Constant, Instruction, Local, Operand, bits_of, constants_among
from hlsgen.schedule.iteration import Carried, Node, Region, drop_unread
from hlsgen.schedule.memory_nodes import MemoryNodes
from hlsgen.schedule.nest_counters import NestCounters
from hlsgen.schedule.operation import SHIFTS, Operation
from hlsgen.schedule.overwritten import drop_overwritten, written_bases
from hlsgen.schedule.repeated import drop_repeated
from hlsgen.schedule.signed_shifts import is_sign_test

if TYPE_CHECKING:
    from hlsgen.schedule.region import RegionBuilder

_FREE = frozenset(
    ["trunc", "zext", "sext", "bitcast", "freeze", "ptrtoint", "inttoptr", "extractvalue", "insertvalue"]
)
_SKIPPED = frozenset(["alloca", "br", "switch", "ret", "unreachable", "getelementptr"])
_LOGIC = frozenset(["and", "or", "xor"])
_WITH_A_SUM = frozenset(["mul", "add", "sub"])
"""What may be built with the sum that reads it (groups.py)."""
ENDS = "the condition that ends the loop"


class GrowingRegion:
    """One region, complete when it is made."""

    def __init__(
        self, owner: RegionBuilder, loop: Loop | None, entry: str, inside: set[str], rolled: list[Loop]
    ) -> None:
        self.owner = owner
        self.function = owner.function
        edges = {name: block.successors for name, block in self.function.blocks.items()}
        successors = {
            name: [one for one in following if one in inside and one != entry]
            for name, following in passing_by(rolled, edges).items()
            if name in inside
        }
        order = reverse_postorder(entry, successors)
        self.region = Region(
            owner.function.name,
            loop,
            [],
            [],
            rolled,
            set(),
            order,
            {name: successors[name] for name in order},
        )
        self.entry = entry
        self.node_of: dict[str, int] = {}
        self.registers: dict[str, int] = {}
        """The nodes of what iterations leave to each other, by the names of the values."""
        self.slots: dict[str, list[int]] = {}
        self.written = written_bases(self.region, owner)
        self.accesses, self.streams = self.region.accesses, self.region.streams
        self.control = Conditions(self.function, self.region, entry, self.sources)
        self.choices = Choices(self.control, owner.readers)
        self.requests = PortRequests(self._unwritten, owner.ports)
        # what writes waits for it, and it for the condition that ends the loop, one iteration before
        self.guard = self.new(None, None, entry, []).index
        ahead = owner.compares_before
        self.memory = MemoryNodes(self)
        self.nest = NestCounters(
            owner.function, owner.nests, owner.ranges, owner.widths, self._counting, ahead=ahead
        )
        for name in order:
            self._block(name)
        self._carry_registers()
        self._carry_exits()
        drop_repeated(self.region, lambda store: self.sources(store.operands[:1]))
        drop_overwritten(self.region, self.function)
        always = {name for name in order if not self.control.depends[name]}
        nest = [*([loop] if loop is not None else ()), *owner.nests.around(loop)]
        self.requests.settle(self.region, owner.function, owner.addresses, nest, always)
        self._order_accesses()
        drop_unread(self.region, owner.address_parts)

    def _order_accesses(self) -> None:
        paths = Paths(self.region)
        for accesses in [*self.accesses.values(), *self.streams.values()]:
            for source, target, cycles in ordered(accesses, paths):
                if cycles is None:
                    self.region.nodes[target].after.append(source)
                else:
                    self.region.nodes[target].behind.append((source, cycles))

    # nodes

    def new(self, operation: Operation | None, one: Instruction | None, block: str, after: list[int]) -> Node:
        node = Node(len(self.region.nodes), operation, one, block, list(dict.fromkeys(after)))
        self.region.nodes.append(node)
        return node

    def _unwritten(self, operation: Operation | None, after: Sequence[int]) -> int:
        """A node of what no instruction says."""
        return self.new(operation, None, self.entry, list(after)).index

    def sources(self, operands: Sequence[Operand]) -> list[int]:
        return [
            self.node_of[operand.name]
            for operand in operands
            if isinstance(operand, Local) and operand.name in self.node_of
        ]

    def _block(self, name: str) -> None:
        self.control.enter(name)
        counted = name != self.entry or self.region.loop is None
        for one in self.function.blocks[name].instructions:
            if not counted and one.opcode != "phi":
                self._count_nest()
                counted = True
            if one.name:
                self.region.names.add(one.name)
            self._instruction(one, name)

    def _counting(self, operation: Operation, after: Sequence[int]) -> int:
        index = self._unwritten(operation, after)
        self.region.counting.add(index)
        return index

    def _count_nest(self) -> None:
        """The nodes that the counters of a nest go through, behind those of its registers."""
        loop = self.region.loop
        around = self.owner.nests.around(loop)
        if loop is not None and around:
            self.nest.count(loop, around, self.node_of)
            self.node_of |= self.nest.values
            self.region.chosen.update(self.nest.values.values())

    def _instruction(self, one: Instruction, block: str) -> None:
        opcode = one.opcode
        if opcode == "phi":
            self._phi(one, block)
        elif opcode in ("load", "store"):
            self.memory.access(one, block)
        elif opcode == "call":
            self._call(one, block)
        elif opcode in _FREE:
            self.alias(one, self.sources(one.operands), block)
        elif self._is_wiring(one):
            self._part(one, self.sources(one.operands), block)
        elif opcode not in _SKIPPED:
            steps = instead_of_division(one, self.owner.widths)
            self._in_steps(one, block, steps) if steps else self._plain(one, block)

    def _is_wiring(self, one: Instruction) -> bool:
        """Shifts by constants, logic with constants and tests of the sign move or drop bits: no gates."""
        if one.opcode in SHIFTS:
            return isinstance(one.operands[1], Constant)
        if one.opcode in _LOGIC and (isinstance(one.operands[1], Constant) or "disjoint" in one.flags):
            return True
        return is_sign_test(one) or self.owner.ones.joins_parts(one)

    def alias(self, one: Instruction, sources: list[int], block: str) -> None:
        """A value that is wires of others: theirs, or a node without an operation that joins them."""
        if len(sources) == 1:
            self.node_of[one.name] = sources[0]
        elif sources:
            self.node_of[one.name] = self.new(None, one, block, sources).index

    def _part(self, one: Instruction, sources: list[int], block: str) -> None:
        """A value that has some of another's bits, or has them elsewhere: what is made of all of them, as a
        product and the sum behind it in a DSP, is not made of these."""
        whole = [self.region.nodes[source].operation for source in sources]
        if any(made is not None and made.kind in _WITH_A_SUM for made in whole):
            moved = Operation(
                kind="lshr", widths=(bits_of(one.type),), result=self.owner.widths.result(one), constants=1
            )
            self.node_of[one.name] = self.new(moved, one, block, sources).index
        else:
            self.alias(one, sources, block)

    def _in_steps(self, one: Instruction, block: str, steps: Sequence[Operation]) -> None:
        """Operations one behind the other; a choice at the end takes the first operand too."""
        last = first = self.sources(one.operands[:1])
        for step in steps[:-1]:
            last = [self.new(step, one, block, last).index]
        sign = first if steps[-1].kind == "select" else []
        self.node_of[one.name] = self.new(steps[-1], one, block, [*last, *sign]).index

    def _plain(self, one: Instruction, block: str, kind: str = "") -> Node:
        operands = [operand for operand in one.operands if not isinstance(operand, Constant)]
        widths = self.owner.widths.operands(one)
        if one.opcode == "select":
            widths = widths[1:]
        operation = Operation(
            kind=kind or one.opcode,
            widths=widths,
            result=self.owner.widths.result(one),
            constants=len(one.operands) - len(operands),
        )
        node = self.new(operation, one, block, self.sources(one.operands))
        if (
            one.opcode == "fcmp"
        ):  # a core that knows no NaN: whether one is among the operands is joined to it
            number = Operation(kind="and", widths=(1, 1), result=1)
            node = self.new(number, one, block, [node.index])
        if one.name:
            self.node_of[one.name] = node.index
        return node

    # choices

    def _phi(self, one: Instruction, block: str) -> None:
        if block == self.entry:
            width = self.owner.widths.result(one)
            register = self.new(Operation(kind="phi", widths=(width,), result=width), one, block, []).index
            self.node_of[one.name] = self.registers[one.name] = register
            return
        known, choosers = self.choices.of(one, block)
        if len(known) == 1:
            self.alias(one, self.sources(known), block)
            return
        width = self.owner.widths.result(one)
        operation = Operation(
            kind="mux",
            widths=tuple(min(width, self.owner.widths.of(value, one.type)) for value in known),
            result=width,
            constants=sum(isinstance(value, Constant) for value in known),
        )
        self.node_of[one.name] = self.new(operation, one, block, [*self.sources(known), *choosers]).index

    def _carry_registers(self) -> None:
        loop = self.region.loop
        if loop is None:
            return
        for one in self.function.blocks[self.entry].instructions:
            if one.opcode != "phi":
                break
            for value, label in zip(one.operands, one.labels, strict=True):
                if label in loop.blocks and isinstance(value, Local) and value.name in self.node_of:
                    self._carry_register(one, value, label)
        if self.nest.both is not None:
            self._carry_count(*self.nest.both)

    def _carry_count(self, register: int, following: int) -> None:
        late = 1
        if self.owner.writes_registers:
            counted = self.region.nodes[register].operation
            width = counted.result if counted is not None else 1
            write = Operation(kind="register_write", widths=(width, width), result=width)
            following, late = self._counting(write, [following]), 0
        self.region.carried.append(Carried(following, register, 1, "register", late=late))

    def _carry_register(self, phi: Instruction, value: Local, latch: str) -> None:
        """What the next iteration takes from this one: through the write of a register, or a choice."""
        source, late = self.node_of[value.name], 1
        if self.owner.writes_registers:
            source, late = self._register_write(phi, value, latch), 0
        self.region.carried.append(Carried(source, self.registers[phi.name], 1, "register", late=late))

    def _register_write(self, phi: Instruction, value: Local, latch: str) -> int:
        """The node that writes a register."""
        written, after = 1, [self.node_of[value.name]]
        choice = self.choices.of_register(phi.name, value)
        if choice is not None:
            changed, choosers = choice
            self.region.nodes[after[0]].operation = None
            written, after = len(changed), [*self.sources(changed), *choosers]
        width = self.owner.widths.result(phi)
        write = Operation(kind="register_write", widths=(width,) * (1 + written), result=width)
        return self.new(write, phi, latch, [*after, *self.control.of.get(latch, ())]).index

    def _carry_exits(self) -> None:
        for name in self.region.blocks:
            if not self.control.leaves(name):
                continue
            for node in self.control.decide(name) if self.nest.ended < 0 else [self.nest.ended]:
                self.region.carried.append(Carried(node, self.guard, 1, ENDS, begins=True))

    # memories, streams, ports

    def _call(self, one: Instruction, block: str) -> None:
        name = one.callee
        if name.startswith("llvm."):
            self._intrinsic(one, block)
            return
        stream = stream_of(one, self.owner.addresses)
        if stream is not None:
            self._stream(one, block, *stream)
        elif name in MATHS:
            self._plain(one, block, MATHS[name])
        elif (function := library_function(name)) and one.name:
            index = self.new(None, one, block, self.sources(one.operands)).index
            self.region.library[index], self.node_of[one.name] = function, index
        elif not name.startswith(("__hls_keep", "__hls_stream_slot", "__hls_maxi_slot", "__hls_shift_slot")):
            self.region.calls.add(name)
            if one.name:
                self.alias(one, self.sources(one.operands), block)

    def _stream(self, one: Instruction, block: str, kind: str, which: str, bits: int) -> None:
        after = [self.guard, *self.control.of[block]]
        if kind in TAKES_A_WORD and isinstance(one.operands[1], Local):
            after += self.slots.get(one.operands[1].name, [])
        after += self.sources(one.operands[1:])
        gives = "read" in kind or kind == "shift_register"
        operation = Operation(kind=kind, widths=(bits,), result=bits if gives else 0)
        node = self.new(operation, one, block, after)
        writes = kind in TAKES_A_WORD
        node.access = Access(node.index, None, writes, block, one)
        self.streams.setdefault(f"{which}.{kind}", []).append(node.access)
        if one.name:
            self.node_of[one.name] = node.index

    def _intrinsic(self, one: Instruction, block: str) -> None:
        name = one.callee.split(".")[1]
        bits = self.owner.widths.operands(one)
        width = self.owner.widths.result(one)
        constants = constants_among(one.operands)
        choose = Operation(kind="select", widths=(width, width), result=width)
        if name in EXTREMES:
            compare = Operation(kind=EXTREMES[name], widths=bits, result=1, constants=constants)
            choose = Operation(kind="select", widths=bits, result=width, constants=constants)
            self._two(one, block, compare, choose, self.sources(one.operands))
        elif name in COUNTS:  # of bits, or of three results: as deep as a comparison and a choice
            self._two(one, block, Operation(kind="icmp", widths=bits[:2], result=1), choose, [])
        elif name == "abs":
            negate = Operation(kind="sub", widths=(width, width), result=width, constants=1)
            self._two(one, block, negate, choose, self.sources(one.operands))
        elif name in ("bswap", "bitreverse") or (
            name in ("fshl", "fshr") and isinstance(one.operands[2], Constant)
        ):
            self.alias(one, self.sources(one.operands), block)
        elif name == "fmuladd" or name == "fma":
            self._multiply_add(one, block)
        elif name in ("memcpy", "memset", "memmove"):
            self.memory.copy(one, block)
        elif name in SATURATING:
            first = self._plain(one, block, SATURATING[name])
            choose = Operation(kind="select", widths=(width, width), result=width, constants=1)
            self.node_of[one.name] = self.new(choose, one, block, [first.index]).index
        elif one.name:
            self._plain(one, block, name)

    def _two(
        self, one: Instruction, block: str, first: Operation, second: Operation, values: list[int]
    ) -> None:
        """An operation on the operands, and another on its result and those values."""
        index = self.new(first, one, block, self.sources(one.operands)).index
        self.node_of[one.name] = self.new(second, one, block, [index, *values]).index

    def _multiply_add(self, one: Instruction, block: str) -> None:
        bits = bits_of(one.type)
        product = Operation(kind="fmul", widths=(bits, bits), result=bits)
        first = self.new(product, one, block, self.sources(one.operands[:2]))
        total = Operation(kind="fadd", widths=(bits, bits), result=bits)
        node = self.new(total, one, block, [first.index, *self.sources(one.operands[2:])])
        self.node_of[one.name] = node.index
