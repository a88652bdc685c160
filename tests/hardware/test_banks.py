"""The bank mapper: exact, proven, and not fooled."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.hardware.banks import BankMap, Pattern, map_banks


def brute_force(patterns: tuple[Pattern, ...], slots: int, banks: int) -> bool:
    """Whether any offsets at all work with `banks` banks."""
    return any(
        BankMap(banks, (0, *rest)).proves(patterns) for rest in product(range(banks), repeat=slots - 1)
    )


@pytest.mark.parametrize(
    ("rows", "columns", "slots", "banks"),
    [
        ((0, 1, 2), 1, 4, 4),  # every two of four rows are read together at some time
        ((0, 1, 2), 1, 6, 3),
        ((0, 1, 2), 1, 7, 4),
        ((0, 1, 2, 3), 1, 8, 4),
        ((0, 2, 4), 1, 6, 3),  # dilation 2
        ((0, 1, 2), 2, 6, 6),  # stride 2
        ((0,), 1, 3, 1),
    ],
)
def test_known_maps(rows: tuple[int, ...], columns: int, slots: int, banks: int) -> None:
    found = map_banks((Pattern.grid("wave", rows, columns),), slots)
    assert found is not None
    assert found.banks == banks
    assert found.fewest


def test_rows_that_share_a_slot_have_no_map() -> None:
    assert map_banks((Pattern.grid("wave", (0, 1, 2), 1),), 2) is None
    assert map_banks((Pattern.grid("wave", (0, 4), 1),), 4) is None


def test_without_offsets_the_wave_collides() -> None:
    wave = Pattern.grid("wave", (0, 1, 2), 1)
    plain = BankMap(3, (0, 0, 0, 0, 0, 0))
    collision = next(plain.collisions(wave))
    assert {row for row, _ in collision.elements} <= {0, 1, 2}
    assert not plain.proves((wave,))


@settings(max_examples=60, deadline=None)
@given(
    rows=st.sets(st.integers(0, 3), min_size=1, max_size=3),
    columns=st.integers(1, 2),
    extra=st.integers(0, 1),
    fill=st.integers(1, 3),
)
def test_fewest_banks_by_brute_force(rows: set[int], columns: int, extra: int, fill: int) -> None:
    shape = tuple(row - min(rows) for row in sorted(rows))
    patterns = (Pattern.grid("wave", shape, columns), Pattern.grid("fill", (0,), fill))
    slots = shape[-1] + 1 + extra
    found = map_banks(patterns, slots)
    assert found is not None
    assert found.proves(patterns)
    assert found.fewest
    assert not any(brute_force(patterns, slots, banks) for banks in range(1, found.banks))


@settings(max_examples=100, deadline=None)
@given(
    kernel=st.integers(1, 7),
    stride=st.integers(1, 3),
    dilation=st.integers(1, 3),
    rows=st.integers(1, 4),
    extra=st.integers(0, 6),
)
def test_every_wave_has_a_proven_map(kernel: int, stride: int, dilation: int, rows: int, extra: int) -> None:
    offsets = tuple(sorted({r * stride + k * dilation for r in range(rows) for k in range(kernel)}))
    patterns = (Pattern.grid("wave", offsets, stride),)
    found = map_banks(patterns, offsets[-1] + 1 + rows * stride + extra)
    assert found is not None
    assert found.banks >= len(offsets) * stride
    assert found.proves(patterns)
