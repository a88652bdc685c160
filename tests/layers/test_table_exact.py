"""Tables of narrow sources hold the correctly rounded function of each code, judged in decimal arithmetic."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hlsgen.base.fixed import FixedType, Rounding
from hlsgen.layers import correct_rounding, softmax
from hlsgen.layers.correct_rounding import GRID_BITS
from hlsgen.layers.functions import FUNCTIONS, Doubles
from hlsgen.layers.piecewise import fitted
from hlsgen.layers.stage import Fold
from hlsgen.layers.table import DIRECT_BITS, EXACT_BITS, Table
from tests.layers.test_softmax_golden import softmax as a_softmax
from tests.layers.test_table_golden import table
from tests.support.layers.exact import tensor
from tests.support.pipelines import assert_layers_exact

DIGITS = 60
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def sigmoid(x: Decimal) -> Decimal:
    return 1 / (1 + (-x).exp())


def softplus(x: Decimal) -> Decimal:
    return (1 + x.exp()).ln()


def tanh(x: Decimal) -> Decimal:
    return 1 - 2 / ((2 * x).exp() + 1)


def erf(x: Decimal) -> Decimal:
    """2 / sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (2n+1)!!: no term is negative."""
    square, term, total, n = x * x, x, x, 0
    while abs(term) > Decimal(10) ** -(DIGITS + 5):
        n += 1
        term = term * 2 * square / (2 * n + 1)
        total += term
    return 2 * total * (-square).exp() / PI.sqrt()


def hard_sigmoid(x: Decimal) -> Decimal:
    return min(max(x / 6 + Decimal("0.5"), Decimal(0)), Decimal(1))


JUDGES: dict[str, Callable[[Decimal], Decimal]] = {
    "sigmoid": sigmoid,
    "tanh": tanh,
    "erf": erf,
    "softsign": lambda x: x / (1 + abs(x)),
    "sign": lambda x: Decimal((x > 0) - (x < 0)),
    "bipolar": lambda x: Decimal(1 if x >= 0 else -1),
    "exp": lambda x: x.exp(),
    "abs": abs,
    "elu": lambda x: x if x > 0 else x.exp() - 1,
    "celu": lambda x: x if x > 0 else x.exp() - 1,
    "selu": lambda x: (
        Decimal(1.0507009873554805) * (x if x > 0 else Decimal(1.6732632423543772) * (x.exp() - 1))
    ),
    "silu": lambda x: x * sigmoid(x),
    "gelu": lambda x: x * (1 + erf(x / Decimal(2).sqrt())) / 2,
    "gelu_tanh": lambda x: x * (1 + tanh((2 / PI).sqrt() * (x + Decimal("0.044715") * x**3))) / 2,
    "mish": lambda x: x * tanh(softplus(x)),
    "softplus": lambda x: x if x > 20 else softplus(x),
    "log_sigmoid": lambda x: -softplus(-x),
    "hard_sigmoid": hard_sigmoid,
    "hard_swish": lambda x: x * hard_sigmoid(x),
    "tanhshrink": lambda x: x - tanh(x),
    "softshrink": lambda x: Decimal((x > 0) - (x < 0)) * max(abs(x) - Decimal("0.5"), Decimal(0)),
    "hardshrink": lambda x: x if abs(x) > Decimal("0.5") else Decimal(0),
    "threshold": lambda x: max(x, Decimal(0)),
}


def judged(name: str, source: FixedType, result: FixedType) -> list[int]:
    """The results of all codes of the source, ascending: rounded as the mode is defined, then limited."""
    found = []
    with decimal.localcontext() as context:
        context.prec = DIGITS
        for code in range(source.min_code, source.max_code + 1):
            scaled = JUDGES[name](Decimal(code) / 2**source.fraction) * 2**result.fraction
            halves = (2 * scaled).to_integral_value()
            if abs(2 * scaled - halves) < Decimal(10) ** -(DIGITS - 12):
                scaled = halves / 2  # thirds and sixths have no end
            found.append(min(max(rounded(scaled, result.rounding), result.min_code), result.max_code))
    return found


def rounded(scaled: Decimal, mode: Rounding) -> int:
    floor = int(scaled.to_integral_value(decimal.ROUND_FLOOR))
    return {
        Rounding.TRN: floor,
        Rounding.TRN_ZERO: int(scaled.to_integral_value(decimal.ROUND_DOWN)),
        Rounding.RND: int((scaled + Decimal("0.5")).to_integral_value(decimal.ROUND_FLOOR)),
        Rounding.RND_CONV: int(scaled.to_integral_value(decimal.ROUND_HALF_EVEN)),
    }[mode]


def golden(layer: Table) -> list[int]:
    codes = np.arange(layer.source_type.min_code, layer.source_type.max_code + 1)
    return [int(code) for code in layer.golden(codes.reshape(-1, 1, 1, 1)).reshape(-1)]


def test_every_function_has_a_judge() -> None:
    assert set(JUDGES) == set(FUNCTIONS) == set(correct_rounding.PRECISE)


@pytest.mark.parametrize("name", sorted(JUDGES))
@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("fixed<9,4>", "fixed<16,5,rnd,sat>"),
        ("fixed<9,4>", "fixed<12,5>"),
        ("fixed<7,4>", "fixed<64,60,rnd,sat>"),
        ("fixed<12,4>", "fixed<12,4,rnd_conv,sat>"),
        ("ufixed<12,3>", "fixed<10,5,trn_zero,sat>"),
    ],
)
def test_every_code_of_every_function(name: str, source: str, result: str) -> None:
    layer = table(name, source, result)
    assert layer.check() == [] and layer.is_exact
    assert golden(layer) == judged(name, layer.source_type, layer.fixed_result)


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "hard_swish"])
def test_the_widest_exact_source(name: str) -> None:
    """16,384 codes; 490, 1,288 and 801 of them were off by an LSB when pieces alone gave them."""
    layer = table(name, f"fixed<{EXACT_BITS},4>", f"fixed<{EXACT_BITS},4,rnd,sat>")
    assert not layer.is_direct and layer.correction_type.width == 2
    assert golden(layer) == judged(name, layer.source_type, layer.fixed_result)
    assert np.count_nonzero(layer.corrections) > 100, "the pieces alone would do"


def test_a_parameter_is_the_fraction_it_stands_for() -> None:
    """1 / 6 is no double: x = 1.5 gives 1.125 all the same, which rounding down would make 1.125 - LSB."""
    layer = table("hard_swish", "fixed<8,4>", "fixed<16,4>")
    assert Fraction(1.0 / 6) != Fraction(1, 6)
    assert int(layer.entries[24]) * layer.fixed_result.resolution == 1.125


# ---------------------------------------------------------------- machines that differ


def off_by_ulps(compute: Callable[..., Doubles]) -> Callable[..., Doubles]:
    """As another processor might compute it: some units in the last place beside."""

    def other(*given: Doubles) -> Doubles:
        values = np.asarray(compute(*given), np.float64)
        signs = np.where(np.arange(values.size).reshape(values.shape) % 3 == 0, 4, -3)
        return np.asarray(values + signs * np.spacing(values))

    return other


@pytest.mark.parametrize(
    "name", sorted(set(FUNCTIONS) - {"sign", "bipolar", "abs", "hardshrink", "threshold"})
)
def test_last_bits_of_a_processor_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries, pieces and automatic types with a NumPy that is off by some units in the last place."""
    cases = [("fixed<10,4>", "fixed<12,3,rnd,sat>"), ("fixed<16,5>", "fixed<16,6,rnd,sat>")]
    seen = []
    for function in (FUNCTIONS[name].compute, off_by_ulps(FUNCTIONS[name].compute)):
        monkeypatch.setitem(
            FUNCTIONS, name, type(FUNCTIONS[name])(**{**vars(FUNCTIONS[name]), "compute": function})
        )
        fitted.cache_clear()
        direct, wide = (table(name, *types) for types in cases)
        seen.append((direct.entries.tolist(), wide.pieces, wide.result_within(16, wide.source_type)))
    fitted.cache_clear()
    assert seen[0] == seen[1]


