"""How deep the FIFOs of a streaming kernel must be: computed from the processes' schedules.

Time is simulated with the inputs arriving evenly at the kernel's interval and FIFOs without bound; what a
FIFO then holds at most is what it needs so that nobody waits for room. An iteration i begins at i + delay(i),
where the delay never shrinks: it is the largest of (arrival of a word - the iteration that reads it) over all
reads up to i. That is a running maximum over the reads alone, so NumPy does a network of millions of cycles
at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.processes import Process
from hlsgen.layers.stage import Schedule, Times
from hlsgen.timing.events import NEVER, Before, before, held_for_ever, last_not_after, running_maxima
from hlsgen.timing.relaxation import Unrepeated, frames_of_period, repeated_schedule

FRAMES = 2
"""Simulated at least: with the second, stages work on two frames at once."""
SHALLOWEST = 2
"""A FIFO of fewer words cannot be read and written in the same cycle."""


@dataclass(frozen=True, kw_only=True)
class UnboundedRun:
    """The most words that each stream holds at once; cycles until the last word of one frame is stored."""

    held: dict[str, int]
    latency_cycles: int


def run_unbounded(
    pipeline: Pipeline, frames: int = FRAMES, latencies: Mapping[str, int] | None = None
) -> UnboundedRun:
    """The kernel with unbounded FIFOs, its inputs arriving at the pace of its interval.

    latencies: of processes by name, where they are known better than by their round figures.
    """
    run = _Run(piped=True, latencies=latencies)
    _simulate(pipeline, frames, run)
    return run.timing


class _Run:
    """The kernel's time. piped: an iteration ends its process's latency after it began; else at once.

    cycles: of a period of an endless run, which is looked at; None: a call that begins with empty FIFOs.
    latencies: of processes by name, in place of their round figures.
    """

    def __init__(
        self, *, piped: bool, cycles: int | None = None, latencies: Mapping[str, int] | None = None
    ) -> None:
        self.piped = piped
        self.cycles = cycles
        self.latencies = latencies or {}
        self.written: dict[str, Times] = {}
        self.held: dict[str, int] = {}
        self.end = self.longest = 0

    @property
    def timing(self) -> UnboundedRun:
        return UnboundedRun(held=self.held, latency_cycles=self.end)

    def take(self, process: Process, steps: _Steps) -> None:
        """Goes on by one process, whose inputs are there."""
        arrivals = [self.written.pop(stream) + 1 for stream in process.reads]
        drift = None if self.cycles is None else self.cycles - (steps.period or 0)
        delays = [
            running_maxima(arrival - times, drift)
            for arrival, times in zip(arrivals, steps.reads, strict=True)
        ]
        begins = steps.begins(delays, drift)
        for stream, arrival, begin in zip(process.reads, arrivals, begins, strict=False):
            self.held[stream] = (
                most_held(arrival - 1, begin)
                if self.cycles is None
                else held_for_ever(arrival - 1, begin, self.cycles)
            )
            self.longest = max(self.longest, int((begin - arrival).max(initial=0)))
        latency = self.latencies.get(process.name, process.latency) if self.piped else 0
        for stream, begin in zip(process.writes, begins[len(arrivals) :], strict=True):
            self.written[stream] = begin + latency
            self.end = max(self.end, int(self.written[stream][-1]) if len(begin) else 0)


@dataclass(frozen=True, kw_only=True)
class _Steps:
    """A process's reads and writes, in iterations. waits: of each, by input, the reads before it.

    period: iterations after which it does the same again, for ever; None: of a call.
    """

    reads: tuple[Times, ...]
    events: tuple[Times, ...]
    waits: tuple[tuple[Before, ...], ...]
    period: int | None = None

    @classmethod
    def of(cls, process: Process, schedule: Schedule, interval: int, period: int | None = None) -> _Steps:
        paced = (_paced(process, interval, times) for times in schedule.writes)
        events = (*schedule.reads, *paced)
        waits = tuple(tuple(before(read, times, period) for read in schedule.reads) for times in events)
        return cls(reads=schedule.reads, events=events, waits=waits, period=period)

    def begins(self, delays: list[Times], drift: int | None) -> list[Times]:
        """When each event happens: each plus the delay that reads up to it have made."""
        found = []
        for times, waits in zip(self.events, self.waits, strict=True):
            # a call begins at cycle 0; in an endless run only words hold back what reads some
            begin = times if drift is None or not waits else np.full(len(times), NEVER, np.int64)
            for wait, delay in zip(waits, delays, strict=True):
                begin = np.maximum(begin, times + wait.largest(delay, drift or 0))
            found.append(begin)
        return found


def _simulate(pipeline: Pipeline, frames: int, *runs: _Run) -> None:
    """Calls of so many frames. What the schedules say of the order of events is found once for all runs."""
    for process in pipeline.processes:
        steps = _Steps.of(process, process.schedule(frames), pipeline.interval)
        for run in runs:
            run.take(process, steps)


def _repeat(pipeline: Pipeline, *runs: _Run) -> None:
    """A period of endless runs. Each process is at most as long as the period, and nobody waits for room: so
    once through the processes gives the final times. Raises Unrepeated.
    """
    frames = frames_of_period(pipeline)
    for process in pipeline.processes:
        schedule = repeated_schedule(process, frames)
        steps = _Steps.of(process, schedule, pipeline.interval, schedule.iterations)
        for run in runs:
            run.take(process, steps)


def _paced(process: Process, interval: int, times: Times) -> Times:
    """Inputs come evenly, so that the kernel's slowest process is just kept busy."""
    if not process.paced:
        return times
    return times * interval // max(1, process.interval)


