"""Two or four multiply-accumulates a DSP: when it is exact, and how long a chain of them may be.

A DSP48E2 multiplies 27 x 18 bits and adds in 48; of a DSP48E1 the wide port has 25. Two weights side by
side, (w1 << 18) + w0, times an activation a give both products; sums of them stay apart as long as the lower
one fits 18 bits with its sign.
(AMD WP486 describes the packing; the bound by the weights' own values is ours.)

Of four bits and fewer there is room for four: two weights times two activations side by side, or four weights
times one activation. (AMD WP521 describes the former for 4 bits, with the sums taken apart after each product
or a few.)
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType

if TYPE_CHECKING:
    from hlsgen.layers.conv2d import Conv2d

LANE_BITS = 18
LOWER_LANE_MOST = (1 << (LANE_BITS - 1)) - 1
PACKED_BITS = 27
"""Of the widest port that there is: chains and lanes are alike on all boards, and one whose DSPs are narrower
does not take what has wider words (`Stage.word_bits`).
"""
ACTIVATION_MOST_BITS = 18
FABRIC_PRODUCT_BITS = 9
"""A product whose operands have no more bits together is built in logic cells, as HLS does by itself."""
SHORTEST_CHAIN = 3
"""The fewest products between two separations: with fewer, taking lanes apart costs more than a DSP saves."""
BLOCK_ELEMENTS = 1 << 20
"""Weights whose sums are looked at together."""
LONGEST_CHAIN = 32
"""A product waits for those before it in the DSPs' cascade, its operands in shift registers of 32 steps."""
QUAD = 4
"""Products of a DSP where numbers are so narrow that it makes more than two."""
DSP_SUM_BITS = 48
MOST_QUAD_BITS = 10
"""Bits of a product beyond which no lane of four holds three of any weights: these are not looked at."""


def signed_bits(type_: FixedType) -> int:
    """Bits of a code as a signed number."""
    return type_.width + (0 if type_.signed else 1)


def widths_pack(activation: FixedType, weight: FixedType, wide: int = PACKED_BITS) -> bool:
    """Whether two such weights fit a port of `wide` bits beside each other, and the activation 18 bits.

    The lower weight may borrow one from the upper, so that the least code of nine bits does not fit.
    """
    return codes_pack(activation, weight.min_code, weight.max_code) and pair_bits(signed_bits(weight)) <= wide


def codes_pack(activation: FixedType, least: int, most: int) -> bool:
    """`widths_pack` for weights whose codes lie from `least` to `most`, in the widest port."""
    end = 1 << (PACKED_BITS - LANE_BITS - 1)
    return -end < least and most < end and signed_bits(activation) <= ACTIVATION_MOST_BITS


def pair_bits(code_bits: int) -> int:
    """Bits of a word of two weights whose codes have so many with a sign, as templates/hls/hlsgen/dot.h has
    them.
    """
    return min(PACKED_BITS, LANE_BITS + code_bits + 1)


def largest_code(type_: FixedType) -> int:
    return max(-type_.min_code, type_.max_code)


