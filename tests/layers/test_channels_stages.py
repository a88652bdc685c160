"""Stages that look at all channels of a pixel: argmax and softmax, against golden and their schedules."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.layers.argmax import ArgMax
from hlsgen.layers.base import Layer, Tensor
from hlsgen.layers.softmax import Softmax
from hlsgen.layers.stage import Fold, divisors
from tests.support.layers.emitted import Emitted
from tests.support.layers.exact import fixed_types, tensor
from tests.support.layers.stage_cases import Case, assert_caught, few_kernels, one_kernel
from tests.support.pipelines import assert_layers_exact


@st.composite
def sources(draw: st.DrawFn) -> Tensor:
    shape = (draw(st.sampled_from([1, 2, 3, 4, 6, 10, 12])), draw(st.integers(1, 3)), draw(st.integers(1, 5)))
    return Tensor(shape=shape, type=draw(fixed_types()))


@st.composite
def argmaxes(draw: st.DrawFn) -> Layer:
    bits = draw(st.integers(4, 9))
    result = FixedType(bits, bits, signed=False)
    return ArgMax(name="layer", source=draw(sources()), result_type=result)


@st.composite
def softmaxes(draw: st.DrawFn) -> Layer:
    return Softmax(name="layer", source=draw(sources()), result_type=draw(fixed_types()))


@st.composite
def folded(draw: st.DrawFn, layers: st.SearchStrategy[Layer]) -> Case:
    """A layer that keeps its rules; several pixels a cycle whether they divide the width or not."""
    layer = draw(layers.filter(lambda one: not one.check()))
    channels, _, width = layer.sources[0].shape
    simd = draw(st.sampled_from(divisors(channels)))
    return layer, Fold(px=draw(st.integers(1, width)), pe=simd, simd=simd)


LAYERS = folded(st.one_of(argmaxes(), softmaxes(), softmaxes()))


def argmax(channels: int, source: str = "fixed<4,2>") -> ArgMax:
    """Few values, so that many channels are equal."""
    result = FixedType(8, 8, signed=False)
    return ArgMax(name="argmax", source=tensor((channels, 2, 3), source), result_type=result)


def softmax(channels: int, source: str, result: str, width: int = 3) -> Softmax:
    type_ = tensor((1, 1, 1), result).type
    return Softmax(name="softmax", source=tensor((channels, 2, width), source), result_type=type_)


def fold(px: int, simd: int) -> Fold:
    return Fold(px=px, pe=simd, simd=simd)


SOME: list[Case] = [
    (argmax(1), fold(2, 1)),
    (argmax(12), fold(1, 1)),
    (argmax(12, "ufixed<2,2>"), fold(2, 4)),
    (argmax(7), fold(3, 7)),
    (softmax(10, "fixed<16,6>", "ufixed<16,0>"), fold(1, 2)),
    (softmax(10, "fixed<16,6>", "ufixed<16,0>"), fold(2, 10)),
    (softmax(100, "fixed<8,4>", "ufixed<8,0,rnd>"), fold(1, 4)),  # most results are 0 or the next
    (softmax(6, "fixed<12,12>", "ufixed<16,1,rnd,sat>"), fold(1, 1)),  # a table without slopes
    (softmax(4, "ufixed<6,-14>", "fixed<10,1>"), fold(1, 2)),  # a table of one piece
    (softmax(1, "fixed<8,4>", "ufixed<4,0>"), fold(1, 1)),
    (softmax(10, "fixed<8,1>", "ufixed<4,0>"), fold(1, 2)),  # others come near the largest
]


REFERENCE = [SOME[2], SOME[4], SOME[7], SOME[8]]


@few_kernels
@given(cases=one_kernel(LAYERS))
def test_any_layer_and_folding_is_exact(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    """Those of SOME among them that the reference headers do not have."""
    others = [one for one in SOME if one not in REFERENCE]
    assert_layers_exact([*others, *cases], tmp_path_factory.mktemp("channels"))


def test_a_fault_is_caught(tmp_path: Path) -> None:
    assert_caught(SOME[10], tmp_path, "if (code > below)", "if (code > by.largest)")


def test_a_frame_takes_as_many_cycles_as_it_has_words() -> None:
    for layer in argmax(12), softmax(12, "fixed<8,4>", "ufixed<8,0>"):
        intervals = {one: layer.stage(one).interval for one in layer.folds()}
        assert intervals[fold(1, 1)] == 2 * 3 * 12
        assert intervals[fold(1, 4)] == 2 * 3 * 3
        assert intervals[fold(3, 12)] == 2


def test_what_a_softmax_takes() -> None:
    """Tables of exponentials for each lane, of reciprocals for each pixel; two memories of all channels."""
    buffers = {
        one.name: one for one in softmax(10, "fixed<16,6>", "ufixed<16,0>").stage(fold(2, 1)).buffers()
    }
    assert {name: one.copies for name, one in buffers.items()} == {
        "values": 1,
        "powers": 1,
        "exp_bases": 2,
        "exp_drops": 2,
        "reciprocal_bases": 2,
        "reciprocal_drops": 2,
    }
    assert (buffers["values"].depth, buffers["values"].bits) == (10, 2 * 16)


def test_too_wide_a_softmax_is_refused() -> None:
    with pytest.raises(
        DesignError, match="softmax: a softmax of .* needs numbers of more bits than are built"
    ):
        softmax(3, "fixed<64,32>", "ufixed<16,0>").stage(Fold())


EMITTED = {
    "argmax": Emitted(
        layer=argmax(6),
        fold=fold(1, 3),
        mutants=(
            ("value > largest[x]", "value >= largest[x]"),
            ("value[s + step] > value[s]", "value[s + step] >= value[s]"),
            ("first_channel + s", "first_channel - s"),
        ),
    ),
    "softmax": Emitted(
        layer=softmax(4, "fixed<8,4>", "ufixed<8,0>"),
        fold=fold(1, 2),
        mutants=(
            ("fold.value == 0 ? sum", "fold.value == 1 ? sum"),
            ("sum << (SUM_GROWTH - found.growth)", "sum << (SUM_GROWTH - 1)"),
            ("base - ((drop * at.rest)", "base + ((drop * at.rest)"),
            ("if (fold.last) largest[x]", "if (fold.value == 0) largest[x]"),
        ),
    ),
}
