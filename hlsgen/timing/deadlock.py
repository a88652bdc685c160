"""The shallowest FIFOs with which a streaming kernel still runs through: exact, from the schedules.

A network of processes whose reads and writes do not depend on the data stands still, or does not, whatever
the speed of each process (Kahn). So it is enough to run it once, in any order: every process goes as far as
words and room allow. Where all stand still, processes wait for each other in a circle; the shallowest full
FIFO in it gets room for one word more, and it goes on from there (after Parks, Bounded Scheduling of Process
Networks, 1995).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.processes import Process

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
        processes = self.pipeline.processes
        self.moves = {one.name: _Moves.of(one, self.frames) for one in processes}
        self.writer = {stream: one.name for one in processes for stream in one.writes}
        self.reader = {stream: one.name for one in processes for stream in one.reads}

    def run(self) -> bool:
        """Moves words until nothing moves; True if everything has been read and written."""
        waiting = dict.fromkeys(self.moves)
        while waiting:
            name = next(iter(waiting))
            del waiting[name]
            # who reads what came, and who has room now
            waiting |= dict.fromkeys(self._advance(name, self.moves[name]))
        return all(
            self.written[stream] == len(times) for one in self.moves.values() for stream, times in one.writes
        )

    def shallowest_full(self) -> str:
        """The shallowest of the full streams in the circle of processes that wait for each other."""
        seen: list[str] = []
        process = next(name for name in self.moves if name in self.waits)
        while process not in seen:
            seen.append(process)
            stream, to_write = self.waits[process]
            process = self.reader[stream] if to_write else self.writer[stream]
        circle = seen[seen.index(process) :]
        full = [stream for stream, to_write in (self.waits[name] for name in circle) if to_write]
        assert full, "processes wait for each other's words: no room would help"
        return min(full, key=lambda stream: (self.depths[stream], stream))

    def _advance(self, name: str, moves: _Moves) -> list[str]:
        """Runs a process until it waits, reads before writes and each in the order of its streams: whom that
        lets go on.
        """
        no_word = [_at(times, self.written[stream]) for stream, times in moves.reads]
        no_room = [_at(times, self.read[stream] + self.depths[stream]) for stream, times in moves.writes]
        read_waits, write_waits = min(no_word, default=NEVER), min(no_room, default=NEVER)
        last, moved = min(read_waits, write_waits), []
        for index, (stream, times) in enumerate(moves.reads):
            done = read_waits <= write_waits and index >= no_word.index(read_waits)
            count = bisect_left(times, last) if done else bisect_right(times, last)
            if count > self.read[stream]:
                moved.append(self.writer[stream])
            self.read[stream] = count
        for index, (stream, times) in enumerate(moves.writes):
            here = write_waits < read_waits and index < no_room.index(write_waits)
            count = bisect_right(times, last) if here else bisect_left(times, last)
            if count > self.written[stream]:
                moved.append(self.reader[stream])
            self.written[stream] = count
        self.waits.pop(name, None)
        if write_waits < read_waits:
            self.waits[name] = (moves.writes[no_room.index(write_waits)][0], True)
        elif read_waits < NEVER:
            self.waits[name] = (moves.reads[no_word.index(read_waits)][0], False)
        return moved


@dataclass(frozen=True, kw_only=True)
class _Moves:
    """The streams of a process, each with the iterations of its words."""

    reads: tuple[tuple[str, list[int]], ...]
    writes: tuple[tuple[str, list[int]], ...]

    @classmethod
    def of(cls, process: Process, frames: int) -> _Moves:
        schedule = process.schedule(frames)
        reads = zip(process.reads, schedule.reads, strict=True)
        writes = zip(process.writes, schedule.writes, strict=True)
        return cls(
            reads=tuple((stream, times.tolist()) for stream, times in reads),
            writes=tuple((stream, times.tolist()) for stream, times in writes),
        )


def _at(times: list[int], index: int) -> int:
    """The iteration of the word `index`; NEVER after the last."""
    return times[index] if index < len(times) else NEVER
