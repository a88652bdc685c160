"""Every template over foldings that are drawn: each loop has the II that is asked for, within the clock.

Layers and foldings come from the strategies of the tests that hold them against golden. A kernel has a layer
of each kind, so that one compilation shows them all. `HLSGEN_FOLDINGS=50` looks at so many kernels in place
of one, and on a ZCU102 as well.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType
from hlsgen.base.output import write_files
from hlsgen.designfile.constraints import NoFit
from hlsgen.emit.dataflow import dataflow_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.conv_folding import Folding
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.weights import WeightPlace, auto_places
from hlsgen.layers.argmax import ArgMax
from hlsgen.layers.base import Tensor
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import Graph
from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.results import KernelSchedule
from hlsgen.targets.board import load_board
from tests.hardware import test_wave_stage as wave
from tests.layers import test_adaptive_pool as adaptive
from tests.layers import test_binary_stage as binary
from tests.layers import test_channels_stages as channels
from tests.layers import test_conv2d as conv2d
from tests.layers import test_conv2d_stage as window
from tests.layers import test_conv2d_stream as streamed
from tests.layers import test_dense_stage as dense
from tests.layers import test_elementwise_stages as elementwise
from tests.layers import test_float_stages as floats
from tests.layers import test_log_softmax as log_softmax
from tests.layers import test_moving_stages as moving
from tests.layers import test_pool_stages as pools
from tests.layers import test_rearrange_stage as rearrange
from tests.layers import test_steps as steps
from tests.support.build_folders import Case as Built
from tests.support.build_folders import emitted
from tests.support.kernels import conv, emit_kernel
from tests.support.layers.random_convolutions import convolutions
from tests.support.layers.stage_cases import Case, folded
from tests.support.pipelines import side_by_side
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
KERNELS = int(os.environ.get("HLSGEN_FOLDINGS", "1"))
MHZ = {"u200": 300} if KERNELS == 1 else {"u200": 300, "zcu102": 200}
"""By board."""
STAGES: tuple[st.SearchStrategy[Case], ...] = (
    window.folded(),
    folded(convolutions(most_groups=8)),
    wave.folded(),
    channels.folded(channels.argmaxes()),
    channels.folded(channels.softmaxes()),
    elementwise.folded(elementwise.clamps()),
    elementwise.folded(elementwise.casts()),
    elementwise.folded(elementwise.leakies()),
    elementwise.folded(elementwise.tables()),
    folded(binary.binaries()),
    log_softmax.cases(),
    folded(dense.layers()),
    folded(moving.concats()),
    folded(moving.crops()),
    folded(moving.pads()),
    folded(rearrange.rearrangements()),
    folded(adaptive.pools()),
    folded(pools.pools()),
    folded(pools.global_pools()),
    folded(steps.steps()),
    folded(st.sampled_from(floats.layers())),
)
# no shrinking: each example is a compilation and the schedule of a hundred loops
few_kernels = settings(
    max_examples=KERNELS,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


def assert_scheduled(
    source: Path, top: str, board: str = "u200", *, kernel_flow: bool = True
) -> KernelSchedule:
    """Every loop of a kernel has the II that is asked for, in the time that the clock leaves."""
    part, mhz = load_board(board).part, MHZ[board]
    target = Target(part=part, clock_ns=1000 / mhz, version="2024.2", kernel_flow=kernel_flow)
    files, folders = (source,), (source.parent, source.parent.parent / "src")
    found = schedule_component(Component(top=top, files=files, target=target, include_folders=folders))
    assert found.findings() == [], f"{board} at {mhz} MHz"
    return found


def emit_stages(
    graph: Graph,
    folds: Mapping[str, Fold],
    places: Mapping[str, WeightPlace],
    folder: Path,
    board: str = "u200",
) -> Path:
    """The kernel's source in `folder`."""
    pipeline = pipeline_of(graph, folds, places)
    names = KernelNames(kernel="cases", source="test")
    write_files(folder, dataflow_files(pipeline, names, load_board(board)))
    return folder / "src" / "cases.cpp"