def test_nor_do_they_change_a_softmax(monkeypatch: pytest.MonkeyPatch) -> None:
    before = a_softmax(10, "fixed<12,6>", "ufixed<12,1,rnd,sat>").exp_bases
    exp = FUNCTIONS["exp"]
    monkeypatch.setitem(FUNCTIONS, "exp", type(exp)(**{**vars(exp), "compute": off_by_ulps(np.exp)}))
    after = a_softmax(10, "fixed<12,6>", "ufixed<12,1,rnd,sat>").exp_bases
    np.testing.assert_array_equal(before, after)
    exact = [Decimal(-d) / 2**softmax.EXP_STEP_BITS for d in range(len(before))]
    fraction = a_softmax(10, "fixed<12,6>", "ufixed<12,1,rnd,sat>").exp_fraction
    assert before.tolist() == [int((x.exp() * 2**fraction).to_integral_value()) for x in exact]


# ---------------------------------------------------------------- hardware


def test_corrected_tables_in_hardware(tmp_path: Path) -> None:
    """C-simulation of all three forms: entries, pieces with corrections, pieces."""
    forms = [
        table(name, f"fixed<{width},4>", result)
        for name in ("tanh", "gelu")
        for width, result in (
            (DIRECT_BITS, "fixed<9,3>"),
            (12, "ufixed<13,2,rnd,sat>"),
            (EXACT_BITS, "fixed<1,1>"),
            (EXACT_BITS, "fixed<33,8,rnd_conv,sat_sym>"),
            (EXACT_BITS + 1, "fixed<8,4>"),
        )
    ]
    layers = [Table(**{**vars(one), "source": tensor((2, 16, 16), str(one.source_type))}) for one in forms]
    assert_layers_exact([(layer, Fold()) for layer in layers], tmp_path)


