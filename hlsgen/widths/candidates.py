"""A network with its types as a candidate: its answers by golden, one instance of its hardware, its price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError
from hlsgen.base.progress import Progress, silent
from hlsgen.cost.resources import Resources
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.widths.layer_costs import Prices, price
from hlsgen.widths.losses import Allowed
from hlsgen.widths.parts import Part
from hlsgen.widths.quantised import Candidate
from hlsgen.widths.rerun import answers_of
from hlsgen.widths.table import Hardware


def candidate(
    name: str,
    widths: Mapping[str, int],
    style: StreamingNetwork,
    parts: tuple[Part, Part],
    interval: int,
    prices: Prices,
    gap: float | None = None,
    progress: Progress = silent,
) -> Candidate:
    """The candidate that `style` is: one instance of it gives a frame every `interval` cycles."""
    losses = [part.losses.of(answers_of(style.graph, part.values, progress)) for part in parts]
    one_instance = replace(style.constraints, instances=1, target_interval=interval)
    alone = Design(replace(style, constraints=one_instance))
    try:
        estimate = alone.estimate()
    except DesignError as error:
        hardware, cost = Hardware(refusal=error.problems[0].message.splitlines()[0]), float("inf")
    else:
        used: Resources = estimate.used
        cost = price(used, prices)
        hardware = Hardware(
            frames_per_s=round(estimate.frames_per_s, 3),
            instances=1,
            lut=used.lut,
            dsp=used.dsp,
            bram18=used.bram18,
            uram=used.uram,
        )
    return Candidate(
        name=name,
        widths=dict(widths),
        metric=parts[0].losses.floating - losses[0].lost,
        loss=losses[0],
        held_out=parts[1].losses.floating - losses[1].lost,
        hardware=hardware,
        price=cost,
        design=Design(style),
        gap=gap,
    )


def chosen_of(candidates: Sequence[Candidate], allowed: Allowed) -> Candidate | None:
    """The cheapest that keeps the metric with standard errors to spare; where none does, of those that keep
    it the one with the most to spare; None: none keeps it.
    """
    built = [one for one in candidates if not one.hardware.refusal]
    able = [one for one in built if one.loss.within(allowed)]
    if able:
        return min(able, key=lambda one: (one.price, one.loss.lost))
    barely = replace(allowed, sigma=0.0)
    able = [one for one in built if one.loss.within(barely)]
    if able:
        return min(able, key=lambda one: (one.loss.lost + allowed.sigma * one.loss.error, one.price))
    return None


def front_of(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that no other one beats in price and in the metric of the frames that choose, cheapest first."""
    found: list[Candidate] = []
    for one in sorted(candidates, key=lambda one: (one.price, -one.metric)):
        if not one.hardware.refusal and (not found or one.metric > found[-1].metric):
            found.append(one)
    return found
