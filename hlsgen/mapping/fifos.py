"""How deep the FIFOs of a streaming kernel must be: computed from the processes' schedules.

Time is simulated frame by frame with the inputs arriving evenly at the kernel's interval and FIFOs without
bound; what a FIFO then holds at most is what it needs so that nobody waits for room. The recurrence of a
process' iterations, T[i] = max(T[i - 1] + 1, arrival of the words that iteration i reads), is a running
maximum, so that NumPy does a frame of a million cycles at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hlsgen.layers.stage import Times
from hlsgen.mapping.pipeline import Pipeline
from hlsgen.mapping.processes import Load

FRAMES = 3
"""Simulated: in the second and third, every stage works on two frames at once where it ever does."""
SHALLOWEST = 2
"""A FIFO of fewer words cannot be read and written in the same cycle."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """When each stream's words are written and read, in cycles, and when each process ends its last frame."""

    written: dict[str, Times]
    read: dict[str, Times]
    latency_cycles: int


def simulate(pipeline: Pipeline, frames: int = FRAMES) -> Timing:
    """The kernel with unbounded FIFOs, its inputs arriving at the pace of its interval."""
    written: dict[str, Times] = {}
    read: dict[str, Times] = {}
    end = 0
    for process in pipeline.processes:
        schedule = process.schedule(frames)
        floor = np.arange(schedule.iterations, dtype=np.int64)
        if isinstance(process, Load):
            # evenly, so that the kernel's slowest process is just kept busy
            floor = floor * pipeline.interval // max(1, process.interval)
        start = floor.copy()
        for stream, times in zip(process.reads, schedule.reads, strict=True):
            np.maximum.at(start, times, written[stream] + 1)
        if not isinstance(process, Load):
            start = np.maximum.accumulate(start - floor) + floor
        for stream, times in zip(process.reads, schedule.reads, strict=True):
            read[stream] = start[times]
        for stream, times in zip(process.writes, schedule.writes, strict=True):
            written[stream] = start[times] + process.latency
        end = max(end, int(start[-1]) + process.latency)
    return Timing(written=written, read=read, latency_cycles=end)


def fifo_depths(pipeline: Pipeline) -> dict[str, int]:
    """By stream: the most words that it holds at once."""
    timing = simulate(pipeline)
    return {
        name: max(SHALLOWEST, most_held(timing.written[name], timing.read[name])) for name in pipeline.streams
    }


def most_held(written: Times, read: Times) -> int:
    """The most words between writing and reading; a word written in the cycle of a read needs its room."""
    assert len(written) == len(read)
    if not len(read):
        return 0
    before = np.searchsorted(written, read, side="right")
    return int((before - np.arange(len(read))).max())
