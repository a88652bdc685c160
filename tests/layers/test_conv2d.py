"""The convolution kernel: emitted C++ = golden, iterations = cost model, ports never exceeded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from hlsgen.base.type_text import parse_type
from hlsgen.csim.compiler import Headers, reference_headers
from hlsgen.csim.verification import compare
from hlsgen.designfile.constraints import NoFit
from hlsgen.hardware.conv_folding import Folding, Order
from hlsgen.layers import winograd
from hlsgen.layers.conv2d import Conv2d
from tests.support.examples import compiled
from tests.support.kernels import ZCU102, assert_exact, conv, emit_kernel, frames_for, run_kernel

FIXED16 = {"input_type": "fixed<16,6>", "weight_type": "fixed<16,2>"}
INT8 = {"input_type": "fixed<8,3>", "weight_type": "fixed<8,1>", "result_type": "fixed<8,4,rnd_conv,sat>"}
EVERY_BIT = {"result_type": "fixed<24,12>"}


@pytest.mark.parametrize(
    ("layer", "folding"),
    [
        pytest.param(
            conv((4, 12, 10), 4), Folding(rows=3, pe=2, simd=2, fabric_pe=1), id="fp32-mixed-adders"
        ),
        pytest.param(
            conv((4, 12, 10), 4, bias=False),
            Folding(rows=2, pe=2, simd=4, fabric_pe=2),
            id="fp32-one-pass-no-bias",
        ),
        pytest.param(
            conv((4, 12, 10), 4, **FIXED16, extremes=True),
            Folding(rows=2, pe=2, simd=2),
            id="fixed16-extremes",
        ),
        pytest.param(
            conv((4, 12, 10), 4, **FIXED16, bias=False), Folding(rows=5, pe=1, simd=4), id="fixed16-no-bias"
        ),
        pytest.param(
            conv((4, 12, 10), 4, **INT8, extremes=True), Folding(rows=2, pe=4, simd=4), id="int8-extremes"
        ),
        pytest.param(
            conv((4, 12, 10), 6, **INT8 | EVERY_BIT),
            Folding(rows=2, pe=6, simd=2, fabric_pe=2),
            id="int8-mixed",
        ),
        pytest.param(conv((4, 12, 10), 4, **INT8), Folding(rows=1, pe=1, simd=2), id="int8-odd-pe"),
        pytest.param(
            conv((2, 9, 9), 2, **FIXED16),
            Folding(rows=2, pe=1, simd=1, order="channels"),
            id="channels-outermost",
        ),
        pytest.param(conv((1, 1, 1), 1, (1, 1), **FIXED16), Folding(rows=1, pe=1, simd=1), id="one-pixel"),
        pytest.param(
            conv((2, 5, 5), 2, (7, 7), padding=(3, 3, 3, 3)),
            Folding(rows=5, pe=1, simd=1),
            id="kernel-over-image",
        ),
        pytest.param(
            conv((2, 6, 6), 2, (2, 2), padding=(5, 5, 5, 5)),
            Folding(rows=2, pe=1, simd=1),
            id="tiles-of-padding",
        ),
        pytest.param(
            conv((3, 8, 8), 2, (1, 1), stride=(3, 3)), Folding(rows=2, pe=1, simd=1), id="stride-over-kernel"
        ),
        pytest.param(
            conv((2, 11, 13), 2, (3, 2), dilation=(2, 3)), Folding(rows=2, pe=2, simd=1), id="dilation"
        ),
    ],
)
def test_kernel_equals_golden(layer: Conv2d, folding: Folding, tmp_path: Path) -> None:
    assert_exact(layer, folding, tmp_path)


WINOGRAD = Folding(rows=4, pe=2, simd=2, algorithm="winograd")
NARROW = {"input_type": "fixed<8,3>", "weight_type": "fixed<5,1>", "result_type": "fixed<20,8>"}
"""Weights that leave chains room at every point."""


@pytest.mark.parametrize(
    ("layer", "folding"),
    [
        pytest.param(conv((4, 12, 10), 4, **NARROW), WINOGRAD, id="packed"),
        pytest.param(conv((4, 12, 10), 4, **NARROW), replace(WINOGRAD, rows=6), id="pairs-odd"),
        pytest.param(conv((4, 11, 9), 4, **INT8, extremes=True), WINOGRAD, id="weights-too-large-to-pack"),
        pytest.param(
            conv((4, 13, 12), 3, (3, 2), stride=(1, 2), dilation=(1, 3), padding=(2, 1, 1, 3), **NARROW),
            replace(WINOGRAD, pe=3, fabric_pe=1),
            id="steps-of-columns-mixed",
        ),
        pytest.param(
            conv((2, 9, 9), 4, **NARROW | {"input_type": "ufixed<8,0>"}),
            replace(WINOGRAD, simd=1, order="channels"),
            id="unsigned-channels-outermost",
        ),
        pytest.param(conv((2, 9, 9), 2, **NARROW), replace(WINOGRAD, fabric_pe=2), id="in-logic-cells"),
    ],
)
def test_winograd_equals_golden(layer: Conv2d, folding: Folding, tmp_path: Path) -> None:
    kernel = assert_exact(layer, folding, tmp_path)
    packs = layer.weight_type == parse_type("fixed<5,1>") and folding.fabric_pe < folding.pe
    assert kernel.mapping.arithmetic == ("packed" if packs else "fixed")


def test_kernel_for_a_board_without_uram(tmp_path: Path) -> None:
    assert_exact(conv((4, 12, 10), 4, **FIXED16), Folding(rows=2, pe=2, simd=2), tmp_path, board=ZCU102)


@st.composite
def layers(draw: st.DrawFn, *, of_winograd: bool = False) -> Conv2d:
    """of_winograd: such that this algorithm fits."""
    channels, filters = draw(st.sampled_from([1, 2, 3, 4, 6])), draw(st.sampled_from([1, 2, 4, 6]))
    kernel_rows, steps = (st.just(3), st.just(1)) if of_winograd else (st.integers(1, 5), st.integers(1, 3))
    kernel = draw(st.tuples(kernel_rows, st.integers(1, 5)))
    dilation = draw(st.tuples(steps, st.integers(1, 3)))
    padding = draw(st.tuples(*[st.integers(0, 4)] * 4))
    height, width = draw(st.integers(1, 14)), draw(st.integers(1, 18))
    assume(height + padding[0] + padding[2] >= (kernel[0] - 1) * dilation[0] + 1)
    assume(width + padding[1] + padding[3] >= (kernel[1] - 1) * dilation[1] + 1)
    source = draw(
        st.sampled_from(
            ["fixed<16,6>", "fixed<8,3>", "ufixed<8,0>", "fixed<5,9>", "ufixed<12,-2>"]
            + ([] if of_winograd else ["float32", "fixed<30,10>"])
        )
    )
    weight = (
        source
        if source == "float32"
        else draw(st.sampled_from(["fixed<8,1>", "fixed<4,4>", "ufixed<3,1>", "fixed<17,2>"]))
    )
    modes = draw(
        st.sampled_from(
            [
                "",
                ",rnd,sat",
                ",rnd_conv,sat_sym",
                ",trn_zero,sat_zero",
                ",rnd_inf,wrap",
                ",rnd_min_inf,sat",
                ",rnd_zero,wrap_sm",
            ]
        )
    )
    result = (
        source
        if source == "float32"
        else f"fixed<{draw(st.integers(2, 40))},{draw(st.integers(-3, 20))}{modes}>"
    )
    return conv(
        (channels, height, width),
        filters,
        kernel,
        stride=draw(st.tuples(steps, st.integers(1, 3))),
        padding=padding,
        dilation=dilation,
        input_type=source,
        weight_type=weight,
        result_type=result,
        bias=draw(st.booleans()),
        extremes=draw(st.booleans()),
        seed=draw(st.integers(0, 1000)),
    )


@st.composite
def cases(draw: st.DrawFn, *, of_winograd: bool = False) -> tuple[Conv2d, Folding]:
    """Winograd's algorithm where it fits; of_winograd: it does."""
    layer = draw(layers(of_winograd=of_winograd))
    if of_winograd:
        assume(winograd.fits(layer) and layer.output_shape[1] > 1)
    pe = draw(st.sampled_from([d for d in range(1, 7) if layer.out_channels % d == 0]))
    simd = draw(st.sampled_from([d for d in range(1, 7) if layer.in_shape[0] % d == 0]))
    order: Order = draw(st.sampled_from(["rows", "rows", "channels"]))
    rows = draw(st.integers(1 + of_winograd, min(5, layer.output_shape[1])))
    folding = Folding(rows=rows, pe=pe, simd=simd, fabric_pe=draw(st.integers(0, pe)), order=order)
    if winograd.fits(layer) and rows > 1:
        folding = replace(folding, rows=rows // 2 * 2, algorithm="winograd")
    return layer, folding


@settings(
    max_examples=compiled(9),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(cases())
def test_any_layer_and_folding(case: tuple[Conv2d, Folding]) -> None:
    layer, folding = case
    note(
        f"{layer.in_shape} {layer.kernel} {layer.stride} {layer.padding} {layer.dilation} "
        f"{layer.input_type} {folding}"
    )
    with TemporaryDirectory() as folder:
        try:
            assert_exact(layer, folding, Path(folder))
        except NoFit:
            assume(False)


REFERENCE_CASES = [
    pytest.param(
        conv((2, 9, 10), 3, **INT8), Folding(rows=2, pe=3, simd=1, fabric_pe=1), "c++11", id="int8-c++11"
    ),
    pytest.param(
        conv(
            (3, 7, 7),
            2,
            input_type="ufixed<12,-2>",
            weight_type="fixed<17,2>",
            result_type="fixed<20,1,rnd_inf,sat_sym>",
        ),
        Folding(rows=1, pe=2, simd=1),
        "c++14",
        id="ufixed12-c++14",
    ),
]


@pytest.mark.parametrize(("layer", "folding", "standard"), REFERENCE_CASES)
def test_kernel_equals_golden_with_reference_headers(
    layer: Conv2d, folding: Folding, standard: str, tmp_path: Path
) -> None:
    if reference_headers() is None:
        pytest.skip("the reference ap headers (hls4ml wheel) are not installed")
    kernel = emit_kernel(layer, folding, tmp_path)
    x = frames_for(layer, 3)
    run = run_kernel(kernel, x, record_ports=False, headers=Headers.REFERENCE, standard=standard)
    assert compare(run.output, layer.golden(x, simd=folding.simd), layer.result_type).mismatches == 0


@pytest.mark.parametrize("accumulator", ["fixed<20,8>", "fixed<12,6,rnd,sat>", "fixed<24,10,trn,sat_sym>"])
def test_narrowed_accumulator_follows_the_passes(accumulator: str, tmp_path: Path) -> None:
    layer = conv((4, 8, 9), 2, **FIXED16, accumulator=accumulator)
    assert_exact(layer, Folding(rows=2, pe=2, simd=2), tmp_path)


def test_windows_that_see_padding_only(tmp_path: Path) -> None:
    """Nothing of the input is read, so that there is no burst of it."""
    layer = conv((1, 1, 1), 1, kernel=(1, 1), stride=(2, 1), padding=(1, 0, 0, 0))
    assert_exact(layer, Folding(rows=1, pe=1, simd=1), tmp_path)
