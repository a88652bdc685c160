"""Which iterations of a loop wait for which through memories, with what pragmas promise held against the
code."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hlsgen.schedule.accesses import Access, Dependence, Paths, carried
from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.forwarding import forwarded, may_forward, only_store, promote, read_before
from hlsgen.schedule.ir import Global
from hlsgen.schedule.iteration import Carried, Region
from hlsgen.schedule.linear import Linear
from hlsgen.schedule.memories import ANY_BANK, COMPLETE, CYCLIC, Dimension, Memory
from hlsgen.schedule.ranges import Counter
from hlsgen.schedule.releases import release_of
from hlsgen.schedule.same_banks import SameBanks
from hlsgen.schedule.sites import Sites, VariableSite


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a `dependence` pragma says of an array: no dependence between iterations, or one of a distance."""

    memory: Memory
    direction: str
    """raw, war, waw; empty: all."""
    distance: int
    """0: none at all."""
    apart: bool = False
    """Whether it stands in another loop, so that nothing is said of what shows itself in this one."""


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A promise that the code's own addresses contradict."""

    promise: Promise
    found: int
    """The distance that the addresses have."""


def loops_apart(loop: Loop | None, loops: Iterable[Loop], names: Mapping[int, int]) -> set[int]:
    """The names of the loops that neither stand around a loop nor within it, nor are copies of such."""
    if loop is None:
        return set()
    apart, near = set[int](), set[int]()
    for one in loops:
        nested = one.blocks <= loop.blocks or loop.blocks <= one.blocks
        (near if nested else apart).add(names.get(one.node, -1))
    return apart - near - {-1}


def promises_of(
    sites: Sites, function: str, memories: Iterable[Memory], apart: Collection[int] = ()
) -> list[Promise]:
    """The promises that the pragmas make about those memories of a function.

    Names of arguments and variables are the function's own: another function may have the same. `apart`: the
    loops that are others than the one that is looked at.
    """
    found = []
    for memory in memories:
        for site in sites.variables:
            same = site.base == memory.base and (isinstance(site.base, Global) or site.function == function)
            if site.pragma.name == "dependence" and same and not _is_ignored(memory, site):
                promise = _promise(memory, site)
                if promise is not None:
                    found.append(replace(promise, apart=site.loop in apart))
    return found


def _is_ignored(memory: Memory, site: VariableSite) -> bool:
    """Whether a pragma stands on a pointer that leads to an array of the kernel's own.

    "Ignoring dependence pragma on local scalar variable" (214-199) says the tool of a parameter that is
    declared without its first extent: cntoumas/MSc_Thesis, 2023.2: II 5 and 7 in nine of ten loops.
    """
    return not memory.argument and bool(site.extents) and not site.extents[0]


def _promise(memory: Memory, site: VariableSite) -> Promise | None:
    pragma = site.pragma
    said = {*pragma.words, *(text.lower() for text in pragma.texts.values())}
    if "intra" in said:
        return None
    direction = next((one for one in ("raw", "war", "waw") if one in said), "")
    if "false" in said or site.values.get("dependent") == 0:
        return Promise(memory=memory, direction=direction, distance=0)
    distance = site.values.get("distance", 0)
    return Promise(memory=memory, direction=direction, distance=distance) if distance else None


def carry_memories(
    region: Region,
    accesses: dict[Memory, list[Access]],
    counters: dict[str, Counter],
    promises: Sequence[Promise],
    *,
    writes_registers: bool = True,
    around: frozenset[str] = frozenset(),
    trips: int = 1,
    kept: Collection[Memory] = (),
    in_front: Collection[int] = (),
    leaves: int = 1,
    tells_chosen: bool = False,
) -> list[Broken]:
    """Add what memories carry from iteration to iteration to the region; the promises that do not hold.

    `around`: the counters of loops that are flattened with the region's, which has `trips` iterations or
    more. `kept`: memories of which no word becomes a register. `in_front`: the nodes of accesses of words
    that are written in front of the loop. `leaves`: the places at which the loop ends.
    `tells_chosen`: whether the release tells registers apart that a counter chooses.
    """
    broken = []
    for memory, all_of_it in list(accesses.items()):
        mine = [promise for promise in promises if promise.memory == memory]
        free = may_forward(memory) and not mine and memory not in kept
        stay: set[int] = set()
        inside = region.names | around
        if free:
            stay = promote(
                region, memory, counters, inside, writes_registers=writes_registers, in_front=in_front
            )
        read_before(region, memory, counters, inside, leaves)
        all_of_it = accesses[memory]
        late = 0 if writes_registers and memory.is_local else 1
        runs = _Runs(
            counters=counters,
            around=around,
            inside=region.names,
            trips=trips,
            late=late,
            tells_chosen=tells_chosen,
        )
        broken += _carry_memory(
            region, memory, list(all_of_it), runs, mine, stay, forwards=free, leaves=leaves
        )
    return broken


