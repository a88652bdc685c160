"""A scenario at many rates, on many nodes, under many policies: here or on a cluster."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from hlsgen.base.errors import ToolError
from hlsgen.dispatch.capacity import capacity
from hlsgen.dispatch.figures import Figures, figures
from hlsgen.dispatch.node import Node, kind_estimates, own_estimates
from hlsgen.dispatch.scenario import Scenario
from hlsgen.dispatch.simulation import Run, simulate
from hlsgen.sweep.runner import Listener

SERIAL = "serial"
KEY_DIGITS = 16


@dataclass(frozen=True)
class Point:
    """A simulation of a sweep: the scenario with its node, rates and policy."""

    scenario: Scenario

    @cached_property
    def key(self) -> str:
        return hashlib.sha256(repr(self.scenario).encode()).hexdigest()[:KEY_DIGITS]

    def __str__(self) -> str:
        one = self.scenario
        rate = sum(each.rate for each in one.applications)
        return f"{one.name} on {one.node.text} under {one.policy} at {rate:g}/s"


class Watch(Listener, Protocol):
    """What is told of a sweep as it goes."""

    def begin(self, total: int) -> None: ...

    def ended(self, point: Point, found: dict[str, Any]) -> None: ...


def run(scenario: Scenario) -> tuple[Run, Figures]:
    """A single simulation."""
    estimates = (kind_estimates if scenario.by_kind else own_estimates)(scenario.applications)
    done = simulate(
        scenario.node, scenario.applications, scenario.policy, seed=scenario.seed, estimates=estimates
    )
    return done, figures(done, scenario.policy, capacity(scenario.node, scenario.applications))


def run_point(point: Point) -> str:
    """The figures of a point, as JSON: what a worker sends back."""
    return json.dumps(run(point.scenario)[1].as_json())


def points(
    scenario: Scenario, nodes: Sequence[Node], policies: Sequence[str], rates: Sequence[float]
) -> list[Point]:
    """Every node under every policy at every rate. Raises DesignError: a node cannot run some task."""
    found = []
    for node in nodes:
        there = scenario.on(node)
        for policy in policies:
            for rate in rates:
                found.append(Point(there.under(policy).at_rate(rate)))
    return found


def sweep(
    all_points: Sequence[Point], scheduler: str, workers: int | None, watch: Watch
) -> list[dict[str, Any]]:
    """The figures of all points, in their order.

    Raises ToolError: the scheduler cannot be reached or is lost, or workers died of a point.
    """
    watch.begin(len(all_points))
    found: dict[str, dict[str, Any]] = {}
    with closing(_running(all_points, scheduler, workers, watch)) as running:
        for point, ended in running:
            if isinstance(ended, BaseException):
                ended.add_note(f"in the simulation {point}")
                raise ended
            found[point.key] = json.loads(ended)
            watch.ended(point, found[point.key])
    return [found[point.key] for point in all_points]


def _running(
    all_points: Sequence[Point], scheduler: str, workers: int | None, watch: Watch
) -> Generator[tuple[Point, str | BaseException], None, None]:
    if scheduler == SERIAL:
        for point in all_points:
            watch.running(1)
            yield point, run_point(point)
    else:
        from hlsgen.sweep.cluster import Work, run_work

        yield from run_work(Work(run=run_point, given_up=_given_up), all_points, scheduler, workers, watch)


def _given_up(_point: Point, error: ToolError) -> str:
    raise error


def rates_between(low: float, high: float, count: int) -> list[float]:
    """Rates of equal ratio."""
    if count == 1:
        return [low]
    return [low * math.exp(math.log(high / low) * at / (count - 1)) for at in range(count)]


def saturation(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """By node and policy the smallest rate of the sweep at which the node falls behind; None: at no rate."""
    series: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in found:
        series.setdefault((one["resources"], one["policy"]), []).append(one)
    return [
        {
            "resources": resources,
            "policy": policy,
            "saturated_from_per_s": min(
                (one["injected_per_s"] for one in each if one["saturated"]), default=None
            ),
            "most_completed_per_s": max(one["completed_per_s"] for one in each),
            "capacity_per_s": each[0]["capacity_per_s"],
        }
        for (resources, policy), each in series.items()
    ]
