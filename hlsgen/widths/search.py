"""The widths of every tensor with the least hardware that keeps the metric: `hlsgen quantise`.

Each tensor's noise at the outputs by its width is measured, and each layer priced by the widths of its data
and weights. For budgets of noise, 4 dB apart, the cheapest widths are chosen exactly, and the network with
them is run: what keeps the metric on the frames that choose, with a standard error to spare, is a candidate,
the cheapest the choice. Frames that are held out choose nothing; they judge what was chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress, silent
from hlsgen.designfile.constraints import NoFit
from hlsgen.loading.from_graph import calibrated, with_precision
from hlsgen.model.precision import Precision
from hlsgen.quantising.float_run import FloatRun
from hlsgen.quantising.value_ranges import ValueRanges
from hlsgen.search.board_limits import KINDS
from hlsgen.styles.layerwise import LayerwiseNetwork
from hlsgen.styles.mixed import MixedNetwork
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.styles.shared import SharedNetwork
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.widths.candidates import candidate, chosen_of, front_of
from hlsgen.widths.frames import judged_frames
from hlsgen.widths.knapsack import Noise, Picked, cheapest
from hlsgen.widths.layer_costs import LayerCost, Prices, layer_costs, prices_of
from hlsgen.widths.losses import Allowed, Loss
from hlsgen.widths.metric import Function
from hlsgen.widths.one_width import OneWidth
from hlsgen.widths.parts import Part, parts_of
from hlsgen.widths.quantised import Candidate, Quantised, key_of
from hlsgen.widths.rerun import answers_of
from hlsgen.widths.sensitivity import sensitivity
from hlsgen.widths.tensors import WIDEST, Typing, Variable, Widths, variables

WIDTHS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16)
UNIFORM = (16, 8, 6, 5, 4)
"""Uniform widths that the choice stands beside."""
ONE_WIDTH = (SharedNetwork, MixedNetwork, LayerwiseNetwork)
"""Styles whose layers share hardware, or are each as fast as they can: all have one width."""
LEAST = ("all", *KINDS)
"""What may be the least: the sum of all shares of the board, or one kind's."""
BUDGETS_DB = tuple(range(-2, 59, 4))
"""Signal to noise of the outputs that the knapsacks are solved for."""
REFINED = 3
"""Halvings of the step between the last budget that keeps the metric and the first that does not."""
BUILT = 3
"""Candidates that keep the metric, the cheapest first, whose hardware is made to choose among them."""
SHOWN = 8
"""The most points of the front whose hardware is made."""
MOST_SIGMA = 10


def quantise(
    design: Design,
    x: ArrayLike | Sequence[ArrayLike] | Path | None = None,
    labels: Any = None,
    *,
    metric: Function | str | None = None,
    loss: float = 0.01,
    sigma: float = 1.5,
    least: str = "all",
    widths: Sequence[int] = WIDTHS,
    uniform: Sequence[int] = UNIFORM,
    frames: int | None = None,
    progress: Progress = silent,
) -> Quantised:
    """The cheapest widths that lose no more than `loss` of the metric against floating point.

    x, labels, metric, frames: as of `hlsgen.accuracy`; without labels the metric is the share of answers of
    floating point. Every second frame chooses; the others are held out, but for those that ranges are chosen
    from. sigma: so many standard errors of the loss are to stay below `loss` too. least: the sum of the
    board's shares ("all"), or lut, ff, dsp, bram18 or uram alone, of one instance as fast as the design's
    own. On shared processors, in mixtures and as tasks one width for all weights and one for all other
    tensors is chosen, with the most frames a second on the board.

    Raises DesignError: no network in floating point, too few frames, a loss that nothing keeps.
    """
    style = design.given
    _check(style, least, widths, loss, sigma)
    assert isinstance(style, NetworkStyle)
    run = calibrated(style, progress)
    parts = parts_of(style, run, judged_frames(design, x, labels, metric, frames), progress)
    bits, allowed = sorted(set(widths)), Allowed(loss=loss, sigma=sigma)
    if not isinstance(style, StreamingNetwork):
        return OneWidth(design, style, run, parts, bits, allowed, progress).found(uniform)
    progress("choosing the hardware of the design's own types")
    design.choose(progress)
    interval = design.estimate().interval_cycles
    search = _Search(design, style, run, parts, bits, interval, least, allowed, progress)
    return search.found(uniform)


