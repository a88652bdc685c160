"""The timing of streaming kernels, held against one that is run cycle by cycle and against C-simulation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.hardware.pipeline import Pipeline, pipeline_of
from hlsgen.layers.base import Tensor
from hlsgen.layers.binary import Add
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import Graph, Port
from hlsgen.timing import fifos
from hlsgen.timing import timing as timing_module
from hlsgen.timing.deadlock import runs_through
from hlsgen.timing.fifos import fifo_depths
from hlsgen.timing.last_used import LastUsed
from hlsgen.timing.relaxation import Plan, Relaxation
from hlsgen.timing.smallest_fifos import smallest_depths
from hlsgen.timing.timing import Timing, one_call, simulate
from tests.support.command_line import run, text
from tests.support.pipelines import build_pipeline, random_codes
from tests.support.slow_kernel import StandsStill, run_slowly

BYTE = FixedType(8, 8)
CHANNELS = 2
STEADY_FRAMES = 24


def convolution(name: str, source: str, shape: tuple[int, int, int], kernel: int) -> Conv2d:
    side = kernel // 2
    layer = Conv2d(
        name=name,
        inputs=(source,),
        in_shape=shape,
        out_channels=CHANNELS,
        kernel=(kernel, kernel),
        padding=(side, side, side, side),
        input_type=BYTE,
        weight_type=FixedType(2, 2),
        bias_type=BYTE,
        accumulator=BYTE,
        result_type=BYTE,
        weights=np.random.default_rng(kernel).integers(-1, 2, (CHANNELS, shape[0], kernel, kernel)),
        bias=np.zeros(0, np.int64),
    )
    return layer.retyped((BYTE,), BYTE)


def residual(height: int, width: int, *, convolutions: int = 2, skip: bool = True) -> Graph:
    """stem -> 3x3 -> ... (+ stem), a chain without the skip."""
    shape = (CHANNELS, height, width)
    layers = [convolution("stem", "x", shape, 1)]
    for number in range(convolutions):
        layers.append(convolution(f"long{number}", layers[-1].name, shape, 3))
    tensor = Tensor(shape=shape, type=BYTE)
    last = layers[-1].name
    joined = Add(name="join", inputs=(last, "stem"), left=tensor, right=tensor, result_type=BYTE)
    return Graph(
        name="residual",
        inputs=(Port.of("x", tensor),),
        layers=(*layers, joined) if skip else tuple(layers),
        outputs=(Port.of("y", joined.output if skip else tensor, "join" if skip else last),),
    )


FOLDS = [Fold(px=1, pe=pe, simd=simd) for pe in (1, 2) for simd in (1, 2)]


@st.composite
def kernels(draw: st.DrawFn) -> Pipeline:
    """Small kernels with FIFOs of any depth: too shallow ones, and such that stand still, among them."""
    width, convolutions, skip = draw(st.integers(3, 6)), draw(st.integers(1, 2)), draw(st.booleans())
    graph = residual(draw(st.integers(2, 5)), width, convolutions=convolutions, skip=skip)
    folds = {}
    for layer in graph.layers:
        fold = draw(st.sampled_from(FOLDS))
        folds[layer.name] = replace(fold, simd=fold.pe) if isinstance(layer, Add) else fold
    pipeline = pipeline_of(graph, folds)
    most = draw(st.sampled_from([2, 5, 24]))
    return pipeline.with_depths({name: draw(st.integers(1, most)) for name in pipeline.streams})


def depths_of(pipeline: Pipeline) -> dict[str, int]:
    return {name: stream.depth for name, stream in pipeline.streams.items()}


@settings(max_examples=30, deadline=None)
@given(kernels(), st.integers(1, 3))
def test_every_word_moves_in_the_cycle_of_the_slow_run(pipeline: Pipeline, frames: int) -> None:
    depths = depths_of(pipeline)
    try:
        timing = simulate(pipeline)
    except DesignError:
        with pytest.raises(StandsStill):
            run_slowly(pipeline, depths, 3)
        return
    slow, call = run_slowly(pipeline, depths, frames), one_call(pipeline, depths, frames)
    for name in pipeline.streams:
        np.testing.assert_array_equal(call.begins[name], slow.fifos[name].read, err_msg=name)
        np.testing.assert_array_equal(call.ends[name], slow.fifos[name].written, err_msg=name)
    once = run_slowly(pipeline, depths, 1)
    for one in timing.processes:
        assert one.end == once.processes[one.name].ends[-1]
    assert timing.latency_cycles == max(one.ends[-1] for one in once.processes.values())


@settings(max_examples=30, deadline=None)
@given(kernels())
def test_the_interval_is_that_of_a_long_slow_run(pipeline: Pipeline) -> None:
    try:
        timing = simulate(pipeline)
    except DesignError:
        return
    store = pipeline.processes[-1]
    slow = run_slowly(pipeline, depths_of(pipeline), STEADY_FRAMES)
    read = np.array(slow.fifos[store.reads[0]].read)
    last_words = read[len(read) // STEADY_FRAMES - 1 :: len(read) // STEADY_FRAMES]
    # of the second half, and not the last one, behind which no other frame comes
    steady = last_words[STEADY_FRAMES // 2 : -1]
    measured = (steady[-1] - steady[0]) / (len(steady) - 1)
    # frames may come in turns of longer and shorter intervals: the average of some is off by their difference
    swing = int(np.ptp(np.diff(steady))) / (len(steady) - 1)
    assert timing.interval_cycles - 1 - swing < measured <= timing.interval_cycles + swing
    assert timing.interval_cycles > pipeline.interval or not timing.waits


@settings(max_examples=30, deadline=None)
@given(kernels())
def test_the_cycles_of_a_period_are_all_accounted_for(pipeline: Pipeline) -> None:
    try:
        timing = simulate(pipeline)
    except DesignError:
        return
    for one in timing.processes:
        assert one.cycles == timing.period_cycles
    for name, most in timing.held.items():
        assert 1 <= most <= pipeline.streams[name].depth


@settings(max_examples=30, deadline=None)
@given(kernels())
def test_without_pipelines_it_stands_still_wherever_the_c_simulation_does(pipeline: Pipeline) -> None:
    """That may be where hardware does not: its pipelines have room too."""
    plan = Plan(pipeline, None, dict.fromkeys((one.name for one in pipeline.processes), 0))
    period = 100 * pipeline.interval
    relaxation = Relaxation(plan, depths_of(pipeline), (period,), (plan.parts[0].slowest,))
    if relaxation.settle(most=200):
        assert runs_through(pipeline, depths_of(pipeline))


def emitted(graph: Graph) -> Pipeline:
    fold = Fold(px=1, pe=2, simd=2)
    pipeline = pipeline_of(graph, {layer.name: fold for layer in graph.layers})
    return pipeline.with_depths(fifo_depths(pipeline))


def test_at_the_emitted_depths_the_slowest_process_is_the_interval() -> None:
    for graph in (residual(7, 8), residual(5, 6, convolutions=1), residual(5, 6, skip=False)):
        pipeline = emitted(graph)
        timing = simulate(pipeline)
        assert (timing.interval_cycles, timing.waits) == (pipeline.interval, ())


def skip_of(pipeline: Pipeline) -> str:
    (name,) = [one.reads[1] for one in pipeline.processes if one.name == "join"]
    return name


def test_a_word_less_than_needed_costs_cycles_and_the_circle_is_named() -> None:
    pipeline = emitted(residual(7, 8))
    skip = skip_of(pipeline)
    fast, depths = simulate(pipeline), depths_of(pipeline)
    slower: Timing | None = None
    while slower is None:  # one word less at a time, until it costs something
        depths[skip] -= 1
        found = simulate(pipeline, depths)
        slower = found if found.interval_cycles > fast.interval_cycles else None
    assert depths[skip] > 1
    assert any(wait.stream == skip and wait.to_write for wait in slower.waits)
    fork = next(one for one in slower.processes if one.name.startswith("fork"))
    assert fork.blocked[skip] > 0
    enough = simulate(pipeline, {**depths, skip: depths[skip] + 1})
    assert enough.interval_cycles == fast.interval_cycles


def test_the_smallest_fifos_are_as_fast_and_a_word_less_is_not() -> None:
    pipeline = emitted(residual(7, 12))
    skip, interval = skip_of(pipeline), simulate(pipeline).interval_cycles
    roomy = pipeline.with_depths({name: depth + 40 for name, depth in depths_of(pipeline).items()})
    smallest = smallest_depths(roomy)
    assert set(smallest) == set(pipeline.streams)
    assert smallest[skip] > max(depth for name, depth in smallest.items() if name != skip)
    assert simulate(pipeline, smallest).interval_cycles == interval
    less = {**smallest, skip: smallest[skip] - 1}
    assert simulate(pipeline, less).interval_cycles > interval


def test_what_stands_still_is_named() -> None:
    pipeline = emitted(residual(7, 8))
    skip = skip_of(pipeline)
    with pytest.raises(DesignError) as error:
        simulate(pipeline, {**depths_of(pipeline), skip: 1})
    (problem,) = error.value.problems
    assert f"waits for room in {skip}" in problem.message
    assert "join waits for words of " in problem.message
    assert skip in problem.fix


def test_the_interval_is_the_iterations_that_c_simulation_counts(tmp_path: Path) -> None:
    """Of one more frame, by the process that makes the most of them."""
    graph = residual(7, 8)
    built = build_pipeline(
        graph,
        {layer.name: Fold(px=1, pe=1, simd=2) for layer in graph.layers[:3]}
        | {"join": Fold(px=1, pe=2, simd=2)},
        tmp_path,
    )
    counted = [
        np.array(built.run({"x": random_codes(graph.input, frames, 0)}, tmp_path, keep=False).iterations)
        for frames in (3, 4)
    ]
    timing = simulate(built.pipeline)
    assert timing.interval_cycles == int((counted[1] - counted[0]).max())
    # behind the processes come the carriers of port words
    more = (counted[1] - counted[0])[: len(timing.processes)]
    assert [one.busy for one in timing.processes] == more.tolist()


RESIDUAL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(2, 2, 3, padding=1), nn.Conv2d(2, 2, 3, padding=1)

    def forward(self, x):
        return x + self.second(self.first(x))

def make_net():
    torch.manual_seed(0)
    return Net().eval()
"""


