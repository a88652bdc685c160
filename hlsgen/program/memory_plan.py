"""Where tensors lie in DDR: a place may serve another tensor as soon as nobody reads the first one any more.

Greedy by size (Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net Inference, 2020): the
largest tensor first, each at the lowest place that no tensor which lives at the same time takes. The same in
the order of time, and from both ends in turn, which is the least for a chain; the best of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
    """The first word of each tensor, and how many words there are in all.

    step: words from a round to the next one, of every tensor of which rounds have their own; 0: the frames
    of such a tensor lie one after the other.
    """

    places: Mapping[str, int]
    words: int
    step: int = 0

    def beginning_with(self, name: str, words: int) -> MemoryPlan:
        """The same with the place of `name`, which nothing shares, moved to the beginning."""
        first = self.places[name]
        below = {one for one, place in self.places.items() if place < first}
        places = {one: place + (words if one in below else 0) for one, place in self.places.items()}
        return replace(self, places={**places, name: 0})


def planned(lives: Mapping[str, Life], *, keep: bool = False) -> MemoryPlan:
    """A place for every tensor. keep: none shares its place with another one."""
    if keep:
        lives = {name: Life(words=life.words, first=0, last=0) for name, life in lives.items()}
    largest_first = sorted(lives, key=lambda one: (-lives[one].words, one))
    earliest_first = sorted(lives, key=lambda one: (lives[one].first, -lives[one].last, one))
    found = [_from_below(lives, largest_first), _from_below(lives, earliest_first)]
    turns = _in_turn(lives, earliest_first)
    plans = [_plan(lives, places) for places in ([*found, turns] if turns is not None else found)]
    return min(plans, key=lambda plan: plan.words)


def _plan(lives: Mapping[str, Life], places: Mapping[str, int]) -> MemoryPlan:
    words = max((place + lives[name].words for name, place in places.items()), default=0)
    return MemoryPlan(places=places, words=words)


def needed(lives: Mapping[str, Life]) -> int:
    """Words of the tensors that live during the task which needs most: no plan has less."""
    firsts = {life.first for life in lives.values()}
    return max(
        (sum(one.words for one in lives.values() if one.first <= at <= one.last) for at in firsts), default=0
    )


def _from_below(lives: Mapping[str, Life], order: Sequence[str]) -> dict[str, int]:
    """Each at the lowest place that nothing takes which lives when it does."""
    placed: dict[str, int] = {}
    for name in order:
        placed[name] = _lowest(lives[name].words, _taken(lives, placed, lives[name]))
    return placed


def _in_turn(lives: Mapping[str, Life], order: Sequence[str]) -> dict[str, int] | None:
    """One from below, the next one from above in as little as any plan has; None: they do not fit so.

    Those of a chain always do: of two tensors in turn each has an end of its own.
    """
    words = needed(lives)
    placed: dict[str, int] = {}
    for number, name in enumerate(order):
        taken, size = _taken(lives, placed, lives[name]), lives[name].words
        if number % 2:
            mirrored = [(words - end, words - first) for first, end in taken]
            placed[name] = words - size - _lowest(size, sorted(mirrored))
        else:
            placed[name] = _lowest(size, taken)
        if placed[name] < 0 or placed[name] + size > words:
            return None
    return placed


def _taken(lives: Mapping[str, Life], placed: Mapping[str, int], life: Life) -> list[tuple[int, int]]:
    """What is placed already and lives at the same time, [from, to) in ascending order."""
    return sorted((placed[one], placed[one] + lives[one].words) for one in placed if life.meets(lives[one]))


def _lowest(words: int, taken: Sequence[tuple[int, int]]) -> int:
    """The lowest place of `words` beside those that are taken, [from, to) in ascending order."""
    place = 0
    for first, end in taken:
        if place + words <= first:
            break
        place = max(place, end)
    return place
