"""Resources of an instance of a convolution: its arithmetic, and all that brings words to it and away.

What moves words is counted from the emitted templates (templates/hls/conv2d, memory.h): which bank an element
lies in and at which address is worked out for every bank and row of the wave, in each loop that does it.
tests/cost/test_counted_operations.py holds the sum against the operations that the compiled code has.
"""

from __future__ import annotations

from hlsgen.base.fixed import FixedType
from hlsgen.cost.resources import (
    Resources,
    adders,
    arithmetic_resources,
    axi_ports,
    cells,
    comparisons,
    memory_resources,
    multiplexers,
)
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.hardware.conv_words import burst_limit, outstanding
from hlsgen.hardware.storage import Storage, bram18_for
from hlsgen.layers import winograd
from hlsgen.layers.packing import PACKED_BITS
from hlsgen.targets.terms import Terms

AXI_PORTS = 3
WEIGHT_PORT_WORDS = 128  # 2 bursts of 64
FILLING_LOOPS = 2  # before the first tile, and beside the computation
ENABLES = 3  # of a memory's two ports: two that enable, one that writes


def instance_resources(mapping: ConvMapping, terms: Terms) -> Resources:
    """One instance, its share of the platform's interconnect included."""
    parts = (
        arithmetic_resources(mapping, terms),
        _filling(mapping, terms).times(FILLING_LOOPS),
        _reading(mapping, terms),
        _ports(mapping, terms),
        _registers(mapping, terms),
        _results(mapping, terms),
        _interfaces(mapping, terms),
    )
    return Resources.sum((*parts, *(memory_resources(terms, memory) for memory in mapping.memories)))


def _bits_for(values: int) -> int:
    return max(1, (values - 1).bit_length())


