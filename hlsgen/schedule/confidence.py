"""How often each kind of reason for an II was right in public reports, and which kinds therefore decide none.

The table below is the only place where that is stated. An II that rests on a reason which was wrong in a
considerable share of loops is said as an estimate of a loop that is undecided, whatever it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.delays import FLOATS
from hlsgen.schedule.results import LoopSchedule, Tier

END = "the condition that ends the loop"
"""What a recurrence through the way out of a loop is called."""


class Ground(StrEnum):
    """What an II rests on."""

    END = "the cycle in which the condition that ends the loop is known"
    SUM = "one floating-point addition between two iterations"
    FLOATS = "floating-point cores between two iterations"
    CHAIN = "a chain of registers between two iterations"
    MEMORY = "a word of a memory that one iteration leaves to another"
    ASSUMED = "a dependence through a memory that cannot be ruled out"
    AXI = "the words of an AXI port"
    AXI_NEIGHBOURS = "words of an AXI port side by side, which the tool may take for a wide one"
    RUN_TIME = "the ports of banks that are chosen at run time"
    WRITES = "several writes of one bank"
    PORTS = "the ports of a bank in a pipeline that a pragma asks for"
    PORTS_UNASKED = "the ports of a bank in a pipeline that no pragma asks for"
    STREAM = "several accesses of one stream"
    ALLOCATION = "the cores or instances that a pragma allows"
    MET = "nothing that keeps it above what is asked for"
    MET_CALLS = (
        "nothing that keeps it above what is asked for, beside calls of functions that are pipelined by "
        "themselves, which share what an iteration leaves to the next"
    )
    MET_AXI = "nothing that keeps it above what is asked for, beside words of AXI ports"
    MET_TURNED = (
        "nothing that keeps it above what is asked for, beside a bank that is chosen, read and written"
    )
    MET_SHARED = "nothing that keeps it above what is asked for, beside a bank that is read and written"
    MET_SHARED_UNASKED = "nothing that keeps it up, unasked, beside a bank that is read and written"
    MET_COPIES = "nothing that keeps it above what is asked for, beside a bank with more ports than two"


@dataclass(frozen=True, kw_only=True)
class Record:
    """Of loops whose II was said for a reason: how many, of how many owners, and of how many it was right.

    share: of those that were right, with each owner counted once; None: by loops.
    """

    loops: int
    right: int
    owners: int
    share: float | None = None

    @property
    def decides(self) -> bool:
        """Whether a reason decides an II: unless too many were wrong, over several owners."""
        if self.loops < FEWEST_LOOPS or self.owners < FEWEST_OWNERS:
            return True
        return (self.right / self.loops if self.share is None else self.share) >= LEAST_RIGHT


FEWEST_LOOPS = 3
FEWEST_OWNERS = 2
"""One owner's loops are often one loop many times."""
LEAST_RIGHT = 0.75

RECORDS: Mapping[Ground, Record] = {
    Ground.END: Record(loops=7, right=6, owners=6),
    Ground.SUM: Record(loops=8, right=8, owners=4),
    Ground.FLOATS: Record(loops=15, right=7, owners=10, share=0.55),
    Ground.CHAIN: Record(loops=7, right=3, owners=5),
    Ground.MEMORY: Record(loops=8, right=2, owners=4, share=0.31),
    Ground.ASSUMED: Record(loops=1, right=1, owners=1),
    Ground.AXI: Record(loops=17, right=13, owners=7),
    Ground.AXI_NEIGHBOURS: Record(loops=21, right=10, owners=13, share=0.54),
    Ground.RUN_TIME: Record(loops=5, right=0, owners=4, share=0.0),
    Ground.WRITES: Record(loops=13, right=7, owners=7, share=0.76),
    Ground.PORTS: Record(loops=8, right=7, owners=6),
    Ground.PORTS_UNASKED: Record(loops=19, right=14, owners=15, share=0.79),
    Ground.STREAM: Record(loops=17, right=16, owners=3, share=0.89),
    Ground.MET: Record(loops=321, right=313, owners=77, share=0.97),
    Ground.MET_CALLS: Record(loops=5, right=1, owners=2),
    Ground.MET_AXI: Record(loops=77, right=74, owners=28, share=0.95),
    Ground.MET_TURNED: Record(loops=7, right=7, owners=5, share=1.0),
    Ground.MET_SHARED: Record(loops=11, right=10, owners=8, share=0.88),
    Ground.MET_SHARED_UNASKED: Record(loops=27, right=26, owners=13, share=0.99),
    Ground.MET_COPIES: Record(loops=8, right=8, owners=7, share=1.0),
}
"""Over the loops of the sixteenth to the nineteenth score as they came out before anybody had looked at them
(docs/schedule-scores.md); a loop counts for each of its reasons. Of the reasons that fewer than five of these
have, and of END, where a word of a memory is all that is waited for, over the public designs that were looked
at. benchmarks/schedule_folds.py prints it.

Words of AXI ports are two reasons since: what was wrong of them in those sets were such as lie side by side,
or has been mended, so that AXI_NEIGHBOURS has all of those sets, and AXI the loops of the twentieth to the
twenty-third as they came out, of at least so many owners. A sum that waits for one addition alone is its own
reason as well: SUM has what was looked at, since all of it was right, and FLOATS all floats of those sets.
"""


