"""Refits the terms of LUT and FF to builds that have come back from the vendor tools.

For each style of design and each target (csynth, routed) either every large term gets a scale of its own or
all get the same, whichever predicts designs better that it was not fitted to. The error that is stated from
then on is that of each design predicted from the others alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from hlsgen.base.output import MARK
from hlsgen.cost.error_margins import LEAST_ERROR
from hlsgen.cost.fitting import rounded
from hlsgen.designfile.text_files import refuse
from hlsgen.designfile.validation import printable
from hlsgen.targets.terms import (
    CELLS,
    FEATURES,
    TARGETS,
    Calibration,
    CostStyle,
    Kind,
    Target,
    Terms,
    TermsFile,
)
from hlsgen.vendor.build_report import Build, read_build
from hlsgen.vendor.find_reports import find_reports, read_all
from hlsgen.vendor.report import Stage, SynthesisReport

FEWEST_DESIGNS = 2
"""Designs of a style and target that are needed; one alone says nothing about the error."""
DESIGNS_A_SCALE = 3
"""Designs that there must be for each scale of its own."""
LEAST_SHARE = 0.05
"""The share of the cells of all designs together that a term must have for a scale of its own."""
PULL = 0.001
"""Weight of the common scale against the designs, so that a term that none of them pins down takes it."""
SCALES = (0.05, 20.0)

Scales = dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Design:
    """A build and what one report says of it. parts: modelled cells of one instance by kind and term."""

    name: str
    style: CostStyle
    target: Target
    parts: Mapping[Kind, Mapping[str, float]]
    reported: Mapping[Kind, float]


@dataclass(frozen=True, kw_only=True)
class Refit:
    """What became of one kind of cell of one style and target. Errors are medians and 90 % quantiles."""

    style: CostStyle
    target: Target
    kind: Kind
    designs: int
    scales: Scales
    before: tuple[float, float]
    after: tuple[float, float]

    def as_json(self) -> dict[str, Any]:
        return {
            "style": self.style,
            "target": self.target,
            "kind": self.kind,
            "designs": self.designs,
            "scales": self.scales,
            "error_before": {"median": self.before[0], "q90": self.before[1]},
            "error_after": {"median": self.after[0], "q90": self.after[1]},
        }


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """The new terms, what was refitted, and what was left out and why."""

    file: TermsFile
    refits: tuple[Refit, ...]
    notes: tuple[str, ...]


def calibrate(folder: Path, terms: Terms) -> Calibrated:
    """Refits `terms` to the builds below a folder, each a folder with a report.json and reports below it.

    Raises DesignError: no builds with reports, too few of every style, a report is damaged, or a build was
    modelled with other terms.
    """
    notes: list[str] = []
    designs = list(_designs(folder, terms, notes))
    if not designs:
        fix = "build designs there and let the vendor tools run (make csynth, make xclbin)"
        refuse(folder, "holds no build with reports of the vendor tools", fix)
    refits: list[Refit] = []
    calibrations = list(terms.file.calibrations)
    for style, target in sorted({(one.style, one.target) for one in designs}):
        group = [one for one in designs if (one.style, one.target) == (style, target)]
        if len(group) < FEWEST_DESIGNS:
            notes.append(f"{style}, {target}: one design alone says nothing about the error; left as it was")
            continue
        done = [refit(group, kind) for kind in CELLS]
        refits += done
        current = terms.for_style(style).of(target).calibration
        calibrations = [one for one in calibrations if (one.style, one.target) != (style, target)]
        calibrations.append(_calibration(done, current))
    if not refits:
        refuse(
            folder, f"has fewer than {FEWEST_DESIGNS} designs of every style", "add more builds and reports"
        )
    digest = hashlib.sha256(repr(calibrations).encode()).hexdigest()[:8]
    name = f"{terms.name.partition(', calibrated')[0]}, calibrated {digest}"
    file = terms.file.model_copy(update={"name": name, "calibrations": tuple(calibrations)})
    return Calibrated(file=file, refits=tuple(refits), notes=tuple(notes))


def _calibration(done: Sequence[Refit], current: Calibration | None) -> Calibration:
    """Scales go on top of what the builds were modelled with."""
    lut, ff = done
    scales: dict[str, Scales] = {}
    for one in done:
        earlier = {} if current is None else getattr(current, f"{one.kind}_scale")
        scales[one.kind] = {
            name: rounded(scale * earlier.get(name, 1.0)) for name, scale in one.scales.items()
        }
    return Calibration(
        style=lut.style,
        target=lut.target,
        designs=lut.designs,
        lut_error=round(max(LEAST_ERROR, lut.after[1]), 4),
        ff_error=round(max(LEAST_ERROR, ff.after[1]), 4),
        lut_scale=scales["lut"],
        ff_scale=scales["ff"],
    )


def _designs(folder: Path, terms: Terms, notes: list[str]) -> Iterator[Design]:
    """Builds with the reports on all their kernels, once for each target."""
    if not folder.is_dir():
        refuse(folder, "is no folder", "name a folder that holds build folders")
    for path in sorted(folder.rglob(MARK)):
        build = read_build(path.parent)
        used = build.figures.cost.terms
        if used != terms.name:
            fix = f"build it again, or calibrate with --terms the file of {printable(used)}"
            refuse(path, f"is modelled with the terms {printable(used)}, not {printable(terms.name)}", fix)
        reports = read_all(find_reports(path.parent))
        found = False
        for target in TARGETS:
            reported = _reported(build, target, reports)
            if reported is not None:
                found = True
                parts = {kind: build.parts(target, kind) for kind in CELLS}
                yield Design(
                    name=build.figures.design,
                    style=build.style,
                    target=target,
                    parts=parts,
                    reported=reported,
                )
        if not found:
            notes.append(f"{printable(str(path.parent))} has no reports on all of its kernels; left out")


def _reported(build: Build, target: Target, reports: Sequence[SynthesisReport]) -> dict[Kind, float] | None:
    """LUT and FF of one instance, its kernels together; None if a kernel has no report.

    Of instances that differ in folding it is the average.
    """
    stage = Stage.CSYNTH if target == "csynth" else Stage.ROUTED
    total: dict[Kind, float] = {kind: 0.0 for kind in CELLS}
    linked = [one for one in reports if one.stage is stage and not one.top and one.modules]
    for kernel in build.kernels:
        found = [one.resources for one in reports if one.stage is stage and one.top == kernel]
        units = 1
        part = build.units(kernel) / build.instances
        if not found:
            found = [module.resources for one in linked for module in one.modules if module.name == kernel]
            units = build.units(kernel)
        if not found:
            return None
        for kind in CELLS:
            total[kind] += found[-1][kind] / units * part
    return total if all(total.values()) else None


def refit(designs: Sequence[Design], kind: Kind) -> Refit:
    """The scales of one kind of cell for designs of one style and target."""
    parts = [one.parts[kind] for one in designs]
    reported = np.array([one.reported[kind] for one in designs])
    large = _large_terms(parts, len(designs) // DESIGNS_A_SCALE)
    choices = [()] if not large else [(), large]
    errors = {choice: _errors_in_turn(parts, reported, choice) for choice in choices}
    best = min(choices, key=lambda choice: float(np.quantile(errors[choice], 0.9)))
    plain = np.array([sum(part.values()) for part in parts])
    return Refit(
        style=designs[0].style,
        target=designs[0].target,
        kind=kind,
        designs=len(designs),
        scales=_scales(parts, reported, best),
        before=_summary(np.abs(plain / reported - 1)),
        after=_summary(errors[best]),
    )


def _large_terms(parts: Sequence[Mapping[str, float]], most: int) -> tuple[str, ...]:
    """The terms, at most so many, with the largest shares of the cells of all designs; one alone is none."""
    shares = {
        name: float(np.mean([part.get(name, 0.0) / max(1.0, sum(part.values())) for part in parts]))
        for name in FEATURES
    }
    large = sorted((name for name in shares if shares[name] >= LEAST_SHARE), key=lambda name: -shares[name])
    return tuple(large[:most])


def _scales(parts: Sequence[Mapping[str, float]], reported: Any, own: tuple[str, ...]) -> Scales:
    """The scale of each term: those in `own` their own, the others a common one.

    Least squares of the relative errors, pulled a little towards one scale for all.
    """
    plain = np.array([sum(part.values()) for part in parts]) / reported
    common = float(np.clip(plain.sum() / (plain**2).sum(), *SCALES))
    columns = [[part.get(name, 0.0) for part in parts] for name in own]
    columns.append([sum(cells for name, cells in part.items() if name not in own) for part in parts])
    matrix = np.array(columns).T / reported[:, None]
    pull = np.sqrt(PULL * len(parts)) * np.eye(len(columns)) * matrix.mean(axis=0)
    left = np.vstack([matrix, pull])
    right = np.concatenate([np.ones(len(parts)), common * pull.sum(axis=1)])
    found, _ = nnls(left, right) if own else ([common], 0.0)
    named = dict(zip(own, found[:-1], strict=True))
    return {name: rounded(float(np.clip(named.get(name, found[-1]), *SCALES))) for name in FEATURES}


def _errors_in_turn(parts: Sequence[Mapping[str, float]], reported: Any, own: tuple[str, ...]) -> Any:
    """The relative error of each design, predicted from the others alone."""
    errors = []
    for index in range(len(parts)):
        others = [one for number, one in enumerate(parts) if number != index]
        scales = _scales(others, np.delete(reported, index), own)
        predicted = sum(scales[name] * cells for name, cells in parts[index].items())
        errors.append(abs(predicted / reported[index] - 1))
    return np.array(errors)


def _summary(errors: Any) -> tuple[float, float]:
    return round(float(np.median(errors)), 4), round(float(np.quantile(errors, 0.9)), 4)
