"""Accesses of random loops, held against running them; ways through random graphs, against all of them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.schedule.accesses import Access, Paths, PortUse, carried, ordered, port_uses, same_word
from hlsgen.schedule.ir import VOID, Instruction, Local
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.linear import Linear
from hlsgen.schedule.memories import BLOCK, COMPLETE, CYCLIC, Dimension, Memory, Where, locate
from hlsgen.schedule.ranges import Counter

CASES = settings(max_examples=200, deadline=None)
ITERATIONS = 12
VALUES = {"outer": range(3), "loaded": range(3)}
"""`outer` is the same in all iterations, `loaded` is new in each."""
LOAD = Instruction("x", "load", VOID)


def memory_of(
    *extents: int, split: str = "", factor: int = 1, kind: str = "", reshaped: bool = False
) -> Memory:
    """An array of words of 4 bytes, whose last dimension is split."""
    dimensions, stride = [], 4
    for extent in reversed(extents):
        dimensions.append(Dimension(extent=extent, stride=stride))
        stride *= extent
    dimensions[0] = replace(dimensions[0], split=split, factor=factor, reshaped=reshaped)
    return Memory(
        name="a",
        base=Local("a"),
        start=0,
        dimensions=tuple(reversed(dimensions)),
        element_bits=32,
        element_bytes=4,
        kind=kind,
        argument=True,
    )


class Program:
    """A loop with the counter `i`, and the indices of its accesses."""

    def __init__(self, counter: Counter, memory: Memory) -> None:
        self.counter, self.memory = counter, memory

    def interval(self, form: Linear) -> tuple[int, int]:
        low = high = form.constant
        start = self.counter.start or 0
        last = start + self.counter.step * (ITERATIONS - 1)
        ends = {"i": (min(start, last), max(start, last))}
        ends |= {name: (values[0], values[-1]) for name, values in VALUES.items()}
        for name, factor in form.terms:
            products = [factor * end for end in ends[name]]
            low, high = low + min(products), high + max(products)
        return low, high

    def residue(self, form: Linear, modulus: int) -> int | None:
        rest = form.constant
        for name, factor in form.terms:
            if name == "i" and not factor * self.counter.step % modulus:
                rest += factor * (self.counter.start or 0)
            elif factor % modulus:
                return None
        return rest % modulus

    def where(self, indices: tuple[Linear, ...]) -> Where:
        offset = Linear(0)
        for index, dimension in zip(indices, self.memory.dimensions, strict=True):
            offset = offset + index.times(dimension.stride)
        return locate(self.memory, offset, self.interval, self.residue)

    def access(self, indices: tuple[Linear, ...], writes: bool = False, node: int = 0) -> Access:
        return Access(node, self.where(indices), writes, "body", LOAD)

    def distances(self, first: tuple[Linear, ...], second: tuple[Linear, ...]) -> set[int]:
        """Iterations after which the second falls on an element that the first did."""
        found = set()
        for before, after in itertools.combinations(range(ITERATIONS), 2):
            for outer, one, other in itertools.product(VALUES["outer"], VALUES["loaded"], VALUES["loaded"]):
                if self.element(first, before, outer, one) == self.element(second, after, outer, other):
                    found.add(after - before)
        return found

    def element(self, indices: tuple[Linear, ...], iteration: int, outer: int, loaded: int) -> list[int]:
        values = {"outer": outer, "loaded": loaded}
        values["i"] = (self.counter.start or 0) + iteration * self.counter.step
        return [
            index.constant + sum(factor * values[name] for name, factor in index.terms) for index in indices
        ]


def counter_of(start: int, step: int) -> Counter:
    return Counter(name="i", start=start, step=step, trips=ITERATIONS, values=None)


TERMS = st.lists(
    st.tuples(st.sampled_from(["i", "i", "outer", "loaded"]), st.sampled_from([1, 1, 2])),
    max_size=2,
    unique_by=lambda term: term[0],
).map(lambda terms: tuple(sorted(terms)))
INDICES = st.builds(Linear, st.integers(0, 8), TERMS)
COUNTERS = st.builds(counter_of, st.integers(0, 3), st.integers(1, 3))
MEMORIES = st.builds(
    memory_of,
    st.just(128),
    st.just(128),
    split=st.sampled_from(["", COMPLETE, CYCLIC, BLOCK]),
    factor=st.integers(2, 5),
)


@CASES
@given(COUNTERS, MEMORIES, st.tuples(INDICES, INDICES), st.tuples(INDICES, INDICES), st.booleans())
def test_distances_are_those_of_the_iterations(
    counter: Counter,
    memory: Memory,
    first: tuple[Linear, Linear],
    second: tuple[Linear, Linear],
    alike: bool,
) -> None:
    program = Program(counter, memory)
    if alike:  # the usual case: the same variables, other constants
        second = (Linear(second[0].constant, first[0].terms), Linear(second[1].constant, first[1].terms))
    found = carried(program.access(first), program.access(second), {"i": counter}, {"i", "loaded"})
    expected = program.distances(first, second)
    if found is None:
        assert not expected
    elif not found.assumed:
        assert found.distance == min(expected, default=found.distance)
        assert expected or found.distance >= ITERATIONS
    elif expected:
        assert found.distance <= min(expected)


@pytest.mark.parametrize(
    ("write", "read", "step", "distance"),
    [
        (Linear(8, (("i", 1),)), Linear(0, (("i", 1),)), 1, 8),
        (Linear(8, (("i", 1),)), Linear(0, (("i", 1),)), 2, 4),
        (Linear(8, (("i", 2),)), Linear(0, (("i", 2),)), 1, 4),
        (Linear(7, (("i", 2),)), Linear(0, (("i", 2),)), 1, None),
        (Linear(0, (("i", 1),)), Linear(8, (("i", 1),)), 1, None),
        (Linear(0, (("i", 1),)), Linear(0, (("i", 1),)), 1, None),
        (Linear(5), Linear(5), 1, 1),
        (Linear(5), Linear(6), 1, None),
        (Linear(5, (("outer", 1),)), Linear(5, (("outer", 1),)), 1, 1),
    ],
)
def test_a_distance_is_known_where_addresses_run_alike(
    write: Linear, read: Linear, step: int, distance: int | None
) -> None:
    program = Program(counter_of(0, step), memory_of(64))
    found = carried(program.access((write,)), program.access((read,)), {"i": program.counter}, {"i"})
    assert (found.distance if found else None) == distance
    assert found is None or not found.assumed


def test_what_is_loaded_may_be_any_word() -> None:
    program = Program(counter_of(0, 1), memory_of(64))
    bin_ = program.access((Linear(0, (("loaded", 1),)),))
    found = carried(bin_, bin_, {"i": program.counter}, {"i", "loaded"})
    assert found is not None
    assert (found.distance, found.assumed) == (1, True)


@CASES
@given(COUNTERS, MEMORIES, st.tuples(INDICES, INDICES), st.tuples(INDICES, INDICES))
def test_words_of_one_iteration(
    counter: Counter, memory: Memory, first: tuple[Linear, Linear], second: tuple[Linear, Linear]
) -> None:
    program = Program(counter, memory)
    same = same_word(program.where(first), program.where(second))
    found = {
        program.element(first, at, outer, loaded) == program.element(second, at, outer, loaded)
        for at, outer, loaded in itertools.product(range(ITERATIONS), *VALUES.values())
    }
    assert same is None or found == {same}


def region_of(graph: dict[str, list[str]]) -> Region:
    return Region("top", None, [], [], [], set(), list(graph), graph)


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    count = draw(st.integers(1, 7))
    return {
        str(node): draw(
            st.lists(st.sampled_from([str(one) for one in range(node + 1, count)]), max_size=2, unique=True)
        )
        if node + 1 < count
        else []
        for node in range(count)
    }


def ways(graph: dict[str, list[str]], start: str) -> list[list[str]]:
    """Every way from a node on."""
    return [[start]] + [[start, *rest] for one in graph[start] for rest in ways(graph, one)]


@CASES
@given(graphs(), st.dictionaries(st.integers(0, 8).map(str), st.integers(1, 5)))
def test_the_heaviest_way_is_that_of_all_ways(graph: dict[str, list[str]], weights: dict[str, int]) -> None:
    expected = max(sum(weights.get(node, 0) for node in way) for start in graph for way in ways(graph, start))
    paths = Paths(region_of(graph))
    inside = {name: weight for name, weight in weights.items() if name in graph}
    assert paths.most(inside) == expected
    for first, second in itertools.product(graph, repeat=2):
        assert paths.follows(first, second) == any(second in way for way in ways(graph, first))


def uses_of(memory: Memory, *accesses: Access) -> PortUse:
    """The busiest bank of a memory."""
    region = region_of({"body": ["left", "right"], "left": [], "right": []})
    return port_uses({memory: accesses}, region)[0]


def test_ports_of_a_bank_count_what_one_way_does() -> None:
    memory = memory_of(64)
    program = Program(counter_of(0, 1), memory)
    reads = [
        Access(node, program.where((Linear(node, (("i", 1),)),)), False, block, LOAD)
        for node, block in enumerate(["left", "left", "right", "right", "right"])
    ]
    use = uses_of(memory, *reads)
    assert (use.reads, use.writes, use.together, use.interval) == (3, 0, 3, 2)
    write = Access(9, program.where((Linear(9, (("i", 1),)),)), True, "body", LOAD)
    use = uses_of(memory, *reads[:2], write)
    assert (use.reads, use.writes, use.together, use.interval) == (2, 1, 3, 2)


@pytest.mark.parametrize(
    ("kind", "reads", "writes", "interval"),
    [
        ("", 2, 0, 1),
        ("", 1, 1, 1),
        ("", 2, 2, 2),
        ("ram_2p", 4, 0, 2),
        ("ram_2p", 0, 2, 2),
        ("ram_2p", 1, 1, 1),
        ("ram_t2p", 0, 2, 1),
        ("ram_1p", 1, 1, 2),
        ("ram_1p", 2, 0, 2),
        ("ram_s2p", 1, 1, 1),
        ("ram_s2p", 2, 0, 2),
        ("ram_1wnr", 5, 1, 1),
        ("ram_1wnr", 5, 2, 2),
        ("rom_1p", 2, 0, 2),
        ("rom_2p", 2, 0, 1),
        ("rom_np", 5, 0, 1),
    ],
)
def test_ports_by_the_kind_of_a_memory(kind: str, reads: int, writes: int, interval: int) -> None:
    memory = memory_of(64, kind=kind)
    program = Program(counter_of(0, 1), memory)
    accesses = [
        program.access((Linear(node, (("i", 1),)),), writes=node >= reads, node=node)
        for node in range(reads + writes)
    ]
    assert uses_of(memory, *accesses).interval == interval


def test_a_word_of_a_reshaped_array_is_read_once() -> None:
    memory = memory_of(64, split=CYCLIC, factor=4, reshaped=True)
    program = Program(counter_of(0, 1), memory)
    reads = [program.access((Linear(at, (("i", 4),)),), node=at) for at in range(8)]
    assert uses_of(memory, *reads[:4]).reads == 1
    assert uses_of(memory, *reads).reads == 2


def test_reads_wait_for_writes_of_their_word() -> None:
    memory = memory_of(64)
    program = Program(counter_of(0, 1), memory)
    paths = Paths(region_of({"body": []}))
    here, there = (Linear(0, (("i", 1),)),), (Linear(1, (("i", 1),)),)
    accesses = [
        program.access(here, writes=True, node=0),
        program.access(there, node=1),
        program.access(here, node=2),
        program.access(here, writes=True, node=3),
    ]
    assert set(ordered(accesses, paths)) == {(0, 2, 1), (0, 3, 1), (2, 3, 0)}
