"""Tables: functions against torch, fixed-point results against the functions and against plain integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.base.type_text import parse_type
from hlsgen.layers.table import DIRECT_BITS, EXACT_BITS, FUNCTIONS, Table
from tests.support.layers.exact import FLOAT, codes_of, fixed_types, messages, tensor

FAR = np.concatenate([np.linspace(-40, 40, 4001), [0.0, -1e-9, 1e-9, -300.0, 300.0]])


def table(function: str, source: str = "float32", result: str = "float32", *parameters: float) -> Table:
    return Table(
        name="table",
        source=tensor((1, 1, 1), source),
        result_type=parse_type(result),
        function=function,
        parameters=parameters,
    )


def torch_functions() -> dict[str, tuple[tuple[float, ...], Callable[[Any], Any]]]:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    f = torch.nn.functional
    return {
        "sigmoid": ((), torch.sigmoid),
        "tanh": ((), torch.tanh),
        "erf": ((), torch.erf),
        "softsign": ((), f.softsign),
        "sign": ((), torch.sign),
        "exp": ((), torch.exp),
        "abs": ((), torch.abs),
        "elu": ((0.7,), lambda x: f.elu(x, 0.7)),
        "celu": ((0.7,), lambda x: f.celu(x, 0.7)),
        "selu": ((), f.selu),
        "silu": ((), f.silu),
        "gelu": ((), f.gelu),
        "gelu_tanh": ((), lambda x: f.gelu(x, approximate="tanh")),
        "mish": ((), f.mish),
        "softplus": ((2.0, 5.0), lambda x: f.softplus(x, 2.0, 5.0)),
        "log_sigmoid": ((), f.logsigmoid),
        "hard_sigmoid": ((), f.hardsigmoid),
        "hard_swish": ((), f.hardswish),
        "tanhshrink": ((), f.tanhshrink),
        "softshrink": ((0.8,), lambda x: f.softshrink(x, 0.8)),
        "hardshrink": ((0.8,), lambda x: f.hardshrink(x, 0.8)),
        "threshold": ((0.3, -2.0), lambda x: f.threshold(x, 0.3, -2.0)),
    }


def test_functions_equal_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    compared = torch_functions()
    for name, (parameters, by_torch) in compared.items():
        got = table(name, "float32", "float32", *parameters).golden(FAR).reshape(-1)
        wanted = by_torch(torch.from_numpy(FAR)).numpy()
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12, err_msg=name)
    assert set(FUNCTIONS) - set(compared) == {"bipolar"}


def test_defaults_and_the_other_definitions() -> None:
    x = np.array([-3.0, -2.6, -1.0, 0.0, 1.0, 2.6, 3.0])
    keras = table("hard_sigmoid", "float32", "float32", 0.2, 0.5).golden(x).reshape(-1)
    np.testing.assert_allclose(keras, np.clip(0.2 * x + 0.5, 0, 1))
    qkeras = table("hard_sigmoid", "float32", "float32", 0.5).golden(x).reshape(-1)
    np.testing.assert_allclose(qkeras, np.clip(0.5 * x + 0.5, 0, 1))
    swish = table("silu", "float32", "float32", 1.702).golden(x).reshape(-1)
    np.testing.assert_allclose(swish, x / (1 + np.exp(-1.702 * x)))
    np.testing.assert_array_equal(table("bipolar").golden(x).reshape(-1), [-1, -1, -1, 1, 1, 1, 1])
    np.testing.assert_array_equal(table("elu").golden(x), table("elu", "float32", "float32", 1.0).golden(x))


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(FUNCTIONS)),
    source=fixed_types(widest=DIRECT_BITS),
    result=fixed_types(),
)
def test_a_direct_table_is_the_encoded_function(name: str, source: FixedType, result: FixedType) -> None:
    """Every code; f that leaves the range of the result counts as the nearest end of the range.

    Here in float64, which next to a boundary rounds to the other side; test_table_exact has all digits.
    """
    layer = table(name).retyped((source,), result)
    assert layer.check() == [] and layer.is_direct
    codes = np.arange(source.min_code, source.max_code + 1)
    got = layer.golden(codes.reshape(-1, 1, 1, 1)).reshape(-1)
    low, high = result.lowest_code * result.resolution, result.max_code * result.resolution
    exact = FUNCTIONS[name](codes * source.resolution)
    encoded = result.encode(np.clip(exact, low, high))
    assert np.abs(got - encoded).max() <= 1
    clear = np.abs(np.ldexp(exact, result.fraction + 1) % 1 - 0.5) < 0.49
    np.testing.assert_array_equal(got[clear], encoded[clear])
    for code, entry in zip(codes, got, strict=True):
        assert layer.entries[int(code) & ((1 << source.width) - 1)] == entry


WITHIN_AN_LSB = sorted(set(FUNCTIONS) - {"softsign"})


@pytest.mark.parametrize("name", WITHIN_AN_LSB)
@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("fixed<16,6>", "fixed<16,6,rnd,sat>"),
        ("fixed<16,6>", "fixed<16,6>"),
        ("fixed<16,4>", "fixed<16,2,rnd_conv,sat>"),
        ("fixed<16,3>", "fixed<16,3,trn,sat>"),
        ("fixed<16,10>", "fixed<16,10,rnd,sat>"),
        ("ufixed<16,4>", "ufixed<16,1,rnd,sat>"),
        ("fixed<16,8>", "ufixed<16,0>"),
        ("fixed<16,6>", "fixed<8,3,rnd,sat_sym>"),
        ("fixed<15,4>", "fixed<12,4,rnd_zero,wrap>"),
        ("fixed<32,16>", "fixed<16,6,rnd,sat>"),
        ("ufixed<64,40>", "fixed<16,6,rnd,sat>"),
    ],
)
def test_tables_are_within_an_lsb(name: str, source: str, result: str) -> None:
    layer = table(name, source, result)
    assert layer.check() == []
    assert layer.max_error <= layer.fixed_result.resolution * (1 + 1e-9)


def test_max_error_is_what_the_codes_show() -> None:
    """Against the function itself: every code of 16 bits, not the layer's own bookkeeping."""
    layer = table("gelu", "fixed<16,5>", "fixed<16,5,rnd,sat>")
    codes = np.arange(-(1 << 15), 1 << 15)
    x = codes * 2.0**-11
    exact = np.array([v * 0.5 * math.erfc(-v / math.sqrt(2)) for v in x])
    got = layer.golden(codes.reshape(-1, 1, 1, 1)).reshape(-1) * 2.0**-11
    assert np.abs(got - exact).max() == pytest.approx(layer.max_error, rel=1e-6)
    assert 0.5 * 2.0**-11 < layer.max_error < 0.8 * 2.0**-11


