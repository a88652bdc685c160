"""Resources of one instance. DSP, BRAM18 and URAM follow from the emitted structure; LUT and FF are fitted
terms.

Sources of the terms: fp32 cores from Vitis HLS reports at 300 MHz on UltraScale+ (fmul_32 4 cycles: 3 DSP,
143 FF, 78 LUT; fadd_32 full DSP: 2, 318, 198; fadd_32 no DSP: 0, 243, 338); a LUT multiplier routes to (2 *
ceil((W + A) / 6) - 1) * (W + A) LUTs; RAM and FIFO shapes of the primitives. Multiplexers: a 4:1 per LUT6.
The terms of the DSP chains' operand delays, the AXI adapters and the platform's interconnect are estimates.
LUT predicts the routed design, not csynth, which reports about twice as many.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from hlsgen.fixed import FixedType
from hlsgen.layers.packing import signed_bits
from hlsgen.mapping.conv2d import ConvMapping, bits_of, burst_limit, outstanding
from hlsgen.mapping.storage import bram18_for

LUT_ERROR = 0.3
"""Relative error to expect of a LUT or FF figure until the terms are fitted to more reports."""

FMUL = (3, 78, 143)  # DSP, LUT, FF
FADD_DSP = (2, 198, 318)
FADD_FABRIC = (0, 338, 243)
PACKED_SUM_BITS = 38  # both lanes and the sum's growth
PACK_LUT = 9  # (w1 << 18) + w0: a decrement of the upper weight
CHAIN_DELAY_LUT = 0.75  # of an operand's bit: shift registers that delay it along the DSP chain
CHAIN_DELAY_FF = 1.0
PIPELINE_FF = 2.0  # registers for each operand bit of a multiplier in logic cells
ADDRESS_BITS = 12
CONTROL = (900, 1400)  # LUT, FF: counters and loop control of the four processes, s_axilite
AXI_PORTS = 3
AXI_ADAPTER = (650, 1100)  # LUT, FF of an m_axi adapter of 64 bits or fewer
AXI_BIT = (1.2, 3.0)  # LUT, FF for each data bit of a port
WEIGHT_PORT_WORDS = 128  # 2 bursts of 64
RESULT_FF = 64  # registers behind a floating-point multiplier and its adder
HELD_LUT = 0.5  # a weight register's bit: new weight or old one
CHAIN_ADDER_SHARE = 0.5  # of a chain's adders: those that no DSP takes in
INTERCONNECT = (1300, 2200)  # LUT, FF for each port in the platform's AXI interconnect


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What something takes of a board, or has: LUT, FF, BRAM18, URAM, DSP."""

    lut: int = 0
    ff: int = 0
    bram18: int = 0
    uram: int = 0
    dsp: int = 0

    def __add__(self, other: Resources) -> Resources:
        return Resources(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})

    def times(self, count: int) -> Resources:
        return Resources(**{f.name: getattr(self, f.name) * count for f in fields(self)})


