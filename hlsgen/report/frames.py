"""What the frames to simulate say of a design's number types: where types come from, and what is clipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from hlsgen.model.calibration import Calibration
from hlsgen.model.clipping import Clipped
from hlsgen.report.section import Count, Flag, Number, Rows, Section, Text, Texts
from hlsgen.report.tables import table

CLIPPING_HEADS = ("tensor", "type", "clipped", "furthest beyond", "whose type")


@dataclass(frozen=True, kw_only=True)
class CalibrationFigures(Section):
    """The frames that number types come from."""

    source: Text
    frames: Count
    given: Count
    stand_in: Flag
    chooses_types: Flag


@dataclass(frozen=True, kw_only=True)
class ClippedFigures(Section):
    """Values of a tensor that left the range of its type on the frames that were simulated, measured."""

    name: Text
    part: Text
    type: Text
    values: Count
    clipped: Count
    share: Number
    furthest: Number
    own: Flag


@dataclass(frozen=True, kw_only=True)
class FrameFigures(Section):
    """What the frames to simulate say of the number types."""

    calibration: CalibrationFigures | None
    clipping: Annotated[tuple[ClippedFigures, ...], Rows]
    warnings: Texts


def frame_figures(
    calibration: Calibration | None, clipping: Sequence[Clipped], warnings: Sequence[str]
) -> FrameFigures:
    """The sections `calibration`, `clipping` and `warnings`; nothing in them depends on the machine."""
    return FrameFigures(
        calibration=None
        if calibration is None
        else CalibrationFigures(
            source=calibration.source,
            frames=calibration.frames,
            given=calibration.given,
            stand_in=calibration.stand_in,
            chooses_types=calibration.chooses,
        ),
        clipping=tuple(_clipped(one) for one in clipping),
        warnings=tuple(warnings),
    )


def _clipped(one: Clipped) -> ClippedFigures:
    found = one.excess
    return ClippedFigures(
        name=one.name,
        part=one.part,
        type=str(found.type),
        values=found.values,
        clipped=found.outside,
        share=round(one.share, 6),
        furthest=found.furthest * found.type.resolution,
        own=one.own,
    )


def warning_lines(warnings: Sequence[str]) -> str:
    """The warnings of a build in Markdown."""
    return "\n".join(f"**Warning:** {warning}" for warning in warnings)


def calibration_line(found: CalibrationFigures | None) -> str:
    """The line on where number types come from; empty of a network that brings its own."""
    if found is None:
        return ""
    one = Calibration(
        source=found.source, frames=found.frames, given=found.given, chooses=found.chooses_types
    )
    return str(one)


def clipping_line(found: Sequence[ClippedFigures]) -> str:
    """The line on what is clipped of the frames that were simulated: inputs, and how many other tensors.

    What the model's own quantisers remove is no clipping: a quantized_relu is meant to remove it.
    """
    if not found:
        return ""
    chosen = [one for one in found if not one.own]
    parts = [f"{one.share:.2%} of input {one.name}" for one in chosen if one.part == "input" and one.clipped]
    others = [one for one in chosen if one.part != "input"]
    clipped = [one for one in others if one.clipped]
    if clipped:
        most = max(clipped, key=lambda one: one.share)
        count = f"{len(clipped)} of {len(others)} other tensors"
        parts.append(f"values of {count}, up to {most.share:.2%} ({most.name})")
    text = "clipped on these frames: " + (", ".join(parts) or "nothing")
    meant = sum(one.own and one.clipped > 0 for one in found)
    if meant:
        text += f"; the model's own quantisers limit {meant} tensor{'s' if meant > 1 else ''}, as it asks"
    return text


def clipping_text(found: Sequence[ClippedFigures]) -> str:
    """A section of report.md; empty of a design in floating point."""
    if not found:
        return ""
    rows = [(f"`{name}`", *rest) for name, *rest in (clipping_cells(one) for one in found if one.clipped)]
    text = "## Clipped values\n\nMeasured on the frames that were simulated: values that left the range of "
    text += f"their type; {clipping_line(found)}."
    return text + ("\n\n" + table(CLIPPING_HEADS, rows) if rows else "")


def clipping_cells(one: ClippedFigures) -> tuple[str, ...]:
    """A row of the table of clipped values."""
    part = "" if one.part == "result" else f", {one.part}"
    share = f"{one.share:.2%}" if one.share >= 5e-5 else f"{one.share:.1g}"
    meant = "the model's own" if one.own else "chosen or given"
    return (
        f"{one.name}{part}",
        one.type,
        f"{one.clipped:,} ({share})",
        f"{one.furthest:.4g}",
        meant,
    )
