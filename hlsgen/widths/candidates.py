"""A network with its types as a candidate: its answers by golden, one instance of its hardware, its price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError
from hlsgen.cost.resources import Resources
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.widths.layer_costs import Prices, price
from hlsgen.widths.parts import Parts, joined
from hlsgen.widths.quantised import Candidate
from hlsgen.widths.sensitivity import answers_of
from hlsgen.widths.table import Hardware


def candidate(
    name: str,
    widths: Mapping[str, int],
    style: StreamingNetwork,
    parts: Parts,
    interval: int,
    prices: Prices,
    gap: float | None = None,
) -> Candidate:
    """The candidate that `style` is: one instance of it gives a frame every `interval` cycles."""
    results = [
        metric(joined(answers_of(style.graph, values)))
        for metric, values in zip(parts.metrics, (parts.choosing, parts.held_out), strict=True)
    ]
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
        metric=results[0],
        held_out=results[1],
        hardware=hardware,
        price=cost,
        design=Design(style),
        gap=gap,
    )


def front_of(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that no other one beats in price and in the metric of the frames that choose, cheapest first."""
    found: list[Candidate] = []
    for one in sorted(candidates, key=lambda one: (one.price, -one.metric)):
        if not one.hardware.refusal and (not found or one.metric > found[-1].metric):
            found.append(one)
    return found
