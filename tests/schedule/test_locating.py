"""Banks and words of random arrays and indices, held against every address that the indices can take."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.schedule.ir import Local
from hlsgen.schedule.linear import Linear
from hlsgen.schedule.memories import ANY_BANK, BLOCK, COMPLETE, CYCLIC, Dimension, Memory, locate

CASES = settings(max_examples=120, deadline=None)


@dataclass(frozen=True, kw_only=True)
class Case:
    """An array, and an index for each dimension: a constant, and a factor for each variable."""

    memory: Memory
    indices: tuple[Linear, ...]
    values: dict[str, range]
    """Of each variable; the index stays within the array for all of them."""
    field: int

    @property
    def offset(self) -> Linear:
        total = Linear(self.memory.start + self.field)
        for dimension, index in zip(self.memory.dimensions, self.indices, strict=True):
            total = total + index.times(dimension.stride)
        return total

    def every_index(self) -> list[tuple[int, ...]]:
        """The indices for all values of the variables."""
        return [
            tuple(valued(index, dict(zip(self.values, chosen, strict=True))) for index in self.indices)
            for chosen in itertools.product(*self.values.values())
        ]

    def interval(self, form: Linear) -> tuple[int, int]:
        every = [
            valued(form, dict(zip(self.values, chosen, strict=True)))
            for chosen in itertools.product(*self.values.values())
        ]
        return min(every), max(every)


def valued(form: Linear, values: dict[str, int]) -> int:
    return form.constant + sum(factor * values[name] for name, factor in form.terms)


def plain_residue(form: Linear, modulus: int) -> int | None:
    return None if any(factor % modulus for _, factor in form.terms) else form.constant % modulus


@st.composite
def cases(draw: st.DrawFn) -> Case:
    element_bytes = draw(st.sampled_from([1, 2, 4, 12]))
    extents = draw(st.lists(st.integers(2, 7), min_size=1, max_size=3))
    values = {"i": range(draw(st.integers(1, 4))), "j": range(1, 1 + draw(st.integers(1, 4)))}
    dimensions = [
        Dimension(
            extent=extent,
            stride=element_bytes * prod(extents[at + 1 :]),
            split=draw(st.sampled_from(["", COMPLETE, CYCLIC, BLOCK])),
            factor=draw(st.integers(1, 7)),
            reshaped=draw(st.booleans()),
        )
        for at, extent in enumerate(extents)
    ]
    indices = [draw(within(extent, values)) for extent in extents]
    memory = Memory(
        name="a",
        base=Local("a"),
        start=draw(st.sampled_from([0, 24])),
        dimensions=tuple(dimensions),
        element_bits=8 * element_bytes,
        element_bytes=element_bytes,
    )
    field = draw(st.sampled_from([0, 4, 8])) if element_bytes == 12 else 0
    return Case(memory=memory, indices=tuple(indices), values=values, field=field)


@st.composite
def within(draw: st.DrawFn, extent: int, values: dict[str, range]) -> Linear:
    """An index that stays within 0 to extent - 1 for all values."""
    form = Linear(0)
    for name, factor in draw(
        st.lists(st.tuples(st.sampled_from(["i", "j"]), st.sampled_from([-2, -1, 1, 1, 2, 3])), max_size=2)
    ):
        wider = form + Linear(0, ((name, factor),))
        if span(wider, values)[1] - span(wider, values)[0] < extent:
            form = wider
    low, high = span(form, values)
    return form + Linear(draw(st.integers(-low, extent - 1 - high)))


def span(form: Linear, values: dict[str, range]) -> tuple[int, int]:
    every = [
        valued(form, dict(zip(values, chosen, strict=True))) for chosen in itertools.product(*values.values())
    ]
    return min(every), max(every)


def bank_of(dimension: Dimension, index: int) -> int:
    """The bank of an index, by the definition of the pragma."""
    match dimension.split:
        case "complete":
            return index
        case "cyclic":
            return index % min(dimension.factor, dimension.extent)
        case "block":
            return index // -(-dimension.extent // min(dimension.factor, dimension.extent))
    return 0


@CASES
@given(cases())
def test_a_bank_is_the_one_that_every_address_falls_into(case: Case) -> None:
    where = locate(case.memory, case.offset, case.interval, plain_residue)
    banked = [at for at, dimension in enumerate(case.memory.dimensions) if not dimension.reshaped]
    for at, bank in zip(banked, where.banks, strict=False):
        if bank != ANY_BANK:
            dimension = case.memory.dimensions[at]
            assert {bank_of(dimension, index[at]) for index in case.every_index()} == {bank}


@CASES
@given(cases())
def test_constants_have_a_bank_and_a_word(case: Case) -> None:
    indices = tuple(Linear(index[0]) for index in zip(case.every_index()[0], strict=True))
    still = Case(memory=case.memory, indices=indices, values=case.values, field=case.field)
    where = locate(case.memory, still.offset, still.interval, plain_residue)
    assert where.exact
    assert not where.runtime_banks
    expected = [
        bank_of(dimension, index.constant)
        for dimension, index in zip(case.memory.dimensions, indices, strict=True)
        if not dimension.reshaped
    ]
    # and the field of a struct, each of which is a memory
    assert list(where.banks) == [*expected, case.field]


@CASES
@given(cases(), st.data())
def test_an_element_has_a_place_of_its_own(case: Case, data: st.DataObject) -> None:
    plain = replace(
        case.memory, dimensions=tuple(replace(one, reshaped=False) for one in case.memory.dimensions)
    )
    elements = [
        tuple(data.draw(st.integers(0, dimension.extent - 1)) for dimension in plain.dimensions)
        for _ in range(2)
    ]
    found = []
    for element in elements:
        still = Case(memory=plain, indices=tuple(map(Linear, element)), values={}, field=case.field)
        where = locate(plain, still.offset, still.interval, plain_residue)
        found.append((where.banks, where.word))
    assert (found[0] == found[1]) == (elements[0] == elements[1])


@CASES
@given(cases())
def test_indices_are_found_again(case: Case) -> None:
    whole = Memory(
        name="a",
        base=Local("a"),
        start=case.memory.start,
        dimensions=tuple(Dimension(extent=one.extent, stride=one.stride) for one in case.memory.dimensions),
        element_bits=case.memory.element_bits,
        element_bytes=case.memory.element_bytes,
    )
    where = locate(whole, case.offset, case.interval, plain_residue)
    if where.exact:
        for chosen, expected in zip(
            itertools.product(*case.values.values()), case.every_index(), strict=True
        ):
            values = dict(zip(case.values, chosen, strict=True))
            assert tuple(valued(form, values) for form in where.word) == (*expected, case.field)
