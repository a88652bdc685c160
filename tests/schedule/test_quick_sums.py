"""Floating-point sums in recurrences: IIs of public reports (xcu280, 3.33 ns) by release, directive."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.configuration import read_config
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.results import LoopSchedule, Tier
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("quick_sums.cpp")
U280, ZU9 = ("xcu280-fsvh2892-2L-e", 10 / 3), ("xczu9eg-ffvb1156-2-e", 10.0)


@functools.cache
def scheduled(
    top: str, version: str, on: tuple[str, float] = U280, *, reorders: bool = False
) -> LoopSchedule:
    target = Target(part=on[0], clock_ns=on[1], version=version, kernel_flow=False, reorders_sums=reorders)
    found = schedule_component(Component(top=top, files=(SOURCE,), target=target))
    return next(loop for loop in found.loops if loop.label == "add")


@pytest.mark.parametrize(
    ("top", "version", "interval"),
    [
        ("total", "2023.2", 4),  # UCLA-VAST/Stream-HLS, its optimised designs: 81 pipelines
        ("windows", "2023.2", 4),  # the same, DepthwiseSeparableConvBlock
        ("total", "2022.1", 4),  # DoPhuXuan/u250 full_norm_reduce_pack: fadd_32ns_32ns_32_5_no_dsp
        ("by_itself", "2022.2", 7),  # ZTTTX/scalehls_vitis_test: within the budget
        ("total_in_four", "2022.2", 4),  # the same, II 4 asked for
        ("by_itself", "2023.2", 7),  # UCLA-VAST/Stream-HLS, polybench as it is written: atax
        ("apart", "2023.2", 1),
    ],
)
def test_the_interval_is_that_of_reports(top: str, version: str, interval: int) -> None:
    assert scheduled(top, version).between[1] == interval


def test_only_what_waits_for_itself_is_quick() -> None:
    """A sum that no iteration waits for keeps the adder with DSPs, of 6 cycles."""
    assert scheduled("apart", "2023.2").depth > scheduled("total", "2023.2").depth


@pytest.mark.parametrize(("clock_ns", "interval"), [(10.0, 1), (5.0, 3)])
def test_slower_clocks_have_quick_adders_too(clock_ns: float, interval: int) -> None:
    """A-Duc/LLama2_110M-Inference_Architecture_on_FPGA kernel_matmul.cpp:26, 2025.1
    (fadd_32ns_32ns_32_2_no_dsp_1), and ARTS-Laboratory, 2024.1, at 5 ns (FAddSub_nodsp of 3 cycles)."""
    assert scheduled("total", "2025.1", ("xcu250-figd2104-2L-e", clock_ns)).likely == interval


def test_other_families_have_one_adder() -> None:
    """At 10 ns both adders take 3 cycles (reports of zynquplus, 2022.2 and 2023.1)."""
    assert scheduled("total", "2022.2", ZU9).likely == scheduled("total", "2023.2", ZU9).likely == 3


def test_what_may_be_reordered_is_open() -> None:
    """Sums in a row take five stages each, or four where the next one begins within the fifth. Where the tool
    may make trees of them it has II 12 or 16 in UCLA-VAST/Stream-HLS, whether there are 5 or 20."""
    assert scheduled("four_at_a_time", "2023.2").between == (4 * 4, 3 * 5 + 4)
    found = scheduled("four_at_a_time", "2023.2", reorders=True)
    assert found.tier is Tier.UNDECIDED and found.interval is None
    assert any("unsafe_math_optimizations" in reason for reason in found.reasons)
    assert scheduled("total", "2023.2", reorders=True).likely == 4


@pytest.mark.parametrize(("line", "reorders"), [("", False), ("=1", True), ("=0", False)])
def test_the_option_is_read(tmp_path: Path, line: str, reorders: bool) -> None:
    config = tmp_path / "hls_config.cfg"
    option = f"syn.compile.unsafe_math_optimizations{line}\n" if line else ""
    config.write_text(
        f"part=xcu280-fsvh2892-2L-e\n[hls]\nclock=3.33ns\nsyn.top=total\nsyn.file=a.cpp\n{option}"
    )
    found = read_config(config)
    assert found is not None and found.target.reorders_sums is reorders


def test_a_family_in_which_no_quick_adder_was_seen_has_none() -> None:
    """abyanzaim6000-source/LENET5_FPGA dense_f6.cpp:28, zynq at 10 ns: II 4, where a quick adder, borrowed
    from zynquplus, would have 3 cycles."""
    assert scheduled("total", "2025.2", ("xc7z020clg400-1", 10.0)).between[0] == 4


@pytest.mark.parametrize(
    ("part", "version", "interval"),
    [
        # xz-bruh-bwe/EE_278: neuron.c has fadd_32ns_32ns_32_7_full_dsp, adap_fir.c one of 5 stages
        ("xa7a75t-csg324-1Q", "2023.1", 7),
        ("xc7z010-clg400-1", "2023.1", 5),
        # wzzz724/Vitis_learning krnl_scoring_unit.cpp:15
        ("xcu280-fsvh2892-2L-e", "2022.2", 7),
    ],
)
def test_a_sum_that_nobody_asked_to_pipeline_keeps_within_the_budget(
    part: str, version: str, interval: int
) -> None:
    found = scheduled("by_itself", version, (part, 10 / 3 if "u280" in part else 10.0))
    assert found.likely == interval and found.between == (interval - 1, interval)


def test_a_sum_whose_adder_was_never_seen_at_the_clock_is_open() -> None:
    """acri-room/hls-challenge-labs lab4, xcu200 at 500 MHz: II 13 of an adder of 12 cycles, made up here."""
    found = scheduled("by_itself", "2022.1", ("xcu200-fsgd2104-2-e", 2.0))
    assert found.interval is None and found.between == (12, 13)


@pytest.mark.parametrize("top", ["total", "by_itself"])
def test_sums_of_zynq_are_open_from_2024_on(top: str) -> None:
    """SoHam-56/MatSoC StatsCalc.cpp:96, xc7z020-1 at 10 ns, 2024.2: II 6, and giuliocapecchi/MLP_HLS, of an
    adder of four cycles; abyanzaim6000-source/LENET5_FPGA has 4 and 5."""
    found = scheduled(top, "2024.2", ("xc7z020-clg400-1", 10.0))
    assert found.interval is None and found.between == (4, 5)
    assert scheduled(top, "2023.1", ("xc7z020-clg400-1", 10.0)).likely in (4, 5)


def test_a_pragma_that_names_no_interval_keeps_the_usual_adder() -> None:
    """S12P/sisyphus-fpga24-artifact atax, gesummv (xcu200 at 4 ns, 2023.2): II 6 in three loops."""
    assert scheduled("without_interval", "2023.2", ("xcu200-fsgd2104-2-e", 4.0)).likely == 6


@pytest.mark.parametrize(
    ("top", "clock_ns", "interval"),
    [
        ("four_in_turn", 10 / 3, 2),  # zzzDavid/hls-perf-example version2.cpp
        # cornell-zhang/allo-pldi24-artifact: atax (fadd_32ns_32ns_32_8_no_dsp, 2.23 ns of 1.82), and trmm
        ("ten_in_turn", 2.5, 1),
        ("twelve_in_turn", 2.5, 2),
        ("forty_in_turn", 2.5, 1),
    ],
)
def test_words_come_again_once_the_loop_around_goes_on(top: str, clock_ns: float, interval: int) -> None:
    assert scheduled(top, "2022.1", (U280[0], clock_ns)).likely == interval
