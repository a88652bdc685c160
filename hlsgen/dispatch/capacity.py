"""The most that a node can do, whatever the policy: a linear programme.

With y_kt the share of the calls of task k that elements of type t run, and r arrivals a second in all:
maximise r, while each type's calls take no more seconds a second than it has elements,
sum_k r f_k y_kt c_kt <= n_t, and sum_t y_kt = 1. f_k: instances of the task's application among all
arrivals; c_kt seconds. (x_kt = r y_kt makes it linear.) No schedule can keep a larger rate up: each element
works at most a second a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from hlsgen.dispatch.node import SECOND, Application, Node


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """rate: arrivals a second, of all applications in their proportion. full: types that are busy then."""

    rate: float
    full: tuple[str, ...]


def capacity(node: Node, applications: Sequence[Application]) -> Capacity:
    """The largest rate that can be kept up."""
    types = [type_ for type_, count in node.counts.items() if count]
    arriving = sum(one.rate for one in applications)
    calls = [(task, one.rate / arriving) for one in applications for task in one.tasks]
    pairs = [
        (place, types.index(type_), share * takes / SECOND)
        for place, (task, share) in enumerate(calls)
        for type_, takes in task.nanoseconds.items()
        if type_ in types
    ]
    # x of each pair is a multiple of the rate in units of `scale`, so that figures are near 1
    scale = max(seconds for *_, seconds in pairs)
    work = np.zeros((len(types), len(pairs) + 1))
    whole = np.zeros((len(calls), len(pairs) + 1))
    for column, (place, type_, seconds) in enumerate(pairs):
        work[type_, column] = seconds / scale
        whole[place, column] = 1
    whole[:, -1] = -1
    limits = [node.counts[type_] for type_ in types]
    cost = np.zeros(len(pairs) + 1)
    cost[-1] = -1
    found = linprog(cost, A_ub=work, b_ub=limits, A_eq=whole, b_eq=np.zeros(len(calls)), method="highs")
    assert found.success, found.message
    used = work @ found.x
    full = [type_ for type_, at, most in zip(types, used, limits, strict=True) if at > most * (1 - 1e-6)]
    return Capacity(rate=float(found.x[-1]) / scale, full=tuple(full))
