"""Partitions that no pragma asks for: the vendor's compiler splits arrays that a pipeline reads in several
places.

Its log says `Inferring pragma 'array_partition type=complete dim=1' for array ... due to pipeline pragma`.
In public logs of 2021.1 to 2024.2 it is complete where unrolled loops made all indices of a dimension
constants, and cyclic where they made them neighbours of a running one, or blocks that one runs in (none was
seen of a parameter); never of the top's own arrays and AXI ports (Stream-HLS: 4 reads of such an array keep
the II at 2, where local ones of the same loop are split), or for what no unrolled loop accesses, unless it
only reads. For pipelines that no pragma asks for it does so from 2023.2 on. One dimension after the other,
from the innermost on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import gcd

from hlsgen.schedule.accesses import Access
from hlsgen.schedule.ir import Local, Place
from hlsgen.schedule.linear import Linear
from hlsgen.schedule.memories import BLOCK, COMPLETE, CYCLIC, Dimension, Intervals, Memories, Memory, Residues
from hlsgen.schedule.releases import release_of
from hlsgen.schedule.source_functions import SourceFunction, calls_of, function_at
from hlsgen.schedule.statics import is_static
from hlsgen.schedule.verdict import Verdict

FIRST_VERSION = (2021, 1)
PORTS = 2
"""Of a memory as the tool first takes it: only later does it copy those that are read more often."""
SPLITS_FOR_ITSELF = (2023, 2)
"""From when on the tool splits arrays for automatic pipelines (logs of 2023.2 and later name the array's
declaration; SherlockChristie/FFT, 2023.1, and Sanjeev2697UCSD/CSE237C_FinalProject, 2021.1: none)."""
COPIES_FOR_OTHERS = (2021, 2)
"""From when on the tool keeps copies of arrays for functions that it does not inline."""
MOST_INLINED = 300
"""Operations of an iteration from which on its function counts as one that is not inlined."""
MOST_ELEMENTS = 1024
"""A dimension of more is not split completely."""


def infers_partitions(version: str) -> bool:
    """Whether that release of the tool infers partitions."""
    return _is_since(version, FIRST_VERSION)


def _is_since(version: str, first: tuple[int, int]) -> bool:
    return release_of(version) >= first


def infer_partitions(memories: Memories, verdicts: Sequence[Verdict], partly: Collection[int]) -> set[Memory]:
    """Split the memories whose ports keep a pipeline's II up, where constants allow it; which were.

    partly: the nodes of loops that a pragma unrolls by a factor: for their copies the tool splits no field
    of an array's structs where no pragma names its II (AndyWanna/switching_algorithms, 2024.1: four writes
    of such copies have II 2), but other arrays (diqingz/llm_hls, 2022.1: "cyclic factor=8" inferred of
    eight where one does; Saamstep/BNN-MNIST-PYNQ, 2024.2: factors of 2 and 4 where nothing asks).
    """
    changed: set[Memory] = set()
    itself = all(_is_since(verdict.delays.version, SPLITS_FOR_ITSELF) for verdict in verdicts)
    for verdict in verdicts:
        copied = verdict.loop is not None and verdict.module.loop_names.get(verdict.loop.node) in partly
        for use in verdict.uses:
            memory = use.memory
            if verdict.automatic and (memory.argument or not itself):
                continue
            if use.together <= PORTS * verdict.target or _is_interface(memory, verdict):
                continue
            if copied and not verdict.timed and _is_field(memory):
                continue
            accesses = verdict.region.accesses.get(memory, [])
            if not _is_unrolled(accesses, verdict.module.places):
                continue
            split = _split(memory, accesses, verdict.residue, verdict.builder.addresses.interval)
            if split is not None and not (_has_blocks(split, memory) and _is_parameter(memory, verdict)):
                changed |= {memory} if memories.replace(memory, split) else set()
    return changed


def _is_field(memory: Memory) -> bool:
    """Whether between an array's elements others stand: fields of the same structs."""
    return bool(memory.dimensions) and memory.dimensions[-1].stride != memory.element_bytes


