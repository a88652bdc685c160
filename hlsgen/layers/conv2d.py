"""Two-dimensional convolution: its fields, rules, golden result and work."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.exact_sums import exact_product
from hlsgen.base.fixed import Codes, FixedType, FloatType, NumberType, accumulator_type, tight_accumulator
from hlsgen.base.floating import FLOAT32
from hlsgen.layers.base import Layer, Shape, Tensor, floating_result, frames_of, limited, pairwise_sum
from hlsgen.layers.convolved import BLOCK_ELEMENTS, by_matrix, grouped
from hlsgen.layers.float_cores import FloatCores, float_cores

if TYPE_CHECKING:
    from hlsgen.layers.stage import Fold, Stage

EXACT_IN_FLOAT64 = 1 << 53
"""Integer sums below this magnitude are exact in float64, so that BLAS may compute them."""
SINGLE_PRODUCT_BITS = 18
"""Of products with no more bits, sums over a layer's terms are mostly exact in float32 too."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Conv2d(Layer, kind="conv2d"):
    """Convolution (cross-correlation) with any kernel, stride, padding, dilation and groups, zero padded.

    in [C, H, W] of input_type -> out [M, OH, OW] of output_type, with
    OH = (H + top + bottom - ((KH - 1) * dilation_h + 1)) // stride_h + 1, OW likewise.
    Weights are [M, C / groups, KH, KW], the bias [M] or empty for none, both as codes of their types. Weights
    lie in the fewest bytes that hold their type: what sums them up names a wider one.
    Output channel m reads the input channels of group m // (M / groups).

    Fixed point: products are exact, the accumulator is `accumulator`, a sum below `low` becomes `low` and one
    above `high` becomes `high` (None: no such limit; both 0 and None make a ReLU), the result is cast to
    output_type. float32: no contraction; for each pass over SIMD input channels the products (channel, kernel
    row, kernel column) are summed pairwise by `pairwise_sum`, and the pass is added to the running sum, which
    starts at the bias. half: the same, each product and each sum rounded to half; or, where the accumulator
    is float32, in float32, in which the products are exact, and the result is rounded to half once. float64
    codes (a network not quantised yet) are summed by `exact_product`. Raises nothing; `check` returns the
    broken rules: an empty output, float mixed with fixed point, half with float32 but for the accumulator,
    channels that the groups do not divide, low above high.
    """

    in_shape: tuple[int, int, int]
    out_channels: int
    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1
    low: float | None = None
    high: float | None = None
    input_type: NumberType
    weight_type: NumberType
    bias_type: NumberType
    accumulator: NumberType
    accumulator_wish: Literal["exact", "tight"] | NumberType = "exact"
    result_type: NumberType
    weights: Codes
    bias: Codes
    weights_origin: str = "given"

    def __post_init__(self) -> None:
        # large networks have a hundred million
        if isinstance(self.weight_type, FixedType):
            object.__setattr__(self, "weights", self.weight_type.narrowed(np.asarray(self.weights)))

    @property
    def sources(self) -> tuple[Tensor, ...]:
        return (Tensor(shape=self.in_shape, type=self.input_type),)

    @property
    def read_shape(self) -> Shape:
        """The shape of what the kernel moves over."""
        return self.in_shape

    @property
    def group_channels(self) -> int:
        """Input channels that an output channel reads."""
        return self.read_shape[0] // self.groups

    @property
    def channels_read(self) -> NDArray[np.int64]:
        """[M, C / groups]: the channel of the input that each column of the weights multiplies."""
        first = np.arange(self.out_channels) // (self.out_channels // self.groups) * self.group_channels
        return np.asarray(first[:, None] + np.arange(self.group_channels), np.int64)

    @cached_property
    def reach(self) -> tuple[int, int]:
        """Rows and columns that the dilated kernel covers."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True))  # type: ignore[return-value]

    @cached_property
    def output_shape(self) -> tuple[int, int, int]:
        _, height, width = self.read_shape
        top, left, bottom, right = self.padding
        rows = (height + top + bottom - self.reach[0]) // self.stride[0] + 1
        columns = (width + left + right - self.reach[1]) // self.stride[1] + 1
        return self.out_channels, rows, columns

    @property
    def output_type(self) -> NumberType:
        return self.result_type

    @property
    def taps(self) -> int:
        return self.kernel[0] * self.kernel[1]

    @property
    def computes_float32(self) -> bool:
        return True

    @property
    def macs(self) -> int:
        channels, rows, columns = self.output_shape
        return channels * rows * columns * self.group_channels * self.taps

    @property
    def is_float(self) -> bool:
        return isinstance(self.input_type, FloatType)

    @property
    def float_cores(self) -> FloatCores:
        """What its products and sums are built of, in floating point."""
        return float_cores(self.input_type, self.accumulator)

    def check(self) -> list[Problem]:
        problems = []
        _, rows, columns = self.output_shape
        if rows < 1 or columns < 1:
            _, height, width = self.in_shape
            top, left, bottom, right = self.padding
            problems.append(
                self.problem(
                    f"the kernel covers {self.reach[0]} x {self.reach[1]} (rows x columns, with dilation), "
                    f"more than the padded image of {height + top + bottom} x {width + left + right}",
                    "a smaller kernel or dilation, more padding, or a larger input",
                )
            )
        problems += self._group_problems()
        if self.low is not None and self.high is not None and self.low > self.high:
            problems.append(
                self.problem(f"results are kept above {self.low:g} and below {self.high:g}", "low < high")
            )
        types = (self.input_type, self.weight_type, self.bias_type, self.accumulator, self.result_type)
        problems += self._type_problems(types)
        return problems + self._limit_problems()

    def _limit_problems(self) -> list[Problem]:
        """A limit that the accumulator cannot hold, beyond which every sum would lie."""
        if not isinstance(self.accumulator, FixedType):
            return []
        low, high = self.clamp_codes
        above = low is not None and low > self.accumulator.max_code
        if above or (high is not None and high < self.accumulator.min_code):
            limit = self.low if above else self.high
            side = "below" if above else "above"
            message = f"every sum that its accumulator {self.accumulator} holds is {side} its limit {limit:g}"
            return [self.problem(message, "a wider accumulator, or other limits")]
        return []

    def _type_problems(self, types: tuple[NumberType, ...]) -> list[Problem]:
        """Fixed point beside floating point, or half beside float32, which sums of half products alone may
        have.
        """
        names = ", ".join(
            f"{what} {type_}"
            for what, type_ in zip(("input", "weights", "bias", "accumulator", "output"), types, strict=True)
        )
        floating = [one for one in types if isinstance(one, FloatType)]
        if 0 < len(floating) < len(types):
            message = f"{floating[0]} is mixed with fixed point ({names})"
            return [self.problem(message, f"make all of them {floating[0]}, or all of them fixed")]
        others = {self.input_type, self.weight_type, self.bias_type, self.result_type}
        if floating and (len(others) > 1 or self.accumulator not in (self.input_type, FLOAT32)):
            message = f"half is mixed with float32 ({names})"
            return [self.problem(message, "one type for all of them; half may have accumulator: float32")]
        return []

    @cached_property
    def hardware_key(self) -> Hashable:
        """Of the weights only counts, and how many products of theirs two of a DSP may add; those that may be
        adders themselves.
        """
        packed = (
            ()
            if self.is_float
            else (self.packed_chain, self.quad_chains, self.only_signs, self._of_just_these)
        )
        return None if self.geometry is None else (self.geometry, self.weights.shape, self.bias.size, packed)

    @property
    def _of_just_these(self) -> Hashable:
        """What of the weights themselves hardware may be made of; None: no hardware is."""
        from hlsgen.layers.constant_products import has_adders

        return hash(np.asarray(self.weights).tobytes()) if has_adders(self) else None

    @cached_property
    def packed_chain(self) -> int:
        """Products of packed multipliers that may be added; see hlsgen/layers/packing.py."""
        from hlsgen.layers.packing import chain_of_weights

        return chain_of_weights(self)

    @cached_property
    def only_signs(self) -> bool:
        """Whether every weight is -1 or 1, as a code."""
        few = isinstance(self.weight_type, FixedType) and self.weight_type.width <= 4
        return few and bool((np.abs(self.weights) == 1).all())

    @cached_property
    def quad_chains(self) -> tuple[int, int]:
        """The same of multipliers that make four products, for one pixel and for two."""
        from hlsgen.layers.packing import quad_of_weights

        return quad_of_weights(self, 1), quad_of_weights(self, 2)

    def folds(self) -> Iterator[Fold]:
        from hlsgen.layers.conv2d_stage import conv_folds

        return conv_folds(self)

    def stage(self, fold: Fold) -> Stage:
        from hlsgen.layers.conv2d_stage import ConvStage

        return ConvStage(layer=self, fold=fold)

    def _group_problems(self) -> list[Problem]:
        channels = self.read_shape[0]
        if channels % self.groups == 0 and self.out_channels % self.groups == 0:
            return []
        message = (
            f"{self.groups} groups do not divide {channels} input and {self.out_channels} output channels"
        )
        return [self.problem(message, "a number of groups that divides both")]

    def retyped(self, sources: tuple[NumberType, ...], result: NumberType | None) -> Self:
        """The layer reading `sources[0]`, with the accumulator that its weights need; None: gives that type.

        Weights and bias stay: with a fixed-point source they must already be codes of fixed-point types.
        Raises DesignError: the sums need more than 128 bits.
        """
        fresh = replace(self, input_type=sources[0])
        accumulator = fresh._exact_accumulator()
        typed = replace(fresh, accumulator=accumulator, result_type=accumulator if result is None else result)
        if isinstance(accumulator, FixedType):
            # of many weights it is a long sum, and the same whatever the accumulator
            vars(typed)["worst_case_sum"] = fresh.worst_case_sum
        return typed

    def _exact_accumulator(self) -> NumberType:
        """The narrowest type that holds every sum of these weights and any input exactly."""
        if isinstance(self.input_type, FloatType):
            wish = self.accumulator_wish
            return wish if isinstance(wish, FloatType) else self.input_type
        low, high = self.worst_case_sum
        try:
            return tight_accumulator(low, high, self.sum_fraction)
        except ValueError:
            message = f"sums of {self.input_type} times {self.weight_type} need more than 128 bits"
            raise DesignError(self.problem(message, "narrower inputs or weights")) from None

    def golden(self, *codes: Codes, simd: int | None = None) -> Codes:
        """The layer's result in NumPy, for codes [frames, C, H, W] -> [frames, M, OH, OW].

        `simd` is the number of input channels of a pass (None: all of a group); only float32 and a narrowed
        accumulator depend on it.
        """
        return self.result_of(self.sums(codes[0], simd=simd))

    def sums(self, codes: Codes, *, simd: int | None = None) -> Codes:
        """What the accumulators hold at the end, [frames, M, OH, OW], in codes of `accumulator`."""
        simd = simd or self.group_channels
        if self.is_float and codes.dtype == np.float64:
            return self.float64_sums(codes)
        padded = self._padded(self._frames(codes))
        if self.is_float:
            with np.errstate(over="ignore", invalid="ignore"):  # half ends early: infinities may meet
                return self._float_sums(padded, simd)
        return self._fixed_sums(padded, simd)

    def result_of(self, sums: Codes) -> Codes:
        """Accumulators cast to the output's type."""
        if isinstance(self.result_type, FloatType):
            if sums.dtype == np.float64:
                return limited(sums, self.low, self.high)
            return floating_result(sums, self.accumulator, self.low, self.high, self.result_type)
        assert isinstance(self.accumulator, FixedType)
        low, high = self.clamp_codes
        if low is not None:
            sums = np.maximum(sums, low)
        if high is not None:
            sums = np.minimum(sums, high)
        return self.result_type.cast(sums, self.accumulator)

    @property
    def clamp_codes(self) -> tuple[int | None, int | None]:
        """`low` and `high` as codes of the accumulator; None where no sum is beyond."""
        assert isinstance(self.accumulator, FixedType)
        scale = 2.0**self.accumulator.fraction
        low = None if self.low is None else math.ceil(self.low * scale)
        high = None if self.high is None else math.floor(self.high * scale)
        if low is not None and low <= self.accumulator.min_code:
            low = None
        if high is not None and high >= self.accumulator.max_code:
            high = None
        return low, high

    def float64_sums(self, codes: Codes) -> NDArray[np.float64]:
        """The convolution of float32 values in float64, to judge the error of the fp32 order by."""
        windows = self._windows(self._padded(self._frames(codes)).astype(np.float64, copy=False))
        total = by_matrix(windows, self.weights, self.groups, slice(None), exact_product)
        return total + self.bias[:, None, None] if self.bias.size else total

    def _frames(self, codes: Codes) -> Codes:
        """Codes of the source as [frames, *read_shape]."""
        return frames_of(codes, self.in_shape)

    def _padded(self, frames: Codes) -> Codes:
        top, left, bottom, right = self.padding
        count, channels, height, width = frames.shape
        padded = np.full((count, channels, height + top + bottom, width + left + right), 0, frames.dtype)
        padded[:, :, top : top + height, left : left + width] = frames
        return padded

    def _windows(self, padded: Codes) -> Codes:
        """[frames, C, OH, OW, KH, KW]: a view on each output's receptive field."""
        view = np.lib.stride_tricks.sliding_window_view(padded, self.reach, axis=(2, 3))
        return view[:, :, :: self.stride[0], :: self.stride[1], :: self.dilation[0], :: self.dilation[1]]

    def _float_sums(self, padded: Codes, simd: int) -> Codes:
        windows = self._windows(padded.astype(np.float32))
        weights = self.weights.astype(np.float32)
        sums = self.accumulator
        assert isinstance(sums, FloatType)
        frames = windows.shape[0]
        total = np.empty((frames, *self.output_shape), np.float32)
        total[:] = self.bias.astype(np.float32)[:, None, None] if self.bias.size else np.float32(0)
        _, rows, columns = self.output_shape
        step = max(1, BLOCK_ELEMENTS // (self.out_channels * columns * simd * self.taps))
        members = self.out_channels // self.groups
        for frame, top, group in product(range(frames), range(0, rows, step), range(self.groups)):
            part = slice(top, top + step)
            filters = slice(group * members, (group + 1) * members)
            for first in range(0, self.group_channels, simd):
                products = [
                    sums.rounded(
                        windows[frame, group * self.group_channels + channel, part, :, row, column]
                        * weights[filters, channel, row, column][:, None, None]
                    )
                    for channel in range(first, first + simd)
                    for row in range(self.kernel[0])
                    for column in range(self.kernel[1])
                ]
                total[frame, filters, part] = sums.rounded(
                    total[frame, filters, part] + pairwise_sum(products, sums)
                )
        return sums.stored(total)

    def _fixed_sums(self, padded: Codes, simd: int) -> Codes:
        accumulator = self.accumulator
        assert isinstance(accumulator, FixedType)
        fraction = self.sum_fraction
        if accumulator.fraction == fraction and self._never_overflows(accumulator):
            return self._exact_sums(padded, slice(None)) + self._bias_codes()
        total = accumulator.cast(
            np.broadcast_to(self._bias_codes(), self._result_shape(padded)), self._exact_type
        )
        for first in range(0, self.group_channels, simd):
            dot = self._exact_sums(padded, slice(first, first + simd))
            running = _rescaled(total, accumulator.fraction, fraction)
            total = accumulator.cast(running + dot, self._exact_type)
        return total

    @property
    def product_fraction(self) -> int:
        """Fraction bits of an exact product (and of the exact sum, the bias included)."""
        assert isinstance(self.input_type, FixedType) and isinstance(self.weight_type, FixedType)
        return self.input_type.fraction + self.weight_type.fraction

    @property
    def sum_fraction(self) -> int:
        """Fraction bits of the exact sum: a bias may be finer than the products."""
        if not self.bias.size:
            return self.product_fraction
        assert isinstance(self.bias_type, FixedType)
        return max(self.product_fraction, self.bias_type.fraction)

    @property
    def _exact_type(self) -> FixedType:
        """A type in which every intermediate sum of a narrowed accumulator is exact."""
        return FixedType(128, 128 - self.sum_fraction)

    def _never_overflows(self, accumulator: FixedType) -> bool:
        worst = self.worst_case_sum
        return accumulator.min_code <= worst[0] and worst[1] <= accumulator.max_code

    def accumulator_suffices(self) -> bool:
        """Whether no sum of these weights and any input overflows or loses a bit in `accumulator`."""
        accumulator = self.accumulator
        assert isinstance(accumulator, FixedType)
        return accumulator.fraction == self.sum_fraction and self._never_overflows(accumulator)

    def exact_accumulator(self) -> FixedType:
        """The type that holds every sum of any weights of `weight_type` and any bias of `bias_type`."""
        assert isinstance(self.input_type, FixedType) and isinstance(self.weight_type, FixedType)
        bias = self.bias_type if self.bias.size and isinstance(self.bias_type, FixedType) else None
        return accumulator_type(self.input_type, self.weight_type, self.group_channels * self.taps, bias)

    @cached_property
    def worst_case_sum(self) -> tuple[int, int]:
        """The least and the largest sum that these weights and any input of input_type can give, in codes
        of `sum_fraction`.
        """
        assert isinstance(self.input_type, FixedType)
        low, high = self.input_type.min_code, self.input_type.max_code
        flat = self.weights.reshape(self.out_channels, -1)
        assert isinstance(self.weight_type, FixedType)
        # sums of codes this wide could leave int64
        wide: type = object if self.weight_type.width > 40 else np.int64
        finer = self.sum_fraction - self.product_fraction
        sums: Codes = np.array([one.sum(dtype=wide) for one in flat], wide)
        positive: Codes = np.array([np.maximum(one, 0).sum(dtype=wide) for one in flat], wide)
        negative = (sums - positive).astype(object) << finer
        positive = positive.astype(object) << finer
        bias = self._bias_codes().reshape(-1).astype(object)
        # the hull with the bias alone and with zero: running sums pass through them
        most = max(0, *(bias + positive * max(high, 0) + negative * min(low, 0)), *bias)
        least = min(0, *(bias + positive * min(low, 0) + negative * max(high, 0)), *bias)
        return int(least), int(most)

    @property
    def bias_codes(self) -> Codes:
        """The bias [M] in codes of `sum_fraction`; zeros where there is none."""
        return self._bias_codes().reshape(-1)

    def _bias_codes(self) -> Codes:
        """The bias [M, 1, 1] in codes of `sum_fraction`."""
        assert isinstance(self.bias_type, FixedType)
        if not self.bias.size:
            return np.zeros((self.out_channels, 1, 1), np.int64)
        shifted = _rescaled(np.asarray(self.bias), self.bias_type.fraction, self.sum_fraction)
        return np.asarray(shifted)[:, None, None]

    def _result_shape(self, padded: Codes) -> tuple[int, ...]:
        return (padded.shape[0], *self.output_shape)

    def _exact_sums(self, padded: Codes, channels: slice) -> Codes:
        """Exact integer sums over `channels` of each group, in codes of `sum_fraction`.

        As int64, or as Python ints where int64 could overflow.
        """
        finer = self.sum_fraction - self.product_fraction
        bound = max(abs(v) for v in self.worst_case_sum)
        if bound < EXACT_IN_FLOAT64:
            windows = self._windows(padded.astype(self._products_dtype))
            return by_matrix(windows, self.weights, self.groups, channels).astype(np.int64) << finer
        windows = self._windows(padded)
        parts = []
        for window, weights in grouped(
            windows.astype(object), self.weights.astype(object), self.groups, channels
        ):
            parts.append(np.einsum("nchwij,mcij->nmhw", window, weights, optimize=False))
        sums: Codes = np.concatenate(parts, axis=1)
        return sums << finer

    @property
    def _products_dtype(self) -> type[np.float32 | np.float64]:
        """float32 where products are small beside what it holds exactly."""
        assert isinstance(self.input_type, FixedType) and isinstance(self.weight_type, FixedType)
        bits = self.input_type.width + self.weight_type.width
        return np.float32 if bits <= SINGLE_PRODUCT_BITS else np.float64


def _rescaled(codes: Codes, fraction: int, target: int) -> Codes:
    """Codes of `fraction` as codes of `target` fraction bits, never losing a bit (target >= fraction)."""
    if target < fraction:
        raise ValueError(f"{fraction} fraction bits do not fit {target}")
    scaled = codes.astype(object) * (1 << (target - fraction))
    largest = max((abs(int(v)) for v in scaled.reshape(-1)), default=0)
    return scaled.astype(np.int64) if largest < (1 << 62) else scaled
