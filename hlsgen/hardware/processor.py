"""A processor that the layers of a network share: its folding, memories and number widths, as data.

In every cycle it multiplies, for ROWS neighbouring output rows at once, LANES input channels of one pixel
each by OUTPUTS x LANES weights of one kernel tap: OUTPUTS are LANES output channels, and some extra ones.
A task of its program (hlsgen/program/) is a layer's work;
shapes, kernel, stride and binary points are arguments at run time, up to these limits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hlsgen.base.short_repr import Brief
from hlsgen.hardware.storage import Memory, Storage

BIAS_BITS = 32
"""Bits of a bias, in units of a sum's last bit."""
RESULT_BITS = 18
"""Bits of a rounded result before something is added to it: the narrow operand of a DSP48E2."""
NARROW_SUM_BITS, WIDE_SUM_BITS = 32, 48
"""Bits of a sum of packed products, and of any others."""
NARROW_FACTOR, WIDE_FACTOR = (27, 24), (32, 28)
"""Bits of the factor that brings such a sum to its result's binary point (27: the wide operand of a DSP48E2),
and how many bits of the product are rounded away. A descriptor's words have 32 bits.
"""
SCALED_FRACTIONS = 8, 48
"""The fewest and the most of these bits where a task says how many: `Processor.scales`."""
MOST_UP = SCALED_FRACTIONS[1] - SCALED_FRACTIONS[0]
"""So far up a product is shifted, that the most bits are rounded away of any."""
MOST_JOINING_UP = 24
"""So far up the product of the second tensor is shifted before it joins."""
SCALED_RESULT_BITS = 32
"""Bits of a rounded result that is multiplied again: a word of a descriptor, which has its limits."""
OFFSET_BITS = 64
"""Bits of what is added to a scaled product: two words of 32 bits."""
CHANNEL_NUMBERS = 5
"""32-bit numbers of an output channel where it has factors of its own: bias, factor, slope, two of an
offset.
"""
SIZE_BITS = 12
"""Bits of a height, a width or a count of channel groups."""
MOST_SIZE = (1 << SIZE_BITS) - 1
LEAST_POOLED_ROWS = 5
"""Iterations from a word's write to its next read where results are pooled: what reading, comparing and
writing take.
"""
WINDOW_SIDE = 3
"""Rows and columns of the largest window that moves over results on their way to DDR."""
LEAST_WINDOWED_ROWS = 3
"""Output rows at once of a processor that has such windows, and"""
LEAST_WINDOWED_COLUMNS = 5
"""columns of those results, so that a word is not read too soon after its write."""
LEAST_WINDOW_RESULTS = 2
"""Columns of what such windows make, for the same reason."""
NEAREST_READ = 4
"""Iterations from a word's write to its next read there, at the least."""
WINDOW_BLOCKS = 3
"""Blocks of rows that a window's results wait in: one that leaves, two that are being put together."""
TABLE_ENTRIES = 256
"""Of the table of a function of results that have 8 bits or fewer."""
FLOAT_BITS = 32
"""Bits of whatever a processor in floating point computes with."""
INTERLEAVE = 12
"""Neighbouring positions of which such a processor takes one tap after the other: until a sum has its next
turn, its addition has ended. A step of fewer positions waits in their place.
"""
PACKED_WIDTH = 8
"""The widest numbers of which a DSP multiplies two at once, if its port holds two such weights."""
CHAIN_SIGNED, CHAIN_UNSIGNED = 7, 4
"""Products of packed pairs that may be added before their lanes collide: |sum| < 2**17 of any 8-bit weights
and signed or unsigned 8-bit activations (the packed dot product of templates/hls/hlsgen/dot.h).
"""


