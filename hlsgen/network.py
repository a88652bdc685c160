"""A network as one streaming kernel: every layer a stage, instances over the batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen.board import Board, load_board
from hlsgen.cost.terms import Style
from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.dataflow import DataflowRun, check_schedule
from hlsgen.csim.dataflow import simulate as simulate_kernel
from hlsgen.csim.scratch import scratch_folder
from hlsgen.csim.simulation import Comparison
from hlsgen.design import Design, Floats, Progress
from hlsgen.emit.dataflow import weight_files
from hlsgen.emit.network import network_plan
from hlsgen.errors import DesignError, MismatchError, Problem
from hlsgen.fixed import FixedType
from hlsgen.graph_design import GraphDesign, workers
from hlsgen.ir import Graph
from hlsgen.layers.base import Codes
from hlsgen.mapping.balance import Balanced, NoFit, StreamWish, balance
from hlsgen.passes import FIXED_PASSES, FLOAT_PASSES, run_passes
from hlsgen.passes.choose_types import Accuracy, accuracy, choose_types
from hlsgen.passes.size_accumulators import for_any_weights
from hlsgen.precision import Precision, precision_of
from hlsgen.report.comparison import NetworkVerification
from hlsgen.report.network import NetworkEstimate, network_estimate, network_markdown
from hlsgen.task_network import TaskNetworkDesign

if TYPE_CHECKING:
    import torch

ACCURACY_FRAMES = 16
"""Calibration frames that the accuracy is stated on: the golden of every layer is computed for them."""
ACCURACY_MACS = 1 << 31
"""Fewer, if together they would need more multiply-accumulates."""


@dataclass(frozen=True, kw_only=True)
class NetworkDesign(GraphDesign):
    """Every layer a stage of one kernel, all of them at work at once.

    chosen: the hardware, if it is that of another design; None: the fastest.
    """

    cost_style: ClassVar[Style] = "dataflow"
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

    def with_weights(self, other: Design) -> NetworkDesign:
        pipeline = self.balanced.pipeline
        graph = self.reweighted(other, pipeline.weights)
        assert isinstance(other, GraphDesign)
        chosen = replace(self.balanced, pipeline=pipeline.with_graph(graph))
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
            chunks = list(self.chunks(inputs, frames))
            bounded_frames = pipeline.frames_at_once + BOUNDED_FRAMES - 1
            few = {name: array[:bounded_frames] for name, array in inputs.items()}
            with ThreadPoolExecutor(max_workers=workers()) as pool:
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
        layers = [
            self.compared(layer.name, [run.tensors[layer.name] for _, run in done], golden)
            for layer in self.graph.layers
        ]
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

    def simulator(
        self, folder: Path, scratch: Path, headers: Headers
    ) -> Callable[[Mapping[str, Codes]], dict[str, Codes]]:
        executable = scratch / f"{self.name}_{headers.value}"
        if not executable.exists():
            compile_testbench(folder, self.name, executable, headers=headers, streaming=True)

        def simulate(inputs: Mapping[str, Codes]) -> dict[str, Codes]:
            chunks = self.chunks(inputs, len(next(iter(inputs.values()))))
            with ThreadPoolExecutor(max_workers=workers()) as pool:
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


BOUNDED_FRAMES = 1
"""Frames that are simulated with all stages at once: one shows every stage at its fill and its drain."""


def design_of(style: str) -> type[NetworkDesign] | type[TaskNetworkDesign]:
    """The kind of design of a style. Raises DesignError: there is no such style."""
    styles: dict[str, type[NetworkDesign] | type[TaskNetworkDesign]] = {
        "dataflow": NetworkDesign,
        "tasks": TaskNetworkDesign,
    }
    if style not in styles:
        message = f"style is {style!r}, which there is not"
        raise DesignError(Problem(message=message, fix=f"one of {', '.join(styles)}"))
    return styles[style]


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
    style: str = "dataflow",
) -> GraphDesign:
    """A PyTorch model as users write it -> a design. x and y of it are NCHW, as the model's.

    input_shape: without the batch; several inputs: a list of shapes. calibration: typical frames of the
    input(s), [N, *input_shape]. precision: "auto" (the default with calibration data), a type for all
    activations ("fixed<16,6>" without), or a mapping by layer name; see hlsgen.precision.
    style: "dataflow", one streaming kernel with every layer a stage, or "tasks", a kernel for every layer.
    Raises DesignError: an operation that there is no layer for, contradictory shapes, types too narrow.
    """
    from hlsgen.frontends.torch import graph_of_module

    design_of(style)
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
        style=style,
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
    style: str = "dataflow",
) -> GraphDesign:
    """A QKeras model (or its file) -> a design with just its quantizers' types. x and y are NHWC, as its own.

    A plain Keras model is quantised as `from_torch` does. Raises DesignError as `from_torch` does.
    """
    from hlsgen.frontends.qkeras import graph_of_keras

    design_of(style)
    graph = graph_of_keras(model, name=name or _name_of(model))
    common: dict[str, Any] = {
        "calibration": calibration,
        "precision": precision,
        "board": board,
        "clock_mhz": clock_mhz,
        "batch": batch,
        "wish": wish,
        "style": style,
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
    style: str = "dataflow",
) -> GraphDesign:
    """An ONNX or QONNX file (or ModelProto) -> a design; quantised models keep their own types.

    Raises DesignError as `from_torch` does.
    """
    from hlsgen.frontends.onnx import graph_of_onnx

    design_of(style)
    graph = graph_of_onnx(model, name=name or _name_of(model))
    common: dict[str, Any] = {
        "calibration": calibration,
        "precision": precision,
        "board": board,
        "clock_mhz": clock_mhz,
        "batch": batch,
        "wish": wish,
        "style": style,
        "source": f"{graph.name} (ONNX)",
    }
    return _from_graph(graph, **common)


def _from_graph(graph: Graph, **common: Any) -> GraphDesign:
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
    style: str = "dataflow",
) -> GraphDesign:
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
    return design_of(style)(
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
    style: str = "dataflow",
) -> GraphDesign:
    """A network that has its types already -> a design."""
    assert precision is None
    found = load_board(board) if isinstance(board, str) else board
    wish = wish or StreamWish()
    fixed = run_passes(graph, FIXED_PASSES)
    fixed = for_any_weights(fixed, wish.weights.any_weights(fixed))
    return design_of(style)(
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
