"""Dependences that would keep an II above what is asked for, and that the code neither shows nor rules out.

Of the loops of public reports that were looked at none had the II that such a dependence would give.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from hlsgen.schedule.accesses import PortUse
from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.delays import FLOATS, Delays
from hlsgen.schedule.dependences import Broken
from hlsgen.schedule.forwarding import is_fixed
from hlsgen.schedule.ir import Global, Instruction, Local
from hlsgen.schedule.iteration import Carried, Node, Region
from hlsgen.schedule.memories import ANY_BANK, Memory, Where
from hlsgen.schedule.names import function_name
from hlsgen.schedule.operation import Operation
from hlsgen.schedule.pointers import variables_of
from hlsgen.schedule.ranges import Counter
from hlsgen.schedule.recurrences import waiting_for_themselves
from hlsgen.schedule.region import RegionBuilder
from hlsgen.schedule.releases import release_of
from hlsgen.schedule.results import Recurrence


def is_guessed(nodes: Sequence[Node], edge: Carried, definitions: Mapping[str, Instruction]) -> bool:
    """Whether a dependence hangs on two different indices of counters, which the tool may tell apart where it
    is not told here. Of indices that are read from memory (a histogram) it knows no more."""
    if edge.is_port:
        return True  # seen in one design alone, of words whose addresses differ
    if edge.begins:
        # all three loops that end by what is read from an AXI port had the II that follows from its cycles
        return not _waits_for_port(nodes, edge.source)
    both = [nodes[one].access for one in (edge.source, edge.target)]
    places = [one.where for one in both if one is not None and one.where is not None]
    if not edge.assumed or len(places) < len(both):
        return False
    if all(ANY_BANK in place.banks for place in places):
        return True  # registers that an index chooses: the tool takes some of them to be the same
    return places[0] != places[1] and not any(_is_data(place, definitions) for place in places)


def _waits_for_port(nodes: Sequence[Node], index: int) -> bool:
    """Whether a node takes what an AXI port gives in the same iteration."""
    waiting, seen = [index], {index}
    while waiting:
        node = nodes[waiting.pop()]
        if node.operation is not None and node.operation.kind == "axi_read":
            return True
        new = [one for one in node.after if one not in seen]
        seen.update(new)
        waiting += new
    return False


def _is_data(place: Where, definitions: Mapping[str, Instruction]) -> bool:
    """Whether an index is computed from what is read."""
    waiting = [name for form in place.word for name, _ in form.terms]
    seen: set[str] = set()
    while waiting:
        one = definitions.get(waiting.pop())
        if one is None or one.name in seen or one.opcode == "phi":
            continue
        seen.add(one.name)
        if one.opcode in ("load", "call"):
            return True
        waiting += [each.name for each in one.operands if isinstance(each, Local)]
    return False


def says_guessed(edge: Carried | None, least: int, between: tuple[int, int]) -> Iterator[str]:
    """That an II hangs on such a dependence. least: the II without. between: what it is with it, without and
    with chains.

    Of loops that end by a word of a memory, II 2 with and without chains, six of seven had it; of eight with
    another II two.
    """
    if edge is None or (edge.begins and between == (2, 2)):
        return
    what = f"whether {edge.through} is read where it was written"
    if edge.is_port:
        what = f"whether a read of {edge.through} waits for the answer to the last write"
    elif edge.begins:
        what = f"in which cycle {edge.through} is known"
    yield f"the II is {least} or more: {what} cannot be told"


def says_unknown(region: Region, builder: RegionBuilder, place_of: Callable[[Loop], str]) -> list[str]:
    """Why nothing can be said of the II: loops that stay rolled, functions of which nothing is known,
    pointers that are one of several."""
    found = [
        f"the loop at {place_of(one)} stays rolled within it"
        + (
            ""
            if one.header in builder.ranges.trips
            else ": its iterations vary, so that the tool pipelines it alone"
        )
        for one in region.rolled
    ]
    found += [f"nothing is known of {function_name(name)}" for name in sorted(region.calls)]
    found += _says_swapped(region, builder.definitions)
    waiting = waiting_for_themselves(region, region.carried) if region.library else set()
    return found + [
        f"nothing is known of the cycles of {name}, for which the next iteration waits"
        for name in sorted({name for index, name in region.library.items() if index in waiting})
    ]


def _says_swapped(region: Region, definitions: Mapping[str, Instruction]) -> Iterator[str]:
    """Which pointers may lead to the same words, as two that a loop around swaps, while one of them is
    written: the tool takes each to be either variable (hanjaja/hotspot3D-hls, 2020.2: II 44 for 4)."""
    chosen: dict[Memory, set[Local | Global]] = {}
    for memory in region.accesses:
        choice = definitions.get(memory.base.name)
        if choice is not None and choice.opcode == "phi":
            chosen[memory] = variables_of(choice, definitions)
    written = {memory for memory in chosen if any(each.writes for each in region.accesses[memory])}
    for first, second in combinations(chosen, 2):
        if {first, second} & written and first.base != second.base and chosen[first] & chosen[second]:
            yield f"whether {first.name} and {second.name} lead to the same words cannot be told"


def says_lost(region: Region, lost: Collection[str]) -> Iterator[str]:
    """Which memories are read here and written nowhere, though the source writes them: what a bank has to do
    is not known then."""
    for memory, accesses in region.accesses.items():
        if memory.base.name in lost and not any(one.writes for one in accesses):
            yield f"the source writes {memory.name}, and what writes it is not found again"


def says_broken(broken: Iterable[Broken]) -> Iterator[str]:
    """Which promises of pragmas the code breaks."""
    for one in broken:
        promised = one.promise.distance or "no dependence"
        yield (
            f"the pragma promises {promised} for {one.promise.memory.name}, "
            f"the addresses show a distance of {one.found}"
        )


_SUM = frozenset(["phi", "register_write"])
SEVERAL = 2
"""Sums in a row from which on there is another order of them."""
_DISAGREE = (2024, 1)
"""The release from which on public figures of zynq's sums are not of one rule."""


