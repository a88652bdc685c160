"""Stages with the reference ap headers equal golden, as with the fast ones.

A kernel takes five seconds more with these headers than with ours, so that many layers share it: the tests of
each kind name those in REFERENCE that touch all of its arithmetic. Words of AXI streams are among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from hlsgen.csim.compiler import Headers, reference_headers
from hlsgen.designfile.constraints import InterfaceConstraints
from hlsgen.hardware.ports import DDR_ONLY, Interfaces
from tests.layers import (
    test_adaptive_pool,
    test_binary_stage,
    test_channels_stages,
    test_constants_stage,
    test_dense_stage,
    test_elementwise_stages,
    test_log_softmax,
    test_moving_stages,
    test_packed_stage,
    test_pool_stages,
    test_popcount_stage,
    test_quad_stage,
    test_rearrange_stage,
    test_row_blocks,
    test_steps,
    test_thresholds,
)
from tests.support.layers.stage_cases import Case, assert_exact_with

PRODUCTS = (test_dense_stage, test_constants_stage, test_packed_stage, test_popcount_stage, test_quad_stage)
WINDOWS = (test_adaptive_pool, test_pool_stages)
ELEMENTS = (test_binary_stage, test_elementwise_stages, test_thresholds, test_steps)
CHANNELS = (test_channels_stages, test_log_softmax)
MOVED = (test_moving_stages, test_rearrange_stage, test_row_blocks)
STREAMED = Interfaces(constraints=InterfaceConstraints(input="stream"))


@pytest.mark.skipif(reference_headers() is None, reason="hls4ml is not installed")
@pytest.mark.parametrize(
    ("modules", "interfaces"),
    [
        pytest.param((*PRODUCTS, *WINDOWS), DDR_ONLY, id="products-and-windows"),
        pytest.param((*ELEMENTS, *CHANNELS), DDR_ONLY, id="elements-and-channels"),
        pytest.param(MOVED, STREAMED, id="moved"),
    ],
)
def test_the_reference_headers_agree(
    modules: Sequence[ModuleType], interfaces: Interfaces, tmp_path: Path
) -> None:
    cases: list[Case] = [case for module in modules for case in module.REFERENCE]
    assert_exact_with(Headers.REFERENCE, cases, tmp_path / "kernel", interfaces)
