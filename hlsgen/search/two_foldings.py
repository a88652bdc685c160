"""Two foldings of a layer side by side: what large instances leave of each SLR, small ones fill.

The best pair of all candidates: bounds that no pair exceeds are computed for all of them at once, and pairs
are tried in the order of these until none that is left can be notably better. Exact within the model for what
resources and compute units allow; DDR banks are filled one instance after the other, as for one folding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hlsgen.cost.conv_instance import AXI_PORTS
from hlsgen.cost.cycles import Cycles
from hlsgen.cost.resources import Resources
from hlsgen.search.board_limits import KINDS, allowed, bank_rate, capacity, left_of
from hlsgen.search.folding_candidates import Candidate, Candidates, Floats, limits
from hlsgen.search.placement import (
    Deployment,
    PlacedKernel,
    ddr_bytes_per_s,
    limits_text,
    unlike_at_banks,
)
from hlsgen.targets.board import Board

ROWS_AT_ONCE = 1 << 21
"""Pairs whose bounds are computed together: bounds memory."""
NOTABLY = 1.001
"""How much faster another pair must be to count: a tenth of a percent, as among single foldings."""
ROUNDING = 1 + 1e-9
"""What bounds are enlarged by, so that rounding takes no pair away."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is looked for: at least `least` frames a second in a batch of `batch`.

    counts: instances of the first and of the second folding that the design fixes; None: any number from 1.
    """

    board: Board
    clock_mhz: float
    batch: int
    least: float = 0.0
    counts: tuple[int | None, int | None] = (None, None)

    @property
    def hertz(self) -> float:
        return self.clock_mhz * 1e6

    @property
    def most(self) -> int:
        """Instances."""
        return min(self.board.most_units(AXI_PORTS), self.batch)

    @cached_property
    def room(self) -> Floats:
        """[SLR, KINDS]"""
        return limits(self.board)


def best_pair(first: Candidates, second: Candidates, task: Task) -> Deployment | None:
    """The fastest deployment of one of `first` beside one of `second`; None: none has `task.least`.

    first and second may be the same candidates: then the faster instances come first.
    """
    rows, columns, bounds = _bounds(first, second, task)
    best: Deployment | None = None
    least = task.least
    for at in np.lexsort((columns, rows, -bounds)):
        if bounds[at] < least:
            break
        found = Pair(first.all[rows[at]], second.all[columns[at]], task).deployed(least)
        if found is not None:
            best, least = found, found.batch_frames_per_s * NOTABLY
    return best


def _bounds(first: Candidates, second: Candidates, task: Task) -> tuple[Counts, Counts, Floats]:
    """Pairs that may have `task.least`, as numbers in `first` and `second`, and frames a second that each of
    them does not exceed.
    """
    found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    step = max(1, ROWS_AT_ONCE // max(1, len(second)))
    for begin in range(0, len(first), step):
        part = slice(begin, min(begin + step, len(first)))
        relaxed = _relaxed(first, second, part, task)
        same = first.words[part][:, None] == _numbers(second, first)[None, :]
        if first is second:
            same &= np.arange(part.start, part.stop)[:, None] < np.arange(len(second))[None, :]
        rows, columns = np.nonzero(same & (relaxed >= task.least))
        rows += part.start
        bounds = _filled(first, second, rows, columns, task)
        keep = bounds >= task.least
        found.append((rows[keep], columns[keep], bounds[keep]))
    together = [np.concatenate(parts) for parts in zip(*found, strict=True)]
    return together[0], together[1], together[2]


def _numbers(second: Candidates, first: Candidates) -> Counts:
    """The words of each of `second` by the numbers that `first` has for them; -1: it has none."""
    known = {one.words: number for one, number in zip(first.all, first.words.tolist(), strict=True)}
    return np.array([known.get(one.words, -1) for one in second.all], np.int64)


def _relaxed(first: Candidates, second: Candidates, part: slice, task: Task) -> Floats:
    """[part of first, second] frames a second if instances could be cut to size."""
    total = np.zeros((part.stop - part.start, len(second)))
    for limit in task.room:
        least = np.full(total.shape, np.inf)
        for kind in np.nonzero(limit)[0]:
            better = np.maximum(first.efficiency[part, kind][:, None], second.efficiency[:, kind][None, :])
            np.minimum(least, limit[kind] * better, out=least)
        total += least
    return total * task.hertz * ROUNDING


def _filled(first: Candidates, second: Candidates, rows: Counts, columns: Counts, task: Task) -> Floats:
    """Frames a second of each pair with every SLR as full as it can be, whatever compute units there are."""
    speeds, others = first.speed[rows], second.speed[columns]
    taken, wanted = first.resources[rows], second.resources[columns]
    total = np.zeros(len(rows))
    for limit in task.room:
        most = np.zeros(len(rows))
        count, open_ = 0, np.arange(len(rows))
        while len(open_) and count <= task.most:
            left = limit - count * taken[open_]
            open_, left = open_[(left >= 0).all(axis=1)], left[(left >= 0).all(axis=1)]
            with np.errstate(divide="ignore", invalid="ignore"):
                fits = np.where(wanted[open_] > 0, left // wanted[open_], np.inf).min(axis=1)
            speed = count * speeds[open_] + np.minimum(fits, task.most) * others[open_]
            most[open_] = np.maximum(most[open_], speed)
            count += 1
        total += most
    bound = np.minimum(total, task.most * np.maximum(speeds, others)) * task.hertz
    # until an instance has its first frame, it has loaded weights and filled its pipeline
    begins = np.minimum(first.overhead[rows], second.overhead[columns]) / task.hertz
    with np.errstate(divide="ignore"):  # a pair of which nothing fits
        bound = task.batch / (task.batch / bound + begins)
    carried = sum(bank_rate(bank, task.board, task.clock_mhz) for bank in task.board.memory.banks)
    found: Floats = (
        np.minimum(bound, carried / np.minimum(first.moved[rows], second.moved[columns])) * ROUNDING
    )
    return found


@dataclass(frozen=True)
class Pair:
    """Two foldings, of which each has an instance at least."""

    first: Candidate
    second: Candidate
    task: Task

    def deployed(self, least: float) -> Deployment | None:
        """The numbers of instances that take the batch through fastest; of equal ones the fewest.

        None: none has `least` frames a second.
        """
        speeds = [one.speed * self.task.hertz for one in self._both]
        counted = self._counted[self._counted @ speeds * ROUNDING >= least]
        cycles = batch_cycles(counted, [one.cycles for one in self._both], self.task.batch)
        rates, best = self.task.batch * self.task.hertz / cycles, None
        for at in np.lexsort((counted.sum(axis=1), -rates)):
            if rates[at] < least:
                break
            first, second = counted[at].tolist()
            found = self._placed((first, second), float(rates[at]))
            if found.batch_frames_per_s >= least:
                # what DDR slows down may be equalled by fewer
                best, least = found, found.batch_frames_per_s * ROUNDING
        return best

    @property
    def _both(self) -> tuple[Candidate, Candidate]:
        return self.first, self.second

    @cached_property
    def _grids(self) -> list[NDArray[np.bool_]]:
        """Of each SLR [most + 1, most + 1]: whether so many instances of both fit."""
        most = self.task.most
        numbers = np.arange(most + 1)
        grids = []
        for limit in self.task.room:
            fits = np.ones((most + 1, most + 1), np.bool_)
            for kind, name in enumerate(KINDS):
                taken = numbers * getattr(self.first.each, name)
                wanted = numbers * getattr(self.second.each, name)
                fits &= taken[:, None] + wanted[None, :] <= limit[kind]
            grids.append(fits)
        return grids

    @cached_property
    def _reached(self) -> list[NDArray[np.bool_]]:
        """Of the SLRs from each on the same for all of them together."""
        found = [self._grids[-1]]
        for grid in self._grids[-2::-1]:
            size, after = len(grid), found[0]
            sums = np.zeros_like(grid)
            for here, there in _corners(grid):
                sums[here:, there:] |= after[: size - here, : size - there]
            # whatever fits also fits with fewer
            sums = np.logical_or.accumulate(sums[::-1], axis=0)[::-1]
            sums = np.logical_or.accumulate(sums[:, ::-1], axis=1)[:, ::-1]
            found.insert(0, sums)
        return found

    @cached_property
    def _counted(self) -> Counts:
        """[option, 2] instances of both."""
        numbers = np.argwhere(self._reached[0])
        allowed = (numbers > 0).all(axis=1) & (numbers.sum(axis=1) <= self.task.most)
        for column, fixed in enumerate(self.task.counts):
            if fixed is not None:
                allowed &= numbers[:, column] == fixed
        found: Counts = numbers[allowed]
        return found

    def _placed(self, counts: tuple[int, int], rate: float) -> Deployment:
        """The deployment of so many instances. rate: frames a second of a batch, if DDR keeps up."""
        task, kernels = self.task, self._kernels(counts)
        pairs = list(zip(self._both, kernels, strict=True))
        moved = [one.speed * one.moved for one, kernel in pairs for _ in kernel.instances]
        speed = sum(one.speed * len(kernel.instances) for one, kernel in pairs)
        placed = [instance for kernel in kernels for instance in kernel.instances]
        carried = ddr_bytes_per_s(placed, task.board, task.clock_mhz, moved)
        compute, ddr = speed * task.hertz, carried * speed / sum(moved)
        return Deployment(
            kernels=kernels,
            board=task.board,
            clock_mhz=task.clock_mhz,
            batch=task.batch,
            frames_per_s=min(compute, ddr),
            batch_frames_per_s=min(rate, ddr),
            bottleneck="DDR bandwidth" if ddr <= compute else self._bottleneck(counts, kernels),
        )

    def _kernels(self, counts: tuple[int, int]) -> tuple[PlacedKernel, ...]:
        """Both with their instances, the SLRs one after the other at the banks."""
        names = [slr.name for slr in self.task.board.slrs]
        demand = [one.speed * one.moved for one in self._both]
        where = [
            (which, name)
            for name, numbers in zip(names, self._by_slr(counts), strict=True)
            for which in (0, 1)
            for _ in range(numbers[which])
        ]
        placed = unlike_at_banks([(name, demand[which]) for which, name in where], self.task.board)
        return tuple(
            PlacedKernel(
                mapping=one.mapping,
                each=one.each,
                cycles=one.cycles,
                instances=tuple(at for at, (which, _) in zip(placed, where, strict=True) if which == number),
            )
            for number, one in enumerate(self._both)
        )

    def _by_slr(self, counts: tuple[int, int]) -> list[tuple[int, int]]:
        """Instances of both in each SLR, as even as they can be."""
        found: list[tuple[int, int]] = []
        left = counts
        size = self.task.room[:, 0]
        for number, grid in enumerate(self._grids):
            rest = self._reached[number + 1] if number + 1 < len(self._grids) else np.eye(1, dtype=np.bool_)
            options = [
                (here, there)
                for here, there in np.argwhere(grid[: left[0] + 1, : left[1] + 1]).tolist()
                if left[0] - here < len(rest)
                and left[1] - there < len(rest)
                and rest[left[0] - here, left[1] - there]
            ]
            part = size[number] / max(1.0, size[number:].sum())
            ideal = (left[0] * part, left[1] * part)
            here, there = min(options, key=lambda at: (abs(at[0] - ideal[0]) + abs(at[1] - ideal[1]), at))
            found.append((here, there))
            left = (left[0] - here, left[1] - there)
        return found

    def _bottleneck(self, counts: tuple[int, int], kernels: tuple[PlacedKernel, ...]) -> str:
        """What keeps the pair from being faster, where it is not DDR."""
        board, total = self.task.board, sum(counts)
        if None not in self.task.counts:
            return "the number of instances that the design fixes"
        if total >= self.task.batch:
            return "the batch: there is no frame for another instance"
        if total >= board.most_units(AXI_PORTS):
            return f"the platform's {board.most_units(AXI_PORTS)} compute units"
        left = {
            slr.name: left_of(allowed(slr, board), Resources.sum(one.used_in(slr.name) for one in kernels))
            for slr in board.slrs
        }
        fits = [capacity(one.each, limit) for one in kernels for limit in left.values()]
        if any(count for count, _ in fits):
            return "the batch: it does not divide evenly over more instances"
        return limits_text(kind for _, kind in fits)


def batch_cycles(counts: Counts, each: Sequence[Cycles], batch: int) -> Floats:
    """[option] cycles of a batch that is shared out in the best way: until the last instance ends.

    counts: [option, kernel] instances; each: of the kernels.
    """
    intervals = np.array([one.interval for one in each], np.int64)
    begins = np.array([one.call(1) - one.interval for one in each], np.int64)
    low = np.zeros(len(counts), np.int64)  # too few cycles
    high = np.full(len(counts), int((begins + batch * intervals).max()), np.int64)
    while (high - low > 1).any():
        middle = (low + high) // 2
        done = (np.maximum(middle[:, None] - begins, 0) // intervals * counts).sum(axis=1)
        high = np.where(done >= batch, middle, high)
        low = np.where(done >= batch, low, middle)
    return high.astype(np.float64)


def _corners(grid: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """The largest numbers of the second beside each number of the first."""
    for here in range(len(grid)):
        fits = np.nonzero(grid[here])[0]
        if len(fits) and (here + 1 == len(grid) or not grid[here + 1, fits[-1]]):
            yield here, int(fits[-1])
