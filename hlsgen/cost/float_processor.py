"""Resources of what computes in a shared processor in floating point; the rest is processor.py's.

Counted from array_float.h.j2 and finish_float.h.j2; tests/cost/test_processor.py holds the sum against the
operations that the compiled code has.
"""

from __future__ import annotations

from hlsgen.cost.resources import (
    Resources,
    adders,
    cells,
    comparisons,
    float_adders,
    float_multipliers,
    float_products,
    memory_resources,
)
from hlsgen.hardware.processor import FLOAT_BITS, SIZE_BITS, Processor
from hlsgen.hardware.storage import lutram_luts
from hlsgen.targets.terms import Terms

COMPARED = 2
"""Numbers of a comparison, whose bits are brought into their order."""


def float_parts(processor: Processor, terms: Terms) -> tuple[Resources, ...]:
    """Products and their additions, sums, and what makes results of them."""
    return _products(processor, terms), _sums(processor, terms), _finishing(processor, terms)


def float_fifos(processor: Processor, terms: Terms) -> Resources:
    """Where the sums of positions wait that end one after the other, of each row."""
    bits, depth = processor.lanes * FLOAT_BITS, processor.sums_fifo
    address, primitives = (depth - 1).bit_length(), lutram_luts(depth, bits)
    one = cells(terms, "fifo_lutram", one=1, bits=bits, address=address, primitives=primitives)
    return one.times(processor.rows)


def _products(processor: Processor, terms: Terms) -> Resources:
    in_fabric = processor.rows * processor.lanes * processor.fabric_lanes
    return float_products(terms, processor.multipliers, in_fabric)


def _sums(processor: Processor, terms: Terms) -> Resources:
    """The memory of sums, the larger of two numbers, and the walk over positions that take turns."""
    count, address = processor.rows * processor.lanes, (2 * processor.pixel_depth - 1).bit_length()
    walk = 3 * SIZE_BITS + 2 * (SIZE_BITS + 2) + 2 * address
    return (
        memory_resources(terms, processor.sum_memory)
        + _comparisons(terms, count)
        + cells(terms, "select", bits=4 * count * FLOAT_BITS + 2 * walk)
        + adders(terms, 6, 2 * walk)
        + cells(terms, "register", bits=2 * count * FLOAT_BITS + 2 * walk)
    )


def _finishing(processor: Processor, terms: Terms) -> Resources:
    """Of each lane two additions, a product and four limits."""
    per_lane = (
        float_adders(terms, 2)
        + float_multipliers(terms, 1)
        + _comparisons(terms, 4)
        + cells(terms, "select", bits=8 * FLOAT_BITS)
        + cells(terms, "register", bits=6 * FLOAT_BITS)
    )
    waiting = processor.rows * processor.lanes * FLOAT_BITS
    shifting = cells(terms, "select", bits=waiting)
    shifting += cells(terms, "register", bits=waiting + processor.lanes * FLOAT_BITS)
    return per_lane.times(processor.lanes) + shifting


def _comparisons(terms: Terms, count: int) -> Resources:
    """Of pairs of numbers, by their bits."""
    return comparisons(terms, count, FLOAT_BITS) + cells(terms, "select", bits=count * COMPARED * FLOAT_BITS)
