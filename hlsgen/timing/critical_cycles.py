"""Critical cycles: processes that wait for each other in a circle, and how long going round it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hlsgen.layers.stage import Times
from hlsgen.timing.events import NEVER, Loop, running_maxima
from hlsgen.timing.relaxation import Relaxation


@dataclass(frozen=True, kw_only=True)
class Wait:
    """`process` waits for a word of `stream`, or, to write, for room in it."""

    process: str
    stream: str
    to_write: bool

    def __str__(self) -> str:
        what = "room in" if self.to_write else "words of"
        return f"{self.process} waits for {what} {self.stream}"


@dataclass(frozen=True, kw_only=True)
class CriticalCycle:
    """Events that wait for each other: `cycles` to go round, while `periods` periods pass.

    If no period passes, or time would have to go back, an event waits for itself: the kernel stands still.
    """

    waits: tuple[Wait, ...]
    cycles: int
    periods: int

    @property
    def stands_still(self) -> bool:
        return self.periods <= 0

    @property
    def least_period(self) -> int:
        """Cycles of a period with which there is the time to go round."""
        return -(-self.cycles // self.periods)


@dataclass(frozen=True)
class _Event:
    """A word is read or written; stream None: the begin of the iteration that is held at its place."""

    process: int
    stream: int | None
    word: int = 0
    write: bool = False


@dataclass(frozen=True, kw_only=True)
class _Step:
    """A step from an event to the one that holds it back most: in which period it is, by how many cycles."""

    to: _Event
    periods: int
    cycles: int
    wait: Wait | None = None


def find_critical_cycle(relaxation: Relaxation) -> CriticalCycle | None:
    """A circle that takes too long for the period, found from the events that grow; None: not seen yet.

    relaxation: in the steady state, not settled.
    """
    walk = _Walk(relaxation)
    for number in sorted(relaxation.waiting):
        critical = walk.from_process(number)
        if critical is not None:
            return critical
    return None


class _Walk:
    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation = relaxation
        self.known: dict[int, tuple[list[Times], list[Times]]] = {}
        self.loops: dict[int, Loop] = {}

    def from_process(self, number: int) -> CriticalCycle | None:
        """Goes back from what is pushed, or from the process's last event, to what holds it back most."""
        event = _Event(number, None)
        if number not in self.relaxation.anchored or not self._steps(event):
            event = self._last(number)
        return self._search(event)

    def _search(self, event: _Event) -> CriticalCycle | None:
        """Depth first: where several hold an event back alike, only one of the ways may lead round."""
        place = {event: 0}  # on the way from the first event
        way: list[_Step] = []
        done: set[_Event] = set()
        choices = [iter(self._steps(event))]
        while choices:
            step = next(choices[-1], None)
            if step is None:
                choices.pop()
                last = way.pop().to if way else event
                done.add(last)
                place.pop(last)
            elif step.to in place:
                critical = self._critical_cycle([*way[place[step.to] :], step])
                if critical is not None:
                    return critical
            elif step.to not in done:
                way.append(step)
                place[step.to] = len(way)
                choices.append(iter(self._steps(step.to)))
        return None

    def _last(self, number: int) -> _Event:
        loop = self._loop(number)
        events = [
            (int(times[-1]), _Event(number, index, len(times) - 1, write))
            for write, streams in ((False, loop.reads), (True, loop.writes))
            for index, times in enumerate(streams)
        ]
        return max(events, key=lambda one: one[0])[1]

    def _critical_cycle(self, steps: list[_Step]) -> CriticalCycle | None:
        cycles, periods = sum(step.cycles for step in steps), -sum(step.periods for step in steps)
        period = self.relaxation.cycles[steps[0].to.process]
        assert period is not None
        if cycles <= period * periods:
            return None
        waits = tuple(dict.fromkeys(step.wait for step in steps if step.wait is not None))
        return CriticalCycle(waits=waits, cycles=cycles, periods=periods)

    def _steps(self, event: _Event) -> list[_Step]:
        """The steps to all that hold `event` back most; none if only its own place does, or nothing does."""
        relaxation, number = self.relaxation, event.process
        loop, drift = self._loop(number), relaxation.drift(number) or 0
        delays, running = self._of(number)
        sources = loop.sources(event.stream, event.word, write=event.write)
        seen = [
            int(running[index][at]) + periods * drift + added
            for index, (at, periods, added) in enumerate(sources)
        ]
        iteration = loop.iteration(event.stream, event.word, write=event.write)
        most, found = max(seen), []
        if number in relaxation.anchored:
            latency = loop.latency if event.write else 0
            turn = (iteration - loop.first) // (loop.period or 1)
            place = turn * drift + latency
            if place >= most:
                if event.stream is None:
                    return []
                apart = iteration - loop.first - turn * (loop.period or 1) + latency
                found.append(_Step(to=_Event(number, None), periods=turn, cycles=apart))
                most = place
        if most < NEVER // 2:
            return []
        for index, (at, periods, _) in enumerate(sources):
            if seen[index] < most:
                continue
            word = int(np.searchsorted(running[index][: at + 1], running[index][at]))
            if delays[index][word] != running[index][word]:  # it is that of a period before
                word, periods = int(delays[index].argmax()), periods - 1
            found.append(self._to(number, index, word, periods, iteration + most))
        return found

    def _to(self, number: int, index: int, word: int, periods: int, time: int) -> _Step:
        """The step to the writer of a word that is read, or to the reader that makes room for one."""
        relaxation, process = self.relaxation, self.relaxation.plan.pipeline.processes[number]
        to_write = index >= len(process.reads)
        stream = process.writes[index - len(process.reads)] if to_write else process.reads[index]
        link = relaxation.plan.links[stream]
        if to_write:
            earlier, word = divmod(word - relaxation.depths[stream], len(relaxation.begins[stream]))
            periods += earlier
            to = _Event(*link.reader, word)
            source = relaxation.begins[stream].at(word)
        else:
            to = _Event(*link.writer, word, True)
            source = relaxation.ends[stream].at(word)
        cycles = relaxation.cycles[number] or 0
        return _Step(
            to=to,
            periods=periods,
            cycles=time - source - periods * cycles,
            wait=Wait(process=process.name, stream=stream, to_write=to_write),
        )

    def _of(self, number: int) -> tuple[list[Times], list[Times]]:
        """The delays that each stream's words ask for, and their running maxima."""
        if number not in self.known:
            wanted = [np.asarray(delays) for delays in self.relaxation.wanted(number)]
            drift = self.relaxation.drift(number)
            self.known[number] = wanted, [running_maxima(delays, drift) for delays in wanted]
        return self.known[number]

    def _loop(self, number: int) -> Loop:
        if number not in self.loops:
            self.loops[number] = self.relaxation.plan.loops[number].by_word
        return self.loops[number]
