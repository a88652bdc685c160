"""Thresholds of each channel: golden against plain comparisons, the stage against golden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.coded import narrowest
from hlsgen.base.fixed import FixedType
from hlsgen.layers.base import Tensor
from hlsgen.layers.stage import Buffer, Fold
from hlsgen.layers.thresholds import Thresholds
from tests.support.layers.emitted import Emitted
from tests.support.layers.exact import FLOAT, fixed_types, messages, sources_of, tensor, value
from tests.support.layers.stage_cases import Case, cases_of, every_fold, few_kernels
from tests.support.pipelines import assert_layers_exact

SMALL = Thresholds(
    name="thresholds",
    source=tensor((4, 2, 6), "fixed<5,3>"),
    thresholds=np.array(
        [[-2.0, -0.6, 0.0, 0.7, 1.4], [0, 0, 0, 1, 2], [-9, -4, -1, 3.75, 3.8], [1, 2, 3, 4, 5]]
    ),
    first=-2.0,
    step=1.0,
    result_type=FixedType(3, 3),
)
"""One channel has thresholds alike, one some that each input reaches, two some that none does."""
SHARED = replace(
    SMALL, thresholds=SMALL.thresholds[:1], first=0.5, step=0.25, result_type=FixedType(4, 2, False)
)
ONE = replace(SMALL, thresholds=SMALL.thresholds[:, 2:3], first=-1.0, step=2.0, result_type=FixedType(2, 2))
NUMBERS = st.integers(-400, 400).map(lambda number: number / 64) | st.sampled_from(
    [1e-30, -1e-30, 1e30, -np.inf, np.inf]
)


@st.composite
def thresholds(draw: st.DrawFn, widest: int = 40) -> Thresholds:
    shape = (draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 9)))
    rows = draw(st.sampled_from([1, shape[0]]))
    count = draw(st.integers(1, 9))
    row = st.lists(NUMBERS, min_size=count, max_size=count).map(sorted)
    first, step = draw(st.integers(-40, 40)) / 8, draw(st.sampled_from([1, -1, 3, 8])) / 8
    values = [first + step * number for number in range(count + 1)]
    return Thresholds(
        name="layer",
        source=Tensor(shape=shape, type=draw(fixed_types(widest))),
        thresholds=np.array([draw(row) for _ in range(rows)]),
        first=first,
        step=step,
        result_type=narrowest(values),
    )


def value_of(layer: Thresholds, channel: int, x: Any) -> float:
    row = layer.thresholds[channel if len(layer.thresholds) > 1 else 0]
    return float(layer.first + layer.step * sum(x >= threshold for threshold in row))


@given(layer=thresholds(62), seed=st.integers(0, 99))
def test_golden_counts_the_thresholds_that_are_reached(layer: Thresholds, seed: int) -> None:
    assert layer.check() == []
    (codes,) = sources_of(layer, seed)
    found = layer.golden(codes)
    for channel in range(layer.source.shape[0]):
        part = codes.reshape(-1, *layer.source.shape)[:, channel].reshape(-1)
        wanted = [value_of(layer, channel, value(code, layer.source_type)) for code in part]
        assert layer.fixed_result.decode(found[:, channel]).reshape(-1).tolist() == wanted


def test_float() -> None:
    layer = SMALL.retyped((FLOAT,), None)
    (values,) = sources_of(layer, 0)
    found = layer.golden(values)
    for place in np.ndindex(found.shape):
        assert found[place] == value_of(layer, place[1], values.reshape(found.shape)[place])


def test_the_natural_type_holds_the_values() -> None:
    fixed = SMALL.retyped((SMALL.source_type,), None)
    assert str(fixed.result_type) == "fixed<3,3>"
    assert str(SHARED.retyped((SHARED.source_type,), None).result_type) == "ufixed<3,1>"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"thresholds": SMALL.thresholds[:3]}, "thresholds of shape (3, 5) for 4 channels"),
        ({"thresholds": np.zeros((4, 0))}, "thresholds of shape (4, 0) for 4 channels"),
        ({"thresholds": SMALL.thresholds[:, ::-1]}, "thresholds do not ascend"),
        ({"thresholds": SMALL.thresholds * np.nan}, "is no number"),
        ({"first": float("inf")}, "a value not finite"),
        ({"step": 2.0}, "fixed<3,3> does not have all its values, -2 to 8"),
        ({"step": 0.5}, "fixed<3,3> does not have all its values"),
        ({"source": tensor((4, 2, 6), "fixed<63,3>")}, "compares codes of 63 bits"),
        ({"result_type": FLOAT}, "float32 is mixed"),
    ],
)
def test_rules(changes: dict[str, Any], words: str) -> None:
    assert SMALL.check() == []
    assert words in messages(replace(SMALL, **changes))


def test_work_halves_the_thresholds_and_a_memory_holds_those_of_later_channels() -> None:
    stage = SMALL.stage(Fold(px=1, pe=2, simd=2))
    assert [(one.operator, one.count, one.bits) for one in stage.work()] == [
        ("compare", 2 * 3, (6,)),  # a bit more than the source: some thresholds are never reached
        ("select", 2 * 2, (6,)),
    ]
    assert stage.buffers() == (Buffer(name="first_codes", depth=2, bits=2 * 5 * 6),)
    assert SMALL.stage(Fold(px=3, pe=4, simd=4)).buffers() == ()
    assert SHARED.stage(Fold(px=1, pe=2, simd=2)).buffers() == ()


@few_kernels
@given(cases=cases_of(thresholds()))
def test_any_thresholds_and_folding_are_exact(
    tmp_path_factory: pytest.TempPathFactory, cases: list[Case]
) -> None:
    assert_layers_exact(cases, tmp_path_factory.mktemp("thresholds"))


def test_foldings_of_every_kind_are_exact(tmp_path: Path) -> None:
    few = [(layer, fold) for layer in (SHARED, ONE) for fold in list(layer.folds())[1::2]]
    assert {(fold.px, fold.simd) for _, fold in few} == {(1, 2), (2, 4), (6, 4)}
    assert_layers_exact([*every_fold(SMALL), *few], tmp_path)


WIDE = replace(SMALL, source=tensor((4, 2, 6), "ufixed<62,3>"), first=0.0, result_type=FixedType(3, 3, False))
REFERENCE: list[Case] = [(layer, Fold(px=1, pe=2, simd=2)) for layer in (ONE, WIDE)]


MUTANTS = (
    ("input >= place", "input > place"),
    ("place[middle + 1 + p]", "place[middle + p]"),
    ("(int)reached - SURELY", "(int)reached"),
    ("l % SIMD * STEPS", "0"),
    ("FIRST_CODES[fold]", "FIRST_CODES[0]"),
)


EMITTED = {
    "thresholds": Emitted(layer=SMALL, fold=Fold(px=1, pe=2, simd=2), mutants=MUTANTS),
}