@few_kernels
@given(
    cases=st.tuples(*STAGES),
    with_weights=st.tuples(window.folded(), wave.folded(), streamed.drawn()),
)
def test_every_stage_has_ii_1_in_any_folding(
    cases: tuple[Case, ...],
    with_weights: tuple[Case, Case, streamed.Streamed],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Of three convolutions more the weights come at run time."""
    sliding, waving, from_ddr = with_weights
    every = [*cases, sliding, waving, (from_ddr.layer, from_ddr.fold)]
    # those that hypothesis begins with do one product at a time, and show little
    assume(sum(fold.px * fold.pe * fold.simd > 1 for _, fold in every) > len(every) // 3)
    graph = side_by_side([layer for layer, _ in every])
    folds = {layer.name: fold for layer, (_, fold) in zip(graph.layers, every, strict=True)}
    first, second, third = (layer.name for layer in graph.layers[-3:])
    places = auto_places(graph) | {name: WeightPlace(layer=name, place="runtime") for name in (first, second)}
    places[third] = streamed.streamed(graph.layers[-1], from_ddr.batch)
    for board in MHZ:
        source = emit_stages(graph, folds, places, tmp_path_factory.mktemp("stages"), board)
        found = assert_scheduled(source, "cases", board)
        shown = {Path(loop.place.file).stem for loop in found.loops if loop.place is not None}
        assert {layer.name for layer in graph.layers} <= shown


@few_kernels
@given(case=st.one_of(conv2d.cases(), conv2d.cases(of_winograd=True)), instances=st.integers(1, 3))
def test_every_layer_of_its_own_has_ii_1_in_any_folding(
    case: tuple[Conv2d, Folding], instances: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The kernel for Vitis, and the accelerator of its OmpSs-2@FPGA application with local arrays."""
    layer, folding = case
    assume(folding.pe * folding.simd > 1)
    folder = tmp_path_factory.mktemp("layer")
    for board in MHZ:
        built = Built(layer=lambda: layer, folding=folding, board=board, instances=instances)
        try:
            write_files(folder / board, emitted(built.deployment()))
        except NoFit:
            continue
        found = assert_scheduled(folder / board / "src" / "conv.cpp", "conv", board)
        assert len(found.loops) > 5
        tasks = folder / board / "ompss" / "conv_tasks.cpp"
        found = assert_scheduled(tasks, "conv_instance", board, kernel_flow=False)
        assert len(found.loops) > 4


FOUND: dict[str, tuple[Conv2d, Folding]] = {
    "a sum alone": (conv((6, 1, 1), 1, (1, 1)), Folding(rows=1, pe=1, simd=1)),
    "rows awaited": (
        conv(
            (6, 8, 7),
            2,
            (3, 4),
            stride=(1, 2),
            padding=(0, 3, 4, 0),
            dilation=(1, 2),
            input_type="fixed<8,3>",
            weight_type="fixed<8,1>",
        ),
        Folding(rows=3, pe=2, simd=2, fabric_pe=2, order="channels"),
    ),
    "words of one row of several channels": (
        conv(
            (6, 3, 13),
            4,
            (1, 1),
            stride=(3, 2),
            padding=(3, 4, 3, 4),
            input_type="fixed<5,9>",
            weight_type="fixed<17,2>",
            result_type="fixed<36,8,rnd,sat>",
        ),
        Folding(rows=1, pe=4, simd=3, fabric_pe=2),
    ),
}
"""Kernels of which a loop had a higher II."""
FOUND_STAGES: list[Case] = [
    (floats.layers()[6], Fold(px=1, pe=6, simd=6)),
    (floats.layers()[7], Fold(px=1, pe=3, simd=3)),
    (
        ArgMax(
            name="layer",
            source=Tensor(shape=(6, 3, 5), type=FixedType(11, 6, False)),
            result_type=FixedType(5, 5, False),
        ),
        Fold(px=1, pe=6, simd=6),
    ),
    # loops of its trees, as many copies of which were left as there had been loops
    (
        ArgMax(
            name="layer",
            source=Tensor(shape=(10, 1, 4), type=FixedType(19, 6)),
            result_type=FixedType(7, 7, False),
        ),
        Fold(px=2, pe=5, simd=5),
    ),
    (
        conv(
            (1, 5, 2),
            2,
            (1, 1),
            stride=(2, 3),
            padding=(0, 3, 2, 3),
            input_type="ufixed<8,4>",
            weight_type="fixed<9,0>",
        ),
        Fold(pe=2, rows=1, fabric_pe=1),
    ),
    # channels apart, a word of some of them at a time: as all of MobileNet's
    (window.small((96, 6, 6), 96, groups=96), Fold(pe=8, simd=8)),
]


@pytest.mark.parametrize("kernel", list(FOUND))
def test_layers_that_had_not(kernel: str, tmp_path: Path) -> None:
    layer, folding = FOUND[kernel]
    emit_kernel(layer, folding, tmp_path)
    assert_scheduled(tmp_path / "src" / "conv.cpp", "conv")


def test_stages_that_had_not(tmp_path: Path) -> None:
    """One word left of a memory of sums, structs with bits between their members, periods that differ."""
    graph = side_by_side([layer for layer, _ in FOUND_STAGES])
    folds = {layer.name: fold for layer, (_, fold) in zip(graph.layers, FOUND_STAGES, strict=True)}
    assert_scheduled(emit_stages(graph, folds, auto_places(graph), tmp_path), "cases")