def fifo_depths(pipeline: Pipeline, latencies: Mapping[str, int] | None = None) -> dict[str, int]:
    """The words that each stream needs room for. Weights that are streamed wait in DDR: theirs stay.

    latencies: as of `run_unbounded`.
    """
    *_, found = growing_depths(pipeline, latencies)
    return found


def growing_depths(
    pipeline: Pipeline, latencies: Mapping[str, int] | None = None
) -> Iterator[dict[str, int]]:
    """What `fifo_depths` gives, after what is sooner known to be the least of it."""
    # a stage that takes in blocks of frames works on the second one while the third arrives
    frames = max(FRAMES, 2 * pipeline.frames_at_once)
    held, longest = _held_in_call(pipeline, frames, latencies)
    yield _depths(pipeline, held)
    # a branch may have to hold words of several frames: those that arrive while one word waits
    meeting = -(-longest // pipeline.interval) + 1
    if meeting <= frames:
        return
    try:
        more = _held_for_ever(pipeline, latencies)
    except Unrepeated:
        more, _ = _held_in_call(pipeline, meeting + 1, latencies)
    yield _depths(pipeline, {name: max(words, more[name]) for name, words in held.items()})


def _depths(pipeline: Pipeline, held: Mapping[str, int]) -> dict[str, int]:
    fixed = {name for process in pipeline.streamers for name in process.writes}
    return {
        name: stream.depth if name in fixed else max(SHALLOWEST, held[name])
        for name, stream in pipeline.streams.items()
    }


def _held_in_call(
    pipeline: Pipeline, frames: int, latencies: Mapping[str, int] | None
) -> tuple[dict[str, int], int]:
    """The most words of each stream, and the longest that a word of it waits, in cycles.

    What lies in a pipeline needs no room in a FIFO, but there are no pipelines in a C-simulation.
    """
    piped, plain = _Run(piped=True, latencies=latencies), _Run(piped=False)
    _simulate(pipeline, frames, piped, plain)
    return {name: max(piped.held[name], plain.held[name]) for name in pipeline.streams}, piped.longest


def _held_for_ever(pipeline: Pipeline, latencies: Mapping[str, int] | None) -> dict[str, int]:
    """The same of an endless run, less any frames of which is a call: it never has more in a FIFO.

    Raises Unrepeated: frames so short that none repeats the one before.
    """
    cycles = frames_of_period(pipeline) * pipeline.interval
    piped = _Run(piped=True, cycles=cycles, latencies=latencies)
    plain = _Run(piped=False, cycles=cycles)
    _repeat(pipeline, piped, plain)
    return {name: max(piped.held[name], plain.held[name]) for name in pipeline.streams}


def simulated_words(pipeline: Pipeline) -> int:
    """Words of all streams that `fifo_depths` looks at."""
    frames = max(FRAMES, 2 * pipeline.frames_at_once)
    return frames * sum(stream.words.frame_words for stream in pipeline.streams.values())


def most_held(written: Times, read: Times) -> int:
    """The most words between writing and reading; a word written in the cycle of a read needs its room."""
    assert len(written) == len(read)
    if not len(read):
        return 0
    return int((last_not_after(written, read) + 1 - np.arange(len(read))).max())