def is_open_between(
    recurrence: Recurrence | None, delays: Delays, *, stretched: bool, automatic: bool
) -> bool:
    """Whether an II hangs on the chains of a recurrence's floating-point cores.

    Of a single sum whose chain is `stretched` beyond the budget it is the lower one. Of sums in a pipeline
    that nobody asked for it is the one within the budget, if the tool was seen to take their core at this
    clock: in all loops of four owners (wzzz724/Vitis_learning, DoPhuXuan/u250: 7 of 6 and 7), and in none of
    a fifth (giuliocapecchi/MLP_HLS: 6 of 4 and 5). Others stay open, and
    so do those of zynq from 2024.1 on: all seven of SoHam-56/MatSoC, asked for, and of giuliocapecchi's, not
    asked for, have 6 of 4 and 5, three of abyanzaim6000-source/LENET5_FPGA 4 and 5.
    """
    steps = recurrence.steps if recurrence is not None else ()
    cores = [step for step in steps if step.kind in FLOATS]
    others = [step for step in steps if step.kind not in FLOATS and step.kind not in _SUM]
    if cores and delays.library.speed.family == "zynq" and release_of(delays.version) >= _DISAGREE:
        return True
    if stretched and len(cores) == 1 and not others:
        return False
    sums = [
        Operation(kind=step.kind, widths=(step.bits, step.bits), result=step.bits)
        for step in cores
        if FLOATS[step.kind] == "fadd"
    ]
    within = automatic and len(sums) == len(cores) and not others
    return bool(cores) and not (within and all(delays.evidence(one).count for one in sums))


FASTEST_NS = 1.5
"""The least budget whose counters were seen to be as fast as they are here."""


def says_too_fast(budget_ns: float) -> Iterator[str]:
    """That a clock leaves less than its counters may take: of 20 loops at 2 ns and less ten have the II that
    follows from their ports and chains, the others one of up to 11 (class of Georgia Tech in
    sharc-lab/HLSFactory, 2024.2: counters of nests 3, of one loop 2 to 4, products 2)."""
    if budget_ns < FASTEST_NS:
        yield f"the clock leaves {budget_ns:.2f} ns, in which counters may not fit"


