"""How near a network's outputs are to floating point, and what was asked of them, as reports have it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from hlsgen.designfile.validation import Entries
from hlsgen.model.accuracy import Accuracy, Chosen, Reached
from hlsgen.model.accuracy import Quality as MeasuredQuality
from hlsgen.model.confidence import confidence_text, least_agreement
from hlsgen.model.precision import Precision
from hlsgen.report.section import MOST_ROWS, Any_, Count, Number, Rows, Section, Text, Texts

SAME_DB = 3.0
"""Signal to noise of what changes over frames is said where it is lower by more than this."""


@dataclass(frozen=True, kw_only=True)
class ScoreAccuracy(Section):
    """A tensor that an output of probabilities or indices is made of, its signal to noise measured.

    snr_db: None where nothing is lost.
    """

    name: Text
    type: Text
    snr_db: Any_ | None


@dataclass(frozen=True, kw_only=True)
class TensorAccuracy(ScoreAccuracy):
    """A layer or an output. agreement: of an output of scores or indices; None: of another."""

    agreement: Number | None


@dataclass(frozen=True, kw_only=True)
class OutputAccuracy(TensorAccuracy):
    """An output. agreement_at_least: what this number of frames shows. snr_db_by_frame: of the worst and the
    best frame. variation_db: where only what changes from frame to frame is signal.
    """

    agreement_at_least: Number | None = None
    snr_db_by_frame: Annotated[tuple[Any_, ...], Entries(0, 2)] = ()
    variation_db: Any_ | None = None


@dataclass(frozen=True, kw_only=True)
class Asked(Section):
    """What was asked of number types."""

    types: Text
    output_db: Any_
    agreement: Number
    headroom: Any_ | None


@dataclass(frozen=True, kw_only=True)
class ChosenTypes(Section):
    """What was chosen by frames: decibels for each tensor (null: widths are given), headrooms by name."""

    target_db: Any_ | None
    headroom: Annotated[Mapping[Text, Any_], Field(max_length=MOST_ROWS)]


@dataclass(frozen=True, kw_only=True)
class FramesAccuracy(Section):
    """The outputs on so many frames, measured."""

    frames: Count
    outputs: Annotated[tuple[OutputAccuracy, ...], Rows]
    scores: Annotated[tuple[ScoreAccuracy, ...], Rows]


@dataclass(frozen=True, kw_only=True)
class Quality(Section):
    """The nearness of the outputs to floating point, on frames that chose no range and on others."""

    asked: Asked
    chosen: ChosenTypes | None
    held_out: FramesAccuracy | None
    of_ranges: FramesAccuracy
    given_frames: Count = 0
    summary: Texts


def quantisation_figures(accuracy: Sequence[Accuracy]) -> tuple[TensorAccuracy, ...]:
    """The section `quantisation`: signal to noise of the outputs of layers and network."""
    return tuple(
        TensorAccuracy(name=one.name, type=one.type, snr_db=_decibels(one), agreement=one.agreement)
        for one in accuracy
    )


def quality_figures(reached: Reached | None, precision: Precision) -> Quality | None:
    """The section `quality`; None without calibration frames."""
    if reached is None:
        return None
    asked = Asked(
        types=str(precision.default),
        output_db=precision.output_db,
        agreement=precision.agreement,
        headroom=precision.headroom,
    )
    held_out = None if reached.held_out is None else _figures(reached.held_out)
    of_ranges = _figures(reached.of_ranges)
    return Quality(
        asked=asked,
        chosen=None if reached.chosen is None else _chosen(reached.chosen),
        held_out=held_out,
        of_ranges=of_ranges,
        given_frames=reached.given,
        summary=(*_summary(asked, held_out, of_ranges, reached.given), *_choice(reached.chosen)),
    )


def _figures(quality: MeasuredQuality) -> FramesAccuracy:
    return FramesAccuracy(
        frames=quality.frames,
        outputs=tuple(_output(one, quality.frames) for one in quality.outputs),
        scores=tuple(
            ScoreAccuracy(name=one.name, type=one.type, snr_db=_decibels(one)) for one in quality.scores
        ),
    )


def _output(one: Accuracy, frames: int) -> OutputAccuracy:
    least = None
    if one.agreement is not None:
        least = round(least_agreement(_agreeing(one.agreement, frames), frames), 4)
    return OutputAccuracy(
        name=one.name,
        type=one.type,
        snr_db=_decibels(one),
        agreement=one.agreement,
        agreement_at_least=least,
        snr_db_by_frame=_finite_pair(one.by_frame),
        variation_db=_finite(one.variation_db),
    )


def _finite_pair(pair: tuple[float, float] | None) -> tuple[float, ...]:
    return () if pair is None or not all(map(math.isfinite, pair)) else tuple(round(one, 2) for one in pair)


def _finite(snr_db: float | None) -> float | None:
    return None if snr_db is None or not math.isfinite(snr_db) else round(snr_db, 2)


def _decibels(one: Accuracy) -> float | None:
    """Signal to noise; None where the tensor is equal."""
    return round(one.snr_db, 2) if math.isfinite(one.snr_db) else None


def _agreeing(share: float, frames: int) -> int:
    """Whole frames; of maps of indices as many as the share of pixels comes to."""
    return math.floor(share * frames + 1e-9)


def _summary(
    asked: Asked, held_out: FramesAccuracy | None, of_ranges: FramesAccuracy, given: int
) -> list[str]:
    lines = [_part(of_ranges, "that ranges were chosen from")]
    if held_out is None:
        lines.insert(0, "No frame was left that chose no range.")
    else:
        lines.insert(0, _part(held_out, f"of {given:,} that chose no range"))
    if asked.types == "auto":
        wish = f"{asked.output_db:g} dB and an agreement of {asked.agreement:.0%}"
        room = "" if asked.headroom is None else f", with a headroom of {asked.headroom:g}"
        lines.append(f"Asked for: {wish}{room}.")
    elif asked.types.startswith("int"):
        lines.append(f"Asked for: {asked.types.removeprefix('int')} bits for each tensor.")
    return lines


def _chosen(chosen: Chosen) -> ChosenTypes:
    target_db = None if chosen.target_db is None else round(chosen.target_db, 2)
    return ChosenTypes(target_db=target_db, headroom=dict(sorted(chosen.headrooms.items())))


def _choice(chosen: Chosen | None) -> list[str]:
    if chosen is None:
        return []
    each = chosen.headrooms
    least, most = min(each.values()), max(each.values())
    what = "ranges" if chosen.target_db is None else f"{chosen.target_db:.1f} dB for each tensor,"
    text = f"Chosen: {what} with a headroom of {least:g}"
    if most > least:
        more = sum(one > least for one in each.values())
        text += f"; of up to {most:.1f} for {more} of {len(each)} in which frames differ more"
    return [f"{text}."]


def _part(part: FramesAccuracy, which: str) -> str:
    said = [_output_text(one, part.frames) for one in part.outputs]
    said += [_decibel_text(one) for one in part.scores]
    return f"On {part.frames} frames {which}: {'; '.join(said)}."


def _output_text(one: OutputAccuracy, frames: int) -> str:
    text = _decibel_text(one)
    if one.agreement is None:
        return text
    return f"{text}, {confidence_text(_agreeing(one.agreement, frames), frames)}"


def _decibel_text(one: ScoreAccuracy) -> str:
    if one.snr_db is None:
        return f"{one.name} equal"
    text = f"{one.name} {one.snr_db:.1f} dB"
    if not isinstance(one, OutputAccuracy) or not one.snr_db_by_frame:
        return text
    low, high = one.snr_db_by_frame
    more = [f"{low:.1f} to {high:.1f} by frame"] if high > low else []
    if one.variation_db is not None and one.variation_db < one.snr_db - SAME_DB:
        more.append(f"{one.variation_db:.1f} of what changes from frame to frame")
    return f"{text} ({', '.join(more)})" if more else text
