"""Layers whose weights come from DDR for every block of frames: results, schedules, FIFOs, reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import hlsgen
from hlsgen.base.errors import DesignError, MismatchError
from hlsgen.base.fixed import FixedType
from hlsgen.csim.compiler import Headers
from hlsgen.designfile.constraints import LayerWeightConstraints, NetworkConstraints, NoFit, WeightConstraints
from hlsgen.emit.dataflow import dataflow_files, weight_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.port_processes import LoadWeights
from hlsgen.hardware.weights import WeightPlace, auto_places
from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Add
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.conv2d_stream import ConvStream, most_batch, stream_folds
from hlsgen.layers.dense import Dense
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import Graph, Port, run_golden
from hlsgen.model.precision import Precision
from hlsgen.search.streaming import balance
from hlsgen.targets.board import load_board
from hlsgen.timing.deadlock import least_depths, runs_through
from tests.layers.test_dense_stage import codes, dense
from tests.support.layers.emitted import Emitted
from tests.support.layers.random_convolutions import convolutions
from tests.support.layers.stage_cases import few_kernels, one_kernel
from tests.support.pipelines import (
    Built,
    Edits,
    assert_pipeline_exact,
    build_pipeline,
    in_mutant,
    random_codes,
    side_by_side,
)


@dataclass(frozen=True, kw_only=True)
class Streamed:
    """A layer with a folding and a block of frames."""

    layer: Conv2d
    fold: Fold
    batch: int


def graph_of(cases: Sequence[Streamed]) -> tuple[Graph, dict[str, Fold], dict[str, WeightPlace]]:
    graph = side_by_side([case.layer for case in cases])
    named = list(zip(graph.layers, cases, strict=True))
    folds = {layer.name: case.fold for layer, case in named}
    return graph, folds, {layer.name: streamed(layer, case.batch) for layer, case in named}


def streamed(layer: Layer, batch: int) -> WeightPlace:
    return WeightPlace(layer=layer.name, place="stream", batch=batch)


def narrow(layer: Dense) -> Dense:
    """With a limit, weights of 5 bits and an input of 4."""
    weight, source = FixedType(5, 1), FixedType(4, 2)
    fresh = replace(layer, weight_type=weight, weights=codes(weight, layer.weights.shape, 3), low=0.0)
    return fresh.retyped((source,), layer.result_type)


POINTWISE = Conv2d(
    name="pointwise",
    in_shape=(6, 1, 1),
    out_channels=4,
    kernel=(1, 1),
    low=0.0,
    high=3.0,
    input_type=FixedType(9, 4),
    weight_type=FixedType(6, 1),
    bias_type=FixedType(8, 3),
    accumulator=FixedType(6, 1),
    result_type=FixedType(12, 7),
    weights=codes(FixedType(6, 1), (4, 6, 1, 1), 1),
    bias=codes(FixedType(8, 3), (4,), 2),
).retyped((FixedType(9, 4),), FixedType(12, 7))


def convolution(in_shape: tuple[int, int, int], channels: int, **fields: Any) -> Conv2d:
    kernel = fields.setdefault("kernel", (3, 3))
    shape = (channels, in_shape[0], *kernel)
    layer = replace(POINTWISE, in_shape=in_shape, out_channels=channels, low=None, high=None, **fields)
    layer = replace(
        layer, weights=codes(layer.weight_type, shape, 5), bias=codes(layer.bias_type, (channels,), 6)
    )
    return layer.retyped((layer.input_type,), layer.result_type)


SAME = (1, 1, 1, 1)
CASES = (
    Streamed(layer=dense(12, 6), fold=Fold(pe=2, simd=3), batch=4),
    Streamed(layer=dense(12, 6), fold=Fold(), batch=2),
    Streamed(layer=dense(12, 6), fold=Fold(pe=6, simd=12), batch=3),  # one iteration of everything
    Streamed(layer=dense(12, 6, bias=False), fold=Fold(pe=3, simd=4), batch=16),
    Streamed(layer=dense(1, 1), fold=Fold(), batch=4),
    Streamed(layer=dense(64, 16), fold=Fold(pe=16, simd=8), batch=2),  # words of several beats of 512 bits
    Streamed(layer=dense(64, 32, bias=False), fold=Fold(pe=32, simd=4), batch=1),
    Streamed(layer=narrow(dense(30, 10)), fold=Fold(pe=5, simd=15), batch=5),
    Streamed(layer=dense((4, 2, 6), 6), fold=Fold(pe=2, simd=12), batch=4),  # three pixels at once
    Streamed(layer=dense((4, 2, 6), 6), fold=Fold(pe=3, simd=2), batch=2),
    Streamed(layer=POINTWISE, fold=Fold(pe=2, simd=2), batch=4),
)
IMAGES = (
    Streamed(layer=convolution((6, 5, 4), 4, padding=SAME), fold=Fold(pe=2, simd=3), batch=1),
    Streamed(layer=convolution((6, 5, 4), 4), fold=Fold(pe=4, simd=6), batch=3),  # six sums: registers
    Streamed(
        layer=convolution((4, 6, 7), 2, stride=(2, 3), padding=(0, 2, 3, 1), dilation=(2, 1)),
        fold=Fold(pe=1, simd=2),
        batch=2,
    ),
    # two products a DSP
    Streamed(
        layer=convolution((8, 4, 4), 4, padding=SAME), fold=Fold(pe=2, simd=4, multipliers="packed"), batch=2
    ),
    Streamed(layer=dense(12, 6), fold=Fold(pe=2, simd=6, multipliers="packed"), batch=3),
    Streamed(
        layer=convolution((4, 3, 5), 6, kernel=(1, 1)), fold=Fold(pe=3, simd=4, multipliers="fabric"), batch=1
    ),
    Streamed(layer=convolution((3, 5, 5), 2, kernel=(1, 1), stride=(2, 2)), fold=Fold(pe=2), batch=1),
    Streamed(
        layer=convolution((2, 1, 9), 3, kernel=(1, 4), padding=(0, 3, 0, 0)), fold=Fold(pe=3, simd=2), batch=2
    ),
    # an image of one pixel, with taps around it
    Streamed(layer=convolution((3, 1, 1), 2, padding=SAME), fold=Fold(pe=2), batch=2),
    # and with padding that a kernel of one tap reads: of four results, and of the only one
    Streamed(
        layer=convolution((2, 1, 1), 4, kernel=(1, 1), stride=(2, 1), padding=(3, 1, 0, 0)),
        fold=Fold(pe=2, simd=2),
        batch=1,
    ),
    Streamed(
        layer=convolution((3, 1, 1), 2, kernel=(1, 1), stride=(2, 1), padding=(1, 0, 0, 0)),
        fold=Fold(pe=2),
        batch=2,
    ),
    # a kernel that reaches below the image only
    Streamed(layer=convolution((2, 2, 3), 2, kernel=(3, 2), padding=(0, 0, 2, 0)), fold=Fold(), batch=5),
)


def run_and_compare(built: Built, graph: Graph, frames: int, folder: Path, *, bounded: bool = False) -> None:
    inputs = {port.name: random_codes(port.tensor, frames, n) for n, port in enumerate(graph.inputs)}
    run = built.run(inputs, folder, bounded=bounded)
    golden = run_golden(graph, inputs)
    for name, found in run.tensors.items():
        np.testing.assert_array_equal(found, golden[name], err_msg=f"{name}, {frames} frames")
    if not bounded:
        run.check_schedule(frames)


def test_every_block_and_folding_is_exact(tmp_path: Path) -> None:
    """Calls of less than a block, of whole blocks, and with a last block of fewer frames."""
    graph, folds, weights = graph_of([*CASES, *IMAGES])
    built = assert_pipeline_exact(graph, folds, tmp_path, frames=5, weights=weights)
    for frames in (1, 12, 17):
        run_and_compare(built, graph, frames, tmp_path)
    run_and_compare(built, graph, 17, tmp_path, bounded=True)


@st.composite
def drawn(draw: st.DrawFn) -> Streamed:
    layer = draw(convolutions(most_groups=1))
    fold = draw(st.sampled_from(list(stream_folds(layer))))
    return Streamed(layer=layer, fold=fold, batch=draw(st.integers(1, min(4, most_batch(layer)))))


@few_kernels
@given(cases=one_kernel(drawn()))
def test_any_convolution_can_be_streamed(
    cases: list[Streamed], tmp_path_factory: pytest.TempPathFactory
) -> None:
    graph, folds, weights = graph_of(cases)
    assert_pipeline_exact(graph, folds, tmp_path_factory.mktemp("streamed"), frames=5, weights=weights)


def test_the_reference_headers_agree(tmp_path: Path) -> None:
    graph, folds, weights = graph_of([CASES[10], IMAGES[2], IMAGES[4]])
    built = build_pipeline(graph, folds, tmp_path, headers=Headers.REFERENCE, weights=weights)
    run_and_compare(built, graph, 5, tmp_path)


VECTOR = Streamed(layer=dense(12, 6), fold=Fold(pe=2, simd=3), batch=4)


def test_mistakes_in_the_stage_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, folds, weights = graph_of([VECTOR, IMAGES[2]])
    one, two, three, four, five = (in_mutant(number) for number in range(1, 6))
    first, row = "kernel_row.value == 0 && ", "row * STRIDE_H"
    edit: Edits = {
        f"src/{graph.layers[0].name}.h": [
            ("if (pixel == 0) {", f"if (pixel == 0 && (!{one} || channels == 0)) {{"),  # a word kept too long
            ("count = left < BATCH ?", f"count = left < BATCH && !{two} ?"),
            ("if (first) row_of_biases", f"if (first || {three}) row_of_biases"),
        ],
        f"src/{graph.layers[1].name}.h": [
            (first, f"({four} || kernel_row.value == 0) && "),  # starts anew at each row of the kernel
            (row, f"row * ({five} ? 1 : STRIDE_H)"),
        ],
    }
    built = build_pipeline(graph, folds, tmp_path, edit=edit, weights=weights)
    monkeypatch.setenv("MUTANT", "0")
    run_and_compare(built, graph, 6, tmp_path)
    for number in range(1, 6):
        monkeypatch.setenv("MUTANT", str(number))
        with pytest.raises((AssertionError, MismatchError)):
            run_and_compare(built, graph, 6, tmp_path)


def test_intervals_and_traffic() -> None:
    layer = dense(64, 32, bias=False)
    stage = ConvStream(layer=layer, fold=Fold(pe=8, simd=8), batch=16)
    assert stage.interval == 8 + 4 * 8 + 4
    # 64 weights of 6 bits, ten in 64 bits: seven DDR words in the time of 16 frames
    assert (stage.beat_bits, stage.block_beats) == (64, 4 * 8 * 7)
    # with a frame at a time a DDR word is as wide as it can be
    alone = ConvStream(layer=layer, fold=Fold(pe=8, simd=8), batch=1)
    assert (alone.beat_bits, alone.block_beats) == (512, 4 * 8)
    # where DDR is too slow it makes the interval
    wide = ConvStream(layer=layer, fold=Fold(pe=32, simd=64), batch=1)
    assert wide.interval == wide.block_beats == -(-2048 // 80)
    assert LoadWeights(name="w", reads=(), writes=("w",), stage=wide).interval == wide.interval


def test_a_branch_beside_it_holds_a_block_of_frames(tmp_path: Path) -> None:
    """x + dense(x): the frames of a block wait in the branch until the block is through."""
    layer = replace(dense(12, 12), name="fc", inputs=("x",))
    source = layer.sources[0]
    total = Add(name="sum", inputs=("fc", "x"), left=layer.output, right=source, result_type=FixedType(14, 8))
    graph = Graph(
        name="net",
        inputs=(Port.of("x", source),),
        layers=(layer, total),
        outputs=(Port.of("y", total.output, "sum"),),
    )
    folds = {"fc": Fold(pe=3, simd=4), "sum": Fold(pe=4, simd=4)}
    weights = {"fc": streamed(layer, 4)}
    built = assert_pipeline_exact(graph, folds, tmp_path, frames=9, weights=weights)
    depths = {name: stream.depth for name, stream in built.pipeline.streams.items()}
    assert runs_through(built.pipeline, depths, 9)
    least = least_depths(built.pipeline)
    assert runs_through(built.pipeline, least, 9)
    branch = next(name for name in depths if name.startswith("x_") and least[name] > 6)
    assert depths[branch] >= least[branch]
    with pytest.raises(MismatchError, match="deadlock"):
        built.run({"x": random_codes(source, 9, 0)}, tmp_path, bounded=True, depths={branch: 2})


def test_weights_never_become_text() -> None:
    layer = replace(dense(512, 64), name="fc")
    graph, folds, weights = graph_of([Streamed(layer=layer, fold=Fold(pe=8, simd=16), batch=16)])
    pipeline = pipeline_of(graph, folds, weights)
    files = dataflow_files(pipeline, KernelNames(kernel="net", source="test"), load_board("u200"))
    assert sum(map(len, files.values())) < 90_000  # headers and testbench; the weights alone would be 100,000
    assert not [path for path in files if path.endswith("_weights.h")]
    ((name, beats),) = weight_files(pipeline).items()
    (loader,) = pipeline.streamers
    assert beats.nbytes == loader.stage.block_beats * loader.stage.beat_bits // 8
    assert name == f"{graph.layers[0].name}_weights.npy"
    assert f"bundle=gmem_{graph.layers[0].name}_weights" in files["src/net.cpp"]


def wished(**constraints: object) -> NetworkConstraints:
    return NetworkConstraints(
        weights=WeightConstraints(layers={"fc": LayerWeightConstraints(place="stream", **constraints)})
    )  # type: ignore[arg-type]


def alone(layer: Conv2d, name: str = "x") -> Graph:
    layer = replace(layer, name="fc", inputs=(name,))
    return Graph(
        name="net",
        inputs=(Port.of(name, layer.sources[0]),),
        layers=(layer,),
        outputs=(Port.of("y", layer.output, "fc"),),
    )


GROUPED = replace(POINTWISE, groups=2, weights=codes(FixedType(6, 1), (4, 3, 1, 1), 1))
FEW_PIXELS = replace(POINTWISE, in_shape=(6, 2, 2))  # its running sums are registers


@pytest.mark.parametrize(
    ("graph", "constraints", "message"),
    [
        (alone(GROUPED), wished(), "not streamed for a layer of 2 groups"),
        (alone(FEW_PIXELS), wished(batch_reuse=17), "for 17 frames"),
        (alone(POINTWISE), wished(storage="bram"), "storage: bram has no meaning"),
        (alone(POINTWISE), wished(batch_reuse=1000), "for 1000 frames"),
        (alone(POINTWISE, "fc_weights"), wished(), "fc_weights, which is taken"),
        (
            alone(POINTWISE),
            NetworkConstraints(
                weights=WeightConstraints(
                    layers={"fc": LayerWeightConstraints(place="runtime", storage="ddr")}
                )
            ),
            "weights: runtime keeps them on chip, storage: ddr does not",
        ),
        (
            alone(POINTWISE),
            NetworkConstraints(
                weights=WeightConstraints(layers={"fc": LayerWeightConstraints(batch_reuse=4)})
            ),
            "batch_reuse is of weights that are streamed",
        ),
        (alone(POINTWISE), NetworkConstraints(weights=WeightConstraints(place="stream")), "none of auto"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_streamed_is_refused(
    graph: Graph, constraints: NetworkConstraints, message: str
) -> None:
    with pytest.raises(DesignError, match=message):
        balance(graph, load_board("u200"), constraints, batch=4, clock_mhz=300)


def test_the_balance_counts_the_blocks_memories() -> None:
    """A large block costs memory; without weights on chip a large layer still takes less."""
    graph, board = alone(dense(1024, 1024)), load_board("u200")
    target = {"target_interval": 4200, "instances": 1}
    kept = balance(graph, board, NetworkConstraints(**target), batch=4, clock_mhz=300)  # type: ignore[arg-type]
    found = balance(graph, board, replace(wished(batch_reuse=16), **target), batch=4, clock_mhz=300)  # type: ignore[arg-type]
    assert isinstance(found.pipeline.stages["fc"], ConvStream)
    assert found.pipeline.interval <= 4300
    assert found.each.bram18 + 16 * found.each.uram < kept.each.bram18 + 16 * kept.each.uram
    assert auto_places(graph)["fc"].place == "runtime"


def test_too_many_frames_to_compute_fifos_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlsgen.search.streaming.MOST_SIMULATED_WORDS", 100)
    with pytest.raises(NoFit, match="blocks of 16 frames") as refused:
        balance(alone(POINTWISE), load_board("u200"), wished(), batch=4, clock_mhz=300)
    assert "smaller batch_reuse" in refused.value.fix


def model(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)
    )


def designed(seed: int) -> hlsgen.Design:
    layers = {
        "n3": LayerWeightConstraints(place="stream", batch_reuse=3),
        "n0": LayerWeightConstraints(place="stream", batch_reuse=4),
    }
    return hlsgen.from_torch(
        model(seed),
        (2, 6, 6),
        precision=Precision(default=FixedType(12, 4), weights=FixedType(8, 1)),
        constraints=NetworkConstraints(weights=WeightConstraints(place="runtime", layers=layers)),
        name="net",
        batch=8,
    )


def test_a_network_with_streamed_layers_and_other_weights(tmp_path: Path) -> None:
    """Verified in the build; the kernel then takes another network's weights, from the same ports."""
    project = designed(1).build(tmp_path / "build", frames=7)
    layers = {layer["name"]: layer.get("weights") for layer in project.report["layers"]}
    assert (layers["n3"]["place"], layers["n3"]["storage"], layers["n3"]["batch_reuse"]) == (
        "stream",
        "ddr",
        3,
    )
    assert "stream in ddr, for every block of 4 frames" in (tmp_path / "build/report.md").read_text()
    assert "m_axi_gmem_n3_weights" in (tmp_path / "build/vitis/link.cfg").read_text()
    assert {path.name for path in (tmp_path / "build/tb").glob("*weights.npy")} == {
        "weights.npy",
        "n3_weights.npy",
        "n0_weights.npy",
    }
    x = np.random.default_rng(0).normal(0, 1, (5, 2, 6, 6))
    assert np.array_equal(project.csim(x), project.golden(x))
    second = designed(2)
    assert np.array_equal(project.csim(x, weights=second), second.golden(x))


