"""Small faults in the templates must not pass: results, recorded ports or counted iterations show them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.base.errors import MismatchError, ToolError
from hlsgen.cost.cycles import iterations
from hlsgen.csim.verification import compare
from hlsgen.hardware.conv_folding import Folding
from hlsgen.layers.conv2d import Conv2d
from tests.support.kernels import Kernel, conv, emit_kernel, frames_for, run_kernel

FIXED = conv(
    (4, 11, 13),
    4,
    padding=(1, 1, 1, 1),
    input_type="fixed<16,6>",
    weight_type="fixed<16,2>",
    result_type="fixed<16,6,rnd,sat>",
)
PACKED = conv(
    (4, 11, 13),
    4,
    input_type="fixed<8,3>",
    weight_type="fixed<8,1>",
    result_type="fixed<24,12>",
    extremes=True,
)
FLOAT = conv((4, 11, 13), 4)
FOLDING = Folding(rows=2, pe=4, simd=2)
"""Each iteration reads four rows, so that banks and offsets matter."""


def mutated(kernel: Kernel, file: str, old: str, new: str) -> None:
    path = kernel.folder / file
    text = path.read_text()
    assert text.count(old) >= 1, f"{old!r} is not in {file}: the mutant has to follow the template"
    path.write_text(text.replace(old, new, 1))


def survives(kernel: Kernel) -> bool:
    """Whether C-simulation finds nothing wrong with the kernel."""
    layer = kernel.mapping.layer
    frames = frames_for(layer, 3)
    try:
        run = run_kernel(kernel, frames)
    except MismatchError:
        return False
    golden = layer.golden(frames, simd=kernel.mapping.folding.simd)
    equal = compare(run.output, golden, layer.result_type).mismatches == 0
    return equal and run.iterations == iterations(kernel.mapping, len(frames))


MUTANTS = [
    ("window shift", FIXED, "window[s][i][v + STRIDE_W]", "window[s][i][v + 0]"),
    ("tap column", FIXED, "[j * DILATION_W]", "[j + DILATION_W - 1 + (j == 2)]"),
    ("weight index", FIXED, "at.filters * CF + at.channels];", "at.filters * CF + 0];"),
    ("padding's edge", FIXED, "column >= 0 && column < IN_WIDTH", "column >= 1 && column < IN_WIDTH"),
    ("image's edge", FIXED, "row >= 0 && row < IN_HEIGHT", "row >= 0 && row < IN_HEIGHT - 1"),
    ("a pass too early", FIXED, "&& at.channels.last)", "&& at.channels.value == CF - 2)"),
    ("sums not begun anew", FIXED, "at.channels.value == 0 ||", "at.channels.value == 1 ||"),
    ("a wrong row slot", FIXED, "constexpr int TILE_SLOTS = 2", "constexpr int TILE_SLOTS = 3"),
    ("a wrong half", FIXED, "(upper ? 0 : OUT_WORDS)", "(upper ? OUT_WORDS : 0)"),
    ("an iteration too many", FIXED, "counter<COLUMNS> column", "counter<COLUMNS + 1> column"),
    ("columns of a last word", FIXED, "? LAST_LANES : IN_LANES", "? LAST_LANES - 1 : IN_LANES"),
    ("where a last word begins", FIXED, "out_word.last ? last_word(word) : word", "word"),
    ("lane order", FIXED, "result.lane[p * ROWS + r]", "result.lane[r * ROWS + p]"),
    ("no saturation", FIXED, "AP_RND, AP_SAT> out_t", "AP_RND, AP_WRAP> out_t"),
    ("the other rounding", FIXED, "AP_RND, AP_SAT> out_t", "AP_TRN, AP_SAT> out_t"),
    ("order of the terms", FLOAT, "(s * KERNEL_H + i) * KERNEL_W + j", "(i * SIMD + s) * KERNEL_W + j"),
]


@pytest.mark.parametrize(("layer", "old", "new"), [pytest.param(*m[1:], id=m[0]) for m in MUTANTS])
def test_mutant_of_the_layer_is_caught(layer: Conv2d, old: str, new: str, tmp_path: Path) -> None:
    kernel = emit_kernel(layer, FOLDING, tmp_path)
    mutated(kernel, "src/conv1.h", old, new)
    assert not survives(kernel)


def test_mutants_begin_from_kernels_that_pass(tmp_path: Path) -> None:
    for number, layer in enumerate((FIXED, PACKED, FLOAT)):
        assert survives(emit_kernel(layer, FOLDING, tmp_path / str(number)))
    assert survives(emit_kernel(WINOGRAD_LAYER, WINOGRAD, tmp_path / "winograd"))


SHARED_MUTANTS = [
    ("upper lane's sign", "src/hlsgen/dot.h", "upper += high + lent", "upper += high - lent"),
    ("a chain too long", "src/conv1.h", "constexpr int CHAIN = ", "constexpr int CHAIN = 9 + "),
]


@pytest.mark.parametrize(("file", "old", "new"), [pytest.param(*m[1:], id=m[0]) for m in SHARED_MUTANTS])
def test_mutant_of_the_packing_is_caught(file: str, old: str, new: str, tmp_path: Path) -> None:
    kernel = emit_kernel(PACKED, FOLDING, tmp_path)
    mutated(kernel, file, old, new)
    if "CHAIN" in old:  # the testbench would refuse these weights before the kernel sees them
        mutated(kernel, "tb/conv_tb.cpp", "if (!packing_is_exact", "if (false && !packing_is_exact")
    assert not survives(kernel)


WINOGRAD_LAYER = conv(
    (4, 11, 13),
    4,
    input_type="fixed<8,3>",
    weight_type="fixed<6,1>",
    result_type="fixed<24,12>",
    extremes=True,
    seed=1,
)
WINOGRAD = Folding(rows=6, pe=4, simd=2, fabric_pe=1, algorithm="winograd")
WINOGRAD_MUTANTS = [
    ("a point of the rows", "src/hlsgen/winograd.h", "v[3] = d[1] - d[3]", "v[3] = d[3] - d[1]"),
    ("a point of the kernel", "src/hlsgen/winograd.h", "u[2] = outer - g[1]", "u[2] = outer + g[1]"),
    ("words apart", "src/hlsgen/winograd.h", "upper = high + lent;", "upper = high - lent;"),
    ("a row of the next pair", "src/conv1.h", "set_rows(upper, 4 * g + 2", "set_rows(upper, 4 * g + 0"),
    ("a weight's row", "src/conv1.h", "first + i * KERNEL_W", "first + i"),
    ("a chain too long", "src/conv1.h", "constexpr int CHAIN = ", "constexpr int CHAIN = 2 + "),
]


@pytest.mark.parametrize(("file", "old", "new"), [pytest.param(*m[1:], id=m[0]) for m in WINOGRAD_MUTANTS])
def test_mutant_of_winograd_is_caught(file: str, old: str, new: str, tmp_path: Path) -> None:
    kernel = emit_kernel(WINOGRAD_LAYER, WINOGRAD, tmp_path)
    assert kernel.mapping.arithmetic == "packed" and kernel.mapping.chain == 4
    mutated(kernel, file, old, new)
    if "CHAIN" in old:  # the testbench would refuse these weights before the kernel sees them
        mutated(kernel, "tb/conv_tb.cpp", "if (!packing_is_exact", "if (false && !packing_is_exact")
    assert not survives(kernel)


def test_a_lane_too_wide_is_no_kernel(tmp_path: Path) -> None:
    """-128 - 128, and one lent, need ten bits beside the lane."""
    kernel = emit_kernel(WINOGRAD_LAYER, WINOGRAD, tmp_path)
    mutated(kernel, "src/conv1.h", "SUM_LANE = 17", "SUM_LANE = 18")
    with pytest.raises(ToolError, match="sums fit beside each other"):
        survives(kernel)


def test_weights_too_large_for_winograds_packing_are_refused(tmp_path: Path) -> None:
    gentle = emit_kernel(_with_weights(WINOGRAD_LAYER, 3), WINOGRAD, tmp_path)
    harsh = Kernel(mapping=replace(gentle.mapping, layer=WINOGRAD_LAYER), folder=gentle.folder)
    assert gentle.mapping.chain == 6
    with pytest.raises(ToolError, match="too large for this kernel's packing"):
        run_kernel(harsh, frames_for(WINOGRAD_LAYER, 1))


def test_a_word_that_goes_round_the_banks_has_two_addresses(tmp_path: Path) -> None:
    """Where banks are no multiple of a word's lanes; elsewhere a word begins in the first column's bank."""
    kernel = emit_kernel(conv((4, 14, 40), 4), Folding(rows=7, pe=1, simd=1), tmp_path)
    assert kernel.mapping.bank_map.banks % kernel.mapping.in_lanes
    assert survives(kernel)
    mutated(kernel, "src/conv1.h", "place.carry = BANKS - next.bank;", "place.carry = BANKS;")
    assert not survives(kernel)


def test_offsets_removed_is_a_port_conflict(tmp_path: Path) -> None:
    """The seed's figure 3.6: without offsets two rows of the wave want one bank."""
    kernel = emit_kernel(FIXED, FOLDING, tmp_path)
    offsets = ", ".join(str(offset) for offset in kernel.mapping.bank_map.offsets)
    mutated(kernel, "src/conv1.h", f"OFFSET[SLOTS] = {{{offsets}}}", "OFFSET[SLOTS] = {}")
    with pytest.raises(MismatchError, match="port conflict: loop compute.*2 reads of one memory"):
        run_kernel(kernel, frames_for(FIXED, 1))


