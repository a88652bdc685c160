"""A network as tasks: every layer a kernel of its own, called one after the other through DDR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import Codes
from hlsgen.base.progress import Progress
from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.layerwise import LayerwiseRun, simulate
from hlsgen.csim.streaming import NetworkRun
from hlsgen.emit.layerwise import layerwise_plan, layerwise_weight_files
from hlsgen.emit.ompss_network import network_obstacles
from hlsgen.emit.ompss_project import uncertainty_notes
from hlsgen.model.clipping import Clipped
from hlsgen.model.ir import Golden, counted_golden
from hlsgen.report.content import Report
from hlsgen.report.layerwise import LayerwiseEstimate, layerwise_markdown
from hlsgen.search.layerwise import LayerwiseHardware, layerwise_hardware
from hlsgen.styles.network_style import SimulatedNetwork
from hlsgen.targets.terms import CostStyle


@dataclass(frozen=True, kw_only=True, eq=False)
class LayerwiseNetwork(SimulatedNetwork[LayerwiseHardware]):
    """Every layer a kernel; a host calls them in turn, the whole batch through one, then through the next."""

    subject = "kernels compared, each after its call"
    cost_style: ClassVar[CostStyle] = "tasks"

    def search(self, progress: Progress) -> LayerwiseHardware:
        return layerwise_hardware(
            self.graph,
            self.board,
            self.constraints,
            name=self.name,
            batch=self.batch,
            clock_mhz=self.clock_mhz,
        )

    def counted_golden(self, inputs: Mapping[str, Codes]) -> Golden:
        if not any(layer.is_float for layer in self.graph.layers):
            return super().counted_golden(inputs)
        return counted_golden(self.graph, inputs, self.hardware.float_passes)

    def weight_files(self) -> dict[str, NDArray[np.uint64]]:
        return layerwise_weight_files(self.hardware)

    def estimate(self) -> LayerwiseEstimate:
        return self.estimated(LayerwiseEstimate)

    def plan(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> dict[str, str | bytes]:
        return layerwise_plan(
            self.hardware,
            self.graph,
            name=self.name,
            source=self.source,
            board=self.board,
            clock=self.clock,
            batch=self.batch,
            inputs=inputs,
            golden=golden,
        )

    def warnings(self, clipping: Sequence[Clipped]) -> list[str]:
        """The warnings of a network, and why there is no OmpSs-2@FPGA application, if there is none."""
        obstacles = network_obstacles(self.hardware, self.graph)
        notes = [] if obstacles else uncertainty_notes(self.clock)
        return [
            *super().warnings(clipping),
            *(f"no ompss/ folder: {one}" for one in obstacles),
            *(f"ompss/: {one}" for one in notes),
        ]

    def markdown(self, report: Report) -> str:
        return layerwise_markdown(report, self.graph)

    def compiled(self, folder: Path, executable: Path, headers: Headers) -> float:
        kernels = [kernel.name for kernel in self.hardware.kernels]
        return compile_testbench(
            folder, self.name, executable, headers=headers, streaming=True, kernels=kernels
        ).seconds

    def simulated(
        self,
        executable: Path,
        inputs: Mapping[str, Codes],
        scratch: Path,
        *,
        keep: bool = True,
        bounded: bool = False,
    ) -> LayerwiseRun:
        """Every layer's tensor lies in DDR after a call, so that it is there whatever `keep` says."""
        return simulate(self.hardware, self.graph, executable, inputs, scratch, bounded=bounded)

    @property
    def bounded_frames(self) -> int:
        return 1

    def check_bounded(self, run: NetworkRun, golden: Mapping[str, Codes]) -> None:
        for layer in self.graph.layers:
            found, wanted = run.tensors[layer.name], golden[layer.name][: self.bounded_frames]
            # infinities of half may meet: NaN is a result as any other
            if not np.array_equal(found, wanted, equal_nan=layer.is_float):
                raise MismatchError(f"error: {layer.name} differs when the stages of its kernel run at once")
