"""The widths of processors that all layers share, or of kernels one after the other: one for all weights, one
for all other tensors.

Wider types never lose more of a metric, but for chance: for each width of weights the narrowest one of
activations that keeps it is found by going along the border of what keeps it, from wide weights to narrow
ones, in no more runs than there are widths of both together. The hardware of each corner of that border is
then made, and the fastest is the choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress
from hlsgen.loading.from_graph import with_precision
from hlsgen.model.precision import Precision
from hlsgen.quantising.float_run import FloatRun
from hlsgen.quantising.value_ranges import ValueRanges
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.widths.candidates import chosen_of, front_of
from hlsgen.widths.layer_costs import prices_of
from hlsgen.widths.losses import Allowed, Loss
from hlsgen.widths.parts import Part
from hlsgen.widths.quantised import Candidate, Quantised, key_of
from hlsgen.widths.rerun import answers_of
from hlsgen.widths.table import Hardware
from hlsgen.widths.tensors import Typing, variables

Pair = tuple[int, int]
"""Bits of activations, and of weights."""


class OneWidth:
    """The search for `design`, whose hardware is as fast as the board allows; price: microseconds a frame."""

    def __init__(
        self,
        design: Design,
        style: NetworkStyle[Any],
        run: FloatRun,
        parts: tuple[Part, Part],
        widths: Sequence[int],
        allowed: Allowed,
        progress: Progress,
    ) -> None:
        self.design, self.style, self.run = design, style, run
        self.choosing, self.others = parts
        self.widths, self.allowed, self.progress = widths, allowed, progress
        self.typing = Typing(
            reference=run.graph,
            own=style.precision,
            ranges=ValueRanges(run, style.precision.headroom),
            any_weights=style.constraints.weights.any_weights(run.graph),
        )
        self.variables = variables(self.typing)
        self.measured: dict[Pair, Loss] = {}

    def found(self, uniform: Sequence[int]) -> Quantised:
        """The choice beside those widths for all. Raises DesignError: nothing keeps the metric."""
        barely = replace(self.allowed, sigma=0.0)
        corners = list(self._corners(self.allowed)) or list(self._corners(barely))
        made = {pair: self._candidate(*pair) for pair in corners}
        even = [made.get((bits, bits)) or self._candidate(bits, bits) for bits in uniform]
        own, of = self.style.precision, self.choosing.losses
        every = list({id(one): one for one in (*made.values(), *even)}.values())
        chosen = chosen_of(every, self.allowed)
        if chosen is None:
            best = of.floating - min(loss.lost for loss in self.measured.values())
            message = (
                f"no widths keep {of.metric.name} at {of.floating - self.allowed.loss:.4f} where they are "
                f"chosen: the best reach {best:.4f}"
            )
            raise DesignError(Problem(message=message, fix="a larger --loss, or wider --widths"))
        return Quantised(
            design=self.design,
            metric=self.choosing.losses.metric,
            frames=self.choosing.count,
            held_out=self.others.count,
            floating=(self.choosing.losses.floating, self.others.losses.floating),
            allowed=self.allowed,
            least="time",
            interval=0,
            parts=(self.choosing, self.others),
            prices=prices_of(self.style.board, "all"),
            chosen=chosen,
            own=self._made(f"own: {own.default}", {}, own),
            front=tuple(front_of(every)),
            uniform=tuple(even),
            solved=0,
            runs=len(self.measured),
        )

    def _corners(self, allowed: Allowed) -> Iterator[Pair]:
        """The narrowest activations for each width of weights, as far as any keep the metric."""
        at = 0
        for weights in reversed(self.widths):
            while at < len(self.widths) and not self._loss(self.widths[at], weights).within(allowed):
                at += 1
            if at == len(self.widths):
                return
            yield self.widths[at], weights

    def _loss(self, activations: int, weights: int) -> Loss:
        pair = activations, weights
        if pair not in self.measured:
            self.progress(f"running weights of {weights} bits and {activations} elsewhere")
            graph = self.typing.graph(self.typing.uniform(activations, weights))
            self.measured[pair] = self.choosing.losses.of(answers_of(graph, self.choosing.values))
        return self.measured[pair]

    def _candidate(self, activations: int, weights: int) -> Candidate:
        widths = {key_of(one): weights if one.part == "weights" else activations for one in self.variables}
        name = f"{weights} bits" if activations == weights else f"{weights} and {activations} bits"
        return self._made(name, widths, self.typing.uniform(activations, weights))

    def _made(self, name: str, widths: dict[str, int], precision: Precision) -> Candidate:
        self.progress(f"{name}: making its hardware")
        style = with_precision(self.style, precision, self.run, self.progress)
        losses = [
            part.losses.of(answers_of(style.graph, part.values, self.progress))
            for part in (self.choosing, self.others)
        ]
        design = Design(style)
        hardware, price = _hardware(design, self.progress)
        return Candidate(
            name=name,
            widths=widths,
            metric=self.choosing.losses.floating - losses[0].lost,
            loss=losses[0],
            held_out=self.others.losses.floating - losses[1].lost,
            hardware=hardware,
            price=price,
            design=design,
        )


def _hardware(design: Design, progress: Progress) -> tuple[Hardware, float]:
    """All instances on the board, and microseconds a frame of them together."""
    try:
        design.choose(progress)
        found = design.estimate()
    except DesignError as error:
        return Hardware(refusal=error.problems[0].message.splitlines()[0]), float("inf")
    used = found.used
    return Hardware(
        frames_per_s=round(found.frames_per_s, 3),
        instances=found.instances,
        lut=used.lut,
        dsp=used.dsp,
        bram18=used.bram18,
        uram=used.uram,
    ), 1e6 / found.frames_per_s
