"""Resources of one instance. DSP, BRAM18 and URAM follow from the emitted structure; LUT and FF are amounts
of the terms of hlsgen/targets/terms.py, which predict the routed design unless asked for csynth's figures.

Sources of the DSPs: floating-point cores as hlsgen/layers/float_cores.py has them; RAM and FIFO shapes of the
primitives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache

from hlsgen.base.fixed import FixedType
from hlsgen.base.floating import FLOAT_BITS, HALF_BITS
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.hardware.storage import Memory, Storage
from hlsgen.layers import winograd
from hlsgen.layers.float_cores import FLOAT_CORES, FloatCores
from hlsgen.layers.packing import PACKED_BITS, QUAD, signed_bits
from hlsgen.targets.terms import Terms

KERNEL_ADDERS = 3  # that bring three weights to the points of Winograd's algorithm


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What something takes of a board, or has: LUT, FF, BRAM18, URAM, DSP."""

    lut: int = 0
    ff: int = 0
    bram18: int = 0
    uram: int = 0
    dsp: int = 0

    def __add__(self, other: Resources) -> Resources:
        # field by field: searches add these up a million times
        return Resources(
            lut=self.lut + other.lut,
            ff=self.ff + other.ff,
            bram18=self.bram18 + other.bram18,
            uram=self.uram + other.uram,
            dsp=self.dsp + other.dsp,
        )

    @classmethod
    def sum(cls, parts: Iterable[Resources]) -> Resources:
        lut = ff = bram18 = uram = dsp = 0
        for part in parts:
            lut += part.lut
            ff += part.ff
            bram18 += part.bram18
            uram += part.uram
            dsp += part.dsp
        return cls(lut=lut, ff=ff, bram18=bram18, uram=uram, dsp=dsp)

    def times(self, count: int) -> Resources:
        return Resources(**{f.name: getattr(self, f.name) * count for f in fields(self)})


def cells(terms: Terms, name: str, **amounts: float) -> Resources:
    """The LUTs and FFs of a term, by how much there is of each of its features."""
    lut, ff = terms.cells(name, **amounts)
    return Resources(lut=round(lut), ff=round(ff))


