"""A network whose first layers stream into shared processors, which run the others as a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes
from hlsgen.base.progress import Progress, silent
from hlsgen.base.scratch import Scratch, scratch_folder
from hlsgen.csim.compiler import Headers
from hlsgen.csim.verification import Comparison, NetworkVerification
from hlsgen.emit.mixed import FRONT, front_name, mixed_plan
from hlsgen.hardware.processor_file import BuiltProcessor
from hlsgen.layers.row_blocks import RowBlocks
from hlsgen.report.content import Report
from hlsgen.report.mixed import MixedEstimate, mixed_markdown
from hlsgen.search.mixture import MixedHardware, mixed_hardware
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.styles.shared import SharedNetwork
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.styles.style import Style
from hlsgen.targets.terms import CostStyle


@dataclass(frozen=True, kw_only=True, eq=False)
class MixedNetwork(NetworkStyle[MixedHardware]):
    """The layers up to a tensor a streaming kernel, those after it tasks of shared processors.

    least: frames a second that another style makes, if mixtures that make no more are of no use.
    """

    subject = "layers and tasks compared"
    cost_style: ClassVar[CostStyle] = "shared"

    least: float = field(default=0.0)

    def search(self, progress: Progress) -> MixedHardware:
        return mixed_hardware(
            self.graph,
            self.board,
            self.constraints,
            clock_mhz=self.clock_mhz,
            batch=self.batch,
            least=self.least / (self.clock_mhz * 1e6),
            progress=progress,
        )

    @cached_property
    def front(self) -> StreamingNetwork:
        """The streaming kernel as a network of its own."""
        hardware = self.hardware
        return StreamingNetwork(
            name=front_name(self.name),
            graph=hardware.front.pipeline.graph,
            board=hardware.front_board,
            clock_mhz=self.clock_mhz,
            batch=self.batch,
            source=self.source,
            uncertainty=self.uncertainty,
            chosen=hardware.front,
        )

    @cached_property
    def back(self) -> SharedNetwork:
        """The processors with their program as a network of its own."""
        return SharedNetwork(
            name=self.name,
            graph=self.hardware.back.program.graph,
            board=self.board,
            clock_mhz=self.clock_mhz,
            batch=self.batch,
            source=self.source,
            uncertainty=self.uncertainty,
            chosen=self.hardware.back,
        )

    @property
    def blocks(self) -> RowBlocks:
        """What brings the tensor between both into the processors' order."""
        layer = self.hardware.front.pipeline.graph.layers[-1]
        assert isinstance(layer, RowBlocks)
        return layer

    def estimate(self) -> MixedEstimate:
        return self.estimated(MixedEstimate)

    @property
    def built(self) -> BuiltProcessor:
        """The processor as processor.json has it, for programs of other networks."""
        return self.back.built

    def plan(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> dict[str, str | bytes]:
        return mixed_plan(
            self.hardware,
            self.graph,
            self.built,
            source=self.source,
            board=self.board,
            clock=self.clock,
            inputs=inputs,
            golden=golden,
        )

    def with_weights(self, other: Style[Any]) -> MixedNetwork:
        message = (
            f"{self.name} has weights in a streaming kernel and in a program, which only a build changes"
        )
        raise DesignError(Problem(message=message, fix="build the design again with the other weights"))

    def markdown(self, report: Report) -> str:
        return mixed_markdown(report, self.graph)

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
        """The streaming kernel layer by layer, then the processors on what it left in DDR."""
        with scratch_folder(executables) as scratch:
            blocks, cut = self.blocks, self.hardware.cut
            of_front = {**golden, blocks.name: blocks.golden(golden[cut])}
            first = self.front.verify(
                folder / FRONT, inputs, of_front, headers=headers, progress=progress, executables=executables
            )
            left = self.front.simulator(folder / FRONT, scratch, headers)(inputs)[blocks.name]
        second = self.back.verify(
            folder,
            {cut: blocks.restored(left)},
            golden,
            headers=headers,
            progress=progress,
            executables=executables,
        )
        layers = (*first.layers, *second.layers)
        return NetworkVerification(
            subject=self.subject,
            comparison=Comparison(
                compared=sum(one.comparison.compared for one in layers), mismatches=0, max_abs_error=0.0
            ),
            frames=first.frames,
            compile_seconds=first.compile_seconds + second.compile_seconds,
            run_seconds=first.run_seconds + second.run_seconds,
            layers=layers,
            iterations={self.front.name: first.iterations, self.name: second.iterations},
            bounded_frames=min(first.bounded_frames or 0, second.bounded_frames or 0),
        )

    def simulator(
        self, folder: Path, scratch: Path, headers: Headers
    ) -> Callable[[Mapping[str, Codes]], dict[str, Codes]]:
        streamed = self.front.simulator(folder / FRONT, scratch, headers)
        computed = self.back.simulator(folder, scratch, headers)
        blocks, cut = self.blocks, self.hardware.cut

        def simulate(inputs: Mapping[str, Codes]) -> dict[str, Codes]:
            return computed({cut: np.asarray(blocks.restored(streamed(inputs)[blocks.name]))})

        return simulate
