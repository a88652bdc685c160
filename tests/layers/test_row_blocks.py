"""Blocks of rows: golden against the layout of shared processors, kernels against golden."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType, FloatType
from hlsgen.layers.base import Shape, Tensor
from hlsgen.layers.row_blocks import RowBlocks
from hlsgen.program.layout import Layout
from tests.support.layers.emitted import Emitted
from tests.support.layers.exact import tensor
from tests.support.layers.stage_cases import Case, cases_of, every_fold, few_kernels
from tests.support.pipelines import assert_layers_exact, random_codes


def row_blocks(
    shape: Shape, rows: int = 3, lanes: int = 4, bits: int = 8, type_: str = "fixed<8,4>"
) -> RowBlocks:
    return RowBlocks(name="layer", source=tensor(shape, type_), rows=rows, lanes=lanes, bits=bits)


@st.composite
def any_blocks(draw: st.DrawFn) -> RowBlocks:
    bits = draw(st.sampled_from([8, 16]))
    width = draw(st.integers(1, bits))
    type_ = FixedType(width, draw(st.integers(-2, width)), signed=draw(st.booleans()))
    shape = draw(st.integers(1, 20)), draw(st.integers(1, 8)), draw(st.integers(1, 6))
    return RowBlocks(
        name="layer",
        source=Tensor(shape=shape, type=type_),
        rows=draw(st.sampled_from([1, 3, 5, 7])),
        lanes=draw(st.sampled_from([1, 4, 8, 16])),
        bits=bits,
    )


SOME = [
    row_blocks((4, 3, 2)),
    row_blocks((8, 7, 3)),  # groups, and a last block of one row
    row_blocks((6, 4, 3), lanes=4),  # words of two channels, and a group that they do not fill
    row_blocks((3, 5, 2), lanes=8, bits=16, type_="fixed<6,2>"),
    row_blocks((20, 2, 3), lanes=16, type_="ufixed<8,0>"),
    row_blocks((5, 4, 1), rows=1, lanes=1),
]


@given(layer=any_blocks())
def test_golden_is_the_layout_of_shared_processors(layer: RowBlocks) -> None:
    """[group][block][column][row][lane] of every frame, when the groups of a block are put apart."""
    codes = random_codes(layer.source, 2, 0)
    found = layer.golden(codes)
    lanes, rows, columns = layer.output_shape
    apart = found.reshape(2, lanes, layer.blocks, layer.groups, columns).transpose(0, 3, 2, 4, 1)
    layout = Layout(shape=layer.source.shape, rows=layer.rows, lanes=lanes, bits=layer.bits)
    wide = np.dtype(f"<i{layer.bits // 8}")
    packed = np.ascontiguousarray(apart.astype(wide)).view(np.uint8).reshape(2, -1)
    np.testing.assert_array_equal(packed, layout.packed(codes))
    assert rows * columns == layout.frame_words


def test_values_stay_as_they_are() -> None:
    layer = row_blocks((3, 5, 2), bits=16, type_="fixed<6,2>")
    assert layer.output_type == FixedType(16, 12)
    assert row_blocks((1, 1, 1), type_="ufixed<8,0>").output_type == FixedType(8, 0, signed=False)


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (row_blocks((4, 3, 2), type_="fixed<9,4>"), "layer: elements of 8 bits do not hold fixed<9,4>"),
        (
            RowBlocks(
                name="layer", source=Tensor(shape=(1, 1, 1), type=FloatType()), rows=1, lanes=4, bits=8
            ),
            "layer: its source is float32",
        ),
    ],
)
def test_what_it_cannot_hold_is_said(layer: RowBlocks, said: str) -> None:
    assert [problem.message for problem in layer.check()] == [said]


REFERENCE = every_fold(SOME[2])


@few_kernels
@given(cases=cases_of(any_blocks(), 6))
def test_any_layer_is_exact(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    """Those of SOME among them that the reference headers do not have."""
    others = every_fold(*SOME[:2], *SOME[3:])
    assert_layers_exact([*others, *cases], tmp_path_factory.mktemp("row_blocks"))


MUTANTS = (
    ("l < LAST_LANES || !last_group", "l + 1 < LAST_LANES || !last_group"),
    ("row_out.inside || !last_block", "!row_out.inside || !last_block"),
    ("emptied += LINE", "emptied += GROUPS"),
    ("column_begin += GROUPS", "column_begin += 1"),
    ("if (pixel_ends) part.reset();", ""),
    ("(upper ? 0 : BLOCK)", "0"),
)


(_CASE,) = every_fold(row_blocks((6, 4, 3), lanes=4))
EMITTED = {"row_blocks": Emitted(layer=_CASE[0], fold=_CASE[1], mutants=MUTANTS)}