# a search asks for it with every folding
@lru_cache(maxsize=256)
def longest_chain(layer: Conv2d, simd: int, pe: int) -> int:
    """The most products that may be added before the lanes are taken apart: 0 if not even one is exact.

    The lower lane holds the even output channels of each group of `pe`. For every chunk of the terms (input
    channel, row, column) of a pass, sum |w| * max |a| must not exceed 2^17 - 1.
    """
    assert isinstance(layer.input_type, FixedType)
    terms = simd * layer.taps
    lower = np.flatnonzero(np.arange(layer.out_channels) % pe % 2 == 0)
    step = max(1, BLOCK_ELEMENTS * len(lower) // max(1, layer.weights.size))
    blocks = [lower[first : first + step] for first in range(0, len(lower), step)]
    allowed = LOWER_LANE_MOST // largest_code(layer.input_type)

    def exact(chain: int, filters: NDArray[np.int64]) -> bool:
        magnitudes = np.abs(layer.weights[filters].astype(np.int64)).reshape(-1, terms)
        return int(np.add.reduceat(magnitudes, np.arange(0, terms, chain), axis=1).max()) <= allowed

    # what is too long mostly shows in the first block
    chains = range(min(terms, LONGEST_CHAIN), 0, -1)
    return next((one for one in chains if all(exact(one, block) for block in blocks)), 0)


def chain_of_weights(layer: Conv2d) -> int:
    """The most neighbouring products that may be added for these weights, wherever a chunk of them begins.

    0: not even one is exact, or the weights do not fit beside each other. The lower lane holds the even
    output channels. No more than `longest_chain`, and the same for every folding.
    """
    assert isinstance(layer.input_type, FixedType)
    least, most = int(layer.weights.min(initial=0)), int(layer.weights.max(initial=0))
    if not codes_pack(layer.input_type, least, most):
        return 0
    filters = np.asarray(layer.weights)[::2].reshape(-(-layer.out_channels // 2), -1)
    return _longest_run(filters, lower_lane_limit(layer))


def _longest_run(filters: Codes, allowed: int) -> int:
    """The most neighbours, up to LONGEST_CHAIN, in rows [M, F] whose magnitudes sum to no more than `allowed`
    wherever they begin.
    """
    found = min(int(filters.shape[1]), LONGEST_CHAIN)
    step = max(1, BLOCK_ELEMENTS // filters.shape[1])
    for first in range(0, len(filters), step):
        sums = np.zeros((len(filters[first : first + step]), filters.shape[1] + 1), np.int64)
        np.abs(filters[first : first + step], out=sums[:, 1:], dtype=np.int64, casting="unsafe")
        np.cumsum(sums, axis=1, out=sums)
        while found and int((sums[:, found:] - sums[:, :-found]).max()) > allowed:
            found -= 1
    return found


def chain_of_types(layer: Conv2d) -> int:
    """The same for any weights of the layer's type."""
    assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
    if not widths_pack(layer.input_type, layer.weight_type):
        return 0
    return min(LONGEST_CHAIN, lower_lane_limit(layer) // largest_code(layer.weight_type))


def lower_lane_limit(layer: Conv2d) -> int:
    """The largest sum |w| over a chunk of the chain that keeps the lanes apart, in weight codes."""
    assert isinstance(layer.input_type, FixedType)
    return LOWER_LANE_MOST // largest_code(layer.input_type)


# four products a DSP


def lane_of_four(activation: FixedType, weight: FixedType, pixels: int) -> int:
    """Bits between four products whose sums lie beside each other: two weights times two pixels' activations,
    or four weights times those of one. 0: the multiplier's ports are too narrow.
    """
    for lane in range(DSP_SUM_BITS // QUAD, 1, -1):
        word = sum(1 << (lane * pixels * n) for n in range(QUAD // pixels))
        factor = sum(1 << (lane * n) for n in range(pixels))
        if _spread_fits(weight, word, PACKED_BITS) and _spread_fits(activation, factor, ACTIVATION_MOST_BITS):
            return lane
    return 0


def _spread_fits(type_: FixedType, spread: int, bits: int) -> bool:
    """Whether codes side by side, whatever they are, are a signed number of `bits` bits."""
    end = 1 << (bits - 1)
    return -end <= type_.min_code * spread and type_.max_code * spread < end


def quad_limit(layer: Conv2d, pixels: int) -> int:
    """The largest sum |w| over a chain that keeps four lanes apart, in weight codes."""
    assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
    lane = lane_of_four(layer.input_type, layer.weight_type, pixels)
    return ((1 << (lane - 1)) - 1) // largest_code(layer.input_type) if lane else 0


def quad_of_weights(layer: Conv2d, pixels: int) -> int:
    """The most neighbouring products that four lanes may add up for these weights, wherever they begin.

    0: not even one is exact.
    """
    assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
    if layer.input_type.width + layer.weight_type.width > MOST_QUAD_BITS:
        return 0
    allowed = quad_limit(layer, pixels)
    return _longest_run(np.asarray(layer.weights).reshape(layer.out_channels, -1), allowed) if allowed else 0


def quad_of_types(layer: Conv2d, pixels: int) -> int:
    """The same for any weights of the layer's type."""
    assert isinstance(layer.weight_type, FixedType)
    return min(LONGEST_CHAIN, quad_limit(layer, pixels) // largest_code(layer.weight_type))
