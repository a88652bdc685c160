"""Where a network of tasks lies: each kernel in one SLR, the buffers of an instance in one DDR bank."""

from __future__ import annotations

from collections.abc import Sequence

from hlsgen.cost.resources import Resources
from hlsgen.search.board_limits import KINDS, allowed, bank_rate
from hlsgen.targets.board import Board


def share_of_slr(resources: Resources, limit: Resources) -> float:
    """The largest share of a kind; more than 1 does not fit."""
    shares = [0.0]
    for kind in KINDS:
        need, have = getattr(resources, kind), getattr(limit, kind)
        if need:
            shares.append(need / have if have else 2.0)
    return max(shares)


def packed(kernels: Sequence[Resources], instances: int, board: Board) -> list[list[str]] | None:
    """The SLR of each kernel's every instance; None if they do not fit so.

    The largest first, each into the SLR that is then the least full.
    """
    limits = {slr.name: allowed(slr, board) for slr in board.slrs}
    used = {name: Resources() for name in limits}
    placed: list[list[str]] = [[] for _ in kernels]
    whole = {
        index: max(share_of_slr(one, limit) for limit in limits.values()) for index, one in enumerate(kernels)
    }
    for index in sorted(whole, key=lambda index: -whole[index]):
        for _ in range(instances):
            after = {name: share_of_slr(used[name] + kernels[index], limits[name]) for name in limits}
            best = min(after, key=lambda name: after[name])
            if after[best] > 1:
                return None
            used[best] += kernels[index]
            placed[index].append(best)
    return placed


def shared_banks(board: Board, instances: int, clock_mhz: float) -> tuple[list[str], float]:
    """The bank of each instance, and the bytes a cycle that the worst served one has.

    Instances work on the same layer at the same time and share what their bank carries.
    """
    rates = {bank.name: bank_rate(bank, board, clock_mhz) for bank in board.memory.banks}
    taken = dict.fromkeys(rates, 0)
    banks = []
    for _ in range(instances):
        bank = max(rates, key=lambda name: rates[name] / (taken[name] + 1))
        taken[bank] += 1
        banks.append(bank)
    worst = min(rates[name] / count for name, count in taken.items() if count)
    return banks, worst / (clock_mhz * 1e6)
