"""The fastest schedule of a small chain by trying all of them, written apart from hlsgen.

A state is what is in memory: inputs of stages, which of these are promised to stay, what autograd saved, and
how far the gradient has come. Dijkstra's search over all operations that fit finds the least time.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from hlsgen.rematerialising.chain import Chain


class State(NamedTuple):
    """values: a[i] on their own; promised: those of them to stay until stage i has gone backward."""

    values: frozenset[int]
    promised: frozenset[int]
    saved: frozenset[int]
    gradient: int


def least_time(chain: Chain, budget: int, *, persistent: bool) -> float | None:
    """Seconds; None: no schedule fits. persistent: what is kept stays until it has been used backward."""
    count = len(chain.stages)
    start = State(frozenset({0}), frozenset({0}), frozenset(), count)
    queue: list[tuple[float, int, State]] = [(0.0, 0, start)]
    numbers = itertools.count(1)
    found: dict[State, float] = {start: 0.0}
    while queue:
        time, _, state = heapq.heappop(queue)
        if state.gradient == 0:
            return time
        if time > found[state]:
            continue
        for more, peak, after in moves(chain, state, persistent=persistent):
            if peak + chain.fixed_bytes <= budget and time + more < found.get(after, float("inf")):
                found[after] = time + more
                heapq.heappush(queue, (time + more, next(numbers), after))
    return None


def bytes_held(chain: Chain, state: State) -> int:
    total = chain.stages[state.gradient - 1].gradient_bytes if state.gradient else 0
    for value in state.values - {0}:
        total += chain.stages[value - 1].output_bytes
    for stage in state.saved:
        total += chain.stages[stage].saved_bytes
    if not chain.gradients_kept:
        for stage in chain.stages[state.gradient :]:
            total += stage.parameter_gradient_bytes
    return total


def moves(chain: Chain, state: State, *, persistent: bool) -> Iterator[tuple[float, int, State]]:
    """Seconds, bytes at its peak, and what comes of it."""
    held = bytes_held(chain, state)
    for i in range(state.gradient):
        stage = chain.stages[i]
        inside = i - 1 in state.saved
        if i not in state.values and not inside:
            continue
        if i not in state.saved and i + 1 not in state.values:
            yield (
                stage.forward_s,
                held + stage.forward_peak,
                state._replace(
                    values=state.values | {i + 1},
                    promised=state.promised | ({i} if i in state.values else set()),
                ),
            )
            if i in state.values and i not in state.promised:
                yield (
                    stage.forward_s,
                    held + stage.forward_peak,
                    state._replace(values=state.values - {i} | {i + 1}),
                )
            yield (
                stage.forward_s,
                held + stage.keep_peak,
                state._replace(
                    saved=state.saved | {i}, promised=state.promised | ({i} if i in state.values else set())
                ),
            )
        if i == state.gradient - 1 and i in state.saved:
            peak = held - stage.gradient_bytes + stage.backward_peak
            yield (
                stage.backward_s,
                peak,
                State(state.values - {i, i + 1}, state.promised - {i, i + 1}, state.saved - {i}, i),
            )
    if not persistent:
        for value in state.values - {0}:
            yield 0.0, held, state._replace(values=state.values - {value}, promised=state.promised - {value})
        for one in state.saved:
            yield 0.0, held, state._replace(saved=state.saved - {one})
            without = state._replace(saved=state.saved - {one}, values=state.values | {one + 1})
            yield 0.0, held, without
