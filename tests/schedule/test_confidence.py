"""Reasons for an II that public reports often contradict: undecided loops, with their II as an estimate."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hlsgen.schedule.confidence import (
    END,
    FEWEST_LOOPS,
    FEWEST_OWNERS,
    LEAST_RIGHT,
    RECORDS,
    Ground,
    Record,
    grounds_of,
    trusted,
)
from hlsgen.schedule.results import BankUse, LoopSchedule, Recurrence, Step, Tier

LOOP = LoopSchedule(
    place=None,
    function="top",
    target=1,
    tier=Tier.SHOWN,
    interval=1,
    between=(1, 1),
    reasons=(),
    trips=64,
    banks=(),
    recurrence=None,
    depth=5,
    chain_ns=2.0,
    chain=(),
    budget_ns=7.3,
    registers=32,
)
BANK = BankUse(
    array="a", banks=4, bank=(0,), reads=1, writes=0, together=1, interval=1, runtime=False, storage="bram"
)


def waiting(*kinds: str, through: str = "register", assumed: bool = False) -> LoopSchedule:
    """A loop of II 4 by a recurrence of these operations."""
    steps = tuple(Step(kind=kind, bits=32, ns=1.0, place=None) for kind in kinds)
    recurrence = Recurrence(through=through, distance=1, assumed=assumed, steps=steps, interval=4)
    return replace(LOOP, tier=Tier.LIKELY, interval=4, between=(1, 4), recurrence=recurrence)


def with_bank(*, automatic: bool = False, interval: int = 1, **bank: object) -> LoopSchedule:
    """A loop with one array, whose II is what that allows."""
    use = replace(BANK, interval=interval, **bank)  # type: ignore[arg-type]
    return replace(LOOP, automatic=automatic, interval=interval, banks=(use,))


CASES = [
    (LOOP, Ground.MET),
    (waiting("phi", "select", "add"), Ground.CHAIN),
    (waiting("phi", "fadd", "register_write"), Ground.SUM),
    (waiting("phi", "fmul", "fadd"), Ground.FLOATS),
    (waiting("load", "add", "store", through="sum"), Ground.MEMORY),
    (waiting("load", "add", "store", through="sum", assumed=True), Ground.ASSUMED),
    (waiting("icmp", through=END), Ground.END),
    (with_bank(interval=2, reads=4, together=4), Ground.PORTS),
    (with_bank(interval=2, reads=4, together=4, automatic=True), Ground.PORTS_UNASKED),
    (with_bank(interval=2, reads=0, writes=4, together=4), Ground.WRITES),
    (with_bank(interval=2, reads=4, together=4, runtime=True), Ground.RUN_TIME),
    (with_bank(interval=2, reads=2, storage="axi"), Ground.AXI),
    (with_bank(interval=2, reads=2, storage="axi", neighbours=True), Ground.AXI_NEIGHBOURS),
    (with_bank(storage="axi"), Ground.MET_AXI),
    (replace(LOOP, kept_calls=("dense", "shift")), Ground.MET_CALLS),
    (with_bank(writes=1, together=2), Ground.MET_SHARED),
    (with_bank(writes=1, together=2, automatic=True), Ground.MET_SHARED_UNASKED),
    (with_bank(writes=1, together=2, runtime=True), Ground.MET_TURNED),
    (with_bank(reads=7, together=7), Ground.MET_COPIES),
    (replace(LOOP, interval=2, reasons=("2 accesses of stream s in an iteration",)), Ground.STREAM),
    (
        replace(LOOP, interval=3, reasons=("3 mul in an iteration, where a pragma allows 1",)),
        Ground.ALLOCATION,
    ),
]


@pytest.mark.parametrize(("loop", "ground"), CASES, ids=[ground.name for _, ground in CASES])
def test_what_an_interval_rests_on(loop: LoopSchedule, ground: Ground) -> None:
    assert grounds_of(loop) == (ground,)


def test_every_reason_is_told() -> None:
    assert {ground for _, ground in CASES} == set(Ground)


@pytest.mark.parametrize(("loop", "ground"), CASES, ids=[ground.name for _, ground in CASES])
def test_what_was_wrong_too_often_is_undecided_and_keeps_its_estimate(
    loop: LoopSchedule, ground: Ground
) -> None:
    found = trusted(loop)
    if ground not in RECORDS or RECORDS[ground].decides:
        assert found == loop
        return
    assert (found.tier, found.interval, found.estimate) == (Tier.UNDECIDED, None, loop.interval)
    record = RECORDS[ground]
    assert found.reasons[0].startswith(f"II {loop.interval} is an estimate")
    assert f"of {record.loops} such IIs {record.right} were" in found.reasons[0]
    assert found.as_json()["ii"] is None and found.as_json()["ii_estimated"] == loop.interval


def test_an_estimate_beyond_what_is_asked_for_misses_it() -> None:
    found = trusted(waiting("phi", "select", "add"))
    assert found.interval is None and found.misses_target and not found.meets_target
    assert any("II 4 is an estimate" in finding for finding in found.findings())
    json.dumps(found.as_json())


def test_loops_that_are_undecided_already_stay_as_they_are() -> None:
    open_loop = replace(waiting("phi", "select"), tier=Tier.UNDECIDED, interval=None)
    assert trusted(open_loop) is open_loop


def test_a_reason_is_doubted_by_several_owners_loops_alone() -> None:
    wrong = Record(loops=FEWEST_LOOPS, right=0, owners=FEWEST_OWNERS)
    assert not wrong.decides
    assert replace(wrong, owners=FEWEST_OWNERS - 1).decides
    assert replace(wrong, loops=FEWEST_LOOPS - 1).decides
    assert Record(loops=100, right=round(100 * LEAST_RIGHT), owners=9).decides
    assert not Record(loops=100, right=round(100 * LEAST_RIGHT) - 1, owners=9).decides


def test_what_is_emitted_rests_on_reasons_that_decide() -> None:
    """Stages have II 1 of their ports, of memories and of AXI words: a table that doubted those would leave
    every build open."""
    for ground in (Ground.MET, Ground.MET_AXI, Ground.MET_SHARED, Ground.MET_TURNED, Ground.MET_COPIES):
        assert RECORDS[ground].decides


def test_records_are_possible() -> None:
    for record in RECORDS.values():
        assert 0 <= record.right <= record.loops and 0 < record.owners <= record.loops
