"""Depths of a network's stages, and what the timing simulation makes of them."""

from __future__ import annotations

from dataclasses import replace

from hlsgen.schedule.areas import Areas
from hlsgen.schedule.delays import Delays
from hlsgen.schedule.ir import Place
from hlsgen.schedule.results import KernelSchedule, LoopSchedule, Tier, merged
from hlsgen.schedule.stage_depths import latencies_of_processes, latencies_of_stages
from hlsgen.schedule.usage import usage_of
from hlsgen.timing.timing import simulate
from tests.timing.test_timing import emitted, residual

LOOP = LoopSchedule(
    place=None,
    function="kernel",
    target=1,
    tier=Tier.SHOWN,
    interval=1,
    between=(1, 1),
    reasons=(),
    trips=None,
    banks=(),
    recurrence=None,
    depth=1,
    chain_ns=1.0,
    chain=(),
    budget_ns=2.4,
    registers=0,
)


def loop(file: str, depth: int, trips: int | None = None, caller: str = "") -> LoopSchedule:
    """caller: the function of the kernel's file that it is inlined into."""
    above = Place("src/net.cpp", 7, caller) if caller else None
    return replace(LOOP, place=Place(file, 5, "words", above), depth=depth, trips=trips)


def kernel(*loops: LoopSchedule) -> KernelSchedule:
    delays = Delays(part="xcu200-fsgd2104-2-e", version="2024.2", clock_ns=3.33)
    return KernelSchedule(
        kernel="net",
        loops=loops,
        part="xcu200-fsgd2104-2-e",
        version="2024.2",
        clock_ns=3.33,
        budget_ns=2.4,
        instructions=0,
        seconds=0.0,
        usage=usage_of([], Areas(delays=delays), kernel_flow=False),
    )


def test_a_stage_is_found_by_its_file_or_its_function() -> None:
    found = latencies_of_stages(
        [
            kernel(
                loop("src/conv1.h", 15),
                loop("src/conv1.h", 40, trips=16),  # once, for its weights
                loop("src/hlsgen/stream.h", 3, caller="another"),
                loop("src/hlsgen/stream.h", 4, caller="convert_1"),
            )
        ],
        ["conv1", "convert_1", "pool1"],
    )
    assert found == {"conv1": 14, "convert_1": 3}


def test_copies_of_a_loop_are_found_by_their_own_calls() -> None:
    words = [loop("src/hlsgen/stream.h", 4, caller=f"convert_{number}") for number in range(3)]
    (one,) = merged(words)
    assert one.copies == 3
    assert latencies_of_stages([kernel(one)], ["convert_0", "convert_1", "convert_2"]) == {
        "convert_0": 3,
        "convert_1": 3,
        "convert_2": 3,
    }


def test_of_ddr_the_code_says_nothing() -> None:
    pipeline = emitted(residual(6, 6))
    loops = [loop(f"src/{process.name}.h", 9) for process in pipeline.processes]
    found = latencies_of_processes([kernel(*loops)], pipeline)
    assert {one.name for one in pipeline.processes} - found.keys() == {"load_x", "store_y"}


def test_the_simulation_waits_for_the_depths_that_are_given() -> None:
    pipeline = emitted(residual(6, 6))
    round_figures = simulate(pipeline)
    none = simulate(pipeline, latencies={one.name: 1 for one in pipeline.processes})
    same = simulate(pipeline, latencies={one.name: one.latency for one in pipeline.processes})
    assert same == round_figures
    assert none.interval_cycles == round_figures.interval_cycles
    assert none.latency_cycles < round_figures.latency_cycles


def test_nothing_is_said_of_what_has_no_loop() -> None:
    assert latencies_of_stages([kernel()], ["conv1"]) == {}