def mux_luts(inputs: int) -> int:
    """LUTs of an n:1 multiplexer of one bit: 4:1 a LUT6."""
    return -(-(inputs - 1) // 3)


def instance_resources(mapping: ConvMapping) -> Resources:
    """One instance, its share of the platform's interconnect included."""
    return _arithmetic(mapping) + _memories(mapping) + _movement(mapping) + _interfaces(mapping)


def _arithmetic(mapping: ConvMapping) -> Resources:
    folding, layer = mapping.folding, mapping.layer
    sums = folding.rows * folding.pe
    fabric_sums = folding.rows * folding.fabric_pe
    if mapping.arithmetic == "float":
        return _float_arithmetic(sums * mapping.terms, fabric_sums * mapping.terms)
    assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
    a, w = signed_bits(layer.input_type), signed_bits(layer.weight_type)
    accumulate = sums * (bits_of(layer.accumulator) + bits_of(layer.result_type))
    rest = Resources(lut=accumulate, ff=accumulate)
    dsp_sums = sums - fabric_sums
    fabric = _fabric_multipliers(fabric_sums * mapping.terms, a, w)
    if mapping.arithmetic == "packed":
        return rest + fabric + _packed_multipliers(mapping, dsp_sums // 2, a, w)
    return rest + fabric + _dsp_multipliers(dsp_sums * mapping.terms, a, w)


def _float_arithmetic(products: int, in_fabric: int) -> Resources:
    """`products` multipliers and as many adders (the tree's and the running sum's), `in_fabric` of them
    without DSP.
    """
    in_dsp = products - in_fabric
    return Resources(
        dsp=products * FMUL[0] + in_dsp * FADD_DSP[0],
        lut=products * FMUL[1] + in_dsp * FADD_DSP[1] + in_fabric * FADD_FABRIC[1],
        ff=products * (FMUL[2] + RESULT_FF) + in_dsp * FADD_DSP[2] + in_fabric * FADD_FABRIC[2],
    )


def dsps_of_product(a: int, w: int) -> int:
    """DSP48E2 of a signed a x w bit multiplication: 27 x 18 tiles, all but the first ones a bit narrower."""
    tiles = [-(-max(1, x - 1) // 26) * -(-max(1, y - 1) // 17) for x, y in ((a, w), (w, a))]
    return min(tiles)


def _dsp_multipliers(products: int, a: int, w: int) -> Resources:
    each = dsps_of_product(a, w)
    return Resources(
        dsp=products * each,
        lut=int(products * (CHAIN_DELAY_LUT + CHAIN_ADDER_SHARE) * (a + w)) + products * (each - 1) * (a + w),
        ff=int(products * CHAIN_DELAY_FF * (a + w)),
    )


def _packed_multipliers(mapping: ConvMapping, pairs: int, a: int, w: int) -> Resources:
    products = pairs * mapping.terms
    chunks = pairs * -(-mapping.terms // mapping.chain)
    separate = chunks * (2 * mapping.dot.width + 18)
    return Resources(
        dsp=products,
        lut=int(products * (PACK_LUT + CHAIN_DELAY_LUT * (a + 2 * w) + CHAIN_ADDER_SHARE * PACKED_SUM_BITS))
        + separate,
        ff=int(products * CHAIN_DELAY_FF * (a + 27)) + separate,
    )


def _fabric_multipliers(products: int, a: int, w: int) -> Resources:
    """A multiplier and its adder in the sum, each product."""
    multiplier = (2 * -(-(a + w) // 6) - 1) * (a + w) if min(a, w) > 1 else max(a, w)
    adder = a + w + 4
    lut = products * (multiplier + adder)
    return Resources(lut=lut, ff=int(products * PIPELINE_FF * (a + w)))


def _memories(mapping: ConvMapping) -> Resources:
    return Resources(
        lut=sum(memory.lut for memory in mapping.memories),
        ff=sum(memory.ff for memory in mapping.memories),
        bram18=sum(memory.bram18 for memory in mapping.memories),
        uram=sum(memory.uram for memory in mapping.memories),
    )


def _movement(mapping: ConvMapping) -> Resources:
    """Crossbars of the band, window and weight registers, streams, and the turn from columns to words."""
    layer, folding, banks = mapping.layer, mapping.folding, mapping.bank_map.banks
    in_bits, out_bits = bits_of(layer.input_type), bits_of(layer.result_type)
    wave = len(mapping.wave.row_offsets) * mapping.wave.columns_read
    read = folding.simd * wave * in_bits * mux_luts(banks) + banks * ADDRESS_BITS * mux_luts(wave + 1)
    write = banks * (in_bits * mux_luts(mapping.in_lanes + 1) + ADDRESS_BITS * mux_luts(mapping.in_lanes + 1))
    window = folding.simd * len(mapping.wave.row_offsets) * mapping.wave.span * in_bits
    held = folding.pe * mapping.terms * bits_of(layer.weight_type)
    results = folding.rows * folding.pe * out_bits
    word = mapping.out_lanes * out_bits
    drain = word * mux_luts(folding.rows * folding.pe)
    streams = results + 2 * (mapping.in_lanes * in_bits + word)
    return Resources(
        lut=read + write + drain + streams + int(HELD_LUT * held),
        ff=window + held + results * (mapping.out_lanes + 2) + 2 * (mapping.in_lanes * in_bits + word) + read,
    )


def _interfaces(mapping: ConvMapping) -> Resources:
    """m_axi adapters with their burst buffers, s_axilite, control, and the platform's interconnect ports."""
    layer = mapping.layer
    ports = (
        (mapping.in_lanes * layer.input_type.container_bits, _burst_words(mapping.input_burst)),
        (mapping.out_lanes * layer.result_type.container_bits, _burst_words(mapping.output_burst)),
        (max(layer.weight_type.container_bits, layer.bias_type.container_bits), WEIGHT_PORT_WORDS),
    )
    bits = sum(width for width, _ in ports)
    return Resources(
        lut=CONTROL[0] + AXI_PORTS * (AXI_ADAPTER[0] + INTERCONNECT[0]) + int(bits * AXI_BIT[0]),
        ff=CONTROL[1] + AXI_PORTS * (AXI_ADAPTER[1] + INTERCONNECT[1]) + int(bits * AXI_BIT[1]),
        bram18=sum(bram18_for(words, max(32, width)) for width, words in ports),
    )


def _burst_words(shortest: int) -> int:
    """Words that an adapter holds: every burst that may be under way, at its longest."""
    return burst_limit(shortest) * outstanding(shortest)
