"""A design: what to build, for which board. `hlsgen.load` makes one from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from hlsgen.base.errors import CalibrationWarning, DesignError, Problem, warn_caller
from hlsgen.base.fixed import Codes
from hlsgen.base.progress import Progress, Say, silent
from hlsgen.base.short_repr import Brief
from hlsgen.designfile.clock import Clock
from hlsgen.designfile.document import Document
from hlsgen.designfile.layers_file import is_network
from hlsgen.designfile.precision_grammar import Written
from hlsgen.loading.importing import refuse_models
from hlsgen.model.accuracy import Accuracy, Reached
from hlsgen.model.calibration import Calibration
from hlsgen.model.clipping import values_of, warn_of_clipping
from hlsgen.model.ir import Graph
from hlsgen.model.ports import Arrays
from hlsgen.report.estimates import Estimates
from hlsgen.styles.style import Style
from hlsgen.targets.board import Board
from hlsgen.targets.terms import Terms

if TYPE_CHECKING:
    from hlsgen.api.project import Project
    from hlsgen.explore.result import Explored
    from hlsgen.tracing.profile import Profile
    from hlsgen.tracing.trace import Trace


class Design(Brief):
    """A network or a layer, and the board and clock it is for. How it becomes hardware is its style's matter.

    given: the style with what the design fixes.
    """

    def __init__(self, given: Style[Any]) -> None:
        self.given = given

    def __repr__(self) -> str:
        known: Style[Any] = vars(self).get("style", self.given)
        return known.described(type(self).__name__)

    def _repr_html_(self) -> str:
        """What a notebook shows; like the repr it chooses nothing, which may take long."""
        from hlsgen.api.notebook import design_card

        return design_card(vars(self).get("style", self.given)).html()

    @property
    def name(self) -> str:
        """The kernel's name, a C++ identifier."""
        return self.given.name

    @property
    def graph(self) -> Graph:
        """The network in fixed point, or in float32."""
        return self.given.graph

    @property
    def board(self) -> Board:
        return self.given.board

    @property
    def clock_mhz(self) -> float:
        return self.given.clock_mhz

    @property
    def clock(self) -> Clock:
        """The clock with its uncertainty: what of its period is left for logic."""
        return self.given.clock

    @property
    def batch(self) -> int:
        """Frames of a call."""
        return self.given.batch

    @property
    def source(self) -> str:
        """The origin of the design, in words."""
        return self.given.source

    @property
    def macs(self) -> int:
        """Multiply-accumulates of a frame."""
        return self.given.macs

    @property
    def calibration(self) -> Calibration | None:
        """The frames that number types were chosen or judged with; None: there were none."""
        return self.given.calibration

    @property
    def accuracy(self) -> tuple[Accuracy, ...]:
        """The nearness of each layer and output to floating point, if that is known."""
        return self.given.accuracy

    @property
    def reached(self) -> Reached | None:
        """The nearness of the outputs to floating point, on which frames; None: it is not known."""
        return self.given.reached

    @cached_property
    def explored(self) -> Explored[Design] | None:
        """What the search for the best mapping found; None: the design does not ask for it."""
        return self.explore() if self.given.wants_exact_search else None

    @cached_property
    def style(self) -> Style[Any]:
        """The design's style, with the hardware of the exact search if it asks for that. Raises DesignError:
        no fit.
        """
        return self._chosen(silent)

    def _chosen(self, progress: Progress) -> Style[Any]:
        if not self.given.wants_exact_search:
            return self.given.resolved(progress)
        if "explored" not in vars(self):
            vars(self)["explored"] = self.explore(progress=progress)
        found = self.explored
        assert found is not None
        return found.chosen.given.as_explored(found.search_figures())

    def choose(self, progress: Progress = silent) -> None:
        """Chooses the hardware, as `estimate` would: a long search says how far it is. Raises as it does."""
        if "style" not in vars(self):
            vars(self)["style"] = self._chosen(progress)
        self.style.choose(progress)

    def with_terms(self, terms: str | Path | Terms) -> Design:
        """The same design with other terms of LUTs and FFs, or those in a file; its hardware is chosen anew.

        Raises DesignError: the file is wrong.
        """
        return Design(self.given.with_terms(terms))

    def at_clock(self, mhz: float) -> Design:
        """The same design for a clock of `mhz` MHz; its hardware is chosen anew.

        Raises DesignError: there is no such clock.
        """
        return Design(self.given.at_clock(mhz))

    def with_weights(self, other: Design) -> Design:
        """This hardware and these types with the weights of `other`, a network of the same structure.

        Raises DesignError: another structure, values beyond a type, sums that could overflow an accumulator,
        other weights where they stand in the kernel's source.
        """
        return Design(self.style.with_weights(other.given))

    def check(self) -> None:
        """Checks the design. Raises DesignError: hardware that does not fit, or wrong samples."""
        self.style.check()

    def inputs_of(self, x: ArrayLike | Sequence[ArrayLike], *, what: str = "x") -> dict[str, Codes]:
        """Frames in the framework's layout, batch first (or one frame without the batch), as codes by input.

        Several inputs are a list. Raises DesignError: wrong shape, no numbers, NaN, out of the type's range.
        """
        return self.given.inputs_of(x, what=what)

    def outputs_of(self, tensors: Mapping[str, Codes]) -> Arrays:
        """Codes of the tensors that the outputs show -> numbers in the framework's layout."""
        return self.given.outputs_of(tensors)

    def golden(self, x: ArrayLike | Sequence[ArrayLike]) -> Arrays:
        """The design's result in NumPy, batch first; equal to C-simulation bit for bit.

        A ClippingWarning says which tensors are clipped on x, where that harms.
        """
        given = self.given
        found = given.counted_golden(given.inputs_of(x))
        warn_of_clipping(given.clipping(values_of(given.graph.inputs, x), found), given.clipping_remedy)
        return given.outputs_of(found.tensors)

    def trace(
        self,
        x: ArrayLike | Sequence[ArrayLike],
        *,
        layers: Sequence[str] | None = None,
        framework: bool = True,
        progress: Progress = silent,
    ) -> Trace:
        """Every layer's values on frames x under the framework's names and in its layout, compared with what
        the framework itself computes; without its model, or framework=False, with floating point.

        layers: names whose values are kept; None: all, unless they are too many. A model from a file is read
        again, and its function run again.
        Raises DesignError: as `golden`; unknown layers. ToolError: the framework cannot run its model.
        """
        from hlsgen.tracing.trace import traced

        given = self.given
        return traced(
            given.graph,
            given.counted_golden,
            x,
            reference=given.reference,
            original=given.original if framework else None,
            layers=layers,
            progress=progress,
        )

    def profile(
        self,
        x: ArrayLike | Sequence[ArrayLike],
        *,
        progress: Progress = silent,
    ) -> Profile:
        """Ranges of every tensor on frames x beside its type, the noise that each layer adds by itself and
        what that does to the outputs, and which type to widen.

        Raises DesignError: as `golden`.
        """
        from hlsgen.tracing.profile import profiled

        given = self.given
        return profiled(given.graph, given.counted_golden, x, reference=given.reference, progress=progress)

    def golden_codes(self, inputs: Mapping[str, Codes]) -> Mapping[str, Codes]:
        """Codes [frames, C, H, W] of the tensors that the outputs show, and others, by name."""
        return self.given.golden_codes(inputs)

    def sample_inputs(self, frames: int | None = None, *, file: Path | None = None) -> dict[str, Codes]:
        """The frames to simulate with, as codes by input: the design's own samples, or those of `file`."""
        return self.given.sample_inputs(frames, file=file)

    def estimate(self) -> Estimates:
        """Cycles, resources and speed, all modelled. Raises DesignError: nothing fits."""
        return self.style.estimate()

    def cost(self) -> dict[str, Any]:
        """The section `cost` of report.json: modelled LUTs and FFs, and how far off they may be."""
        return self.estimate().cost.as_json()

    def explore(
        self,
        *,
        target_fps: float | None = None,
        max_latency_us: float | None = None,
        progress: Progress = silent,
    ) -> Explored[Design]:
        """The fastest mapping, or the cheapest for the targets; see hlsgen.explore.explore. `chosen` of the
        result is the design with it.
        """
        from hlsgen.explore.explore import explore

        style = self.given.resolved(progress)
        found = explore(style, target_fps=target_fps, max_latency_us=max_latency_us, progress=progress)
        return replace(found, design=self, chosen=Design(found.chosen))  # type: ignore[arg-type, return-value]

    def build(
        self,
        folder: str | Path,
        *,
        frames: int | None = None,
        input_file: Path | None = None,
        csim: bool = True,
        schedule: bool = True,
        judge: bool = True,
    ) -> Project:
        """Emits the project into `folder`, C-simulates it, schedules it, writes the report; see
        hlsgen.api.project.build. judge: whether the model's framework runs a few frames beside it.

        A CalibrationWarning says that number types were chosen from frames that are not the user's own.
        """
        from hlsgen.api.project import build

        if self.calibration is not None and self.calibration.warning is not None:
            warn_caller(self.calibration.warning, CalibrationWarning)
        return build(
            self,
            Path(folder),
            frames=frames,
            input_file=input_file,
            csim=csim,
            schedule=schedule,
            judge=judge,
        )