def mux_luts(inputs: int) -> int:
    """LUTs of an n:1 multiplexer of one bit: 4:1 a LUT6."""
    return -(-(inputs - 1) // 3)


def multiplexers(terms: Terms, count: int, inputs: int, bits: int) -> Resources:
    """`count` multiplexers of words of `bits` bits."""
    if inputs < 2:
        return Resources()
    return cells(terms, "multiplexer", inputs=count * inputs, lut6=count * bits * mux_luts(inputs))


def memory_resources(terms: Terms, memory: Memory) -> Resources:
    """A memory with its copies, and the registers behind it."""
    if memory.storage is Storage.REGISTER:
        return cells(terms, "register", bits=memory.ff)
    bits = memory.bits * memory.copies
    blocks = bits * -(-memory.depth // 64)
    name = "memory_lutram" if memory.storage is Storage.LUTRAM else "memory_block"
    taken = cells(terms, name, one=memory.copies, bits=bits, blocks=blocks, primitives=memory.lut)
    return taken + Resources(bram18=memory.bram18, uram=memory.uram)


def arithmetic_resources(mapping: ConvMapping, terms: Terms) -> Resources:
    """Multipliers and adders: what follows from layer and folding alone."""
    folding, layer = mapping.folding, mapping.layer
    sums = folding.rows * folding.pe
    fabric_sums = folding.rows * folding.fabric_pe
    if layer.is_float:
        cores = layer.float_cores
        operands = (folding.rows + folding.pe) * mapping.terms
        taken = float_products(terms, sums * mapping.terms, fabric_sums * mapping.terms, cores)
        return taken + conversions(terms, cores, widened=operands, narrowed=sums)
    assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
    accumulate = sums * (layer.accumulator.width + layer.result_type.width)
    rest = adders(terms, 2 * sums, accumulate) + cells(terms, "register", bits=accumulate)
    if mapping.channel_steps > 1:  # a running sum is read as soon as it can be, and waits for the products
        rest += cells(terms, "cascaded_product", delays=sums * layer.accumulator.width)
    if folding.algorithm == "winograd":
        return rest + winograd_products(mapping, terms)
    a, w = signed_bits(layer.input_type), signed_bits(layer.weight_type)
    dsp_sums = sums - fabric_sums
    rest += fabric_products(terms, fabric_sums * mapping.terms, a, w)
    if mapping.arithmetic == "packed":
        pairs = PackedSums(
            pairs=dsp_sums // 2,
            terms=mapping.terms,
            chain=mapping.chain,
            bits=mapping.dot.width,
            pair_words=dsp_sums // folding.rows // 2 * mapping.terms,
            factor_words=folding.rows * mapping.terms,
            factor_bits=a,
        )
        return rest + packed_products(terms, pairs) + packing(terms, pairs.pair_words, w)
    words = dsp_sums // folding.rows * mapping.terms * w + folding.rows * mapping.terms * a
    return rest + shared_products(terms, dsp_sums * mapping.terms, a, w, waiting=words)


def winograd_products(mapping: ConvMapping, terms: Terms) -> Resources:
    """The sums of Winograd's points: rows and weights brought to the points, products, and rows of them."""
    folding, layer = mapping.folding, mapping.layer
    v, u = winograd.row_bits(layer.input_type), winograd.factor_bits(layer.weight_type)
    pairs, columns = folding.rows // winograd.ROWS, folding.simd * layer.stride[1]
    at_points, point_terms = winograd.POINTS * mapping.row_groups, mapping.point_terms
    dsp_pe = folding.pe - folding.fabric_pe
    bits = mapping.dot.width + 1
    to_points = columns * pairs * winograd.POINTS
    of_kernel = folding.pe * point_terms * KERNEL_ADDERS
    of_rows = folding.pe * pairs * winograd.POINTS
    total = (
        adders(terms, to_points, to_points * v)
        + adders(terms, of_kernel, of_kernel * u)
        + adders(terms, of_rows, of_rows * bits)
        + cells(terms, "register", bits=to_points * v + of_rows * bits)
        + fabric_products(terms, folding.fabric_pe * pairs * winograd.POINTS * point_terms, v, u)
    )
    if mapping.arithmetic != "packed":
        words = at_points * point_terms * v + dsp_pe * winograd.POINTS * point_terms * u
        return total + shared_products(terms, dsp_pe * at_points * point_terms, v, u, waiting=words)
    apart = at_points * point_terms if folding.fabric_pe else 0  # words taken apart for logic cells
    packed = PackedSums(
        pairs=dsp_pe * at_points,
        terms=point_terms,
        chain=mapping.chain,
        bits=bits,
        pair_words=at_points * point_terms,
        factor_words=dsp_pe * winograd.POINTS * point_terms,
        factor_bits=u,
    )
    beside = packing(terms, columns * at_points, v) + adders(terms, apart, apart * (v + 1))
    return total + beside + packed_products(terms, packed)


def comparisons(terms: Terms, count: int, bits: int) -> Resources:
    """`count` comparisons of words of `bits` bits."""
    return cells(terms, "compare", one=count, bits=count * bits)


def adders(terms: Terms, count: int, bits: int) -> Resources:
    """`count` adders of `bits` bits together."""
    return cells(terms, "adder", one=count, bits=bits)


def float_products(terms: Terms, products: int, in_fabric: int, cores: FloatCores = FLOAT_CORES) -> Resources:
    """`products` multipliers and as many adders (the tree's and the running sum's), `in_fabric` of them
    without DSP, and the registers behind them.
    """
    in_dsp = products - in_fabric
    multiplier, adder_dsp, adder_fabric = cores.terms
    return (
        Resources(dsp=products * cores.multiplier_dsp + in_dsp * cores.adder_dsp)
        + cells(terms, multiplier, one=products)
        + cells(terms, "register", bits=products * 2 * cores.sums.width)
        + cells(terms, adder_dsp, one=in_dsp)
        + cells(terms, adder_fabric, one=in_fabric)
    )


def float_multipliers(terms: Terms, count: int, cores: FloatCores = FLOAT_CORES) -> Resources:
    """Multipliers with the registers behind them."""
    return (
        Resources(dsp=count * cores.multiplier_dsp)
        + cells(terms, cores.terms[0], one=count)
        + cells(terms, "register", bits=count * cores.sums.width)
    )


def float_adders(terms: Terms, count: int, cores: FloatCores = FLOAT_CORES) -> Resources:
    """Adders in DSPs with the registers behind them."""
    return (
        Resources(dsp=count * cores.adder_dsp)
        + cells(terms, cores.terms[1], one=count)
        + cells(terms, "register", bits=count * cores.sums.width)
    )


def conversions(terms: Terms, cores: FloatCores, *, widened: int, narrowed: int) -> Resources:
    """What half operands need that are multiplied in float32, and results that become half again.

    By structure: an exponent of 8 bits is made by an adder and chosen against zero; on the way back 16 bits
    are rounded by an adder and chosen against zero and infinity. Each with a register.
    """
    if cores.arithmetic != "widened":
        return Resources()
    exponent, halves = FLOAT_BITS - 24, HALF_BITS
    return (
        adders(terms, widened + narrowed, widened * exponent + narrowed * halves)
        + cells(terms, "select", bits=widened * exponent + narrowed * 2 * halves)
        + cells(terms, "register", bits=(widened + narrowed) * halves)
    )


def shared_products(terms: Terms, count: int, a: int, w: int, *, waiting: int) -> Resources:
    """Multiply-accumulates of a x w bits along cascades of DSPs, whose different operands have `waiting` bits
    together: each is registered once for all products that read it.
    """
    if terms.dsp.blocks(a, w) > 1:
        return dsp_products(terms, count, a, w)
    return Resources(dsp=count) + cells(terms, "cascaded_product", one=count, delays=waiting)


def dsp_products(terms: Terms, count: int, a: int, w: int) -> Resources:
    """Multiply-accumulates of a x w bits in DSPs, along a chain."""
    each = terms.dsp.blocks(a, w)
    bits = count * (a + w)
    return Resources(dsp=count * each) + cells(
        terms, "dsp_product", one=count, bits=bits, tiles=bits * (each - 1)
    )


def lut_products(terms: Terms, count: int, a: int, w: int) -> Resources:
    """Products of a x w bits without DSP; with one bit, a choice of the other operand."""
    rows = (2 * -(-(a + w) // 6) - 1) * (a + w) if min(a, w) > 1 else max(a, w)
    square = max(a, w) ** 2 if min(a, w) > 1 else max(a, w)
    bits = count * (a + w)
    return cells(terms, "lut_product", one=count, square=count * square, rows=count * rows, bits=bits)


@dataclass(frozen=True, kw_only=True)
class PackedSums:
    """Pairs of sums whose products share DSPs: words of two numbers side by side times one factor.

    pairs: of sums; terms: products of each; chain: products until the lanes are taken apart; bits: of a sum;
    pair_words, factor_words: different operands of them all, which wait for their place in the cascade.
    """

    pairs: int
    terms: int
    chain: int
    bits: int
    pair_words: int
    factor_words: int
    factor_bits: int


def packed_products(terms: Terms, sums: PackedSums) -> Resources:
    """The DSPs of `sums`, their operands' delays, and the lanes taken apart.

    A word is registered once for all products that read it in the same cycle. After each chain the upper lane
    takes back what it lent; the sums of all chains but the first are added.
    """
    products = sums.pairs * sums.terms
    waiting = sums.pair_words * PACKED_BITS + sums.factor_words * sums.factor_bits
    chunks = sums.pairs * -(-sums.terms // sums.chain)
    added = chunks + 2 * (chunks - sums.pairs)
    return (
        Resources(dsp=products)
        + cells(terms, "cascaded_product", one=products, delays=waiting)
        + adders(terms, added, added * sums.bits)
        + cells(terms, "register", bits=2 * chunks * sums.bits)
    )


@dataclass(frozen=True, kw_only=True)
class QuadSums:
    """Fours of sums whose products share DSPs: words of some weights times those of one or two inputs.

    quads: fours of sums; terms: products of each sum; chain: products until the lanes are taken apart; bits:
    of a sum; lane: bits between lanes; words, factors: different operands of them all, of so many bits.
    """

    quads: int
    terms: int
    chain: int
    bits: int
    lane: int
    words: int
    word_bits: int
    factors: int
    factor_bits: int


def quad_products(terms: Terms, sums: QuadSums) -> Resources:
    """The DSPs of `sums`, their operands' delays, and the lanes taken apart.

    After each chain all lanes but the lowest take back what they lent; the sums of all chains but the first
    are added, and take it back by the way.
    """
    products = sums.quads * sums.terms
    waiting = sums.words * sums.word_bits + sums.factors * sums.factor_bits
    chunks = sums.quads * -(-sums.terms // sums.chain)
    lent, added = sums.quads * (QUAD - 1), QUAD * (chunks - sums.quads)
    return (
        Resources(dsp=products)
        + cells(terms, "cascaded_product", one=products, delays=waiting)
        + adders(terms, lent + added, lent * sums.lane + added * sums.bits)
        + cells(terms, "register", bits=QUAD * chunks * sums.bits)
    )


def packing(terms: Terms, words: int, bits: int) -> Resources:
    """Two numbers of `bits` bits side by side in each of `words` words: the upper one lends to the lower."""
    return adders(terms, words, words * (bits + 1))


def fabric_products(terms: Terms, products: int, a: int, w: int) -> Resources:
    """A multiplier and its adder in the sum, each product."""
    adders = cells(terms, "adder", one=products, bits=products * (a + w + 4))
    return lut_products(terms, products, a, w) + adders


def counted_products(
    terms: Terms, sums: int, a: int, w: int, bits: int, products: int, pixels: int, groups: int
) -> Resources:
    """`sums` sums of `products` products of a x w bits, counted bit by bit; w 0: weights -1 and 1.

    As templates/hls/hlsgen/bit_sums.h counts: a function of six bits is a LUT. The counts of all pairs of
    bits are added up; with weights -1 and 1 the inputs' bits are counted once more, for all channels.
    """
    planes = a * max(1, w)
    found = _cells_of_products(products).times(sums * planes)
    added = CountCells(adders=1, bits=bits).times(sums * (planes - 1))
    if not w:
        shared = _cells_of_count(products).times(a) + CountCells(adders=a - 1, bits=(a - 1) * bits)
        added = added + CountCells(adders=1, bits=bits).times(sums) + shared.times(pixels * groups)
    found = found + added
    taken = cells(terms, "bit_count", one=found.functions) + adders(terms, found.adders, found.bits)
    return taken + cells(terms, "register", bits=sums * bits)


def constant_products(terms: Terms, copies: int, count: int, bits: int, held: int) -> Resources:
    """`copies` times `count` adders of `bits` bits together, with registers of `held` bits."""
    return adders(terms, copies * count, copies * bits) + cells(terms, "register", bits=copies * held)


@dataclass(frozen=True, kw_only=True)
class CountCells:
    """What counts bits: functions of up to six of them, adders, and the bits of these together."""

    functions: int = 0
    adders: int = 0
    bits: int = 0

    def __add__(self, other: CountCells) -> CountCells:
        return CountCells(
            functions=self.functions + other.functions,
            adders=self.adders + other.adders,
            bits=self.bits + other.bits,
        )

    def times(self, count: int) -> CountCells:
        return CountCells(
            functions=self.functions * count, adders=self.adders * count, bits=self.bits * count
        )


def _cells_of_products(n: int) -> CountCells:
    """A count of how many of n products of two bits are one: two functions for each three."""
    threes = -(-n // 3)
    joined = CountCells(adders=1, bits=n.bit_length()) if threes > 1 else CountCells()
    return CountCells(functions=2 * threes) + _cells_of_count(threes).times(2) + joined


@lru_cache(maxsize=1024)
def _cells_of_count(n: int) -> CountCells:
    """A count of how many of n bits are one: three functions for each six, then of these the same."""
    if n == 1:
        return CountCells()
    sixes = -(-n // 6)
    joined = CountCells(adders=2, bits=2 * n.bit_length() - 1) if sixes > 1 else CountCells()
    return CountCells(functions=min(n, 3) * sixes) + _cells_of_count(sixes).times(3) + joined


def axi_ports(terms: Terms, count: int, bits: int) -> Resources:
    """Adapters of `count` m_axi ports with `bits` data bits together, and their ports in the interconnect."""
    return cells(terms, "axi_adapter", one=count, bits=bits) + cells(terms, "interconnect", one=count)