def _check(style: object, least: str, widths: Sequence[int], loss: float, sigma: float) -> None:
    able = isinstance(style, (StreamingNetwork, *ONE_WIDTH)) and style.reference is not None
    if not able or any(tensor.is_float for tensor in style.graph.tensors().values()):  # type: ignore[attr-defined]
        message = (
            "widths are searched for a network in floating point that is to be fixed point, which this is not"
        )
        fix = "a network without quantizers of its own, in style: dataflow, shared, mixed or tasks"
        raise DesignError(Problem(message=message, fix=fix))
    if least != "all" and not isinstance(style, StreamingNetwork):
        message = f"least is {least!r:.40}, and shared processors and tasks have the widths that are fastest"
        raise DesignError(Problem(message=message, fix="no --least; or style: dataflow"))
    problems = []
    if least not in LEAST:
        problems.append(Problem(message=f"least is {least!r:.40}", fix=f"one of {', '.join(LEAST)}"))
    if not widths or not all(isinstance(one, int) and 1 <= one <= WIDEST for one in widths):
        problems.append(
            Problem(message=f"widths are {widths!r:.80}", fix=f"whole numbers from 1 to {WIDEST}")
        )
    if not 0 <= loss < 1e9:
        problems.append(Problem(message=f"loss is {loss!r:.40}", fix="a number from 0, such as 0.01"))
    if not 0 <= sigma <= MOST_SIGMA:
        problems.append(Problem(message=f"sigma is {sigma!r:.40}", fix=f"a number from 0 to {MOST_SIGMA}"))
    if problems:
        raise DesignError(problems)