def test_softsign_says_how_far_off_it_is() -> None:
    """It reaches its tails nowhere, so that its pieces are as long as the range asks for."""
    assert table("softsign", "fixed<16,4>", "fixed<16,2,rnd,sat>").max_error < 2.0**-14
    wide = table("softsign", "fixed<16,8>", "fixed<16,1,rnd,sat>")
    assert wide.check() == [] and 2.0**-10 < wide.max_error < 2.0**-9
    assert "straight pieces is off by up to 0.29" in messages(
        table("softsign", "fixed<32,16>", "fixed<16,6,rnd,sat>")
    )


def as_hardware(layer: Table, x: int) -> int:
    """The arithmetic that the docstring of Pieces promises, in Python integers, then the cast."""
    pieces = layer.pieces
    line = pieces.low if x < pieces.low.edge else pieces.high if x >= pieces.high.edge else None
    if line is not None:
        y = line.offset + (line.gain * (x - line.edge) >> line.shift)
    else:
        i = (x >> pieces.shift) - pieces.first
        assert 0 <= i < pieces.segments == len(pieces.slopes)
        base, slope = pieces.bases[i], pieces.slopes[i]
        assert pieces.base_type.min_code <= base <= pieces.base_type.max_code
        assert pieces.slope_type.min_code <= slope <= pieces.slope_type.max_code
        y = base + (slope * (x & ((1 << pieces.shift) - 1)) >> pieces.shift)
    assert pieces.value_type.min_code <= y <= pieces.value_type.max_code
    if pieces.limits is not None:
        y = min(max(y, pieces.limits[0]), pieces.limits[1])
    result = int(layer.fixed_result.cast(np.array([y], object), pieces.value_type)[0])
    width = layer.source_type.width
    return result + int(layer.corrections[x & ((1 << width) - 1)]) if width <= EXACT_BITS else result


