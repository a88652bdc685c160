"""A network as tasks: every layer a kernel of its own, called one after the other through DDR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hlsgen.cost.terms import Style
from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.dataflow import check_schedule
from hlsgen.csim.scratch import scratch_folder
from hlsgen.csim.simulation import Comparison
from hlsgen.csim.task_network import TaskRun, simulate
from hlsgen.design import Design, Progress, Verification
from hlsgen.emit.task_network import task_network_plan, task_weight_files
from hlsgen.errors import DesignError, MismatchError, Problem
from hlsgen.graph_design import GraphDesign, workers
from hlsgen.layers.base import Codes
from hlsgen.mapping.balance import NoFit
from hlsgen.mapping.task_balance import TaskChoice, task_balance
from hlsgen.report.comparison import LayerComparison
from hlsgen.report.task_network import TaskNetworkEstimate, task_network_markdown

BOUNDED_FRAMES = 1
"""Frames that are simulated with a kernel's stages at once: one shows every stage at its fill and drain."""


@dataclass(frozen=True, kw_only=True)
class TaskNetworkVerification(Verification):
    """`comparison` covers every layer; `iterations`: by kernel those of its processes, counted."""

    layers: tuple[LayerComparison, ...]
    iterations: Mapping[str, Mapping[str, int]]
    bounded_frames: int

    def report(self) -> dict[str, Any]:
        return {
            "layers": [
                {
                    "name": layer.name,
                    "compared": layer.comparison.compared,
                    "mismatches": layer.comparison.mismatches,
                }
                for layer in self.layers
            ],
            "iterations_measured": {name: dict(found) for name, found in self.iterations.items()},
            "bounded_fifos": {"frames": self.bounded_frames, "verdict": "ran through"},
        }

    def checked(self) -> str:
        return (
            f"{len(self.layers)} kernels compared, each after its call; every stage reads and writes in the "
            f"modelled iterations; FIFOs of the emitted depths do not deadlock"
        )


@dataclass(frozen=True, kw_only=True)
class TaskNetworkDesign(GraphDesign):
    """Every layer a kernel; a host calls them in turn, the whole batch through one, then through the next.

    chosen: the hardware, if it is that of another design; None: the fastest.
    """

    cost_style: ClassVar[Style] = "tasks"
    chosen: TaskChoice | None = None

    @cached_property
    def choice(self) -> TaskChoice:
        """The hardware chosen. Raises DesignError: nothing fits what the design fixes."""
        if self.chosen is not None:
            return self.chosen
        try:
            return task_balance(
                self.graph,
                self.board,
                self.wish,
                name=self.name,
                batch=self.batch,
                clock_mhz=self.clock_mhz,
            )
        except NoFit as failure:
            raise DesignError(Problem(message=f"{self.name}: {failure}", fix=failure.fix)) from None

    def with_weights(self, other: Design) -> TaskNetworkDesign:
        graph = self.reweighted(other, self.choice.weights)
        assert isinstance(other, GraphDesign)
        chosen = self.choice.with_graph(graph)
        return replace(self, graph=graph, reference=other.reference, accuracy=(), chosen=chosen)

    def weight_files(self) -> dict[str, NDArray[np.uint64]]:
        return task_weight_files(self.choice)

    def check(self) -> None:
        _ = self.choice
        self.sample_inputs(1)

    def estimate(self) -> TaskNetworkEstimate:
        return TaskNetworkEstimate(
            design=self.name,
            choice=self.choice,
            graph=self.graph,
            board=self.board,
            clock_mhz=self.clock_mhz,
            batch=self.batch,
            accuracy=self.accuracy,
        )

    def plan(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> dict[str, str | bytes]:
        return task_network_plan(
            self.choice,
            self.graph,
            name=self.name,
            source=self.source,
            board=self.board,
            clock_mhz=self.clock_mhz,
            inputs=inputs,
            golden=golden,
        )

    def markdown(self, report: dict[str, Any]) -> str:
        return task_network_markdown(self.name, self.board, self.graph, report)

    def verify(
        self,
        folder: Path,
        inputs: Mapping[str, Codes],
        golden: Mapping[str, Codes],
        *,
        headers: Headers = Headers.FAST,
        progress: Progress = lambda _: None,
    ) -> TaskNetworkVerification:
        frames = len(next(iter(inputs.values())))
        chunks = self.chunks(inputs, frames)
        few = {name: array[:BOUNDED_FRAMES] for name, array in inputs.items()}
        with scratch_folder() as scratch:
            executable = scratch / "kernels"
            progress("compiling the C-simulation")
            seconds = self._compile(folder, executable, headers)
            progress("C-simulation")
            with ThreadPoolExecutor(max_workers=workers()) as pool:
                running = [pool.submit(self._simulate, executable, chunk, scratch) for chunk in chunks]
                checked = pool.submit(self._simulate, executable, few, scratch, bounded=True).result()
                runs = [future.result() for future in running]
        layers = [
            self.compared(layer.name, [run.tensors[layer.name] for run in runs], golden)
            for layer in self.graph.layers
        ]
        for chunk, run in zip(chunks, runs, strict=True):
            for kernel in self.choice.kernels:
                records = run.kernels[kernel.layer.name]
                check_schedule(kernel.pipeline, records, len(next(iter(chunk.values()))))
        for layer in self.graph.layers:
            if not np.array_equal(checked.tensors[layer.name], golden[layer.name][:BOUNDED_FRAMES]):
                raise MismatchError(f"error: {layer.name} differs when the stages of its kernel run at once")
        return TaskNetworkVerification(
            comparison=Comparison(
                compared=sum(layer.comparison.compared for layer in layers), mismatches=0, max_abs_error=0.0
            ),
            frames=frames,
            compile_seconds=seconds,
            run_seconds=sum(run.seconds for run in runs),
            layers=tuple(layers),
            iterations={
                kernel.name: {
                    process.name: count
                    for process, count in zip(
                        kernel.pipeline.processes, runs[0].kernels[kernel.layer.name].iterations, strict=True
                    )
                }
                for kernel in self.choice.kernels
            },
            bounded_frames=len(next(iter(few.values()))),
        )

    def simulator(
        self, folder: Path, scratch: Path, headers: Headers
    ) -> Callable[[Mapping[str, Codes]], dict[str, Codes]]:
        executable = scratch / f"{self.name}_{headers.value}"
        if not executable.exists():
            self._compile(folder, executable, headers)

        def run(inputs: Mapping[str, Codes]) -> dict[str, Codes]:
            chunks = self.chunks(inputs, len(next(iter(inputs.values()))))
            with ThreadPoolExecutor(max_workers=workers()) as pool:
                runs = list(pool.map(lambda chunk: self._simulate(executable, chunk, scratch), chunks))
            return {
                port.source: np.concatenate([one.tensors[port.source] for one in runs])
                for port in self.graph.outputs
            }

        return run

    def _compile(self, folder: Path, executable: Path, headers: Headers) -> float:
        """Seconds that it took."""
        kernels = [kernel.name for kernel in self.choice.kernels]
        return compile_testbench(
            folder, self.name, executable, headers=headers, streaming=True, kernels=kernels
        ).seconds

    def _simulate(
        self, executable: Path, inputs: Mapping[str, Codes], scratch: Path, *, bounded: bool = False
    ) -> TaskRun:
        return simulate(self.choice, self.graph, executable, inputs, scratch, bounded=bounded)
