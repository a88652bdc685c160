"""Stages that compute each element on its own: clamp, cast, leaky and table, against golden."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.layers.base import Layer, Tensor
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.stage import Fold, divisors
from hlsgen.layers.table import Table
from tests.support.layers.emitted import Emitted
from tests.support.layers.exact import fixed_types, tensor
from tests.support.layers.stage_cases import Case, assert_each_caught, few_kernels, one_kernel
from tests.support.pipelines import assert_layers_exact

LIMITS = st.none() | st.sampled_from([0.0, 1.0, -1.0, 6.0, 0.3, -0.7, 100.0, -100.0])
SHAPE = (4, 3, 6)
ROUNDED = FixedType(8, 3, True, Rounding.RND, Overflow.SAT)


@st.composite
def sources(draw: st.DrawFn, widest: int = 20) -> Tensor:
    shape = (draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 9)))
    return Tensor(shape=shape, type=draw(fixed_types(widest)))


@st.composite
def clamps(draw: st.DrawFn) -> Layer:
    return Clamp(
        name="layer",
        source=draw(sources(40)),
        low=draw(LIMITS),
        high=draw(LIMITS),
        result_type=draw(fixed_types(40)),
    )


@st.composite
def casts(draw: st.DrawFn) -> Layer:
    return Cast(name="layer", source=draw(sources(40)), result_type=draw(fixed_types(40)))


@st.composite
def leakies(draw: st.DrawFn) -> Layer:
    source, type_ = draw(sources(40)), draw(fixed_types(24))
    code = st.integers(type_.min_code, type_.max_code)
    count = draw(st.sampled_from([1, source.shape[0]]))
    slopes = np.array(draw(st.lists(code, min_size=count, max_size=count)), np.int64)
    return Leaky(
        name="layer", source=source, slopes=slopes, slope_type=type_, result_type=draw(fixed_types(40))
    )


@st.composite
def tables(draw: st.DrawFn) -> Layer:
    functions = ["sigmoid", "tanh", "gelu", "exp", "selu", "softplus", "abs", "tanhshrink"]
    width = draw(st.integers(1, 24))
    return Table(
        name="layer",
        source=Tensor(
            shape=draw(sources()).shape,
            type=FixedType(width, draw(st.integers(1, 6)), draw(st.booleans())),
        ),
        function=draw(st.sampled_from(functions)),
        result_type=draw(fixed_types()),
    )


@st.composite
def folded(draw: st.DrawFn, layers: st.SearchStrategy[Layer]) -> Case:
    """A layer that keeps its rules; several pixels a cycle whether they divide the width or not."""
    layer = draw(layers.filter(lambda one: not one.check()))
    channels, _, width = layer.output_shape
    simd = draw(st.sampled_from(divisors(channels)))
    return layer, Fold(px=draw(st.integers(1, width)), pe=simd, simd=simd)


LAYERS = folded(st.one_of(clamps(), casts(), leakies(), tables()))


def leaky(slopes: list[int]) -> Leaky:
    return Leaky(
        name="leaky",
        source=tensor(SHAPE, "fixed<8,3>"),
        slopes=np.array(slopes),
        slope_type=FixedType(6, 1),
        result_type=ROUNDED,
    )


def clamp(low: float | None, high: float | None, source: str = "fixed<8,3>") -> Clamp:
    return Clamp(name="clamp", source=tensor(SHAPE, source), low=low, high=high, result_type=ROUNDED)


def table(function: str, source: str, result: str | FixedType = ROUNDED) -> Table:
    type_ = tensor(SHAPE, result).type
    return Table(name="table", source=tensor(SHAPE, source), function=function, result_type=type_)


SOME = [
    clamp(0.0, 2.3),
    clamp(9.0, None),  # above every input
    clamp(None, -9.0, "ufixed<8,3>"),  # below every input, which has no sign
    clamp(None, None),
    leaky([5]),
    leaky([5, -32, 0, 31]),
    Cast(
        name="cast", source=tensor(SHAPE, "fixed<8,3>"), result_type=FixedType(5, 3, True, Rounding.RND_CONV)
    ),
    table("sigmoid", "fixed<7,4>"),
    table("tanh", "fixed<16,6>", "fixed<16,2>"),
    table("tanh", "fixed<16,6>", "fixed<12,1>"),  # wraps at 1: the value is limited before
    table("exp", "ufixed<12,2>", "ufixed<20,6>"),  # a table without straight ends
    table("selu", "fixed<24,9>", "fixed<24,9>"),
]


def fold(px: int, simd: int) -> Fold:
    return Fold(px=px, pe=simd, simd=simd)


REFERENCE = [(SOME[number], fold(2, 2)) for number in (0, 5, 7, 9, 11)]


@few_kernels
@given(cases=one_kernel(LAYERS))
def test_any_layer_and_folding_is_exact(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    """Those of SOME among them that the reference headers do not have."""
    others = [(SOME[number], fold(4, 2)) for number in (1, 2, 3, 4, 6, 8, 10)]
    assert_layers_exact([*others, *cases], tmp_path_factory.mktemp("elementwise"))


def test_faults_are_caught(tmp_path: Path) -> None:
    mutants = [
        ((SOME[8], fold(2, 1)), "code >= code_t(HIGH_EDGE)", "code > code_t(HIGH_EDGE) + 999"),
        ((SOME[9], fold(2, 1)), "if (sum > most)", "if (sum < most - 9)"),
    ]
    assert_each_caught(mutants, tmp_path)


def test_folds_go_from_one_element_to_many_pixels() -> None:
    for layer in SOME[0], SOME[4], SOME[6], SOME[7]:
        folds = list(layer.folds())
        assert folds[0] == fold(1, 1)
        assert folds[-1] == fold(6, 4)
        intervals = [layer.stage(one).interval for one in folds]
        assert intervals == sorted(intervals, reverse=True)
        assert intervals[0] == 72
        assert intervals[-1] == 3


def test_what_tables_take() -> None:
    """A table for each lane, as the pragma says."""
    direct, pieces = SOME[7].stage(fold(2, 4)), SOME[8].stage(fold(2, 4))
    assert [(one.name, one.depth, one.bits, one.copies) for one in direct.buffers()] == [
        ("entries", 128, 8, 8)
    ]
    assert [one.name for one in pieces.buffers()] == ["bases", "slopes"]
    assert {one.copies for one in pieces.buffers()} == {8}
    assert [one.operator for one in pieces.work()] == ["mul", "add", "compare"]


def test_too_wide_a_table_is_refused() -> None:
    layer = table("softplus", "fixed<64,32>", "fixed<64,32>")
    with pytest.raises(DesignError, match="table: softplus of .* needs numbers of more bits than are built"):
        layer.stage(Fold())


EMITTED = {
    "cast": Emitted(
        layer=SOME[6],
        fold=fold(2, 1),
        mutants=(
            ("result.lane[l] = word.lane[l]", "result.lane[l] = word.lane[0]"),
            ("result.lane[l] = word.lane[l]", "result.lane[l] = word.lane[PX * SIMD - 1 - l]"),
        ),
    ),
    "clamp": Emitted(
        layer=SOME[0],
        fold=fold(2, 1),
        mutants=(
            ("high = 2.28125", "high = 2.25"),
            ("if (x < low)", "if (x < 1)"),
            ("if (x > high)", "if (x < high)"),
            ("limited = high;", "limited = low;"),
        ),
    ),
    "leaky": Emitted(
        layer=SOME[5],
        fold=fold(1, 2),
        mutants=(
            ("if (x < 0)", "if (x > 0)"),
            ("counter<FOLDS> fold;", "counter<FOLDS + 1> fold;"),
            ("[l % SIMD]", "[l / SIMD]"),
            ("SLOPES[fold]", "SLOPES[0]"),
        ),
    ),
    "table": Emitted(
        layer=table("sigmoid", "fixed<4,3>"),
        fold=fold(2, 2),
        mutants=(("ENTRIES[", "ENTRIES[1 ^ "), ("(result, ENTRIES", "(result, 1 + ENTRIES")),
    ),
    "table_pieces": Emitted(
        layer=table("tanh", "fixed<12,4>", "fixed<6,1>"),
        fold=fold(2, 1),
        mutants=(
            ("(near) + correction", "(near) - correction"),
            ("return base + (", "return base - ("),
            ("code < code_t(LOW_EDGE)", "code < code_t(-1 - LOW_EDGE)"),
        ),
    ),
}
