"""What the search of widths found: its choice, the Pareto front and uniform widths side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hlsgen.api.design import Design
from hlsgen.base.short_repr import Brief, lines
from hlsgen.widths.layer_costs import Prices
from hlsgen.widths.losses import ROUNDING, Allowed, Loss
from hlsgen.widths.metric import Metric
from hlsgen.widths.parts import Part
from hlsgen.widths.table import Hardware
from hlsgen.widths.tensors import Variable


@dataclass(frozen=True, kw_only=True)
class Candidate(Brief):
    """Widths of all tensors; none: those of the design itself.

    metric, held_out: measured on the frames that choose and on others; loss: on those that choose.
    hardware: one instance with a frame every so many cycles as the search was for; price: its share of the
    board, summed over the kinds that count. gap: by which a cheaper choice for the same noise could at most
    be cheaper; None: it was not searched for.
    """

    name: str
    widths: Mapping[str, int]
    metric: float
    loss: Loss
    held_out: float
    hardware: Hardware
    price: float
    design: Design
    gap: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "widths": dict(self.widths),
            "metric": self.metric,
            "loss": round(self.loss.lost, 6),
            "loss_standard_error": round(self.loss.error, 6),
            "metric_held_out": self.held_out,
            "hardware": self.hardware.as_json(),
            "price": round(self.price, 6) if math.isfinite(self.price) else None,
            "gap": None if self.gap is None else round(self.gap, 6),
            "precision": precision_keys(self.widths) if self.widths else None,
        }

    @property
    def bits(self) -> str:
        """The widths in words: those of weights and of the rest, from the narrowest to the widest."""
        weights = [bits for name, bits in self.widths.items() if name.endswith(" weights")]
        others = [bits for name, bits in self.widths.items() if not name.endswith(" weights")]
        return f"{_span(weights)} / {_span(others)}"


def _span(bits: list[int]) -> str:
    if not bits:
        return "-"
    return str(bits[0]) if min(bits) == max(bits) else f"{min(bits)}-{max(bits)}"


def key_of(one: Variable) -> str:
    """A tensor in the names of `Candidate.widths`."""
    return f"input {one.name}" if one.part == "input" else str(one)


def precision_keys(widths: Mapping[str, int]) -> dict[str, Any]:
    """The widths as `precision` of a design file has them: by layer, what none is said of 16 bits wide."""
    of_weights = {bits for name, bits in widths.items() if name.endswith(" weights")}
    others = {bits for name, bits in widths.items() if not name.endswith(" weights")}
    if len(of_weights) == 1 and len(others) <= 1:
        (weights,) = of_weights
        (default,) = others or of_weights
        return {"default": default} if weights == default else {"default": default, "weights": weights}
    layers: dict[str, dict[str, int]] = {}
    found: dict[str, Any] = {"default": 16}
    for name, bits in widths.items():
        if name.startswith("input "):
            found["input"] = bits
        elif name.endswith(" weights"):
            layers.setdefault(name.removesuffix(" weights"), {})["weights"] = bits
        else:
            layers.setdefault(name, {})["output"] = bits
    return {**found, "layers": layers}


@dataclass(frozen=True, kw_only=True)
class Quantised(Brief):
    """The chosen candidate, the design's own types, the front in the order of prices, and uniform widths.

    frames, held_out: how many chose and how many judged. floating: the metric in floating point on each;
    allowed: what the metric may lose on the frames that choose. interval: cycles of a frame;
    0: the whole board is used, and a price is no share of it but the microseconds of a frame. parts: the
    frames that chose and those that judged; prices: by which hardware was judged.
    """

    design: Design
    metric: Metric
    frames: int
    held_out: int
    floating: tuple[float, float]
    allowed: Allowed
    least: str
    interval: int
    parts: tuple[Part, Part]
    prices: Prices
    chosen: Candidate
    own: Candidate
    front: tuple[Candidate, ...]
    uniform: tuple[Candidate, ...]
    solved: int
    runs: int

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from hlsgen.widths.notebook import quantised_card

        return quantised_card(self).html()

    @property
    def rows(self) -> list[Candidate]:
        """The chosen one, the design's own, then uniform widths, then the rest of the front."""
        others = [one for one in self.front if one is not self.chosen and one not in self.uniform]
        return [self.chosen, self.own, *(one for one in self.uniform if one is not self.chosen), *others]

    @property
    def asked(self) -> float:
        """The least metric that was to be kept on the frames that choose."""
        return self.floating[0] - self.allowed.loss

    @property
    def lost(self) -> float:
        """What the chosen widths lose of the metric on the held-out frames, against floating point."""
        return self.floating[1] - self.chosen.held_out

    @property
    def warnings(self) -> list[str]:
        """That frames which chose nothing lose more than was allowed, or that too few chose to be sure."""
        loss, most = self.chosen.loss, self.allowed.loss
        found = []
        if not loss.within(self.allowed):
            found.append(
                f"nothing keeps {self.metric.name} with {self._errors} to spare on {self.frames} frames: "
                f"what comes nearest is chosen, which loses {self._text(loss.lost)} and may lose "
                f"{self._text(loss.error)} more: give more frames, or a larger --loss"
            )
        if self.lost > most + ROUNDING:
            found.append(
                f"on the {self.held_out} held-out frames the chosen widths lose {self._text(self.lost)}, "
                f"more than the {self._text(most)} that were allowed where they are chosen: give more "
                "frames, a smaller --loss or a larger --sigma"
            )
        return found

    @property
    def heads(self) -> tuple[str, ...]:
        """Over `cells`."""
        metric = (self.metric.name, "held out")
        return ("", "weights / others", *metric, "LUT", "DSP", "BRAM18", self.price_name, "gap")

    @property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """`rows` as texts; * marks those on the front."""
        return tuple(self._cells(one) for one in self.rows)

    def _cells(self, one: Candidate) -> tuple[str, ...]:
        of = one.hardware
        figures = (f"{of.lut:,}", f"{of.dsp:,}", f"{of.bram18:,}", self.price_text(one.price))
        return (
            f"{'chosen: ' if one is self.chosen else ''}{one.name}{'*' if one in self.front else ''}",
            one.bits,
            self.metric.text(one.metric),
            self.metric.text(one.held_out),
            *(("none fits", "", "", "") if of.refusal else figures),
            "" if one.gap is None else f"{one.gap:.1%}",
        )

    def _text(self, lost: float) -> str:
        return f"{100 * lost:.3g} points" if self.metric.is_share else f"{lost:.3g}"

    @property
    def _errors(self) -> str:
        sigma = self.allowed.sigma
        return "a standard error" if sigma == 1 else f"{sigma:g} standard errors"

    @property
    def hardware_text(self) -> str:
        """What the hardware of all candidates has in common."""
        board = self.design.board.title
        if not self.interval:
            return f"the fastest on {board}, all instances together"
        return f"one instance on {board}, a frame every {self.interval:,} cycles"

    def price_text(self, price: float) -> str:
        """A candidate's price in words."""
        return f"{price:.2%}" if self.interval else f"{1e6 / price:,.0f}"

    @property
    def price_name(self) -> str:
        return "share" if self.interval else "frames/s"

    @property
    def headline(self) -> list[str]:
        metric = self.metric
        return [
            f"{self.design.name}: {metric.name}, chosen on {self.frames} frames, measured on {self.held_out} "
            f"others; {self.hardware_text}, modelled",
            f"floating point: {metric.text(self.floating[0])}, and {metric.text(self.floating[1])} on the "
            f"others; asked for: {metric.text(self.asked)} where it is chosen, with {self._errors} of the "
            "loss to spare",
            f"{self.solved} knapsacks solved, {self.runs} networks run"
            if self.solved
            else f"{self.runs} networks run",
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "design": self.design.name,
            "board": self.design.board.name,
            "clock_mhz": self.design.clock_mhz,
            "metric": self.metric.name,
            "frames": self.frames,
            "frames_held_out": self.held_out,
            "floating": {"metric": self.floating[0], "metric_held_out": self.floating[1]},
            "asked": self.asked,
            "sigma": self.allowed.sigma,
            "least": self.least,
            "interval_cycles": self.interval or None,
            "chosen": self.chosen.as_json(),
            "own": self.own.as_json(),
            "front": [one.as_json() for one in self.front],
            "uniform": [one.as_json() for one in self.uniform],
            "warnings": self.warnings,
            "solved": self.solved,
            "runs": self.runs,
        }

    def __repr__(self) -> str:
        text = self.metric.text
        shown = []
        for one in self.rows:
            of = one.hardware
            shown.append(
                f"{one.name}: weights / others {one.bits} bits, {text(one.metric)}, held out "
                f"{text(one.held_out)}, LUT {of.lut:,}, DSP {of.dsp:,}, BRAM18 {of.bram18:,}"
            )
        return lines(*self.headline, *shown, *self.warnings)
