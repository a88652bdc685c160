"""Pools against torch in float64, and against exact fractions in fixed point."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import Codes, FixedType
from hlsgen.base.type_text import parse_type
from hlsgen.layers.division import Averaging, exact_reciprocal
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.pool2d import Pool2d
from tests.support.layers.exact import FLOAT, cast, codes_of, fixed_types, messages, sources_of, tensor, value


@st.composite
def windows(draw: st.DrawFn, *, average: bool) -> dict[str, Any]:
    """Parameters that torch takes too: symmetric padding up to half the kernel, ceil_mode or not."""
    kernel = draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    stride = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    dilation = (1, 1) if average else draw(st.tuples(st.integers(1, 2), st.integers(1, 2)))
    pad = tuple(draw(st.integers(0, k // 2)) for k in kernel)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    size = tuple(max(1, r + draw(st.integers(-1, 6)) - p) for r, p in zip(reach, pad, strict=True))
    ceil = draw(st.booleans())
    return {"kernel": kernel, "stride": stride, "dilation": dilation, "pad": pad, "size": size, "ceil": ceil}


def overhang_of(window: dict[str, Any]) -> tuple[int, int] | None:
    """What torch's ceil_mode adds: another window if it begins inside the image or its left padding."""
    found = []
    for size, kernel, stride, dilation, pad in zip(
        *(window[name] for name in ("size", "kernel", "stride", "dilation", "pad")), strict=True
    ):
        room = size + 2 * pad - (kernel - 1) * dilation - 1
        if room < 0:
            return None
        steps = -(-room // stride) if window["ceil"] else room // stride
        if steps * stride >= size + pad:
            steps -= 1
        found.append(max(0, steps * stride - room))
    return found[0], found[1]


def pool_of(window: dict[str, Any], function: Literal["max", "average"], **more: Any) -> Pool2d | None:
    overhang = overhang_of(window)
    if overhang is None:
        return None
    return Pool2d(
        name="pool",
        source=tensor((2, *window["size"])),
        result_type=FLOAT,
        function=function,
        kernel=window["kernel"],
        stride=window["stride"],
        padding=(*window["pad"], *window["pad"]),
        dilation=window["dilation"],
        overhang=overhang,
        **more,
    )


@settings(max_examples=150, deadline=None)
@given(window=windows(average=False), seed=st.integers(0, 99))
def test_max_equals_torch(window: dict[str, Any], seed: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pool = pool_of(window, "max")
    if pool is None or pool.check():
        return
    (frames,) = sources_of(pool, seed)
    wanted = torch.nn.functional.max_pool2d(
        torch.from_numpy(frames - 9),
        window["kernel"],
        window["stride"],
        window["pad"],
        window["dilation"],
        window["ceil"],
    )
    got = pool.golden(frames - 9)  # negative throughout: zero padding would win
    assert got.shape[1:] == pool.output_shape == tuple(wanted.shape[1:])
    np.testing.assert_array_equal(got, wanted.numpy())


@settings(max_examples=150, deadline=None)
@given(
    window=windows(average=True),
    include=st.booleans(),
    divisor=st.none() | st.integers(1, 9),
    seed=st.integers(0, 99),
)
def test_average_equals_torch(window: dict[str, Any], include: bool, divisor: int | None, seed: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pool = pool_of(window, "average", count_include_pad=include, divisor=divisor)
    if pool is None or pool.check():
        return
    (frames,) = sources_of(pool, seed)
    wanted = torch.nn.functional.avg_pool2d(
        torch.from_numpy(frames),
        window["kernel"],
        window["stride"],
        window["pad"],
        window["ceil"],
        include,
        divisor,
    )
    assert pool.output_shape == tuple(wanted.shape[1:])
    np.testing.assert_allclose(pool.golden(frames), wanted.numpy(), rtol=1e-12, atol=1e-12)


def by_fractions(pool: Pool2d, frames: Codes) -> Codes:
    """A fixed-point pool, pixel by pixel."""
    source, result = pool.source.type, pool.result_type
    assert isinstance(source, FixedType) and isinstance(result, FixedType)
    channels, height, width = pool.source.shape
    top, left, bottom, right = pool.padding
    out = np.empty((len(frames), *pool.output_shape), object)
    for frame, channel, y, x in np.ndindex(*out.shape):
        inside, counted = [], 0
        for i, j in np.ndindex(*pool.kernel):
            row = y * pool.stride[0] - top + i * pool.dilation[0]
            column = x * pool.stride[1] - left + j * pool.dilation[1]
            in_image = 0 <= row < height and 0 <= column < width
            if in_image:
                inside.append(value(frames[frame, channel, row, column], source))
            counted += in_image or (
                pool.count_include_pad and row < height + bottom and column < width + right
            )
        if pool.function == "max":
            out[frame, channel, y, x] = cast(max(inside), result)
        else:
            out[frame, channel, y, x] = cast(Fraction(sum(inside)) / (pool.divisor or counted), result)
    return out


@settings(max_examples=120, deadline=None)
@given(data=st.data(), source=fixed_types(), result=fixed_types(), seed=st.integers(0, 99))
def test_fixed_pools_are_rounded_once(
    data: st.DataObject, source: FixedType, result: FixedType, seed: int
) -> None:
    function: Literal["max", "average"] = data.draw(st.sampled_from(["max", "average"]))
    window = data.draw(windows(average=function == "average"))
    more = {}
    if function == "average":
        more = {
            "count_include_pad": data.draw(st.booleans()),
            "divisor": data.draw(st.sampled_from([None, 3])),
        }
    pool = pool_of(window, function, **more)
    if pool is None or source == result:
        return
    after = data.draw(st.tuples(st.integers(0, 1), st.integers(0, 1)))
    before = pool.padding[:2]
    pool = replace(pool, padding=(*before, before[0] + after[0], before[1] + after[1]))
    pool = pool.retyped((source,), result)
    if pool.check():
        return
    (frames,) = sources_of(pool, seed, frames=1)
    np.testing.assert_array_equal(pool.golden(frames), by_fractions(pool, frames))


@pytest.mark.parametrize("source", ["ufixed<64,64>", "fixed<64,64>"])
def test_wide_averages_leave_int64(source: str) -> None:
    wide, result = parse_type(source), parse_type("fixed<64,60,rnd_conv>")
    pool = Pool2d(
        name="pool",
        source=tensor((1, 4, 4), wide),
        result_type=result,
        function="average",
        kernel=(3, 3),
        padding=(1, 1, 1, 1),
    )
    (frames,) = sources_of(pool, 1)
    np.testing.assert_array_equal(pool.golden(frames), by_fractions(pool, frames))


def as_hardware(averaging: Averaging, total: int, index: int) -> int:
    """The arithmetic that the docstring of Averaging promises, in integers alone."""
    n = total << averaging.scale
    sign = -1 if n < 0 else 0
    magnitude = n ^ sign
    assert 0 <= magnitude < 1 << averaging.bits
    q = (magnitude * averaging.multipliers[index] >> averaging.shift) ^ sign
    sticky = q * averaging.counts[index] != n
    code = np.array([2 * q + sticky], object)
    type_ = averaging.quotient_type
    assert type_.min_code <= code[0] <= type_.max_code
    return int(averaging.result.cast(code, type_)[0])


@settings(max_examples=150, deadline=None)
@given(
    source=fixed_types(),
    result=fixed_types(),
    counts=st.sets(st.integers(1, 60), min_size=1, max_size=4),
    seed=st.integers(0, 99),
)
def test_reciprocals_divide_as_golden(
    source: FixedType, result: FixedType, counts: set[int], seed: int
) -> None:
    most = max(counts)
    averaging = Averaging(
        counts=tuple(sorted(counts)),
        low=most * source.min_code,
        high=most * source.max_code,
        fraction=source.fraction,
        result=result,
    )
    rng = np.random.default_rng(seed)
    sums = [
        averaging.low,
        averaging.high,
        *(int(s) for s in rng.integers(averaging.low, averaging.high + 1, 6)),
    ]
    for index, count in enumerate(averaging.counts):
        for total in sums:
            wanted = cast(value(total, source) / count, result)
            assert as_hardware(averaging, total, index) == wanted
            assert int(averaging.golden(np.array([total]), count)[0]) == wanted


def test_exact_reciprocal_of_every_small_number() -> None:
    for bits in (0, 1, 4, 9):
        numbers = np.arange(1 << bits)
        for count in range(1, 200):
            multiplier, shift = exact_reciprocal(count, bits)
            np.testing.assert_array_equal(numbers * multiplier >> shift, numbers // count)


@settings(max_examples=300, deadline=None)
@given(
    count=st.integers(1, 1 << 20),
    bits=st.integers(1, 100),
    more=st.integers(0, 9),
    draw=st.integers(0, (1 << 100) - 1),
)
def test_exact_reciprocal_at_the_corners(count: int, bits: int, more: int, draw: int) -> None:
    multiplier, shift = exact_reciprocal(count, bits)
    wider = exact_reciprocal(count, bits, shift + more)
    most = (1 << bits) - 1
    last = most // count * count
    for n in {0, most, last, max(0, last - 1), min(most, count), count - 1, draw}:
        if 0 <= n <= most:
            assert n * multiplier >> shift == n // count
            assert n * wider[0] >> wider[1] == n // count
            assert ~(n * multiplier >> shift) == ~n // count
    assert shift <= bits + (count - 1).bit_length()


def test_exact_reciprocal_is_the_least() -> None:
    assert exact_reciprocal(8, 16) == (1, 3)
    multiplier, shift = exact_reciprocal(9, 16)
    shorter = -(-(1 << shift - 1) // 9)
    numbers = np.arange(1 << 16)
    assert (numbers * shorter >> (shift - 1) != numbers // 9).any()


@settings(max_examples=80, deadline=None)
@given(
    source=fixed_types(),
    result=fixed_types(),
    function=st.sampled_from(["max", "average", "sum"]),
    height=st.integers(1, 5),
    width=st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_global_pools(
    source: FixedType,
    result: FixedType,
    function: Literal["max", "average", "sum"],
    height: int,
    width: int,
    seed: int,
) -> None:
    if source == result:
        return
    pool = GlobalPool(
        name="pool", source=tensor((3, height, width), source), result_type=result, function=function
    )
    codes = codes_of(source, (2, 3, height, width), np.random.default_rng(seed))
    exact = {
        "max": max,
        "sum": sum,
        "average": lambda values: Fraction(sum(values)) / len(values),
    }[function]
    got = pool.golden(codes)
    values = source.decode(codes)
    as_float = pool.retyped((FLOAT,), None).golden(values)
    for frame, channel in np.ndindex(2, 3):
        pixels = [value(code, source) for code in codes[frame, channel].reshape(-1)]
        assert got[frame, channel, 0, 0] == cast(exact(pixels), result)
        assert as_float[frame, channel, 0, 0] == pytest.approx(float(exact(pixels)), rel=1e-12)


@pytest.mark.parametrize("source", ["fixed<8,3>", "ufixed<8,3>", "fixed<64,3>"])
@pytest.mark.parametrize("pixels", [1, 4, 5, 6])
def test_natural_sums_are_exact(source: str, pixels: int) -> None:
    type_ = parse_type(source)
    assert isinstance(type_, FixedType)
    pool = GlobalPool(name="pool", source=tensor((1, 1, pixels)), result_type=FLOAT, function="sum")
    pool = pool.retyped((type_,), None)
    assert pool.check() == [] and pool.result_type == pool.sum_type
    for code in (type_.min_code, type_.max_code):
        (total,) = pool.golden(np.full((1, 1, 1, pixels), code)).reshape(-1)
        assert int(total) == pixels * code
        assert pool.sum_type.min_code <= total <= pool.sum_type.max_code


@settings(max_examples=60, deadline=None)
@given(window=windows(average=True), source=fixed_types(widest=16), seed=st.integers(0, 9))
def test_natural_types_hold_the_result(window: dict[str, Any], source: FixedType, seed: int) -> None:
    """Averages by powers of two and all maxima and sums are exact, others right to half an LSB."""
    pool = pool_of(window, "average")
    if pool is None or pool.check():
        return
    pool = pool.retyped((source,), None)
    assert isinstance(pool.result_type, FixedType)
    powers = all(count & (count - 1) == 0 for count in pool.distinct_counts)
    assert powers or pool.result_type.fraction == source.fraction + 8
    (codes,) = sources_of(pool, seed)
    exact = pool.retyped((FLOAT,), None).golden(source.decode(codes))
    error = np.abs(pool.result_type.decode(pool.golden(codes)) - exact).max()
    assert error <= (1e-9 if powers else 0.5001) * pool.result_type.resolution


def test_natural_type_of_a_small_divisor_holds_its_sums() -> None:
    pool = Pool2d(
        name="pool",
        source=tensor((1, 3, 3), "fixed<8,8>"),
        result_type=FLOAT,
        function="average",
        kernel=(3, 3),
        divisor=2,
    ).retyped((parse_type("fixed<8,8>"),), None)
    assert isinstance(pool.result_type, FixedType)
    lowest = np.full((1, 1, 3, 3), -128)
    assert pool.result_type.decode(pool.golden(lowest)).item() == -128 * 9 / 2


def test_counts_are_those_of_each_window() -> None:
    pool = Pool2d(
        name="pool",
        source=tensor((1, 4, 5), "fixed<8,4>"),
        result_type=parse_type("fixed<8,4>"),
        function="average",
        kernel=(3, 3),
        stride=(2, 2),
        padding=(1, 1, 1, 1),
        overhang=(1, 0),
    )
    assert pool.output_shape == (1, 3, 3)
    assert pool.inside == ((2, 3, 1), (2, 3, 2))
    assert pool.window_counts == ((2, 3, 1), (2, 3, 2))
    assert pool.distinct_counts == (2, 3, 4, 6, 9) == pool.averaging.counts
    padded = replace(pool, count_include_pad=True)
    assert padded.inside == ((2, 3, 1), (2, 3, 2))
    assert padded.window_counts == ((3, 3, 2), (3, 3, 3))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kernel": (5, 2)}, "the window covers 5 x 2"),
        ({"kernel": (0, 2)}, "at least 1"),
        ({"padding": (-1, 0, 0, 0)}, "at least 0"),
        ({"kernel": (2, 2), "padding": (2, 0, 0, 0)}, "windows lie wholly outside the image of 4 x 4: they"),
        ({"function": "average", "dilation": (2, 1)}, "an average pool has no dilation"),
        ({"function": "average", "overhang": (0, 2)}, "they have no average"),
        ({"function": "average", "divisor": 0}, "a divisor of 0"),
        ({"divisor": 3}, "does not go with a pool of function max"),
        ({"result_type": FLOAT}, "float32 is mixed with fixed point"),
        ({"function": "average", "result_type": FixedType(64, -60)}, "need more than 128 bits"),
    ],
)
def test_broken_rules_are_named(changes: dict[str, Any], words: str) -> None:
    pool = Pool2d(
        name="pool",
        source=tensor((1, 4, 4), "fixed<8,4>"),
        result_type=parse_type("fixed<8,4>"),
        function="max",
        kernel=(2, 2),
        stride=(2, 2),
    )
    assert pool.check() == []
    said = messages(replace(pool, **changes))
    assert words in said and said.startswith("error: pool: ")
