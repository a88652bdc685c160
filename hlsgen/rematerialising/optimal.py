"""The fastest way to train a chain within a budget of memory: dynamic programming over parts of the chain.

Let T(s, t, m) be the least time to take stages s to t forward and backward with m bytes, where a[s] and
d[t + 1] are there already, a[s] not counted in m. Either stage s keeps everything,

    T(s, t, m) = forward(s) + T(s + 1, t, m - saved(s)) + backward(s),

or only its input is kept, the chain runs on to some stage r, which is trained first, and the stages before
r are computed again:

    T(s, t, m) = min over r in s + 1 .. t of  forward(s) + ... + forward(r - 1)
                                             + T(r, t, m - a[r]) + T(s, r - 1, m).

Each alternative is open only where chain.py's `dropped_need` and `kept_need` fit in m. That is the best of
all schedules that hold what they keep until its backward operation (persistent ones); without that condition
the problem is NP-hard, and somewhat faster schedules may exist (Beaumont et al., "Optimal checkpointing for
heterogeneous chains", which the recurrence is from).

Memory is counted in `slots` units of the budget, every amount rounded up. What is found fits for certain.
What is missed: a chain of N stages holds at most N + 1 amounts at a time, so that the time is at most that of
the best schedule for a budget smaller by (N + 1) / slots of what is not fixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hlsgen.rematerialising.chain import Chain, Kind, Operation, dropped_need, kept_need

Times = NDArray[np.float64]
"""Seconds by units of memory."""
Table = dict[tuple[int, int], Times]


@dataclass(frozen=True, kw_only=True)
class Search:
    """The table of T for every part of a chain and every number of units of memory up to `slots`.

    unit: bytes of a unit of what the budget leaves beside chain.fixed_bytes.
    """

    chain: Chain
    budget: int
    slots: int

    @property
    def unit(self) -> float:
        return (self.budget - self.chain.fixed_bytes) / self.slots

    def units(self, count: int) -> int:
        """Units that this many bytes take, at most one more than there are."""
        if self.unit <= 0:
            return self.slots + 1
        return min(self.slots + 1, math.ceil(count / self.unit))

    @cached_property
    def table(self) -> Table:
        """T(s, t, 0 .. slots), infinite where nothing fits."""
        table: Table = {}
        count = len(self.chain.stages)
        for length in range(count):
            for s in range(count - length):
                table[s, s + length] = np.minimum.reduce(
                    [times for _, times in self._alternatives(table, s, s + length)]
                )
        return table

    def operations(self) -> tuple[Operation, ...] | None:
        """The fastest ones; None: nothing fits."""
        whole = (0, len(self.chain.stages) - 1)
        if not np.isfinite(self.table[whole][self.slots]):
            return None
        done: list[Operation] = []
        self._append(done, *whole, self.slots)
        return tuple(done)

    def _alternatives(self, table: Table, s: int, t: int) -> Iterator[tuple[int, Times]]:
        """By r the times with it; r = s: stage s keeps everything."""
        stages = self.chain.stages
        times = np.full(self.slots + 1, float(stages[s].forward_s + stages[s].backward_s))
        if s < t:
            times += _with_less(table[s + 1, t], self.units(stages[s].saved_bytes))
        times[: self.units(kept_need(self.chain, s, t))] = np.inf
        yield s, times
        forward, need = 0.0, 0
        for r in range(s + 1, t + 1):
            before = stages[r - 1]
            if not before.again:
                return
            forward += before.forward_s
            need = max(need, dropped_need(self.chain, s, r - 1, t))
            times = _with_less(table[r, t], self.units(before.output_bytes)) + (forward + table[s, r - 1])
            times[: self.units(need)] = np.inf
            yield r, times

    def _append(self, done: list[Operation], s: int, t: int, slots: int) -> None:
        """Adds the operations of T(s, t, slots)."""
        best = self.table[s, t][slots]
        r = next(r for r, times in self._alternatives(self.table, s, t) if times[slots] <= best)
        if r == s:
            done.append(Operation(Kind.KEEP, s))
            if s < t:
                self._append(done, s + 1, t, slots - self.units(self.chain.stages[s].saved_bytes))
            done.append(Operation(Kind.BACKWARD, s))
            return
        # forward from a[s], which is kept, to a[r]
        done.append(Operation(Kind.CHECKPOINT, s))
        done += [Operation(Kind.DROP, stage) for stage in range(s + 1, r)]
        self._append(done, r, t, slots - self.units(self.chain.stages[r - 1].output_bytes))
        self._append(done, s, r - 1, slots)


def _with_less(times: Times, units: int) -> Times:
    """T with so many units fewer."""
    shifted = np.full_like(times, np.inf)
    if units < len(times):
        shifted[units:] = times[: len(times) - units]
    return shifted
