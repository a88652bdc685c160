"""Streaming kernels in the tests: emitted, compiled, run, held against golden and their schedules.

Many independent layers go into one kernel, each with its own input and output, so that one compilation serves
many cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FloatType
from hlsgen.base.output import write_files
from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.streaming import StreamingRun, simulate
from hlsgen.emit.dataflow import dataflow_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.pipeline import Pipeline, pipeline_of
from hlsgen.hardware.ports import DDR_ONLY, Interfaces
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.base import Layer, Tensor
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import Graph, Port, counted_golden
from hlsgen.targets.board import load_board
from hlsgen.timing.fifos import fifo_depths

FRAMES = 3
Edits = Mapping[str, tuple[str, str] | list[tuple[str, str]]]
"""By the path of an emitted file what stands in it, and what instead."""


def in_mutant(number: int) -> str:
    """A condition in C++ that holds where MUTANT says so: many mutants that stop a run are one executable."""
    return f"(*std::getenv(\"MUTANT\") == '{number}')"


def side_by_side(layers: Sequence[Layer], name: str = "cases") -> Graph:
    """Layers with nothing in common as one graph: layer n reads inputs n_0, n_1, ... and feeds output n."""
    inputs: list[Port] = []
    renamed: list[Layer] = []
    for number, layer in enumerate(layers):
        ports = [Port.of(f"in{number}_{index}", source) for index, source in enumerate(layer.sources)]
        inputs += ports
        renamed.append(
            replace(layer, name=f"case{number}_{layer.kind}", inputs=tuple(port.name for port in ports))
        )
    outputs = tuple(Port.of(f"out{number}", layer.output, layer.name) for number, layer in enumerate(renamed))
    return Graph(name=name, inputs=tuple(inputs), layers=tuple(renamed), outputs=outputs)


def random_codes(tensor: Tensor, frames: int, seed: int) -> Codes:
    """Codes of every size; the first frames are all lowest and all highest."""
    generator = np.random.default_rng(seed)
    if isinstance(tensor.type, FloatType):
        return random_floats((frames, *tensor.shape), generator)
    # ufixed<64> has codes that no int64 holds
    low, high = tensor.type.min_code, min(tensor.type.max_code, (1 << 63) - 1)
    codes: NDArray[np.int64] = generator.integers(low, high, (frames, *tensor.shape), endpoint=True)
    if frames > 2:
        codes[0] = low
        codes[1] = high
        codes[1, ..., ::2] = low
    return codes


def random_floats(shape: tuple[int, ...], generator: np.random.Generator) -> Codes:
    """float32 of many sizes, both zeros among them: sums of them depend on their order."""
    values = generator.normal(size=shape) * 2.0 ** generator.integers(-8, 8, shape)
    values[generator.random(shape) < 0.1] = 0.0
    values[generator.random(shape) < 0.05] = -0.0
    return values.astype(np.float32)


@dataclass(frozen=True, kw_only=True)
class Built:
    """A compiled streaming kernel."""

    pipeline: Pipeline
    executable: Path

    def run(self, inputs: Mapping[str, Codes], scratch: Path, **options: object) -> StreamingRun:
        return simulate(self.pipeline, self.executable, inputs, scratch, **options)  # type: ignore[arg-type]


def build_pipeline(
    graph: Graph,
    folds: Mapping[str, Fold],
    folder: Path,
    *,
    headers: Headers = Headers.FAST,
    optimise: str = "-O0",
    board: str = "u200",
    edit: Edits | None = None,
    weights: Mapping[str, WeightPlace] | None = None,
    interfaces: Interfaces = DDR_ONLY,
) -> Built:
    """Emits and compiles; `edit` replaces text in emitted files, to make mutants.

    Not optimised: a few frames are computed as soon, and g++ has nothing to say that keeps an executable from
    being reused.
    """
    pipeline = pipeline_of(graph, folds, weights, interfaces=interfaces)
    pipeline = pipeline.with_depths(fifo_depths(pipeline))
    files = dataflow_files(pipeline, KernelNames(kernel=graph.name, source="test"), load_board(board))
    for path, given in (edit or {}).items():
        for before, after in given if isinstance(given, list) else [given]:
            assert before in files[path], f"{before!r} is not in {path}"
            files[path] = files[path].replace(before, after, 1)
    write_files(folder, files)
    executable = folder / "x"
    compile_testbench(folder, graph.name, executable, headers=headers, streaming=True, optimise=optimise)
    return Built(pipeline=pipeline, executable=executable)


def assert_pipeline_exact(
    graph: Graph,
    folds: Mapping[str, Fold],
    folder: Path,
    *,
    frames: int = FRAMES,
    seed: int = 0,
    weights: Mapping[str, WeightPlace] | None = None,
    interfaces: Interfaces = DDR_ONLY,
    edit: Edits | None = None,
) -> Built:
    """C-simulation equals golden on every layer's output, every stage keeps to its schedule, and all of it
    runs through with FIFOs as deep as declared.
    """
    built = build_pipeline(graph, folds, folder, weights=weights, interfaces=interfaces, edit=edit)
    inputs = {port.name: random_codes(port.tensor, frames, seed + n) for n, port in enumerate(graph.inputs)}
    floats = {
        layer.name: min(folds[layer.name].simd, layer.group_channels)
        for layer in graph.layers
        if layer.is_float and isinstance(layer, Conv2d)
    }
    golden = counted_golden(graph, inputs, floats).tensors
    run = built.run(inputs, folder)
    for name, codes in run.tensors.items():
        assert_same_bits(codes, golden[name], name)
    run.check_schedule(frames)
    bounded = built.run(inputs, folder, bounded=True)
    for name, codes in bounded.tensors.items():
        assert_same_bits(codes, golden[name], f"{name}, FIFOs as deep as declared")
    return built


def assert_same_bits(codes: Codes, golden: Codes, what: str) -> None:
    """Equal codes; floats with their signs, which 0 and -0 differ in."""
    if golden.dtype == np.float32:
        codes, golden = codes.view(np.uint32), golden.view(np.uint32)
    np.testing.assert_array_equal(codes, golden, err_msg=what)


def assert_layers_exact(
    cases: Sequence[tuple[Layer, Fold]], folder: Path, *, frames: int = FRAMES, seed: int = 0
) -> Built:
    """`assert_pipeline_exact` for layers that have nothing in common, in one kernel."""
    graph = side_by_side([layer for layer, _ in cases])
    folds = {layer.name: fold for layer, (_, fold) in zip(graph.layers, cases, strict=True)}
    return assert_pipeline_exact(graph, folds, folder, frames=frames, seed=seed)
