"""What is emitted, as text: a change shows in the diff of golden/ here (rewrite it with `make golden`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.emit.conv2d import kernel_constants, kernel_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.conv2d import map_conv2d
from hlsgen.hardware.conv_folding import Folding
from hlsgen.layers.conv2d import Conv2d
from tests.support.kernels import U200, conv

GOLDEN = Path(__file__).parent / "golden"
CASES = {
    "float": (conv((4, 12, 10), 4), Folding(rows=2, pe=2, simd=2, fabric_pe=1)),
    "packed": (
        conv((4, 12, 10), 4, input_type="fixed<8,3>", weight_type="fixed<8,1>", bias=False),
        Folding(rows=1, pe=4, simd=1, order="channels"),
    ),
}


@pytest.mark.parametrize("file", ["src/conv1.h", "src/conv.cpp", "src/conv.h"])
@pytest.mark.parametrize("case", list(CASES))
def test_emitted_text(case: str, file: str, update_golden: bool) -> None:
    layer, folding = CASES[case]
    text = emitted(layer, folding)[file]
    golden = GOLDEN / case / file
    if update_golden:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text)
    assert golden.is_file(), f"{golden} is missing: make golden"
    assert text == golden.read_text()


@pytest.mark.parametrize("case", list(CASES))
def test_emitted_text_reads_as_written_by_hand(case: str) -> None:
    layer, folding = CASES[case]
    for file, text in emitted(layer, folding).items():
        assert "{{ " not in text and "{%" not in text, file
        assert "\n\n\n" not in text, f"{file}: two blank lines"
        assert not any(line != line.rstrip() for line in text.splitlines()), f"{file}: trailing blanks"
        assert "\t" not in text, file
        code = [line for line in text.splitlines() if not line.startswith("#pragma")]
        assert max(map(len, code)) <= 130, file


def test_size_does_not_grow_with_image_or_weights() -> None:
    small = emitted(conv((4, 12, 10), 4), Folding(rows=2, pe=2, simd=2))
    large = emitted(conv((256, 200, 300), 256), Folding(rows=2, pe=2, simd=2))
    for file in small:
        assert abs(len(large[file].splitlines()) - len(small[file].splitlines())) <= 6, file


def emitted(layer: Conv2d, folding: Folding) -> dict[str, str]:
    mapping = map_conv2d(layer, folding, U200)
    return kernel_files(
        mapping, kernel_constants(mapping, KernelNames(kernel="conv", source="test.yaml")), "0"
    )
