"""Arrays split by pragmas that stand elsewhere, and by the tool for itself: by the II of public reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("split_arrays.cpp")


@pytest.mark.parametrize(
    ("top", "version", "interval", "report"),
    [
        ("halves", "2024.2", 1, "Saamstep/BNN-MNIST-PYNQ bnn.cpp:113: cyclic factor=2 is inferred"),
        ("rows_given", "2022.2", 1, "pedromsferreira/FPGA-MixedPrecision-CNN mixed_conv.cpp:195"),
        ("structs_split", "2022.1", 1, "francesco-ratti/... abs_solid_detector.cpp:242: regions.min, .max"),
        ("two_rows", "2025.2", 1, "ikxm17/ee4218-project tinyissimo_layer.cpp:343: pool_buf_0 to _63"),
        ("pooled", "2022.1", 1, "devanshj1996/... conv_7x7.cpp:70: a RAM_1WnR that begins with zeros"),
        ("one_channel", "2022.1", 4, "ayumiohno/mnist_depthwise_hls mnist.cpp:11: py_px, four writes"),
    ],
)
def test_the_interval_is_that_of_reports(top: str, version: str, interval: int, report: str) -> None:
    target = Target(part="xczu7ev-ffvc1156-2-e", clock_ns=10.0, version=version, kernel_flow=False)
    kernel = schedule_component(Component(top=top, files=(SOURCE,), target=target))
    found = [loop for loop in kernel.loops if loop.label == "work"]
    assert [loop.likely for loop in found] == [interval], (report, [loop.reasons for loop in found])
    assert not kernel.dropped
