"""Streaming pools: every folding of random layers, in one kernel, against golden and their schedules."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, FloatType, Overflow, Rounding
from hlsgen.base.type_text import parse_type
from hlsgen.layers.base import Shape
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.stage import Fold
from tests.support.layers.emitted import Emitted
from tests.support.layers.exact import fixed_types, tensor
from tests.support.layers.stage_cases import (
    Case,
    cases_of,
    every_fold,
    few_kernels,
)
from tests.support.pipelines import assert_layers_exact

Function = Literal["max", "average"]


@st.composite
def pools(draw: st.DrawFn) -> Pool2d:
    average = draw(st.booleans())
    small, pad = st.integers(1, 4), st.integers(0, 3)
    reach = st.integers(1, 1 if average else 2)
    return Pool2d(
        name="pool",
        source=tensor((draw(small), draw(st.integers(1, 9)), draw(st.integers(1, 9))), draw(fixed_types())),
        result_type=draw(fixed_types()),
        function="average" if average else "max",
        kernel=(draw(small), draw(small)),
        stride=(draw(st.integers(1, 3)), draw(st.integers(1, 3))),
        padding=(draw(pad), draw(pad), draw(pad), draw(pad)),
        overhang=(draw(st.integers(0, 2)), draw(st.integers(0, 2))),
        dilation=(draw(reach), draw(reach)),
        count_include_pad=draw(st.booleans()),
        divisor=draw(st.none() | st.none() | st.integers(1, 40)) if average else None,
    )


@st.composite
def global_pools(draw: st.DrawFn) -> GlobalPool:
    shape = (draw(st.integers(1, 8)), draw(st.integers(1, 6)), draw(st.integers(1, 12)))
    return GlobalPool(
        name="pool",
        source=tensor(shape, draw(fixed_types())),
        result_type=draw(fixed_types()),
        function=draw(st.sampled_from(["max", "average", "sum"])),
    )


def pool(shape: Shape, source: str, result: str, function: Function, kernel: int, **more: Any) -> Pool2d:
    return Pool2d(
        name="pool",
        source=tensor(shape, source),
        result_type=parse_type(result),
        function=function,
        kernel=(kernel, kernel),
        **more,
    )


def every_mode() -> list[Case]:
    """The same pool rounded in every way that hardware has, and fitted in two."""
    return [
        (
            pool(
                (2, 4, 6),
                "fixed<6,3>",
                str(FixedType(5, 3, True, rounding, overflow)),
                "average",
                3,
                padding=(1, 1, 1, 1),
            ),
            Fold(px=3, pe=2, simd=2),
        )
        for rounding, overflow in zip(Rounding, cycle((Overflow.SAT, Overflow.WRAP_SM)), strict=False)
    ]


# The dividends of these have several digits.
WIDE = [
    pool((1, 4, 4), "fixed<62,20>", "fixed<60,17,rnd_conv,sat>", "average", 3),
    pool((1, 3, 3), "ufixed<56,2>", "fixed<60,3,rnd_zero>", "average", 3, padding=(1, 1, 1, 1)),
    pool((1, 3, 3), "fixed<30,2>", "fixed<63,3,rnd_inf>", "average", 3, divisor=1_000_003),
]
# Kernels larger than the image, padding larger than the kernel, words larger than a row, a single pixel.
ODD = [
    pool((2, 2, 3), "fixed<8,4>", "fixed<8,4>", "max", 5, padding=(2, 2, 2, 2)),
    pool((3, 1, 1), "fixed<1,1>", "fixed<2,2>", "max", 1),
    pool((2, 3, 3), "ufixed<7,4>", "fixed<9,6>", "average", 2, padding=(3, 4, 2, 5), count_include_pad=True),
    pool((8, 4, 7), "fixed<8,4>", "fixed<8,4,rnd>", "average", 3, stride=(2, 2), padding=(0, 0, 1, 1)),
]


# Words that do not divide a row: what stands behind its end must not reach a result.
UNEVEN: list[Case] = [
    (pool((2, 4, 7), "fixed<6,3>", "fixed<6,3>", "max", 3, padding=(1, 1, 1, 1)), Fold(px=4, pe=1, simd=1)),
    (pool((2, 4, 7), "fixed<6,3>", "fixed<9,3>", "average", 2), Fold(px=5, pe=2, simd=2)),
    (
        GlobalPool(
            name="pool",
            source=tensor((2, 3, 7), "fixed<6,3>"),
            result_type=parse_type("fixed<9,6>"),
            function="sum",
        ),
        Fold(px=4, pe=1, simd=1),
    ),
]


@few_kernels
@given(cases=cases_of(st.one_of(pools(), pools(), global_pools())))
def test_any_folding_is_exact(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    assert_layers_exact(cases, tmp_path_factory.mktemp("pool"))


def test_extremes_are_exact(tmp_path: Path) -> None:
    odd = [case for case in every_fold(*ODD) if case[1] not in (Fold(pe=4, simd=4), Fold(pe=8, simd=8))]
    assert_layers_exact([*every_fold(*WIDE)[::2], *odd, *UNEVEN, *every_mode()], tmp_path)


REFERENCE: list[Case] = [
    every_mode()[0],
    every_fold(WIDE[1])[-1],
    every_fold(ODD[1])[-1],
    (
        GlobalPool(
            name="pool",
            source=tensor((6, 3, 4), "fixed<8,3>"),
            result_type=parse_type("fixed<12,4,rnd>"),
            function="average",
        ),
        Fold(px=1, pe=2, simd=2),
    ),
]


def test_a_row_a_cycle() -> None:
    """Pools of a network of 16 x 16 pixels keep up with words of 16 pixels."""
    halving = pool((8, 16, 16), "fixed<8,4>", "fixed<8,4>", "max", 2, stride=(2, 2))
    assert min(halving.stage(fold).interval for fold in halving.folds()) == 16
    averaging = GlobalPool(
        name="pool",
        source=tensor((8, 16, 16), "fixed<8,4>"),
        result_type=parse_type("fixed<8,4>"),
        function="average",
    )
    assert min(averaging.stage(fold).interval for fold in averaging.folds()) == 16


def test_a_divisor_beyond_what_is_built_is_refused() -> None:
    layer = pool((1, 4, 4), "fixed<62,20>", "fixed<60,17>", "average", 3, divisor=(1 << 40) + 1)
    assert not layer.check()
    with pytest.raises(
        DesignError, match="pool: averages over 1099511627777 of sums of 67 bits are not built"
    ):
        layer.stage(Fold()).constants()


MAX = pool((4, 5, 7), "fixed<6,3>", "fixed<6,3>", "max", 3, stride=(2, 2), padding=(1, 1, 1, 1))
AVERAGE = pool((2, 6, 6), "fixed<6,3>", "fixed<4,3,rnd_conv>", "average", 3, padding=(1, 1, 1, 1))
GLOBAL = GlobalPool(
    name="pool", source=tensor((6, 3, 5), "fixed<6,3>"), result_type=parse_type("fixed<9,6>"), function="sum"
)


EMITTED = {
    "average_pool": Emitted(
        layer=AVERAGE,
        fold=Fold(px=3, pe=2, simd=2),
        mutants=(
            ("rest != rest_if_exact", "rest == rest_if_exact"),
            ("first_column = at.out_step", "first_column = 1 + at.out_step"),
            ("folded = ~folded", "folded = -folded"),
            ("in_column < IN_WIDTH", "in_column < IN_WIDTH - 1"),
        ),
    ),
    "max_pool": Emitted(
        layer=MAX,
        fold=Fold(px=2, pe=2, simd=2),
        mutants=(
            ("in_row >= 0 &&", "in_row >= 1 &&"),
            ("counter<ROWS> row(", "counter<ROWS + 1> row("),
            ("<< (BITS - 1)", "<< (BITS - 2)"),
            ("values[n] < values[n + step]", "values[n] > values[n + step]"),
        ),
    ),
    "global_average": Emitted(
        layer=GlobalPool(
            name="pool",
            source=tensor((4, 2, 4), "fixed<6,3>"),
            result_type=parse_type("fixed<6,3,rnd>"),
            function="average",
        ),
        fold=Fold(px=2, pe=2, simd=2),
        mutants=(("<9, 3> exact_t", "<9, 4> exact_t"), ("] = value;", "] = 0;")),
    ),
    "global_average_float32": Emitted(
        layer=GlobalPool(name="pool", source=tensor((4, 4, 5)), result_type=FloatType(), function="average"),
        fold=Fold(px=1, pe=2, simd=2),
        mutants=(
            (") * RECIPROCAL", ") + RECIPROCAL"),
            ("limited_counter<PIXELS, PARTIALS>", "limited_counter<PIXELS, PARTIALS - 1>"),
        ),
    ),
    "global_average_whole": Emitted(
        layer=GlobalPool(name="pool", source=tensor((2, 4, 5)), result_type=FloatType(), function="average"),
        fold=Fold(px=1, pe=2, simd=2),
        mutants=(
            ("OLDEST = PIXELS % PARTIALS", "OLDEST = 1 + PIXELS % PARTIALS"),
            ("COLLECTS || !pixel.inside", "COLLECTS || pixel.inside"),
        ),
    ),
    "global_sum_of_few": Emitted(
        layer=GlobalPool(name="pool", source=tensor((2, 2, 3)), result_type=FloatType(), function="sum"),
        fold=Fold(px=1, pe=2, simd=2),
    ),
    "global_sum": Emitted(
        layer=GLOBAL,
        fold=Fold(px=1, pe=2, simd=2),
        mutants=(
            ("row.value == 0 && group.value == 0", "row.value == 0 && group.value == 1"),
            ("group * PX + x < WIDTH", "group * PX + x < WIDTH - 1"),
        ),
    ),
}