# ---------------------------------------------------------------- functions that select


SELECTED: list[tuple[str, tuple[float, ...], Callable[[Fraction], Fraction]]] = [
    ("abs", (), abs),
    ("hardshrink", (0.375,), lambda x: x if abs(x) > Fraction(3, 8) else Fraction(0)),
    ("threshold", (0.25, -0.5), lambda x: x if x > Fraction(1, 4) else Fraction(-1, 2)),
    ("threshold", (-1.75, 3.0), lambda x: x if x > Fraction(-7, 4) else Fraction(3)),
]


def selecting(name: str, parameters: tuple[float, ...], source: str) -> Table:
    """The function of a [2, 16, 16] source in the type that it says of itself."""
    draft = table(name, source, "fixed<8,4>", *parameters)
    wide = draft.result_within(16, draft.source_type)
    return replace(draft, source=tensor((2, 16, 16), source), result_type=wide)


@pytest.mark.parametrize("source", ["fixed<9,4>", "ufixed<13,1>", f"fixed<{GRID_BITS},9>"])
@pytest.mark.parametrize(("name", "parameters", "judge"), SELECTED)
def test_functions_that_select_are_exact(
    name: str, parameters: tuple[float, ...], judge: Callable[[Fraction], Fraction], source: str
) -> None:
    layer = selecting(name, parameters, source)
    type_, result = layer.source_type, layer.fixed_result
    codes = np.random.default_rng(0).integers(type_.min_code, type_.max_code + 1, (1, 2, 16, 16))
    codes.reshape(-1)[:3] = type_.min_code, type_.max_code, 0
    got = [code * Fraction(2) ** -result.fraction for code in layer.golden(codes).reshape(-1).tolist()]
    assert got == [judge(code * Fraction(2) ** -type_.fraction) for code in codes.reshape(-1).tolist()]


def test_a_value_far_from_all_others_has_a_type_all_the_same() -> None:
    """What masks write for minus infinity: it costs no digit of the others unless 64 bits do not hold it."""
    assert str(selecting("threshold", (0.0, -1e9), "fixed<20,9>").result_type) == "fixed<42,31,rnd_conv,sat>"
    assert selecting("threshold", (0.0, -3.4e38), "fixed<20,9>").fixed_result.width == 16


def test_functions_that_select_in_hardware(tmp_path: Path) -> None:
    layers = [
        selecting(name, parameters, source)
        for name, parameters, _ in SELECTED
        for source in ("fixed<13,4>", "fixed<30,9>")
    ]
    assert_layers_exact([(layer, Fold()) for layer in layers], tmp_path)
