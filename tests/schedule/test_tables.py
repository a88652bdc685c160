"""Tables that nothing writes are constants, in functions that are always given them too."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from hlsgen.schedule.component import Target
from hlsgen.schedule.front_end import FrontEnd, compile_to_ir
from hlsgen.schedule.ir_text import module_text
from hlsgen.schedule.processes import parts_of
from hlsgen.schedule.results import PartSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("tables.cpp")
TOPS = ("by_known", "by_written", "merged", "limited")


@functools.cache
def front() -> FrontEnd:
    return compile_to_ir([SOURCE])


def compiled() -> str:
    return front().ir


@functools.cache
def schedules() -> dict[str, PartSchedule]:
    """Parts by the name of the function that they are of."""
    from hlsgen.schedule.analysis import schedule_part

    target = Target(part="xczu9eg-ffvb1156-2-e", clock_ns=5.0, version="2023.2", kernel_flow=False)
    parts = [part for top in TOPS for part in parts_of(front().ir, top, front().pragmas)]
    return {part.root: schedule_part(part, front().pragmas, target) for part in parts}


@pytest.mark.parametrize(
    ("table", "kind"), [("never_written", "constant"), ("other", "constant"), ("written", "global")]
)
def test_a_table_is_constant_if_nothing_writes_it(table: str, kind: str) -> None:
    assert re.search(rf"^@{table} = [a-z_ ]*\b{kind} \[", compiled(), re.MULTILINE)


@pytest.mark.parametrize(("function", "named"), [("alone", True), ("with_either", False), ("product", False)])
def test_a_function_that_is_always_given_a_table_has_it(function: str, named: bool) -> None:
    (body,) = [body for name, body in module_text(compiled()).functions.items() if function in name]
    tables = set(re.findall(r"@(never_written|other|written)\b", body))
    assert tables == ({"never_written"} if named else set())


@pytest.mark.parametrize(("function", "products"), [("by_known", 1), ("by_written", 4)])
def test_products_by_powers_of_two_are_wires(function: str, products: int) -> None:
    """0.25, 0.5 and 2**-6 are; -0.328125 is none."""
    (pipelined,) = schedules()[function].loops
    assert sum(count for name, count in pipelined.operations.items() if name.startswith("mul")) == products


@pytest.mark.parametrize(("function", "dsps"), [("merged", 1), ("limited", 0)])
def test_products_with_cores_of_their_own_share_no_dsp_with_sums(function: str, dsps: int) -> None:
    """hls4ml's LeNet-5 in 4 and 8 bits (2023.2, xczu9eg): 50 mul_8s_5s_13_1_0 of no DSP, no mac_muladd."""
    usage = schedules()[function].usage
    assert sum(cells.dsp for cells in usage.cells.values()) == dsps