def _is_unrolled(accesses: Sequence[Access], known: Mapping[int, Place]) -> bool:
    """Whether some of the accesses are copies of one in the source, or all of them read.

    For others, as a word and its neighbour that are written in turn, the tool splits nothing
    (asandeep1/FPGA_ECE8893, 2025.1: II 2), nor for copies of structs, which no loop of the source unrolls.
    Neighbours that are read in four places it splits (caseyyang23/FPGA-MINIST-CNN, 2022.2: its log infers
    `cyclic factor=2` of two arrays).
    """
    places = [known.get(one.instruction.place) for one in accesses if one.instruction.opcode != "call"]
    only_reads = len(places) == len(accesses) and not any(one.writes for one in accesses)
    return only_reads or len(set(places)) < len(places)


def without_copies(verdicts: Sequence[Verdict], dataflows: Collection[SourceFunction] = ()) -> None:
    """Leave two ports to the memories that have no copies: one with copies has one port to write, in all
    pipelines, and is not shared by the calls of a function, nor by the processes of one of the `dataflows`.
    """
    several = {use.memory for verdict in verdicts for use in verdict.uses if use.writes > 1}
    several |= _given_to_modules(verdicts) | _written_in_part(verdicts)
    calls: dict[_Copy, set[tuple[tuple[str, int], ...]]] = {}
    for verdict in verdicts:
        if verdict.place is not None:
            calls.setdefault(_copy_of(verdict, verdict.place), set()).add(verdict.place.calls)
    for verdict in verdicts:
        place = verdict.place
        ways = calls[_copy_of(verdict, place)] if place is not None else set()
        verdict.uses = [
            replace(use, replicated=False)
            if use.memory in several
            or _is_called_apart(verdict, use.memory, ways)
            or _is_channel(verdict, use.memory, dataflows)
            else use
            for use in verdict.uses
        ]


_Copy = tuple[str, int, int | None]
"""A loop of the source, with its iterations."""


def _copy_of(verdict: Verdict, place: Place) -> _Copy:
    """Which copy of a loop it is: for calls with other constants the tool makes other functions, each called
    once (reopeo/xilinx, 2022.2: maxpool2d of 28 and 14 rows reads a RAM_1WnR in four places)."""
    return place.file, place.line, verdict.trips


def _written_in_part(verdicts: Sequence[Verdict]) -> set[Memory]:
    """The memories of which a pipeline writes one of the elements of a word, which one stays run-time
    (gabizon103/ece6775-final, 2022.1: three reads of a bank of reshaped rows have II 2)."""
    return {
        memory
        for verdict in verdicts
        for memory, accesses in verdict.region.accesses.items()
        if any(one.writes and one.where is not None and one.where.is_part for one in accesses)
    }


def _given_to_modules(verdicts: Sequence[Verdict]) -> set[Memory]:
    """The memories that a function of several loops is given before 2021.2: the tool keeps such a function as
    a module, and what a module shares with its caller has two ports.

    mohammedshuhad/Hotspot3D, 2020.2.2: seven reads of a local array have II 4 where a function of three loops
    fills it, and II 1 where the loops that do so stand in the function that reads it.
    """
    loops: dict[SourceFunction, set[tuple[str, int]]] = {}
    given: dict[Memory, set[SourceFunction]] = {}
    for verdict in verdicts:
        if verdict.place is None or _is_since(verdict.delays.version, COPIES_FOR_OTHERS):
            continue
        calls = list(calls_of(verdict.place))
        for function in {function_at(one) for one in calls[:-1]}:
            loops.setdefault(function, set()).add((verdict.place.file, verdict.place.line))
        for memory in verdict.region.accesses:
            callees = {function_at(one) for one in calls[: _is_given(verdict, memory)]}
            given.setdefault(memory, set()).update(callees)
    modules = {function for function, lines in loops.items() if len(lines) > 1}
    return {memory for memory, callees in given.items() if not callees.isdisjoint(modules)}


def _is_given(verdict: Verdict, memory: Memory) -> int:
    """Through how many calls the function that a loop stands in is given a memory; 0 of one of its own."""
    return 0 if verdict.place is None else max(0, len(verdict.place.calls) - memory.calls)


def _is_channel(verdict: Verdict, memory: Memory, dataflows: Collection[SourceFunction]) -> bool:
    """Whether the function that the memory is a variable of is a dataflow, and the loop stands in one of its
    processes: what processes share is two halves that take turns (shinepsunny/SpectralBlaze, 2022.2: 8 reads
    of two banks of such an array have II 2)."""
    given = _is_given(verdict, memory)
    if not given or not dataflows:
        return False
    owner = list(calls_of(verdict.place))[given]
    return function_at(owner) in dataflows


