"""Bits of HGQ2's quantizers without HGQ2: a stand-in of its layer, judged by what its page says they give."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hlsgen
from hlsgen.base.errors import DesignError, ToolError
from hlsgen.frontends.qkeras.load import _check_qkeras, quiet
from tests.support.frontends.keras_models import WARNINGS

keras = pytest.importorskip("keras", minversion="3", reason="Keras 3 is not installed")
pytestmark = WARNINGS
WIDTH = 5
BITS = st.tuples(st.integers(0, 1), st.integers(-3, 4), st.integers(-3, 5))
"""Of an element: a sign, integer and fraction bits."""
ROUNDINGS = ["RND", "TRN", "RND_CONV", "TRN_ZERO", "RND_ZERO", "RND_INF", "RND_MIN_INF"]


class Quantizer(keras.layers.Layer):  # type: ignore[misc]
    """Has what is read of the layer of this name: bits by element, a rounding, what is beyond."""

    scaler, affine, q_type = None, None, "kif"

    def __init__(self, bits: Any, rounding: str = "RND", overflow: str = "WRAP", **rest: Any) -> None:
        super().__init__(**rest)
        kif = tuple(np.array(bits, np.float64).T[:, None])
        self.quantizer = types.SimpleNamespace(kif=kif, round_mode=rounding, overflow_mode=overflow)

    def call(self, x: Any) -> Any:
        return x


Quantizer.__module__ = "hgq.quantizer.quantizer"


def wanted(x: Any, bits: Any, rounding: str, overflow: str) -> Any:
    """In exact arithmetic: steps of 2**-f, rounded, wrapped or limited to k + i + f bits; 0 without any."""
    sign, integer, fraction = np.array(bits, np.float64).T
    steps = x * 2.0**fraction
    codes = {
        "RND": np.floor(steps + 0.5),
        "TRN": np.floor(steps),
        "RND_CONV": np.rint(steps),
        "TRN_ZERO": np.trunc(steps),
        "RND_ZERO": np.sign(steps) * np.ceil(np.abs(steps) - 0.5),
        "RND_INF": np.sign(steps) * np.floor(np.abs(steps) + 0.5),
        "RND_MIN_INF": np.ceil(steps - 0.5),
    }[rounding]
    span = 2.0 ** (integer + fraction)
    low = -sign * span
    codes = {"WRAP": (codes - low) % (span - low) + low, "SAT": np.clip(codes, low, span - 1)}[overflow]
    return np.where(sign + integer + fraction > 0, codes / 2.0**fraction, 0.0)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(ROUNDINGS),
    st.sampled_from(["WRAP", "SAT"]),
    st.lists(BITS, min_size=WIDTH, max_size=WIDTH),
    st.lists(st.integers(-(1 << 11), (1 << 11) - 1), min_size=WIDTH, max_size=4 * WIDTH),
)
def test_bits_by_element_are_as_they_are_said(
    rounding: str, overflow: str, bits: list[tuple[int, int, int]], numbers: list[int]
) -> None:
    # as HGQ2 keeps integer bits from -f on, and a sign alone has one step
    bits = [(k, max(i, -f) if k + i + f > 0 else -9, f) for k, i, f in bits]
    with quiet():
        layer = Quantizer(bits, rounding, overflow, name="q")
        model = keras.Sequential([keras.Input((WIDTH,), name="x"), layer])
    x = np.array(numbers[: len(numbers) // WIDTH * WIDTH]).reshape(-1, WIDTH) / 64
    design = hlsgen.from_qkeras(model, precision={"input": "fixed<14,8>"})
    assert np.array_equal(design.golden(x), wanted(x, bits, rounding, overflow))


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("width", [1, 3])
def test_halves_beside_a_channel_with_a_sign(rounding: str, width: int) -> None:
    """An unsigned range becomes a signed one after it is rounded, where that asks for sign or parity."""
    bits = [(0, width - 4, 4), (0, width - 3, 3), (0, width - 4, 4), (0, width - 4, 4), (1, width - 1, 0)]
    with quiet():
        layer = Quantizer(bits, rounding, "WRAP", name="q")
        model = keras.Sequential([keras.Input((WIDTH,), name="x"), layer])
    x = np.arange(-64, 64)[:, None] * np.array([2, 4, 1, 3, 8]) / 64
    design = hlsgen.from_qkeras(model, precision={"input": "fixed<16,8>"})
    assert np.array_equal(design.golden(x), wanted(x, bits, rounding, "WRAP"))


def test_what_no_type_says_is_refused() -> None:
    bits = [(1, 2, 3), (1, 1, 3), (1, 2, 3), (0, 2, 3), (1, 2, 3)]

    def refused(**rest: Any) -> str:
        with quiet():
            model = keras.Sequential([keras.Input((WIDTH,), name="x"), Quantizer(bits, name="q", **rest)])
        with pytest.raises(DesignError) as error:
            hlsgen.from_qkeras(model, precision={"input": "fixed<14,8>"})
        return str(error.value)

    assert "with overflow_mode=SAT_SYM" in refused(overflow="SAT_SYM")
    assert "q has overflow_mode=WRAP_SM" in refused(overflow="WRAP_SM")


def test_the_qkeras_of_hgq2_is_told_from_qkeras() -> None:
    with pytest.raises(ToolError, match="HGQ2 brings one of the same name, which replaces it"):
        _check_qkeras(types.SimpleNamespace(quantizers=None))
