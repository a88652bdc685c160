"""A memory for rounds that run at once: what lies between tasks is there for each of some slots, the rest
for each round.

[slot][tensors between tasks], then [round][inputs and outputs]. So the places say nothing of how many
rounds there are, and a round's program is that of its slot.
"""

from __future__ import annotations

from dataclasses import dataclass

from hlsgen.base.short_repr import Brief
from hlsgen.program.memory_plan import MemoryPlan, planned
from hlsgen.program.program import Program


@dataclass(frozen=True, kw_only=True)
class SlotPlan(Brief):
    """plans: of each slot. slot_words, round_words: of a slot and of a round's inputs and outputs."""

    plans: tuple[MemoryPlan, ...]
    slot_words: int
    round_words: int

    @property
    def first_round(self) -> int:
        """The word where the first round's inputs and outputs begin."""
        return len(self.plans) * self.slot_words


def slot_plan(program: Program, slots: int) -> SlotPlan:
    """Places for rounds of which `slots` run at once."""
    lives = program.lives(1)
    inner = planned({name: life for name, life in lives.items() if name not in program.outer})
    outer = planned({name: life for name, life in lives.items() if name in program.outer}, keep=True)
    # a slot without a word would lie where the next one does, and what depends on the one on the other
    slot_words = max(1, inner.words)
    rounds = {name: slots * slot_words + place for name, place in outer.places.items()}
    plans = []
    for slot in range(slots):
        own = {name: slot * slot_words + place for name, place in inner.places.items()}
        words = slots * slot_words + outer.words
        plans.append(MemoryPlan(places={**own, **rounds}, words=words, step=outer.words))
    return SlotPlan(plans=tuple(plans), slot_words=slot_words, round_words=outer.words)
