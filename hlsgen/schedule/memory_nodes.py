"""The nodes of an iteration that read and write memories and AXI ports, and those of their addresses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hlsgen.schedule.accesses import Access
from hlsgen.schedule.bursts import Asked
from hlsgen.schedule.chosen_memories import memory_at, ways_of
from hlsgen.schedule.copied_words import words_of_copy
from hlsgen.schedule.equal_counters import with_counter
from hlsgen.schedule.ir import Constant, Instruction, Local, Operand, bits_of
from hlsgen.schedule.linear import Address, Linear
from hlsgen.schedule.memories import Memory, locate
from hlsgen.schedule.operation import Operation
from hlsgen.schedule.pointers import is_word_of_call
from hlsgen.schedule.rings import rings_of
from hlsgen.schedule.statics import is_state

if TYPE_CHECKING:
    from hlsgen.schedule.growing_region import GrowingRegion


MOST_WORDS = 64
"""That one value is taken to be made of: larger ones are arrays that are moved whole."""
MOST_WAYS = 1 << 12
"""Banks that a read chooses among: more are those of arrays whose extent is not known."""


class MemoryNodes:
    """What a growing region has of memories."""

    def __init__(self, grown: GrowingRegion) -> None:
        self.grown = grown

    def access(self, one: Instruction, block: str) -> None:
        writes = one.opcode == "store"
        address = self.grown.owner.addresses.of(one.operands[1 if writes else 0])
        if address is None:
            return
        if is_word_of_call(address.base, self.grown.owner.definitions):
            self._word_of_stream(one, address, writes)
            return
        bits = bits_of(one.types[0]) if writes else bits_of(one.type)
        after = self.grown.sources(one.operands[:1]) if writes else []
        node = self._access_each(one, address, block, bits, writes=writes, after=after)
        if one.name:
            self.grown.node_of[one.name] = node

    def _access_each(
        self, one: Instruction, address: Address, block: str, bits: int, *, writes: bool, after: list[int]
    ) -> int:
        """The node of an access to a memory, or of the choice between the words of several."""
        ways, choices = ways_of(address, self.grown.owner.addresses, self.grown.owner.memories)
        chosen = self.grown.sources([Local(name) for name in sorted(choices)])
        for index in chosen:  # nothing chooses pointers to arrays: it chooses what was read, or writes
            self.grown.region.nodes[index].operation = None
        given = after + chosen if writes else after
        nodes = [self._words(one, way, block, bits, writes=writes, after=given) for way in ways]
        if writes or len(nodes) == 1:
            return nodes[0]
        operation = Operation(kind="mux", widths=(bits,) * len(nodes), result=bits)
        return self.grown.new(operation, one, block, [*nodes, *chosen]).index

    def _words(
        self, one: Instruction, address: Address, block: str, bits: int, *, writes: bool, after: list[int]
    ) -> int:
        """The node of an access; of a value that is wider than a memory's words (128 bits copied into an
        array of 64: eecysu/GraFlex bfs_scatter.cpp:61, 2020.2, II 2 at one port) that of the last of them, or
        what joins them."""
        owner = self.grown.owner
        memory = memory_at(address, owner.definitions, owner.memories, owner.addresses.interval)
        size = memory.element_bytes
        of_copy = one.opcode == "call"  # which copied_words.py has cut
        if of_copy or memory.bundle or not size or not 8 * size < bits <= 8 * size * MOST_WORDS:
            return self._memory_access(one, address, block, bits, writes=writes, after=after)
        nodes = [
            self._memory_access(
                one,
                replace(address, offset=address.offset + Linear(at)),
                block,
                min(8 * size, bits - 8 * at),
                writes=writes,
                after=after,
            )
            for at in range(0, -(-bits // 8), size)
        ]
        return nodes[-1] if writes else self.grown.new(None, one, block, nodes).index

    def _memory_access(
        self, one: Instruction, address: Address, block: str, bits: int, *, writes: bool, after: list[int]
    ) -> int:
        """The node of an access to a memory."""
        owner, addresses = self.grown.owner, self.grown.owner.addresses
        memory = memory_at(address, owner.definitions, owner.memories, addresses.interval)
        offset = address.offset
        if writes and owner.tells_equal:
            offset = with_counter(offset, memory, bits, block, self.grown.region, owner.function, addresses)
        where = locate(memory, offset, addresses.interval, addresses.residue)
        storage = memory.storage
        kinds = {"axi": ("axi_read", "axi_write"), "register": ("register_read", "register_write")}
        kind = kinds.get(storage, ("load", "store"))[writes]
        operation = Operation(kind=kind, widths=(bits,), result=0 if writes else bits, storage=storage)
        values, after = len(after), after + self._address(address.offset, memory, block)
        if writes and where.is_part:  # the word is read, one part of it exchanged, and written
            word = self._memory_access(one, address, block, bits, writes=False, after=[])
            exchange = Operation(kind="shl", widths=(memory.word_bits,) * 2, result=memory.word_bits)
            after.append(self.grown.new(exchange, one, block, [word, *after]).index)
        if writes or memory.bundle:
            after += [self.grown.guard, *self.grown.control.of[block]]
        if memory.bundle:
            alone, copied = self.grown.owner.ports.keeps_apart(one.flags), one.opcode == "call"
            asked = Asked(memory, address.offset, bits, block, writes, one.place, alone, copied)
            after.append(self.grown.requests.ask(asked, after[values:]))
        node = self.grown.new(operation, one, block, after)
        node.access = Access(node.index, where, writes, block, one, node.index)
        names = {name for form in where.word for name, _ in form.terms}
        node.access.rings = rings_of(names, self.grown.owner.definitions)
        if not writes:  # of writes under branches the tool does not see it
            node.access.alike = {name: self.grown.owner.addresses.first_of(name) for name in names}
        self.grown.accesses.setdefault(memory, []).append(node.access)
        if memory.bundle:
            self.grown.requests.answer(node.index)
        if not writes and 1 < where.ways < MOST_WAYS:
            chooser = Operation(kind="mux", widths=(bits,) * where.ways, result=bits)
            node.access.chooser = self.grown.new(chooser, one, block, [node.index]).index
            node.access.value = node.access.chooser
        if where.is_part and one.opcode == "load":
            return self._part_of_word(one, node.access, memory)
        if writes or memory.bundle or address.base.name not in self.grown.written:
            return node.access.value
        # the value of an earlier write may be chosen in its place
        node.access.value = self.grown.new(None, one, block, [node.access.value]).index
        return node.access.value

    def _part_of_word(self, one: Instruction, read: Access, memory: Memory) -> int:
        """The node of one of several elements of a word that was read, which one stays run-time: the word is
        shifted (necst/pynqrypt, 2022.2: `lshr` of the 2,048 bits of a reshaped table)."""
        bits = bits_of(one.type)
        shift = Operation(kind="lshr", widths=(memory.word_bits,) * 2, result=bits)
        read.value = self.grown.new(shift, one, read.block, [read.value]).index
        return read.value

    def _address(self, offset: Linear, memory: Memory, block: str) -> list[int]:
        """The nodes that an address waits for: an adder where it has more than one part."""
        sources = self.grown.nest.sources(offset, memory.element_bytes, self.grown.node_of)
        parts = len(offset.terms) + (offset.constant != memory.start)
        if not sources or parts < 2 or memory.depth == 1:
            return sources
        width = (
            max(1, (max(1, memory.depth) - 1).bit_length())
            if memory.depth
            else self._index_bits(offset, memory)
        )
        operation = Operation(
            kind="add", widths=(width, width), result=width, constants=int(len(sources) < 2)
        )
        return [self.grown.new(operation, None, block, sources).index]

    def _index_bits(self, offset: Linear, memory: Memory) -> int:
        """Bits of an index into an array whose extent only the caller knows: those of its range."""
        _, high = self.grown.owner.addresses.interval(offset + Linear(-memory.start))
        return min(32, max(1, (max(0, high) // max(1, memory.element_bytes)).bit_length()))

    def _word_of_stream(self, one: Instruction, address: Address, writes: bool) -> None:
        """A part of the word that a stream's read gave, or that a write will take: wires."""
        name = address.base.name
        if writes:
            self.grown.slots.setdefault(name, []).extend(self.grown.sources(one.operands[:1]))
        elif name in self.grown.node_of:
            self.grown.node_of[one.name] = self.grown.node_of[name]
        elif name in self.grown.slots:
            self.grown.alias(one, self.grown.slots[name], "")

    def copy(self, one: Instruction, block: str) -> None:
        """A word of several parts that is copied, or set, as one: what it comes from is read, what it
        goes to written; nothing is of what a static holds at first."""
        if is_state(one.operands[1]):
            return
        length = one.operands[2]
        if not isinstance(length, Constant) or not length.value:
            self.grown.region.calls.add("a copy of a length that is not constant")
            return
        size = length.value // words_of_copy(one, length.value, self.grown.owner)
        places = range(0, length.value, size)
        sources: list[list[int]] = [[] for _ in places]
        if ".memset" not in one.callee:  # of words that overlap each is read before any is written
            sources = [self._read_word(one, one.operands[1], 8 * size, block, at) for at in places]
        for at, read in zip(places, sources, strict=True):
            self._write_word(one, one.operands[0], 8 * size, block, read, at)

    def _read_word(self, one: Instruction, pointer: Operand, bits: int, block: str, at: int) -> list[int]:
        """at: bytes behind the pointer."""
        address = self.grown.owner.addresses.of(pointer)
        if address is None:
            return []
        name = address.base.name
        if is_word_of_call(address.base, self.grown.owner.definitions):
            return (
                [self.grown.node_of[name]] if name in self.grown.node_of else self.grown.slots.get(name, [])
            )
        address = replace(address, offset=address.offset + Linear(at))
        return [self._access_each(one, address, block, bits, writes=False, after=[])]

    def _write_word(
        self, one: Instruction, pointer: Operand, bits: int, block: str, sources: list[int], at: int
    ) -> None:
        address = self.grown.owner.addresses.of(pointer)
        if address is None:
            return
        if is_word_of_call(address.base, self.grown.owner.definitions):
            self.grown.slots.setdefault(address.base.name, []).extend(sources)
        else:
            address = replace(address, offset=address.offset + Linear(at))
            self._access_each(one, address, block, bits, writes=True, after=sources)