class _Search:
    def __init__(
        self,
        design: Design,
        style: StreamingNetwork,
        run: FloatRun,
        parts: tuple[Part, Part],
        widths: list[int],
        interval: int,
        least: str,
        allowed: Allowed,
        progress: Progress,
    ) -> None:
        self.design, self.style, self.run = design, style, run
        self.choosing, self.others = parts
        self.widths, self.interval, self.least, self.progress = widths, interval, least, progress
        self.allowed = allowed
        self.typing = Typing(
            reference=run.graph,
            own=style.precision,
            ranges=ValueRanges(run, style.precision.headroom),
            any_weights=style.constraints.weights.any_weights(run.graph),
        )
        self.variables = variables(self.typing)
        self.prices: Prices = prices_of(style.board, least)
        self.measured: dict[tuple[tuple[Variable, int], ...], Loss] = {}
        self.solved = 0

    def found(self, uniform: Sequence[int]) -> Quantised:
        part = self.choosing
        noise = sensitivity(self.typing, part.values, part.wanted, self.variables, self.widths, self.progress)
        try:
            costs = layer_costs(
                self.style,
                self.typing,
                self.variables,
                self.widths,
                self.interval,
                self.prices,
                self.progress,
            )
        except NoFit as failure:
            raise DesignError(Problem(message=f"{self.design.name}: {failure}", fix=failure.fix)) from None
        picked = self._picked(noise, costs)
        keeping = sorted(
            (one for one in picked if self._loss(one.widths).within(self.allowed)), key=lambda one: one.price
        )
        made = {
            id(one): self._candidate(self._name(one), one.widths, one.gap)
            for one in self._shown(picked, keeping)
        }
        even = [self._uniform(bits) for bits in uniform]
        own = self.style.precision
        chosen = self._chosen([*made.values(), *even], picked)
        front = front_of([*made.values(), *even])
        return Quantised(
            design=self.design,
            metric=part.losses.metric,
            frames=part.count,
            held_out=self.others.count,
            floating=(part.losses.floating, self.others.losses.floating),
            allowed=self.allowed,
            least=self.least,
            interval=self.interval,
            parts=(part, self.others),
            prices=self.prices,
            chosen=chosen,
            own=self._candidate(f"own: {own.default}", {}, None, own),
            front=tuple(front),
            uniform=tuple(even),
            solved=self.solved,
            runs=len(self.measured),
        )

    def _chosen(self, candidates: Sequence[Candidate], picked: Sequence[Picked]) -> Candidate:
        """As `chosen_of`. Raises DesignError: none keeps the metric."""
        found = chosen_of(candidates, self.allowed)
        if found is not None:
            return found
        of = self.choosing.losses
        best = of.floating - min(self._loss(one.widths).lost for one in picked)
        message = (
            f"no widths keep {of.metric.name} at {of.floating - self.allowed.loss:.4f} where they are "
            f"chosen: the best reach {best:.4f}"
        )
        raise DesignError(Problem(message=message, fix="a larger --loss, or wider --widths"))

    def _picked(self, noise: Noise, costs: Sequence[LayerCost]) -> list[Picked]:
        """The cheapest widths of every budget, the noisiest first, and between those that matter."""
        found: dict[float, Picked] = {}

        def solve(decibels: float) -> bool:
            """Whether what a budget affords keeps the metric."""
            self.progress(
                f"choosing widths for {decibels:.0f} dB at the outputs", len(found), len(BUDGETS_DB)
            )
            self.solved += 1
            one = cheapest(noise, costs, self.widths, 10 ** (-decibels / 10))
            if one is None:
                return False
            found[decibels] = one
            return self._loss(one.widths).within(self.allowed)

        keeps = {decibels: solve(decibels) for decibels in BUDGETS_DB}
        enough = min((decibels for decibels, fine in keeps.items() if fine), default=None)
        if enough is not None and enough > BUDGETS_DB[0]:
            low, high = enough - 4.0, float(enough)
            for _ in range(REFINED):
                middle = (low + high) / 2
                low, high = (low, middle) if solve(middle) else (middle, high)
        return [found[decibels] for decibels in sorted(found)]

    def _shown(self, picked: Sequence[Picked], keeping: Sequence[Picked]) -> list[Picked]:
        """Whose hardware is made: the cheapest that keep the metric, and a front's worth of the others."""
        best, seen = list(keeping[:BUILT]), -np.inf
        rising = []
        for one in sorted(picked, key=lambda one: one.price):
            value = -self._loss(one.widths).lost
            if value > seen:
                rising.append(one)
                seen = value
        step = max(1, -(-len(rising) // SHOWN))
        some = [*best, *rising[::step]]
        return list({tuple(sorted(one.widths.items())): one for one in some}.values())

    def _loss(self, widths: Widths) -> Loss:
        """What the metric loses on the frames that choose, measured once of all widths."""
        key = tuple(sorted(widths.items()))
        if key not in self.measured:
            graph = self.typing.graph(self.typing.precision(widths))
            outputs = answers_of(graph, self.choosing.values, self.progress)
            self.measured[key] = self.choosing.losses.of(outputs)
        return self.measured[key]

    def _name(self, one: Picked) -> str:
        return f"for {-10 * np.log10(one.noise):.0f} dB" if one.noise > 0 else "16 bits"

    def _uniform(self, bits: int) -> Candidate:
        widths = dict.fromkeys(self.variables, bits)
        return self._candidate(f"{bits} bits", widths, None, self.typing.uniform(bits, bits))

    def _candidate(
        self, name: str, widths: Widths, gap: float | None, precision: Precision | None = None
    ) -> Candidate:
        self.progress(f"{name}: making its hardware")
        style = with_precision(
            self.style, precision or self.typing.precision(widths), self.run, self.progress
        )
        assert isinstance(style, StreamingNetwork)
        named = {key_of(one): bits for one, bits in widths.items()}
        parts = self.choosing, self.others
        return candidate(name, named, style, parts, self.interval, self.prices, gap, self.progress)
