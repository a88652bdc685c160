"""How a convolution becomes hardware: folding, bank map, word widths, packing and storage of one instance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import Literal

import numpy as np

from hlsgen.base.fixed import FixedType, NumberType, accumulator_type, product_type
from hlsgen.base.short_repr import Brief
from hlsgen.designfile.constraints import NoFit
from hlsgen.hardware.banks import BankMap, Pattern, map_banks
from hlsgen.hardware.ports import WIDEST_STREAM
from hlsgen.hardware.storage import LUTRAM_MOST_WORDS, Memory, choose_storage
from hlsgen.hardware.wave import Wave
from hlsgen.layers import winograd
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.packing import SHORTEST_CHAIN, longest_chain, widths_pack
from hlsgen.layers.stage import LEAST_SUMS
from hlsgen.targets.board import Board

Order = Literal["rows", "channels"]
Algorithm = Literal["direct", "winograd"]
RowColumns = tuple[int, int]
"""Columns of a row in DDR, with its padding, in and out."""
Arithmetic = Literal["float", "fixed", "packed"]

MOST_PARTITIONS = 1024
"""Elements of an array that are partitioned completely; more of them and synthesis slows down or gives up."""
LEAN_LUTRAM_WORDS = 32
"""The deepest LUTRAM where LUTs are short: what a LUT holds a bit of."""
MOST_EXTRA_SLOTS = 16
"""Row slots beyond the fewest that are tried: more slots can mean fewer banks."""
FLOAT_SUM_LATENCY = 12
"""Iterations between two uses of a partial sum in fp32: the adder (7 to 8 cycles) and the memory around it.
"""
FIXED_SUM_LATENCY = 4
BAND_LATENCY = 8
"""Iterations from the write of an element of the band to its first read that the pipeline is allowed to need.
"""
TRANSFER_SLACK = 0.75
"""Share of the cycles in which results leave: DDR needs the rest for refreshes and turns."""
LATENCY_WORDS = 256
"""Words of bursts under way that cover the latency of DDR at one word a cycle."""
MOST_BURST = 64
MOST_OUTSTANDING = 64


@dataclass(frozen=True, kw_only=True)
class Folding:
    """The parallelism of one instance, per iteration.

    rows: output rows; pe: output channels; simd: input channels; fabric_pe: how many of the pe have their
    adders (fp32) or multipliers (fixed point) in logic cells; order: what runs outermost, row tiles (all
    weights on chip) or output channels (the weights of pe channels on chip, the input read again for each of
    them); algorithm: direct, or winograd for two rows by four products of a column instead of six.
    """

    rows: int
    pe: int
    simd: int
    fabric_pe: int = 0
    order: Order = "rows"
    algorithm: Algorithm = "direct"


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


def access_patterns(wave: Wave, in_lanes: int) -> tuple[Pattern, ...]:
    """What the band's read ports and its write ports serve in one iteration."""
    return (
        Pattern.grid("wave", wave.row_offsets, wave.columns_read),
        Pattern.grid("fill", (0,), in_lanes),
    )


