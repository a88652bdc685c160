"""Kernels whose II is known: by ports, recurrences, and the documentation of the vendor's compiler."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.front_end import FrontEnd, compile_to_ir
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.processes import parts_of
from hlsgen.schedule.results import LoopSchedule, Tier, in_order
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("kernels.cpp")
PART = "xcu200-fsgd2104-2-e"

INTERVALS = {
    "sum_int": (1, "an addition takes less than a cycle"),
    "static_state": (1, "so it does where a static variable carries the sum from call to call"),
    "shift_register": (1, "every tap is a register"),
    "template_of_both": (1, "the loop of a template, for two types"),
    "automatic": (1, "without a pragma the tool pipelines an innermost loop by itself"),
    "histogram": (
        1,
        "the bin before stands in a register, and a bin is written in the cycle in which it is read",
    ),
    "histogram_promised": (1, "the pragma rules the dependence out"),
    "histogram_promised_war": (2, "the pragma speaks of writes after reads only"),
    "histogram_of_registers": (1, "registers are read and written in a cycle"),
    "in_place": (1, "no iteration reads what another wrote"),
    "in_place_marked": (1, "no iteration reads what another wrote"),
    "unsigned_counter": (1, "nor where the counter takes the upper half of its type"),
    "unsigned_bound": (1, "nor where the bound is not known, since the counter ends before it wraps"),
    "neighbour": (1, "the word before is in a register: 1 read and 1 write"),
    "pointer_chase": (1, "the word that was read is the address in the cycle in which it is there"),
    "constructed": (1, "a constructor whose body stands apart is inlined as any function"),
    "distance_true": (1, "32 iterations are more than the cycles of the chain"),
    "two_reads": (1, "2 ports"),
    "three_reads": (2, "2 ports"),
    "four_reads": (2, "2 ports"),
    "five_reads": (3, "2 ports"),
    "four_reads_asked_for_two": (2, "as asked for"),
    "two_writes_and_a_read": (2, "3 accesses of 2 ports"),
    "one_port": (2, "ram_1p has one port for reads and writes"),
    "one_port_by_interface": (2, "so it has by the pragma of the interface"),
    "diagonal": (2, "3 reads of columns that stay run-time"),
    "a_port_for_each": (1, "ram_s2p has one for each"),
    "exclusive": (1, "one branch alone reads"),
    "line_buffer": (1, "each line is a memory, read and written once"),
    "ping_pong": (1, "which half is read stays run-time, but both halves have ports for both"),
    "cyclic": (1, "4 neighbours stand in 4 banks"),
    "cyclic_of_two": (2, "4 even indices stand in one bank of 2"),
    "complete": (1, "8 words stand in 8 banks"),
    "reshaped": (1, "4 neighbours are one word"),
    "unrolled_and_cyclic": (1, "a counter by 4 leaves the bank constant"),
    "first_write": (1, "the first write is dead: the second one follows it in any case"),
    "written_in_one_branch": (2, "here it is not, and another word may be read between: 3 accesses"),
    "four_for_one_that_calls": (
        4,
        "lyes-23/hls_cnn cnn_lenet.cpp:31: II 26, as asked for",
    ),
    "none_for_one_that_calls": (1, "the function is a pipeline that takes a value each cycle"),
    "few_cores": (3, "3 multipliers for 8 products, each of which begins one a cycle"),
    "two_scattered": (2, "either write may be of the word of the other, before it and behind it"),
    # jichengzh/fpt_LLM (normalize_blocks_rms_norm3): 64 calls, 32 instances: II 2 in 2022.2 and 2024.2
    "few_instances": (3, "8 calls of a function, of which a pragma allows 3"),
    "block": (1, "so they do of an argument, whose first extent is in its declaration"),
    "block_of_template": (1, "so do those of a function whose extent is a parameter of its template"),
    "block_of_local": (1, "4 quarters stand in 4 banks"),
    "disaggregated": (1, "each field is a memory, read twice"),
    "members": (1, "each element holds a memory of its own, read and written once"),
    "aggregated": (1, "3 structs of one memory, of which the tool keeps copies"),
    "stream_read_twice": (2, "a stream gives a word a cycle"),
    "stream_read_in_either": (1, "one branch alone reads"),
    "either_stream": (1, "the word of either stream is chosen, not read from a memory"),
    "until_last": (1, "the word read says in the same cycle whether another follows"),
    "axi_one_bundle": (2, "a port reads a word a cycle"),
    "axi_two_bundles": (1, "a port reads a word a cycle"),
    "axi_read_and_write": (1, "a port has channels for reads and for writes"),
    "even_places_of_words": (1, "4 even places from a multiple of 8 on stand in 4 of 8 banks"),
    "bits_between_members": (1, "nothing but the counter is carried"),
    "products": (1, "nothing is carried"),
    "unsigned_products": (1, "nothing is carried"),
}
"""At 200 MHz, where a read, a sum and a write of a memory fit a cycle."""
BEFORE_INFERENCE = {
    "unrolled_by_factor": (4, "4 reads and 4 writes of 2 ports"),
    "outer_pipelined": (1, "8 reads of as many copies, for the inner loop is unrolled"),
    "whole_function": (2, "4 reads of 2 ports, for the loop in the function is unrolled"),
}
"""In 2020.2, which splits no array that no pragma splits."""


@functools.cache
def front_end() -> FrontEnd:
    return compile_to_ir([SOURCE])


@functools.cache
def schedules(clock_ns: float = 5.0, version: str = "2024.2") -> dict[str, list[LoopSchedule]]:
    """The loops of each function: those with a label `work` alone, where there is one."""
    from hlsgen.schedule.analysis import schedule_part

    target = Target(part=PART, clock_ns=clock_ns, version=version, kernel_flow=False)
    found: dict[str, list[LoopSchedule]] = {}
    front = front_end()
    for part in parts_of(front.ir, "", front.pragmas):
        for loop in in_order(schedule_part(part, front.pragmas, target).loops):
            found.setdefault(loop.function, []).append(loop)
    return {name: [one for one in loops if one.label] or loops for name, loops in found.items()}


def schedule_of(function: str, clock_ns: float = 5.0, version: str = "2024.2") -> LoopSchedule:
    (loop,) = schedules(clock_ns, version)[function]
    return loop


def test_all_pragmas_count() -> None:
    assert front_end().dropped == ()


@pytest.mark.parametrize("function", list(INTERVALS))
def test_the_interval_is_known(function: str) -> None:
    interval, why = INTERVALS[function]
    for loop in schedules()[function]:
        assert loop.likely == interval, (why, loop.reasons)
        assert loop.between == (interval, interval)
        assert (loop.tier is Tier.UNDECIDED) == (loop.estimate is not None)
        assert bool(loop.findings()) == (interval > loop.target)
        assert bool(loop.reasons) == (interval > loop.target)


@pytest.mark.parametrize("function", list(BEFORE_INFERENCE))
def test_the_interval_is_known_before_partitions_were_inferred(function: str) -> None:
    interval, why = BEFORE_INFERENCE[function]
    loop = schedule_of(function, version="2020.2")
    assert loop.likely == interval, (why, loop.reasons)


def test_later_releases_split_what_an_unrolled_loop_reads() -> None:
    assert schedule_of("outer_pipelined").likely == 1
    (bank,) = [bank for bank in schedule_of("outer_pipelined").banks if bank.array == "a"]
    assert (bank.banks, bank.reads) == (8, 1)


def test_a_sum_of_floats_takes_its_adder_and_a_cycle() -> None:
    # public reports of that clock: 4 cycles of an adder without DSPs from 2023.2 on, an II of 4
    loop = schedule_of("sum_float", clock_ns=10 / 3)
    assert loop.likely == 4
    assert loop.tier is not Tier.SHOWN
    assert loop.recurrence is not None
    assert [step.kind for step in loop.recurrence.steps] == ["phi", "fadd", "register_write"]
    assert loop.chain_ns == pytest.approx(2.43, abs=0.1)


def test_a_faster_clock_raises_the_interval_of_a_memory() -> None:
    # 1.2 ns of a read, .4 of a choice, .9 of a sum, 1.2 of a write are more than 2.43 ns: written in the
    # third cycle, and read again by the second iteration after it
    loop = schedule_of("histogram", clock_ns=10 / 3)
    assert loop.likely == 2
    assert loop.tier is Tier.LIKELY


def test_a_distance_divides_the_chain() -> None:
    # of 32 iterations nothing is left, of 2 half of the chain
    loop, _clock_ns = schedule_of("distance_short"), 5.0
    read, write = 1, 1
    adder = 4  # its cycles, with DSPs at 5 ns: another one would not make it shorter here
    low, high = loop.between
    assert low <= -(-(read + adder + write) // 2) <= high
    assert high - low <= 1


def test_indices_that_stay_run_time_count_for_every_bank() -> None:
    # 4 writes of one bank, each of which may be any of 4: two ports can take two a cycle, one can take one
    loop = schedule_of("runtime_banks")
    assert 2 <= loop.between[0] <= loop.between[1] <= 4
    assert loop.tier is not Tier.SHOWN
    (bank,) = [bank for bank in loop.banks if bank.array == "out"]
    assert (bank.banks, bank.writes, bank.runtime) == (4, 4, True)


@pytest.mark.parametrize(
    ("function", "distance", "promised"), [("distance_false", 2, "8"), ("promise_false", 1, "no dependence")]
)
def test_a_promise_that_the_code_breaks_is_a_finding(function: str, distance: int, promised: str) -> None:
    loop = schedule_of(function)
    assert (loop.tier, loop.interval) == (Tier.UNDECIDED, None)
    (reason,) = loop.reasons
    assert f"promises {promised} for a" in reason
    assert f"a distance of {distance}" in reason
    (finding,) = loop.findings()
    assert reason in finding


def test_a_promise_is_of_its_function_alone() -> None:
    # many functions name an argument `a`, and some promise something of theirs
    for function in ("histogram", "in_place", "neighbour", "two_writes_and_a_read"):
        assert not any("promises" in reason for reason in schedule_of(function).reasons)


def test_what_cannot_be_decided_is_not_1() -> None:
    (rolled,) = [loop for loop in schedules()["rolled_inside"] if loop.rolled]
    unknown = schedule_of("calls_unknown")
    for loop in (rolled, unknown):
        assert (loop.tier, loop.interval) == (Tier.UNDECIDED, None)
        assert loop.findings()
    assert rolled.rolled
    assert "stays rolled" in rolled.reasons[0]
    assert unknown.unknown_calls == ("unknown",)


def test_a_loop_that_stays_within_a_pipeline_is_one_itself() -> None:
    """UG1399: a loop with variable bounds cannot be unrolled, which prevents those around it from being
    pipelined; Warrior-li/SDMA (spmm_device_fpga.cpp:114) reports the inner one, II 1."""
    (inner,) = [loop for loop in schedules()["rolled_inside"] if not loop.rolled]
    assert inner.automatic and inner.likely is not None


def test_the_greater_of_two_floats_is_a_comparison_and_a_choice() -> None:
    loop = schedule_of("greatest_float")
    assert loop.unknown_calls == () and loop.likely is not None
    assert {"fcmp 32x32", "select 32x32"} <= set(loop.operations)


@pytest.mark.parametrize(("clock_ns", "version"), [(5.0, "2024.2"), (5.0, "2020.2"), (2.0, "2023.2")])
def test_every_loop_that_misses_its_interval_says_why(clock_ns: float, version: str) -> None:
    for function, loops in schedules(clock_ns, version).items():
        for loop in loops:
            missed = loop.interval is None or loop.interval > loop.target
            assert bool(loop.reasons) >= missed, function
            assert all(reason and reason[-1] not in ": " for reason in loop.reasons), loop.reasons


def test_pipeline_off_is_no_pipeline() -> None:
    assert "not_pipelined" not in schedules()
    assert schedule_of("automatic").automatic
    assert not schedule_of("sum_int").automatic


@pytest.mark.parametrize(("function", "reads"), [("whole_function", 4)])
def test_an_iteration_is_as_deep_as_its_reads_wait_for_ports(function: str, reads: int) -> None:
    """Ritarka/8893Lab2 (conv_7x7.cpp, 2020.2): 147 reads of two ports make a depth of 87, at II 74. The last
    two reads begin `reads` / 2 - 1 cycles behind the first, and take a cycle more."""
    loop = schedule_of(function, version="2020.2")  # later releases split the arrays
    assert loop.likely == reads // 2
    assert loop.depth >= reads // 2 + 1


@pytest.mark.parametrize("version", ["2020.2", "2024.2"])
def test_a_function_is_pipelined_as_a_whole(version: str) -> None:
    loop = schedule_of("whole_function", version=version)
    assert (loop.trips, loop.automatic, loop.rolled) == (None, False, ())
    # later releases split the array into registers
    assert loop.operations["load 32" if version == "2020.2" else "register_read 32"] == 4
    assert loop.operations["add 32x32"] == 3


@pytest.mark.parametrize(("function", "widths"), [("products", {7, 9}), ("unsigned_products", {5, 11})])
def test_operations_have_their_own_widths(function: str, widths: set[int]) -> None:
    (product,) = [name for name in schedule_of(function).operations if name.startswith("mul ")]
    assert {int(width) for width in product.removeprefix("mul ").split("x")} == widths


def test_bits_between_members_are_not_carried() -> None:
    carried = [name for name in schedule_of("bits_between_members").operations if name.startswith("phi")]
    assert carried == ["phi 6"]  # the counter


def test_trips_are_counted() -> None:
    assert schedule_of("sum_int").trips == 256
    assert schedule_of("line_buffer").trips == 480 * 640  # two loops that are flattened
    assert schedule_of("unrolled_and_cyclic").trips == 256
    assert schedule_of("unsigned_counter").trips == 300
    assert schedule_of("unsigned_bound").trips is None
    assert schedule_of("pointer_chase").trips is None
    assert schedule_of("until_last").trips is None
    assert sorted(loop.trips or 0 for loop in schedules()["template_of_both"]) == [64, 128]


@pytest.mark.parametrize(("function", "array", "banks"), [("rows_of_argument", "a", 12), ("block", "a", 4)])
def test_a_split_argument_has_as_many_banks_as_its_extent_says(function: str, array: str, banks: int) -> None:
    loop = schedule_of(function)
    assert [bank.banks for bank in loop.banks if bank.array == array] == [banks]


def test_places_are_lines_of_the_source() -> None:
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    for name, loops in schedules().items():
        for loop in loops:
            if name not in ("static_state", "whole_function"):
                assert loop.place is not None
                assert Path(loop.place.file).resolve() == SOURCE
                assert lines[loop.place.line - 1].strip().startswith(("for (", "do {")), (name, loop.place)


def test_no_chain_of_these_is_longer_than_a_cycle() -> None:
    for loops in schedules().values():
        for loop in loops:
            assert 0 < loop.chain_ns <= loop.budget_ns, loop.title
            assert loop.depth >= 1


def test_a_function_of_another_file_is_named_as_the_source_names_it(tmp_path: Path) -> None:
    file = tmp_path / "top.cpp"
    file.write_text(
        "struct pe { int add(int); };\nvoid top(pe &p, int x[8]) {\n"
        "    for (int i = 0; i < 8; ++i) x[i] = p.add(x[i]);\n}\n"
    )
    target = Target(part="xc7z020clg400-1", clock_ns=10.0, version="2022.2", kernel_flow=False)
    (loop,) = schedule_component(Component(top="top", files=(file,), target=target)).loops
    assert loop.interval is None and "nothing is known of pe::add" in loop.reasons
