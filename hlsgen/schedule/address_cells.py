"""What the addresses of arrays take: sums of indices and constants, each distinct one once."""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from hlsgen.cost.resources import Resources
from hlsgen.schedule.accesses import Access
from hlsgen.schedule.areas import Areas
from hlsgen.schedule.linear import Linear
from hlsgen.schedule.memories import BLOCK, CYCLIC, Memory
from hlsgen.schedule.operation import Operation
from hlsgen.schedule.scheduled_regions import ScheduledRegion

MOST_SHIFTS = 3
"""An index times a constant that takes more powers of two is a product."""
AXI_BITS = 64
"""Of an address in DDR."""
UNKNOWN_BITS = 32


def address_cells(part: ScheduledRegion, areas: Areas, left_out: Collection[int]) -> Resources:
    """The adders and products of all addresses of a part."""
    sums: dict[object, int] = {}
    products: dict[object, Operation] = {}
    for memory, accesses in part.region.accesses.items():
        if memory.storage == "register":
            continue
        for access in accesses:
            if access.node not in left_out and access.where is not None:
                _add(_in_words(memory, access), _bits(memory, part, access), sums, products)
    total = Resources()
    for bits in sums.values():
        total += areas.operation(Operation(kind="add", widths=(bits, bits), result=bits))
    for product in products.values():
        total += areas.operation(product)
    return total


def _bits(memory: Memory, part: ScheduledRegion, access: Access) -> int:
    """Bits of an address within a bank."""
    if memory.bundle:
        return AXI_BITS
    if memory.depth > 1:
        return (memory.depth - 1).bit_length()
    for before in part.region.nodes[access.node].after:
        node = part.region.nodes[before]
        if node.instruction is not None or before in part.region.counting:
            continue
        if node.operation is not None and node.operation.kind == "add":
            return node.operation.result
    return UNKNOWN_BITS


def _in_words(memory: Memory, access: Access) -> Linear:
    """The address within a bank, in words."""
    where = access.where
    assert where is not None
    if not memory.dimensions:
        operation = access.instruction.types[0] if access.writes else access.instruction.type
        size = max(1, -(-getattr(operation, "bits", 8) // 8))
        return _divided(where.word[0], size)
    total = Linear(0)
    inside = [-(-dimension.extent // dimension.banks) for dimension in memory.dimensions]
    for at, (dimension, word) in enumerate(zip(memory.dimensions, where.word, strict=False)):
        stride = prod(max(1, one) for one in inside[at + 1 :])
        step = dimension.banks if dimension.split == CYCLIC else 1
        low = word if dimension.split != BLOCK else Linear(0, word.terms)
        total = total + _divided(low, step).times(stride)
    return total


def _divided(form: Linear, by: int) -> Linear:
    """A form in larger steps; what is no multiple stays as it is, a product less."""
    return Linear(form.constant // by, tuple((name, factor // by or factor) for name, factor in form.terms))


def _add(form: Linear, bits: int, sums: dict[object, int], products: dict[object, Operation]) -> None:
    """What a form takes that none before had."""
    for name, factor in form.terms:
        odd = abs(factor) // (factor & -factor)
        steps = _powers(odd)
        if steps > MOST_SHIFTS:
            widths = (min(bits, UNKNOWN_BITS), odd.bit_length())
            products[name, odd] = Operation(kind="mul", widths=widths, result=bits, constants=1)
        else:
            for step in range(1, steps):
                sums[name, odd, step] = max(bits, sums.get((name, odd, step), 0))
    for end in range(2, len(form.terms) + 1):
        sums[form.terms[:end]] = max(bits, sums.get(form.terms[:end], 0))
    lowest = min((factor & -factor for _, factor in form.terms), default=0)
    if form.terms and form.constant and not 0 < form.constant < lowest:
        key = (form.terms, form.constant)
        sums[key] = max(bits, sums.get(key, 0))


def _powers(number: int) -> int:
    """How many powers of two make a number, when they may be added and subtracted."""
    count = 0
    while number:
        if number & 1:
            number -= 2 - (number & 3)
            count += 1
        number >>= 1
    return count