def load(
    path: str | Path,
    *,
    board: str | None = None,
    terms: str | Path | Terms | None = None,
    clock_mhz: float | None = None,
    precision: Written = None,
    say: Say | None = None,
    progress: Progress = silent,
) -> Design:
    """The design in a YAML file; `board` replaces the file's (a path is relative to the working folder).

    `clock_mhz` replaces the file's and the board's clock, `precision` (as of `hlsgen.from_torch`) the number
    types of a network in floating point; its calibration frames stay those of the file.

    `terms`: of LUTs and FFs, such as a file that `hlsgen calibrate` wrote. `say` is
    told when a model's own code is run and what is doubtful about its file (None: that is a HlsgenWarning),
    `progress` what is going on while number types are chosen.

    Raises DesignError with every mistake found, each with its place: first those of the file's form, then
    those of its meaning.

    Example:

    >>> from pathlib import Path
    >>> import hlsgen
    >>> _ = Path("small.yaml").write_text('''
    ... name: small
    ... board: zcu102
    ... input: {shape: [1, 8, 8], type: "fixed<8,4>", samples: photograph}
    ... layers:
    ...   - {name: conv1, kind: conv2d, out_channels: 4, kernel: 3, weights: {seed: 1}}
    ... mapping: {instances: 1, conv1: {rows: 1, pe: 1, simd: 1}}
    ... ''')
    >>> design = hlsgen.load("small.yaml")
    >>> design.macs, design.estimate().instances
    (1296, 1)
    """
    style: Style[Any]
    refuse_models(Path(path))
    data = Document.read(Path(path)).data
    if "model" in data or is_network(data):
        from hlsgen.loading.model_file import load_model

        style = load_model(Path(path), board=board, precision=precision, say=say, progress=progress)
    else:
        if precision is not None:
            message = f"{path} is a single layer, whose input has a type of its own"
            fix = "say the types in the file: input: {type: ...}, precision: {weights: ..., output: ...}"
            raise DesignError(Problem(message=message, fix=fix))
        from hlsgen.loading.layer_file import load_layer

        style = load_layer(Path(path), board=board)
    design = Design(style if clock_mhz is None else style.at_clock(clock_mhz))
    return design if terms is None else design.with_terms(terms)
