"""Matrix products that are the same on every machine, against sums in rational arithmetic."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from hlsgen.base.exact_sums import exact_product, whole_product
from tests.support.other_processor import ENVIRONMENT

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("rows, inner, columns", [(3, 5, 4), (2, 1, 3), (4, 700, 3), (1, 9000, 1)])
@pytest.mark.parametrize("spread", [0, 12])
def test_products_are_nearer_than_float32(rows: int, inner: int, columns: int, spread: int) -> None:
    left = RNG.normal(size=(rows, inner)) * np.exp2(RNG.integers(-spread, spread + 1, (rows, inner)))
    right = RNG.normal(size=(inner, columns))
    got = exact_product(left, right)
    for (row, column), value in np.ndenumerate(got):
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(left[row], right[:, column], strict=True))
        bound = np.abs(left[row]).max() * np.abs(right[:, column]).max() * inner * 2.0**-37
        assert abs(float(Fraction(value) - exact)) <= bound


def test_sums_of_short_numbers_are_exact() -> None:
    left = RNG.integers(-(2**15), 2**15, (5, 600)) / 2.0**20
    right = RNG.integers(-(2**15), 2**15, (600, 7)) * 4.0
    np.testing.assert_array_equal(exact_product(left, right), left @ right)


def test_any_order_gives_the_same_bits() -> None:
    left, right = RNG.normal(size=(6, 577)), RNG.normal(size=(577, 5))
    order = RNG.permutation(577)
    permuted = exact_product(np.ascontiguousarray(left[:, order]), right[order])
    np.testing.assert_array_equal(permuted, exact_product(left, right))
    assert np.any(left @ right != left[:, order] @ right[order])


@pytest.mark.parametrize("reach", [3, 40, 127, 400, 4000])
@pytest.mark.parametrize("inner", [1, 577, 4001])
def test_products_of_whole_numbers_are_exact(reach: int, inner: int) -> None:
    left, right = RNG.integers(-reach, reach + 1, (5, inner)), RNG.integers(-reach, reach + 1, (inner, 6))
    got = whole_product(left.astype(np.float32), right.astype(np.float32))
    np.testing.assert_array_equal(got.astype(np.int64), left @ right)


@pytest.mark.parametrize("value", [63, 64, 255])
def test_the_largest_sums_of_whole_numbers_are_exact(value: int) -> None:
    """One product more than float32 holds is enough to show: all of one sign, and odd."""
    for inner in (1 << 24) // value**2 + np.arange(-2, 3):
        left = np.full((1, int(inner)), value, np.float32)
        right = np.full((int(inner), 2), value, np.float32)
        right[0, 0] -= 1
        got = whole_product(left, right).astype(np.int64)
        assert got.tolist() == [[int(inner) * value**2 - value, int(inner) * value**2]]


def test_only_the_first_part_is_too_large_for_float32() -> None:
    left, right = np.ones((2, 4096), np.float32), np.ones((4096, 3), np.float32)
    left[:, :512] = right[:512] = 4095
    got = whole_product(left, right).astype(np.int64)
    assert got.tolist() == [[512 * 4095**2 + 3584] * 3] * 2


def test_numbers_next_to_zero_are_sliced_too() -> None:
    left, right = np.full((2, 3), 2.0**-1060), np.full((3, 2), 2.0**500)
    np.testing.assert_array_equal(exact_product(left, right), np.full((2, 2), 3 * 2.0**-560))


def test_zeros_and_nothing() -> None:
    assert not exact_product(np.zeros((2, 3)), np.ones((3, 4))).any()
    assert exact_product(np.zeros((2, 0)), np.zeros((0, 4))).shape == (2, 4)


SAME = """
import numpy as np
from hlsgen.base.exact_sums import exact_product
a, b = (np.random.default_rng(0).normal(size=s) for s in ((64, 577), (577, 33)))
print(exact_product(a, b).tobytes().hex())
"""


def test_another_processor_gives_the_same_bits() -> None:
    found = [
        subprocess.run(
            [sys.executable, "-c", SAME], env=environment, capture_output=True, check=True, timeout=120
        ).stdout
        for environment in (os.environ, {**os.environ, **ENVIRONMENT})
    ]
    assert found[0] == found[1] and len(found[0]) > 1000
