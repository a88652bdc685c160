"""What the lint and C-simulation found, as reports have it; all of it is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from hlsgen.csim.verification import Verification
from hlsgen.lint import Linted, Severity
from hlsgen.report.section import MOST_ROWS, Count, Counts, Number, Rows, Section, Text, Texts


@dataclass(frozen=True, kw_only=True)
class LintFigures(Section):
    """What the lint found in the emitted files. findings: the first of them, in words."""

    files: Count
    pragmas: Count
    errors: Count
    warnings: Count
    findings: Texts


@dataclass(frozen=True, kw_only=True)
class LayerVerdict(Section):
    """A layer's results beside golden, measured."""

    name: Text
    compared: Count
    mismatches: Count


@dataclass(frozen=True, kw_only=True)
class BoundedFifos(Section):
    """The run with all stages at once and FIFOs of the emitted depths."""

    frames: Count
    verdict: Text


@dataclass(frozen=True, kw_only=True)
class CsimFigures(Section):
    """What C-simulation showed, measured; nothing in it depends on the machine.

    iterations_measured: by loop or process, in a network of tasks by kernel and then by process.
    iterations_frames: of the run that records ports.
    """

    verdict: Literal["equal", "differs", "skipped"]
    compared: Count
    mismatches: Count
    max_abs_error: Number
    frames: Count | None = None
    layers: Annotated[tuple[LayerVerdict, ...], Rows] = ()
    iterations_measured: Annotated[Mapping[Text, Count | Counts], Field(max_length=MOST_ROWS)] | None = None
    iterations_frames: Count | None = None
    port_conflicts_measured: Count | None = None
    bounded_fifos: BoundedFifos | None = None

    @property
    def equal(self) -> int:
        """The results that equal golden."""
        return self.compared - self.mismatches


def csim_figures(verification: Verification | None) -> CsimFigures:
    """The section `csim`; None: it was skipped."""
    if verification is None:
        return CsimFigures(verdict="skipped", compared=0, mismatches=0, max_abs_error=0.0)
    comparison, recorded, bounded = (
        verification.comparison,
        verification.recorded_frames,
        verification.bounded_frames,
    )
    return CsimFigures(
        verdict=comparison.verdict,
        compared=comparison.compared,
        mismatches=comparison.mismatches,
        max_abs_error=comparison.max_abs_error,
        frames=verification.frames,
        layers=tuple(
            LayerVerdict(
                name=layer.name,
                compared=layer.comparison.compared,
                mismatches=layer.comparison.mismatches,
            )
            for layer in verification.layers
        ),
        iterations_measured=verification.iterations,
        iterations_frames=recorded,
        port_conflicts_measured=None if recorded is None else 0,
        bounded_fifos=None if bounded is None else BoundedFifos(frames=bounded, verdict="ran through"),
    )


def csim_text(csim: CsimFigures, *, compared: str, at_once: str) -> str:
    """The section of report.md on C-simulation.

    compared: what the layers are called; at_once: what the run with all stages at once has shown.
    """
    if csim.verdict == "skipped":
        return "Skipped."
    return (
        f"Measured: {csim.equal:,} of {csim.compared:,} results of {len(csim.layers)} {compared} and "
        f"{csim.frames} frames equal golden bit for bit. Every stage makes the modelled iterations and "
        f"reads and writes its streams in just those of its schedule; {at_once}."
    )


def lint_figures(linted: Linted, findings: Sequence[str]) -> LintFigures:
    """The section `lint`. findings: those to show."""
    return LintFigures(
        files=linted.files,
        pragmas=linted.pragmas,
        errors=linted.count(Severity.ERROR),
        warnings=linted.count(Severity.WARNING),
        findings=tuple(findings),
    )


def lint_text(lint: LintFigures) -> str:
    """What the lint found in the emitted code; errors end a build."""
    count = lint.warnings
    warnings = (
        f"{count} warning{'s' if count > 1 else ''}, the first of them below" if count else "no warning"
    )
    return (
        f"Pragma lint: {lint.pragmas:,} `#pragma HLS` in {lint.files} emitted files keep to "
        f"the vendor's option table and to the form of dataflow regions; {warnings}."
        + "".join(f"\n- {one}" for one in lint.findings)
    )
