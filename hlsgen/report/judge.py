"""The section `judge`: the design's answers beside those of the framework that the model came from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from hlsgen.report.section import Any_, Count, Number, Rows, Section, Text
from hlsgen.report.tables import table

JUDGE_HEAD = ("output", "compared", "differ", "largest error", "dB", "same largest score")
TIE_HEAD = ("layer", "values", "of", "why")


@dataclass(frozen=True, kw_only=True)
class OutputAgreement(Section):
    """An output of the design beside the framework's, on the frames that both ran.

    differing: values that are further apart than float32 rounds. snr_db: signal to noise, the mean of the
    signal left out; None: no noise, or no signal. agreement: the share of frames with the same largest
    score; None: the output holds no scores.
    """

    name: Text
    compared: Count
    differing: Count
    largest_error: Number
    snr_db: Any_ | None = None
    agreement: Number | None = None

    @property
    def decibels(self) -> float:
        """`snr_db`: inf without noise, -inf without a signal."""
        if self.snr_db is not None:
            return float(self.snr_db)
        return -math.inf if self.largest_error else math.inf


@dataclass(frozen=True, kw_only=True)
class TieFigures(Section):
    """Values of a layer that the framework's float arithmetic rounds to the other side of a tie."""

    layer: Text
    values: Count
    compared: Count
    why: Text


@dataclass(frozen=True, kw_only=True)
class JudgeFigures(Section):
    """What the framework says of the design, measured.

    exact: every output equals the framework's, as far as float32 holds it. ties: outputs differ where the
    framework's float arithmetic decides ties, which `ties` names. agrees: number types were chosen for the
    network, which is read as the framework computes it. skipped: see `why`.

    by: the framework and its version. frames: what the outputs were compared on. read_frames: frames off the
    grid of the input's type on which the reading of the model was checked layer by layer, layers of them.
    """

    verdict: Literal["exact", "ties", "agrees", "skipped"]
    by: Text = ""
    why: Text = ""
    frames: Count = 0
    read_frames: Count = 0
    layers: Count = 0
    outputs: Annotated[tuple[OutputAgreement, ...], Rows] = ()
    ties: Annotated[tuple[TieFigures, ...], Rows] = ()


def skipped(why: str) -> JudgeFigures:
    """The section of a design that no framework has judged."""
    return JudgeFigures(verdict="skipped", why=why)


def judge_line(found: JudgeFigures) -> str:
    """The section in one line, as it is printed beside the line on golden."""
    if found.verdict == "skipped":
        return f"not judged by the framework: {found.why}"
    equal = sum(one.compared - one.differing for one in found.outputs)
    compared = sum(one.compared for one in found.outputs)
    plural = "" if found.frames == 1 else "s"
    on = f"{found.frames} frame{plural}"
    if found.verdict == "exact":
        return f"{found.by}: {equal:,} of {compared:,} outputs of {on} equal the framework's own"
    if found.verdict == "ties":
        values = sum(one.values for one in found.ties)
        named = ", ".join(one.layer for one in found.ties[:3]) + (", ..." if len(found.ties) > 3 else "")
        return (
            f"{found.by}: {equal:,} of {compared:,} outputs of {on} equal the framework's own; the others "
            f"follow from {values:,} ties that its float32 rounds to the other side, in {named}"
        )
    worst = min(found.outputs, key=lambda one: one.decibels)
    answers = _answers(worst, found.frames)
    return (
        f"{found.by}: {on}, largest error {max(one.largest_error for one in found.outputs):.4g}, "
        f"{_db(worst, ' dB')}{answers}; {found.layers} layers are read as the framework computes them"
    )


def judge_text(found: JudgeFigures | None) -> str:
    """A section of report.md; empty in reports of before there was one."""
    if found is None:
        return ""
    line = judge_line(found)
    text = f"## Against the framework\n\nMeasured: {line}."
    if found.outputs:
        text += "\n\n" + table(JUDGE_HEAD, output_rows(found.outputs))
    return text + ("\n\n" + table(TIE_HEAD, tie_rows(found.ties)) if found.ties else "")


def output_rows(outputs: Sequence[OutputAgreement]) -> list[tuple[str, ...]]:
    return [
        (
            one.name,
            f"{one.compared:,}",
            f"{one.differing:,}",
            f"{one.largest_error:.4g}",
            _db(one),
            "" if one.agreement is None else f"{one.agreement:.0%}",
        )
        for one in outputs
    ]


def tie_rows(ties: Sequence[TieFigures]) -> list[tuple[str, ...]]:
    return [(one.layer, f"{one.values:,}", f"{one.compared:,}", one.why) for one in ties]


def _db(one: OutputAgreement, unit: str = "") -> str:
    if math.isinf(one.decibels):
        return "no signal" if one.decibels < 0 else "no noise"
    return f"{one.decibels:.1f}{unit}"


def _answers(one: OutputAgreement, frames: int) -> str:
    if one.agreement is None:
        return ""
    return f", the same largest score in {round(one.agreement * frames)} of {frames}"