def test_a_bank_too_few_is_a_port_conflict(tmp_path: Path) -> None:
    kernel = emit_kernel(FIXED, FOLDING, tmp_path)
    slots = kernel.mapping.bank_map.slots
    offsets = ", ".join(str(offset) for offset in kernel.mapping.bank_map.offsets)
    wrong = ", ".join(str(slot % 3) for slot in range(slots))
    mutated(kernel, "src/conv1.h", f"OFFSET[SLOTS] = {{{offsets}}}", f"OFFSET[SLOTS] = {{{wrong}}}")
    with pytest.raises(MismatchError, match="port conflict"):
        run_kernel(kernel, frames_for(FIXED, 1))


def test_weights_too_large_for_the_packing_are_refused(tmp_path: Path) -> None:
    """Weights are loaded at run time: others than those the kernel was built for may not fit its chain."""
    small = conv(
        (4, 11, 13), 4, input_type="fixed<8,3>", weight_type="fixed<8,1>", result_type="fixed<24,12>"
    )
    gentle = emit_kernel(_with_weights(small, 3), FOLDING, tmp_path)
    assert gentle.mapping.chain == 18
    other = _with_weights(small, -128)
    harsh = Kernel(mapping=replace(gentle.mapping, layer=other), folder=gentle.folder)
    with pytest.raises(ToolError, match="too large for this kernel's packing"):
        run_kernel(harsh, frames_for(other, 1))


def _with_weights(layer: Conv2d, code: int) -> Conv2d:
    return replace(layer, weights=layer.weights * 0 + code)
