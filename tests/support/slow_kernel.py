"""A streaming kernel run cycle by cycle: slow, and written without a look at hlsgen/cost."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.processes import Process


class StandsStill(Exception):
    """Nobody can move any more."""


@dataclass
class Fifo:
    depth: int
    written: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)

    def has_word(self, now: int) -> bool:
        """A word that was written in an earlier cycle."""
        return len(self.written) > len(self.read) and self.written[len(self.read)] < now

    def has_room(self, now: int) -> bool:
        """The word that takes up the last place was read in an earlier cycle."""
        gone = len(self.written) - self.depth
        return gone < 0 or (gone < len(self.read) and self.read[gone] < now)


class Running:
    """A process: the iteration to begin next, and those in its pipeline, each with the cycle of its begin."""

    def __init__(self, process: Process, frames: int) -> None:
        schedule = process.schedule(frames)
        self.process, self.iterations, self.next = process, schedule.iterations, 0
        self.ends: list[int] = []
        self.inside: deque[tuple[int, int]] = deque()
        self.reads: dict[int, list[str]] = {}
        self.writes: dict[int, list[str]] = {}
        for names, streams, found in (
            (process.reads, schedule.reads, self.reads),
            (process.writes, schedule.writes, self.writes),
        ):
            for name, times in zip(names, streams, strict=True):
                for time in times.tolist():
                    found.setdefault(time, []).append(name)

    def end(self, fifos: Mapping[str, Fifo], now: int) -> bool:
        """The oldest iteration leaves the pipeline, if it has come to its end and there is room."""
        if not self.inside or self.inside[0][1] + self.process.latency > now:
            return False
        names = self.writes.get(self.inside[0][0], [])
        if not all(fifos[name].has_room(now) for name in names):
            return False
        for name in names:
            fifos[name].written.append(now)
        self.inside.popleft()
        self.ends.append(now)
        return True

    def begin(self, fifos: Mapping[str, Fifo], now: int) -> bool:
        """The next iteration enters, if its words are there and a place in the pipeline is free."""
        names = self.reads.get(self.next, [])
        if self.next == self.iterations or len(self.inside) == self.process.latency:
            return False
        if not all(fifos[name].has_word(now) for name in names):
            return False
        for name in names:
            fifos[name].read.append(now)
        self.inside.append((self.next, now))
        self.next += 1
        return True

    def ripens(self, now: int) -> bool:
        return bool(self.inside) and self.inside[0][1] + self.process.latency > now


@dataclass
class SlowRun:
    fifos: dict[str, Fifo]
    processes: dict[str, Running]


def run_slowly(pipeline: Pipeline, depths: Mapping[str, int], frames: int) -> SlowRun:
    """Every cycle of a call. Raises StandsStill."""
    fifos = {name: Fifo(depth) for name, depth in depths.items()}
    running = [Running(process, frames) for process in pipeline.processes]
    now = 0
    while any(one.next < one.iterations or one.inside for one in running):
        moved = [one.end(fifos, now) for one in running]  # of last cycle's FIFOs: times are compared
        moved += [one.begin(fifos, now) for one in running]
        if not any(moved) and not any(one.ripens(now) for one in running):
            raise StandsStill
        now += 1
    return SlowRun(fifos=fifos, processes={one.process.name: one for one in running})
