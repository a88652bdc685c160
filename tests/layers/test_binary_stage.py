"""Streaming additions, differences and products: every folding, against golden and their schedules."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.base.type_text import parse_type
from hlsgen.layers.binary import Add, Binary, Mul, Sub
from hlsgen.layers.stage import Fold
from tests.support.layers.emitted import Emitted
from tests.support.layers.exact import fixed_types, tensor
from tests.support.layers.stage_cases import (
    Case,
    assert_caught,
    cases_of,
    few_kernels,
)
from tests.support.pipelines import assert_layers_exact


@st.composite
def binaries(draw: st.DrawFn) -> Binary:
    shape = (draw(st.integers(1, 8)), draw(st.integers(1, 4)), draw(st.integers(1, 6)))
    return draw(st.sampled_from([Add, Sub, Mul]))(
        name="op",
        inputs=("left", "right"),
        left=tensor(shape, draw(fixed_types())),
        right=tensor(draw(st.sampled_from([shape, (shape[0], 1, 1)])), draw(fixed_types())),
        result_type=draw(fixed_types()),
    )


def binary(kind: type[Binary], left: str, right: str, result: str, *, broadcasts: bool = True) -> Binary:
    return kind(
        name="op",
        inputs=("left", "right"),
        left=tensor((6, 3, 4), left),
        right=tensor((6, 1, 1) if broadcasts else (6, 3, 4), right),
        result_type=parse_type(result),
    )


def every_mode() -> list[Case]:
    """The same difference rounded in every way that hardware has, and fitted in two."""
    return [
        (
            binary(Sub, "ufixed<6,3>", "ufixed<6,4>", str(FixedType(5, 3, True, rounding, overflow))),
            Fold(px=2),
        )
        for rounding, overflow in zip(Rounding, cycle((Overflow.WRAP_SM, Overflow.SAT_SYM)), strict=False)
    ]


WIDE = [
    binary(Mul, "fixed<60,20>", "ufixed<62,3>", "fixed<62,20,rnd_conv,sat>"),
    binary(Add, "fixed<60,-20>", "ufixed<62,3>", "fixed<62,2,rnd>", broadcasts=False),
    binary(Sub, "ufixed<1,1>", "ufixed<1,0>", "ufixed<1,1,rnd,sat_zero>"),
]


@few_kernels
@given(cases=cases_of(binaries()))
def test_any_folding_is_exact(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    assert_layers_exact(cases, tmp_path_factory.mktemp("binary"))


def test_every_rounding_is_exact(tmp_path: Path) -> None:
    wide = [(layer, fold) for layer, fold in zip(WIDE, list(WIDE[0].folds())[1:4], strict=True)]
    assert_layers_exact([*every_mode(), *wide], tmp_path)


REFERENCE: list[Case] = [(layer, Fold()) for layer in WIDE]


def test_a_broadcast_operand_is_read_with_the_first_pixel() -> None:
    stage = binary(Mul, "fixed<8,4>", "fixed<8,4>", "fixed<8,4>").stage(Fold(px=1, pe=2, simd=2))
    assert stage.interval == 3 * 4 * 3
    assert stage.schedule(2).reads[1].tolist() == [0, 1, 2, 36, 37, 38]


def test_a_wrong_character_is_caught(tmp_path: Path) -> None:
    case = binary(Add, "fixed<8,4>", "fixed<8,4>", "fixed<10,6>"), Fold(px=1, pe=2, simd=2)
    assert_caught(case, tmp_path, "FRAME_ITERATIONS / FOLDS> group", "FRAME_ITERATIONS / FOLDS + 1> group")


EMITTED = {
    "add": Emitted(
        layer=binary(Add, "fixed<8,4>", "fixed<8,4>", "fixed<6,4,rnd,sat>", broadcasts=False),
        fold=Fold(px=2, pe=2, simd=2),
        mutants=(("b.lane[l]", "b.lane[0]"), ("a.lane[l] +", "a.lane[l] -")),
    ),
    "mul": Emitted(
        layer=binary(Mul, "fixed<8,4>", "ufixed<4,0>", "fixed<8,4>"),
        fold=Fold(px=1, pe=2, simd=2),
        mutants=(("(kept, fold, b)", "(kept, 0, b)"), ("l % SIMD", "l / SIMD")),
    ),
}
