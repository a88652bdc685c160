"""What training found: candidates before and after, both fronts, and the choice among the trained ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlsgen.base.short_repr import Brief, lines
from hlsgen.model.precision import Precision
from hlsgen.training.backend import OwnModel
from hlsgen.widths.quantised import Candidate, Quantised


def type_keys(types: Precision) -> dict[str, Any]:
    """Types as `precision` of a design file has them."""
    found: dict[str, Any] = {"default": _key(types.default)}
    for name in ("weights", "input", "accumulator", "headroom"):
        value = getattr(types, name)
        if value is not None:
            found[name] = value if name == "headroom" else _key(value)
    layers = {
        name: {
            part: _key(type_)
            for part in ("weights", "bias", "output")
            if (type_ := getattr(one, part)) is not None
        }
        for name, one in types.layers.items()
    }
    return {**found, "layers": layers}


def _key(type_: object) -> str | int:
    width = getattr(type_, "width", None)
    return width if str(type_) == f"int{width}" and width is not None else str(type_)


@dataclass(frozen=True, kw_only=True)
class TrainedCandidate(Brief):
    """A candidate with the weights that it was found with and with trained ones; its types are the same.

    types: those of every tensor, which no calibration frames choose any more. state: the framework's own
    weights by name. losses: of each epoch. compared: outputs of the trained module that equal golden's.
    better: whether training has raised the metric where it is chosen, or kept it; else the weights are those
    of before.
    """

    before: Candidate
    after: Candidate
    types: Precision
    state: Mapping[str, Any]
    losses: tuple[float, ...]
    seconds: float
    compared: int
    better: bool

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.before.name,
            "before": self.before.as_json(),
            "after": self.after.as_json(),
            "types": type_keys(self.types),
            "losses": [round(one, 6) for one in self.losses],
            "seconds": round(self.seconds, 2),
            "outputs_equal_to_golden": self.compared,
            "weights": "trained" if self.better else "as before: training lowered the metric",
        }


@dataclass(frozen=True, kw_only=True)
class TrainedFront(Brief):
    """found: the search, with its front before. rows: what was trained, the cheapest first. front: the Pareto
    front after, with what was not trained. frames: how many trained, dropped: how many were left out because
    they choose or judge. model: the user's own, which the states are of.
    """

    found: Quantised
    recipe: Path
    rows: tuple[TrainedCandidate, ...]
    front: tuple[Candidate, ...]
    chosen: TrainedCandidate
    frames: int
    dropped: int
    model: OwnModel

    @property
    def notes(self) -> list[str]:
        """What the user should know of the frames."""
        if not self.dropped:
            return []
        return [
            f"{self.dropped} frames of {self.recipe.name} equal frames that choose or judge the widths: "
            "they were left out of the training"
        ]

    @property
    def warnings(self) -> list[str]:
        """That held-out frames lose more than was asked for, and what training did not better."""
        found, text = self.found, self.found.metric.text
        lost, allowed = found.floating[1] - self.chosen.after.held_out, found.floating[0] - found.asked
        said = []
        if lost > allowed + 1e-12:
            said.append(
                f"on the {found.held_out} held-out frames the trained choice has "
                f"{text(self.chosen.after.held_out)} (floating point {text(found.floating[1])}), less than "
                "was allowed where it is chosen: give more frames, or a smaller --loss"
            )
        worse = [one.before.name for one in self.rows if not one.better]
        if worse:
            said.append(
                f"training lowered the metric of {', '.join(worse)}, whose weights stay: "
                "more epochs, or another learning_rate in the recipe"
            )
        return said

    @property
    def headline(self) -> list[str]:
        found, text, one = self.found, self.found.metric.text, self.chosen
        before = f"{text(one.before.metric)}, {text(one.before.held_out)}"
        seconds = sum(row.seconds for row in self.rows)
        return [
            f"{found.design.name}: {len(self.rows)} of the networks trained on {self.frames} frames of "
            f"{self.recipe.name}, {seconds:.0f} s measured",
            f"chosen after training: {one.before.name}, {found.metric.name} {text(one.after.metric)}, held "
            f"out {text(one.after.held_out)} (before: {before})",
            f"golden equals the trained module in all {one.compared:,} outputs of these frames",
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "recipe": self.recipe.name,
            "frames": self.frames,
            "frames_dropped": self.dropped,
            "chosen": self.chosen.as_json(),
            "rows": [one.as_json() for one in self.rows],
            "front_before": [one.as_json() for one in self.found.front],
            "front_after": [one.as_json() for one in self.front],
            "warnings": self.warnings,
        }

    def __repr__(self) -> str:
        text = self.found.metric.text
        shown = [
            f"{one.before.name}: weights / others {one.before.bits} bits, {text(one.before.metric)} -> "
            f"{text(one.after.metric)}, held out {text(one.before.held_out)} -> {text(one.after.held_out)}, "
            f"LUT {one.after.hardware.lut:,}, DSP {one.after.hardware.dsp:,}"
            for one in self.rows
        ]
        return lines(*self.headline, *shown, *self.notes, *self.warnings)
