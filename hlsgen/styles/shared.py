"""A network as a program: processors that all of its layers share, task by task from a list in DDR."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import Codes
from hlsgen.base.progress import Progress, silent
from hlsgen.base.scratch import Scratch, executable_in, scratch_folder
from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.shared import SharedRun, simulate
from hlsgen.csim.streaming import NetworkRun
from hlsgen.csim.verification import Comparison, LayerComparison, NetworkVerification
from hlsgen.emit.shared import shared_plan
from hlsgen.report.content import Report
from hlsgen.report.quality import quality_figures
from hlsgen.report.shared import SharedEstimate, shared_markdown
from hlsgen.search.shared import SharedHardware, shared_hardware
from hlsgen.styles.network_style import NetworkStyle, frames_in, workers
from hlsgen.targets.terms import CostStyle


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedNetwork(NetworkStyle[SharedHardware]):
    """Every layer, or several at once, a task of a program that each processor runs on frames of its own."""

    subject = "tasks compared"
    cost_style: ClassVar[CostStyle] = "shared"

    def search(self, progress: Progress) -> SharedHardware:
        return shared_hardware(
            self.graph, self.board, self.constraints, clock_mhz=self.clock_mhz, progress=progress
        )

    def estimate(self) -> SharedEstimate:
        return SharedEstimate(
            design=self.name,
            hardware=self.hardware,
            graph=self.graph,
            board=self.board,
            clock=self.clock,
            batch=self.batch,
            accuracy=self.accuracy,
            quality=quality_figures(self.reached, self.precision),
            explored=self.explored,
            styles=self.styles,
        )

    def plan(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> dict[str, str | bytes]:
        return shared_plan(
            self.hardware.program,
            name=self.name,
            source=self.source,
            board=self.board,
            clock=self.clock,
            slrs=self.hardware.slrs,
            banks=self.hardware.banks,
            inputs=inputs,
            golden=golden,
        )

    def markdown(self, report: Report) -> str:
        return shared_markdown(report, self.graph)

    def compiled(self, folder: Path, executable: Path, headers: Headers) -> float:
        return compile_testbench(folder, self.name, executable, headers=headers, streaming=True).seconds

    def simulated(
        self,
        executable: Path,
        inputs: Mapping[str, Codes],
        scratch: Path,
        *,
        keep: bool = True,
        bounded: bool = False,
    ) -> SharedRun:
        return simulate(self.hardware.program, executable, inputs, scratch, keep=keep, bounded=bounded)

    @property
    def bounded_frames(self) -> int:
        return 1

    def check_bounded(self, run: NetworkRun, golden: Mapping[str, Codes]) -> None:
        for port in self.graph.outputs:
            if not np.array_equal(run.tensors[port.source], golden[port.source][: self.bounded_frames]):
                at_once = "all processes of a task run at once and tensors share places"
                raise MismatchError(f"error: {port.name} differs when {at_once}")

    def verify(
        self,
        folder: Path,
        inputs: Mapping[str, Codes],
        golden: Mapping[str, Codes],
        *,
        headers: Headers = Headers.FAST,
        progress: Progress = silent,
        executables: Scratch | None = None,
    ) -> NetworkVerification:
        """Two runs: every tensor of a round in a place of its own, and all frames with places as on the
        board.
        """
        program = self.hardware.program
        frames = frames_in(inputs)
        few = {name: array[: self.bounded_frames] for name, array in inputs.items()}
        first = {name: array[: program.together] for name, array in inputs.items()}
        with scratch_folder(executables) as scratch:
            executable = executable_in(scratch, folder, self.name, headers)
            progress("compiling the C-simulation")
            compile_seconds = self.compiled(folder, executable, headers)
            progress(f"C-simulation of {frames} frames")
            with ThreadPoolExecutor(max_workers=workers()) as pool:
                kept = pool.submit(self.simulated, executable, first, scratch)
                all_at_once = pool.submit(self.simulated, executable, few, scratch, keep=False, bounded=True)
                whole = pool.submit(self.simulated, executable, inputs, scratch, keep=False)
                runs = [kept.result(), whole.result()]
                bounded_run = all_at_once.result()
        layers = self._compared(runs, golden)
        for run in runs:
            run.check_schedule(frames)
        self.check_bounded(bounded_run, golden)
        return NetworkVerification(
            subject=self.subject,
            comparison=Comparison(
                compared=sum(layer.comparison.compared for layer in layers), mismatches=0, max_abs_error=0.0
            ),
            frames=frames,
            compile_seconds=compile_seconds,
            run_seconds=sum(run.seconds for run in runs),
            layers=tuple(layers),
            iterations=runs[1].counted,
            bounded_frames=frames_in(few),
        )

    def _compared(self, runs: list[SharedRun], golden: Mapping[str, Codes]) -> list[LayerComparison]:
        """The results of every task on the frames of a round, then the outputs of all frames."""
        kept, whole = runs
        outputs = {port.source for port in self.graph.outputs}
        found = []
        for name, codes in kept.tensors.items():
            if name not in outputs:
                found.append(self.compared(name, [codes], {name: golden[name][: len(codes)]}))
        found += [self.compared(name, [whole.tensors[name]], golden) for name in sorted(outputs)]
        order = {layer.name: at for at, layer in enumerate(self.graph.layers)}
        return sorted(found, key=lambda one: order[one.name])