def test_estimate_searches_fifos_when_asked(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "net.py").write_text(RESIDUAL)
    design = tmp_path / "net.yaml"
    model = "board: u200\nmodel: {torch: net.py:make_net}\ninput: {shape: [2, 24, 24], samples: random}\n"
    design.write_text(f'name: net\n{model}precision: "fixed<8,4>"\n')
    figures = json.loads(run("estimate", str(design), "--fifos", "--json").stdout)
    deep = [one for one in figures["fifos"] if one["depth"] > 32]
    assert deep and all(0 < one["smallest_depth"] <= one["depth"] for one in deep)
    said = text("estimate", str(design), "--fifos")
    assert f"first frame after {figures['total']['latency_cycles']:,} cycles" in said
    shallower = [one for one in deep if one["smallest_depth"] < one["depth"]]
    assert all(one["name"] in said for one in shallower)
    assert bool(shallower) == ("no slower from" in said)


def test_a_branch_holds_all_frames_that_are_under_way() -> None:
    """Frames so short that several are in the longer branch at once: the other one's FIFO is as deep."""
    pipeline = emitted(residual(2, 2))
    timing = simulate(pipeline)
    assert timing.latency_cycles > 3 * pipeline.interval
    assert timing.interval_cycles == pipeline.interval
    two_frames = fifos.run_unbounded(pipeline, fifos.FRAMES).held
    shallow = {name: max(2, depth) for name, depth in two_frames.items()}
    assert simulate(pipeline, shallow).interval_cycles > pipeline.interval


