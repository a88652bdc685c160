"""How near a network's outputs are to floating point, and what was asked of them, as reports have it."""

from __future__ import annotations

import math
from typing import Any

from hlsgen.model.accuracy import Accuracy, Chosen, Quality, Reached
from hlsgen.model.confidence import confidence_text, least_agreement
from hlsgen.model.precision import Precision


def quality_figures(reached: Reached | None, precision: Precision) -> dict[str, Any] | None:
    """None without calibration frames. Decibels are None where an output is equal; `summary` is in words."""
    if reached is None:
        return None
    asked = {
        "types": str(precision.default),
        "output_db": precision.output_db,
        "agreement": precision.agreement,
        "headroom": precision.headroom,
    }
    held_out = None if reached.held_out is None else _figures(reached.held_out)
    of_ranges = _figures(reached.of_ranges)
    return {
        "asked": asked,
        "chosen": None if reached.chosen is None else _chosen(reached.chosen),
        "held_out": held_out,
        "of_ranges": of_ranges,
        "summary": [*_summary(asked, held_out, of_ranges), *_choice(reached.chosen)],
    }


def _figures(quality: Quality) -> dict[str, Any]:
    return {
        "frames": quality.frames,
        "outputs": [_output(one, quality.frames) for one in quality.outputs],
        "scores": [{"name": one.name, "type": one.type, "snr_db": _decibels(one)} for one in quality.scores],
    }


def _output(one: Accuracy, frames: int) -> dict[str, Any]:
    found = {"name": one.name, "type": one.type, "snr_db": _decibels(one), "agreement": one.agreement}
    if one.agreement is not None:
        found["agreement_at_least"] = round(least_agreement(_agreeing(one.agreement, frames), frames), 4)
    return found


def _decibels(one: Accuracy) -> float | None:
    return round(one.snr_db, 2) if math.isfinite(one.snr_db) else None


def _agreeing(share: float, frames: int) -> int:
    """Whole frames; of maps of indices as many as the share of pixels comes to."""
    return math.floor(share * frames + 1e-9)


def _summary(asked: dict[str, Any], held_out: dict[str, Any] | None, of_ranges: dict[str, Any]) -> list[str]:
    lines = [_part(of_ranges, "that ranges were chosen from")]
    if held_out is None:
        lines.insert(0, "No frame was left that chose no range.")
    else:
        lines.insert(0, _part(held_out, "that chose no range"))
    if asked["types"] == "auto":
        wish = f"{asked['output_db']:g} dB and an agreement of {asked['agreement']:.0%}"
        given = asked["headroom"]
        lines.append(f"Asked for: {wish}" + ("." if given is None else f", with a headroom of {given:g}."))
    return lines


def _chosen(chosen: Chosen) -> dict[str, Any]:
    return {"target_db": round(chosen.target_db, 2), "headroom": dict(sorted(chosen.headrooms.items()))}


def _choice(chosen: Chosen | None) -> list[str]:
    if chosen is None:
        return []
    each = chosen.headrooms
    least, most = min(each.values()), max(each.values())
    text = f"Chosen: {chosen.target_db:.1f} dB for each tensor, with a headroom of {least:g}"
    if most > least:
        more = sum(one > least for one in each.values())
        text += f"; of up to {most:.1f} for {more} of {len(each)} in which frames differ more"
    return [f"{text}."]


def _part(part: dict[str, Any], which: str) -> str:
    outputs = "; ".join(_sentence(one, part["frames"]) for one in (*part["outputs"], *part["scores"]))
    return f"On {part['frames']} frames {which}: {outputs}."


def _sentence(one: dict[str, Any], frames: int) -> str:
    text = f"{one['name']} " + ("equal" if one["snr_db"] is None else f"{one['snr_db']:.1f} dB")
    agreement = one.get("agreement")
    return text if agreement is None else f"{text}, {confidence_text(_agreeing(agreement, frames), frames)}"