def grounds_of(loop: LoopSchedule) -> tuple[Ground, ...]:
    """What the II of a loop rests on, of which there may be several."""
    above = tuple(dict.fromkeys([*_recurring(loop), *_of_ports(loop), *_of_words(loop)]))
    return above or (_met(loop),)


def _recurring(loop: LoopSchedule) -> Iterator[Ground]:
    recurrence = loop.recurrence
    if recurrence is None:
        return
    if recurrence.through == END:
        yield Ground.END
    elif recurrence.through != "register":
        yield Ground.ASSUMED if recurrence.assumed else Ground.MEMORY
    else:
        kinds = [step.kind for step in recurrence.steps if step.kind not in WIRES]
        if len(kinds) == 1 and kinds[0] in ADDITIONS:
            yield Ground.SUM
        else:
            yield Ground.FLOATS if any(kind in FLOATS for kind in kinds) else Ground.CHAIN


def _of_ports(loop: LoopSchedule) -> Iterator[Ground]:
    for bank in loop.banks:
        if bank.interval <= loop.target:
            continue
        if bank.storage == AXI_STORAGE:
            yield Ground.AXI_NEIGHBOURS if bank.neighbours else Ground.AXI
        elif bank.runtime:
            yield Ground.RUN_TIME
        elif bank.writes > 1:
            yield Ground.WRITES
        else:
            yield Ground.PORTS_UNASKED if loop.automatic else Ground.PORTS


ADDITIONS = frozenset({"fadd", "fsub"})
WIRES = frozenset({"phi", "register_read", "register_write"})
"""What a chain begins and ends with, and takes no core."""
AXI_STORAGE = "axi"
PORTS = 2
"""Of most memories."""


def _of_words(loop: LoopSchedule) -> Iterator[Ground]:
    for reason in loop.reasons:
        if "accesses of stream" in reason:
            yield Ground.STREAM
        elif "where a pragma allows" in reason:
            yield Ground.ALLOCATION


def _met(loop: LoopSchedule) -> Ground:
    if loop.kept_calls:
        return Ground.MET_CALLS
    local = [bank for bank in loop.banks if bank.storage != AXI_STORAGE]
    shared = [bank for bank in local if bank.reads and bank.writes]
    if any(bank.together > PORTS * loop.target for bank in local):
        return Ground.MET_COPIES
    if any(bank.runtime for bank in shared):
        return Ground.MET_TURNED
    if shared:
        return Ground.MET_SHARED_UNASKED if loop.automatic else Ground.MET_SHARED
    return Ground.MET if len(local) == len(loop.banks) else Ground.MET_AXI


def trusted(loop: LoopSchedule) -> LoopSchedule:
    """The loop; undecided, with its II as an estimate, if that rests on a reason that was wrong too often."""
    if loop.interval is None:
        return loop
    doubted = [ground for ground in grounds_of(loop) if ground in RECORDS and not RECORDS[ground].decides]
    if not doubted:
        return loop
    return replace(
        loop,
        tier=Tier.UNDECIDED,
        interval=None,
        estimate=loop.interval,
        reasons=(*(_says(loop.interval, ground) for ground in doubted), *loop.reasons),
    )


def _says(interval: int, ground: Ground) -> str:
    record = RECORDS[ground]
    return (
        f"II {interval} is an estimate: it rests on {ground}, and of {record.loops} such IIs "
        f"{record.right} were those of public reports"
    )


def stands_within(loop: Loop | None, asked: Collection[Loop | None]) -> bool:
    """Whether a loop stays rolled within one of the pipelines that are `asked` for; None: the function."""
    around = loop.parent if loop is not None else None
    while around is not None and around not in asked:
        around = around.parent
    return around is not None or (loop is not None and None in asked)


def likely_at_most(found: LoopSchedule, *, instead: bool, flushed: bool) -> LoopSchedule:
    """The schedule of a loop, not as "shown" where it rests on what the tool may do or not.

    instead: it is pipelined in place of a pipeline around it that cannot be. flushed: `style=flp` asks for a
    pipeline that empties, while iterations leave words of a memory to each other: of such the tool's
    guidance says that their II may grow (UG1448, "Pipeline Styles").
    """
    reason = ""
    if instead and found.automatic:
        reason = "the pipeline around it cannot be made: that the tool pipelines this loop instead is likely"
    elif flushed:
        reason = "that a pipeline with words which iterations leave to each other can be flushed is likely"
    if found.tier is not Tier.SHOWN or not reason:
        return found
    return replace(found, tier=Tier.LIKELY, reasons=(*found.reasons, reason))
