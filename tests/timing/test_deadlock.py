"""FIFO depths of residual networks: computed, and proven by C-simulation with bounded FIFOs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import hlsgen
from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import Codes, FixedType
from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.layers.base import Tensor
from hlsgen.layers.binary import Add
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import Graph, Port, run_golden
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.timing.deadlock import least_depths, runs_through
from hlsgen.timing.fifos import SHALLOWEST, run_unbounded
from tests.support.pipelines import Built, build_pipeline, random_codes

BYTE = FixedType(8, 8)
SHAPE = (2, 7, 8)


def convolution(name: str, source: str, kernel: int) -> Conv2d:
    weights = np.random.default_rng(kernel).integers(-1, 2, (2, 2, kernel, kernel))
    side = kernel // 2
    layer = Conv2d(
        name=name,
        inputs=(source,),
        in_shape=SHAPE,
        out_channels=2,
        kernel=(kernel, kernel),
        padding=(side, side, side, side),
        input_type=BYTE,
        weight_type=FixedType(2, 2),
        bias_type=BYTE,
        accumulator=BYTE,
        result_type=BYTE,
        weights=weights,
        bias=np.zeros(0, np.int64),
    )
    return layer.retyped((BYTE,), BYTE)


def residual() -> Graph:
    """stem -> (3x3 -> 3x3) + stem -> add: the skip must hold what the two convolutions reach ahead."""
    stem = convolution("stem", "x", 1)
    long = (convolution("long1", "stem", 3), convolution("long2", "long1", 3))
    tensor = Tensor(shape=SHAPE, type=BYTE)
    join = Add(name="join", inputs=("long2", "stem"), left=tensor, right=tensor, result_type=BYTE)
    return Graph(
        name="residual",
        inputs=(Port.of("x", tensor),),
        layers=(stem, *long, join),
        outputs=(Port.of("y", join.output, "join"),),
    )


@dataclass(frozen=True)
class Case:
    built: Built
    inputs: dict[str, Codes]
    folder: Path


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("residual")
    graph = residual()
    fold = Fold(px=1, pe=2, simd=2)
    built = build_pipeline(graph, {layer.name: fold for layer in graph.layers}, folder)
    return Case(built=built, inputs={"x": random_codes(graph.input, 2, 0)}, folder=folder)


def skip_of(case: Case) -> str:
    """The stream from the fork straight to the addition."""
    streams = case.built.pipeline.streams
    (name,) = [one.reads[1] for one in case.built.pipeline.processes if one.name == "join"]
    assert name in streams
    return name


def test_the_kernel_runs_through_at_the_declared_depths(case: Case) -> None:
    run = case.built.run(case.inputs, case.folder, bounded=True)
    golden = run_golden(case.built.pipeline.graph, case.inputs)
    np.testing.assert_array_equal(run.tensors["join"], golden["join"])
    for name, stream in case.built.pipeline.streams.items():
        assert run.streams[name].most <= stream.depth


def test_the_skip_holds_what_the_branch_reaches_ahead(case: Case) -> None:
    """Two 3 x 3 windows over rows of 8 pixels: each is complete a row and a pixel after its own pixel."""
    least = least_depths(case.built.pipeline)
    ahead = 2 * (SHAPE[2] + 1)
    assert ahead - 2 <= least[skip_of(case)] <= ahead + 2
    assert case.built.pipeline.streams[skip_of(case)].depth >= least[skip_of(case)]


def test_at_the_least_depths_it_runs_and_one_word_less_on_the_skip_deadlocks(case: Case) -> None:
    least = least_depths(case.built.pipeline)
    skip = skip_of(case)
    assert runs_through(case.built.pipeline, least)
    case.built.run(case.inputs, case.folder, bounded=True, depths=least)
    less = {**least, skip: least[skip] - 1}
    assert not runs_through(case.built.pipeline, less)
    with pytest.raises(MismatchError, match=f"(?s)deadlock.*to write {skip}, which is full"):
        case.built.run(case.inputs, case.folder, bounded=True, depths=less)


def test_only_the_skip_binds(case: Case) -> None:
    least = least_depths(case.built.pipeline)
    assert [name for name, depth in least.items() if depth > 1] == [skip_of(case)]


def test_the_schedules_and_the_simulation_agree_at_every_depth(case: Case) -> None:
    least = least_depths(case.built.pipeline)
    skip = skip_of(case)
    for depth in range(max(1, least[skip] - 3), least[skip] + 3):
        depths = {**dict.fromkeys(least, 2), skip: depth}
        if runs_through(case.built.pipeline, depths):
            case.built.run(case.inputs, case.folder, bounded=True, depths=depths)
        else:
            with pytest.raises(MismatchError, match="deadlock"):
                case.built.run(case.inputs, case.folder, bounded=True, depths=depths)


def test_an_input_that_is_an_output_too_needs_no_depth() -> None:
    """A fork whose branches never meet cannot deadlock."""
    graph = residual()
    ports = (*graph.outputs, Port.of("s", graph.layers[0].output, "stem"))
    graph = replace(
        graph, layers=graph.layers[:3], outputs=(Port.of("z", graph.layers[2].output, "long2"), ports[1])
    )
    from hlsgen.hardware.pipeline import pipeline_of

    pipeline = pipeline_of(graph, {layer.name: Fold(px=1, pe=2, simd=2) for layer in graph.layers})
    assert set(least_depths(pipeline).values()) == {1}


@pytest.mark.parametrize("interval", [170, 300, 600])
def test_what_lies_in_pipelines_has_room_in_a_simulation_without_them(interval: int) -> None:
    """The last rows of an image go in front of their mirror image, but come behind the rest of it."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    convolution = torch.nn.Conv2d(4, 4, 3, padding=1)
    design = hlsgen.from_torch(
        torch.nn.Sequential(convolution, torch.nn.ReflectionPad2d(2)),
        (4, 12, 12),
        precision="fixed<16,6>",
        constraints=NetworkConstraints(instances=1, target_interval=interval),
    )
    assert isinstance(design.style, StreamingNetwork)
    pipeline = design.style.hardware.pipeline
    assert runs_through(pipeline, {name: stream.depth for name, stream in pipeline.streams.items()})
    only_piped = {name: max(SHALLOWEST, held) for name, held in run_unbounded(pipeline).held.items()}
    assert not runs_through(pipeline, only_piped)