def says_between(low: int, within: int) -> str:
    """That an II is open between two."""
    return f"the II is {low} by the cycles of its cores and {within} within the budget"


def says_reordered(recurrence: Recurrence | None, delays: Delays) -> Iterator[str]:
    """Why a recurrence of several floating-point sums is open where the tool may reorder them."""
    kinds = [] if recurrence is None else [step.kind for step in recurrence.steps]
    sums = sum(FLOATS.get(kind) == "fadd" for kind in kinds)
    if delays.reorders_sums and sums >= SEVERAL:
        yield f"{sums} floating-point sums in a row, which the tool may reorder (unsafe_math_optimizations)"


def says_shifted(nodes: Sequence[Node], recurring: Iterable[int], low: int) -> Iterator[str]:
    """That an II hangs on a chain through a shift that takes one of the elements of a word: where such chains
    are longer than the clock the tool may let the II grow, as it does not for sums (necst/pynqrypt, 2022.2:
    II 2 where two shifts of a table of 2,048 bits follow one another).

    recurring: the nodes that wait for themselves. low: the II without chains.
    """
    for index in recurring:
        operation, made_by = nodes[index].operation, nodes[index].instruction
        if operation is None or made_by is None or made_by.opcode != "load" or operation.kind != "lshr":
            continue
        yield (
            f"the II is {low} or more: whether a chain through shifts of words of {operation.widths[0]} bits "
            "may be longer than the clock cannot be told"
        )
        return


def says_shared(nodes: Iterable[Node], ends: int, target: int) -> Iterator[str]:
    """That an II hangs on products that share cores: an iteration of `ends` cycles, shorter than the II that
    is asked for, has no longer one, but where many products take turns at few multipliers it may grow to it
    (Akylon/ltc_acceleration, 2022.2: 128 products and more, II 10 as asked for, iterations of 33 cycles).
    """
    products = sum(one.operation is not None and one.operation.kind == "mul" for one in nodes)
    if ends < target < products:
        yield (
            f"the II is {ends} to {target}: whether {products} products share multipliers, so that an "
            "iteration is as long as the II that is asked for, cannot be told"
        )


def says_lowered(interval: int, target: int) -> Iterator[str]:
    """That an II is lower than what is asked for since an iteration is no longer: as the tool does, but how
    many cycles an iteration has is an estimate (of twelve such loops of weiQAQwei/zynq_cnn, 2025.1, it was
    right in three)."""
    yield f"the II is about {interval} where {target} is asked for: as long as an iteration, an estimate"


def says_stay(
    region: Region,
    uses: Iterable[PortUse],
    counters: Mapping[str, Counter],
    around: Collection[str],
    needed: int,
) -> Iterator[str]:
    """That an II hangs on an AXI port of which some words stay: of two loops in public reports that the tool
    pipelines by itself it reads them in front of the one (II 1 for 4), and not of the other (17 for 4). Not
    of words of a loop that is unrolled (bursts.py), nor of those that a loop moves which is flattened with it
    (xz-bruh-bwe/EE_278, 2023.1: 51 and 26 reads in each iteration).

    around: the counters of such loops. needed: the II that ports allow.
    """
    inside = {*region.names, *around}
    for use in uses:
        all_of_port = [
            one
            for memory, accesses in region.accesses.items()
            if memory.bundle and memory.bundle == use.memory.bundle
            for one in accesses
            if not one.writes and one.instruction.opcode != "call"
        ]
        times = collections.Counter(one.instruction.place for one in all_of_port)
        reads = [
            one
            for one in all_of_port
            if times[one.instruction.place] == 1 and is_fixed(one, counters, inside)
        ]
        if reads and 1 < needed == use.interval:
            yield (
                f"the II is 1 or more: whether words of {use.memory.name} that stay are read in front of the "
                "loop cannot be told"
            )


def says_without(region: Region) -> Iterator[str]:
    """What a depth is without."""
    for name in sorted(set(region.library.values())):
        yield f"the depth is without the cycles of {name}, which are not known"
