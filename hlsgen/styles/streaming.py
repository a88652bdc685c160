"""A network as one streaming kernel: every layer a stage, instances over the batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import Codes
from hlsgen.base.progress import Progress
from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.streaming import NetworkRun, StreamingRun, simulate
from hlsgen.emit.dataflow import weight_files
from hlsgen.emit.streaming import streaming_plan
from hlsgen.report.content import Report
from hlsgen.report.streaming import StreamingEstimate, streaming_markdown
from hlsgen.search.streaming import StreamingHardware, balance
from hlsgen.styles.network_style import SimulatedNetwork
from hlsgen.targets.terms import CostStyle

MOST_OPTIMISED_LAYERS = 48
"""Compiling a kernel of more layers takes so long that a sixth less of it is worth a quarter of the speed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StreamingNetwork(SimulatedNetwork[StreamingHardware]):
    """Every layer a stage of one kernel, all of them at work at once."""

    subject = "layers compared"
    cost_style: ClassVar[CostStyle] = "dataflow"

    def search(self, progress: Progress) -> StreamingHardware:
        return balance(
            self.graph,
            self.board,
            self.constraints,
            batch=self.batch,
            clock_mhz=self.clock_mhz,
            progress=progress,
        )

    def weight_files(self) -> dict[str, NDArray[np.uint64]]:
        return weight_files(self.hardware.pipeline)

    def estimate(self) -> StreamingEstimate:
        return self.estimated(StreamingEstimate)

    def plan(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> dict[str, str | bytes]:
        return streaming_plan(
            self.hardware,
            name=self.name,
            source=self.source,
            board=self.board,
            clock=self.clock,
            inputs=inputs,
            golden=golden,
        )

    def markdown(self, report: Report) -> str:
        return streaming_markdown(report, self.graph)

    def compiled(self, folder: Path, executable: Path, headers: Headers) -> float:
        many = len(self.graph.layers) > MOST_OPTIMISED_LAYERS
        return compile_testbench(
            folder,
            self.name,
            executable,
            headers=headers,
            streaming=True,
            optimise="-O2" if many else "-O3",
        ).seconds

    def simulated(
        self,
        executable: Path,
        inputs: Mapping[str, Codes],
        scratch: Path,
        *,
        keep: bool = True,
        bounded: bool = False,
    ) -> StreamingRun:
        return simulate(self.hardware.pipeline, executable, inputs, scratch, keep=keep, bounded=bounded)

    @property
    def bounded_frames(self) -> int:
        return self.hardware.pipeline.frames_at_once

    def check_bounded(self, run: NetworkRun, golden: Mapping[str, Codes]) -> None:
        for port in self.graph.outputs:
            if not np.array_equal(run.tensors[port.source], golden[port.source][: self.bounded_frames]):
                raise MismatchError(f"error: {port.name} differs when all stages run at once")