def _carry_memory(
    region: Region,
    memory: Memory,
    accesses: Sequence[Access],
    runs: _Runs,
    promises: Sequence[Promise],
    stay: Collection[int],
    *,
    forwards: bool,
    leaves: int,
) -> list[Broken]:
    broken = []
    kept: dict[int, int] = {}
    paths = Paths(region)
    near = SameBanks(accesses)
    sole = {
        one.node
        for at, one in enumerate(accesses)
        if forwards
        and not one.writes
        and one.node not in stay
        and only_store(region, [accesses[other] for other in near.of(at)], one, paths)
    }
    for at, first in enumerate(accesses):
        for second in (accesses[other] for other in near.of(at)):
            if not (first.writes or second.writes) or (not first.writes and memory.storage != "register"):
                continue
            found = carried(first, second, runs.counters, region.names)
            if found is None and first.writes and not second.writes and runs.share_registers(first, second):
                found = runs.of_chosen(memory)
            if found is None and first.writes and not second.writes:
                found = runs.of_repeated(first, second)
            if found is None:
                continue
            reads = first.writes and not second.writes
            certain = not found.assumed and runs.moves(first)
            forwardable = reads and found.distance == 1 and second.node in sole
            if forwardable and not (certain and leaves > 1) and not runs.takes_turns(first, second):
                edge = forwarded(
                    region,
                    memory,
                    first,
                    second,
                    others=[
                        one
                        for one in accesses
                        if one.writes and one is not first and one.where == first.where
                    ],
                    assumed=found.assumed,
                    runs=certain,
                    again=runs.again(first, second),
                    kept=kept,
                )
                contradiction = None
            else:
                edge, contradiction = _edge(first, second, memory, found, promises, runs.late)
            if edge is not None:
                region.carried.append(edge)
            if contradiction is not None:
                broken.append(contradiction)
    return broken