def test_pieces_where_the_function_leaves_float64() -> None:
    """exp(1023) is more than a double holds: the end of the result's range."""
    layer = table("exp").retyped((FixedType(15, 10, False),), FixedType(1, 0, False))
    assert layer.check() == [] and not layer.is_exact
    codes = np.array([0, 1, (1 << 15) - 2, (1 << 15) - 1], object)
    assert layer.golden(codes.reshape(-1, 1, 1, 1)).reshape(-1).tolist() == [1, 1, 1, 1]


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(WITHIN_AN_LSB),
    width=st.integers(DIRECT_BITS + 1, 17) | st.sampled_from([24, 32, 64]),
    integer=st.integers(-4, 12),
    signed=st.booleans(),
    result=fixed_types(widest=18),
    seed=st.integers(0, 99),
)
def test_pieces_are_as_documented(
    name: str, width: int, integer: int, signed: bool, result: FixedType, seed: int
) -> None:
    layer = table(name).retyped((FixedType(width, integer, signed),), result)
    if layer.check() or layer.is_direct:
        return
    edges = [layer.pieces.low.edge + d for d in (-1, 0)] + [layer.pieces.high.edge + d for d in (-1, 0)]
    given_codes = codes_of(layer.source_type, (40,), np.random.default_rng(seed))
    given_codes[:4] = np.clip(np.array(edges, object), layer.source_type.min_code, layer.source_type.max_code)
    got = layer.golden(given_codes.reshape(-1, 1, 1, 1)).reshape(-1)
    assert [int(code) for code in got] == [as_hardware(layer, int(x)) for x in given_codes]


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(WITHIN_AN_LSB),
    integer=st.integers(0, 8),
    rounding=st.sampled_from(Rounding),
    overflow=st.sampled_from([Overflow.WRAP, Overflow.SAT, Overflow.SAT_ZERO, Overflow.SAT_SYM]),
    width=st.integers(2, 16),
    result_integer=st.integers(0, 6),
    signed=st.booleans(),
)
def test_no_type_makes_a_table_wild(
    name: str,
    integer: int,
    rounding: Rounding,
    overflow: Overflow,
    width: int,
    result_integer: int,
    signed: bool,
) -> None:
    """Nothing wraps, and every result is within 1.4 LSB; towards-zero rounding has no centre to aim at."""
    result = FixedType(width, result_integer, signed, rounding, overflow)
    layer = table(name).retyped((FixedType(16, integer),), result)
    assert layer.check() == []
    assert layer.max_error <= 1.4 * result.resolution


def test_a_bump_between_the_ends_has_room() -> None:
    """x * sigmoid(-x) is 0 at both ends of the range: the type of the values comes from between them."""
    layer = table("silu", "ufixed<16,5>", "fixed<16,2>", -1.0)
    assert layer.check() == [] and layer.max_error <= layer.fixed_result.resolution
    top = int(layer.pieces.values(np.arange(1 << 16)).max())
    assert 0.27 < top * layer.pieces.value_type.resolution < 0.28
    assert top <= layer.pieces.value_type.max_code


def test_jumps_of_wide_sources_are_where_they_belong() -> None:
    """Only a sample of 2**32 codes is looked at; the edge of a tail is exact all the same."""
    layer = table("hardshrink", "fixed<32,16>", "fixed<16,6,rnd,sat>", 0.3)
    jump = int(0.3 * (1 << 16))
    codes = np.arange(jump - 300, jump + 300)
    for side in (codes, -codes):
        got = layer.golden(side.reshape(-1, 1, 1, 1)).reshape(-1)
        np.testing.assert_array_equal(got != 0, codes > jump)


def test_segments_are_few_where_few_do() -> None:
    assert table("tanh", "fixed<16,4>", "fixed<8,1,rnd,sat>").pieces.segments <= 64
    assert table("sigmoid", "fixed<16,6>", "fixed<16,6,rnd,sat>").pieces.segments <= 256
    assert table("hard_sigmoid", "fixed<16,6>", "fixed<16,6,rnd,sat>").pieces.segments <= 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"function": "sigmiod"}, 'there is no function "sigmiod"'),
        ({"parameters": (1.0,)}, "sigmoid has the parameters 1\nfix: no parameters"),
        ({"function": "elu", "parameters": (math.nan,)}, "elu has the parameters nan\nfix: alpha, finite"),
        (
            {"function": "celu", "parameters": (0.0,)},
            "celu with the parameters 0 has no value for",
        ),
        ({"result_type": FLOAT}, "float32 is mixed with fixed point"),
        ({"result_type": FixedType(128, 2)}, "needs more than 128 bits"),
    ],
)
def test_broken_rules_are_named(changes: dict[str, Any], words: str) -> None:
    layer = table("sigmoid", "fixed<16,6>", "fixed<16,6>")
    assert layer.check() == []
    assert words in messages(replace(layer, **changes))


def test_retyped_floats_stay_floats() -> None:
    assert table("gelu").retyped((FLOAT,), None).result_type == FLOAT