def test_a_kernel_is_simulated_once_and_anew_with_other_depths_or_latencies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Searches come to the same kernel again, as another object."""
    monkeypatch.setattr(timing_module, "_known", LastUsed(timing_module.MOST_TIMINGS))
    made = mock.Mock(wraps=timing_module._simulated)
    monkeypatch.setattr(timing_module, "_simulated", made)
    first = simulate(emitted(residual(7, 9)))
    again = emitted(residual(7, 9))
    assert simulate(again) == first and made.call_count == 1
    simulate(again, {name: depth + 1 for name, depth in depths_of(again).items()})
    simulate(again, latencies={again.processes[1].name: 40})
    assert made.call_count == 3


def test_what_does_not_repeat_itself_is_not_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from torch import nn

    import hlsgen
    from hlsgen.search import streaming as network
    from hlsgen.timing.row_loops import Unrepeated

    def refuses(_pipeline: Pipeline, **_: object) -> Timing:
        raise Unrepeated("conv")

    module = nn.Conv2d(1, 2, 3).eval()
    simulated = hlsgen.from_torch(module, (1, 6, 6), precision="fixed<8,4>").estimate().as_json()
    monkeypatch.setattr(network, "simulate", refuses)
    plain = hlsgen.from_torch(module, (1, 6, 6), precision="fixed<8,4>").estimate().as_json()
    assert (plain["timing"], plain["timeline"]) == ({}, [])
    assert plain["total"]["interval_cycles"] == simulated["total"]["interval_cycles"]
    assert plain["total"]["latency_cycles"] > 0
