"""Primitives and their shapes; the choice between them."""

from __future__ import annotations

import pytest

from hlsgen.hardware.storage import Storage, bram18_for, choose_storage, lutram_luts, uram_for
from tests.support.kernels import U200, ZCU102


@pytest.mark.parametrize(
    ("depth", "bits", "blocks"),
    [
        (512, 36, 1),
        (513, 36, 2),
        (1024, 18, 1),
        (2048, 9, 1),
        (4096, 4, 1),
        (8192, 2, 1),
        (16384, 1, 1),
        (1, 1, 1),
    ]
    + [
        (512, 37, 2),
        (1024, 32, 2),
        (2048, 18, 2),
        (4096, 16, 4),
        (16384, 8, 8),
        (600, 16, 1),
        (1536, 32, 3),
        (1537, 32, 4),
    ],
)
def test_bram18(depth: int, bits: int, blocks: int) -> None:
    assert bram18_for(depth, bits) == blocks


def test_uram_and_lutram() -> None:
    assert (uram_for(4096, 72), uram_for(4097, 72), uram_for(10, 73)) == (1, 2, 2)
    assert lutram_luts(64, 7) == 8
    assert lutram_luts(32, 14) == 8
    assert lutram_luts(64, 16) == 24  # as Yosys packs it: three RAM64M8
    assert lutram_luts(128, 7) > 16  # two blocks and the multiplexer between them


def test_a_single_word_is_a_register() -> None:
    assert choose_storage("w", 1, 32, 4, U200).storage is Storage.REGISTER


def test_shallow_goes_to_lutram_and_deep_to_blocks() -> None:
    assert choose_storage("shallow", 16, 32, 144, U200).storage is Storage.LUTRAM
    deep = choose_storage("deep", 4096, 72, 8, U200)
    assert deep.storage is Storage.URAM
    assert (deep.uram, deep.bram18, deep.lut) == (8, 0, 0)
    assert choose_storage("deep", 4096, 72, 8, ZCU102).storage is Storage.BRAM
