"""Which accesses of a memory may fall into one bank: of an array in many banks few pairs need a look."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from hlsgen.schedule.memories import ANY_BANK

if TYPE_CHECKING:
    from hlsgen.schedule.accesses import Access


class SameBanks:
    """The accesses of a memory, or of a stream, by the banks that they fall into."""

    def __init__(self, accesses: Sequence[Access]) -> None:
        self._banks = [_banks(one) for one in accesses]
        self._anywhere = [at for at, banks in enumerate(self._banks) if banks is None]
        self._near: dict[tuple[int, ...], list[int]] = {}

    def of(self, at: int) -> Sequence[int]:
        """The positions of those that may share a bank with the one at `at`, itself among them, in order."""
        banks = self._banks[at]
        if banks is None:
            return range(len(self._banks))
        if banks not in self._near:
            self._near[banks] = sorted([*self._certain[banks], *self._anywhere])
        return self._near[banks]

    @cached_property
    def _certain(self) -> dict[tuple[int, ...], list[int]]:
        found: dict[tuple[int, ...], list[int]] = {}
        for at, banks in enumerate(self._banks):
            if banks is not None:
                found.setdefault(banks, []).append(at)
        return found


def _banks(access: Access) -> tuple[int, ...] | None:
    """None: the bank of some dimension, or the word, stays run-time."""
    where = access.where
    return None if where is None or ANY_BANK in where.banks else where.banks