def pass_columns(wave: Wave, channel_steps: int, drain_words: int) -> int:
    """Iterations of a pass: the columns, or what its results take to leave, or what a sum needs until its
    next use.
    """
    drain = math.ceil(drain_words / TRANSFER_SLACK)
    columns = max(wave.columns, -(-drain // channel_steps))
    if channel_steps == 1:
        return columns
    latency = FLOAT_SUM_LATENCY if wave.layer.is_float else FIXED_SUM_LATENCY
    return max(columns, latency)


def fill_stalls(wave: Wave, in_lanes: int, tile_iterations: int) -> tuple[int, int]:
    """(in a frame, after its last tile): iterations that only fill, as words arrive one an iteration."""
    channels, _, width = wave.layer.in_shape
    row_words = channels * -(-width // in_lanes)
    rows = wave.rows_by_tile
    waits = np.where(rows > 0, rows * row_words - tile_iterations + BAND_LATENCY, 0).clip(0)
    return int(waits.sum()), int(waits[0])


def mappings(
    layer: Conv2d, folding: Folding, board: Board, rows: RowColumns | None = None
) -> tuple[ConvMapping, ...]:
    """The instance with the least memory, and one with few LUTs in its memories if that is another one.

    rows, and what is raised: as of `map_conv2d`.
    """
    first = map_conv2d(layer, folding, board, rows)
    lean = replace(first, memories=_memories(first, board, lutram_words=LEAN_LUTRAM_WORDS))
    return (first,) if lean.memories == first.memories else (first, lean)


def row_columns(layer: Conv2d, board: Board) -> list[RowColumns]:
    """The columns of a row in DDR, its padding to whole words included, that there may be in and out."""
    ports = ((layer.input_type, layer.in_shape[2]), (layer.result_type, layer.output_shape[2]))
    read, written = (
        sorted({_padded(width, lanes) for lanes in _lane_choices(type_, width, board)})
        for type_, width in ports
    )
    return list(product(read, written))


def map_conv2d(layer: Conv2d, folding: Folding, board: Board, rows: RowColumns | None = None) -> ConvMapping:
    """The instance of `layer` with this folding and the least memory on `board`.

    rows: the columns of a row in DDR, one of `row_columns`; None: whatever suits the folding.
    Raises NoFit: the folding does not divide the layer, or needs more than MOST_PARTITIONS registers in
    an array.
    """
    check_folding(layer, folding)
    bare = bare_mapping(layer, folding)
    read, written = rows or (None, None)
    bare = replace(bare, out_lanes=output_lanes(bare.wave, folding, board, written))
    in_lanes = input_lanes(bare.wave, bare.tile_iterations, board, read)
    mapping = replace(bare, in_lanes=in_lanes, bank_map=_band(bare.wave, folding.simd, in_lanes, board))
    return replace(mapping, memories=_memories(mapping, board))


def bare_mapping(layer: Conv2d, folding: Folding) -> ConvMapping:
    """What follows from the folding alone: a word is an element, and there are no memories yet."""
    arithmetic, chain = choose_arithmetic(layer, folding)
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


def check_folding(layer: Conv2d, folding: Folding) -> None:
    """Raises NoFit, the first of them, where the folding does not fit the layer."""
    for fault in folding_faults(
        layer,
        rows=folding.rows,
        pe=folding.pe,
        simd=folding.simd,
        fabric_pe=folding.fabric_pe,
        algorithm=folding.algorithm,
    ):
        raise fault


def folding_faults(
    layer: Conv2d,
    *,
    rows: int | None,
    pe: int | None,
    simd: int | None,
    fabric_pe: int | None,
    algorithm: Algorithm | None = None,
) -> list[NoFit]:
    """Everything in which the given values do not fit the layer; None is not looked at."""
    faults = []
    channels, height = layer.in_shape[0], layer.output_shape[1]
    if pe and layer.out_channels % pe:
        fix = f"one of {_listed(divisors(layer.out_channels))}"
        faults.append(NoFit(f"pe: {pe} does not divide the {layer.out_channels} output channels", fix, "pe"))
    if simd and channels % simd:
        fix = f"one of {_listed(divisors(channels))}"
        faults.append(NoFit(f"simd: {simd} does not divide the {channels} input channels", fix, "simd"))
    if rows and rows > height:
        faults.append(NoFit(f"rows: {rows} is more than the {height} output rows", f"1 to {height}", "rows"))
    if fabric_pe and fabric_pe > (pe or layer.out_channels):
        limit = pe or layer.out_channels
        faults.append(NoFit(f"fabric_pe: {fabric_pe} is more than pe: {limit}", f"0 to {limit}", "fabric_pe"))
    if algorithm == "winograd":
        faults += _winograd_faults(layer, rows)
    if not faults:
        faults += _word_faults(layer, rows or 1, pe or 1)
    taps = winograd.POINTS * layer.kernel[1] if algorithm == "winograd" else layer.taps
    weights = (pe or 1) * (simd or 1) * taps
    if not faults and weights > MOST_PARTITIONS:
        given = f"pe: {pe or 1} with simd: {simd or 1}"
        message = f"{given} needs {weights} weights at once, more than {MOST_PARTITIONS}"
        most = MOST_PARTITIONS // taps
        fix = f"pe x simd of at most {most}; rows adds parallelism without more weights"
        faults.append(NoFit(message, fix, "pe" if pe else None))
    return faults


def _winograd_faults(layer: Conv2d, rows: int | None) -> list[NoFit]:
    """Why Winograd's algorithm is none for the layer, or for so many rows; empty if it is one."""
    if not winograd.fits(layer):
        message = (
            "algorithm: winograd is for fixed point, kernels of three rows with stride and dilation 1 along "
            "the rows, and inputs of up to 17 bits by weights of up to 16"
        )
        return [NoFit(message, "algorithm: direct", "algorithm")]
    if layer.output_shape[1] < winograd.ROWS:
        return [
            NoFit("algorithm: winograd computes two rows at a time, and there is one", "direct", "algorithm")
        ]
    if rows and rows % winograd.ROWS:
        return [NoFit(f"rows: {rows} is odd, and winograd computes rows in pairs", "an even number", "rows")]
    return []


def _word_faults(layer: Conv2d, rows: int, pe: int) -> list[NoFit]:
    """Why a column of results, a word of a stream, is too wide; empty if it is not."""
    element = bits_of(layer.result_type)
    bits = rows * pe * element
    if bits <= WIDEST_STREAM:
        return []
    message = f"rows: {rows} with pe: {pe} makes words of {bits:,} bits, more than {WIDEST_STREAM:,}"
    fix = f"rows x pe of at most {WIDEST_STREAM // element}; simd adds parallelism without wider words"
    return [NoFit(message, fix, "rows" if rows > 1 else "pe")]


def choose_arithmetic(layer: Conv2d, folding: Folding) -> tuple[Arithmetic, int]:
    """How products are built, and the length of a packed chain (0 where nothing is packed)."""
    if layer.is_float:
        return "float", 0
    assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
    in_dsp = folding.pe - folding.fabric_pe
    if folding.algorithm == "winograd":
        terms, chain = folding.simd * layer.kernel[1], winograd.longest_chain(layer, folding.simd)
        packs = in_dsp and folding.rows > winograd.ROWS and chain >= min(SHORTEST_CHAIN, terms)
        return ("packed", chain) if packs else ("fixed", 0)
    if in_dsp and in_dsp % 2 == 0 and widths_pack(layer.input_type, layer.weight_type):
        chain = longest_chain(layer, folding.simd, folding.pe)
        if chain >= min(SHORTEST_CHAIN, folding.simd * layer.taps):
            return "packed", chain
    return "fixed", 0


def input_lanes(wave: Wave, tile_iterations: int, board: Board, columns: int | None = None) -> int:
    """Neighbouring columns of a word: a power of two, the fewest with which no tile (or the least time) waits
    for its rows.
    """
    choices = _lane_choices(wave.layer.input_type, wave.layer.in_shape[2], board, columns)
    return min(choices, key=lambda lanes: (fill_stalls(wave, lanes, tile_iterations), lanes))


def output_lanes(wave: Wave, folding: Folding, board: Board, padded: int | None = None) -> int:
    """Neighbouring columns of an output word: the fewest with which a pass is not longer than its columns."""
    layer = wave.layer
    channel_steps = layer.in_shape[0] // folding.simd
    width = layer.output_shape[2]

    def columns(lanes: int) -> int:
        return pass_columns(wave, channel_steps, folding.rows * folding.pe * -(-width // lanes))

    choices = _lane_choices(layer.result_type, width, board, padded)
    return min(choices, key=lambda lanes: (columns(lanes), lanes))


def _lane_choices(type_: NumberType, width: int, board: Board, columns: int | None = None) -> list[int]:
    """Powers of two up to the port's width; more than a row has columns would only be padding.

    columns: those of a row with its padding; None: any.
    """
    most = max(1, board.memory.port_bits // type_.container_bits)
    found = [1 << power for power in range(most.bit_length()) if power == 0 or 1 << power - 1 < width]
    return [lanes for lanes in found if columns in (None, _padded(width, lanes))]


def _padded(width: int, lanes: int) -> int:
    return -(-width // lanes) * lanes


@lru_cache(maxsize=4096)
def _fewest_banks(patterns: tuple[Pattern, ...], slots: int) -> BankMap | None:
    return map_banks(patterns, slots)


def _band(wave: Wave, simd: int, in_lanes: int, board: Board) -> BankMap:
    """The bank map whose memory is cheapest, over the number of row slots."""
    fewest = max(wave.slots_needed, wave.row_offsets[-1] + 1)
    return _cheapest_band(access_patterns(wave, in_lanes), fewest, _Band.of(wave.layer, simd), board)


@dataclass(frozen=True, kw_only=True)
class _Band:
    """What is kept of each row: `width` columns, `words` a column in each of `simd` memories."""

    width: int
    words: int
    bits: int
    simd: int

    @classmethod
    def of(cls, layer: Conv2d, simd: int) -> _Band:
        channels, _, width = layer.in_shape
        return cls(width=width, words=channels // simd, bits=bits_of(layer.input_type), simd=simd)

    def memory(self, bank_map: BankMap, board: Board) -> Memory:
        depth = bank_map.slots * self.words * -(-self.width // bank_map.banks)
        # one word deep would be a register, but the band is indexed
        return choose_storage("band", max(2, depth), self.bits, self.simd * bank_map.banks, board)


@lru_cache(maxsize=4096)
def _cheapest_band(patterns: tuple[Pattern, ...], fewest: int, band: _Band, board: Board) -> BankMap:
    """fewest: row slots, of which some more may need fewer banks."""
    best: tuple[float, bool, int, int] | None = None
    chosen: BankMap | None = None
    for slots in range(fewest, fewest + min(fewest, MOST_EXTRA_SLOTS) + 1):
        found = _fewest_banks(patterns, slots)
        if found is None:
            continue
        memory = band.memory(found, board)
        share = max(
            memory.bram18 / board.total.bram18,
            memory.lut / board.total.lut,
            memory.uram / max(1, board.total.uram),
        )
        merit = share, found.step is None, found.banks, slots
        if best is None or merit < best:
            best, chosen = merit, found
    assert chosen is not None, "slots beyond the reach of the wave always have a map"
    return chosen


def _memories(
    mapping: ConvMapping, board: Board, lutram_words: int = LUTRAM_MOST_WORDS
) -> tuple[Memory, ...]:
    """lutram_words: memories that are deeper lie in blocks, whatever share those are of the board's."""
    layer, folding = mapping.layer, mapping.folding
    memories = [_Band.of(layer, folding.simd).memory(mapping.bank_map, board)]
    stored = partial(choose_storage, board=board, lutram_words=lutram_words)
    memories.append(
        stored("weight", mapping.weight_steps, bits_of(layer.weight_type), folding.pe * mapping.terms)
    )
    if mapping.channel_steps > 1:
        bits = bits_of(layer.accumulator)
        memories.append(stored("partial", mapping.sums, bits, folding.rows * folding.pe))
    lanes = bits_of(layer.result_type) * mapping.out_lanes
    memories.append(stored("rows", 2 * mapping.out_words, lanes, folding.rows * folding.pe))
    if layer.bias.size:
        memories.append(stored("bias", mapping.filter_steps, bits_of(layer.bias_type), folding.pe))
    return tuple(memories)


def bits_of(type_: NumberType) -> int:
    return type_.width if isinstance(type_, FixedType) else type_.container_bits


def divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


def _listed(values: list[int]) -> str:
    return ", ".join(str(v) for v in values)


def burst_limit(shortest: int) -> int:
    """The m_axi burst length for bursts of at least `shortest` words: a power of two."""
    return min(MOST_BURST, 1 << (shortest - 1).bit_length())


def outstanding(shortest: int) -> int:
    """Bursts under way that cover the latency of DDR."""
    return max(2, min(MOST_OUTSTANDING, -(-LATENCY_WORDS // shortest)))
