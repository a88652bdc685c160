"""Zynq-7000 (PYNQ-Z2): a DSP48E1 multiplies 25 x 18 bits, so two weights of eight bits do not share one.

UG479 has the multiplier; counts of wider products are those of published Vitis HLS reports on 7 series parts.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import hlsgen
from hlsgen.base.fixed import FixedType
from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.emit.host_cpus import HOST_CPUS
from hlsgen.hardware.conv2d import choose_arithmetic
from hlsgen.layers.packing import PACKED_BITS, pair_bits
from hlsgen.search.candidates import every_folding
from hlsgen.search.conv_kernel import ConvConstraints, foldings
from hlsgen.targets.board import load_board
from hlsgen.targets.device_family import DSP48E1, DSP48E2
from tests.layers.test_packed_stage import convolution, random_weights
from tests.support.small_design import DESIGN

PYNQ, ZCU102 = load_board("pynq_z2"), load_board("zcu102")


@pytest.mark.parametrize(
    ("a", "w", "blocks"), [(25, 18, 1), (18, 25, 1), (26, 18, 2), (8, 8, 1), (32, 32, 4), (27, 16, 2)]
)
def test_blocks_of_a_product(a: int, w: int, blocks: int) -> None:
    assert DSP48E1.blocks(a, w) == blocks


@pytest.mark.parametrize("bits", range(2, 10))
def test_a_word_of_two_weights_holds_all_that_they_may_be(bits: int) -> None:
    """The lower weight lends one to the upper where it is below zero; nine bits leave the least code out."""
    codes = np.arange(-(1 << bits - 1) + (bits == 9), 1 << bits - 1)
    words = (codes[:, None] << 18) + codes[None, :]
    end = 1 << pair_bits(bits) - 1
    assert -end <= words.min() and words.max() < end
    assert pair_bits(bits) <= PACKED_BITS


@pytest.mark.parametrize(("bits", "packs"), [(4, True), (6, True), (7, False), (8, False)])
def test_two_products_of_weights_that_fit_25_bits(bits: int, packs: bool) -> None:
    weight = FixedType(bits, 2)
    layer = convolution(random_weights((4, 2, 3, 3), weight), weight=weight)
    free = NetworkConstraints()
    kinds = {one.fold.multipliers for one in every_folding(layer, PYNQ, free, None)}
    assert ("packed" in kinds) == packs and "quad" not in kinds
    assert "packed" in {one.fold.multipliers for one in every_folding(layer, ZCU102, free, None)}


@pytest.mark.parametrize(("bits", "packs"), [(6, True), (8, False)])
def test_kernels_of_a_layer(bits: int, packs: bool) -> None:
    weight = FixedType(bits, 2)
    layer = convolution(random_weights((4, 2, 3, 3), weight), weight=weight)
    kinds = {choose_arithmetic(layer, one, PYNQ.multiplier)[0] for one in foldings(layer, ConvConstraints())}
    assert kinds == ({"fixed", "packed"} if packs else {"fixed"})
    points = [one for one in foldings(layer, ConvConstraints()) if one.algorithm == "winograd"]
    assert points and {choose_arithmetic(layer, one, DSP48E1)[0] for one in points} == {"fixed"}
    wide = {choose_arithmetic(layer, one, DSP48E2)[0] for one in foldings(layer, ConvConstraints())}
    assert "packed" in wide


def written(folder: Path, bits: int, *, style: str = "layer") -> Path:
    """A design of a layer, or of a network of two, whose numbers have so many bits."""
    text = re.sub(r"mapping: \{.*", "mapping: auto", DESIGN.replace("zcu102", "pynq_z2"))
    text = text.replace("fixed<16,6>", f"fixed<{bits},2>")
    if style != "layer":
        second = "  - {name: conv2, kind: conv2d, out_channels: 4, kernel: 3, weights: {seed: 4}}\nmapping"
        text = text.replace("mapping", second, 1) + f"style: {style}\n"
        text += f'precision: "fixed<{bits},4>"\n'
    path = folder / "small.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("bits", [6, 8])
@pytest.mark.parametrize("style", ["layer", "dataflow"])
def test_a_build_is_exact(style: str, bits: int, tmp_path: Path) -> None:
    hlsgen.load(written(tmp_path, bits, style=style)).build(tmp_path / "built")
    document = json.loads((tmp_path / "built/report.json").read_text())
    assert document["csim"]["mismatches"] == 0 and document["csim"]["compared"] > 0
    assert document["part"] == PYNQ.part
    assert "of UltraScale+ parts, and xc7z020clg400-1 is Zynq-7000" in document["cost"]["routed"]["basis"]


def test_a_shared_processor_of_eight_bits_packs_nothing(tmp_path: Path) -> None:
    design = hlsgen.load(written(tmp_path, 8, style="shared"))
    design.build(tmp_path / "built", frames=2)
    document = json.loads((tmp_path / "built/report.json").read_text())
    assert document["csim"]["mismatches"] == 0 and document["csim"]["compared"] > 0
    assert document["processor"]["packed"] is False
    other = hlsgen.load(written(tmp_path, 8, style="shared"), board="zcu102").estimate().as_json()
    assert other["processor"]["packed"] is True


def test_what_starts_on_its_processor(tmp_path: Path) -> None:
    """The names of makefile_zynq7000.mk in Vitis_Accel_Examples."""
    hlsgen.load(written(tmp_path, 8)).build(tmp_path / "built", csim=False, schedule=False)
    made = {path.name: path.read_text() for path in (tmp_path / "built/vitis").iterdir() if path.is_file()}
    makefile = (tmp_path / "built/Makefile").read_text()
    assert "sysroots/cortexa9t2hf-neon-xilinx-linux-gnueabi" in makefile
    assert "$EDGE_COMMON_SW/uImage" in makefile
    assert "gnu/aarch32/lin/gcc-arm-linux-gnueabi/bin/arm-linux-gnueabihf-g++" in made["tools.sh"]
    assert "for file in rootfs.ext4 uImage;" in made["check.sh"]
    assert '"flow": "zynq"' in made["flow.json"] and "run_app.sh" in made
    assert "CROSS=arm-linux-gnueabihf" in makefile
    assert not any("aarch64" in text for text in (makefile, *made.values()))
    done = subprocess.run(
        ["make", "-n", "host", f"SYSROOT={tmp_path}", "CROSS=arm-linux-gnueabihf", "XILINX_VITIS="],
        cwd=tmp_path / "built/host",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "arm-linux-gnueabihf-g++ -std=c++17" in done.stdout + done.stderr


def test_both_processors_have_what_a_card_needs() -> None:
    assert set(HOST_CPUS) == {"zynqmp", "zynq"}
    assert {load_board(name).flow for name in ("zcu102", "pynq_z2")} == set(HOST_CPUS)
