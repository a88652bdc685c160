"""Where the elements of a tensor lie in DDR: written by hand, and there and back again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.program.layout import Layout

PLACES = [
    ((0, 0, 0), 0, 0),
    ((1, 0, 0), 0, 1),
    ((0, 1, 0), 1, 0),  # the three rows of a block lie beside each other
    ((0, 2, 0), 2, 0),
    ((0, 0, 1), 3, 0),
    ((0, 0, 4), 12, 0),
    ((0, 3, 0), 15, 0),  # the second block
    ((0, 4, 1), 19, 0),
    ((3, 6, 4), 42, 3),  # the third block, of which the tensor has one row
    ((4, 0, 0), 45, 0),  # the second channel group
    ((5, 6, 4), 87, 1),
]
"""Elements (channel, row, column) of a tensor of 6 x 7 x 5, and their word and lane."""


@pytest.mark.parametrize(("element", "word", "lane"), PLACES)
@pytest.mark.parametrize("bits", [8, 16])
def test_each_element_has_its_place(element: tuple[int, int, int], word: int, lane: int, bits: int) -> None:
    layout = Layout(shape=(6, 7, 5), rows=3, lanes=4, bits=bits)
    codes = np.zeros((2, 6, 7, 5), np.int64)
    codes[(1, *element)] = 1
    data = layout.packed(codes)
    assert data.shape == (2, layout.frame_bytes) == (2, 90 * 4 * bits // 8)
    assert not data[0].any()
    (at,) = np.flatnonzero(data[1])
    assert at == (word * 4 + lane) * bits // 8
    assert layout.known()[at]


def test_negative_codes_are_two_complements_lowest_byte_first() -> None:
    layout = Layout(shape=(1, 1, 1), rows=1, lanes=2, bits=16)
    assert layout.packed(np.array([[[[-2]]]])).tolist() == [[0xFE, 0xFF, 0, 0]]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_is_packed_is_unpacked(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.integers(1, most)) for most in (9, 8, 6))
    bits, signed = data.draw(st.sampled_from([8, 16])), data.draw(st.booleans())
    rows, lanes = data.draw(st.integers(1, 5)), data.draw(st.sampled_from([2, 4, 8]))
    layout = Layout(shape=shape, rows=rows, lanes=lanes, bits=bits)  # type: ignore[arg-type]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    codes = rng.integers(low, high, (3, *shape), endpoint=True)
    packed = layout.packed(codes)
    np.testing.assert_array_equal(layout.unpacked(packed, signed=signed), codes)
    # what is not known to hold codes fills up, with zeros; what is known is just the tensor
    assert layout.known().sum() == codes[0].size * bits // 8
    assert not packed[:, ~layout.known()].any()
