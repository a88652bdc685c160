"""Words kept in registers: the II that reports of public designs have, by release, part and clock."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from hlsgen.schedule.component import Target
from hlsgen.schedule.front_end import FrontEnd, compile_to_ir
from hlsgen.schedule.processes import parts_of
from hlsgen.schedule.results import LoopSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("forwarding.cpp")
U200, ZYNQ = ("xcu200-fsgd2104-2-e", 10 / 3), ("xc7z020-clg400-1", 10.0)
K26 = ("xck26-sfvc784-2LV-c", 4.0)
KU5P = ("xcku5p-ffvb676-2-e", 8.0)
MEASURED = [
    # a public tutorial measured it with 2023.2: the value of the iteration before is kept, and the memory
    # must be written two iterations later; where the pragma says that, nothing is kept, the II is the same
    ("histogram", "2023.2", U200, 2, 4),
    ("histogram_of_two", "2023.2", U200, 2, 4),
    # public reports of 2020.2: fsub takes 4 cycles (7.25 ns), then the register is written and chosen
    ("scatter", "2020.2", ZYNQ, 6, None),
    # the same: a sum in a word whose address stays is one in a register, fed back to the core
    ("sum_in_place", "2020.2", ZYNQ, 4, None),
    # from 2021.2 on in a register of its own, whose write does not fit behind 2.34 ns: 7 in public reports
    ("sum_in_place", "2022.2", U200, 7, None),
    # GoodKook/ETRI-0.5um-CMOS-MPW-Std-Cell-DK FIR8.cpp:51: taps[0] where i is 0 is taps[i]
    ("shifted", "2025.1", ZYNQ, 1, None),
    # aubaez/WES237C_Fall24 fir11_baseline: eleven iterations of depth 5 in 16 cycles
    ("shifted", "2022.2", ZYNQ, 1, None),
    # caohy168/bbp_vcu128 rsdecode.cpp:96: known before the loop, so that no iteration reads it
    ("syndromes", "2020.2", U200, 1, None),
    ("syndromes_again", "2020.2", U200, 2, None),
    # four conditional writes of two ports, while what they are compared with is kept: public, 2020.2
    ("greatest", "2020.2", U200, 2, None),
    # one of the elements that share a word is written: the word is read, and kept for the next iteration,
    # but the memory must be written before the second one after it reads; public, 2022.1
    ("parts_of_words", "2022.1", ZYNQ, 2, None),
    # Team-Diseno-de-Alto-Nivel/mp6160-riscv-dfs-accelerator: II 2 in two loops and a function that set a
    # mark where there is none: what an iteration may leave as it was is in no register
    ("marked", "2024.1", K26, 2, None),
    # AngelJeriko/FPGA-speed-up-Project: II 2 for a word that the iteration before wrote and that ends the
    # loop; where a counter alone ends it the word is in a register
    ("falling_until", "2025.2", KU5P, 2, None),
    ("falling", "2025.2", KU5P, 1, None),
    # words that nobody writes are read before the loop
    ("bounded", "2023.2", U200, 1, None),
]


@functools.cache
def front_end() -> FrontEnd:
    return compile_to_ir([SOURCE])


@functools.cache
def schedules(version: str, part: str, clock_ns: float) -> dict[str, LoopSchedule]:
    from hlsgen.schedule.analysis import schedule_part

    target = Target(part=part, clock_ns=clock_ns, version=version, kernel_flow=False)
    front = front_end()
    parts = [schedule_part(part, front.pragmas, target) for part in parts_of(front.ir, "", front.pragmas)]
    return {loop.function: loop for part in parts for loop in part.loops if loop.label == "work"}


def test_a_word_that_any_iteration_may_write_is_not_the_counter_s() -> None:
    assert schedules("2025.1", *ZYNQ)["shifted_from"].interval is None
    assert schedules("2021.1", *ZYNQ)["shifted"].interval is None  # II 2 in two public reports


@pytest.mark.parametrize(("function", "version", "target", "interval", "depth"), MEASURED)
def test_the_interval_is_that_of_reports(
    function: str, version: str, target: tuple[str, float], interval: int, depth: int | None
) -> None:
    loop = schedules(version, *target)[function]
    assert loop.between[1] == interval, loop.reasons
    if loop.likely is None:  # a core whose write does not fit: other reports have it break the budget
        assert loop.misses_target and "within the budget" in loop.reasons[0]
    if depth is not None:
        assert loop.depth == depth


def test_two_writes_keep_no_value() -> None:
    # a bubble sort's exchange: reports have a carried dependence of distance 1 there
    loop = schedules("2023.2", *U200)["swapped"]
    assert loop.likely is not None
    assert loop.likely > 2


def test_a_promise_of_a_pointer_is_ignored() -> None:
    """cntoumas/MSc_Thesis, 2023.2: "Ignoring dependence pragma on local scalar variable" of a parameter that
    is declared without its extent, II 5 and 7 in nine loops whose pragmas rule the dependence out."""
    found = schedules("2023.2", *ZYNQ)
    assert found["promised_of_an_array"].likely is not None
    loop = found["promised_of_a_pointer"]
    assert loop.interval is None
    assert "whether line is read where it was written" in loop.reasons[0]


def test_pointers_that_are_swapped_may_be_one() -> None:
    """hanjaja/hotspot3D-hls, 2020.2: II 44, the whole iteration, as each may be what the other was: here 4
    by the ports of what is read."""
    found = schedules("2020.2", *U200)
    assert found["not_swapped"].likely == 1
    loop = found["swapped_around"]
    assert loop.interval is None
    assert "lead to the same words" in loop.reasons[0]
