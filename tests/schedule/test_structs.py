"""Arrays of structs that have arrays, with the II that reports of public designs have."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.results import KernelSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("structs.cpp")


@functools.cache
def schedule_of(top: str) -> KernelSchedule:
    target = Target(part="xczu9eg-ffvb1156-2-e", clock_ns=5.0, version="2024.1", kernel_flow=False)
    return schedule_component(Component(top=top, files=(SOURCE,), target=target))


@pytest.mark.parametrize(
    ("top", "interval", "report"),
    [
        ("lengths_of_ports", 1, "AndyWanna/switching_algorithms input_port.h:39: split in dimension 2"),
        ("sums_of_ports", 2, "AndyWanna/switching_algorithms sliding_window.h:63: 4 writes of port_id"),
        ("copied_whole", 1, "shinepsunny/SpectralBlaze main.cpp:210, 2021.1: burst_buffer1, eight numbers"),
        ("both_fields", 1, "a read and a write of each; of one memory there would be two of both"),
    ],
)
def test_each_field_is_a_memory(top: str, interval: int, report: str) -> None:
    (loop,) = (one for one in schedule_of(top).loops if one.label == "work")
    assert loop.likely == interval, (report, loop.reasons)
    assert not schedule_of(top).dropped


def test_a_pragma_whose_variable_is_not_found_is_said_to_count_for_nothing() -> None:
    assert [str(one).rpartition("/")[2] for one in schedule_of("about_either").dropped] == [
        "structs.cpp:55: #pragma HLS array_partition"
    ]


def test_a_pragma_that_one_of_two_calls_obeys_counts() -> None:
    assert not schedule_of("given_both").dropped
