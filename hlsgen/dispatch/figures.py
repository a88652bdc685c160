"""What a run is summed up in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.dispatch.capacity import Capacity
from hlsgen.dispatch.node import MICROSECOND, SECOND
from hlsgen.dispatch.simulation import Run

PERCENTILES = (50, 95, 99)
KEPT = 0.95
"""A node that completes less than this share of what arrives is saturated."""


def spans(run: Run) -> list[tuple[int, int]]:
    """By instance when its first task began and its last one ended, in nanoseconds."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for one in run.executions:
        first[one.instance] = min(one.start, first.get(one.instance, one.start))
        last[one.instance] = max(one.end, last.get(one.instance, 0))
    return [(first[one.id], last[one.id]) for one in run.instances]


@dataclass(frozen=True, kw_only=True)
class Times:
    """Response times, from arrival to the end of the last task, in microseconds.

    percentiles: interpolated between the two nearest.
    """

    instances: int
    mean: float
    percentiles: tuple[float, ...]
    largest: float

    @classmethod
    def of(cls, nanoseconds: NDArray[np.int64]) -> Times:
        found = nanoseconds / MICROSECOND
        each = np.percentile(found, PERCENTILES)
        return cls(
            instances=len(found),
            mean=float(found.mean()),
            percentiles=tuple(map(float, each)),
            largest=float(found.max()),
        )

    def as_json(self) -> dict[str, Any]:
        named = {f"p{at}": _digits(one) for at, one in zip(PERCENTILES, self.percentiles, strict=True)}
        return {
            "instances": self.instances,
            "mean": _digits(self.mean),
            **named,
            "max": _digits(self.largest),
        }


@dataclass(frozen=True, kw_only=True)
class Figures:
    """A run's figures. injected: the rate that is asked for, in instances a second. arrived, completed: all
    instances over the time from the beginning to the last arrival, and to the last end.

    makespan_us: as CEDR has it, from the first start of a task to the last end. response: of all, and by
    application. busy: by element, its share of the makespan. queued_us: mean time from ready to start.
    """

    policy: str
    resources: str
    capacity: Capacity
    injected: float
    arrived: float
    completed: float
    makespan_us: float
    queued_us: float
    response: Times
    by_application: dict[str, Times]
    busy: dict[str, float]
    by_type: dict[str, float]

    @property
    def saturated(self) -> bool:
        """Whether the node falls behind what arrives."""
        return self.completed < KEPT * self.arrived

    def as_json(self) -> dict[str, Any]:
        return {
            "policy": self.policy,
            "resources": self.resources,
            "injected_per_s": _digits(self.injected),
            "arrived_per_s": _digits(self.arrived),
            "completed_per_s": _digits(self.completed),
            "saturated": self.saturated,
            "capacity_per_s": _digits(self.capacity.rate),
            "full_at_capacity": list(self.capacity.full),
            "makespan_us": _digits(self.makespan_us),
            "queued_us": _digits(self.queued_us),
            "response_us": self.response.as_json(),
            "applications": {name: one.as_json() for name, one in self.by_application.items()},
            "utilisation": {name: round(share, 6) for name, share in self.busy.items()},
            "utilisation_by_type": {name: round(share, 6) for name, share in self.by_type.items()},
        }


def figures(run: Run, policy: str, most: Capacity) -> Figures:
    """The figures of a run. most: the node's capacity for these applications."""
    ends = spans(run)
    begin = min(one.start for one in run.executions)
    end = max(last for _, last in ends)
    count = len(run.instances)
    response = np.array([last - one.arrival for one, (_, last) in zip(run.instances, ends, strict=True)])
    of = np.array([one.application for one in run.instances])
    busy = np.zeros(len(run.node.elements))
    for one in run.executions:
        busy[one.element] += one.end - one.start
    shares = busy / (end - begin)
    types = [one.type for one in run.node.elements]
    return Figures(
        policy=policy,
        resources=run.node.text,
        capacity=most,
        injected=sum(one.rate for one in run.applications),
        arrived=count * SECOND / run.instances[-1].arrival,
        completed=count * SECOND / end,
        makespan_us=(end - begin) / MICROSECOND,
        queued_us=float(np.mean([one.start - one.ready for one in run.executions])) / MICROSECOND,
        response=Times.of(response),
        by_application={
            one.name: Times.of(response[of == place]) for place, one in enumerate(run.applications)
        },
        busy={one.name: float(share) for one, share in zip(run.node.elements, shares, strict=True)},
        by_type=_means(types, shares),
    )


def _means(types: Sequence[str], shares: NDArray[np.float64]) -> dict[str, float]:
    return {
        type_: float(np.mean([share for one, share in zip(types, shares, strict=True) if one == type_]))
        for type_ in dict.fromkeys(types)
    }


def _digits(number: float) -> float:
    """Six significant digits: no simulation is worth more."""
    return float(f"{number:.6g}")


def rate_text(rate: float) -> str:
    """A rate for people."""
    return f"{rate:,.0f}" if rate >= 1000 else f"{rate:.4g}"
