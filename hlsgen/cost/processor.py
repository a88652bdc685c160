"""Resources of a shared processor. What moves words is counted from templates/hls/shared, process by process.

tests/cost/test_processor.py holds the sum against the operations that the compiled code has.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from hlsgen.cost.float_processor import float_fifos, float_parts
from hlsgen.cost.resources import (
    PackedSums,
    Resources,
    adders,
    axi_ports,
    cells,
    comparisons,
    fabric_products,
    memory_resources,
    multiplexers,
    packed_products,
    packing,
    shared_products,
)
from hlsgen.hardware.descriptor import ROW_FIELDS, fields_of
from hlsgen.hardware.processor import (
    BIAS_BITS,
    CHANNEL_NUMBERS,
    MOST_JOINING_UP,
    MOST_UP,
    RESULT_BITS,
    SIZE_BITS,
    WINDOW_SIDE,
    Processor,
)
from hlsgen.hardware.storage import Storage, bram18_for, lutram_luts
from hlsgen.targets.terms import Terms

FIFO_WORDS = 128
"""Words that wait between DDR and the array: two bursts."""
BURST_WORDS = 64
AXI_PORTS = 5
PROCESSES = 7
"""With the one that reads descriptors and tells the others; without a pool."""
ADDRESS_BITS = 32
SIZE_PRODUCT_DSPS = 30
"""DSPs of products of sizes, outside the loops: 24 to 32 in the compiled code of six processors."""
MOVERS = 4
"""Processes between DDR and the array."""
ADDRESS_SUMS = 5
"""Sums of an address in DDR: of round, frame, channel group, band and word."""
POINTER_BITS = 64
STEP_OPERATIONS = 24
"""Sums, and comparisons, of what the array does from step to step; each has two registers."""
REPEATING_OPERATIONS = 16
"""The same where rows count several times."""
COUNTERS = 6
"""Loops of a window's walk."""


MOST_KNOWN = 1 << 15
"""Processors whose resources are known at a time: a search weighs ten thousand, with other margins again."""


@lru_cache(maxsize=MOST_KNOWN)
def processor_resources(processor: Processor, terms: Terms) -> Resources:
    """One processor, its share of the platform's interconnect included."""
    smallest = replace(processor, weight_depth=1, weight_storage=Storage.BRAM)
    return _beside_weights(smallest, terms) + memory_resources(terms, processor.weight_memory)


@lru_cache(maxsize=MOST_KNOWN)
def _beside_weights(processor: Processor, terms: Terms) -> Resources:
    """What is the same however deep the memory of weights is, and whatever it is made of."""
    own = float_parts(processor, terms) if processor.floating else _fixed_parts(processor, terms)
    parts = (
        *own,
        _reading(processor, terms),
        _moving(processor, terms),
        memory_resources(terms, processor.pixel_memory),
        _pooling(processor, terms),
        _windowing(processor, terms),
        _tables(processor, terms),
        _carrying(processor, terms),
    )
    return Resources.sum(parts)


def _fixed_parts(processor: Processor, terms: Terms) -> tuple[Resources, ...]:
    """What computes in fixed point: products, sums, results."""
    return _products(processor, terms), _sums(processor, terms), _finishing(processor, terms)


def dot_bits(processor: Processor) -> int:
    """Bits of a sum of LANES products."""
    return processor.operand_bits + processor.weight_bits + (processor.lanes - 1).bit_length()


