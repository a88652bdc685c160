"""A streaming kernel's least times (events.py): sweeps over its processes until none changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass

from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.processes import Process
from hlsgen.timing.events import NEVER
from hlsgen.timing.row_loops import RowLoop, Side, row_loop
from hlsgen.timing.row_sums import RowSums, Wait
from hlsgen.timing.rows import Rows


@dataclass(frozen=True, kw_only=True)
class Link:
    """A stream: the numbers of its writer and reader among the processes, and of it among their streams."""

    writer: tuple[int, int]
    reader: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Part:
    """Processes that streams join: `slowest` is the first of those with the most iterations a period."""

    processes: tuple[int, ...]
    slowest: int
    period: int


class Plan:
    """What does not change with depths and interval: the processes' loops and how streams join them.

    frames: of a call; None: the steady state, a period of which has as many frames as all stages take in
    whole blocks. latencies: of processes by name, where they are known better than by their round figures. 0
    is a loop of a single stage, each iteration of which ends before the next begins: those of the
    C-simulation, which stand still wherever any others would.
    """

    def __init__(
        self, pipeline: Pipeline, frames: int | None, latencies: Mapping[str, int] | None = None
    ) -> None:
        self.pipeline = pipeline
        self.frames = frames or frames_of_period(pipeline)
        self.periodic = frames is None
        self.sums = RowSums()
        self.loops = [self._loop(process, latencies or {}) for process in pipeline.processes]
        writers = _ends([process.writes for process in pipeline.processes])
        readers = _ends([process.reads for process in pipeline.processes])
        self.links = {name: Link(writer=writers[name], reader=readers[name]) for name in pipeline.streams}
        self.parts = self._parts()

    def _loop(self, process: Process, latencies: Mapping[str, int]) -> RowLoop:
        latency = latencies.get(process.name, process.latency)
        return row_loop(self.pipeline, process, self.frames, latency=latency, periodic=self.periodic)

    def _parts(self) -> tuple[Part, ...]:
        """The kernel's processes, apart where no stream joins them."""
        part = list(range(len(self.loops)))
        for link in self.links.values():
            old, new = part[link.reader[0]], part[link.writer[0]]
            part = [new if number == old else number for number in part]
        found = []
        for number in dict.fromkeys(part):
            members = tuple(index for index, one in enumerate(part) if one == number)
            slowest = max(members, key=lambda index: (self.loops[index].period or 0, -index))
            period = self.loops[slowest].period or 0
            found.append(Part(processes=members, slowest=slowest, period=period))
        return tuple(found)


def frames_of_period(pipeline: Pipeline) -> int:
    """Frames after which every stage does the same again."""
    return math.lcm(*(stage.frames_at_once for stage in pipeline.stages.values()))


