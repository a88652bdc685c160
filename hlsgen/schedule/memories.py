"""The arrays of a module: their shapes, how pragmas split them into banks, and where an address falls."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from hlsgen.schedule.ir import Global, Local
from hlsgen.schedule.linear import Address, Linear
from hlsgen.schedule.names import calls_around, variable_name
from hlsgen.schedule.ranges import Interval
from hlsgen.schedule.statics import is_static

Intervals = Callable[[Linear], Interval]
"""Gives the least and the greatest value of a linear form."""
Residues = Callable[[Linear, int], int | None]
"""Gives what a linear form leaves when it is divided by a number; None where that varies."""
COMPLETE, CYCLIC, BLOCK = "complete", "cyclic", "block"
UNKNOWN_BANKS = 1 << 20
"""Of a dimension that is split wholly, and whose extent only the caller knows."""
MOVED_TERMS = 4
"""An index of more terms is taken as it is written."""
ANY_BANK = -1
"""The bank of an index that stays run-time: the vendor's compiler takes it to be any of them."""


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """One dimension of an array: its extent (0 if unknown), the bytes between neighbours, and how it is
    split."""

    extent: int
    stride: int
    split: str = ""
    """complete, cyclic, block, or nothing."""
    factor: int = 1
    reshaped: bool = False
    """The parts stand beside each other in one word, not in banks of their own."""

    @property
    def banks(self) -> int:
        """How many parts the dimension is split into."""
        if self.split == COMPLETE:
            return self.extent or UNKNOWN_BANKS
        return max(1, min(self.factor, self.extent or self.factor)) if self.split else 1

    @property
    def block(self) -> int:
        """Neighbours that stand in one part, where it is split into blocks."""
        return -(-self.extent // self.banks) or 1


@dataclass(frozen=True, kw_only=True)
class Memory:
    """An array, a register that is no SSA value, or a pointer argument."""

    name: str
    base: Local | Global
    start: int
    """Bytes from the base's start."""
    dimensions: tuple[Dimension, ...]
    element_bits: int
    element_bytes: int
    constant: bool = False
    bundle: str = ""
    """The AXI port of an argument that leads to DDR; empty for what is on the chip."""
    latency: int | None = None
    """Cycles that a pragma says the memory behind the port takes."""
    widest: int | None = None
    """Bits that a pragma lets words of the port be joined to."""
    implementation: str = ""
    """What a pragma asks for: bram, lutram, uram, srl."""
    kind: str = ""
    """ram_1p, ram_2p, ram_s2p, ram_t2p, rom_..., fifo; empty if the tool chooses."""
    aggregated: bool = False
    argument: bool = False
    interface: bool = False
    """Whether a function that the kernel calls has it from the kernel's own arguments."""
    marked: bool = False

    @property
    def bytes(self) -> int:
        """The array's size, 0 if unknown."""
        return prod(dimension.extent for dimension in self.dimensions) * self.element_bytes

    def holds(self, at: int) -> bool:
        """Whether a byte of the base is one of the array's, whose elements others may stand between."""
        rest = at - self.start
        for dimension in self.dimensions:
            index, rest = divmod(rest, dimension.stride or 1)
            if not 0 <= index < dimension.extent:
                return False
        return 0 <= rest < max(1, self.element_bytes)

    @property
    def span(self) -> int:
        """Bytes from the first to the last, with what stands between; 0 if unknown."""
        return max((one.extent * one.stride for one in self.dimensions), default=self.element_bytes)

    @property
    def banks(self) -> int:
        """How many memories, or registers, hold the array."""
        return prod(dimension.banks for dimension in self.dimensions if not dimension.reshaped)

    @property
    def depth(self) -> int:
        """Words of one bank; 0 if unknown."""
        return prod(-(-dimension.extent // dimension.banks) for dimension in self.dimensions)

    @property
    def word_bits(self) -> int:
        """Bits of one word."""
        return self.element_bits * prod(
            dimension.banks for dimension in self.dimensions if dimension.reshaped
        )

    @property
    def has_parts(self) -> bool:
        """Whether a word holds several elements, or all fields of a struct."""
        return self.aggregated or any(dimension.reshaped for dimension in self.dimensions)

    @cached_property
    def storage(self) -> str:
        """register, axi, or the kind of memory: bram, lutram, uram (`lutram` too where the tool would
        choose it)."""
        if self.bundle:
            return "axi"
        whole = bool(self.dimensions) and all(
            dimension.split == COMPLETE and not dimension.reshaped for dimension in self.dimensions
        )
        if whole or (self.depth == 1 and not self.argument):
            return "register"
        if self.implementation:
            return {"lutram": "lutram", "uram": "uram", "srl": "lutram"}.get(self.implementation, "bram")
        # the vendor's compiler puts what is small into LUTs: up to 1,024 bits in public reports
        return "lutram" if 0 < self.depth * self.word_bits <= SMALL_BITS and not self.argument else "bram"

    @property
    def is_local(self) -> bool:
        """Whether it is a variable of the function: no argument, and nothing that others see."""
        return not self.argument and isinstance(self.base, Local)

    @property
    def calls(self) -> int:
        """How many calls within each other its variable was inlined at."""
        return calls_around(self.base.name)

    @property
    def may_have_copies(self) -> bool:
        """Whether the vendor's compiler may keep copies of it, to read it more often in a cycle: it is the
        kernel's own, and no pragma names its storage. Statics have none (statics of three repositories that
        are read 8 to 99 times stayed with two ports)."""
        kept = isinstance(self.base, Global) or is_static(self.base.name)
        return not (kept or self.argument or self.kind or self.bundle)

    @property
    def ports(self) -> tuple[int, int, int]:
        """Accesses a bank allows in a cycle: reads, writes, and both together."""
        if self.bundle:
            return 1, 1, 2
        return _PORTS.get(self.kind, (2, 2, 2))


_INLINED = re.compile(r"\.i\d*(?:\.|$)|\.static$")
"""Ends of the names of variables that came from another function."""
MANY = 1 << 30
AXI_LITE = "s_axilite"
"""Kind of an array that the host reaches through the AXI-lite port, as it does at any time."""
_PORTS = {
    AXI_LITE: (1, 1, 1),
    "ram_1p": (1, 1, 1),
    "ram_2p": (2, 1, 2),
    "ram_s2p": (1, 1, 2),
    "ram_1wnr": (MANY, 1, MANY),
    "rom_1p": (1, 1, 1),
    "rom_np": (MANY, 1, MANY),
}
"""By the kinds of `bind_storage`: a ram_2p reads at both ports, but writes at one of them only. Of a memory
on AXI-lite the bus has the other port (public reports of 2022.1, 2024.2: 11 reads, II 11; of 2023.1: a read
and a write of one array, II 2 in three loops)."""
SMALL_BITS = 1024


@dataclass(frozen=True)
class Where:
    """Where an access falls: the bank by dimension (ANY_BANK where it stays run-time) and the word within it.

    Of a dimension that is split cyclically the word is named by the index of its first element. Behind the
    words by dimension stand the bytes within an element.
    """

    memory: Memory
    banks: tuple[int, ...]
    word: tuple[Linear, ...]
    exact: bool
    """False if the address could not be told apart by dimensions."""
    is_part: bool = False
    """Whether it is one of several elements that share a word, which one stays run-time."""

    @property
    def runtime_banks(self) -> bool:
        """Whether some bank is chosen at run time."""
        return ANY_BANK in self.banks

    @property
    def ways(self) -> int:
        """Among how many banks one is chosen at run time; 1 of an AXI port, which has none."""
        if self.memory.bundle:
            return 1
        split = [one for one in self.memory.dimensions if not one.reshaped]
        pairs = zip(split, self.banks, strict=False)
        return prod(dimension.banks for dimension, bank in pairs if bank == ANY_BANK)


def locate(memory: Memory, offset: Linear, interval: Intervals, residue: Residues) -> Where:
    """Where in `memory` the address at `offset` bytes from its base falls."""
    offset = offset + Linear(-memory.start)
    if not memory.dimensions and not memory.element_bytes:
        return Where(memory, (), (offset,), exact=True)  # nothing is known of its shape but the bytes
    indices, field = _indices(memory, offset, interval)
    exact = not field.terms
    banks, words, is_part = [], [], False
    for dimension, index in zip(memory.dimensions, indices, strict=True):
        bank, word = _split(dimension, index, interval, residue)
        if not dimension.reshaped:
            banks.append(bank)
        elif bank == ANY_BANK:
            is_part = True
            word = Linear(0) if dimension.split == COMPLETE else word
        words.append(word)
    if not memory.aggregated and memory.element_bytes:
        # the vendor's compiler makes a memory of each field of a struct, unless told to keep them together
        banks.append(field.constant if exact else ANY_BANK)
    words.append(Linear(0) if memory.aggregated else field)
    return Where(memory, tuple(banks), tuple(words), exact, is_part)


def _indices(memory: Memory, offset: Linear, interval: Intervals) -> tuple[list[Linear], Linear]:
    """One linear form for each dimension, and the bytes within an element."""
    forms, rest = [], offset
    for dimension in memory.dimensions:
        stride = dimension.stride or 1
        # towards zero: of a[i][i] the outer index takes one row, the inner one what is left
        terms = [(name, abs(factor) // stride * _sign(factor)) for name, factor in rest.terms]
        forms.append(Linear(rest.constant // stride, tuple((name, one) for name, one in terms if one)))
        rest = rest + forms[-1].times(-stride)
    for at in reversed(range(1, len(forms))):
        outer, inner = memory.dimensions[at - 1 : at + 1]
        if outer.stride != inner.extent * inner.stride:
            continue  # others stand between
        carry, forms[at] = _within(memory.dimensions[at].extent, forms[at], interval)
        forms[at - 1] = forms[at - 1] + carry
    return forms, rest


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _within(extent: int, form: Linear, interval: Intervals) -> tuple[Linear, Linear]:
    """What the next outer index gets, and the index that stays within its dimension.

    Of a[i][7 - i] the address is that of a[0][7 * i + 7] too; the bounds of i tell which was meant.
    """
    if not extent:
        return Linear(0), form
    terms = form.terms
    for moved in itertools.product((False, True), repeat=len(terms) if len(terms) <= MOVED_TERMS else 0):
        moving = zip(terms, moved, strict=False)
        carry = Linear(0, tuple((name, _sign(factor)) for (name, factor), moves in moving if moves))
        index = form + carry.times(-extent)
        low, high = interval(index)
        if low // extent == high // extent:
            return carry + Linear(low // extent), index + Linear(-(low // extent) * extent)
    # bounds that are wider than the array: the access stands under a condition, or little is known of its
    # index; it is within the array all the same, for the vendor's compiler refuses to split what is not
    low, high = interval(form)
    near = (low + high) // 2 if high - low < 2 * extent else form.constant + extent // 2
    whole = near // extent
    return Linear(whole), form + Linear(-whole * extent)


def _split(dimension: Dimension, index: Linear, interval: Intervals, residue: Residues) -> tuple[int, Linear]:
    """The bank and the word in it of an index."""
    if not dimension.split:
        return 0, index
    banks = dimension.banks
    if banks == 1:
        return 0, index
    if dimension.split == COMPLETE:
        return (ANY_BANK, index) if index.terms else (index.constant % banks, Linear(0))
    if dimension.split == CYCLIC:
        bank = residue(index, banks)
        return (ANY_BANK, index) if bank is None else (bank, index + Linear(-bank))
    size = dimension.block
    low, high = interval(index)
    return (
        (low // size, index + Linear(-(low // size) * size))
        if low // size == high // size
        else (ANY_BANK, index)
    )


class Memories:
    """The memories of a module, found by their base and offset."""

    def __init__(self, known: Iterable[Memory]) -> None:
        self.by_base: dict[Local | Global, list[Memory]] = {}
        for memory in known:
            self.by_base.setdefault(memory.base, []).append(memory)

    def replace(self, old: Memory, new: Memory) -> bool:
        """Put another in the place of a memory; whether it was there."""
        known = self.by_base.get(old.base, [])
        if old not in known:
            return False
        known[known.index(old)] = new
        return True

    def share(self) -> None:
        """Take the function's own arrays as ports: a dataflow region's processes have them in common."""
        for base, found in self.by_base.items():
            if isinstance(base, Local) and not _INLINED.search(base.name):
                self.by_base[base] = [replace(memory, argument=True) for memory in found]

    def find(self, address: Address, interval: Intervals) -> Memory | None:
        """The memory that an address falls into; None where nothing is known of its base."""
        found = self.by_base.get(address.base, [])
        if len(found) == 1:
            return found[0]
        # an index moves by its stride at least: what holds no more than that, as a scalar of a struct does,
        # is not what it moves in
        stride = max((abs(one) for _, one in address.offset.terms), default=0)
        wide = [one for one in found if one.span > stride] or found
        # the least address; an index that its type alone lets be negative does not lead below the variable
        varying, _ = interval(Linear(0, address.offset.terms))
        low = address.offset.constant + max(0, varying)
        inside = [one for one in wide if one.holds(low)]
        return next(iter(inside), None) or min(wide, key=lambda one: abs(one.start - low), default=None)


def unknown_memory(address: Address) -> Memory:
    """A memory that only its address tells of."""
    return Memory(
        name=variable_name(address.base.name),
        base=address.base,
        start=0,
        dimensions=(),
        element_bits=0,
        element_bytes=0,
        argument=True,
    )
