"""What may be said of a network's answers after so many frames, and whether it is what was asked for."""

from __future__ import annotations

import math

from hlsgen.model.accuracy import Accuracy, Quality, Reached
from hlsgen.model.precision import Precision

CONFIDENCE = 0.95
FEWEST_FRAMES = 8
"""Held out: of fewer nothing can be said."""
NOISY_DB = 20.0
"""An output with less is worth a word, whatever was asked for: noise of a tenth of its size."""
LOST_DB = 10.0
"""Of what changes from frame to frame: with less, a third of an output's changes is noise."""


def least_agreement(agreeing: int, frames: int) -> float:
    """The least share of all frames that agrees, with `CONFIDENCE`, if `agreeing` of `frames` do.

    The one-sided bound of Clopper and Pearson (1934); if all agree, the rule of three.
    """
    if agreeing == 0:
        return 0.0
    if agreeing == frames:
        return float((1 - CONFIDENCE) ** (1 / frames))
    from scipy.special import betaincinv  # its import takes a sixth of a second

    return float(betaincinv(agreeing, frames - agreeing + 1, 1 - CONFIDENCE))


def confidence_text(agreeing: int, frames: int) -> str:
    """32 of 32 frames agree (at least 91 % of all, with 95% confidence)"""
    share = math.floor(100 * least_agreement(agreeing, frames))
    return (
        f"{agreeing} of {frames} frames agree (at least {share} % of all, with {CONFIDENCE:.0%} confidence)"
    )


def doubts(reached: Reached, precision: Precision) -> list[str]:
    """Why the outputs may not be what was asked for; empty: they are."""
    found = [_noise(one, reached, precision) for one in (*reached.judged.outputs, *reached.judged.scores)]
    found += [_answers(one, reached.judged, precision) for one in reached.judged.outputs]
    if precision.by_frames:
        found.append(_few_frames(reached, precision))
    return [text for text in found if text]


def _noise(one: Accuracy, reached: Reached, precision: Precision) -> str:
    asked = precision.output_db if precision.default == "auto" else 0.0
    if one.chooses or one.snr_db >= max(asked, NOISY_DB):
        return "" if one.chooses else _changes(one)
    text = f"{one.name} has only {one.snr_db:.1f} dB of signal to noise against the floating-point network"
    if asked > one.snr_db:
        text += f", less than the {asked:g} of precision: output_db"
    ranges = {other.name: other for other in (*reached.of_ranges.outputs, *reached.of_ranges.scores)}
    same = ranges[one.name].snr_db
    if reached.held_out is not None and same > one.snr_db + 6:
        other = f"{same:.1f} dB on the frames that ranges were chosen from"
        return f"{text}; {other}: more of them, or a larger precision: headroom, may be needed"
    more = ", or a larger precision: target_db," if precision.default == "auto" else ""
    return f"{text}; wider types{more} may be needed"


def _changes(one: Accuracy) -> str:
    if one.variation_db is None or one.variation_db >= LOST_DB:
        return ""
    return (
        f"{one.name} has {one.snr_db:.1f} dB of signal to noise, but only {one.variation_db:.1f} dB of what "
        "changes from frame to frame: most of it is the same for all frames; a larger precision: output_db "
        "may be needed"
    )


def _answers(one: Accuracy, judged: Quality, precision: Precision) -> str:
    if precision.default != "auto" or one.agreement is None or one.agreement >= precision.agreement:
        return ""
    share = f"{one.agreement:.1%} of {judged.frames} frames"
    asked = f"less than the {precision.agreement:.1%} of precision: agreement"
    return (
        f"{one.name} gives the floating-point network's answer in only {share}, {asked}; a larger precision: "
        "output_db may be needed, if the others are no ties"
    )


def _few_frames(reached: Reached, precision: Precision) -> str:
    held = 0 if reached.held_out is None else reached.held_out.frames
    if held >= FEWEST_FRAMES:
        return ""
    few = f"{held} frame{'s' * (held > 1)} that did not choose them, too few"
    said = few if held else "the frame that chose them"
    if reached.given >= 2 * FEWEST_FRAMES:
        why = f"of the {reached.given:,} given no more are run, as the network is so large"
        return f"precision {precision.default}: the types could only be judged on {said}; {why}"
    fix = f"give {2 * FEWEST_FRAMES} frames or more, of which every second one judges"
    return f"precision {precision.default}: the types could only be judged on {said}; {fix}"
