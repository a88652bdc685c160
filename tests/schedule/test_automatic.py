"""Which loops the vendor's compiler pipelines and unrolls by itself, as logs of public designs say."""

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
SOURCE = Path(__file__).with_name("automatic.cpp")

PIPELINED = [  # with the iterations of the nest that is flattened
    # a nest of 2 x 2 beside other statements: its parent, "Unrolling all sub-loops"
    ("pooled", "2022.1", "parent", 9),
    ("pooled", "2020.2", "parent", 9),
    # 81 iterations are more than 64
    ("wide", "2022.1", "innermost", 81),
    ("wide", "2020.2", "innermost", 81),
    # a loop that ends at two places stays one
    ("searched", "2022.1", "innermost", None),
    # the parent of the innermost one, and no more, though both together have 12 iterations
    ("one_level", "2020.2", "parent", 4),
    # from 2021.2 on all within the innermost loop of more than 64 iterations
    ("one_level", "2022.1", "above", 20),
    # a loop of eight that reads an AXI port (searsm8/AIEplace hpwl_gradient_dhar_v2.hpp:83, II 8)
    ("words_of_a_port", "2022.2", "above", None),
    # two iterations from a counter on, as the bounds say (frankvishare/cu_student_project hls.cpp:204)
    ("pooled_between_bounds", "2024.2", "parent", 144),
    # a word of a stream that an operator assigns (Manwlis/ES-FL forward_prop.cpp:112: in_y_in_x)
    ("padded", "2022.1", "parent", 784),
    # iterations that `continue` (reopeo/xilinx cnn.c:35)
    ("convolved", "2022.2", "parent", 6 * 196),
    # a small nest that writes an AXI port (shahzaib3120/KalmanFiltering-FPGA kalman.cpp:151, II 5)
    ("updated", "2022.2", "parent", 4),
    # what stands twice in a loop that is unrolled by two (xz-bruh-bwe/EE_278 lenet_support.cpp:38)
    ("halved", "2023.1", "parent", 3),
    # load64 of Keccak (anuj-singh-thakur/Crypto-Sign-Synth fips202.c:400)
    ("absorbed", "2022.2", "parent", 17),
    # a perfect nest is flattened
    ("split", "2022.1", "innermost", 460),
    ("split", "2020.2", "innermost", 460),
]


@functools.cache
def front_end() -> FrontEnd:
    return compile_to_ir([SOURCE])


@functools.cache
def labelled(version: str) -> dict[tuple[str, str], LoopSchedule]:
    """The pipelined loops that have a label, by function and label."""
    from hlsgen.schedule.analysis import schedule_part

    target = Target(part="xc7z020-clg400-1", clock_ns=10.0, version=version, kernel_flow=False)
    front = front_end()
    parts = [schedule_part(part, front.pragmas, target) for part in parts_of(front.ir, "", front.pragmas)]
    return {(loop.function, loop.label): loop for part in parts for loop in part.loops if loop.label}


@pytest.mark.parametrize(("function", "version", "label", "trips"), PIPELINED)
def test_the_loop_is_pipelined(function: str, version: str, label: str, trips: int | None) -> None:
    found = {name: loop for (where, name), loop in labelled(version).items() if where == function}
    assert list(found) == [label]
    assert found[label].automatic
    late = any("the condition that ends the loop" in one for one in found[label].reasons)
    assert found[label].likely is not None and late == (function == "searched")
    if trips is not None:
        assert found[label].trips == trips


def test_words_of_a_port_are_read_one_by_one() -> None:
    assert labelled("2022.2")["words_of_a_port", "above"].likely == 8


def test_words_on_axi_lite_that_a_loop_around_moves_are_read_in_each_iteration() -> None:
    """reopeo/xilinx conv2d_2 (2022.2): 36 such reads have II 36."""
    assert labelled("2022.2")["convolved", "parent"].likely == 9


def test_a_small_nest_writes_a_port_word_by_word() -> None:
    assert labelled("2022.2")["updated", "parent"].likely == 5


def test_a_small_function_is_inlined_before_loops_are_looked_at() -> None:
    """The same: eight bytes of an array in each iteration."""
    assert labelled("2022.2")["absorbed", "parent"].likely == 4


def test_a_function_that_multiplies_a_window_is_inlined_as_well() -> None:
    loop = labelled("2024.2")["sharpened", "parent"]
    assert loop.trips == 126 and not loop.rolled


def test_the_loops_of_a_small_function_are_together() -> None:
    """Whoever calls it: the nest of eight within 64 is pipelined where it stands."""
    found = labelled("2024.2")
    assert not {("each_scaled", "above"), ("each_scaled", "innermost")} & found.keys()
    assert found["each_scaled", "parent"].trips == 4 * 64


def test_elements_that_are_constructed_are_no_loop() -> None:
    loop = labelled("2022.1")["initialised", "work"]
    assert loop.likely == 1
    assert loop.rolled == ()
