"""Stages that do the same in every frame, with nothing left over from one to the next."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hlsgen.layers.stage import Schedule, Stage, Times


@dataclass(frozen=True, kw_only=True, eq=False)
class PeriodicStage(Stage):
    """A stage whose every frame takes `frame_iterations`, with reads and writes at the same ones of each."""

    @property
    @abstractmethod
    def frame_iterations(self) -> int:
        """Iterations of a frame."""

    @abstractmethod
    def frame_times(self) -> tuple[tuple[Times, ...], Times]:
        """The iterations of a frame in which each input's words are read, and in which words are written."""

    @cached_property
    def interval(self) -> int:
        return self.frame_iterations

    def schedule(self, frames: int) -> Schedule:
        reads, writes = self.frame_times()
        begins = np.arange(frames, dtype=np.int64)[:, None] * self.frame_iterations
        return Schedule(
            iterations=frames * self.frame_iterations,
            reads=tuple((begins + times).reshape(-1) for times in reads),
            writes=((begins + writes).reshape(-1),),
        )


def whole(count: int) -> Times:
    """Every one of `count` iterations."""
    return np.arange(count, dtype=np.int64)
