"""Clamp, leaky, cast and the binary layers: float64 against torch, fixed point against exact fractions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.base.type_text import parse_type
from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Add, Binary, Mul, Sub
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.leaky import Leaky
from tests.support.layers.exact import FLOAT, cast, codes_of, fixed_types, messages, sources_of, tensor, value

SHAPE = (3, 2, 4)
LIMITS = st.none() | st.sampled_from([0.0, -1.0, 6.0, 0.3, -2.7, 1000.0, -1000.0, 2.0**-12])


def each(layer: Layer, exact: Callable[..., Fraction], seed: int) -> None:
    """The layer of random codes is, element by element, the cast of `exact` of values and channel."""
    sources = sources_of(layer, seed)
    got = layer.golden(*sources)
    types = [source.type for source in layer.sources]
    assert isinstance(layer.output_type, FixedType) and got.shape[1:] == layer.output_shape
    assert layer.output_type.min_code <= got.min() and got.max() <= layer.output_type.max_code
    spread = [np.broadcast_to(codes, got.shape) for codes in sources]
    for at in np.ndindex(*got.shape):
        values = [value(codes[at], type_) for codes, type_ in zip(spread, types, strict=True)]
        assert int(got[at]) == cast(exact(*values, at[1]), layer.output_type), (at, values)


def clamp(low: float | None, high: float | None, source: str = "float32", result: str = "float32") -> Clamp:
    return Clamp(
        name="clamp", source=tensor(SHAPE, source), result_type=parse_type(result), low=low, high=high
    )


@pytest.mark.parametrize(
    ("low", "high", "name"), [(0, None, "relu"), (0, 6, "relu6"), (-0.5, 0.7, "hardtanh")]
)
def test_float_clamp_equals_torch(low: float, high: float | None, name: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    (values,) = sources_of(clamp(low, high), 0)
    limits = (low, high) if name == "hardtanh" else ()
    wanted = getattr(torch.nn.functional, name)(torch.from_numpy(values), *limits).numpy()
    np.testing.assert_array_equal(clamp(low, high).golden(values), wanted)


def test_limits_of_the_widest_unsigned_type() -> None:
    layer = clamp(1.0, 5.0, "ufixed<64,32>", "ufixed<64,32>")
    assert str(layer.limited_type) == "ufixed<64,32>"


def clamped(x: Fraction, low: int | None, high: int | None, resolution: Fraction) -> Fraction:
    """Limits are rounded towards each other, to the resolution of the source."""
    if low is not None:
        x = max(x, low * resolution)
    return x if high is None else min(x, high * resolution)


@settings(max_examples=150, deadline=None)
@given(low=LIMITS, high=LIMITS, source=fixed_types(), result=fixed_types(), seed=st.integers(0, 99))
def test_fixed_clamp(
    low: float | None, high: float | None, source: FixedType, result: FixedType, seed: int
) -> None:
    layer = clamp(low, high).retyped((source,), result)
    if layer.check() or source == result:
        return
    unit = value(1, source)
    least = None if low is None else -(-Fraction(low) // unit)
    most = None if high is None else Fraction(high) // unit
    each(layer, lambda x, channel: clamped(x, least, most, unit), seed)
    natural = layer.retyped((source,), None)
    assert isinstance(natural.result_type, FixedType)
    exact = replace(natural.result_type, overflow="wrap")
    each(replace(natural, result_type=exact), lambda x, channel: clamped(x, least, most, unit), seed)
    wrapped = natural.golden(*sources_of(natural, seed))
    decoded = natural.result_type.decode(wrapped)
    assert low is None or (decoded >= low).all()
    assert high is None or (decoded <= high).all()


def test_limits_that_do_nothing_are_none() -> None:
    assert clamp(-8, 100, "fixed<8,4>", "fixed<8,4>").limit_codes == (None, None)
    assert clamp(0, 6, "fixed<8,4>", "fixed<8,4>").limit_codes == (0, 96)
    assert clamp(0, 6, "ufixed<8,4>", "fixed<8,4>").limit_codes == (None, 96)


def test_a_limit_beyond_the_range_holds() -> None:
    layer = clamp(2.0, 3.0, "ufixed<8,0>", "fixed<16,6>").retyped((parse_type("ufixed<8,0>"),), None)
    assert isinstance(layer.result_type, FixedType)
    got = layer.result_type.decode(layer.golden(*sources_of(layer, 0)))
    assert (got == 2.0).all()


def test_a_limit_far_beyond_the_range_leaves_int64() -> None:
    layer = clamp(3.0, None, "fixed<8,-70>", "fixed<16,6>")
    (codes,) = sources_of(layer, 0)
    assert layer.check() == [] and (layer.golden(codes) == 3 << 10).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"low": 6.0, "source": tensor(SHAPE, "fixed<8,-130>")}, "its limits need more than 128 bits"),
        ({"low": 2.0, "high": 1.0}, "the lower limit 2 is above the upper limit 1"),
        ({"high": float("inf")}, "limits of 0 and inf are not finite"),
        (
            {"low": 0.1, "high": 0.2, "source": tensor(SHAPE, "fixed<8,6>")},
            "resolves no value from 0.1 to 0.2",
        ),
        ({"result_type": FLOAT}, "float32 is mixed with fixed point"),
    ],
)
def test_clamp_rules(changes: dict[str, Any], words: str) -> None:
    layer = clamp(0.0, None, "fixed<8,4>", "fixed<8,4>")
    assert layer.check() == []
    assert words in messages(replace(layer, **changes))


def leaky(slopes: list[float]) -> Leaky:
    return Leaky(
        name="leaky",
        source=tensor(SHAPE),
        result_type=FLOAT,
        slopes=np.array(slopes),
        slope_type=FLOAT,
    )


@pytest.mark.parametrize("slopes", [[0.01], [0.25, -0.5, 3.0]])
def test_float_leaky_equals_torch(slopes: list[float]) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    (values,) = sources_of(leaky(slopes), 0)
    wanted = torch.nn.functional.prelu(torch.from_numpy(values), torch.tensor(slopes, dtype=torch.float64))
    np.testing.assert_array_equal(leaky(slopes).golden(values), wanted.numpy())


@settings(max_examples=150, deadline=None)
@given(
    source=fixed_types(),
    slope=fixed_types(widest=12),
    result=fixed_types(),
    each_channel=st.booleans(),
    seed=st.integers(0, 99),
)
def test_fixed_leaky(
    source: FixedType, slope: FixedType, result: FixedType, each_channel: bool, seed: int
) -> None:
    codes = codes_of(slope, (3 if each_channel else 1,), np.random.default_rng(seed))
    layer = replace(leaky([0.0]), slopes=codes, slope_type=slope).retyped((source,), result)
    assert layer.check() == []

    def exact(x: Fraction, channel: int) -> Fraction:
        return x if x >= 0 else x * value(codes[channel if each_channel else 0], slope)

    natural = layer.retyped((source,), None)
    each(natural, exact, seed)
    if result not in (source, layer.exact_type):
        each(layer, exact, seed)


def test_natural_leaky_loses_nothing() -> None:
    source, slope = parse_type("fixed<8,4>"), parse_type("ufixed<4,2>")
    layer = replace(leaky([0.0]), slopes=np.array([5]), slope_type=slope).retyped((source,), None)
    (codes,) = sources_of(layer, 3)
    values = source.decode(codes)
    decoded = layer.exact_type.decode(layer.golden(codes))
    np.testing.assert_array_equal(decoded, np.where(values >= 0, values, values * 1.25))


def test_wide_leaky_leaves_int64() -> None:
    source, slope = parse_type("fixed<64,4>"), parse_type("fixed<40,2>")
    layer = replace(leaky([0.0]), slopes=np.array([slope.min_code]), slope_type=slope)
    each(layer.retyped((source,), None), lambda x, channel: x if x >= 0 else -2 * x, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"slopes": np.array([0.1, 0.2])}, "slopes of shape (2,) for 3 channels"),
        ({"slope_type": parse_type("fixed<8,4>")}, "slopes fixed<8,4>"),
    ],
)
def test_leaky_rules(changes: dict[str, Any], words: str) -> None:
    assert leaky([0.1]).check() == []
    assert words in messages(replace(leaky([0.1]), **changes))


def test_leaky_too_wide() -> None:
    wide = replace(leaky([0.0]), slopes=np.array([-1]), slope_type=parse_type("fixed<64,0>"))
    layer = wide.retyped((parse_type("fixed<64,200>"),), parse_type("fixed<8,4>"))
    assert layer.check() == []  # a slope of one code: its products have the width of the source
    wider = replace(layer, slope_type=FixedType(64, -40), slopes=np.array([1 << 62]))
    assert "need more than 128 bits" in messages(wider)


BINARY = {Add: np.add, Sub: np.subtract, Mul: np.multiply}


def binary(kind: type[Binary], left: str, right: str, result: str, one_pixel: bool = False) -> Binary:
    return kind(
        name="both",
        inputs=("a", "b"),
        left=tensor(SHAPE, left),
        right=tensor((3, 1, 1) if one_pixel else SHAPE, right),
        result_type=parse_type(result),
    )


@pytest.mark.parametrize("one_pixel", [False, True])
@pytest.mark.parametrize("kind", BINARY)
def test_float_binary(kind: type[Binary], one_pixel: bool) -> None:
    layer = binary(kind, "float32", "float32", "float32", one_pixel)
    assert layer.check() == [] and layer.broadcasts == one_pixel and layer.output_shape == SHAPE
    left, right = sources_of(layer, 0)
    np.testing.assert_array_equal(layer.golden(left, right), BINARY[kind](left, right))


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(list(BINARY)),
    left=fixed_types(),
    right=fixed_types(),
    result=fixed_types(),
    one_pixel=st.booleans(),
    seed=st.integers(0, 99),
)
def test_fixed_binary(
    kind: type[Binary], left: FixedType, right: FixedType, result: FixedType, one_pixel: bool, seed: int
) -> None:
    layer = binary(kind, "fixed<8,4>", "fixed<8,4>", "fixed<8,4>", one_pixel).retyped((left, right), result)
    assert layer.check() == []
    operation = {Add: lambda a, b, c: a + b, Sub: lambda a, b, c: a - b, Mul: lambda a, b, c: a * b}[kind]
    each(layer, operation, seed)
    natural = layer.retyped((left, right), None)
    codes = sources_of(natural, seed)
    values = [type_.decode(array) for type_, array in zip((left, right), codes, strict=True)]
    exact = natural.result_type
    assert isinstance(exact, FixedType)
    got = natural.golden(*codes)
    assert exact.min_code <= got.min() and got.max() <= exact.max_code
    np.testing.assert_array_equal(exact.decode(got), BINARY[kind](*values))


@pytest.mark.parametrize("kind", BINARY)
def test_wide_binary_leaves_int64(kind: type[Binary]) -> None:
    layer = binary(kind, "fixed<64,4>", "ufixed<64,2>", "fixed<64,40,rnd,sat>")
    operation = {Add: lambda a, b, c: a + b, Sub: lambda a, b, c: a - b, Mul: lambda a, b, c: a * b}[kind]
    each(layer, operation, 0)


def test_binary_rules() -> None:
    layer = binary(Add, "fixed<8,4>", "fixed<8,4>", "fixed<8,4>")
    other = replace(layer, right=tensor((3, 2, 1), "fixed<8,4>"))
    assert "it takes a tensor of 3 x 2 x 4 and one of 3 x 2 x 1" in messages(other)
    assert "float32 is mixed" in messages(replace(layer, right=tensor(SHAPE)))
    far = (parse_type("fixed<64,0>"), parse_type("fixed<64,100>"))
    assert "the exact result of fixed<64,0> and fixed<64,100> needs more than 128 bits" in messages(
        layer.retyped(far, parse_type("fixed<8,4>"))
    )
    with pytest.raises(DesignError, match="needs more than 128 bits"):
        layer.retyped(far, None)


@settings(max_examples=60, deadline=None)
@given(source=fixed_types(), result=fixed_types(), seed=st.integers(0, 99))
def test_cast(source: FixedType, result: FixedType, seed: int) -> None:
    layer = Cast(name="cast", source=tensor(SHAPE, source), result_type=result)
    if source != result:
        each(layer, lambda x, channel: x, seed)
    (codes,) = sources_of(layer, seed)
    values = source.decode(codes)
    np.testing.assert_array_equal(layer.retyped((FLOAT,), result).golden(values), result.encode(values))
    np.testing.assert_array_equal(layer.retyped((source,), FLOAT).golden(codes), values)
    np.testing.assert_array_equal(layer.retyped((FLOAT,), FLOAT).golden(values), values)
    assert layer.retyped((source,), None).result_type == source
