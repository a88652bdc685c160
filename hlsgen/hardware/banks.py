"""The bank mapper: in which memory bank each element of the circular row band lies.

Element (row slot, column) lies in bank (column + offset[slot]) mod banks: the seed's "offset partitions". A
`Pattern` is the set of elements that one port must deliver (or take) in one iteration; iterations differ in
where the pattern is anchored: at any slot (rows go round) and any column. The mapper finds the fewest banks,
and offsets, such that at every anchor all elements of a pattern fall in different banks.

Since the anchor's column shifts every element's bank alike, whether two elements collide depends on the slot
alone:
    row a and row b collide  <=>  offset[b] - offset[a] = column_a - column_b   (mod banks)
so each pair of slots has a set of forbidden differences, and the search is exact: a lower bound, then linear
offsets (slot * stride), then a complete depth-first search for each number of banks. The search is cut off
after SEARCH_STEPS; a map found after that says that it is not proven to have the fewest banks.
Background: Wang, Li, Zhang, Cong, "Memory partitioning for multidimensional arrays in high-level synthesis".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

SEARCH_STEPS = 20_000
"""Slots placed by the depth-first search before it gives a number of banks up (about 0.2 s)."""


@dataclass(frozen=True)
class Pattern:
    """Elements (row, column), relative to the anchor, that one port of every bank serves in one iteration."""

    name: str
    elements: tuple[tuple[int, int], ...]

    @classmethod
    def grid(cls, name: str, rows: tuple[int, ...], columns: int) -> Pattern:
        """The elements at `rows` and at `columns` neighbouring columns."""
        return cls(name, tuple((row, column) for row in rows for column in range(columns)))


@dataclass(frozen=True)
class Collision:
    """Two elements of a pattern that want the same bank in one iteration."""

    pattern: str
    slot: int
    column: int
    bank: int
    elements: tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class BankMap:
    """bank(slot, column) = (column + offsets[slot]) mod banks.

    `fewest`: it is proven that no map with fewer banks exists.
    """

    banks: int
    offsets: tuple[int, ...]
    fewest: bool = True

    @property
    def slots(self) -> int:
        return len(self.offsets)

    @property
    def step(self) -> int | None:
        """What the offsets grow by from each slot to the next, from the last to the first too; None: they do
        not all. The banks of a pattern's elements, counted from its anchor's, are the same everywhere then.
        """
        after = (*self.offsets[1:], self.offsets[0])
        steps = {(b - a) % self.banks for a, b in zip(self.offsets, after, strict=True)}
        return steps.pop() if len(steps) == 1 else None

    def bank(self, slot: int, column: int) -> int:
        return (column + self.offsets[slot % self.slots]) % self.banks

    def collisions(self, pattern: Pattern) -> Iterator[Collision]:
        """Every pair of elements that collides, over every anchor: nothing to yield is the proof.

        Anchors repeat with period `slots` in the row and `banks` in the column, so slots * banks anchors are
        all.
        """
        for slot in range(self.slots):
            for column in range(self.banks):
                seen: dict[int, tuple[int, int]] = {}
                for row, offset in pattern.elements:
                    bank = self.bank(slot + row, column + offset)
                    if bank in seen:
                        yield Collision(pattern.name, slot, column, bank, (seen[bank], (row, offset)))
                    seen[bank] = (row, offset)

    def proves(self, patterns: tuple[Pattern, ...]) -> bool:
        """Whether no pattern has a collision at any anchor."""
        return all(next(self.collisions(pattern), None) is None for pattern in patterns)


def map_banks(patterns: tuple[Pattern, ...], slots: int, *, steps: int = SEARCH_STEPS) -> BankMap | None:
    """The map with the fewest banks on which no pattern collides, or None if rows of a pattern share a slot.

    `slots` is the number of rows that the band holds. Exact unless the map says otherwise: fewer banks are
    impossible. steps: of the search for each number of banks; 0: among linear offsets only.
    """
    if any(_share_a_slot(pattern, slots) for pattern in patterns):
        return None
    banks = max(_lower_bound(pattern, slots) for pattern in patterns)
    fewest = True
    while True:
        offsets, complete = _offsets(patterns, slots, banks, steps)
        if offsets is not None:
            return BankMap(banks, offsets, fewest)
        fewest = fewest and complete
        banks += 1


def _share_a_slot(pattern: Pattern, slots: int) -> bool:
    rows = {row for row, _ in pattern.elements}
    return len({row % slots for row in rows}) < len(rows)


def _lower_bound(pattern: Pattern, slots: int) -> int:
    """Banks that `pattern` cannot do without.

    One for each element of an iteration. And over all iterations: if every row of the pattern takes `columns`
    neighbouring columns, a slot takes that many banks at a time, and one bank serves only slots no two of
    which are ever read together, of which there are `apart` at most: banks * apart >= slots * columns.
    """
    elements = len(pattern.elements)
    rows = sorted({row for row, _ in pattern.elements})
    columns = elements // len(rows)
    if pattern != Pattern.grid(pattern.name, tuple(rows), columns):
        return elements
    apart = _most_slots_apart({(b - a) % slots for a in rows for b in rows if a != b}, slots)
    return max(elements, -(-slots * columns // apart))


def _most_slots_apart(together: set[int], slots: int) -> int:
    """The size of the largest set of slots no two of which differ by a value in `together` (mod slots)."""
    clash = [sum(1 << (slot + difference) % slots for difference in together) for slot in range(slots)]

    def grow(candidates: int, size: int, best: int) -> int:
        while candidates and size + candidates.bit_count() > best:
            slot = candidates.bit_length() - 1
            candidates &= ~(1 << slot)
            best = max(best, grow(candidates & ~clash[slot], size + 1, best))
        return max(best, size)

    # every slot is like every other: slot 0 may be taken to be in the set
    return 1 + grow(((1 << slots) - 1) & ~clash[0] & ~1, 0, 0)


def _offsets(
    patterns: tuple[Pattern, ...], slots: int, banks: int, steps: int
) -> tuple[tuple[int, ...] | None, bool]:
    """Offsets for this number of banks, if any were found, and whether everything was tried."""
    distances = _distances(patterns, slots, banks)
    if distances is None:
        return None, True
    linear = _linear_offsets(distances, slots, banks)
    if linear is not None:
        return linear, True
    if not steps:
        return None, False
    return _search(_forbidden_differences(distances, slots, banks), slots, banks, steps)


_Distances = dict[tuple[int, int], None]
"""(rows, difference): of two slots so many rows apart, the difference of the offsets that collides."""


def _distances(patterns: tuple[Pattern, ...], slots: int, banks: int) -> _Distances | None:
    """The collisions of `patterns`; None: two columns of one row collide whatever the offsets are."""
    # the same distance between the same rows occurs many times; each once, in the order of the first
    apart = dict.fromkeys(
        (row_i, row_j, column_i - column_j)
        for pattern in patterns
        for i, (row_i, column_i) in enumerate(pattern.elements)
        for row_j, column_j in pattern.elements[i + 1 :]
    )
    if any(row_i == row_j and difference % banks == 0 for row_i, row_j, difference in apart):
        return None
    # every slot is an anchor, so that only the distance between two rows tells
    return dict.fromkeys(
        ((row_j - row_i) % slots, difference % banks) for row_i, row_j, difference in apart if row_i != row_j
    )


def _linear_offsets(distances: _Distances, slots: int, banks: int) -> tuple[int, ...] | None:
    """slot * stride for the least stride without a collision, if there is one.

    Slots that many rows apart differ by rows * stride, or (rows - slots) * stride across the last slot.
    """
    for stride in range(banks):
        if all(
            (rows * stride - difference) % banks and ((rows - slots) * stride - difference) % banks
            for rows, difference in distances
        ):
            return tuple(slot * stride % banks for slot in range(slots))
    return None


def _forbidden_differences(
    distances: _Distances, slots: int, banks: int
) -> dict[tuple[int, int], frozenset[int]]:
    """The values of offset[b] - offset[a] (mod banks) at which some pattern collides, for slots a < b."""
    wrong: dict[tuple[int, int], set[int]] = {}
    for rows, difference in distances:
        for a in range(slots):
            b = (a + rows) % slots
            found = difference if a < b else -difference
            wrong.setdefault((min(a, b), max(a, b)), set()).add(found % banks)
    return {pair: frozenset(differences) for pair, differences in wrong.items()}


def _search(
    forbidden: dict[tuple[int, int], frozenset[int]], slots: int, banks: int, most_steps: int
) -> tuple[tuple[int, ...] | None, bool]:
    """Depth-first over slots, the most constrained first; the open choices of a slot are a bit set."""
    neighbours: list[list[tuple[int, frozenset[int]]]] = [[] for _ in range(slots)]
    for (a, b), wrong in forbidden.items():
        neighbours[a].append((b, wrong))
        neighbours[b].append((a, frozenset(-difference % banks for difference in wrong)))
    everything = (1 << banks) - 1
    steps = 0

    def place(open_choices: dict[int, int], chosen: dict[int, int]) -> dict[int, int] | None:
        nonlocal steps
        if not open_choices:
            return chosen
        slot = min(open_choices, key=lambda s: (open_choices[s].bit_count(), -len(neighbours[s])))
        rest = {s: choices for s, choices in open_choices.items() if s != slot}
        choices = open_choices[slot] if chosen else 1  # all offsets may shift together: the first one is 0
        for value in range(banks):
            if choices >> value & 1 and steps < most_steps:
                steps += 1
                narrowed = _narrowed(rest, neighbours[slot], value, banks)
                found = place(narrowed, {**chosen, slot: value}) if narrowed is not None else None
                if found is not None:
                    return found
        return None

    found = place(dict.fromkeys(range(slots), everything), {})
    offsets = tuple(found[slot] for slot in range(slots)) if found is not None else None
    return offsets, steps < most_steps


def _narrowed(
    choices: dict[int, int], neighbours: list[tuple[int, frozenset[int]]], value: int, banks: int
) -> dict[int, int] | None:
    """`choices` without what the neighbours of a slot at offset `value` may not have; None if one has none
    left.
    """
    narrowed = dict(choices)
    for other, wrong in neighbours:
        if other in narrowed:
            for difference in wrong:
                narrowed[other] &= ~(1 << (value + difference) % banks)
            if not narrowed[other]:
                return None
    return narrowed
