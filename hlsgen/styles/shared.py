"""A network as a program: processors that all of its layers share, task by task from a list in DDR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import Codes
from hlsgen.base.progress import Progress, silent
from hlsgen.base.scratch import Scratch, executable_in, scratch_folder
from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.shared import BOUNDED_FRAMES, SUBJECT, SharedRun, simulate, verified
from hlsgen.csim.streaming import NetworkRun
from hlsgen.csim.verification import NetworkVerification
from hlsgen.emit.ompss_shared import PROGRAM_FILE, ompss_program
from hlsgen.emit.shared import program_files, shared_plan, unit_names
from hlsgen.emit.xrt_program import call_rounds
from hlsgen.hardware.processor_file import BuiltProcessor
from hlsgen.model.ir import Golden, counted_golden
from hlsgen.report.content import Report
from hlsgen.report.shared import SharedEstimate, shared_markdown
from hlsgen.search.shared import SharedHardware, shared_hardware
from hlsgen.styles.network_style import SimulatedNetwork, frames_in, workers
from hlsgen.targets.terms import CostStyle


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedNetwork(SimulatedNetwork[SharedHardware]):
    """Every layer, or several at once, a task of a program that each processor runs on frames of its own."""

    subject = SUBJECT
    cost_style: ClassVar[CostStyle] = "shared"

    def search(self, progress: Progress) -> SharedHardware:
        return shared_hardware(
            self.graph,
            self.board,
            self.constraints,
            clock_mhz=self.clock_mhz,
            batch=self.batch,
            progress=progress,
        )

    def counted_golden(self, inputs: Mapping[str, Codes]) -> Golden:
        if not self.graph.input.is_float:
            return super().counted_golden(inputs)
        return counted_golden(self.graph, inputs, compute=self.hardware.program.golden_of)

    def estimate(self) -> SharedEstimate:
        return self.estimated(SharedEstimate)

    def plan(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> dict[str, str | bytes]:
        hardware = self.hardware
        return shared_plan(
            hardware.program,
            self.built,
            source=self.source,
            board=self.board,
            clock=self.clock,
            slrs=hardware.slrs,
            banks=hardware.banks,
            round_cycles=hardware.round_cycles,
            batch=self.batch,
            inputs=inputs,
            golden=golden,
            left_to_host=hardware.division.left_to_host,
        )

    def testbench_files(
        self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]
    ) -> dict[str, str | bytes]:
        """Descriptors, weights, memory and results: what a sum can be tells how it is finished."""
        program = self.hardware.program
        call = call_rounds(program, self.hardware.round_cycles / program.together, self.clock.mhz)
        held = max(call, program.rounds_of(frames_in(inputs)))
        own = ompss_program(program, self.hardware.instances)
        return {**program_files(program, inputs, golden, held), PROGRAM_FILE: own}

    @property
    def built(self) -> BuiltProcessor:
        """The processor as processor.json has it, for programs of other networks."""
        return BuiltProcessor(
            name=self.name,
            board=self.board.title,
            clock_mhz=self.clock.mhz,
            units=unit_names(self.name, self.hardware.instances),
            ddr_rate=self.hardware.ddr_rate,
            processor=self.hardware.processor,
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
        run = simulate(self.hardware.program, executable, inputs, scratch, keep=keep, bounded=bounded)
        return replace(run, tensors=self.hardware.division.finished(run.tensors))

    @property
    def bounded_frames(self) -> int:
        return BOUNDED_FRAMES

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
        """A round with a place of its own for every tensor, all frames with places as on the board, and a
        round with all processes of a task at once: where a round holds all frames the last two are one run.
        """
        with scratch_folder(executables) as scratch:
            executable = executable_in(scratch, folder, self.name, headers)
            progress("compiling the C-simulation")
            seconds = self.compiled(folder, executable, headers)
            progress(f"C-simulation of {frames_in(inputs)} frames")
            return verified(
                self.hardware.program,
                executable,
                inputs,
                golden,
                scratch,
                compile_seconds=seconds,
                processes=workers(),
            )
