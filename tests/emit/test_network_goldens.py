"""What joins the stages of small networks: kernels and testbenches as text, and the same text executed.

Every sum is kept whole, so that torch in float64 is the judge of the results. A change shows in the diff of
golden/networks/ (rewrite it with `make golden`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType
from hlsgen.base.output import write_files
from hlsgen.csim import layerwise, streaming
from hlsgen.csim.compiler import compile_testbench
from hlsgen.csim.streaming import NetworkRun
from hlsgen.designfile.constraints import InterfaceConstraints, NetworkConstraints
from hlsgen.emit.dataflow import dataflow_files
from hlsgen.emit.environment import source_text
from hlsgen.emit.layerwise import task_network_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.pipeline import Pipeline, pipeline_of
from hlsgen.hardware.ports import DDR_ONLY, DdrPort, Interfaces
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.base import Layer, Tensor
from hlsgen.layers.binary import Add
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.row_blocks import RowBlocks
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import Graph, Port, run_golden
from hlsgen.search.layerwise import LayerwiseHardware, layerwise_hardware
from hlsgen.targets.board import load_board
from hlsgen.timing.fifos import fifo_depths
from tests.emit.test_stage_goldens import assert_reads_as_written_by_hand
from tests.support.pipelines import random_codes

GOLDEN = Path(__file__).parent / "golden" / "networks"
FRAMES = 5
U200 = load_board("u200")
IMAGE = Tensor(shape=(2, 4, 6), type=FixedType(8, 4))


def convolution(name: str, source: Layer | None, channels: int, *, kernel: int, seed: int) -> Conv2d:
    """Of the image, or of what `source` gives; with a border, every sum whole."""
    tensor = source.output if source else IMAGE
    weight, generator = FixedType(4, 1), np.random.default_rng(seed)
    layer = Conv2d(
        name=name,
        inputs=(source.name if source else "image",),
        in_shape=tensor.shape,
        out_channels=channels,
        kernel=(kernel, kernel),
        padding=(kernel // 2,) * 4,
        input_type=tensor.type,
        weight_type=weight,
        bias_type=weight,
        accumulator=weight,
        result_type=weight,
        weights=generator.integers(-8, 8, (channels, tensor.shape[0], kernel, kernel)),
        bias=generator.integers(-8, 8, channels),
    )
    return layer.retyped((tensor.type,), None)


def plain(name: str) -> Graph:
    """An image through one convolution."""
    conv = convolution("conv", None, 4, kernel=3, seed=1)
    return Graph.chain(name, IMAGE, (replace(conv, inputs=("input",)),))


def residual(name: str) -> Graph:
    """A convolution, and a second one whose result is added to its own input; both sums leave."""
    conv = convolution("conv", None, 4, kernel=3, seed=1)
    mixed = convolution("mixed", conv, 4, kernel=1, seed=2)
    total = Add(
        name="total",
        inputs=("mixed", "conv"),
        left=mixed.output,
        right=conv.output,
        result_type=FixedType(24, 14),
    )
    return Graph(
        name=name,
        inputs=(Port.of("image", IMAGE),),
        layers=(conv, mixed, total),
        outputs=(Port.of("features", mixed.output, "mixed"), Port.of("sum", total.output, "total")),
    )


def by_torch(graph: Graph, image: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """By layer its values in float64, which holds them all exactly."""
    torch = pytest.importorskip("torch")
    values: dict[str, Any] = {graph.inputs[0].name: torch.from_numpy(image)}
    for layer in graph.layers:
        sources = [values[name] for name in layer.inputs]
        if isinstance(layer, Conv2d):
            weights, bias = (
                torch.from_numpy(type_.decode(codes))
                for type_, codes in ((layer.weight_type, layer.weights), (layer.bias_type, layer.bias))
            )
            values[layer.name] = torch.nn.functional.conv2d(*sources, weights, bias, padding=layer.padding[0])
        elif isinstance(layer, RowBlocks):
            values[layer.name] = torch.from_numpy(layer.golden(sources[0].numpy()))
        else:
            values[layer.name] = sources[0] + sources[1]
    return {layer.name: values[layer.name].numpy() for layer in graph.layers}


@dataclass(frozen=True, kw_only=True)
class Network:
    """A network as hardware. shown: which of the emitted files are stored."""

    graph: Graph
    files: Mapping[str, str]
    shown: tuple[str, ...]
    run: Callable[[Path, Mapping[str, Codes], Path, bool], NetworkRun]
    kernels: tuple[str, ...] = ()


def streamed(
    graph: Graph,
    folds: Mapping[str, Fold],
    places: Mapping[str, WeightPlace],
    interfaces: Interfaces = DDR_ONLY,
    slrs: Mapping[str, int] | None = None,
) -> tuple[Network, Pipeline]:
    pipeline = pipeline_of(graph, folds, places, interfaces=interfaces).across(slrs or {})
    pipeline = pipeline.with_depths(fifo_depths(pipeline))
    network = Network(
        graph=graph,
        files=dataflow_files(pipeline, KernelNames(kernel=graph.name, source="test.yaml"), U200),
        shown=(f"src/{graph.name}.h", f"src/{graph.name}.cpp", f"tb/{graph.name}_tb.cpp"),
        run=lambda executable, inputs, scratch, bounded: streaming.simulate(
            pipeline, executable, inputs, scratch, bounded=bounded
        ),
    )
    return network, pipeline


@cache
def through_ddr() -> tuple[Network, Pipeline]:
    """Words as wide as the ports; weights of every kind but constants; forks and converters."""
    folds = {
        "conv": Fold(px=4, pe=4, simd=2),
        "mixed": Fold(px=1, pe=2, simd=4),
        "total": Fold(px=2, pe=4, simd=4),
    }
    places = {
        "conv": WeightPlace(layer="conv", place="runtime"),
        "mixed": WeightPlace(layer="mixed", place="stream", batch=2, port_bits=64),
    }
    return streamed(residual("through_ddr"), folds, places, Interfaces(ddr=DdrPort(bits=64)))


@cache
def between_kernels() -> tuple[Network, Pipeline]:
    """AXI streams on both sides, weights as text: a kernel that nobody starts."""
    both = Interfaces(constraints=InterfaceConstraints(input="stream", output="stream"))
    places = {"conv": WeightPlace(layer="conv", place="constant")}
    return streamed(plain("between_kernels"), {"conv": Fold(px=2, pe=2, simd=2)}, places, both)


@cache
def across_slrs() -> tuple[Network, Pipeline]:
    """A kernel over three SLRs: relays at the borders, two on the way past the one in the middle."""
    folds = {name: Fold(px=1, pe=4, simd=4) for name in ("mixed", "total")} | {
        "conv": Fold(px=1, pe=4, simd=2)
    }
    places = {name: WeightPlace(layer=name, place="constant") for name in ("conv", "mixed")}
    network, pipeline = streamed(
        residual("across_slrs"), folds, places, slrs={"conv": 0, "mixed": 2, "total": 1}
    )
    assert len(pipeline.relays) == 2 + 1 + 1
    return replace(network, shown=("src/across_slrs.cpp",)), pipeline


@cache
def to_processors() -> tuple[Network, Pipeline]:
    """A convolution whose results go to where shared processors read them, in blocks of two rows."""
    graph = plain("to_processors")
    blocks = RowBlocks(name="blocks", inputs=("conv",), source=graph.output, rows=2, lanes=2, bits=32)
    port = Port.of("memory", blocks.output, blocks.name)
    graph = replace(graph, layers=(*graph.layers, blocks), outputs=(port,))
    folds = {"conv": Fold(px=1, pe=2, simd=2), "blocks": next(blocks.folds())}
    places = {"conv": WeightPlace(layer="conv", place="constant")}
    network, pipeline = streamed(graph, folds, places, Interfaces(in_blocks=True))
    return replace(network, shown=("src/to_processors.h", "src/to_processors.cpp")), pipeline


@cache
def in_turn() -> tuple[Network, LayerwiseHardware]:
    """A kernel for each layer, with words narrower than the ports."""
    graph = residual("in_turn")
    constraints = NetworkConstraints(instances=1)
    hardware = layerwise_hardware(graph, U200, constraints, name=graph.name, batch=2, clock_mhz=300)
    network = Network(
        graph=graph,
        files=task_network_files(hardware, graph, name=graph.name, source="test.yaml", board=U200),
        shown=("src/in_turn.h", "src/in_turn.cpp", "src/in_turn_total.cpp", "tb/in_turn_tb.cpp"),
        run=lambda executable, inputs, scratch, bounded: layerwise.simulate(
            hardware, graph, executable, inputs, scratch, bounded=bounded
        ),
        kernels=tuple(kernel.name for kernel in hardware.kernels),
    )
    return network, hardware


NETWORKS: dict[str, Callable[[], tuple[Network, Any]]] = {
    "through_ddr": through_ddr,
    "between_kernels": between_kernels,
    "across_slrs": across_slrs,
    "to_processors": to_processors,
    "in_turn": in_turn,
}


@pytest.mark.parametrize("name", list(NETWORKS))
def test_emitted_text(name: str, update_golden: bool) -> None:
    network, _ = NETWORKS[name]()
    for file in network.shown:
        golden = GOLDEN / Path(file).name
        if update_golden:
            golden.write_text(network.files[file])
        assert golden.is_file(), f"{golden} is missing: make golden"
        assert network.files[file] == golden.read_text()
        assert_reads_as_written_by_hand(network.files[file])


@pytest.mark.parametrize("name", list(NETWORKS))
def test_the_emitted_text_is_exact(name: str, tmp_path: Path) -> None:
    network, _ = NETWORKS[name]()
    write_files(tmp_path, network.files)
    executable = tmp_path / "x"
    compile_testbench(tmp_path, name, executable, streaming=True, kernels=network.kernels, optimise="-O0")
    (port,) = network.graph.inputs
    codes = random_codes(port.tensor, FRAMES, 0)
    golden = run_golden(network.graph, {port.name: codes})
    exact = by_torch(network.graph, IMAGE.type.decode(codes))
    for bounded in (False, True):
        run = network.run(executable, {port.name: codes}, tmp_path, bounded)
        for layer in network.graph.layers:
            np.testing.assert_array_equal(run.tensors[layer.name], golden[layer.name], err_msg=layer.name)
            values = layer.output_type.decode(run.tensors[layer.name])
            np.testing.assert_array_equal(values, exact[layer.name], err_msg=f"{layer.name}, by torch")
        if not bounded:
            run.check_schedule(FRAMES)


def test_every_function_between_stages_is_shown() -> None:
    """Every macro of adapters.j2 in a stored text."""
    text = "".join(path.read_text() for path in GOLDEN.glob("*.cpp"))
    macros = set(re.findall(r"{% macro (\w+)\(p\)", source_text("hls/dataflow/adapters.j2")))
    assert len(macros) == 14
    called = {"read": "read_port", "write": "write_port", "read_again": "read_port_again"}
    called |= {"convert": "split_pixels", "load_weights": "stream_weights"}
    assert {name for name in macros if f"hlsgen::{called.get(name, name)}<" not in text} == set()
