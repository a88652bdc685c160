"""How deep the FIFOs of a streaming kernel must be: computed from the processes' schedules.

Time is simulated with the inputs arriving evenly at the kernel's interval and FIFOs without bound; what a
FIFO then holds at most is what it needs so that nobody waits for room. An iteration i begins at i + delay(i),
where the delay never shrinks: it is the largest of (arrival of a word - the iteration that reads it) over all
reads up to i. That is a running maximum over the reads alone, so NumPy does a network of millions of cycles
at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hlsgen.cost.events import before, last_not_after, running_maxima
from hlsgen.layers.stage import Times
from hlsgen.mapping.pipeline import Pipeline
from hlsgen.mapping.processes import Load, Process

FRAMES = 2
"""Simulated at least: with the second, stages work on two frames at once."""
SHALLOWEST = 2
"""A FIFO of fewer words cannot be read and written in the same cycle."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """By stream the most words that it holds at once; cycles until the last word of one frame is stored.

    longest_wait: the most cycles that a word lies in a FIFO.
    """

    held: dict[str, int]
    latency_cycles: int
    longest_wait: int


def simulate(pipeline: Pipeline, frames: int = FRAMES) -> Timing:
    """The kernel with unbounded FIFOs, its inputs arriving at the pace of its interval."""
    written: dict[str, Times] = {}
    held: dict[str, int] = {}
    end = longest = 0
    for process in pipeline.processes:
        schedule = process.schedule(frames)
        arrivals = [written.pop(stream) + 1 for stream in process.reads]
        delays = [
            running_maxima(arrival - times, None)
            for arrival, times in zip(arrivals, schedule.reads, strict=True)
        ]
        for stream, arrival, times in zip(process.reads, arrivals, schedule.reads, strict=True):
            begin = _begin(times, schedule.reads, delays)
            held[stream] = most_held(arrival - 1, begin)
            longest = max(longest, int((begin - arrival).max(initial=0)))
        for stream, times in zip(process.writes, schedule.writes, strict=True):
            paced = _paced(process, pipeline.interval, times)
            begin = _begin(paced, schedule.reads, delays)
            written[stream] = begin + process.latency
            end = max(end, int(written[stream][-1]) if len(begin) else 0)
    return Timing(held=held, latency_cycles=end, longest_wait=longest)


def _paced(process: Process, interval: int, times: Times) -> Times:
    """Inputs come evenly, so that the kernel's slowest process is just kept busy."""
    if not isinstance(process, Load):
        return times
    return times * interval // max(1, process.interval)


def _begin(times: Times, reads: tuple[Times, ...], delays: list[Times]) -> Times:
    """When iterations `times` begin: each plus the delay that reads up to it have made."""
    begin = times
    for read, delay in zip(reads, delays, strict=True):
        begin = np.maximum(begin, times + before(read, times, None).largest(delay, 0))
    return begin


def fifo_depths(pipeline: Pipeline) -> dict[str, int]:
    """By stream: the words that it needs room for. Weights that are streamed wait in DDR: theirs stay."""
    # a stage that takes in blocks of frames works on the second one while the third arrives
    frames = max(FRAMES, 2 * pipeline.frames_at_once)
    timing = simulate(pipeline, frames)
    # a branch may have to hold words of several frames: those that arrive while one word waits
    meeting = -(-timing.longest_wait // pipeline.interval) + 1
    held = timing.held if meeting <= frames else simulate(pipeline, meeting + 1).held
    fixed = {name for process in pipeline.streamers for name in process.writes}
    return {
        name: stream.depth if name in fixed else max(SHALLOWEST, held[name])
        for name, stream in pipeline.streams.items()
    }


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
