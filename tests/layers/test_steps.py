"""Step functions: golden against plain comparisons, the stage against golden."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.coded import narrowest
from hlsgen.base.fixed import FixedType
from hlsgen.layers.base import Tensor
from hlsgen.layers.stage import Fold
from hlsgen.layers.steps import Steps
from tests.support.casts import overflowing
from tests.support.layers.emitted import Emitted
from tests.support.layers.exact import FLOAT, fixed_types, messages, sources_of, tensor, value
from tests.support.layers.stage_cases import Case, cases_of, every_fold, few_kernels
from tests.support.pipelines import assert_layers_exact

SMALL = Steps(
    name="steps",
    source=tensor((4, 2, 6), "fixed<8,3>"),
    thresholds=(-2.0, -0.6, 0.0, 0.7, 1.4142135),
    values=(-4.0, -1.0, -0.25, 0.25, 1.0, 2.0),
    result_type=FixedType(6, 4),
)
CONSTANT = replace(SMALL, thresholds=(99.0,), values=(0.5, 4.0), result_type=FixedType(3, 1))
"""No input reaches its threshold."""
FEW = replace(SMALL, source=tensor((4, 2, 6), "fixed<5,3>"))
"""Each input is among a few frames."""
NUMBERS = st.integers(-4000, 4000).map(lambda number: number / 64) | st.sampled_from([1e-30, -1e-30, 1e30])


@st.composite
def steps(draw: st.DrawFn, widest: int = 40) -> Steps:
    shape = (draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 9)))
    thresholds = sorted(draw(st.lists(NUMBERS, max_size=9, unique=True)))
    values = draw(st.lists(NUMBERS, min_size=len(thresholds) + 1, max_size=len(thresholds) + 1))
    return Steps(
        name="layer",
        source=Tensor(shape=shape, type=draw(fixed_types(widest))),
        thresholds=tuple(thresholds),
        values=tuple(values),
        result_type=draw(fixed_types(widest)),
    )


def step_of(layer: Steps, x: Any) -> float:
    """The value of the last threshold that is not above x."""
    above = [
        value for threshold, value in zip(layer.thresholds, layer.values[1:], strict=True) if x >= threshold
    ]
    return above[-1] if above else layer.values[0]


@given(layer=steps(64), seed=st.integers(0, 99))
def test_golden_is_the_last_value_whose_threshold_is_reached(layer: Steps, seed: int) -> None:
    assert layer.check() == []
    (codes,) = sources_of(layer, seed)
    wanted = [step_of(layer, value(code, layer.source_type)) for code in codes.reshape(-1)]
    assert layer.golden(codes).reshape(-1).tolist() == layer.fixed_result.encode(wanted).tolist()


@given(layer=steps(9))
def test_the_natural_type_holds_what_is_reached_and_no_more(layer: Steps) -> None:
    type_ = layer.source_type
    codes = np.arange(type_.min_code, type_.max_code + 1)
    reached = {step_of(layer, value(code, type_)) for code in codes}
    assert {value for _, value in layer.reached} == reached
    try:
        natural = narrowest(sorted(reached))
    except ValueError:
        return  # 1e-30 and 60 in one type
    made = natural.encode(sorted(reached))
    assert [natural.resolution * int(code) for code in made] == sorted(reached)
    assert natural.signed == (min(reached) < 0)
    narrower = FixedType(max(1, natural.width - 1), natural.integer - 1, natural.signed)
    if natural.width > 1:
        assert overflowing(narrower, made, natural)
        coarser = FixedType(natural.width - 1, natural.integer, natural.signed)
        assert (coarser.cast(made, natural) * 2 != made).any()


def test_float() -> None:
    layer = SMALL.retyped((FLOAT,), None)
    (values,) = sources_of(layer, 0)
    assert layer.golden(values).reshape(-1).tolist() == [step_of(layer, x) for x in values.reshape(-1)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"values": (1.0,)}, "has 1 values and 5 thresholds"),
        ({"thresholds": (0.0, 1.0, 1.0, 2.0, 3.0)}, "thresholds do not ascend"),
        ({"values": (0.0, 1.0, 2.0, 3.0, 4.0, float("inf"))}, "is not finite"),
        ({"result_type": FLOAT}, "float32 is mixed"),
    ],
)
def test_rules(changes: dict[str, Any], words: str) -> None:
    assert SMALL.check() == []
    assert words in messages(replace(SMALL, **changes))


def test_work_is_of_the_thresholds_that_inputs_reach() -> None:
    few = replace(SMALL, source=tensor((4, 2, 6), "ufixed<8,0>"))
    for layer, count in ((SMALL, 5), (few, 1), (CONSTANT, 0)):
        work = layer.stage(Fold(px=3, pe=4, simd=4)).work()
        assert [(one.operator, one.count) for one in work] == [
            ("compare", 12 * count),
            ("select", 12 * count),
        ]


@few_kernels
@given(cases=cases_of(steps()))
def test_any_steps_and_folding_are_exact(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    """Beside every folding of a small layer, and one that is constant."""
    small = every_fold(SMALL)
    assert len(small) == 6
    assert_layers_exact([*small, (CONSTANT, Fold()), *cases], tmp_path_factory.mktemp("steps"))


WIDE = replace(SMALL, source=tensor((4, 2, 6), "ufixed<64,3>"), result_type=FixedType(64, 10, False))
REFERENCE: list[Case] = [(WIDE, Fold(px=1, pe=2, simd=2))]


EMITTED = {
    "steps": Emitted(
        layer=FEW,
        fold=Fold(px=2, pe=4, simd=4),
        mutants=(("input >=", "input >"), ("code = RESULTS[s + 1]", "code = RESULTS[s]")),
    ),
}
