"""A network as one streaming kernel: every layer a stage, instances over the batch."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen import samples
from hlsgen.board import Board, load_board
from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.dataflow import DataflowRun, check_schedule
from hlsgen.csim.dataflow import simulate as simulate_kernel
from hlsgen.csim.scratch import scratch_folder
from hlsgen.csim.simulation import Comparison, compare
from hlsgen.design import (
    MOST_SAMPLE_ELEMENTS,
    MOST_SAMPLE_FRAMES,
    Design,
    Floats,
    Progress,
)
from hlsgen.emit.dataflow import weight_files
from hlsgen.emit.network import network_plan
from hlsgen.errors import DesignError, MismatchError, Problem
from hlsgen.fixed import FixedType
from hlsgen.ir import Graph, run_golden
from hlsgen.layers.base import Codes
from hlsgen.mapping.balance import Balanced, NoFit, StreamWish, balance
from hlsgen.passes import FIXED_PASSES, FLOAT_PASSES, run_passes
from hlsgen.passes.choose_types import Accuracy, accuracy, choose_types
from hlsgen.passes.other_weights import same_structure, with_weights_of
from hlsgen.passes.size_accumulators import for_any_weights
from hlsgen.precision import Precision, precision_of
from hlsgen.report.comparison import LayerComparison, NetworkVerification
from hlsgen.report.network import NetworkEstimate, network_estimate, network_markdown

if TYPE_CHECKING:
    import torch

MOST_SAMPLE_MACS = 1 << 31
"""Fewer frames are simulated by a build if together they would need more multiply-accumulates."""
MOST_FRAME_ELEMENTS = 1 << 24
"""Elements of all tensors of the frames that one simulation process holds at a time."""
ACCURACY_FRAMES = 16
"""Calibration frames that the accuracy is stated on: the golden of every layer is computed for them."""
ACCURACY_MACS = 1 << 31
"""Fewer, if together they would need more multiply-accumulates."""


@dataclass(frozen=True, kw_only=True)
class NetworkDesign(Design):
    """`graph` in fixed point; `reference` the same in floating point, if it came so.

    samples: frames [N, C, H, W] of each input to simulate with; empty: a photograph. chosen: the hardware, if
    it is that of another design; None: the fastest.
    """

    wish: StreamWish = field(default_factory=StreamWish)
    reference: Graph | None = None
    accuracy: tuple[Accuracy, ...] = ()
    samples: Mapping[str, Floats] = field(default_factory=dict)
    chosen: Balanced | None = None

    @cached_property
    def balanced(self) -> Balanced:
        """The hardware chosen. Raises DesignError: nothing fits what the design fixes."""
        if self.chosen is not None:
            return self.chosen
        try:
            return balance(self.graph, self.board, self.wish, batch=self.batch)
        except NoFit as failure:
            raise DesignError(Problem(message=f"{self.name}: {failure}", fix=failure.fix)) from None

    def golden_codes(self, inputs: Mapping[str, Codes]) -> dict[str, Codes]:
        return run_golden(self.graph, inputs)

    def with_weights(self, other: Design) -> NetworkDesign:
        if not isinstance(other, NetworkDesign):
            raise DesignError(Problem(message=f"{other.name} is no network", fix="a design of a network"))
        places = self.balanced.pipeline.weights
        if self.reference is not None and other.reference is not None:
            same_structure(self.reference, other.reference)
            graph = with_weights_of(self.graph, other.reference, places)
        else:
            same_structure(self.graph, other.graph)
            graph = with_weights_of(self.graph, other.graph, places)
        chosen = replace(self.balanced, pipeline=self.balanced.pipeline.with_graph(graph))
        return replace(self, graph=graph, reference=other.reference, accuracy=(), chosen=chosen)

    def weight_files(self) -> dict[str, NDArray[np.uint64]]:
        return weight_files(self.balanced.pipeline)

    def check(self) -> None:
        _ = self.balanced
        self.sample_inputs(1)

    def estimate(self) -> NetworkEstimate:
        return network_estimate(
            self.name, self.balanced, self.board, self.clock_mhz, self.batch, self.accuracy
        )

    def sample_inputs(self, frames: int | None = None, *, file: Path | None = None) -> dict[str, Codes]:
        if file is not None:
            if len(self.graph.inputs) > 1:
                message = f"--input gives one input, and {self.name} has {len(self.graph.inputs)}"
                raise DesignError(Problem(message=message, fix="the Python interface: project.csim([x, y])"))
            array = samples.from_file(file, self.graph.inputs[0].shape)
            return self.inputs_of(array[:frames] if frames else array, what=str(file))
        count = frames or self._sample_count
        codes = {}
        for port in self.graph.inputs:
            given = self.samples.get(port.name)
            values = samples.photograph(port.tensor.shape, count) if given is None else given[:count]
            assert isinstance(port.tensor.type, FixedType)
            codes[port.name] = port.tensor.type.encode(values)
        shortest = min(len(array) for array in codes.values())
        return {name: array[:shortest] for name, array in codes.items()}

    @property
    def _sample_count(self) -> int:
        elements = sum(math.prod(tensor.shape) for tensor in self.graph.tensors().values())
        most = min(MOST_SAMPLE_MACS // max(1, self.macs), MOST_SAMPLE_ELEMENTS // elements)
        return max(1, min(self.batch, MOST_SAMPLE_FRAMES, most))

    def warnings(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> list[str]:
        found = []
        for layer in self.graph.layers:
            type_, codes = layer.output_type, golden[layer.name]
            if not isinstance(type_, FixedType) or type_.width < 3 or layer.name not in self._computed:
                continue
            # of an unsigned result zero is no limit that was hit but what a ReLU gives
            at_end = codes == type_.max_code
            if type_.signed:
                at_end |= codes == type_.min_code
            share = float(np.count_nonzero(at_end)) / codes.size
            if share > SATURATED_SHARE:
                found.append(
                    f"{layer.name}: {share:.1%} of the results lie at an end of {type_} on these frames; "
                    "more integer bits may be needed"
                )
        return found

    @cached_property
    def _computed(self) -> set[str]:
        """Layers that compute new values: those that only move values repeat what was said before."""
        return {
            layer.name for layer in self.graph.layers if layer.macs or layer.kind in ("add", "sub", "mul")
        }

    def plan(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> dict[str, str | bytes]:
        return network_plan(
            self.balanced,
            name=self.name,
            source=self.source,
            board=self.board,
            clock_mhz=self.clock_mhz,
            inputs=inputs,
            golden=golden,
        )

    def markdown(self, report: dict[str, Any]) -> str:
        return network_markdown(self.name, self.board, self.balanced, report)

    def verify(
        self,
        folder: Path,
        inputs: Mapping[str, Codes],
        golden: Mapping[str, Codes],
        *,
        headers: Headers = Headers.FAST,
        progress: Progress = lambda _: None,
    ) -> NetworkVerification:
        pipeline = self.balanced.pipeline
        frames = len(next(iter(inputs.values())))
        with scratch_folder() as scratch:
            executable = scratch / "kernel"
            progress("compiling the C-simulation")
            compiled = compile_testbench(folder, self.name, executable, headers=headers, streaming=True)
            done: list[tuple[dict[str, Codes], DataflowRun]] = []
            chunks = list(self._chunks(inputs, frames))
            bounded_frames = pipeline.frames_at_once + BOUNDED_FRAMES - 1
            few = {name: array[:bounded_frames] for name, array in inputs.items()}
            with ThreadPoolExecutor(max_workers=_workers()) as pool:
                running = [
                    pool.submit(simulate_kernel, pipeline, executable, chunk, scratch) for chunk in chunks
                ]
                bounded = pool.submit(
                    simulate_kernel, pipeline, executable, few, scratch, keep=False, bounded=True
                )
                for number, (chunk, future) in enumerate(zip(chunks, running, strict=True)):
                    progress(f"C-simulation: {number} of {len(chunks)} parts of {frames} frames done")
                    done.append((chunk, future.result()))
                progress("C-simulation with FIFOs of the emitted depths")
                checked = bounded.result()
        layers = [self._compared(layer.name, [run for _, run in done], golden) for layer in self.graph.layers]
        for chunk, run in done:
            check_schedule(pipeline, run, len(next(iter(chunk.values()))))
        for port in self.graph.outputs:
            if not np.array_equal(checked.tensors[port.source], golden[port.source][:bounded_frames]):
                raise MismatchError(f"error: {port.name} differs when all stages run at once")
        return NetworkVerification(
            comparison=Comparison(
                compared=sum(layer.comparison.compared for layer in layers), mismatches=0, max_abs_error=0.0
            ),
            frames=frames,
            compile_seconds=compiled.seconds,
            run_seconds=sum(run.seconds for _, run in done),
            layers=tuple(layers),
            iterations={
                process.name: count
                for process, count in zip(pipeline.processes, done[0][1].iterations, strict=True)
            },
            bounded_frames=len(next(iter(few.values()))),
        )

    def _chunks(self, inputs: Mapping[str, Codes], frames: int) -> list[dict[str, Codes]]:
        """The frames in parts: enough for every core, none larger than memory allows."""
        elements = sum(math.prod(tensor.shape) for tensor in self.graph.tensors().values())
        size = max(1, min(-(-frames // _workers()), MOST_FRAME_ELEMENTS // elements))
        return [
            {name: array[first : first + size] for name, array in inputs.items()}
            for first in range(0, frames, size)
        ]

    def _compared(self, name: str, runs: list[DataflowRun], golden: Mapping[str, Codes]) -> LayerComparison:
        """Raises MismatchError at the first layer, in the order of computation, that differs."""
        got = np.concatenate([run.tensors[name] for run in runs])
        type_ = self.graph.tensors()[name].type
        comparison = compare(got, golden[name], type_)
        if comparison.mismatches:
            assert comparison.first is not None
            frame, channel, row, column = comparison.first
            raise MismatchError(
                f"error: C-simulation differs from golden first in layer {name}: {comparison.mismatches} of "
                f"{comparison.compared} results; frame {frame}, channel {channel}, row {row}, "
                f"column {column}: code {got[comparison.first]}, golden {golden[name][comparison.first]}"
            )
        return LayerComparison(name=name, comparison=comparison)

    def simulator(
        self, folder: Path, scratch: Path, headers: Headers
    ) -> Callable[[Mapping[str, Codes]], dict[str, Codes]]:
        executable = scratch / f"{self.name}_{headers.value}"
        if not executable.exists():
            compile_testbench(folder, self.name, executable, headers=headers, streaming=True)

        def simulate(inputs: Mapping[str, Codes]) -> dict[str, Codes]:
            chunks = self._chunks(inputs, len(next(iter(inputs.values()))))
            with ThreadPoolExecutor(max_workers=_workers()) as pool:
                runs = list(
                    pool.map(
                        lambda chunk: simulate_kernel(
                            self.balanced.pipeline, executable, chunk, scratch, keep=False
                        ),
                        chunks,
                    )
                )
            return {
                port.source: np.concatenate([run.tensors[port.source] for run in runs])
                for port in self.graph.outputs
            }

        return simulate


SATURATED_SHARE = 0.02
"""A layer with a larger share of its results at an end of its type is worth a warning."""
BOUNDED_FRAMES = 1
"""Frames that are simulated with all stages at once: one shows every stage at its fill and its drain."""


def _workers() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def from_torch(
    model: torch.nn.Module,
    input_shape: Sequence[int] | Sequence[Sequence[int]],
    *,
    calibration: ArrayLike | Sequence[ArrayLike] | None = None,
    precision: str | FixedType | Precision | Mapping[str, object] | None = None,
    board: str | Board = "u200",
    clock_mhz: float | None = None,
    batch: int = 64,
    name: str | None = None,
    wish: StreamWish | None = None,
) -> NetworkDesign:
    """A PyTorch model as users write it -> a design. x and y of it are NCHW, as the model's.

    input_shape: without the batch; several inputs: a list of shapes. calibration: typical frames of the
    input(s), [N, *input_shape]. precision: "auto" (the default with calibration data), a type for all
    activations ("fixed<16,6>" without), or a mapping by layer name; see hlsgen.precision.
    Raises DesignError: an operation that there is no layer for, contradictory shapes, types too narrow.
    """
    from hlsgen.frontends.torch import graph_of_module

    shapes = _shapes(input_shape)
    graph = graph_of_module(model, shapes, name=name or _name_of(model))
    return from_float(
        graph,
        calibration=calibration,
        precision=precision,
        board=board,
        clock_mhz=clock_mhz,
        batch=batch,
        wish=wish,
        source=f"{type(model).__name__} (PyTorch)",
    )


def from_qkeras(
    model: object,
    *,
    calibration: ArrayLike | Sequence[ArrayLike] | None = None,
    precision: str | FixedType | Precision | Mapping[str, object] | None = None,
    board: str | Board = "u200",
    clock_mhz: float | None = None,
    batch: int = 64,
    name: str | None = None,
    wish: StreamWish | None = None,
) -> NetworkDesign:
    """A QKeras model (or its file) -> a design with just its quantizers' types. x and y are NHWC, as its own.

    A plain Keras model is quantised as `from_torch` does. Raises DesignError as `from_torch` does.
    """
    from hlsgen.frontends.qkeras import graph_of_keras

    graph = graph_of_keras(model, name=name or _name_of(model))
    common: dict[str, Any] = {
        "calibration": calibration,
        "precision": precision,
        "board": board,
        "clock_mhz": clock_mhz,
        "batch": batch,
        "wish": wish,
        "source": f"{graph.name} (QKeras)",
    }
    return _from_graph(graph, **common)


def from_onnx(
    model: object,
    *,
    calibration: ArrayLike | Sequence[ArrayLike] | None = None,
    precision: str | FixedType | Precision | Mapping[str, object] | None = None,
    board: str | Board = "u200",
    clock_mhz: float | None = None,
    batch: int = 64,
    name: str | None = None,
    wish: StreamWish | None = None,
) -> NetworkDesign:
    """An ONNX or QONNX file (or ModelProto) -> a design; quantised models keep their own types.

    Raises DesignError as `from_torch` does.
    """
    from hlsgen.frontends.onnx import graph_of_onnx

    graph = graph_of_onnx(model, name=name or _name_of(model))
    common: dict[str, Any] = {
        "calibration": calibration,
        "precision": precision,
        "board": board,
        "clock_mhz": clock_mhz,
        "batch": batch,
        "wish": wish,
        "source": f"{graph.name} (ONNX)",
    }
    return _from_graph(graph, **common)


def _from_graph(graph: Graph, **common: Any) -> NetworkDesign:
    if graph.inputs[0].tensor.is_float:
        return from_float(graph, **common)
    if common["precision"] is not None:
        message = f"{graph.name} brings its own number types, so that precision= has nothing to say"
        raise DesignError(Problem(message=message, fix="leave precision out"))
    return from_fixed(graph, **common)


def from_float(
    graph: Graph,
    *,
    calibration: ArrayLike | Sequence[ArrayLike] | None,
    precision: str | FixedType | Precision | Mapping[str, object] | None,
    board: str | Board,
    clock_mhz: float | None,
    batch: int,
    wish: StreamWish | None,
    source: str,
) -> NetworkDesign:
    """A network in floating point -> a design: batch norms folded, types chosen."""
    reference = run_passes(graph, FLOAT_PASSES)
    frames = _calibration(reference, calibration)
    if precision is None and frames is None:
        precision = "fixed<16,6>"
    wish = wish or StreamWish()
    any_weights = wish.weights.any_weights(reference)
    chosen = choose_types(reference, precision_of(precision), frames, any_weights)
    fixed = run_passes(chosen, FIXED_PASSES)
    stated: tuple[Accuracy, ...] = ()
    if frames is not None:
        count = max(1, min(ACCURACY_FRAMES, ACCURACY_MACS // max(1, reference.macs)))
        few = {name: array[:count] for name, array in frames.items()}
        stated = tuple(accuracy(fixed, reference, few))
    found = load_board(board) if isinstance(board, str) else board
    return NetworkDesign(
        name=graph.name,
        graph=fixed,
        board=found,
        clock_mhz=clock_mhz or found.clock_mhz,
        batch=batch,
        source=source,
        wish=wish,
        reference=reference,
        accuracy=stated,
        samples=frames or {},
    )


def from_fixed(
    graph: Graph,
    *,
    calibration: ArrayLike | Sequence[ArrayLike] | None,
    precision: object,
    board: str | Board,
    clock_mhz: float | None,
    batch: int,
    wish: StreamWish | None,
    source: str,
) -> NetworkDesign:
    """A network that has its types already -> a design."""
    assert precision is None
    found = load_board(board) if isinstance(board, str) else board
    wish = wish or StreamWish()
    fixed = run_passes(graph, FIXED_PASSES)
    fixed = for_any_weights(fixed, wish.weights.any_weights(fixed))
    return NetworkDesign(
        name=graph.name,
        graph=fixed,
        board=found,
        clock_mhz=clock_mhz or found.clock_mhz,
        batch=batch,
        source=source,
        wish=wish,
        samples=_calibration(fixed, calibration) or {},
    )


def _calibration(graph: Graph, given: ArrayLike | Sequence[ArrayLike] | None) -> dict[str, Floats] | None:
    """Frames [N, C, H, W] of each input. Raises DesignError: shapes that are not the inputs'."""
    if given is None:
        return None
    ports = graph.inputs
    arrays: Sequence[Any] = [given] if len(ports) == 1 else list(given)  # type: ignore[arg-type]
    if len(arrays) != len(ports):
        message = f"calibration has {len(arrays)} arrays for {len(ports)} inputs"
        raise DesignError(Problem(message=message, fix="a list with one array for each input"))
    found = {}
    for port, array in zip(ports, arrays, strict=True):
        values = np.asarray(array, np.float64)
        if values.shape[1:] != port.shape or not len(values) or not np.isfinite(values).all():
            message = f"calibration for {port.name} has shape {values.shape}, or holds NaN or infinity"
            fix = f"finite numbers [frames, {', '.join(map(str, port.shape))}]"
            raise DesignError(Problem(message=message, fix=fix))
        found[port.name] = port.to_tensor(values) / port.scale
    return found


def _shapes(given: Sequence[int] | Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    if all(isinstance(one, int) for one in given):
        return [tuple(int(one) for one in given)]  # type: ignore[arg-type]
    return [tuple(int(one) for one in shape) for shape in given]  # type: ignore[union-attr]


def _name_of(model: object) -> str:
    """A C++ identifier from the model's class, its own name, or its file's."""
    from hlsgen.frontends.names import valid_name

    own = getattr(model, "name", None)
    text = (
        Path(model).stem
        if isinstance(model, str | Path)
        else own
        if isinstance(own, str)
        else type(model).__name__
    )
    return valid_name(text)
