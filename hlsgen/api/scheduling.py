"""The schedule of what a build emitted: its section of the report, or why it has none."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from hlsgen.base.errors import EmissionError, ToolError
from hlsgen.base.progress import Progress
from hlsgen.designfile.clock import DEFAULT_UNCERTAINTY, Clock
from hlsgen.report.schedule import ScheduleFigures, schedule_figures, skipped_schedule
from hlsgen.schedule.results import KernelSchedule
from hlsgen.targets.board import Board

PACKAGES = ("ziglang", "llvmlite")
VARIABLE = "HLSGEN_NO_SCHEDULE"
"""An environment variable that, not empty, leaves the schedule out of all builds."""
SHOWN_FINDINGS = 10


@dataclass(frozen=True, kw_only=True)
class Scheduled:
    """What a build knows of its schedule: the section of its reports, the kernels, what its folder keeps of
    it for the next time.

    kernels: none where it was left out.
    """

    figures: ScheduleFigures
    kernels: tuple[KernelSchedule, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    def warning(self, warnings: Sequence[str]) -> Scheduled:
        """The same with more warnings."""
        said = (*self.figures.warnings, *warnings)
        return replace(self, figures=replace(self.figures, warnings=said))


def schedule_emitted(
    build: Path,
    *,
    earlier: Path,
    asked: bool,
    clock: Clock,
    board: Board,
    modelled: Mapping[str, Mapping[str, int]],
    progress: Progress,
) -> Scheduled:
    """The schedule of a build.

    earlier: the folder of an earlier build, whose schedules of equal code count. asked: False leaves it out.
    modelled: the cells of a compute unit of each kernel. Raises EmissionError: a loop misses its II, or, at a
    clock that is not faster than the board's, the time for chains.
    """
    why = _why_not(asked)
    if why:
        return Scheduled(figures=skipped_schedule(why))
    from hlsgen.schedule.front_end import SourceError
    from hlsgen.schedule.kept_parts import FILE
    from hlsgen.schedule.kernels import schedule_build

    try:
        kernels, kept = schedule_build(build, earlier=earlier, progress=progress)
    except (ToolError, SourceError) as error:
        first = str(error).splitlines()[0].removeprefix("error: ")
        failed = f"it failed, which is a fault of hlsgen or of {PACKAGES[1]}: {first}"
        return Scheduled(figures=skipped_schedule(failed))
    slow = clock.mhz <= board.clock_mhz and clock.uncertainty <= DEFAULT_UNCERTAINTY
    warnings = _checked(kernels, slow)
    figures = schedule_figures(kernels, warnings, modelled)
    return Scheduled(figures=figures, kernels=tuple(kernels), files={FILE: kept.text()})


def _why_not(asked: bool) -> str:
    if not asked:
        return "it was not asked for"
    if os.environ.get(VARIABLE):
        return f"{VARIABLE} is set"
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        verb = "are" if len(missing) > 1 else "is"
        return f"{' and '.join(missing)} {verb} not installed (pip install 'hlsgen[schedule]')"
    return ""


def _checked(kernels: Sequence[KernelSchedule], slow: bool) -> list[str]:
    """Warnings of chains beyond a fast clock, of loops whose II is not decided, and of what is too large."""
    wrong: list[str] = []
    warnings: list[str] = []
    for kernel in kernels:
        warnings += [f"{kernel.kernel}: {said}" for said in kernel.too_large]
        warnings += [
            f"{said}: scheduled by the first call of each function" for said in kernel.by_first_calls
        ]
        for loop in kernel.loops:
            missed = loop.misses_target
            for finding in loop.findings():
                said = f"{kernel.kernel}: {finding}"
                (wrong if missed or (slow and not loop.fits_budget) else warnings).append(said)
    if wrong:
        found = "\n".join(wrong[:SHOWN_FINDINGS])
        raise EmissionError(
            f"error: hlsgen emitted loops that its schedule refuses, {len(wrong)} in all. This is a bug of "
            f"hlsgen, not of the design\n{found}\nfix: report it with the design file; another mapping may "
            "avoid it, --no-schedule builds it as it is"
        )
    return warnings
