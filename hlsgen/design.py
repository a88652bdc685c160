"""A design: what to build, for which board. `hlsgen.load` makes one from a file.

Three kinds: a layer as a kernel that is called (hlsgen/tasks.py), a network as one streaming kernel
(hlsgen/network.py) or as a kernel for each layer (hlsgen/task_network.py). All are built, simulated and
reported by hlsgen/project.py through what is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen.board import Board
from hlsgen.brief import Brief, lines, some
from hlsgen.calibration import Calibration
from hlsgen.clipping import Clipped, clipping_of, clipping_warnings, values_of, warn_of_clipping
from hlsgen.cost.resources import Resources
from hlsgen.cost.terms import Style, Terms, load_terms
from hlsgen.csim.compiler import Headers
from hlsgen.csim.scratch import Scratch
from hlsgen.csim.simulation import Comparison
from hlsgen.errors import CalibrationWarning, DesignError, Problem, warn_caller
from hlsgen.ir import Golden, Graph
from hlsgen.layers.base import Codes
from hlsgen.port_arrays import Arrays as Arrays
from hlsgen.port_arrays import Floats as Floats
from hlsgen.port_arrays import inputs_of, outputs_of
from hlsgen.progress import Progress, Say, silent

if TYPE_CHECKING:
    from hlsgen.explore.result import Explored
    from hlsgen.project import Project

MOST_SAMPLE_FRAMES = 16
"""Frames that a build simulates unless told otherwise."""
MOST_SAMPLE_ELEMENTS = 1 << 26
"""Fewer frames are simulated if together they would have more elements; at least one is."""

CLIPPING_FRAMES = 16
"""Frames of which golden is computed beside a C-simulation, to see what layers clip."""
CLIPPING_MACS = 1 << 30
"""Fewer, if together they would need more multiply-accumulates; at least one."""


@dataclass(frozen=True, kw_only=True)
class Verification(Brief, ABC):
    """What C-simulation showed. The seconds are measured here and say nothing about the FPGA."""

    comparison: Comparison
    frames: int
    compile_seconds: float
    run_seconds: float

    @abstractmethod
    def report(self) -> dict[str, Any]:
        """What report.json says besides the comparison; nothing in it depends on the machine."""

    @abstractmethod
    def checked(self) -> str:
        """One line on what was checked besides the results."""


@dataclass(frozen=True, kw_only=True)
class Sampled(Brief):
    """Frames [frames, C, H, W] of each input: `values` before they are quantised, and their `codes`."""

    values: Mapping[str, Floats]
    codes: dict[str, Codes]


class Estimates(Brief, ABC):
    """The modelled figures of a design, which is called `design`."""

    design: str

    def __repr__(self) -> str:
        board, clock_mhz = self.target
        used = self.used
        return lines(
            f"{type(self).__name__} of {self.design} on {board.name} at {clock_mhz:g} MHz, modelled",
            self.hardware,
            f"{self.frames_per_s:,.0f} frames/s in the steady state",
            f"DSP {used.dsp:,}, BRAM18 {used.bram18:,}, URAM {used.uram:,}, LUT {used.lut:,}, FF {used.ff:,}",
            "as_json() has all figures",
        )

    @property
    @abstractmethod
    def target(self) -> tuple[Board, float]:
        """The board, and the clock in MHz."""

    @property
    @abstractmethod
    def hardware(self) -> str:
        """Instances, their interval and what binds, in words."""

    @property
    @abstractmethod
    def frames_per_s(self) -> float:
        """Of all instances, in the steady state."""

    @property
    @abstractmethod
    def used(self) -> Resources:
        """What all instances take."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """They as report.json has them."""

    def with_smallest_fifos(self) -> Estimates:
        """The same with the shallowest FIFOs that cost no speed, however long that takes.

        Raises DesignError: not a streaming network, or one too large to search.
        """
        message = "only a network of style dataflow has FIFOs to search"
        raise DesignError(Problem(message=message, fix="leave --fifos out"))


@dataclass(frozen=True, kw_only=True, eq=False)
class Design(Brief, ABC):
    """A graph in fixed point (or float32), the board and clock it is for; equal to no other one."""

    name: str
    graph: Graph
    board: Board
    clock_mhz: float
    batch: int
    source: str

    cost_style: ClassVar[Style]
    """Whose calibration counts, if the board's terms have one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "board", self.board.for_style(self.cost_style))

    def with_terms(self, terms: str | Path | Terms) -> Self:
        """The same design with other terms of LUTs and FFs, or those in a file; its hardware is chosen anew.

        Raises DesignError: the file is wrong.
        """
        found = terms if isinstance(terms, Terms) else load_terms(terms)
        return replace(self, board=self.board.with_terms(found))

    def __repr__(self) -> str:
        graph, hardware = self.graph, self.hardware
        return lines(
            f"{type(self).__name__} {self.name}: {graph.size}",
            f"for {self.board.name} at {self.clock_mhz:g} MHz, a batch of {self.batch:,}; from {self.source}",
            f"{some([str(port) for port in graph.inputs])} -> {some([str(port) for port in graph.outputs])}",
            "" if self.calibration is None else str(self.calibration),
            f"modelled: {hardware}" if hardware else "hardware not chosen yet: estimate() or build() does",
        )

    @property
    @abstractmethod
    def hardware(self) -> str:
        """The hardware in words if it is chosen already, else empty."""

    @property
    def macs(self) -> int:
        """Multiply-accumulates of a frame."""
        return self.graph.macs

    def inputs_of(self, x: ArrayLike | Sequence[ArrayLike], *, what: str = "x") -> dict[str, Codes]:
        """Frames in the framework's layout, batch first (or one frame without the batch), as codes by input.

        Several inputs are a list. Raises DesignError: wrong shape, no numbers, NaN, out of the type's range.
        """
        return inputs_of(self.name, self.graph.inputs, x, what)

    def outputs_of(self, tensors: Mapping[str, Codes]) -> Arrays:
        """Codes of the tensors that the outputs show -> numbers in the framework's layout."""
        return outputs_of(self.graph.outputs, tensors)

    def golden(self, x: ArrayLike | Sequence[ArrayLike]) -> Arrays:
        """The design's result in NumPy, batch first; equal to C-simulation bit for bit.

        A ClippingWarning says which tensors are clipped on x, where that harms.
        """
        found = self.counted_golden(self.inputs_of(x))
        warn_of_clipping(self.clipping(values_of(self.graph.inputs, x), found), self.clipping_remedy)
        return self.outputs_of(found.tensors)

    @abstractmethod
    def counted_golden(self, inputs: Mapping[str, Codes]) -> Golden:
        """Codes [frames, C, H, W] of the tensors that the outputs show, and others, and what is clipped."""

    def golden_codes(self, inputs: Mapping[str, Codes]) -> dict[str, Codes]:
        """Codes [frames, C, H, W] of the tensors that the outputs show, and others, by name."""
        return self.counted_golden(inputs).tensors

    @property
    def calibration(self) -> Calibration | None:
        """The frames that number types were chosen or judged with; None: there were none."""
        return None

    @property
    def own_types(self) -> frozenset[str]:
        """Inputs and layers whose types are quantisers of the model itself."""
        return frozenset()

    @property
    def clipping_remedy(self) -> str:
        """What a user may do about values that are clipped."""
        return "Give these tensors more integer bits"

    def warn_of_clipping(self, x: ArrayLike | Sequence[ArrayLike], inputs: Mapping[str, Codes]) -> None:
        """A ClippingWarning if x, as `inputs` when quantised, is clipped to an extent that harms.

        Of the inputs all frames count, of the other tensors CLIPPING_FRAMES of them at most, spread evenly:
        golden is computed for them.
        """
        values = values_of(self.graph.inputs, x)
        count = len(next(iter(inputs.values())))
        most = max(1, min(CLIPPING_FRAMES, CLIPPING_MACS // max(1, self.macs)))
        some = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))
        golden = self.counted_golden({name: codes[some] for name, codes in inputs.items()})
        warn_of_clipping(self.clipping(values, golden), self.clipping_remedy)

    def clipping(self, values: Mapping[str, Floats], golden: Golden) -> tuple[Clipped, ...]:
        """What of each tensor is clipped. values: frames [frames, C, H, W] of the inputs before they are
        quantised, golden what the same frames gave.
        """
        return clipping_of(self.graph, values, golden.excess, self.own_types)

    def with_weights(self, other: Design) -> Design:
        """This hardware and these types with the weights of `other`, a network of the same structure.

        Raises DesignError: another structure, values beyond a type, sums that could overflow an accumulator,
        other weights where they stand in the kernel's source.
        """
        message = f"{self.name} is no streaming kernel, so that its weights cannot be exchanged here"
        raise DesignError(Problem(message=message, fix="a design made from a network"))

    def weight_files(self) -> dict[str, NDArray[np.uint64]]:
        """What the kernel loads at run time: the testbench's .npy files of weights, by name."""
        return {}

    def choose(self, progress: Progress) -> None:
        """Chooses the hardware, as `estimate` would: a long search says how far it is. Raises as it does."""
        progress("choosing the hardware")

    @abstractmethod
    def check(self) -> None:
        """Raises DesignError with what making the design leaves open: hardware that does not fit, samples."""

    @abstractmethod
    def sampled(self, frames: int | None = None, *, file: Path | None = None) -> Sampled:
        """The frames to simulate with: the design's own samples, or those of `file`."""

    def sample_inputs(self, frames: int | None = None, *, file: Path | None = None) -> dict[str, Codes]:
        """They as codes by input."""
        return self.sampled(frames, file=file).codes

    @abstractmethod
    def estimate(self) -> Estimates:
        """Cycles, resources and speed, all modelled. Raises DesignError: nothing fits."""

    @abstractmethod
    def cost(self) -> dict[str, Any]:
        """The section `cost` of report.json: modelled LUTs and FFs, and how far off they may be."""

    def warnings(self, clipping: Sequence[Clipped]) -> list[str]:
        """What a user should know of a build. clipping: of the frames that it simulates."""
        return clipping_warnings(clipping)

    @abstractmethod
    def plan(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> dict[str, str | bytes]:
        """Every file of the build folder but the reports, by path."""

    @abstractmethod
    def markdown(self, report: dict[str, Any]) -> str:
        """report.md"""

    @abstractmethod
    def verify(
        self,
        folder: Path,
        inputs: Mapping[str, Codes],
        golden: Mapping[str, Codes],
        *,
        headers: Headers = Headers.FAST,
        progress: Progress = silent,
        kept: Scratch | None = None,
    ) -> Verification:
        """C-simulates what `plan` gave, written into `folder`. kept: where executables stay for `simulator`.

        Raises MismatchError: a result or an iteration count differs. ToolError: no compiler, or it fails.
        """

    @abstractmethod
    def simulator(
        self, folder: Path, scratch: Path, headers: Headers
    ) -> Callable[[Mapping[str, Codes]], dict[str, Codes]]:
        """Compiles the emitted sources of `folder`, unless that is done: input codes -> codes of the tensors
        that outputs show.
        """

    def explore(
        self,
        *,
        target_fps: float | None = None,
        max_latency_us: float | None = None,
        progress: Progress = silent,
    ) -> Explored:
        """The fastest mapping, or the cheapest for the targets; see hlsgen.explore.explore. `chosen` of the
        result is the design with it.
        """
        from hlsgen.explore.explore import explore

        return explore(self, target_fps=target_fps, max_latency_us=max_latency_us, progress=progress)

    def build(
        self,
        folder: str | Path,
        *,
        frames: int | None = None,
        input_file: Path | None = None,
        csim: bool = True,
    ) -> Project:
        """Emits the project into `folder`, C-simulates it and writes the report; see hlsgen.project.build.

        A CalibrationWarning says that number types were chosen from frames that are not the user's own.
        """
        from hlsgen.project import build

        if self.calibration is not None and self.calibration.warning is not None:
            warn_caller(self.calibration.warning, CalibrationWarning)
        return build(self, Path(folder), frames=frames, input_file=input_file, csim=csim)


def load(
    path: str | Path,
    *,
    board: str | None = None,
    terms: str | Path | Terms | None = None,
    say: Say = lambda _: None,
    progress: Progress = silent,
) -> Design:
    """The design in a YAML file; `board` replaces the file's (a path is relative to the working folder).

    `terms`: of LUTs and FFs, such as a file that `hlsgen calibrate` wrote. `say` is
    told when a model's own code is run, `progress` what is going on while number types are chosen.

    Raises DesignError with every mistake found, each with its place: first those of the file's form, then
    those of its meaning.
    """
    from hlsgen.document import Document

    design: Design
    if "model" in Document.read(Path(path)).data:
        from hlsgen.model_file import load_model

        design = load_model(Path(path), board=board, say=say, progress=progress)
    else:
        from hlsgen.tasks import load_tasks

        design = load_tasks(Path(path), board=board)
    return design if terms is None else design.with_terms(terms)