def test_a_design_file_streams_weights(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\ndef make_net():\n    return torch.nn.Sequential(torch.nn.Linear(32, 16))\n"
    )
    text = (
        "name: net\nboard: u200\nmodel: {torch: 'net.py:make_net'}\ninput: {shape: [32], samples: random}\n"
        "precision: 'fixed<8,3>'\nmapping: {n0: {weights: stream, batch_reuse: 2, pe: 4}}\n"
    )
    (tmp_path / "net.yaml").write_text(text)
    design = hlsgen.load(tmp_path / "net.yaml")
    layer = design.estimate().as_json()["layers"][0]
    assert layer["weights"]["batch_reuse"] == 2 and layer["folding"]["pe"] == 4
    (tmp_path / "net.yaml").write_text(text.replace("batch_reuse: 2", "batch_reuse: 200"))
    with pytest.raises(DesignError, match="batch_reuse"):
        hlsgen.load(tmp_path / "net.yaml")


EMITTED = {
    "convolution_streamed": Emitted(
        layer=convolution((4, 4, 5), 4, padding=SAME),
        fold=Fold(pe=2, simd=4),
        place="stream",
        batch=2,
        mutants=(
            ("in_row < IN_HEIGHT && ", ""),
            ("kernel_row * DILATION_H", "kernel_column * DILATION_H"),
            ("result_at += NF;", "result_at += 1;"),
            ("frame_at += IN_WORDS;", "frame_at += 0;"),
        ),
    ),
    "dense_streamed": Emitted(
        layer=dense(12, 6),
        fold=Fold(pe=2, simd=6, multipliers="packed"),
        place="stream",
        batch=3,
        mutants=(
            ("(p + i) * SIMD + s", "(p + i) * SIMD"),
            ("factors[0], factors[1]", "factors[1], factors[0]"),
            ("frame_at += IN_WORDS;", "frame_at += 0;"),
        ),
    ),
}
