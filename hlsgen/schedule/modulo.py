"""The schedule of one iteration: when each operation starts, and the least interval that its recurrences
allow.

Operations start as early as their operands let them, and are chained within a cycle while the budget lasts;
what an earlier iteration must have finished pushes the registers that wait for it. That is what the
vendor's scheduler minimises too, so that depth and II follow; which operations it would delay for the sake
of area does not change them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlsgen.schedule.iteration import Region
from hlsgen.schedule.operation import Timing

Time = tuple[int, float]
"""A cycle, and the nanoseconds from its start."""
ROUNDS = 60
"""How often the registers of an iteration are pushed before an interval counts as impossible."""
MOST = 4096
"""The greatest interval that is tried."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """When the operations of an iteration run, at one interval."""

    interval: int
    starts: list[Time]
    finishes: list[Time]
    chained: list[int]
    """The node that each one's start waits for in the same cycle, -1 if none."""

    @property
    def depth(self) -> int:
        """Cycles of one iteration."""
        return 1 + max((cycle for cycle, _ in self.finishes), default=0)

    @property
    def longest(self) -> tuple[float, int]:
        """The longest chain of a cycle in ns, and the node that ends it."""
        return max(((ns, node) for node, (_, ns) in enumerate(self.finishes)), default=(0.0, -1))

    def chain(self, node: int) -> list[int]:
        """The nodes of the chain that ends with `node`, the first first."""
        found = []
        while node >= 0:
            found.append(node)
            node = self.chained[node]
        return found[::-1]


class Scheduler:
    """Schedules one region."""

    def __init__(self, region: Region, timings: Sequence[Timing | None], budget_ns: float) -> None:
        self.region = region
        self.timings = timings
        self.budget = budget_ns
        self.blocking: set[int] = set()
        """Carried edges that the last interval tried could not meet."""
        self.leaving: dict[int, list[int]] = {}
        """The carried edges that leave each node."""
        for number, edge in enumerate(region.carried):
            self.leaving.setdefault(edge.source, []).append(number)

    def least(self, interval: int) -> Schedule | None:
        """The schedule with the least interval from `interval` on; None if there is none up to MOST."""
        impossible = interval - 1
        while interval <= MOST:
            found = self.at(interval)
            if found is not None:
                return self._between(impossible, found)
            impossible = interval
            interval += 1 if interval < 64 else interval // 8
        return None

    def _between(self, impossible: int, found: Schedule) -> Schedule:
        """The schedule with the least interval above one that is impossible, up to one that was found."""
        while found.interval - impossible > 1:
            middle = (impossible + found.interval) // 2
            less = self.at(middle)
            if less is None:
                impossible = middle
            else:
                found = less
        return found

    def once(self) -> Schedule:
        """The schedule of an iteration that waits for no other."""
        return self._pass(MOST, {})

    def at(self, interval: int) -> Schedule | None:
        """The schedule at that interval; None if a recurrence is longer."""
        floors: dict[int, int] = {}
        for _ in range(ROUNDS):
            found = self._pass(interval, floors)
            pushed = self._pushed(found, floors)
            if not pushed:
                return found
            self.blocking = pushed
        return None

    def _pass(self, interval: int, floors: dict[int, int]) -> Schedule:
        starts: list[Time] = []
        finishes: list[Time] = []
        chained: list[int] = []
        budget = self.budget + 1e-9
        for node, timing in zip(self.region.nodes, self.timings, strict=True):
            cycle, ns, waits = floors.get(node.index, 0), 0.0, -1
            for before in node.after:
                then = finishes[before]
                if then[0] > cycle or (then[0] == cycle and then[1] >= ns):
                    cycle, ns, waits = then[0], then[1], before
            for before, cycles in node.behind:
                earliest = starts[before][0] + cycles
                if earliest > cycle:
                    cycle, ns, waits = earliest, 0.0, -1
            if timing is None:
                starts.append((cycle, ns))
                finishes.append((cycle, ns))
                chained.append(waits)
                continue
            if ns and ns + timing.first_ns > budget:
                cycle, ns, waits = cycle + 1, 0.0, -1
            starts.append((cycle, ns))
            if timing.cycles:
                finishes.append((cycle + timing.cycles, timing.last_ns))
                chained.append(-1)
            else:
                finishes.append((cycle, ns + timing.first_ns))
                chained.append(waits)
        return Schedule(interval=interval, starts=starts, finishes=finishes, chained=chained)

    def _pushed(self, found: Schedule, floors: dict[int, int]) -> set[int]:
        """The carried edges that are not met; their targets are pushed."""
        pushed: set[int] = set()
        waiting = list(range(len(self.region.carried)))
        while waiting:
            number = waiting.pop()
            edge = self.region.carried[number]
            start = found.starts[edge.source][0]
            # what is pushed itself in this round, as the registers behind one another of a delay line
            late = max(0, floors.get(edge.source, 0) - start)
            finish = found.finishes[edge.source][0]
            ready = finish + edge.late if edge.cycles is None else start + edge.cycles
            earliest = ready + late - found.interval * edge.distance
            if (
                earliest > max(found.starts[edge.target][0], floors.get(edge.target, 0))
                and number not in pushed
            ):
                floors[edge.target] = earliest
                pushed.add(number)
                waiting += self.leaving.get(edge.target, ())
        return pushed


def without_chains(timings: Sequence[Timing | None]) -> list[Timing | None]:
    """The same timings with no delay within a cycle: what remains when every chain fits."""
    return [timing and Timing(cycles=timing.cycles, first_ns=0.0, last_ns=0.0) for timing in timings]
