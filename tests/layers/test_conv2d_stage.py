"""The streaming convolution: any folding of random layers against golden and its schedule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import Fold
from tests.support.layers.emitted import Emitted
from tests.support.layers.random_convolutions import convolutions
from tests.support.layers.stage_cases import few_kernels, one_kernel
from tests.support.pipelines import assert_layers_exact


@st.composite
def folded(draw: st.DrawFn) -> tuple[Conv2d, Fold]:
    layer = draw(convolutions(most_groups=6))
    return layer, draw(st.sampled_from(list(layer.folds())))


@few_kernels
@given(cases=one_kernel(folded(), 12))
def test_any_folding_is_exact(
    tmp_path_factory: pytest.TempPathFactory, cases: list[tuple[Conv2d, Fold]]
) -> None:
    assert_layers_exact(cases, tmp_path_factory.mktemp("conv"))


def small(shape: tuple[int, int, int], channels: int, **fields: Any) -> Conv2d:
    """A 3 x 3 convolution of bytes by weights of four bits, with a border of zeros, limited from below."""
    generator = np.random.default_rng(1)
    weight = FixedType(4, 1)
    layer = Conv2d(
        name="conv",
        in_shape=shape,
        out_channels=channels,
        kernel=(3, 3),
        padding=(1, 1, 1, 1),
        low=0.0,
        input_type=FixedType(8, 4),
        weight_type=weight,
        bias_type=FixedType(6, 3),
        accumulator=weight,
        result_type=FixedType(8, 4, True, Rounding.RND, Overflow.SAT),
        weights=generator.integers(-8, 8, (channels, shape[0] // fields.get("groups", 1), 3, 3)),
        bias=generator.integers(-32, 32, channels),
        **fields,
    )
    return layer.retyped((layer.input_type,), layer.result_type)


@pytest.mark.parametrize(("low", "high"), [(-1e3, None), (None, 1e3), (-1e3, 1e3), (-1e3, 0.5), (-0.5, 1e3)])
def test_limits_that_no_sum_reaches_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, low: float | None, high: float | None
) -> None:
    """They are beyond the accumulator, in whose type they would come out as other numbers."""
    layer = replace(small((2, 4, 6), 4), low=low, high=high)
    assert_layers_exact([(layer, Fold(px=2, pe=2, simd=2))], tmp_path_factory.mktemp("limits"))


@pytest.mark.parametrize(("low", "high"), [(1e3, None), (None, -1e3)])
def test_limits_beyond_every_sum_are_refused(low: float | None, high: float | None) -> None:
    """The accumulator cannot hold them, so C++ would limit to another number."""
    (problem,) = replace(small((2, 4, 6), 4), low=low, high=high).check()
    assert "every sum that its accumulator" in problem.message


EMITTED = {
    "conv": Emitted(
        layer=small((2, 4, 6), 4),
        fold=Fold(px=2, pe=2, simd=2),
        mutants=(
            ("in_column < IN_WIDTH", "in_column < IN_WIDTH - 1"),
            ("if (channels.value == 0)", "if (channels.value == 1)"),
            ("if (limited < low)", "if (limited > low)"),
        ),
    ),
    "conv_depthwise": Emitted(layer=small((4, 5, 6), 4, groups=4, stride=(2, 2)), fold=Fold()),
    # five groups one after the other, each with two passes over its filters
    "conv_grouped": Emitted(
        layer=small((10, 4, 5), 20, groups=5),
        fold=Fold(pe=2, simd=2),
        mutants=(("hlsgen::read_words(window, fold, here);", ""),),
    ),
    "conv_packed": Emitted(
        layer=small((2, 4, 6), 4),
        fold=Fold(px=1, pe=4, simd=1, multipliers="packed"),
        place="runtime",
        mutants=(("factors[0], factors[1]", "factors[1], factors[0]"),),
    ),
}
