"""Processors at work on rounds of frames: how fast they are, for a batch and for any number of frames."""

from __future__ import annotations

from dataclasses import dataclass

from hlsgen.cost.resources import Resources
from hlsgen.hardware.processor import Processor
from hlsgen.search.task_times import Timed

TOGETHER = (1, 2, 4, 8, 16)
"""Frames of a round: weights are read once for those that lie on chip together."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A processor, what it takes, how many fit; cycles: of a frame, which it takes no less than."""

    processor: Processor
    each: Resources
    count: int
    cycles: int

    @property
    def bound(self) -> float:
        """Frames a cycle that they cannot be above."""
        return self.count / self.cycles

    def bound_of(self, batch: int, together: int = 1) -> float:
        """Frames a cycle of a batch that they cannot be above, in rounds of `together` frames."""
        rounds = -(-batch // (self.count * together))
        return batch / (rounds * together * self.cycles)


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """A candidate at work on rounds of `together` frames, which take so many cycles."""

    candidate: Candidate
    together: int
    cycles: int
    timed: Timed

    @property
    def frames_per_cycle(self) -> float:
        """Frames a cycle of all instances."""
        return self.candidate.count * self.together / self.cycles

    def rate_of(self, batch: int) -> float:
        """Frames a cycle of a batch, which all instances get whole rounds of."""
        rounds = -(-batch // (self.candidate.count * self.together))
        return batch / (rounds * self.cycles)

    @property
    def interval(self) -> int:
        """Cycles a frame of an instance."""
        return -(-self.cycles // self.together)


def frames_together(most: int) -> list[int]:
    """Frames of a round that are tried, where a processor gets `most` of them: of the list, and those that
    deal them evenly in the fewest rounds.
    """
    fewest = -(-most // TOGETHER[-1])
    even = {-(-most // rounds) for rounds in (fewest, fewest + 1)}
    return sorted(even.union(some for some in TOGETHER if some <= most))
