"""Depths of FIFOs that hold several frames, FIFOs in URAM, and how far the search for a kernel goes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.base.progress import silent
from hlsgen.cost.stages import fifo_resources, lies_in_uram
from hlsgen.designfile.constraints import NetworkConstraints, NoFit
from hlsgen.emit.dataflow import dataflow_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.pipeline import Pipeline, Stream, pipeline_of
from hlsgen.layers.base import Tensor
from hlsgen.layers.binary import Mul
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.stage import Fold, StreamFormat
from hlsgen.model.ir import Graph, Port
from hlsgen.search.budget import PATIENCE, SEARCHED_WORDS, SearchBudget, Steps
from hlsgen.search.streaming import balance
from hlsgen.targets.board import load_board
from hlsgen.timing.deadlock import runs_through
from hlsgen.timing.fifos import growing_depths
from hlsgen.timing.timing import simulate
from tests.timing.test_timing import BYTE, CHANNELS, convolution, emitted, residual

U200, ZCU102 = load_board("u200"), load_board("zcu102")


@pytest.mark.parametrize("height, width, convolutions", [(2, 2, 2), (3, 2, 4), (4, 3, 6), (2, 5, 5)])
def test_fifos_of_an_endless_run_cost_no_speed_and_never_stand_still(
    height: int, width: int, convolutions: int
) -> None:
    """Judged by the exact timing with these depths, and by a run of the order of events, frame by frame."""
    pipeline = emitted(residual(height, width, convolutions=convolutions))
    steps = list(growing_depths(pipeline))
    assert len(steps) == 2, "several frames meet in the skip"
    assert all(steps[1][name] >= words for name, words in steps[0].items())
    assert steps[1] != steps[0]
    assert simulate(pipeline).interval_cycles == pipeline.interval
    assert loses(pipeline, steps[0])
    for frames in (1, 2, 5, 12):
        assert runs_through(pipeline, steps[1], frames)


def loses(pipeline: Pipeline, depths: dict[str, int]) -> bool:
    """Whether it is slower with these depths, or stands still."""
    try:
        return simulate(pipeline, depths).interval_cycles > pipeline.interval
    except DesignError:
        return True


def stream(depth: int, bits: int) -> Stream:
    """Of words of so many bits."""
    tensor = Tensor(shape=(bits // 8, 4, 4), type=FixedType(8, 8))
    return Stream(name="deep_s", words=StreamFormat(tensor=tensor, channels=bits // 8), depth=depth)


def test_a_fifo_in_uram_takes_what_published_reports_say() -> None:
    """Of xcu280, Vitis HLS 2022.1: 16,384 words of 256 bits are 16 URAMs, 4,096 of 64 bits are one."""
    found = fifo_resources(stream(16384, 256), U200)
    assert (found.uram, found.bram18) == (16, 0)
    found = fifo_resources(stream(4096, 64), U200)
    assert (found.uram, found.bram18) == (1, 0)
    assert lies_in_uram(stream(16384, 256), U200)


def test_no_uram_where_there_is_none_nor_for_what_is_small() -> None:
    deep = fifo_resources(stream(16384, 256), ZCU102)
    assert (deep.uram, deep.bram18) == (0, 29 * 8)  # of 2K x 9 each
    for depth, bits in ((2, 64), (32, 512), (64, 64), (512, 72)):
        assert not lies_in_uram(stream(depth, bits), U200)
        assert fifo_resources(stream(depth, bits), U200).uram == 0


def test_the_emitted_kernel_binds_what_is_counted_as_uram() -> None:
    graph = residual(4, 4)
    pipeline = pipeline_of(graph, {layer.name: Fold(px=4, pe=2, simd=2) for layer in graph.layers})
    name = max(pipeline.streams, key=lambda one: pipeline.streams[one].words.lanes)
    depths = {other: one.depth for other, one in pipeline.streams.items()} | {name: 40_000}
    files = dataflow_files(pipeline.with_depths(depths), KernelNames(kernel="net", source="test"), U200)
    lines = files["src/net.cpp"].splitlines()
    declared = next(number for number, line in enumerate(lines) if f"40000> {name}(" in line)
    assert lines[declared + 1] == f"#pragma HLS bind_storage variable={name} type=fifo impl=uram"
    assert sum("impl=uram" in line and "type=fifo" in line for line in lines) == 1
    other = dataflow_files(pipeline.with_depths(depths), KernelNames(kernel="net", source="test"), ZCU102)
    assert "type=fifo" not in other["src/net.cpp"]


def tried(options: Sequence[int], fits: Callable[[int], bool], words: int = 0) -> list[int]:
    """What is made of options that stand for themselves, kernels of so many words."""
    budget = SearchBudget(silent)
    steps = Steps(options, budget)
    found = []
    for option in steps:
        budget.makes(words)
        found.append(option)
        steps.tell(fits=fits(option))
    return found


def test_after_patience_steps_double_and_the_last_is_never_passed_over() -> None:
    made = tried(range(1000), lambda _: False)
    assert made[: PATIENCE + 1] == list(range(PATIENCE + 1))
    assert made[-1] == 999
    assert len(made) < PATIENCE + 12
    assert made == sorted(set(made))


@pytest.mark.parametrize("first", [0, 3, 9, 57, 300, 998])
def test_the_first_that_fits_is_found_where_all_after_it_fit(first: int) -> None:
    made = tried(range(1000), lambda option: option >= first)
    assert first in made
    assert sum(option < first for option in made) <= PATIENCE + 20  # ten steps that double, ten halves


@pytest.mark.parametrize("share", [3, 8, 40])
def test_however_long_a_kernel_takes_the_slowest_is_made_before_a_refusal(share: int) -> None:
    words = SEARCHED_WORDS // share
    made = tried(range(1000), lambda _: False, words)
    assert made[-1] == 999 and len(made) <= share + 2
    assert 999 in tried(range(1000), lambda option: option == 999, words)
    made = tried(range(1000), lambda option: option >= 2, words)
    assert 2 in made and len(made) <= share + 2


def excitation(height: int, width: int) -> Graph:
    """A tensor times its own maxima: it waits for them, a frame long."""
    shape = (CHANNELS, height, width)
    stem = convolution("stem", "x", shape, 1)
    whole = Tensor(shape=shape, type=BYTE)
    pool = GlobalPool(name="pool", inputs=("stem",), source=whole, result_type=BYTE, function="max")
    product = Mul(name="times", inputs=("stem", "pool"), left=whole, right=pool.output, result_type=BYTE)
    port = Port.of("y", product.output, "times")
    ins = (Port.of("x", Tensor(shape=shape, type=BYTE)),)
    return Graph(name="excitation", inputs=ins, layers=(stem, pool, product), outputs=(port,))


def test_a_refusal_says_what_fifos_take_and_what_would_help() -> None:
    """Of 256 x 256 bytes in each of two channels 1,048,576 bits wait, which are 64 memories of 16 Ki."""
    slr = ZCU102.slrs[0].model_copy(update={"bram18": 40})
    board = ZCU102.model_copy(update={"slrs": (slr,)})
    with pytest.raises(NoFit) as refused:
        balance(excitation(256, 256), board, NetworkConstraints(), batch=4, clock_mhz=200)
    found = re.search(
        r"its FIFOs, (\d+) BRAM18 of it, the kernel needs (\d+) BRAM18 of 32 of", str(refused.value)
    )
    assert found and 64 <= int(found[1]) < int(found[2])
    assert "style: tasks" in refused.value.fix and "another branch" in refused.value.fix


def test_what_was_not_made_is_no_failure() -> None:
    steps = Steps(range(100), SearchBudget(silent))
    assert list(steps) == list(range(100))
