"""What designs of a network have in common, whatever their style: graph, samples, golden, comparisons."""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes
from hlsgen.base.progress import Progress, silent
from hlsgen.base.scratch import Scratch, executable_in, scratch_folder
from hlsgen.base.short_repr import some
from hlsgen.csim.compiler import Headers
from hlsgen.csim.streaming import NetworkRun
from hlsgen.csim.verification import Comparison, LayerComparison, NetworkVerification, compared_layer
from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.hardware.other_weights import same_structure, with_weights_of
from hlsgen.hardware.weights import WeightPlace
from hlsgen.model import samples
from hlsgen.model.accuracy import Accuracy, Measured, Reached
from hlsgen.model.calibration import Calibration
from hlsgen.model.clipping import Clipped, values_of
from hlsgen.model.confidence import doubts
from hlsgen.model.ir import Golden, Graph, counted_golden
from hlsgen.model.judging import Judging
from hlsgen.model.origins import FrameworkModel
from hlsgen.model.ports import Floats, stand_in_codes, tensor_codes
from hlsgen.model.precision import Precision
from hlsgen.model.simulation_frames import SimulationFrames
from hlsgen.report.explored import Search
from hlsgen.report.network import Instances, NetworkEstimate
from hlsgen.report.quality import quality_figures
from hlsgen.report.styles import StyleFigures
from hlsgen.styles.style import MOST_SAMPLE_ELEMENTS, MOST_SAMPLE_FRAMES, Style

MOST_SAMPLE_MACS = 1 << 31
"""The most multiply-accumulates of the frames that a build simulates; at least one is."""
MOST_FRAME_ELEMENTS = 1 << 24
"""Elements of all tensors of the frames that one simulation process holds at a time."""


class NetworkHardware(Instances, Protocol):
    """The hardware of a network of any style."""

    @property
    def weights(self) -> Mapping[str, WeightPlace]:
        """Where the weights of each layer that has some lie."""

    def with_graph(self, graph: Graph) -> Self:
        """The same for `graph`, which has the same layers and types but other weights."""


