"""How a layer works in a streaming kernel: word formats, iterations, and what is read and written when.

A stage is one loop, pipelined at II = 1. In each iteration it reads at most one word of each input stream,
writes at most one word to its output stream, or does neither; which, is known beforehand and does not depend
on the data. So cycles, FIFO depths and deadlocks can be computed before anything is compiled, and the
C-simulation can be held against what was computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import FixedType, NumberType
from hlsgen.base.short_repr import Brief
from hlsgen.layers.base import Layer, Shape, Tensor

Times = NDArray[np.int64]

WEIGHT_BEAT_BITS = 64
"""Weights lie in DDR in parts of so many bits, no weight in two of them."""


Multipliers = Literal["dsp", "packed", "quad", "fabric", "popcount", "constants", "thresholds"]
"""What multiplies: a DSP a product, a DSP for two or for four, logic cells, logic cells that count the bits
of products, or shifts and adders for just these weights. Sums are exact, so alike. thresholds: nothing does,
an affine layer's inputs are compared.
"""
FOR_THESE_WEIGHTS = ("constants", "thresholds")
"""Multipliers that hold the weights themselves: there is no memory of them."""


@dataclass(frozen=True, kw_only=True, order=True)
class Fold:
    """What a stage does in one cycle: PX neighbouring pixels, PE output channels, SIMD input channels.

    multipliers: of a layer with weights; others have none. rows: output rows of a convolution as a front
    wave; 0: a sliding window. fabric_pe: how many of a front wave's PE have their multipliers (float32: their
    adders) in logic cells.
    """

    px: int = 1
    pe: int = 1
    simd: int = 1
    multipliers: Multipliers = "dsp"
    rows: int = 0
    fabric_pe: int = 0


@dataclass(frozen=True, kw_only=True)
class StreamFormat:
    """The format of a stream: in what words the elements of a tensor come.

    Pixels come row by row, left to right; of `px` neighbouring pixels come the first `channels` channels in
    one word, then the next; within a word the channels of the first pixel, then of the second. Each row
    begins with a new word: where `px` does not divide the width, the last pixels of a row's last words mean
    nothing.
    """

    tensor: Tensor
    px: int = 1
    channels: int = 1

    def __post_init__(self) -> None:
        assert self.tensor.shape[0] % self.channels == 0, f"{self.channels} of {self.tensor.shape} a word"

    @property
    def shape(self) -> Shape:
        return self.tensor.shape

    @property
    def type(self) -> NumberType:
        return self.tensor.type

    @property
    def lanes(self) -> int:
        return self.px * self.channels

    @property
    def folds(self) -> int:
        """Words that hold all channels of the same pixels."""
        return self.shape[0] // self.channels

    @property
    def groups(self) -> int:
        """Groups of `px` pixels in a row."""
        return -(-self.shape[2] // self.px)

    @property
    def row_words(self) -> int:
        return self.groups * self.folds

    @property
    def frame_words(self) -> int:
        return self.shape[1] * self.row_words

    @property
    def cpp(self) -> str:
        return f"hlsgen::lanes<{self.type.cpp}, {self.lanes}>"


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """The iterations of a call with some frames: how many, and in which each word is read and written."""

    iterations: int
    reads: tuple[Times, ...]
    writes: tuple[Times, ...]


LEAST_SUMS = 8
"""The fewest words of a memory of running sums, each of which a pragma promises to be used again only so many
iterations later: the vendor's tool makes registers of an array of up to 4, for which no promise counts. LUTs
hold 8 as well as 2."""


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """`copies` on-chip arrays of `depth` words of `bits` bits, each with one read and one write port."""

    name: str
    depth: int
    bits: int
    copies: int = 1


@dataclass(frozen=True, kw_only=True)
class Work:
    """Arithmetic of one iteration: `count` operators on operands of `bits`.

    operator: mac, fabric, packed, quad, popcount, constants, mul, add, compare, select, max, mux, float_mac,
    float_mac_fabric, float_mul or float_add. packed:
    `count` pairs of sums, a DSP for two products; bits of the shared operand, of the others and of a sum,
    then the products of a sum, those until lanes are taken apart, pixels (or rows) and groups at a time.
    quad: `count` fours of sums; the same, then the pixels that share a DSP and the bits between its lanes.
    popcount: `count` sums; bits of the inputs, of the weights (0: they are -1 and 1) and of a sum, the
    products of a sum, pixels and groups at a time.
    constants: `count` copies of a layer's adders; how many they are, their bits and those of registers.
    mux: bits are the number of words to choose from, and the bits of one.
    float_mac: a multiplier with its adder, the adder in DSPs or in logic cells; float_mul and float_add: one
    of them. half_...: the same in half; widened_...: of half operands in float32, which convert brings there
    and back; its bits are how many.
    """

    operator: str
    count: int
    bits: tuple[int, ...] = field(default=())


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage(Brief, ABC):
    """A layer with its folding, as hardware."""

    layer: Layer
    fold: Fold

    latency = 16
    """Cycles from reading to writing, a round figure that FIFO depths allow for."""

    @property
    def name(self) -> str:
        return self.layer.name

    @property
    @abstractmethod
    def template(self) -> str:
        """The file below templates/hls/stages/, without .h.j2."""

    @property
    def headers(self) -> tuple[str, ...]:
        """Files below templates/hls/hlsgen/ that it includes besides those that every kernel has."""
        return ()

    @property
    @abstractmethod
    def inputs(self) -> tuple[StreamFormat, ...]:
        """The words that it reads of each source."""

    @property
    @abstractmethod
    def output(self) -> StreamFormat:
        """The words that it writes."""

    @property
    def weight_streams(self) -> tuple[StreamFormat, ...]:
        """Streams of weights that it reads after its sources' words; mostly none."""
        return ()

    @property
    def frames_at_once(self) -> int:
        """Frames that it takes in before the first one's results come out."""
        return 1

    @abstractmethod
    def constants(self) -> dict[str, Any]:
        """What the template names, besides what every stage has."""

    @property
    def rhythm(self) -> Hashable:
        """What its schedule depends on: stages of one rhythm read and write in the same iterations.

        None: it cannot be said. A kind that needs less says so, and more of its layers are alike.
        """
        own = tuple(getattr(self, one.name) for one in fields(self) if one.name != "layer")
        layer = self.layer.geometry
        return None if layer is None else (type(self), layer, *own)

    @abstractmethod
    def schedule(self, frames: int) -> Schedule:
        """All iterations of a call with `frames` frames."""

    @cached_property
    def interval(self) -> int:
        """Cycles from frame to frame in the steady state."""
        return self.schedule(3).iterations - self.schedule(2).iterations

    def buffers(self) -> tuple[Buffer, ...]:
        """The on-chip memories, those of weights not counted."""
        return ()

    def work(self) -> tuple[Work, ...]:
        """The arithmetic of an iteration."""
        return ()

    @property
    def chain(self) -> int:
        """Products that are added before the two sums of packed multipliers are taken apart; 0: none are."""
        return 0

    @property
    def products(self) -> int:
        """Multiplications of an iteration, whatever does them."""
        return sum(work.count for work in self.work() if work.operator == "mul")

    @property
    def chooses_multipliers(self) -> bool:
        """Whether `multipliers` of its folding means something: the layer has weights."""
        return False

    @property
    def word_bits(self) -> int:
        """Bits of the wide operand of products that share a DSP; 0: none do."""
        return 0

    def folding(self) -> dict[str, Any]:
        """The folding as reports say it: that which the stage has a choice of."""
        fold = self.fold
        sizes = {"px": fold.px, "pe": fold.pe, "simd": fold.simd}
        return {**sizes, "multipliers": fold.multipliers} if self.chooses_multipliers else sizes

    def for_any_weights(self) -> Stage:
        """The stage exact for any weights of the layer's type; itself if it does not depend on them."""
        return self

    def weight_words(self) -> NDArray[Any] | None:
        """The weights as the stage reads them, codes [words, lanes]; None without weights."""
        return None

    def tables(self) -> Mapping[str, tuple[NDArray[Any], FixedType]]:
        """Constant arrays of one or two dimensions by their C++ names: codes, and the type of an entry."""
        return {}

    def weight_shape(self) -> tuple[int, int, int] | None:
        """(words, lanes, bits of a weight) of `weight_words`, without making them; None without weights."""
        return None


def divisors(n: int) -> list[int]:
    """Every divisor of `n`, ascending."""
    small = [d for d in range(1, int(n**0.5) + 1) if n % d == 0]
    return sorted({*small, *(n // d for d in small)})


def each_iteration(words: int) -> Schedule:
    """A stage that reads a word of its one input and writes one in each iteration."""
    times = np.arange(words, dtype=np.int64)
    return Schedule(iterations=words, reads=(times,), writes=(times,))


def pixel_folds(shape: Shape, most_px: int = 64) -> Iterator[Fold]:
    """Foldings of a stage that takes any word: channels first, several pixels once all channels are in."""
    channels, _, width = shape
    for simd in divisors(channels):
        yield Fold(px=1, pe=simd, simd=simd)
    for px in divisors(width)[1:]:
        if px <= most_px:
            yield Fold(px=px, pe=channels, simd=channels)
