"""How deep the FIFOs of a streaming kernel must be: computed from the processes' schedules.

Time is simulated with the inputs arriving evenly at the kernel's interval and FIFOs without bound; what a
FIFO then holds at most is what it needs so that nobody waits for room. An iteration i begins at i + delay(i),
where the delay never shrinks: it is the largest of (arrival of a word - the iteration that reads it) over all
reads up to i. That is a running maximum over the reads alone, found row by row (rows.py), and once for rows,
streams and layers that are alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.processes import Process
from hlsgen.layers.stage import Times
from hlsgen.timing.relaxation import frames_of_period
from hlsgen.timing.row_loops import RowLoop, Side, Unrepeated, row_loop
from hlsgen.timing.row_sums import RowSums, Source, Wait
from hlsgen.timing.rows import Rows

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
    run = _Run(RowSums(), piped=True, latencies=latencies)
    _simulate(pipeline, frames, run)
    return run.timing


class _Run:
    """The kernel's time. piped: an iteration ends its process's latency after it began; else at once.

    cycles: of a period of an endless run, which is looked at; None: a call that begins with empty FIFOs.
    latencies: of processes by name, in place of their round figures.
    """

    def __init__(
        self,
        sums: RowSums,
        *,
        piped: bool,
        cycles: int | None = None,
        latencies: Mapping[str, int] | None = None,
    ) -> None:
        self.sums = sums
        self.piped = piped
        self.cycles = cycles
        self.latencies = latencies or {}
        self.written: dict[str, Rows] = {}
        self.held: dict[str, int] = {}
        self.end = self.longest = 0

    @property
    def timing(self) -> UnboundedRun:
        return UnboundedRun(held=self.held, latency_cycles=self.end)

    def take(self, process: Process, loop: RowLoop, interval: int) -> None:
        """Goes on by one process, whose inputs are there."""
        sums = self.sums
        drift = None if self.cycles is None else self.cycles - (loop.period or 0)
        words = [self.written.pop(stream) for stream in process.reads]
        arrivals = [times.later(1) for times in words]
        running = [
            sums.running(sums.delays(arrival, own), drift)
            for arrival, own in zip(arrivals, loop.reads, strict=True)
        ]
        for index, stream in enumerate(process.reads):
            begin = self._begins(loop, "reads", index, running, drift)
            self.held[stream] = sums.most_held(words[index], begin, self.cycles)
            waited = sums.delays(begin, arrivals[index])
            self.longest = max(self.longest, *(base + one.most for base, one in waited))
        latency = self.latencies.get(process.name, process.latency) if self.piped else 0
        for index, stream in enumerate(process.writes):
            if process.paced:
                begin = _paced(process, interval, loop.writes[index])
            else:
                begin = self._begins(loop, "writes", index, running, drift)
            self.written[stream] = begin.later(latency)
            self.end = max(self.end, self.written[stream].last)

    def _begins(self, loop: RowLoop, side: Side, index: int, running: list[Rows], drift: int | None) -> Rows:
        """When each word is read or written: its iteration plus the delay that reads up to it have made."""
        own: Rows = getattr(loop, side)[index]
        if not running:
            return own
        sources: list[Source] = [
            (loop.pieces(side, index, "reads", other), rows, 0) for other, rows in enumerate(running)
        ]
        # a call begins at cycle 0; in an endless run only words hold back what reads some
        floors: list[list[Wait]] = (
            [] if drift is not None else [[(0, own.words, None, None, 0)]] * len(own.bases)
        )
        return self.sums.after(own, sources, drift or 0, floors)


def _simulate(pipeline: Pipeline, frames: int, *runs: _Run) -> None:
    """Calls of so many frames."""
    for process in pipeline.processes:
        loop = row_loop(pipeline, process, frames)
        for run in runs:
            run.take(process, loop, pipeline.interval)


def _repeat(pipeline: Pipeline, *runs: _Run) -> None:
    """A period of endless runs. Each process is at most as long as the period, and nobody waits for room: so
    once through the processes gives the final times. Raises Unrepeated.
    """
    frames = frames_of_period(pipeline)
    for process in pipeline.processes:
        loop = row_loop(pipeline, process, frames, periodic=True)
        for run in runs:
            run.take(process, loop, pipeline.interval)


def _paced(process: Process, interval: int, times: Rows) -> Rows:
    """Inputs come evenly, so that the kernel's slowest process is just kept busy."""
    even: Times = np.asarray(times) * interval // max(1, process.interval)
    return Rows.of(even, times.words)


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
    sums = RowSums()
    piped, plain = _Run(sums, piped=True, latencies=latencies), _Run(sums, piped=False)
    _simulate(pipeline, frames, piped, plain)
    return {name: max(piped.held[name], plain.held[name]) for name in pipeline.streams}, piped.longest


def _held_for_ever(pipeline: Pipeline, latencies: Mapping[str, int] | None) -> dict[str, int]:
    """The same of an endless run, less any frames of which is a call: it never has more in a FIFO.

    Raises Unrepeated: frames so short that none repeats the one before.
    """
    cycles = frames_of_period(pipeline) * pipeline.interval
    sums = RowSums()
    piped = _Run(sums, piped=True, cycles=cycles, latencies=latencies)
    plain = _Run(sums, piped=False, cycles=cycles)
    _repeat(pipeline, piped, plain)
    return {name: max(piped.held[name], plain.held[name]) for name in pipeline.streams}


def simulated_words(pipeline: Pipeline) -> int:
    """Words of all streams that `fifo_depths` looks at."""
    frames = max(FRAMES, 2 * pipeline.frames_at_once)
    return frames * sum(stream.words.frame_words for stream in pipeline.streams.values())