N = TypeVar("N", bound=NetworkHardware)
Estimated = TypeVar("Estimated", bound=NetworkEstimate)


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkStyle(Style[N]):
    """A network: `graph` in fixed point; `reference` the same in floating point, if it came so.

    reached: how near its outputs are to that, and precision: what was asked of them.
    samples: values [N, C, H, W] of each input to simulate with; empty: a photograph. measured: what
    `accuracy` was found with, so that golden of the same frames is not computed again. given_types: of a
    network that brings its types, the inputs and layers whose type the user says; overridden: those of
    them whose types are other ones than the model's. explored: what the exact
    search found, if it chose the hardware. judging: what the design says its answers are judged by. styles:
    those that were compared, if that chose this one.
    original: the model as its framework has it; None: there is none, or it was left behind by pickling.
    as_read: the graph as its frontend read it, before anything is fused; None as of `original`.
    """

    subject: ClassVar[str]
    """What C-simulation compares, in words."""

    constraints: NetworkConstraints = field(default_factory=NetworkConstraints)
    reference: Graph | None = None
    accuracy: tuple[Accuracy, ...] = ()
    reached: Reached | None = None
    precision: Precision = field(default_factory=Precision)
    measured: Measured | None = field(default=None, repr=False, compare=False)
    samples: Mapping[str, Floats] = field(default_factory=dict)
    calibration: Calibration | None = None
    given_types: frozenset[str] = frozenset()
    overridden: frozenset[str] = frozenset()
    explored: Search | None = None
    judging: Judging = field(default_factory=Judging)
    styles: tuple[StyleFigures, ...] = ()
    original: FrameworkModel | None = field(default=None, repr=False, compare=False)
    as_read: Graph | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """All but the framework's model, whose class another process need not have, and what was read."""
        return {**vars(self), "original": None, "as_read": None}

    def estimated(self, kind: type[Estimated]) -> Estimated:
        """The modelled figures of the network, as its style has them."""
        return kind(
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

    def counted_golden(self, inputs: Mapping[str, Codes]) -> Golden:
        known = self.measured.golden_for(self.graph, inputs) if self.measured else None
        return known or counted_golden(self.graph, inputs)

    @property
    def own_types(self) -> frozenset[str]:
        if self.reference is not None:
            return frozenset()
        return frozenset(self.graph.tensors()) - self.given_types

    @property
    def clipping_remedy(self) -> str:
        calibration = self.calibration
        if calibration is None or not calibration.chooses:
            return "A type with more integer bits would hold them (precision=)"
        return (
            f"Types were chosen from {calibration.source} ({calibration.frames} frames): choose them from "
            "frames such as these (calibration=x, or samples in the design file)"
        )

    @property
    def wants_exact_search(self) -> bool:
        return self.constraints.search == "best" and self.chosen is None

    def as_explored(self, found: Search) -> Self:
        return replace(self, explored=found)

    def check(self) -> None:
        _ = self.hardware
        self.sample_inputs(1)

    def with_weights(self, other: Style[Any]) -> Self:
        if not isinstance(other, NetworkStyle):
            raise DesignError(Problem(message=f"{other.name} is no network", fix="a design of a network"))
        mine, theirs = self.graph, other.graph
        if self.reference is not None and other.reference is not None:
            mine, theirs = self.reference, other.reference
        same_structure(mine, theirs)
        graph = with_weights_of(self.graph, theirs, self.hardware.weights)
        chosen = self.hardware.with_graph(graph)
        return replace(
            self,
            graph=graph,
            reference=other.reference,
            original=other.original,
            as_read=other.as_read,
            accuracy=(),
            reached=None,
            chosen=chosen,
        )

    def sampled(self, frames: int | None = None, *, file: Path | None = None) -> SimulationFrames:
        if file is not None:
            return self._of_file(file, frames)
        count = frames or self._sample_count
        values, codes = {}, {}
        for port in self.graph.inputs:
            given = self.samples.get(port.name)
            array = (
                samples.photograph(port.tensor.shape, count)
                if given is None
                else given[self._simulated(len(given), count)]
            )
            values[port.name] = array / port.scale
            codes[port.name] = (
                stand_in_codes(port, array)
                if given is None
                else tensor_codes(port, array, f"the samples of {port.name}")
            )
        shortest = min(len(array) for array in values.values())
        return SimulationFrames(
            values={name: array[:shortest] for name, array in values.items()},
            codes={name: array[:shortest] for name, array in codes.items()},
        )

    def _simulated(self, given: int, count: int) -> list[int]:
        """Which of the samples are simulated: spread over those that chose no range, if there are some."""
        chose = self.calibration.of_ranges if self.calibration is not None else frozenset()
        rest = [frame for frame in range(given) if frame not in chose]
        some = rest if len(rest) >= min(count, given) else list(range(given))
        return [some[index] for index in samples.spread(len(some), count)]

    def _of_file(self, file: Path, frames: int | None) -> SimulationFrames:
        ports = self.graph.inputs
        if len(ports) > 1:
            message = f"--input gives one input, and {self.name} has {len(ports)}"
            raise DesignError(Problem(message=message, fix="the Python interface: project.csim([x, y])"))
        array = samples.from_file(file, ports[0].shape)
        array = array[:frames] if frames else array
        return SimulationFrames(values=values_of(ports, array), codes=self.inputs_of(array, what=str(file)))

    @property
    def _sample_count(self) -> int:
        elements = sum(math.prod(tensor.shape) for tensor in self.graph.tensors().values())
        most = min(MOST_SAMPLE_MACS // max(1, self.macs), MOST_SAMPLE_ELEMENTS // elements)
        return max(1, min(self.batch, MOST_SAMPLE_FRAMES, most))

    def warnings(self, clipping: Sequence[Clipped]) -> list[str]:
        found = [] if self.reached is None else doubts(self.reached, self.precision)
        if self.overridden:
            found = [overridden_text(self.overridden), *found]
        if self.calibration is not None and self.calibration.warning:
            found.insert(0, self.calibration.warning)
        return [*found, *super().warnings(clipping)]


def overridden_text(layers: Collection[str], scales: Mapping[str, float] | None = None) -> str:
    """What is said of layers whose types are the user's in a model that brings its own. scales: the model's
    beside these types.
    """
    verb = "has a type" if len(layers) == 1 else "have types"
    of_scales = [f"{name} is the model's values over {scale:.6g}" for name, scale in (scales or {}).items()]
    return (
        f"{some(sorted(layers))} {verb} of your own in place of the model's: results are no longer those of "
        f"the model, and are compared with it in decibels{'; ' * bool(of_scales)}{', '.join(of_scales)}"
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedNetwork(NetworkStyle[N]):
    """A network that one testbench simulates."""

    def chunks(self, inputs: Mapping[str, Codes], frames: int) -> list[dict[str, Codes]]:
        """The frames in parts: enough for every core, none larger than memory allows."""
        elements = sum(math.prod(tensor.shape) for tensor in self.graph.tensors().values())
        size = max(1, min(-(-frames // workers()), MOST_FRAME_ELEMENTS // elements))
        return [
            {name: array[first : first + size] for name, array in inputs.items()}
            for first in range(0, frames, size)
        ]

    @abstractmethod
    def compiled(self, folder: Path, executable: Path, headers: Headers) -> float:
        """Compiles the testbench of `folder`; the seconds that it took. Raises ToolError."""

    @abstractmethod
    def simulated(
        self,
        executable: Path,
        inputs: Mapping[str, Codes],
        scratch: Path,
        *,
        keep: bool = True,
        bounded: bool = False,
    ) -> NetworkRun:
        """A run of the compiled testbench. keep: with every layer's tensor, not only the outputs'.

        bounded: the stages of a kernel at once, with FIFOs of the emitted depths. Raises MismatchError: that
        stands still. ToolError: it fails.
        """

    @property
    @abstractmethod
    def bounded_frames(self) -> int:
        """The frames that show every stage at its fill and its drain when all are at work at once."""

    @abstractmethod
    def check_bounded(self, run: NetworkRun, golden: Mapping[str, Codes]) -> None:
        """Checks a run with all stages at once. Raises MismatchError: its results are not golden's."""

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
        frames = frames_in(inputs)
        chunks = self.chunks(inputs, frames)
        few = {name: array[: self.bounded_frames] for name, array in inputs.items()}
        with scratch_folder(executables) as scratch:
            executable = executable_in(scratch, folder, self.name, headers)
            progress("compiling the C-simulation")
            compile_seconds = self.compiled(folder, executable, headers)
            runs = []
            with ThreadPoolExecutor(max_workers=workers()) as pool:
                running = [pool.submit(self.simulated, executable, chunk, scratch) for chunk in chunks]
                bounded = pool.submit(self.simulated, executable, few, scratch, keep=False, bounded=True)
                for number, future in enumerate(running):
                    progress(f"C-simulation of {frames} frames", number, len(chunks))
                    runs.append(future.result())
                progress("C-simulation with FIFOs of the emitted depths")
                bounded_run = bounded.result()
        layers = [
            self.compared(layer.name, [run.tensors[layer.name] for run in runs], golden)
            for layer in self.graph.layers
        ]
        for chunk, run in zip(chunks, runs, strict=True):
            run.check_schedule(frames_in(chunk))
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
            iterations=runs[0].counted,
            bounded_frames=frames_in(few),
        )

    def simulator(
        self, folder: Path, scratch: Path, headers: Headers
    ) -> Callable[[Mapping[str, Codes]], dict[str, Codes]]:
        executable = executable_in(scratch, folder, self.name, headers)
        if not executable.exists():
            self.compiled(folder, executable, headers)

        def simulate(inputs: Mapping[str, Codes]) -> dict[str, Codes]:
            chunks = self.chunks(inputs, frames_in(inputs))
            run = partial(self.simulated, executable, scratch=scratch, keep=False)
            with ThreadPoolExecutor(max_workers=workers()) as pool:
                runs = list(pool.map(run, chunks))
            return {
                port.source: np.concatenate([run.tensors[port.source] for run in runs])
                for port in self.graph.outputs
            }

        return simulate

    def compared(self, name: str, parts: Sequence[Codes], golden: Mapping[str, Codes]) -> LayerComparison:
        """The comparison of a layer, in the order of computation. Raises MismatchError: it differs."""
        return compared_layer(name, parts, golden[name], self.graph.tensors()[name].type)


def frames_in(tensors: Mapping[str, Codes]) -> int:
    """The number of frames, which is the same for every tensor."""
    return len(next(iter(tensors.values())))


def workers() -> int:
    """Simulations that run at once: one a core."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
