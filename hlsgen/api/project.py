"""A built project: emitted, C-simulated, reported."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.api.design import Design
from hlsgen.api.scheduling import schedule_emitted
from hlsgen.base.earlier_builds import earlier_builds, has_results
from hlsgen.base.errors import EmissionError
from hlsgen.base.fixed import Codes
from hlsgen.base.output import MARK, others_at_work, overwrite_files, replacing, write_files
from hlsgen.base.progress import Progress, silent
from hlsgen.base.scratch import Scratch, scratch_errors, scratch_folder
from hlsgen.base.short_repr import Brief, lines
from hlsgen.csim.compiler import Headers
from hlsgen.csim.verification import Verification
from hlsgen.emit.plan import Plan
from hlsgen.emit.vitis import plain_word
from hlsgen.lint import CANONICAL_FORM, Linted, Severity, lint_emitted
from hlsgen.lint.check_banks import check_banks
from hlsgen.lint.check_slrs import check_slrs
from hlsgen.model.half_range import half_warnings
from hlsgen.model.ports import Arrays
from hlsgen.model.simulation_frames import SimulationFrames
from hlsgen.report.checks import csim_figures, lint_figures
from hlsgen.report.content import Figures, Report
from hlsgen.report.frames import FrameFigures, frame_figures
from hlsgen.report.html import BANK_PICTURE, PAGE, html_page
from hlsgen.report.judge import JudgeFigures, skipped
from hlsgen.report.notebook import report_card
from hlsgen.report.profile import TensorFigures
from hlsgen.styles.style import Style
from hlsgen.targets.board import Board
from hlsgen.tracing.figures import range_figures
from hlsgen.tracing.judge import judged
from hlsgen.tracing.profile import measured_ranges
from hlsgen.vendor.compare import read_back

LINK = "vitis/link.cfg"
SHOWN_FINDINGS = 10
"""Findings of the lint in emitted code that are shown."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Project(Brief):
    """A build folder and what is known about it.

    figures: those of its reports. notes: what became of the results of the vendor's tools that the folder
    held before.
    """

    design: Design
    folder: Path
    figures: Report
    verification: Verification | None = None
    notes: tuple[str, ...] = ()
    _scratch: Scratch = field(default_factory=Scratch, repr=False)

    @cached_property
    def report(self) -> dict[str, Any]:
        """The content of report.json."""
        return self.figures.as_json()

    def __repr__(self) -> str:
        csim, warnings = self.figures.csim, self.figures.warnings
        said = f"{len(warnings)} warning{'s' if len(warnings) > 1 else ''}: {warnings[0]}" if warnings else ""
        shown = f"{csim.equal:,} of {csim.compared:,} results equal golden" if csim.compared else "skipped"
        return lines(
            f"Project {self.design.name} on {self.design.board.name} in {self.folder}",
            f"modelled: {self.design.style.hardware_text}",
            f"C-simulation: {shown}",
            said,
            "report has all figures; start with report.md in the folder",
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the cards that report.html begins with."""
        return report_card(self.figures, self.folder).html()

    def csim(
        self, x: ArrayLike | Sequence[ArrayLike], *, headers: str = "fast", weights: Design | None = None
    ) -> Arrays:
        """The emitted C++ on frames in the framework's layout, batch first (or one frame), as numbers.

        Several inputs are a list, several outputs too. `headers`: "fast" or "reference". `weights`: a design
        of the same network whose weights this kernel takes instead of its own. Raises DesignError: x or the
        weights do not fit. ToolError: the compiler is missing or fails. A ClippingWarning says which tensors
        are clipped on x, where that harms; of the layers some frames of x are looked at.
        """
        inputs = self.design.inputs_of(x)
        which = Headers(headers)
        design = self.design if weights is None else self.design.with_weights(weights)
        style = design.style
        style.warn_of_clipping(x, inputs)
        with scratch_errors():
            return design.outputs_of(style.simulator(self.folder, self._scratch.folder, which)(inputs))

    def write_weights(self, other: Design) -> None:
        """Puts the weights of `other` in the testbench's data (tb/), with what the kernel then gives.

        The kernel stays as it is, synthesised or not. Raises DesignError: they do not fit it; OutputError.
        """
        design = self.design.with_weights(other)
        inputs = {
            port.name: np.load(self.folder / f"tb/{port.name}.npy").astype(np.int64)
            for port in design.graph.inputs
        }
        golden = design.golden_codes(inputs)
        changed = design.style.testbench_files(inputs, golden)
        files = {f"tb/{name}": content for name, content in changed.items()}
        overwrite_files(self.folder, files)

    def golden(self, x: ArrayLike | Sequence[ArrayLike]) -> Arrays:
        return self.design.golden(x)


@dataclass(frozen=True, kw_only=True)
class Stimulus(Brief):
    """What a design is simulated on: codes by input, golden of every tensor, what they say of its types."""

    frames: SimulationFrames
    golden: Mapping[str, Codes]
    figures: FrameFigures

    @property
    def inputs(self) -> dict[str, Codes]:
        return self.frames.codes

    @classmethod
    def of(cls, design: Design, frames: int | None, file: Path | None, progress: Progress) -> Stimulus:
        """The design's own samples, or `frames` of those in `file`. Raises DesignError: they do not fit."""
        sampled = design.style.sampled(frames, file=file)
        progress(f"computing golden for {len(next(iter(sampled.codes.values())))} frames")
        golden = design.style.counted_golden(sampled.codes)
        clipping = design.style.clipping(sampled.values, golden)
        warnings = [*design.style.warnings(clipping), *half_warnings(design.graph, golden.tensors)]
        figures = frame_figures(design.calibration, clipping, warnings)
        return cls(frames=sampled, golden=golden.tensors, figures=figures)


@dataclass(frozen=True, kw_only=True)
class Simulated(Brief):
    """A C-simulation without a build, and what the frames that it ran on say of the number types."""

    verification: Verification
    judge: JudgeFigures
    figures: FrameFigures


def judge_only(design: Design, frames: int | None, file: Path | None, progress: Progress) -> JudgeFigures:
    """What the framework says of the design's answers, without C++. Raises JudgeError as `build` does."""
    return _judged(design, Stimulus.of(design, frames, file, progress), True, progress)


def _judged(design: Design, given: Stimulus, asked: bool, progress: Progress) -> JudgeFigures:
    if not asked:
        return skipped("skipped on request")
    return judged(design.given, given.frames, given.golden, progress)


def build(
    design: Design,
    folder: Path,
    *,
    frames: int | None = None,
    input_file: Path | None = None,
    csim: bool = True,
    schedule: bool = True,
    judge: bool = True,
    progress: Progress = silent,
) -> Project:
    """Emits the project of `design`, has its framework judge it, C-simulates and schedules it, writes its
    reports; `folder` appears when all is well.

    Raises DesignError: nothing fits, or the input is wrong. JudgeError: the framework computes something
    else. MismatchError: C-simulation differs from golden, iterations from the model, or a memory's ports do
    not suffice. ToolError: no compiler. OutputError: the
    folder cannot be written. EmissionError: a bug of hlsgen, which its lint or its schedule found.
    """
    design.choose(progress)
    estimate = design.estimate()
    figures = estimate.figures()
    given = Stimulus.of(design, frames, input_file, progress)
    inputs, golden = given.inputs, given.golden
    said = _judged(design, given, judge, progress)
    earlier, scratch, others = earlier_builds(folder), Scratch(), others_at_work(folder)
    with scratch.kept_on_success(), replacing(folder) as fresh:
        progress("emitting")
        plan = design.style.plan(inputs, golden)
        linted = _lint(plan, figures, design.board)
        shown = [one.line for one in linted.findings[:SHOWN_FINDINGS]]
        write_files(fresh, plan)
        verification = None
        if csim:
            verification = design.style.verify(fresh, inputs, golden, progress=progress, executables=scratch)
        scheduled = schedule_emitted(
            fresh,
            earlier=folder,
            asked=schedule,
            clock=design.clock,
            board=design.board,
            modelled=figures.unit_counts,
            progress=progress,
        )
        if scheduled.kernels:
            estimate = estimate.scheduled(scheduled.kernels)
            figures, scheduled = estimate.figures(), scheduled.warning(estimate.slowed)
        lint_found, csim_found = lint_figures(linted, shown), csim_figures(verification)
        report = Report.of(
            figures,
            given.figures,
            lint_found,
            csim_found,
            said,
            scheduled.figures,
            _ranges(design.style),
        )
        picture = plan.get(BANK_PICTURE, b"")
        content = picture.encode() if isinstance(picture, str) else picture
        write_files(
            fresh,
            {
                MARK: json.dumps(report.as_json(), indent=2) + "\n",
                "report.md": design.style.markdown(report),
                PAGE: html_page(report, content),
                **scheduled.files,
            },
        )
    notes = [
        f"{one} is the earlier build: it has results of the vendor's tools, and other sources"
        for one in sorted(earlier_builds(folder) - earlier)
    ]
    if others:
        notes.append(f"another build into {folder} was at work: the one that ended last is there")
    if has_results(folder):
        synthesised, read = read_back(folder)
        report = replace(report, synthesised=tuple(synthesised))
        notes += read
    return Project(
        design=design,
        folder=folder,
        figures=report,
        verification=verification,
        notes=tuple(notes),
        _scratch=scratch,
    )


def _ranges(style: Style[Any]) -> tuple[TensorFigures, ...]:
    """The ranges of tensors on the calibration frames that were kept; none without such."""
    measured = style.measured
    if measured is None or measured.graph is not style.graph:
        return ()
    return range_figures(measured_ranges(style.graph, style.reference, measured.golden))


def _lint(plan: Plan, figures: Figures, board: Board) -> Linted:
    """What the lint warns of in the emitted code. Raises EmissionError: it breaks a rule."""
    linted = lint_emitted(plan)
    wrong = [
        finding
        for finding in linted.findings
        if finding.rule.severity is Severity.ERROR or finding.rule.name in CANONICAL_FORM
    ]
    regions = {plain_word(slr.name): slr.usable.as_json() for slr in figures.slrs}
    wrong += check_slrs(LINK, str(plan[LINK]), figures.unit_counts, regions)
    wrong += check_banks(LINK, str(plan[LINK]), board.memory.masters)
    if wrong:
        found = "\n".join(str(finding) for finding in wrong[:SHOWN_FINDINGS])
        raise EmissionError(
            f"error: hlsgen emitted code with {len(wrong)} mistakes that its lint refuses. This is a bug of "
            f"hlsgen, not of the design\n{found}\nfix: report it with the design file; another mapping or "
            "other types may avoid it"
        )
    return linted


def simulate_only(
    design: Design,
    *,
    frames: int | None = None,
    input_file: Path | None = None,
    headers: Headers = Headers.FAST,
    judge: bool = True,
    progress: Progress = silent,
) -> Simulated:
    """Emits into a temporary folder and C-simulates there; raises as `build` does."""
    given = Stimulus.of(design, frames, input_file, progress)
    inputs, golden = given.inputs, given.golden
    said = _judged(design, given, judge, progress)
    with scratch_folder() as folder:
        write_files(folder, design.style.plan(inputs, golden))
        verification = design.style.verify(folder, inputs, golden, headers=headers, progress=progress)
    return Simulated(verification=verification, judge=said, figures=given.figures)
