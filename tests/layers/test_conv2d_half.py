"""Convolutions in half: golden by scalar arithmetic apart, C-simulation = golden, mutants, refused types."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hlsgen.base.floating import HALF
from hlsgen.cost.resources import arithmetic_resources
from hlsgen.csim.compiler import Headers, reference_headers
from hlsgen.csim.verification import compare
from hlsgen.hardware.conv2d import map_conv2d
from hlsgen.hardware.conv_folding import Folding
from hlsgen.layers.conv2d import Conv2d
from tests.support.halves import rational_half
from tests.support.kernels import U200, assert_exact, conv, emit_kernel, frames_for, run_kernel

TYPES = {"input_type": "half", "weight_type": "half"}
IN_FLOAT = TYPES | {"accumulator": "float32"}


def half_conv(**options: object) -> Conv2d:
    return conv((4, 9, 10), 4, **(TYPES | options))  # type: ignore[arg-type]


def scalar_sum(terms: list[float]) -> float:
    """Neighbours of each level, every sum rounded to half; a last one without neighbour stays."""
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        terms = [half_of(Fraction(a) + Fraction(b)) for a, b in pairs] + terms[len(terms) // 2 * 2 :]
    return terms[0]


def half_of(exact: Fraction) -> float:
    return rational_half(exact) if exact else 0.0


@pytest.mark.parametrize("simd", [1, 2, 4])
def test_golden_rounds_every_operation(simd: int) -> None:
    layer = replace(half_conv(), low=0.0, high=1.75)
    frames = frames_for(layer, 1)
    got = layer.golden(frames, simd=simd)
    assert got.dtype == np.float16
    for m, y, x in [(0, 0, 0), (1, 6, 7), (2, 3, 4), (3, 2, 5), (3, 6, 0)]:
        total = float(layer.bias[m])
        for first in range(0, 4, simd):
            products = [
                half_of(
                    Fraction(float(frames[0, c, y + i, x + j])) * Fraction(float(layer.weights[m, c, i, j]))
                )
                for c in range(first, first + simd)
                for i in range(3)
                for j in range(3)
            ]
            total = half_of(Fraction(total) + Fraction(scalar_sum(products)))
        assert got[0, m, y, x] == min(max(total, 0.0), 1.75)


def test_golden_in_float32_is_that_of_float32_rounded_once() -> None:
    layer = conv((4, 9, 10), 4, **IN_FLOAT)
    frames = frames_for(layer, 2)
    single = replace(conv((4, 9, 10), 4), weights=layer.weights.astype(np.float32))
    single = replace(single, bias=layer.bias.astype(np.float32))
    for simd in (1, 4):
        sums = single.golden(frames.astype(np.float32), simd=simd)
        np.testing.assert_array_equal(layer.golden(frames, simd=simd), HALF.encode(sums))


FOLDINGS = [
    pytest.param(half_conv(), Folding(rows=3, pe=2, simd=2, fabric_pe=1), id="mixed-adders"),
    pytest.param(half_conv(bias=False, extremes=True), Folding(rows=2, pe=4, simd=4), id="extremes"),
    pytest.param(
        conv((4, 9, 10), 4, **IN_FLOAT, extremes=True),
        Folding(rows=2, pe=2, simd=2, fabric_pe=1),
        id="float32-sums",
    ),
    pytest.param(
        conv((2, 9, 9), 2, (3, 2), padding=(1, 0, 2, 1), stride=(2, 1), dilation=(1, 2), **TYPES),
        Folding(rows=2, pe=1, simd=1, order="channels"),
        id="channels-outermost",
    ),
]


@pytest.mark.parametrize(("layer", "folding"), FOLDINGS)
def test_kernel_equals_golden(layer: Conv2d, folding: Folding, tmp_path: Path) -> None:
    assert_exact(layer, folding, tmp_path)


def test_extremes_are_extreme() -> None:
    """Results of those frames overflow, and products are too small for half."""
    layer, folding = FOLDINGS[1].values
    results = layer.golden(frames_for(layer, 3), simd=folding.simd)
    assert np.isinf(results).any() and np.isfinite(results).any()
    products = np.abs(layer.weights.astype(np.float64)[0, 0, 0, 0] * frames_for(layer, 3).astype(np.float64))
    assert ((products > 0) & (products < 2.0**-14)).any()


def test_reference_headers(tmp_path: Path) -> None:
    if reference_headers() is None:
        pytest.skip("the reference ap headers (hls4ml wheel) are not installed")
    layer, folding = half_conv(), Folding(rows=2, pe=2, simd=2)
    kernel = emit_kernel(layer, folding, tmp_path)
    x = frames_for(layer, 3)
    run = run_kernel(kernel, x, record_ports=False, headers=Headers.REFERENCE, standard="c++11")
    assert compare(run.output, layer.golden(x, simd=2), layer.result_type).mismatches == 0


MUTANTS = [
    (
        "a chain instead of a tree",
        "term[n] = Where::add(term[n], term[n + step]);",
        "term[0] = term[0] + term[n + step];",
    ),
    ("sums in float", "half sum = a + b;", "float sum = float(a) + float(b) * 1.0001f;"),
    (
        "products in float",
        "const half product = a[n] * w[n];",
        "const float product = float(a[n]) * float(w[n]) * 1.001f;",
    ),
]


@pytest.mark.parametrize(("old", "new"), [pytest.param(*m[1:], id=m[0]) for m in MUTANTS])
def test_mutants_are_caught(old: str, new: str, tmp_path: Path) -> None:
    layer, folding = half_conv(), Folding(rows=2, pe=2, simd=2)
    kernel = emit_kernel(layer, folding, tmp_path)
    path = kernel.folder / "src" / "hlsgen" / "half_sums.h"
    text = path.read_text()
    assert old in text, f"{old!r} is not in half_sums.h: the mutant has to follow the header"
    path.write_text(text.replace(old, new))
    x = frames_for(layer, 1)
    run = run_kernel(kernel, x, record_ports=False)
    assert compare(run.output, layer.golden(x, simd=2), layer.result_type).mismatches > 0


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ({"weight_type": "float32"}, "half is mixed with float32"),
        ({"result_type": "float32"}, "half is mixed with float32"),
        ({"accumulator": "fixed<32,16>"}, "half is mixed with fixed point"),
        (
            {"input_type": "float32", "weight_type": "float32", "accumulator": "half"},
            "half is mixed with float32",
        ),
    ],
)
def test_other_types_beside_half_are_refused(types: dict[str, str], message: str) -> None:
    problems = conv((4, 9, 10), 4, **(TYPES | types)).check()
    assert [message in one.message for one in problems] == [True]


def test_half_takes_fewer_dsps_than_float32() -> None:
    """72 products and adders: 2 + 2 DSPs each by the vendor's cores, 3 + 2 in float32 or summed in it."""
    found = [
        arithmetic_resources(map_conv2d(layer, Folding(rows=2, pe=2, simd=2), U200), U200.terms)
        for layer in (half_conv(), conv((4, 9, 10), 4, **IN_FLOAT), conv((4, 9, 10), 4))
    ]
    assert [one.dsp for one in found] == [288, 360, 360]
    half, widened, single = (one.lut for one in found)
    assert half < single < widened
