"""The limits of a board for a design of any style: usable resources, instances, rates of DDR banks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hlsgen.cost.resources import Resources
from hlsgen.targets.board import SLR, Board, MemoryBank

KINDS = ("lut", "ff", "bram18", "uram", "dsp")
"""The kinds of resources."""
COLUMNS = ("dsp", "bram18", "uram", "lut", "ff")
"""The same in the order of reports, of their keys as of their columns."""


def usable(slr: SLR, board: Board) -> Resources:
    """What a design may use of `slr`: the board's shares of what the platform leaves free."""
    shares = board.usable
    return Resources(
        lut=int(slr.lut * shares.lut),
        ff=int(slr.ff * shares.ff),
        bram18=int(slr.bram18 * shares.bram),
        uram=int(slr.uram * shares.uram),
        dsp=int(slr.dsp * shares.dsp),
    )


def allowed(slr: SLR, board: Board) -> Resources:
    """What a search may fill of `slr`: what is usable without the margins for the model's error, and what
    other kernels leave of it.
    """
    limit, margins = usable(slr, board), board.margins
    whole = replace(limit, lut=int(limit.lut * (1 - margins.lut)), ff=int(limit.ff * (1 - margins.ff)))
    taken = board.taken.get(slr.name)
    if taken is None:
        return whole
    return Resources(**{kind: max(0, getattr(whole, kind) - taken.get(kind, 0)) for kind in KINDS})


def margin_text(board: Board) -> str:
    """What is said of the usable share where it is not all that a search may fill."""
    margins = board.margins
    if not margins.lut and not margins.ff:
        return ""
    return f" less a margin of {margins.lut:.0%} of the LUTs and {margins.ff:.0%} of the FFs"


def margin_fix(board: Board) -> str:
    """What else may be changed where margins are left free."""
    return ", or a smaller margin" if margin_text(board) else ""


def capacity(each: Resources, limit: Resources) -> tuple[int, str]:
    """How many instances fit within `limit`, and the resource that allows no more."""
    counts = {kind: getattr(limit, kind) // getattr(each, kind) for kind in KINDS if getattr(each, kind) > 0}
    binding = min(counts, key=lambda kind: counts[kind])
    return counts[binding], binding


def left_of(limit: Resources, taken: Resources) -> Resources:
    """What is left of `limit` beside what is taken of it."""
    return Resources(**{kind: getattr(limit, kind) - getattr(taken, kind) for kind in KINDS})


def fitting(each: Resources, board: Board) -> dict[str, tuple[int, str]]:
    """What `capacity` gives for each SLR, by its name."""
    return {slr.name: capacity(each, allowed(slr, board)) for slr in board.slrs}


def room(each: Resources, board: Board) -> int:
    """How many instances fit on the board when each lies in one SLR."""
    return room_within(each, [allowed(slr, board) for slr in board.slrs])


def room_within(each: Resources, limits: Iterable[Resources]) -> int:
    """The same where what `allowed` gives for each SLR is known: a search asks ten thousand times."""
    return sum(capacity(each, limit)[0] for limit in limits)


def whole_of(board: Board) -> Resources:
    """What a design may use of all SLRs together."""
    return Resources.sum(usable(slr, board) for slr in board.slrs)


def allowed_whole(board: Board) -> Resources:
    """What a search may fill of all SLRs together."""
    return Resources.sum(allowed(slr, board) for slr in board.slrs)


def bank_rate(bank: MemoryBank, board: Board, clock_mhz: float) -> float:
    """Bytes a second that a bank carries."""
    memory = board.memory
    peak = bank.gb_per_s * 1e9
    if memory.ports is not None:
        port_mhz = min(clock_mhz, memory.max_port_mhz or clock_mhz)
        peak = min(peak, memory.ports * memory.port_bits / 8 * port_mhz * 1e6)
    return peak * memory.efficiency
