"""What every way to run a graph on a board can do: one protocol, however its hardware looks.

A layer as a kernel that is called (conv_kernel.py), a network as one streaming kernel (streaming.py) or as a
kernel for each layer (layerwise.py). `hlsgen.Design`, which users hold, delegates to one of these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes
from hlsgen.base.progress import Progress, silent
from hlsgen.base.real_numbers import is_number
from hlsgen.base.scratch import Scratch
from hlsgen.base.short_repr import Brief, lines, some
from hlsgen.csim.compiler import Headers
from hlsgen.csim.verification import Verification
from hlsgen.designfile.clock import CLOCKS_MHZ, DEFAULT_UNCERTAINTY, Clock
from hlsgen.designfile.constraints import NoFit
from hlsgen.emit.plan import array_bytes, npy_bytes
from hlsgen.model.accuracy import Accuracy, Measured, Reached
from hlsgen.model.calibration import Calibration
from hlsgen.model.clipping import Clipped, clipping_of, clipping_warnings, values_of, warn_of_clipping
from hlsgen.model.ir import Golden, Graph
from hlsgen.model.origins import FrameworkModel
from hlsgen.model.ports import Arrays as Arrays
from hlsgen.model.ports import Floats as Floats
from hlsgen.model.ports import inputs_of, outputs_of
from hlsgen.model.simulation_frames import SimulationFrames
from hlsgen.report.content import Report
from hlsgen.report.estimates import Estimates
from hlsgen.report.explored import Search
from hlsgen.report.fit import fit_warnings
from hlsgen.search.board_limits import margin_fix
from hlsgen.styles.margin_search import Judged, inside
from hlsgen.targets.board import Board, Margins
from hlsgen.targets.terms import CostStyle, Terms, load_terms

MOST_SAMPLE_FRAMES = 16
"""Frames that a build simulates unless told otherwise."""
MOST_SAMPLE_ELEMENTS = 1 << 26
"""The most elements of the frames that are simulated together; at least one is."""

CLIPPING_FRAMES = 16
"""The most frames of which golden is computed beside a C-simulation, to see what layers clip."""
CLIPPING_MACS = 1 << 30
"""The most multiply-accumulates that they may need together; one is looked at in any case."""


QUICK_REFINEMENTS = 3
"""Quick searches with smaller margins than those inside which something was found."""

H = TypeVar("H")
"""What the hardware of a style is: ConvHardware, StreamingHardware, LayerwiseHardware."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Style(Brief, ABC, Generic[H]):
    """A graph in fixed point (or float32), the board and clock it is for, and how its hardware is made.

    Equal to no other one. uncertainty: the share of the clock's period that HLS keeps back. chosen: the
    hardware, if it is that of another design; None: `search` finds it.
    """

    name: str
    graph: Graph
    board: Board
    clock_mhz: float
    batch: int
    source: str
    uncertainty: float = DEFAULT_UNCERTAINTY
    chosen: H | None = None

    cost_style: ClassVar[CostStyle]
    """The style whose calibration counts, if the board's terms have one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "board", self.board.for_style(self.cost_style))

    def with_terms(self, terms: str | Path | Terms) -> Self:
        """The same design with other terms of LUTs and FFs, or those in a file; its hardware is chosen anew.

        Raises DesignError: the file is wrong.
        """
        found = terms if isinstance(terms, Terms) else load_terms(terms)
        return replace(self, board=self.board.with_terms(found))

    def at_clock(self, mhz: float) -> Self:
        """The same design for another clock; its hardware is chosen anew.

        Raises DesignError: there is no such clock.
        """
        if not (is_number(mhz) and CLOCKS_MHZ[0] <= mhz <= CLOCKS_MHZ[1]):
            fix = "a number from {:g} to {:g}".format(*CLOCKS_MHZ)
            raise DesignError(Problem(message=f"the clock is {mhz!r:.80} MHz", fix=fix))
        return replace(self, clock_mhz=float(mhz), chosen=None)

    def __repr__(self) -> str:
        return self.described(type(self).__name__)

    def described(self, kind: str) -> str:
        """What a person sees of it, on a few lines."""
        graph, hardware = self.graph, self.hardware_text
        return lines(
            f"{kind} {self.name}: {graph.size}",
            f"for {self.board.name} at {self.clock_mhz:g} MHz, a batch of {self.batch:,}; from {self.source}",
            f"{some([str(port) for port in graph.inputs])} -> {some([str(port) for port in graph.outputs])}",
            "" if self.calibration is None else str(self.calibration),
            f"modelled: {hardware}" if hardware else "hardware not chosen yet: estimate() or build() does",
        )

    @property
    def clock(self) -> Clock:
        """The clock with its uncertainty."""
        return Clock(mhz=self.clock_mhz, uncertainty=self.uncertainty)

    @cached_property
    def hardware(self) -> H:
        """The hardware, searched for once. Raises DesignError: nothing fits what the design fixes."""
        return self._hardware(silent)

    def choose(self, progress: Progress) -> None:
        """Chooses the hardware: a long search says how far it is. Raises as `hardware` does."""
        if "hardware" not in vars(self):
            vars(self)["hardware"] = self._hardware(progress)

    def _hardware(self, progress: Progress) -> H:
        if self.chosen is not None:
            return self.chosen
        progress("choosing the hardware")
        try:
            found = self.search(progress)
        except NoFit as failure:
            failure.fix += margin_fix(self.board)
            raise DesignError(self.no_fit(failure)) from None
        return self._inside(found, progress) if self.board.margin_open else found

    def _inside(self, found: H, progress: Progress) -> H:
        """`found`, or the fastest with the margins that its own error asks for.

        Where nothing fits so, what does without: `warnings` says how likely that is to fit.
        """

        def search(margins: Margins) -> Judged[H] | None:
            try:
                return self._judged(self.with_margins(margins).search(progress))
            except NoFit:
                return None

        return inside(search, self._judged(found), Margins(), QUICK_REFINEMENTS).found

    def _judged(self, found: H) -> Judged[H]:
        estimate = self.with_hardware(found).estimate()
        return Judged(found=found, fit=estimate.fit, frames_per_s=estimate.frames_per_s)

    def with_hardware(self, hardware: H) -> Self:
        """The same with this hardware, whatever the design asks for."""
        return replace(self, chosen=hardware)

    def with_margins(self, margins: Margins) -> Self:
        """The same with the margins that some hardware's error asks for; its hardware is chosen anew."""
        return replace(self, board=self.board.with_margins(margins), chosen=None)

    @abstractmethod
    def search(self, progress: Progress) -> H:
        """The fastest hardware that keeps to the constraints. Raises NoFit: there is none."""

    def no_fit(self, failure: NoFit) -> Problem:
        """The problem that there is no hardware, as users read it."""
        return Problem(message=f"{self.name}: {failure}", fix=failure.fix)

    @property
    def hardware_text(self) -> str:
        """The hardware in words if it is chosen already, else empty."""
        found = self.chosen or vars(self).get("hardware")
        return "" if found is None else str(found)

    def resolved(self, progress: Progress) -> Style[Any]:
        """The same with its style chosen, where that is left open. Raises DesignError: none has hardware."""
        return self

    @property
    def wants_exact_search(self) -> bool:
        """Whether the hardware is to be that which `hlsgen.explore` finds."""
        return False

    def as_explored(self, found: Search) -> Self:
        """The same with what the exact search says of its hardware, if reports of the style have that."""
        return self

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

    @abstractmethod
    def counted_golden(self, inputs: Mapping[str, Codes]) -> Golden:
        """Codes [frames, C, H, W] of the tensors that the outputs show, and others, and what is clipped."""

    def golden_codes(self, inputs: Mapping[str, Codes]) -> Mapping[str, Codes]:
        """Codes [frames, C, H, W] of the tensors that the outputs show, and others, by name."""
        return self.counted_golden(inputs).tensors

    @property
    def calibration(self) -> Calibration | None:
        """The frames that number types were chosen or judged with; None: there were none."""
        return None

    @property
    def accuracy(self) -> tuple[Accuracy, ...]:
        """The nearness of each layer and output to floating point, if that is known."""
        return ()

    @property
    def reached(self) -> Reached | None:
        """The nearness of the outputs to floating point, on which frames; None: it is not known."""
        return None

    @property
    def reference(self) -> Graph | None:
        """The network in floating point; None: it came with types of its own."""
        return None

    @property
    def measured(self) -> Measured | None:
        """What the types were judged with; None: nothing."""
        return None

    @property
    def original(self) -> FrameworkModel | None:
        """The model as its framework has it; None: there is none."""
        return None

    @property
    def own_types(self) -> frozenset[str]:
        """Inputs and layers whose types are quantisers of the model itself."""
        return frozenset()

    @property
    def overridden(self) -> frozenset[str]:
        """Layers whose types or sums the user has changed in a model that brings its own."""
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

    def with_weights(self, other: Style[Any]) -> Style[H]:
        """This hardware and these types with the weights of `other`, a network of the same structure.

        Raises DesignError: another structure, values beyond a type, sums that could overflow an accumulator,
        other weights where they stand in the kernel's source.
        """
        message = f"{self.name} is no streaming kernel, so that its weights cannot be exchanged here"
        raise DesignError(Problem(message=message, fix="a design made from a network"))

    def weight_files(self) -> dict[str, NDArray[np.uint64]]:
        """What the kernel loads at run time: the testbench's .npy files of weights, by name."""
        return {}

    def testbench_files(
        self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]
    ) -> dict[str, str | bytes]:
        """The testbench's files that other weights change, by name: results, and what is loaded at run
        time.
        """
        results: dict[str, str | bytes] = {
            f"{port.name}_golden.npy": npy_bytes(golden[port.source], port.tensor.type)
            for port in self.graph.outputs
        }
        return results | {name: array_bytes(beats) for name, beats in self.weight_files().items()}

    @abstractmethod
    def check(self) -> None:
        """Checks the design. Raises DesignError: hardware that does not fit, or wrong samples."""

    @abstractmethod
    def sampled(self, frames: int | None = None, *, file: Path | None = None) -> SimulationFrames:
        """The frames to simulate with: the design's own samples, or those of `file`."""

    def sample_inputs(self, frames: int | None = None, *, file: Path | None = None) -> dict[str, Codes]:
        """The samples as codes by input."""
        return self.sampled(frames, file=file).codes

    @abstractmethod
    def estimate(self) -> Estimates:
        """The modelled cycles, resources and speed. Raises DesignError: nothing fits."""

    def warnings(self, clipping: Sequence[Clipped]) -> list[str]:
        """What a user should know of a build. clipping: of the frames that it simulates."""
        return [*self.fit_warnings(), *clipping_warnings(clipping)]

    def fit_warnings(self) -> list[str]:
        """What is said of hardware that may well be too large."""
        return fit_warnings(self.estimate().fit, self.board)

    @abstractmethod
    def plan(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> dict[str, str | bytes]:
        """Every file of the build folder but the reports, by path."""

    @abstractmethod
    def markdown(self, report: Report) -> str:
        """The text of report.md."""

    @abstractmethod
    def verify(
        self,
        folder: Path,
        inputs: Mapping[str, Codes],
        golden: Mapping[str, Codes],
        *,
        headers: Headers = Headers.FAST,
        progress: Progress = silent,
        executables: Scratch | None = None,
    ) -> Verification:
        """C-simulates what `plan` gave, written into `folder`.

        executables: where they stay for `simulator`; None: they are removed.

        Raises MismatchError: a result or an iteration count differs. ToolError: no compiler, or it fails.
        """

    @abstractmethod
    def simulator(
        self, folder: Path, scratch: Path, headers: Headers
    ) -> Callable[[Mapping[str, Codes]], dict[str, Codes]]:
        """Compiles the emitted sources of `folder`, unless that is done: input codes -> codes of the tensors
        that outputs show.
        """