@dataclass(frozen=True, kw_only=True)
class _Runs:
    """How addresses move in a loop and in those that are flattened with it.

    counters, around: of the loop and of those around it. inside: what an iteration computes. trips: of the
    loop, at least. late: cycles from the write of a register of the array to the read that it is there for.
    tells_chosen: whether the release tells registers apart that a counter chooses.
    """

    counters: dict[str, Counter]
    around: frozenset[str]
    inside: Collection[str]
    trips: int
    late: int
    tells_chosen: bool = False

    def moves(self, access: Access) -> bool:
        """Whether an address moves with the loop's own counters."""
        return any(name in self.counters for name in _names(access))

    def share_registers(self, store: Access, load: Access) -> bool:
        """Whether a word is chosen among registers by an index that stays run-time, when it is written and
        when it is read: each of them is a value of its own to the tool, which any iteration may change.

        Arrays that are split completely, and words of banks whose address stays while the bank moves: for
        good, or of a cyclic split until all banks have had their turn. In every bank the tool then sees a
        read of the word that the iteration before may have written (Vignesh-Er/ARM-SOC_PS-5_TEST_BENCHERS,
        2024.2: s[i] += x[i] of 16 banks has II 2).
        """
        places = [one.where for one in (store, load) if one.where is not None]
        if len(places) < 2 or not all(ANY_BANK in place.banks for place in places):
            return False
        if all(place.memory.storage == "register" for place in places):
            return True
        dimensions = places[0].memory.dimensions
        return all(
            self._stays_in_bank(form, dimension)
            for place in places
            for form, dimension in zip(place.word, dimensions, strict=False)
        )

    def of_chosen(self, memory: Memory) -> Dependence | None:
        """What iterations leave to one another in such words where their addresses tell that they never meet;
        None if it is nothing.

        Of registers the tool knows that, too, from 2024.1 on, and of banks where it knows how often the loop
        runs: they meet where a loop around begins it anew.
        """
        told = self.tells_chosen and (memory.storage == "register" or self.trips > 1)
        if told and not self.around:
            return None
        return Dependence(distance=self.trips if told else 1, assumed=True)

    def of_repeated(self, store: Access, load: Access) -> Dependence | None:
        """What a run of the loop leaves to the next one of the loop around that it is flattened with, in
        words that the loop's own counters choose alone: they come again after as many iterations.

        2022.1, II 1 asked for: sums of four words in turn have II 2 (zzzDavid/hls-perf-example), of twelve
        at 2.5 ns too; of ten there, without a product, II 1 (cornell-zhang/allo-pldi24-artifact).
        """
        if not self.around or self.trips < 2 or store.where is None or store.where != load.where:
            return None
        own = (
            store.where.exact and ANY_BANK not in store.where.banks and _names(store) <= self.counters.keys()
        )
        return Dependence(distance=self.trips, assumed=False) if own and self.moves(store) else None

    def takes_turns(self, store: Access, load: Access) -> bool:
        """Whether iterations go from one bank of a cyclic split to the next: the write is one of each bank
        then, and the tool keeps the value of none."""
        places = [one.where for one in (store, load) if one.where is not None]
        return any(
            ANY_BANK in place.banks and any(one.split == CYCLIC for one in place.memory.dimensions)
            for place in places
        )

    def _stays_in_bank(self, form: Linear, dimension: Dimension) -> bool:
        """Whether the next iteration may have the same address in a bank, or in each of them."""
        if dimension.split == COMPLETE:
            return True
        moving = {name: factor for name, factor in form.terms if self._moves_name(name)}
        if dimension.split != CYCLIC:
            return not moving
        if not moving.keys() <= self.counters.keys():
            return False
        steps = sum(factor * self.counters[name].step for name, factor in moving.items())
        return abs(steps) < dimension.banks

    def _moves_name(self, name: str) -> bool:
        return name in self.counters or name in self.inside or name in self.around

    def again(self, store: Access, load: Access) -> int:
        """The least iterations after which a word has been written that is not the one before's.

        A word whose address only loops around move is written in every iteration of a run of the loop, and
        from its second one on known to be the last one's: no public report waits for the memory there. What
        is read because a part of a word is written (2022.1: II 2) is none of these.
        """
        if load.instruction is store.instruction:
            return 1
        if store.where is None or load.where is None or store.where != load.where or not store.where.exact:
            return 1
        names = _names(store)
        stays = names <= self.around and names.isdisjoint({*self.counters, *self.inside})
        return self.trips if stays and ANY_BANK not in store.where.banks else 1


TELLS_CHOSEN = (2024, 1)


def tells_chosen_apart(version: str) -> bool:
    """Whether a release tells words apart that a counter chooses among registers or banks.

    Registers: yuan0404/CS-Project_High-Level-Synthesis-Based-Acceleration-of-LLaMA2-Inference-on-FPGA and
    IEEE-AICAS/AICAS2025_GC, 2024.2, 0K-Chinmay/ML_KEM-on-PYNQ-board-using-HLS, 2024.1: partial[i % 4] += ...
    has II 1. Banks: the first of these, sums in 32 banks, II 1. Where iterations are not counted by a
    constant II 2 (Vignesh-Er/ARM-SOC_PS-5_TEST_BENCHERS, 2024.2), and II 4 before (kabazoka/NTU-Special-
    Project-on-AAHLS matrix_mul.cpp, 2022.1).
    """
    return release_of(version) >= TELLS_CHOSEN


def _names(access: Access) -> set[str]:
    forms = access.where.word if access.where is not None else ()
    return {name for form in forms for name, _ in form.terms}


def _edge(
    first: Access,
    second: Access,
    memory: Memory,
    found: Dependence,
    promises: Sequence[Promise],
    late: int,
) -> tuple[Carried | None, Broken | None]:
    direction = ("w" if second.writes else "r") + "a" + ("w" if first.writes else "r")
    distance, assumed = found.distance, found.assumed
    for promise in promises:
        if promise.direction in ("", direction):
            if not assumed and (not promise.distance or promise.distance > distance):
                if promise.apart:
                    continue
                return None, Broken(promise=promise, found=distance)
            if not promise.distance:
                return None, None
            distance = max(distance, promise.distance)
    if memory.storage == "register":
        if not first.writes or second.writes:
            return None, None
        return Carried(first.node, second.node, distance, memory.name, assumed, late=late), None
    if not first.writes or (memory.bundle and second.writes):
        # writes of an AXI port come in the order in which they were asked for: of five loops of public
        # reports that write words that may be the same all have II 1
        return None, None
    # a word written in a cycle can be read in the next
    return Carried(first.node, second.node, distance, memory.name, assumed, cycles=1), None