def _products(processor: Processor, terms: Terms) -> Resources:
    rows, lanes = processor.rows, processor.lanes
    a, w = processor.operand_bits, processor.weight_bits
    in_dsp = processor.outputs - processor.fabric_lanes
    fabric = fabric_products(terms, rows * lanes * processor.fabric_lanes, a, w)
    if not processor.packed:
        waiting = rows * lanes * a + lanes * in_dsp * w
        return fabric + shared_products(terms, rows * lanes * in_dsp, a, w, waiting=waiting)
    sums = PackedSums(
        pairs=rows * in_dsp // 2,
        terms=lanes,
        chain=processor.chain,
        bits=dot_bits(processor),
        pair_words=lanes * in_dsp // 2,
        factor_words=rows * lanes,
        factor_bits=a,
    )
    return fabric + packed_products(terms, sums) + packing(terms, lanes * in_dsp // 2, w)


def _reading(processor: Processor, terms: Terms) -> Resources:
    """Where each row's pixel lies, what brings it to its lanes, and the walk over the windows."""
    rows, lanes = processor.rows, processor.lanes
    bank = (rows - 1).bit_length()
    address = (2 * processor.pixel_depth - 1).bit_length()
    pixels = rows * lanes * processor.activation_bits
    walk = COUNTERS * 2 * SIZE_BITS + 5 * address + 4 * SIZE_BITS
    return (
        adders(terms, 4 * rows, rows * (2 * bank + SIZE_BITS + 2 * address))
        + comparisons(terms, 3 * rows, SIZE_BITS)
        + comparisons(terms, rows * rows, bank)
        + cells(terms, "select", bits=rows * (rows - 1) * address + pixels)
        + multiplexers(terms, rows, rows, processor.word_bits)
        + adders(terms, COUNTERS + 8, walk)
        + cells(terms, "select", bits=2 * walk)
        + cells(terms, "register", bits=2 * pixels + processor.weight_word_bits + walk)
    )


def _sums(processor: Processor, terms: Terms) -> Resources:
    """The running sums, or the largest values, and the words that they leave in."""
    count, bits = processor.rows * processor.outputs, processor.sum_bits
    return (
        adders(terms, count, count * bits)
        + comparisons(terms, count, processor.operand_bits)
        + cells(terms, "select", bits=2 * count * bits)
        + cells(terms, "register", bits=3 * count * bits)
        + first_values(terms, count)
    )


def _finishing(processor: Processor, terms: Terms) -> Resources:
    """Of each lane three products, two roundings and their limits."""
    if processor.scales:
        return _scaled_finishing(processor, terms)
    lanes, factor = processor.lanes, processor.factor_bits
    sum_bits, other = processor.sum_bits, processor.activation_bits + 1
    dsps = sum(terms.dsp.blocks(bits, factor) for bits in (sum_bits, RESULT_BITS, other))
    wide, narrow = sum_bits + factor, RESULT_BITS + factor
    whole = wide - processor.factor_fraction, narrow - processor.factor_fraction
    added = sum_bits + 2 * wide + narrow + sum(whole)
    chosen = 2 * factor + wide + 4 * RESULT_BITS + processor.activation_bits
    per_lane = (
        Resources(dsp=dsps)
        + adders(terms, 6, added)
        + comparisons(terms, 2, whole[0])
        + comparisons(terms, 2, whole[1])
        + comparisons(terms, 2, processor.factor_fraction)
        + cells(terms, "select", bits=chosen)
        + cells(terms, "register", bits=3 * wide + 3 * narrow + 6 * RESULT_BITS)
    )
    waiting = processor.rows * processor.outputs * sum_bits
    shifting = cells(terms, "select", bits=waiting) + cells(
        terms, "register", bits=waiting + lanes * BIAS_BITS
    )
    return per_lane.times(lanes) + shifting


def _scaled_finishing(processor: Processor, terms: Terms) -> Resources:
    """The same with shifts of any width before both roundings, and with numbers of each channel."""
    lanes, factor, result = processor.lanes, processor.factor_bits, processor.result_bits
    exact, joining = processor.exact_bits, processor.joining_bits
    products = (
        (processor.sum_bits, factor),
        (processor.activation_bits + 1, factor),
        (result, joining),
    )
    placed, whole = exact + MOST_UP, exact + MOST_UP - processor.fractions[1]
    shifted = 2 * placed * MOST_UP.bit_length() + (joining + MOST_JOINING_UP) * MOST_JOINING_UP.bit_length()
    per_lane = (
        Resources(dsp=sum(terms.dsp.blocks(*one) for one in products))
        + adders(terms, 7, processor.sum_bits + 4 * exact + 2 * whole)
        + comparisons(terms, 4, whole)
        + comparisons(terms, 2, processor.fractions[1])
        + cells(terms, "select", bits=shifted + factor + joining + 4 * result + processor.activation_bits)
        + cells(terms, "register", bits=3 * placed + 3 * exact + 6 * result)
    )
    waiting = processor.rows * lanes * processor.sum_bits
    numbers = lanes * BIAS_BITS * CHANNEL_NUMBERS
    return per_lane.times(lanes) + (
        cells(terms, "select", bits=waiting) + cells(terms, "register", bits=waiting + numbers)
    )


def _pooling(processor: Processor, terms: Terms) -> Resources:
    """The process that pools results, if there is one: two comparisons a lane, its memories, its FIFO."""
    if not processor.pool_columns:
        return Resources()
    word = processor.word_bits
    address = (processor.pool_columns * processor.rows - 1).bit_length()
    fifo = cells(
        terms,
        "fifo_lutram",
        one=1,
        bits=word,
        address=(FIFO_WORDS - 1).bit_length(),
        primitives=lutram_luts(FIFO_WORDS, word),
    )
    return (
        memory_resources(terms, processor.pool_memory)
        + comparisons(terms, 2 * processor.lanes, processor.activation_bits)
        + cells(terms, "select", bits=6 * word + 4 * address)
        + cells(terms, "register", bits=5 * word + 4 * ADDRESS_BITS)
        + adders(terms, 8, 8 * ADDRESS_BITS)
        + cells(terms, "process_control", one=1)
        + fifo
    )


def _carrying(processor: Processor, terms: Terms) -> Resources:
    """The sums that wait for the rest of their words, and the choice of where in a word new ones stand."""
    if not processor.extra_lanes:
        return Resources()
    bits = (processor.lanes + processor.most_carried) * processor.sum_bits
    return (
        memory_resources(terms, processor.carry_memory)
        + multiplexers(terms, 1, processor.most_carried // processor.carry_step + 1, bits)
        + cells(terms, "register", bits=2 * bits)
    )


def _windowing(processor: Processor, terms: Terms) -> Resources:
    """The process that moves windows over results, if there is one: columns of products or largest values,
    what waits for the columns behind them, memories, and the FIFO behind.
    """
    if not processor.window_columns:
        return Resources()
    lanes, word = processor.lanes, processor.word_bits
    address = (processor.window_blocks.depth - 1).bit_length()
    waiting = kept = 0
    found = Resources()
    if processor.window_products:
        found = found + _window_products(processor, terms)
        waiting += lanes * window_sum_bits(processor)
        kept += 2 * processor.rows * lanes
    if processor.window_largest:
        waiting += word
        kept += 2 * processor.rows * lanes
        found = (
            found
            + comparisons(terms, 4 * lanes, processor.activation_bits)
            + cells(terms, "select", bits=12 * word)
        )
    fifo = cells(
        terms,
        "fifo_lutram",
        one=1,
        bits=word,
        address=(FIFO_WORDS - 1).bit_length(),
        primitives=lutram_luts(FIFO_WORDS, word),
    )
    return (
        found
        + memory_resources(terms, processor.window_lines)
        + memory_resources(terms, processor.window_blocks)
        + cells(terms, "register", bits=2 * processor.rows * waiting + 10 * word + 8 * ADDRESS_BITS)
        + cells(terms, "select", bits=24 * word + 4 * address + 8 * SIZE_BITS)
        + adders(terms, 20, 16 * ADDRESS_BITS + 4 * address)
        + comparisons(terms, 8, SIZE_BITS)
        + first_values(terms, kept)
        + cells(terms, "process_control", one=1)
        + fifo
    )


def window_sum_bits(processor: Processor) -> int:
    """Bits of a sum of the products of a window over results."""
    return processor.operand_bits + processor.weight_bits + (WINDOW_SIDE**2 - 1).bit_length()


def _window_products(processor: Processor, terms: Terms) -> Resources:
    """Of each lane nine products, those of two columns of the kernel by the same pixel; sums, and their
    rounding.
    """
    lanes, a, w = processor.lanes, processor.operand_bits, processor.weight_bits
    bits, factor, sum_bits = window_sum_bits(processor), processor.factor_bits, processor.sum_bits
    apart = 1 if processor.packed else WINDOW_SIDE
    found = shared_products(
        terms, WINDOW_SIDE * lanes * apart, a, w, waiting=WINDOW_SIDE * lanes * (a + apart * w)
    )
    if processor.packed:
        sums = PackedSums(
            pairs=lanes,
            terms=WINDOW_SIDE,
            chain=WINDOW_SIDE,
            bits=bits,
            pair_words=WINDOW_SIDE * lanes,
            factor_words=WINDOW_SIDE * lanes,
            factor_bits=a,
        )
        found = found + packed_products(terms, sums) + packing(terms, WINDOW_SIDE * lanes, w)
    wide, kept = sum_bits + factor, processor.window_weight_beats + processor.bias_beats
    per_lane = (
        Resources(dsp=terms.dsp.blocks(sum_bits, factor))
        + adders(terms, 4, 2 * bits + sum_bits + wide)
        + comparisons(terms, 2, wide - processor.factor_fraction)
        + cells(terms, "select", bits=2 * RESULT_BITS + 2 * bits)
        + cells(terms, "register", bits=3 * wide + 2 * RESULT_BITS)
    )
    return found + per_lane.times(lanes) + cells(terms, "register", bits=kept * processor.weight_beat_bits)


def _tables(processor: Processor, terms: Terms) -> Resources:
    """A table a lane, and the choice between its entry and the result."""
    if not processor.tables:
        return Resources()
    bits = processor.lanes * processor.activation_bits
    return memory_resources(terms, processor.table_memory) + cells(terms, "select", bits=bits)


def _moving(processor: Processor, terms: Terms) -> Resources:
    """Ports, FIFOs, the sequencer and the loops around everything that moves words."""
    word, beat = processor.word_bits, processor.weight_beat_bits
    ports = (32, beat, word, word, word)
    fifos = Resources.sum(
        cells(
            terms,
            "fifo_lutram",
            one=1,
            bits=bits,
            address=(FIFO_WORDS - 1).bit_length(),
            primitives=lutram_luts(FIFO_WORDS, bits),
        )
        for bits in (word, word, word, beat)
    )
    sums = processor.rows * processor.outputs * processor.sum_bits
    registers = cells(terms, "fifo_registers", one=processor.rows, bits=sums)
    fields = 32 * (len(fields_of(processor)) + len(ROW_FIELDS) * processor.rows)
    return (
        Resources(
            bram18=sum(bram18_for(BURST_WORDS * 2, max(32, bits)) for bits in ports),
            dsp=SIZE_PRODUCT_DSPS,
        )
        + axi_ports(terms, AXI_PORTS, sum(ports))
        + cells(terms, "conv_control", one=1)
        + cells(terms, "process_control", one=PROCESSES)
        + fifos
        + (float_fifos(processor, terms) if processor.floating else registers)
        + cells(terms, "fifo_registers", one=PROCESSES - 1, bits=32 * (PROCESSES - 1))
        + cells(terms, "register", bits=2 * fields)
        + adders(terms, 8 * (PROCESSES - 1), 8 * (PROCESSES - 1) * ADDRESS_BITS)
        + comparisons(terms, 4 * (PROCESSES - 1), ADDRESS_BITS)
        + adders(terms, MOVERS * ADDRESS_SUMS, MOVERS * ADDRESS_SUMS * POINTER_BITS)
        + _steps(terms)
    )


def _steps(terms: Terms) -> Resources:
    """What processes do between one run of their loops and the next: sizes of the next one, and registers."""
    operations = STEP_OPERATIONS + REPEATING_OPERATIONS
    bits = operations * 2 * SIZE_BITS  # products of sizes
    return (
        adders(terms, operations, bits)
        + comparisons(terms, operations, 2 * SIZE_BITS)
        + cells(terms, "select", bits=bits)
        + first_values(terms, 2 * operations)
    )


def first_values(terms: Terms, registers: int) -> Resources:
    """The choice between a register's first value and its next one: csynth counts it whatever its bits,
    routing makes a reset of it.
    """
    return cells(terms, "multiplexer", inputs=2 * registers)
