"""The shallowest FIFOs with which a streaming kernel still runs through: exact, from the schedules.

A network of processes whose reads and writes do not depend on the data stands still, or does not, whatever
the speed of each process (Kahn). So it is enough to run it once, in any order: every process goes as far as
words and room allow. Where all stand still, processes wait for each other in a circle; the shallowest full
FIFO in it gets room for one word more, and it goes on from there (after Parks, Bounded Scheduling of Process
Networks, 1995).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.processes import Process
from hlsgen.layers.stage import Schedule

NEVER = np.iinfo(np.int64).max
MOST_WORDS = 20_000
"""The most words of all streams in a frame; a larger network takes too long here, word by word."""


def small_enough(pipeline: Pipeline) -> bool:
    """Whether `least_depths` answers within seconds."""
    words = sum(stream.words.frame_words for stream in pipeline.streams.values())
    return words * pipeline.frames_at_once <= MOST_WORDS


def least_depths(pipeline: Pipeline, frames: int | None = None) -> dict[str, int]:
    """The words that each stream must hold, at least one. With all of them so deep the kernel runs through.

    frames: of the call that is looked at; None: two, or two blocks where a stage takes in blocks of them.
    """
    frames = frames or 2 * pipeline.frames_at_once
    state = _State(pipeline, frames, dict.fromkeys(pipeline.streams, 1))
    while not state.run():
        state.depths[state.shallowest_full()] += 1
    return state.depths


def runs_through(pipeline: Pipeline, depths: Mapping[str, int], frames: int = 2) -> bool:
    """Whether the kernel ends with FIFOs of `depths`."""
    return _State(pipeline, frames, dict(depths)).run()


@dataclass
class _State:
    pipeline: Pipeline
    frames: int
    depths: dict[str, int]
    read: dict[str, int] = field(init=False)
    written: dict[str, int] = field(init=False)
    waits: dict[str, tuple[str, bool]] = field(init=False)
    """The stream that each process waits for, and whether to write it (it is full) or to read it."""

    def __post_init__(self) -> None:
        self.read = dict.fromkeys(self.pipeline.streams, 0)
        self.written = dict.fromkeys(self.pipeline.streams, 0)
        self.waits = {}
        self.schedules = {one.name: one.schedule(self.frames) for one in self.pipeline.processes}

    def run(self) -> bool:
        """Moves words until nothing moves; True if everything has been read and written."""
        moved = True
        while moved:
            moved = False
            for process in self.pipeline.processes:
                moved = self._advance(process, self.schedules[process.name]) or moved
        return all(
            self.written[stream] == len(times)
            for process in self.pipeline.processes
            for stream, times in zip(process.writes, self.schedules[process.name].writes, strict=True)
        )

    def shallowest_full(self) -> str:
        """The shallowest of the full streams in the circle of processes that wait for each other."""
        writer = {stream: one.name for one in self.pipeline.processes for stream in one.writes}
        reader = {stream: one.name for one in self.pipeline.processes for stream in one.reads}
        seen: list[str] = []
        process = next(iter(self.waits))
        while process not in seen:
            seen.append(process)
            stream, to_write = self.waits[process]
            process = reader[stream] if to_write else writer[stream]
        circle = seen[seen.index(process) :]
        full = [stream for stream, to_write in (self.waits[name] for name in circle) if to_write]
        assert full, "processes wait for each other's words: no room would help"
        return min(full, key=lambda stream: (self.depths[stream], stream))

    def _advance(self, process: Process, schedule: Schedule) -> bool:
        """Runs `process` until it waits, reads before writes and each in the order of its streams."""
        no_word = [
            _at(times, self.written[stream])
            for stream, times in zip(process.reads, schedule.reads, strict=True)
        ]
        no_room = [
            _at(times, self.read[stream] + self.depths[stream])
            for stream, times in zip(process.writes, schedule.writes, strict=True)
        ]
        read_waits, write_waits = min(no_word, default=NEVER), min(no_room, default=NEVER)
        moved = False
        for index, (stream, times) in enumerate(zip(process.reads, schedule.reads, strict=True)):
            done = read_waits <= write_waits and index >= no_word.index(read_waits)
            count = _before(times, min(read_waits, write_waits), inclusive=not done)
            moved = moved or count > self.read[stream]
            self.read[stream] = count
        for index, (stream, times) in enumerate(zip(process.writes, schedule.writes, strict=True)):
            here = write_waits < read_waits and index < no_room.index(write_waits)
            count = _before(times, min(read_waits, write_waits), inclusive=here)
            moved = moved or count > self.written[stream]
            self.written[stream] = count
        self.waits.pop(process.name, None)
        if write_waits < read_waits:
            self.waits[process.name] = (process.writes[no_room.index(write_waits)], True)
        elif read_waits < NEVER:
            self.waits[process.name] = (process.reads[no_word.index(read_waits)], False)
        return moved


def _at(times: np.ndarray[tuple[int], np.dtype[np.int64]], index: int) -> int:
    """The iteration of the word `index`; NEVER after the last."""
    return int(times[index]) if index < len(times) else NEVER


def _before(times: np.ndarray[tuple[int], np.dtype[np.int64]], iteration: int, *, inclusive: bool) -> int:
    """Words whose iteration is before `iteration`, or that one too."""
    return int(np.searchsorted(times, iteration, side="right" if inclusive else "left"))
