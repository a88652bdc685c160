"""Accesses by bank: the pairs that are looked at are those that may share one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hlsgen.schedule.accesses import Access, same_bank
from hlsgen.schedule.ir import Instruction, IntType, Local
from hlsgen.schedule.memories import ANY_BANK, Dimension, Memory, Where
from hlsgen.schedule.same_banks import SameBanks

MEMORY = Memory(
    name="a",
    base=Local("a"),
    start=0,
    dimensions=(Dimension(extent=4, stride=16), Dimension(extent=4, stride=4)),
    element_bits=32,
    element_bytes=4,
)
BANKS = st.one_of(st.none(), st.tuples(*[st.sampled_from([0, 1, 2, ANY_BANK])] * 2))


def accesses_of(banks: list[tuple[int, int] | None]) -> list[Access]:
    one = Instruction(name="", opcode="load", type=IntType(32))
    return [
        Access(at, None if its is None else Where(MEMORY, its, (), exact=True), True, "body", one)
        for at, its in enumerate(banks)
    ]


@given(st.lists(BANKS, max_size=12))
def test_no_pair_that_may_share_a_bank_is_left_out(banks: list[tuple[int, int] | None]) -> None:
    accesses = accesses_of(banks)
    near = SameBanks(accesses)
    for at, first in enumerate(accesses):
        looked_at = list(near.of(at))
        assert looked_at == sorted(looked_at)
        for other, second in enumerate(accesses):
            if first.where is None or second.where is None or same_bank(first.where, second.where):
                assert other in looked_at
            elif ANY_BANK not in (*first.where.banks, *second.where.banks):
                assert other not in looked_at