@dataclass(frozen=True, kw_only=True)
class Processor(Brief):
    """rows: output rows at once, odd, so that strides that share no factor with it read different banks.
    lanes: channels of a word, those read and those computed at once; extra_lanes: output channels computed
    beside these. activation_bits, weight_bits: of the codes. unsigned: whether activations may be unsigned
    too, as their task says. pixel_depth: words of a bank that one band of a tensor may take, weight_depth:
    words of OUTPUTS x LANES weights that a pass for some output channels may take; there is twice that, for
    the next ones are loaded meanwhile. weight_beat_bits: the width of the port that weights come by.
    carried_words: words of sums that wait for the channels which fill them up.
    window_columns: the most columns of results that a window moves over on their way to DDR, window_results:
    of what it makes of them; window_products: whether it multiplies (a depthwise convolution),
    window_largest: whether it finds largest values. floating: all numbers are float32, of 32 bits
    each; `fabric_lanes` have their additions in logic cells then, not their products.
    """

    rows: int
    lanes: int
    activation_bits: int
    weight_bits: int
    unsigned: bool
    pixel_depth: int
    weight_depth: int
    weight_beat_bits: int
    pixel_storage: Storage = Storage.BRAM
    weight_storage: Storage = Storage.BRAM
    fabric_lanes: int = 0
    pool_columns: int = 0
    tables: bool = False
    floating: bool = False
    extra_lanes: int = 0
    carried_words: int = 0
    may_pack: bool = True
    """Whether the board's DSPs hold two weights beside each other."""
    scales: bool = False
    """Whether factors, slopes and offsets are those of each channel and of any binary point, and results may
    be multiplied by a second tensor: what quantised models and gates take.
    """
    window_columns: int = 0
    window_results: int = 0
    window_products: bool = False
    window_largest: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError: no processor has these values together."""
        wrong = next(self._contradictions(), None)
        if wrong is not None:
            raise ValueError(wrong)

    def _contradictions(self) -> Iterator[str]:
        """What no processor is."""
        if self.floating and not self.activation_bits == self.weight_bits == FLOAT_BITS:
            yield f"numbers in floating point of other than {FLOAT_BITS} bits"
        integers = self.unsigned or self.tables or self.scales or self.window_columns or self.extra_lanes
        if self.floating and integers:
            yield "floating point with what only integers have"
        if self.pool_columns and self.rows < LEAST_POOLED_ROWS:
            yield f"pools on the way to DDR of fewer than {LEAST_POOLED_ROWS} rows"
        if self.rows % 2 == 0:
            yield f"{self.rows} rows, an even number"
        if self.lanes < 2 or self.lanes % 2 or self.fabric_lanes % 2 or self.extra_lanes % 2:
            yield "lanes that are no pairs"
        if not 0 <= self.extra_lanes <= self.lanes or not 0 <= self.fabric_lanes <= self.outputs:
            yield "more extra lanes, or lanes in logic cells, than there are"
        if bool(self.extra_lanes) != bool(self.carried_words):
            yield "extra lanes without words that wait, or the other way round"
        yield from self._beats_apart()
        yield from self._windows_apart()

    def _beats_apart(self) -> Iterator[str]:
        beat = self.weight_beat_bits
        if beat <= 0 or self.weight_word_bits % beat or self.lanes * BIAS_BITS % beat:
            yield f"words of weights or biases that are no beats of {beat} bits"
        elif self.tables and TABLE_ENTRIES * self.activation_bits % beat:
            yield f"tables that are no beats of {beat} bits"

    def _windows_apart(self) -> Iterator[str]:
        if bool(self.window_columns) != (self.window_products or self.window_largest):
            yield "windows over results of no columns, or columns of no windows"
        if self.window_columns and (self.rows < LEAST_WINDOWED_ROWS or not self.window_results):
            yield f"windows over results of fewer than {LEAST_WINDOWED_ROWS} rows, or without a result"
        if self.window_columns and (self.pool_columns or self.scales or self.extra_lanes):
            yield "windows over results with pools, scales or extra lanes"

    def __str__(self) -> str:
        """7 rows x 16 x 20 channels"""
        return f"{self.rows} rows x {self.lanes} x {self.outputs} channels"

    @property
    def outputs(self) -> int:
        """Output channels computed at once."""
        return self.lanes + self.extra_lanes

    @property
    def multipliers(self) -> int:
        """Products a cycle."""
        return self.rows * self.lanes * self.outputs

    @property
    def carry_step(self) -> int:
        """Of this many channels are what is carried from a pass of the array to the next one."""
        return math.gcd(self.lanes, self.extra_lanes)

    @property
    def most_carried(self) -> int:
        """Channels that wait for others at the most: a word's but the least step, and the extra ones."""
        return self.lanes - self.carry_step + self.extra_lanes if self.extra_lanes else 0

    @property
    def packed(self) -> bool:
        """Whether a DSP makes two products."""
        return self.may_pack and max(self.activation_bits, self.weight_bits) <= PACKED_WIDTH

    @property
    def operand_bits(self) -> int:
        """Bits of an activation's code with a sign."""
        return self.activation_bits + self.unsigned

    @property
    def chain(self) -> int:
        """Packed products that are added before their lanes are taken apart."""
        return CHAIN_UNSIGNED if self.unsigned else CHAIN_SIGNED

    @property
    def word_bits(self) -> int:
        """Bits of a word of LANES activations, as DDR and the ports have it."""
        return self.lanes * self.activation_bits

    @property
    def weight_word_bits(self) -> int:
        """Bits of the weights of a cycle."""
        return self.lanes * self.outputs * self.weight_bits

    @property
    def bias_word_bits(self) -> int:
        """Bits of what comes with the weights of an output group."""
        return self.lanes * BIAS_BITS * (CHANNEL_NUMBERS if self.scales else 1)

    @property
    def weight_beats(self) -> int:
        """Beats of a weight word."""
        return self.weight_word_bits // self.weight_beat_bits

    @property
    def bias_beats(self) -> int:
        """Beats of the biases of an output group."""
        return self.bias_word_bits // self.weight_beat_bits

    @property
    def waiting_bias_beats(self) -> int:
        """Beats of biases that may wait for sums: of the output groups that two passes fill.

        While one pass computes, the next one's weights arrive, and its biases before them. A pass fills two
        groups at the most, the last one of a band the rest too.
        """
        return (5 if self.extra_lanes else 2) * self.bias_beats

    @property
    def sum_bits(self) -> int:
        if self.floating:
            return FLOAT_BITS
        return NARROW_SUM_BITS if self.packed else WIDE_SUM_BITS

    @property
    def interleave(self) -> int:
        """Positions that take turns, at the least: a tap takes as many iterations."""
        return INTERLEAVE if self.floating else 1

    @property
    def most_interleaved(self) -> int:
        """Positions that take turns, at the most: each of them has a sum."""
        return 2 * self.interleave - 1

    @property
    def sums_fifo(self) -> int:
        """Positions whose sums wait to be finished: of those that take turns all, which end one after the
        other.
        """
        return self.most_interleaved + 1

    @property
    def factor_bits(self) -> int:
        """Bits of what a sum is multiplied by to become a result."""
        return (NARROW_FACTOR if self.packed else WIDE_FACTOR)[0]

    @property
    def factor_fraction(self) -> int:
        """Bits of that product which are rounded away, where no task says how many."""
        return (NARROW_FACTOR if self.packed else WIDE_FACTOR)[1]

    @property
    def fractions(self) -> tuple[int, int]:
        """The fewest and the most bits of it which a task may round away."""
        return SCALED_FRACTIONS if self.scales else (self.factor_fraction, self.factor_fraction)

    @property
    def result_bits(self) -> int:
        """Bits of a rounded result that something else is done to."""
        return SCALED_RESULT_BITS if self.scales else RESULT_BITS

    @property
    def joining_bits(self) -> int:
        """Bits of an added tensor's code times its factor."""
        return self.activation_bits + 1 + self.factor_bits

    @property
    def exact_bits(self) -> int:
        """Bits of a scaled product with what is added to it."""
        products = self.sum_bits + self.factor_bits, self.result_bits + self.joining_bits
        return max(*products, self.joining_bits + MOST_JOINING_UP, OFFSET_BITS) + 2

    @property
    def pixel_memory(self) -> Memory:
        """The banks of pixels, one for each of the rows."""
        depth = 2 * self.pixel_depth
        return Memory(
            name="band", depth=depth, bits=self.word_bits, copies=self.rows, storage=self.pixel_storage
        )

    @property
    def sum_memory(self) -> Memory:
        """The sums of positions that take turns, in floating point: a memory for each of the rows."""
        depth, bits = self.most_interleaved + 1, self.lanes * self.sum_bits
        return Memory(name="sum", depth=depth, bits=bits, copies=self.rows, storage=Storage.LUTRAM)

    @property
    def carry_memory(self) -> Memory:
        """The sums that wait for the channels which fill their words up."""
        bits = self.most_carried * self.sum_bits
        return Memory(
            name="carried", depth=self.carried_words, bits=bits, copies=1, storage=self.pixel_storage
        )

    @property
    def pool_memory(self) -> Memory:
        """Where results are pooled on their way to DDR, a block of rows in each half."""
        depth = self.pool_columns * self.rows
        return Memory(name="lines", depth=depth, bits=self.word_bits, copies=2, storage=Storage.BRAM)

    @property
    def window_lines(self) -> Memory:
        """The last two rows before a block of rows, over which windows move."""
        copies, bits = WINDOW_SIDE - 1, self.word_bits
        return Memory(name="above", depth=self.window_columns, bits=bits, copies=copies, storage=Storage.BRAM)

    @property
    def window_blocks(self) -> Memory:
        """Where what windows give becomes blocks of rows."""
        depth = WINDOW_BLOCKS * self.window_results * self.rows
        return Memory(name="blocks", depth=depth, bits=self.word_bits, copies=1, storage=Storage.BRAM)

    @property
    def window_weight_beats(self) -> int:
        """Beats of the weights of a window over results, its biases not counted."""
        bits = WINDOW_SIDE**2 * self.lanes * self.weight_bits
        return -(-bits // self.weight_beat_bits) if self.window_products else 0

    @property
    def window_fifo(self) -> int:
        """Beats of the FIFO to it: the biases and weights of an output group, and of the next one."""
        return 2 * (self.bias_beats + self.window_weight_beats)

    @property
    def without_windows(self) -> Processor:
        """The same, by which no task moves a window over its results."""
        return replace(self, window_columns=0, window_results=0, window_products=False, window_largest=False)

    @property
    def table_memory(self) -> Memory:
        """The tables of functions, one for each lane."""
        bits = self.activation_bits
        return Memory(name="table", depth=TABLE_ENTRIES, bits=bits, copies=self.lanes, storage=Storage.LUTRAM)

    @property
    def table_beats(self) -> int:
        """Beats of a table."""
        return TABLE_ENTRIES * self.activation_bits // self.weight_beat_bits

    @property
    def weight_memory(self) -> Memory:
        """The banks of weights, one for each beat of a word."""
        depth, bits = 2 * self.weight_depth, self.weight_beat_bits
        return Memory(
            name="filters", depth=depth, bits=bits, copies=self.weight_beats, storage=self.weight_storage
        )