def _band_bits(mapping: ConvMapping) -> tuple[int, int, int]:
    """Bits of a bank's number, of an address in a bank, of a slot's number."""
    banks = mapping.bank_map.banks
    columns = -(-mapping.layer.in_shape[2] // banks)
    depth = mapping.bank_map.slots * mapping.channel_steps * columns
    return _bits_for(banks), _bits_for(depth), _bits_for(mapping.bank_map.slots)


def _around(terms: Terms, count: int, bits: int) -> Resources:
    """Sums modulo a constant: a sum, a comparison, a difference and a choice each."""
    total = adders(terms, 2 * count, 2 * count * bits) + comparisons(terms, count, bits)
    return total + cells(terms, "select", bits=count * bits)


def _filling(mapping: ConvMapping, terms: Terms) -> Resources:
    """fill_band: each bank finds its lane of a word and its address, and takes it for one of the channels."""
    banks, simd = mapping.bank_map.banks, mapping.folding.simd
    bank, address, _ = _band_bits(mapping)
    first = _around(terms, 1, bank) + multiplexers(terms, 1, mapping.bank_map.slots, bank)
    return (
        first
        + cells(terms, "select", bits=banks * bank * mapping.layer.input_type.width)
        + adders(terms, 2 * banks, banks * (bank + address))
        + comparisons(terms, 3 * banks, bank)
        + cells(terms, "select", bits=banks * (bank + 2 * simd))
        + adders(terms, 3, 3 * address)
    )


def _reading(mapping: ConvMapping, terms: Terms) -> Resources:
    """read_wave: the address of each row, what brings addresses to the banks and words back, zeros in the
    padding.
    """
    _, address, slot = _band_bits(mapping)
    rows, wave = len(mapping.wave.row_offsets), _elements_read(mapping)
    row = _bits_for(mapping.layer.in_shape[1] + mapping.layer.kernel[0])
    brought = _reading_anywhere if mapping.bank_map.step is None else _reading_turned
    return (
        _around(terms, rows, slot)
        + adders(terms, 3 * rows, rows * (row + 2 * address))
        + comparisons(terms, 2 * rows, row)
        + brought(mapping, terms)
        + cells(terms, "select", bits=mapping.folding.simd * wave * mapping.layer.input_type.width)
    )


def _elements_read(mapping: ConvMapping) -> int:
    """Of each channel in an iteration."""
    return len(mapping.wave.row_offsets) * mapping.wave.columns_read


def _reading_turned(mapping: ConvMapping, terms: Terms) -> Resources:
    """read_turned: addresses go round the banks by the bits of the first one, words go back."""
    banks, simd = mapping.bank_map.banks, mapping.folding.simd
    bank, address, _ = _band_bits(mapping)
    word = address + simd * mapping.layer.input_type.width
    first = _around(terms, 1, bank) + multiplexers(terms, 1, mapping.bank_map.slots, bank)
    return first + cells(terms, "select", bits=banks * bank * word)


def _reading_anywhere(mapping: ConvMapping, terms: Terms) -> Resources:
    """read_banks: each row finds its bank, each bank its row, each element its bank."""
    banks, simd = mapping.bank_map.banks, mapping.folding.simd
    bank, address, _ = _band_bits(mapping)
    rows, wave = len(mapping.wave.row_offsets), _elements_read(mapping)
    return (
        multiplexers(terms, rows, mapping.bank_map.slots, bank)
        + _around(terms, wave, bank)
        + comparisons(terms, banks * wave, bank)
        + cells(terms, "select", bits=banks * (wave - 1) * address + banks * wave * 2)
        + multiplexers(terms, simd * wave, banks, mapping.layer.input_type.width)
    )


def _ports(mapping: ConvMapping, terms: Terms) -> Resources:
    """What loops share of a memory's ports: addresses and data of the band, enables of all."""
    in_bits = mapping.layer.input_type.width
    _, address, _ = _band_bits(mapping)
    copies = sum(one.copies for one in mapping.memories if one.storage is not Storage.REGISTER)
    bands = mapping.folding.simd * mapping.bank_map.banks
    return (
        multiplexers(terms, ENABLES * copies, 2, 1)
        + multiplexers(terms, bands, FILLING_LOOPS, address)
        + multiplexers(terms, bands, FILLING_LOOPS, in_bits)
    )


def _registers(mapping: ConvMapping, terms: Terms) -> Resources:
    """The window, the weights of a pass, and the words that come and go."""
    layer, folding = mapping.layer, mapping.folding
    out_bits = layer.result_type.width
    results = folding.rows * folding.pe * out_bits
    words = mapping.in_lanes * layer.input_type.width + mapping.out_lanes * out_bits
    reads = folding.simd * _elements_read(mapping)
    return (
        cells(terms, "weight_register", bits=_held_bits(mapping))
        + cells(terms, "stream_word", bits=results + 2 * words)
        + cells(
            terms,
            "register",
            bits=_window_bits(mapping)
            + 2 * reads * layer.input_type.width
            + results * (mapping.out_lanes + 1),
        )
    )


def _results(mapping: ConvMapping, terms: Terms) -> Resources:
    """Results fitted to their type, each compared with what it can hold; the word that leaves is chosen."""
    layer, folding = mapping.layer, mapping.folding
    out_bits, sums = layer.result_type.width, folding.rows * folding.pe
    total = multiplexers(terms, mapping.out_lanes, sums, out_bits)
    if not isinstance(layer.result_type, FixedType):
        return total
    wide = layer.accumulator.width
    fitted = comparisons(terms, 2 * sums, (wide + out_bits) // 2) + multiplexers(terms, 2 * sums, 2, out_bits)
    return total + fitted


def _window_bits(mapping: ConvMapping) -> int:
    """Registers of the columns that a window's taps read."""
    layer, folding, wave = mapping.layer, mapping.folding, mapping.wave
    columns = folding.simd * wave.span
    if folding.algorithm == "direct":
        return columns * len(wave.row_offsets) * layer.input_type.width
    word = PACKED_BITS if mapping.arithmetic == "packed" else winograd.row_bits(layer.input_type)
    return columns * winograd.POINTS * mapping.row_groups * word


def _held_bits(mapping: ConvMapping) -> int:
    """Registers of the weights of a pass."""
    layer, pe = mapping.layer, mapping.folding.pe
    if mapping.folding.algorithm == "direct":
        return pe * mapping.terms * layer.weight_type.width
    return pe * mapping.point_terms * winograd.POINTS * winograd.factor_bits(layer.weight_type)


def _interfaces(mapping: ConvMapping, terms: Terms) -> Resources:
    """m_axi adapters with their burst buffers, s_axilite, control, and the platform's interconnect ports."""
    layer = mapping.layer
    ports = (
        (mapping.in_lanes * layer.input_type.container_bits, _burst_words(mapping.input_burst)),
        (mapping.out_lanes * layer.result_type.container_bits, _burst_words(mapping.output_burst)),
        (max(layer.weight_type.container_bits, layer.bias_type.container_bits), WEIGHT_PORT_WORDS),
    )
    return (
        Resources(bram18=sum(bram18_for(words, max(32, width)) for width, words in ports))
        + cells(terms, "conv_control", one=1)
        + axi_ports(terms, AXI_PORTS, sum(width for width, _ in ports))
    )


def _burst_words(shortest: int) -> int:
    """Words that an adapter holds: every burst that may be under way, at its longest."""
    return burst_limit(shortest) * outstanding(shortest)