class Relaxation:
    """Times of all reads and writes with FIFOs of `depths`: lower bounds, and final once `settle` says so.

    periods, anchors: in the steady state, by part the cycles of a period and the process that is held at its
    place; everything in a call is, by its begin.
    """

    def __init__(
        self,
        plan: Plan,
        depths: Mapping[str, int],
        periods: tuple[int, ...] = (),
        anchors: tuple[int, ...] = (),
    ) -> None:
        self.plan = plan
        self.depths = dict(depths)
        self.cycles: list[int | None] = [None] * len(plan.loops)
        self.anchored = set(anchors) if plan.periodic else set(range(len(plan.loops)))
        for part, period in zip(plan.parts, periods, strict=plan.periodic):
            for number in part.processes:
                self.cycles[number] = period
        self.begins: dict[str, Rows] = {}
        self.ends: dict[str, Rows] = {}
        for name, link in plan.links.items():
            reader, writer = plan.loops[link.reader[0]], plan.loops[link.writer[0]]
            self.begins[name] = reader.reads[link.reader[1]].later(NEVER)
            self.ends[name] = writer.writes[link.writer[1]].later(NEVER)
        self.waiting = set(range(len(plan.loops)))

    def shallower(self, stream: str, depth: int) -> Relaxation:
        """The relaxation from these times on with less room in a stream: they can only grow."""
        other = copy(self)
        other.depths = {**self.depths, stream: depth}
        other.begins, other.ends = dict(self.begins), dict(self.ends)
        other.waiting = {self.plan.links[stream].writer[0]}
        return other

    @property
    def pushed(self) -> set[int]:
        """The processes that come later than the place that they are held at: their period is too short."""
        return {number for number in self.anchored if self._first_delay(number, self.running(number)) > 0}

    def settle(self, most: float | None = None, *, push: bool = False) -> bool:
        """True once nothing changes; False if the anchor was pushed, or not after `most` times a process on
        average.

        push: goes on with it pushed, for what pushes it to show.
        """
        left = None if most is None else most * len(self.plan.loops)
        while self.waiting:
            for number in (*range(len(self.plan.loops)), *range(len(self.plan.loops) - 1, -1, -1)):
                if number not in self.waiting:
                    continue
                self.waiting.discard(number)
                if not self._evaluate(number, push):
                    self.waiting.add(number)
                    return False
                if left is not None:
                    left -= 1
                    if left < 0:
                        return False
        return True

    def drift(self, number: int) -> int | None:
        """Cycles of a period in which a process does nothing new; None in a call."""
        cycles, period = self.cycles[number], self.plan.loops[number].period
        return None if cycles is None or period is None else cycles - period

    def wanted(self, number: int) -> list[Rows]:
        """The delay of its iteration by each word: of each stream that is read, then of each written."""
        process, loop, sums = self.plan.pipeline.processes[number], self.plan.loops[number], self.plan.sums
        arrivals = [self.ends[name].later(1) for name in process.reads]
        rooms = [
            sums.rooms(self.begins[name], self.depths[name], self.cycles[number]) for name in process.writes
        ]
        own = (*loop.reads, *loop.writes)
        return [sums.delays(times, mine) for times, mine in zip([*arrivals, *rooms], own, strict=True)]

    def running(self, number: int) -> list[Rows]:
        """R of each stream that is read, then W of each that is written."""
        drift = self.drift(number)
        return [self.plan.sums.running(delays, drift) for delays in self.wanted(number)]

    def _evaluate(self, number: int, push: bool) -> bool:
        """The times of a process anew; False if it is the anchor and something pushes it."""
        process, anchored = self.plan.pipeline.processes[number], number in self.anchored
        running = self.running(number)
        if not push and anchored and self.plan.periodic and self._first_delay(number, running) > 0:
            return False
        for index, name in enumerate(process.reads):
            times = self._times(number, "reads", index, running)
            if times != self.begins[name]:
                self.begins[name] = times
                self.waiting.add(self.plan.links[name].writer[0])
        for index, name in enumerate(process.writes):
            times = self._times(number, "writes", index, running)
            if times != self.ends[name]:
                self.ends[name] = times
                self.waiting.add(self.plan.links[name].reader[0])
        return True

    def _times(self, number: int, side: Side, index: int, running: list[Rows]) -> Rows:
        """When the words of a stream are read, or written."""
        loop, process = self.plan.loops[number], self.plan.pipeline.processes[number]
        read, written = (loop.latency, 0) if side == "writes" else (0, -loop.latency)
        sources = [
            (loop.pieces(side, index, "reads", other), running[other], read)
            for other in range(len(process.reads))
        ]
        sources += [
            (loop.pieces(side, index, "writes", other), running[len(process.reads) + other], written)
            for other in range(len(process.writes))
        ]
        own = getattr(loop, side)[index]
        floors = self._floors(number, side, index, read)
        return self.plan.sums.after(own, sources, self.drift(number) or 0, floors)

    def _floors(self, number: int, side: Side, index: int, least: int) -> list[list[Wait]]:
        """What holds each block: of what is held at its place `least`, and more in each period."""
        loop, drift = self.plan.loops[number], self.drift(number)
        own = getattr(loop, side)[index]
        if number not in self.anchored or drift is None or loop.period is None:
            floor = least if number in self.anchored else NEVER
            return [[(0, own.words, None, None, floor)]] * len(own.bases)
        return [
            [(begin, end, None, None, least + turn * drift) for begin, end, turn in turns]
            for turns in loop.turns(side, index)
        ]

    def _first_delay(self, number: int, running: list[Rows]) -> int:
        """D of the iteration that is held at its place, if nothing held it."""
        loop, drift = self.plan.loops[number], self.drift(number) or 0
        reads = len(loop.reads)
        return max(
            rows.at(word) + periods * drift - (loop.latency if index >= reads else 0)
            for index, ((word, periods), rows) in enumerate(zip(loop.before_first, running, strict=True))
        )


def _ends(streams: list[tuple[str, ...]]) -> dict[str, tuple[int, int]]:
    """The process of each stream, and its number there."""
    return {name: (number, index) for number, names in enumerate(streams) for index, name in enumerate(names)}
