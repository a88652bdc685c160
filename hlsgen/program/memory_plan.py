"""Where tensors lie in DDR: a place may serve another tensor as soon as nobody reads the first one any more.

Greedy by size (Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net Inference, 2020): the
largest tensor first, each at the lowest place that no tensor which lives at the same time takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hlsgen.base.short_repr import Brief


@dataclass(frozen=True, kw_only=True)
class Life:
    """A tensor of `words`, needed from task `first` to task `last`, both included."""

    words: int
    first: int
    last: int

    def meets(self, other: Life) -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, kw_only=True)
class MemoryPlan(Brief):
    """The first word of each tensor, and how many words there are in all."""

    places: Mapping[str, int]
    words: int


def planned(lives: Mapping[str, Life], *, keep: bool = False) -> MemoryPlan:
    """A place for every tensor. keep: none shares its place with another one."""
    placed: dict[str, int] = {}
    for name in sorted(lives, key=lambda one: (-lives[one].words, one)):
        life = lives[name]
        others = sorted(
            (placed[one], placed[one] + lives[one].words) for one in placed if keep or life.meets(lives[one])
        )
        placed[name] = _lowest(life.words, others)
    words = max((place + lives[name].words for name, place in placed.items()), default=0)
    return MemoryPlan(places=placed, words=words)


def _lowest(words: int, taken: Sequence[tuple[int, int]]) -> int:
    """The lowest place of `words` beside those that are taken, [from, to) in ascending order."""
    place = 0
    for first, end in taken:
        if place + words <= first:
            break
        place = max(place, end)
    return place
