"""How a convolution becomes hardware: folding, bank map, word widths, packing and storage of one instance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

from hlsgen.base.fixed import FixedType, accumulator_type, product_type
from hlsgen.base.short_repr import Brief
from hlsgen.hardware.banks import BankMap, Pattern
from hlsgen.hardware.conv_band import Band, access_patterns, cheapest_band
from hlsgen.hardware.conv_folding import Folding, check_folding
from hlsgen.hardware.conv_words import (
    BAND_LATENCY,
    RowColumns,
    fill_stalls,
    input_lanes,
    output_lanes,
    pass_columns,
)
from hlsgen.hardware.storage import LUTRAM_MOST_WORDS, Memory, choose_storage
from hlsgen.hardware.wave import Wave
from hlsgen.layers import winograd
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.float_cores import FloatArithmetic
from hlsgen.layers.packing import PACKED_BITS, SHORTEST_CHAIN, longest_chain, widths_pack
from hlsgen.layers.stage import LEAST_SUMS
from hlsgen.targets.board import Board
from hlsgen.targets.device_family import Dsp

Arithmetic = FloatArithmetic | Literal["fixed", "packed"]

LEAN_LUTRAM_WORDS = 32
"""The deepest LUTRAM where LUTs are short: what a LUT holds a bit of."""


@dataclass(frozen=True, kw_only=True)
class ConvMapping(Brief):
    """One instance of a convolution. Everything that the template and the cost model need follows from the
    fields.
    """

    layer: Conv2d
    folding: Folding
    bank_map: BankMap
    in_lanes: int
    out_lanes: int
    arithmetic: Arithmetic
    chain: int
    memories: tuple[Memory, ...]

    @cached_property
    def wave(self) -> Wave:
        return Wave(self.layer, self.folding.rows)

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        return access_patterns(self.wave, self.in_lanes)

    @property
    def filter_steps(self) -> int:
        """NF: steps over the output channels."""
        return self.layer.out_channels // self.folding.pe

    @property
    def channel_steps(self) -> int:
        """CF: steps over the input channels."""
        return self.layer.in_shape[0] // self.folding.simd

    @property
    def terms(self) -> int:
        """Products of one sum in one iteration."""
        return self.folding.simd * self.layer.taps

    @property
    def row_groups(self) -> int:
        """Pairs of rows of a Winograd convolution, or pairs of those where two share a multiplier."""
        pairs = self.folding.rows // winograd.ROWS
        return -(-pairs // 2) if self.arithmetic == "packed" else pairs

    @property
    def point_terms(self) -> int:
        """Products of a Winograd convolution that are summed in an iteration, at each point."""
        return self.folding.simd * self.layer.kernel[1]

    @property
    def macs_per_iteration(self) -> int:
        return self.folding.rows * self.folding.pe * self.terms

    @property
    def columns(self) -> int:
        """Iterations of a pass over a row."""
        return pass_columns(self.wave, self.channel_steps, self.drain_words)

    @property
    def sums(self) -> int:
        """Words of the memory of an output row's and channel's running sums."""
        return max(LEAST_SUMS, self.columns if self.lone_sum else self.layer.output_shape[2])

    @property
    def lone_sum(self) -> bool:
        """Whether an output row has a single column, so that those outside the image get sums as well."""
        return self.layer.output_shape[2] == 1

    @property
    def tile_iterations(self) -> int:
        """Iterations that compute a tile, all output channels of the order's inner loops included."""
        inner = self.filter_steps if self.folding.order == "rows" else 1
        return inner * self.channel_steps * self.columns

    @cached_property
    def stalls(self) -> tuple[int, int]:
        """Iterations in which a finished tile waits for the rows of the next: in a frame, and of those after
        its last tile.
        """
        return fill_stalls(self.wave, self.in_lanes, self.tile_iterations)

    @property
    def band_distance(self) -> int:
        """The fewest iterations from the write of an element of the band to a read of it, in the compute
        loop.

        Words arrive group by group (SIMD channels, rows, words of a row) from a tile's first iteration on;
        group g is first read g passes into the next tile. The least is at an end of both sequences, since
        both grow evenly.
        """
        layer, wave = self.layer, self.wave
        least = self.tile_iterations
        for rows in set(wave.rows_by_tile.tolist()) - {0}:
            group_words = self.folding.simd * rows * self.in_words
            words = group_words * self.channel_steps
            stalled = words - self.tile_iterations + BAND_LATENCY
            length = self.tile_iterations + max(0, stalled)
            for group in {0, self.channel_steps - 1}:
                for word in {0, self.in_words - 1}:
                    written = (group + 1) * group_words - self.in_words + word
                    column = (word * self.in_lanes + layer.padding[1]) // layer.stride[1]
                    least = min(least, length - written + group * self.columns + column)
        return least

    @property
    def input_burst(self) -> int:
        """Words of the shortest burst of the input: the rows of a tile of one channel."""
        rows = self.wave.rows_by_tile
        # every window may lie in the padding: then there is no burst
        return int(rows[rows > 0].min(initial=self.layer.in_shape[1])) * self.in_words

    @property
    def output_burst(self) -> int:
        """Words of the shortest burst of the output."""
        last = self.layer.output_shape[1] - (self.wave.tiles - 1) * self.folding.rows
        return last * self.out_words

    @property
    def weight_steps(self) -> int:
        return self.channel_steps * (self.filter_steps if self.folding.order == "rows" else 1)

    @property
    def load_times(self) -> int:
        """How often the input is read from DDR."""
        return 1 if self.folding.order == "rows" else self.filter_steps

    @property
    def in_words(self) -> int:
        """Words of a row of the input in DDR."""
        return -(-self.layer.in_shape[2] // self.in_lanes)

    @property
    def out_words(self) -> int:
        return -(-self.layer.output_shape[2] // self.out_lanes)

    @property
    def drain_words(self) -> int:
        """Output words that a pass over all input channels yields."""
        return self.folding.rows * self.folding.pe * self.out_words

    @property
    def drain_steps(self) -> int:
        return max(self.drain_words, self.layer.output_shape[2])

    @property
    def column_words(self) -> int:
        return -(-self.layer.in_shape[2] // self.bank_map.banks)

    def memory(self, name: str) -> Memory | None:
        return next((memory for memory in self.memories if memory.name == name), None)

    @property
    def product(self) -> FixedType:
        assert isinstance(self.layer.input_type, FixedType) and isinstance(self.layer.weight_type, FixedType)
        return product_type(self.layer.input_type, self.layer.weight_type)

    @property
    def dot(self) -> FixedType:
        """The type of the exact sum of an iteration's products."""
        assert isinstance(self.layer.input_type, FixedType) and isinstance(self.layer.weight_type, FixedType)
        return accumulator_type(self.layer.input_type, self.layer.weight_type, self.terms)


def mappings(
    layer: Conv2d, folding: Folding, board: Board, rows: RowColumns | None = None
) -> tuple[ConvMapping, ...]:
    """The instance with the least memory, and one with few LUTs in its memories if that is another one.

    rows, and what is raised: as of `map_conv2d`.
    """
    first = map_conv2d(layer, folding, board, rows)
    lean = replace(first, memories=_memories(first, board, lutram_words=LEAN_LUTRAM_WORDS))
    return (first,) if lean.memories == first.memories else (first, lean)


def map_conv2d(layer: Conv2d, folding: Folding, board: Board, rows: RowColumns | None = None) -> ConvMapping:
    """The instance of `layer` with this folding and the least memory on `board`.

    rows: the columns of a row in DDR, one of `row_columns`; None: whatever suits the folding.
    Raises NoFit: the folding does not divide the layer, or needs more than MOST_PARTITIONS registers in
    an array.
    """
    check_folding(layer, folding)
    bare = bare_mapping(layer, folding, board.multiplier)
    read, written = rows or (None, None)
    bare = replace(bare, out_lanes=output_lanes(bare.wave, folding, board, written))
    in_lanes = input_lanes(bare.wave, bare.tile_iterations, board, read)
    mapping = replace(
        bare, in_lanes=in_lanes, bank_map=cheapest_band(bare.wave, folding.simd, in_lanes, board)
    )
    return replace(mapping, memories=_memories(mapping, board))


def bare_mapping(layer: Conv2d, folding: Folding, dsp: Dsp) -> ConvMapping:
    """What follows from the folding alone: a word is an element, and there are no memories yet."""
    arithmetic, chain = choose_arithmetic(layer, folding, dsp)
    return ConvMapping(
        layer=layer,
        folding=folding,
        bank_map=BankMap(1, (0,)),
        in_lanes=1,
        out_lanes=1,
        arithmetic=arithmetic,
        chain=chain,
        memories=(),
    )


def choose_arithmetic(layer: Conv2d, folding: Folding, dsp: Dsp) -> tuple[Arithmetic, int]:
    """How products are built, and the length of a packed chain (0 where nothing is packed).

    The words of Winograd's points take all of the widest port, so a narrower one has none of them.
    """
    if layer.is_float:
        return layer.float_cores.arithmetic, 0
    assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
    in_dsp = folding.pe - folding.fabric_pe
    if folding.algorithm == "winograd":
        terms, chain = folding.simd * layer.kernel[1], winograd.longest_chain(layer, folding.simd)
        packs = in_dsp and folding.rows > winograd.ROWS and chain >= min(SHORTEST_CHAIN, terms)
        return ("packed", chain) if packs and dsp.wide >= PACKED_BITS else ("fixed", 0)
    if in_dsp and in_dsp % 2 == 0 and widths_pack(layer.input_type, layer.weight_type, dsp.wide):
        chain = longest_chain(layer, folding.simd, folding.pe)
        if chain >= min(SHORTEST_CHAIN, folding.simd * layer.taps):
            return "packed", chain
    return "fixed", 0


def _memories(
    mapping: ConvMapping, board: Board, lutram_words: int = LUTRAM_MOST_WORDS
) -> tuple[Memory, ...]:
    """lutram_words: memories that are deeper lie in blocks, whatever share those are of the board's."""
    layer, folding = mapping.layer, mapping.folding
    memories = [Band.of(layer, folding.simd).memory(mapping.bank_map, board)]
    stored = partial(choose_storage, board=board, lutram_words=lutram_words)
    memories.append(
        stored("weight", mapping.weight_steps, layer.weight_type.width, folding.pe * mapping.terms)
    )
    if mapping.channel_steps > 1:
        bits = layer.accumulator.width
        memories.append(stored("partial", mapping.sums, bits, folding.rows * folding.pe))
    lanes = layer.result_type.width * mapping.out_lanes
    memories.append(stored("rows", 2 * mapping.out_words, lanes, folding.rows * folding.pe))
    if layer.bias.size:
        memories.append(stored("bias", mapping.filter_steps, layer.bias_type.width, folding.pe))
    return tuple(memories)
