"""A network as one streaming kernel: every layer a stage, instances over the batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.dataflow import DataflowRun, check_schedule
from hlsgen.csim.dataflow import simulate as simulate_kernel
from hlsgen.csim.scratch import scratch_folder
from hlsgen.csim.simulation import Comparison
from hlsgen.design import Design, Progress
from hlsgen.emit.dataflow import weight_files
from hlsgen.emit.network import network_plan
from hlsgen.errors import DesignError, MismatchError, Problem
from hlsgen.graph_design import GraphDesign, workers
from hlsgen.layers.base import Codes
from hlsgen.mapping.balance import Balanced, NoFit, balance
from hlsgen.report.comparison import NetworkVerification
from hlsgen.report.network import NetworkEstimate, network_estimate, network_markdown


@dataclass(frozen=True, kw_only=True)
class NetworkDesign(GraphDesign):
    """Every layer a stage of one kernel, all of them at work at once.

    chosen: the hardware, if it is that of another design; None: the fastest.
    """

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
