"""The schedule of one iteration: when each operation starts, and the least interval that its recurrences
allow.

Operations start as early as their operands let them, and are chained within a cycle while the budget lasts;
what an earlier iteration must have finished pushes the registers that wait for it. That is what the
vendor's scheduler minimises too, so that depth and II follow; which operations it would delay for the sake
of area does not change them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hlsgen.schedule.iteration import Carried, Region
from hlsgen.schedule.operation import Timing

Time = tuple[int, float]
"""A cycle, and the nanoseconds from its start."""
ROUNDS = 60
"""How often the registers of an iteration are pushed before an interval counts as impossible."""
MOST = 4096
"""The greatest interval that is tried."""
PROBED = 16
"""Of the edges that a round pushes, how many are followed back to what pushed them."""
MOST_PROBED = 8
"""Of the edges that block an interval, how many are tried alone."""


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

    def __init__(
        self,
        region: Region,
        timings: Sequence[Timing | None],
        budget_ns: float,
        *,
        stretched: Collection[int] = (),
    ) -> None:
        """`stretched`: nodes that start in the cycle of what they wait for, even beyond the budget."""
        self.region = region
        self.timings = timings
        self.budget = budget_ns
        self.stretched = stretched
        self.blocking: set[int] = set()
        """Carried edges that the last interval tried could not meet."""
        self.leaving: dict[int, list[int]] = {}
        """The carried edges that leave each node."""
        for number, edge in enumerate(region.carried):
            self.leaving.setdefault(edge.source, []).append(number)

    def least(self, interval: int) -> Schedule | None:
        """The schedule with the least interval from `interval` on; None if there is none up to MOST."""
        impossible, step = interval - 1, 1
        while impossible < MOST:
            found = self.at(interval, patient=False)
            if found is not None:
                return self._between(impossible, found)
            impossible, interval, step = interval, min(interval + step, MOST), 2 * step
        return None

    def _between(self, impossible: int, found: Schedule) -> Schedule:
        """The schedule with the least interval above one that is impossible, up to one that was found."""
        while found.interval - impossible > 1:
            middle = (impossible + found.interval) // 2
            less = self.at(middle, patient=False)
            if less is None:
                impossible = middle
            else:
                found = less
        return found

    def once(self) -> Schedule:
        """The schedule of an iteration that waits for no other."""
        return self._alone

    def at(self, interval: int, *, patient: bool = True) -> Schedule | None:
        """The schedule at that interval; None if a recurrence is longer. Who is not `patient` learns that as
        soon as it is certain, but not what is `blocking`."""
        floors: dict[int, int] = {}
        raised: dict[int, int] = {}
        alone = self._alone
        found = Schedule(
            interval=interval,
            starts=list(alone.starts),
            finishes=list(alone.finishes),
            chained=list(alone.chained),
        )
        for _ in range(ROUNDS):
            pushed = self._pushed(found, floors, raised)
            if not pushed:
                return found
            self.blocking = pushed
            if any(self.region.carried[number].begins for number in pushed):
                return None
            self._move(found, floors, {self.region.carried[number].target for number in pushed})
            if not patient and self._never_ends(found, floors, raised, pushed):
                return None
        return None

    def blocking_alone(self, interval: int) -> list[int]:
        """The edges that allow no such interval whatever the others do; all that block it if none does.

        What waits for a memory is pushed with it, as a count of what was found there.
        """
        found = []
        for number in sorted(self.blocking)[:MOST_PROBED]:
            region = replace(self.region, carried=[self.region.carried[number]])
            alone = Scheduler(region, self.timings, self.budget, stretched=self.stretched)
            if alone.at(interval, patient=False) is None:
                found.append(number)
        return found or sorted(self.blocking)

    def _never_ends(
        self, found: Schedule, floors: Mapping[int, int], raised: Mapping[int, int], pushed: Collection[int]
    ) -> bool:
        """Whether some of the edges push one another around a circle that is longer than the interval.

        What starts where an edge has pushed it to moves all that waits for it by as much as it is moved, so
        that a circle of pushes which gains a cycle once gains one each time.
        """
        for number in sorted(pushed)[:: 1 + len(pushed) // PROBED]:
            gained: dict[int, int] = {}
            total = 0
            while number not in gained:
                gained[number] = total
                edge = self.region.carried[number]
                origin = self._origin(found, floors, edge.source)
                if origin < 0:
                    break
                total += self._ready(found, edge) - floors[origin] - found.interval * edge.distance
                number = raised[origin]
            else:
                if total > gained[number]:
                    return True
        return False

    def _origin(self, found: Schedule, floors: Mapping[int, int], index: int) -> int:
        """The pushed node that a node's start follows from, -1 if it follows from none."""
        while True:
            node, cycle, ns, waits = self.region.nodes[index], floors.get(index, 0), 0.0, -1
            for before in node.after:
                then = found.finishes[before]
                if then[0] > cycle or (then[0] == cycle and then[1] >= ns):
                    cycle, ns, waits = then[0], then[1], before
            for before, cycles in node.behind:
                earliest = found.starts[before][0] + cycles
                if earliest > cycle:
                    cycle, ns, waits = earliest, 0.0, before
            if waits < 0:
                return index if index in floors else -1
            index = waits

    @staticmethod
    def _ready(found: Schedule, edge: Carried) -> int:
        """The cycle in which what an edge carries is there."""
        if edge.cycles is None:
            return found.finishes[edge.source][0] + edge.late
        return found.starts[edge.source][0] + edge.cycles

    @cached_property
    def _alone(self) -> Schedule:
        count = len(self.region.nodes)
        none = [(0, 0.0)] * count
        found = Schedule(interval=MOST, starts=none, finishes=list(none), chained=[-1] * count)
        for index in range(count):
            self._place(index, found, 0)
        return found

    @cached_property
    def _readers(self) -> list[list[int]]:
        """The nodes that wait for each one."""
        found: list[list[int]] = [[] for _ in self.region.nodes]
        for node in self.region.nodes:
            for before in {*node.after, *(index for index, _ in node.behind)}:
                found[before].append(node.index)
        return found

    def _move(self, found: Schedule, floors: Mapping[int, int], pushed: Collection[int]) -> None:
        """Place anew what was pushed, and all that waits for what moves: in unrolled code that is little."""
        waiting = bytearray(len(found.starts))
        for index in pushed:
            waiting[index] = 1
        index = waiting.find(1)
        while index >= 0:
            before = found.starts[index], found.finishes[index]
            self._place(index, found, floors.get(index, 0))
            if before != (found.starts[index], found.finishes[index]):
                for reader in self._readers[index]:
                    waiting[reader] = 1
            index = waiting.find(1, index + 1)

    def _place(self, index: int, found: Schedule, floor: int) -> None:
        """Start a node as early as what it waits for lets it, in no earlier cycle than `floor`."""
        node, timing = self.region.nodes[index], self.timings[index]
        starts, finishes = found.starts, found.finishes
        cycle, ns, waits = floor, 0.0, -1
        for before in node.after:
            then = finishes[before]
            if then[0] > cycle or (then[0] == cycle and then[1] >= ns):
                cycle, ns, waits = then[0], then[1], before
        for before, cycles in node.behind:
            earliest = starts[before][0] + cycles
            if earliest > cycle:
                cycle, ns, waits = earliest, 0.0, -1
        late = timing is not None and ns and ns + timing.first_ns > self.budget + 1e-9
        if late and index not in self.stretched:
            cycle, ns, waits = cycle + 1, 0.0, -1
        starts[index] = finish = (cycle, ns)
        if timing is not None and timing.cycles:
            finish, waits = (cycle + timing.cycles, timing.last_ns), -1
        elif timing is not None:
            finish = (cycle, ns + timing.first_ns)
        finishes[index], found.chained[index] = finish, waits

    def _pushed(self, found: Schedule, floors: dict[int, int], raised: dict[int, int]) -> set[int]:
        """The carried edges that are not met; their targets are pushed, each by the edge in `raised`."""
        pushed: set[int] = set()
        waiting = list(range(len(self.region.carried)))
        while waiting:
            number = waiting.pop()
            edge = self.region.carried[number]
            start = found.starts[edge.source][0]
            # what is pushed itself in this round, as the registers behind one another of a delay line
            late = max(0, floors.get(edge.source, 0) - start)
            earliest = self._ready(found, edge) + late - found.interval * edge.distance
            if (
                earliest > max(found.starts[edge.target][0], floors.get(edge.target, 0))
                and number not in pushed
            ):
                floors[edge.target], raised[edge.target] = earliest, number
                pushed.add(number)
                waiting += self.leaving.get(edge.target, ())
        return pushed


def without_chains(timings: Sequence[Timing | None]) -> list[Timing | None]:
    """The same timings with no delay within a cycle: what remains when every chain fits."""
    return [timing and Timing(cycles=timing.cycles, first_ns=0.0, last_ns=0.0) for timing in timings]


def bits_alive(region: Region, schedule: Schedule) -> int:
    """Bits that must be kept from the cycle that makes them to those that use them, in every stage
    between."""
    last = [cycle for cycle, _ in schedule.finishes]
    until = list(last)
    for node in region.nodes:
        for before in node.after:
            until[before] = max(until[before], schedule.starts[node.index][0])
    return sum(
        node.operation.result * max(0, until[node.index] - last[node.index])
        for node in region.nodes
        if node.operation is not None
    )