def _is_called_apart(verdict: Verdict, memory: Memory, ways: Collection[tuple[tuple[str, int], ...]]) -> bool:
    """Whether a loop stands in a function that stays one, and is given the memory by its caller: one that is
    called several times, and before 2021.2 a large one. `ways`: the calls that its copies were inlined at.

    Ritarka/8893Lab2: two calls of conv_7x7 have 49 reads of two ports in 2022.1, II 25, one call had copies;
    one call in 2020.2 has 147 reads of two ports, II 74. ZhengmingHu/HLS_MNIST: a small one has copies.
    """
    given = _is_given(verdict, memory)
    if not given:
        return False
    large = (
        not _is_since(verdict.delays.version, COPIES_FOR_OTHERS) and len(verdict.region.nodes) > MOST_INLINED
    )
    return large or len({way[:given] for way in ways}) > 1


def _has_blocks(split: Memory, before: Memory) -> bool:
    """Whether a dimension was split into blocks."""
    pairs = zip(split.dimensions, before.dimensions, strict=True)
    return any(new.split == BLOCK and not old.split for new, old in pairs)


def _is_interface(memory: Memory, verdict: Verdict) -> bool:
    """Whether an array is a port of the kernel: only a function that is pipelined as a whole may have arrays
    of its caller."""
    own = verdict.loop is not None and _is_parameter(memory, verdict)
    return bool(memory.bundle) or memory.interface or own


def _is_parameter(memory: Memory, verdict: Verdict) -> bool:
    names = {name for name, _ in verdict.builder.function.arguments}
    return isinstance(memory.base, Local) and memory.base.name in names


def _split(
    memory: Memory, accesses: Sequence[Access], residue: Residues, interval: Intervals
) -> Memory | None:
    """The memory with its innermost dimension split that the accesses take apart, and no pragma splits."""
    for at in reversed(range(len(memory.dimensions))):
        if memory.dimensions[at].split:
            continue
        dimension = _split_dimension(memory, at, accesses, residue, interval)
        if dimension is not None:
            return replace(
                memory, dimensions=(*memory.dimensions[:at], dimension, *memory.dimensions[at + 1 :])
            )
    return None


def _split_dimension(
    memory: Memory, at: int, accesses: Sequence[Access], residue: Residues, interval: Intervals
) -> Dimension | None:
    dimension = memory.dimensions[at]
    forms = [one.where.word[at] for one in accesses if one.where is not None and one.where.exact]
    constants = {form.constant for form in forms}
    if len(constants) < 2 or len(forms) < len(accesses):
        return None
    alone = is_static(memory.base.name) or bool(memory.kind)
    if not any(form.terms for form in forms) or (alone and _reads_are_constant(accesses, at)):
        return replace(dimension, split=COMPLETE) if dimension.extent <= MOST_ELEMENTS else None
    spread = max(constants) - min(constants) + 1
    # of what has no copies, a static or an array of a named kind, neighbours of any index are enough
    step = 1 if alone and len(constants) == spread else spread
    if all(residue(form, spread) is not None for form in forms) or _run_together(forms, step):
        return replace(dimension, split=CYCLIC, factor=spread)
    size = gcd(*(one - min(constants) for one in constants))
    if dimension.extent % size == 0 and all(_within(form, size, interval) for form in forms):
        return replace(dimension, split=BLOCK, factor=dimension.extent // size)
    return None


def _reads_are_constant(accesses: Sequence[Access], at: int) -> bool:
    """Whether an array is read in several places of a dimension that are constants, and only written at one
    that a counter chooses: as rows 0 and 1 of a line buffer (ikxm17/ee4218-project, 2025.2: two rows, and
    neighbours within them, are banks of a memory that a pragma calls ram_2p)."""
    read = [one.where.word[at] for one in accesses if one.where is not None and not one.writes]
    return len(set(read)) > 1 and not any(form.terms for form in read)


def _run_together(forms: Sequence[Linear], least: int) -> bool:
    """Whether indices are neighbours of one that moves by a multiple of `least`, wherever it starts:
    14 * i + r + c."""
    shared = {form.terms for form in forms}
    return len(shared) == 1 and any(factor % least == 0 for _, factor in forms[0].terms)


def _within(form: Linear, size: int, interval: Intervals) -> bool:
    """Whether an index stays in one block of that size."""
    low, high = interval(form)
    return low // size == high // size
