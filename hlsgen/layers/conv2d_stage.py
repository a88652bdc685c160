"""The convolution as a stage of a streaming kernel: its raster, folding, schedule and weights."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hlsgen.base.fixed import Codes, FixedType, FloatType, accumulator_type, product_type
from hlsgen.layers.adder_graph import AdderGraph
from hlsgen.layers.constant_products import ADDERS_A_CYCLE, adders_of, has_adders, weights_at_once
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.delay_lines import MOST_REGISTER_WORDS, delay_line
from hlsgen.layers.packing import (
    FABRIC_PRODUCT_BITS,
    PACKED_BITS,
    QUAD,
    SHORTEST_CHAIN,
    chain_of_types,
    lane_of_four,
    lower_lane_limit,
    pair_bits,
    quad_limit,
    quad_of_types,
    signed_bits,
)
from hlsgen.layers.raster import Raster
from hlsgen.layers.stage import Buffer, Fold, Schedule, Stage, StreamFormat, Work, divisors

MOST_PX = 64
MOST_TERMS = 6144
"""Multipliers of a stage with several pixels at once; more than a board has is not looked at."""

MOST_COUNTED_BITS = 4
"""Bits of weights and of inputs up to which products are counted bit by bit."""
LEAST_COUNTED = 6
"""The fewest products of a sum that are: a LUT takes six bits."""


def conv_folds(layer: Conv2d) -> Iterator[Fold]:
    """Foldings from one multiplier a tap to everything at once.

    One group at a time: SIMD divides a group's input channels and PE its output channels. Several groups at
    a time: then all channels of each. Several pixels at once where they divide a row, or all of it.
    Each with every kind of multipliers that makes a difference.
    """
    chain = layer.packed_chain if in_dsp(layer) else 0
    quads = layer.quad_chains if multiplies(layer) else (0, 0)
    adders = has_adders(layer)
    for fold in _parallel_folds(layer):
        yield fold
        if adders and weights_at_once(layer, fold):
            yield replace(fold, multipliers="constants")
        groups_at_once = max(1, fold.simd // layer.group_channels)
        terms, pe = fold.simd // groups_at_once * layer.taps, fold.pe // groups_at_once
        pixels = pixels_of_four(fold.px, pe)
        if pixels and min(quads[pixels - 1], terms) >= SHORTEST_CHAIN:
            yield replace(fold, multipliers="quad")
        if counts_bits(layer) and terms >= LEAST_COUNTED:
            yield replace(fold, multipliers="popcount")
        if not in_dsp(layer):
            continue
        if pe % 2 == 0 and min(chain, terms) >= SHORTEST_CHAIN:
            yield replace(fold, multipliers="packed")
        yield replace(fold, multipliers="fabric")


def counts_bits(layer: Conv2d) -> bool:
    """Whether products are of so few bits that counting them bit by bit may take fewer logic cells."""
    if not isinstance(layer.input_type, FixedType) or not isinstance(layer.weight_type, FixedType):
        return False
    return max(layer.input_type.width, layer.weight_type.width) <= MOST_COUNTED_BITS


def pixels_of_four(px: int, pe: int) -> int:
    """Pixels that share a multiplier of four products with output channels; 0: there are not four."""
    if px % 2 == 0 and pe % 2 == 0:
        return 2
    return 1 if pe % QUAD == 0 else 0


def multiplies(layer: Conv2d) -> bool:
    """Whether a product is of two fixed-point numbers of more than a bit."""
    if not isinstance(layer.input_type, FixedType) or not isinstance(layer.weight_type, FixedType):
        return False
    return min(layer.input_type.width, layer.weight_type.width) > 1


def in_dsp(layer: Conv2d) -> bool:
    """Whether a product is large enough for a DSP."""
    if not isinstance(layer.input_type, FixedType) or not isinstance(layer.weight_type, FixedType):
        return False
    widths = (layer.input_type.width, layer.weight_type.width)
    return min(widths) > 1 and sum(widths) > FABRIC_PRODUCT_BITS


def _parallel_folds(layer: Conv2d) -> Iterator[Fold]:
    size, members = layer.group_channels, layer.out_channels // layer.groups
    for simd in divisors(size):
        for pe in divisors(members):
            yield Fold(px=1, pe=pe, simd=simd)
    for groups in divisors(layer.groups)[1:]:
        yield Fold(px=1, pe=groups * members, simd=groups * size)
    for px in divisors(layer.output_shape[2])[1:]:
        if px > MOST_PX:
            return
        if layer.groups > 1:
            yield Fold(px=px, pe=layer.out_channels, simd=layer.in_shape[0])
            continue
        for simd in divisors(size):
            for pe in divisors(members):
                if px * pe * simd * layer.taps <= MOST_TERMS:
                    yield Fold(px=px, pe=pe, simd=simd)


@dataclass(frozen=True, kw_only=True, eq=False)
class ConvStage(Stage):
    """A sliding window over line buffers, PX x PE x SIMD x taps multipliers.

    Positions of the input are passed row by row (see Raster); at each of them a pass over the channels of the
    pixels takes `folds` iterations, and where an output belongs to it, NF of them: one for each PE output
    channels. Interval: positions * folds + output pixels / PX * (NF - 1) * folds, in cycles.
    """

    layer: Conv2d
    fold: Fold
    any_weights: bool = False
    """Whether packed multipliers are to be exact for any weights of the type, not just for the layer's."""

    template = "conv2d"

    @cached_property
    def groups_at_once(self) -> int:
        """GP: groups computed in one iteration."""
        return max(1, self.fold.simd // self.layer.group_channels)

    @property
    def pe(self) -> int:
        """Output channels of a group at once."""
        return self.fold.pe // self.groups_at_once

    @property
    def simd(self) -> int:
        """Input channels of a group at once."""
        return self.fold.simd // self.groups_at_once

    @cached_property
    def passes(self) -> tuple[int, int, int]:
        """(GF, NF, CF): passes over the groups, over the filters and over the channels of a group."""
        members = self.layer.out_channels // self.layer.groups
        return (
            self.layer.groups // self.groups_at_once,
            members // self.pe,
            self.layer.group_channels // self.simd,
        )

    @cached_property
    def raster(self) -> Raster:
        layer = self.layer
        return Raster(
            in_shape=layer.read_shape[1:],
            out_shape=layer.output_shape[1:],
            kernel=layer.kernel,
            stride=layer.stride,
            dilation=layer.dilation,
            padding=layer.padding[:2],
            px=self.fold.px,
        )

    @property
    def headers(self) -> tuple[str, ...]:
        own = {"quad": ("quads.h",), "popcount": ("bit_sums.h",)}
        return own.get(self.fold.multipliers, ())

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        (source,) = self.layer.sources
        lanes = self.raster.px_in * self.fold.simd
        # a dense layer's inputs at once may be several pixels
        channels = min(self.fold.simd, source.shape[0])
        return (StreamFormat(tensor=source, px=lanes // channels, channels=channels),)

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, px=self.fold.px, channels=self.fold.pe)

    @property
    def rhythm(self) -> Hashable:
        return Raster, self.raster, self.passes

    def schedule(self, frames: int) -> Schedule:
        groups, filters, channels = self.passes
        return self.raster.schedule(frames, groups=groups, filters=filters, channels=channels)

    @cached_property
    def interval(self) -> int:
        groups, filters, channels = self.passes
        return self.raster.interval(groups=groups, filters=filters, channels=channels)

    @property
    def terms(self) -> int:
        """Products of an output that are added in an iteration."""
        return self.simd * self.layer.taps

    @property
    def products(self) -> int:
        return self.fold.px * self.fold.pe * self.terms

    @property
    def chooses_multipliers(self) -> bool:
        return True

    def for_any_weights(self) -> ConvStage:
        return replace(self, any_weights=True)

    @cached_property
    def chain(self) -> int:
        if self.fold.multipliers == "quad":
            four, of_any = self.layer.quad_chains[self.shared_pixels - 1], self.any_weights
            return min(quad_of_types(self.layer, self.shared_pixels) if of_any else four, self.terms)
        if self.fold.multipliers != "packed":
            return 0
        most = chain_of_types(self.layer) if self.any_weights else self.layer.packed_chain
        return min(most, self.terms)

    @property
    def word_bits(self) -> int:
        if self.fold.multipliers == "quad":
            return PACKED_BITS
        if self.fold.multipliers != "packed":
            return 0
        assert isinstance(self.layer.weight_type, FixedType)
        return pair_bits(signed_bits(self.layer.weight_type))

    @property
    def only_signs(self) -> bool:
        """Whether bits are counted for weights -1 and 1 alone."""
        return self.fold.multipliers == "popcount" and self.layer.only_signs and not self.any_weights

    @property
    def adders(self) -> AdderGraph | None:
        """What makes the sums of an iteration for a pixel; None: multipliers do."""
        return adders_of(self.layer) if self.fold.multipliers == "constants" else None

    @property
    def shared_pixels(self) -> int:
        """Pixels whose products share a DSP, where it makes four."""
        return pixels_of_four(self.fold.px, self.pe)

    @property
    def dot_type(self) -> FixedType:
        """Holds the sum of an iteration's products of one output."""
        layer = self.layer
        assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
        return accumulator_type(layer.input_type, layer.weight_type, self.terms)

    def work(self) -> tuple[Work, ...]:
        layer = self.layer
        assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
        if self.fold.multipliers == "packed":
            return (self.packed_work(self.fold.px * self.fold.pe, self.fold.px),)
        if self.fold.multipliers == "quad":
            return (self._quad_work(),)
        widths = (layer.input_type.width, layer.weight_type.width)
        adders = self.adders
        if adders is not None:
            bits = (adders.count, adders.bits, adders.held_bits(ADDERS_A_CYCLE))
            return (Work(operator="constants", count=self.fold.px, bits=bits),)
        if self.fold.multipliers == "popcount":
            bits = (widths[0], 0 if self.only_signs else widths[1], self.dot_type.width)
            at_once = (self.terms, self.fold.px, self.groups_at_once)
            return (Work(operator="popcount", count=self.fold.px * self.fold.pe, bits=(*bits, *at_once)),)
        operator = "fabric" if self.fold.multipliers == "fabric" else "mac"
        return (Work(operator=operator, count=self.products, bits=widths),)

    def packed_work(self, sums: int, pixels: int) -> Work:
        """The multipliers of `sums` sums of TERMS products for so many pixels, two sums a multiplier."""
        layer = self.layer
        assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
        codes = (signed_bits(layer.input_type), signed_bits(layer.weight_type))
        chains = (self.terms, self.chain, pixels, self.groups_at_once)
        return Work(operator="packed", count=sums // 2, bits=(*codes, self.dot_type.width, *chains))

    def _quad_work(self) -> Work:
        """The multipliers of PX x PE sums of TERMS products, four sums a multiplier."""
        layer, fold, pixels = self.layer, self.fold, self.shared_pixels
        assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
        codes = (signed_bits(layer.input_type), layer.weight_type.width, self.dot_type.width)
        chains = (self.terms, self.chain, fold.px, self.groups_at_once)
        lane = lane_of_four(layer.input_type, layer.weight_type, pixels)
        return Work(operator="quad", count=fold.px * fold.pe // QUAD, bits=(*codes, *chains, pixels, lane))

    def buffers(self) -> tuple[Buffer, ...]:
        groups, filters, channels = self.passes
        raster, folds = self.raster, groups * channels
        bits = raster.px_in * self.fold.simd * _width(self.layer.input_type)
        window = bits * raster.window_words * self.layer.kernel[0]
        found = []
        if raster.lines:
            found.append(delay_line("lines", raster.row_steps * folds, bits * raster.lines))
        if self.has_window:
            found.append(delay_line("window", folds, window))
        if self.holds_window:
            found.append(delay_line("here", 1, window))
        return tuple(found)

    @property
    def has_window(self) -> bool:
        """Whether windows lie in a memory, a word of each for every pass."""
        of_several_words = self.raster.window_words * self.layer.kernel[0] > 1
        return of_several_words or (self.passes[1] > 1 and not self.holds_window)

    @property
    def holds_window(self) -> bool:
        """Whether a register keeps a window for the filters that follow each other on it.

        So it is where all input channels of some groups are taken at once, and other groups follow: an
        iteration would read what the one before has written, sooner than a memory has it. Few words are
        registers in any case.
        """
        groups, filters, channels = self.passes
        return channels == 1 and filters > 1 and groups > MOST_REGISTER_WORDS

    def weight_shape(self) -> tuple[int, int, int]:
        groups, filters, channels = self.passes
        lanes = self.fold.pe * self.simd * self.layer.taps
        return groups * filters * channels, lanes, _width(self.layer.weight_type)

    def weight_words(self) -> Codes:
        """[GF * NF * CF, GP * PE * SIMD * taps]: lanes by group, filter, channel, kernel row and column."""
        layer = self.layer
        groups, filters, channels = self.passes
        shape = (groups, self.groups_at_once, filters, self.pe, channels, self.simd, layer.taps)
        weights = np.asarray(layer.weights).reshape(shape)
        return weights.transpose(0, 2, 4, 1, 3, 5, 6).reshape(groups * filters * channels, -1)

    def bias_words(self) -> Codes:
        """[GF * NF, GP * PE]."""
        groups, filters, _ = self.passes
        bias = np.asarray(self.layer.bias).reshape(groups, self.groups_at_once, filters, self.pe)
        return bias.transpose(0, 2, 1, 3).reshape(groups * filters, -1)

    def constants(self) -> dict[str, Any]:
        layer, raster = self.layer, self.raster
        groups, filters, channels = self.passes
        in_channels, in_height, in_width = layer.read_shape
        return {
            **raster.constants(),
            "IN_CHANNELS": in_channels,
            "IN_HEIGHT": in_height,
            "IN_WIDTH": in_width,
            "image": "" if layer.in_shape == layer.read_shape else " x ".join(map(str, layer.in_shape)),
            **self.fixed_types(),
            "GROUPS": layer.groups,
            "GP": self.groups_at_once,
            "GF": groups,
            "PE": self.pe,
            "NF": filters,
            "SIMD": self.simd,
            "CF": channels,
            "where": "in_fabric" if self.fold.multipliers == "fabric" else "in_dsp",
            "packed": self.fold.multipliers == "packed",
            **(self._quad_constants() if self.fold.multipliers == "quad" else {"quad": False}),
            "popcount": self.fold.multipliers == "popcount",
            "only_signs": self.only_signs,
            "constants": self.fold.multipliers == "constants",
            "multipliers": self.fold.multipliers,
            "lines_distance": raster.row_steps * groups * channels,
            "lines_registers": raster.row_steps * groups * channels <= MOST_REGISTER_WORDS,
            "weight_ports": "ram_1p",
            "has_window": self.has_window,
            "holds_window": self.holds_window,
            "window_distance": channels if filters > 1 and not self.holds_window else groups * channels,
            "window_registers": groups * channels <= MOST_REGISTER_WORDS,
            "FRAME_ITERATIONS": self.interval,
            "FLUSH_ITERATIONS": raster.lag * groups * channels,
            "macs_per_iteration": self.products,
        }

    def _quad_constants(self) -> dict[str, Any]:
        layer, pixels = self.layer, self.shared_pixels
        assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
        lane = lane_of_four(layer.input_type, layer.weight_type, pixels)
        return {"quad": True, "SHARED_PX": pixels, "LANE": lane, "QUAD_LIMIT": quad_limit(layer, pixels)}

    def types(self) -> dict[str, Any]:
        """The types of weights and sums, as C++."""
        layer = self.layer
        return {
            "weight_t": layer.weight_type.cpp,
            "acc_t": layer.accumulator.cpp,
            "bias_t": layer.bias_type.cpp,
            "has_bias": bool(layer.bias.size),
        }

    def fixed_types(self) -> dict[str, Any]:
        """`types`, those of the products and their sums, and the limits of the results."""
        layer = self.layer
        low, high = layer.clamp_codes
        assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
        assert isinstance(layer.accumulator, FixedType)
        return {
            **self.types(),
            "product_t": product_type(layer.input_type, layer.weight_type).cpp,
            "dot_t": self.dot_type.cpp,
            "DOT_BITS": self.dot_type.width,
            "CHAIN": self.chain,
            "any_weights": self.any_weights,
            "IN_BITS": layer.input_type.width,
            "in_signed": layer.input_type.signed,
            "weight_signed": layer.weight_type.signed,
            "IN_CODE": signed_bits(layer.input_type),
            "WEIGHT_CODE": signed_bits(layer.weight_type),
            "PACKED_LIMIT": lower_lane_limit(layer),
            "low": low,
            "high": high,
            "low_value": _literal(low, layer.accumulator),
            "high_value": _literal(high, layer.accumulator),
        }


def _literal(code: int | None, type_: FixedType) -> str:
    """A code's value as a C++ literal, exact."""
    return "0" if code is None else repr(float(code) * type_.resolution)


def _width(type_: FixedType | FloatType) -> int:
    return type_.width if isinstance(type_, FixedType) else type_.container_bits
