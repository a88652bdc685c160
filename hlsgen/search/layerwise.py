"""The foldings of a network of tasks: its kernels run one after the other, so their intervals add up.

All kernels are on the chip at once, so their resources add up too. From the cheapest foldings on, the step
that saves the most cycles for its cost is taken while it fits: on the lower convex hull of each kernel's
foldings that is the best there is for one kind of resource. Over the kinds, cost is a sum of shares, whose
weights follow what was scarce in the round before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hlsgen.base.errors import DesignError
from hlsgen.base.short_repr import Brief
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NetworkConstraints, NoFit
from hlsgen.hardware.ports import ddr_port
from hlsgen.hardware.weights import WeightPlace, task_weight_problems, weight_places
from hlsgen.layers.stage import StreamFormat
from hlsgen.model.ir import Graph
from hlsgen.search.board_limits import KINDS, usable, whole_of
from hlsgen.search.candidates import foldings, nothing_fits
from hlsgen.search.placement import LIMIT_NAMES
from hlsgen.search.task_kernels import TaskKernel, ddr_words, kernel_names, task_kernel
from hlsgen.search.task_placement import packed, share_of_slr, shared_banks
from hlsgen.targets.board import Board

WORD_BITS = (512, 256, 128, 64)
"""Widest stream words in DDR that are tried, as far as the port is as wide: wide ones are fast, narrow ones
leave room for multipliers.
"""
ROUNDS = 3
"""How often the kinds of resources are weighed anew."""
FILLS = (1.0, 0.95, 0.88, 0.8)
"""Shares of the board that are tried, until the kernels can be placed whole in its SLRs."""
TRIES = 12
"""Combinations of instances and word width that are worked out in full, the fastest first."""

Prices = Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class LayerwiseHardware(Brief):
    """The kernels in the order of the calls, and where their `instances` lie.

    formats: by tensor its words in DDR. slrs: by kernel the SLR of each instance. banks: the DDR bank of each
    instance. ddr_rate: bytes a cycle that an instance has of it. bottleneck: what keeps the whole from being
    faster.
    """

    kernels: tuple[TaskKernel, ...]
    formats: Mapping[str, StreamFormat]
    word_bits: int
    instances: int
    slrs: tuple[tuple[str, ...], ...]
    banks: tuple[str, ...]
    ddr_rate: float
    bottleneck: str
    tried: int

    def __str__(self) -> str:
        count = f"{self.instances} instance{'s' if self.instances > 1 else ''}"
        frame = f"{len(self.kernels)} kernels, {self.interval:,} cycles a frame"
        return f"{count} of {frame}; binds: {self.bottleneck}"

    def ddr_cycles(self, kernel: TaskKernel) -> int:
        """Cycles that DDR takes for a frame of this kernel, what it reads and what it writes together."""
        return math.ceil(kernel.bytes_moved / self.ddr_rate)

    def interval_of(self, kernel: TaskKernel) -> int:
        """Cycles a frame of this kernel."""
        return max(kernel.interval, self.ddr_cycles(kernel))

    @cached_property
    def interval(self) -> int:
        """Cycles a frame: every kernel in turn."""
        return sum(self.interval_of(kernel) for kernel in self.kernels)

    @property
    def port_bits(self) -> int:
        """The width of every DDR port but those of weights."""
        return self.kernels[0].pipeline.interfaces.ddr.bits

    @property
    def weights(self) -> dict[str, WeightPlace]:
        """Where the weights of each layer that has some lie."""
        return {kernel.layer.name: kernel.place for kernel in self.kernels if kernel.place is not None}

    def with_graph(self, graph: Graph) -> LayerwiseHardware:
        """The same kernels for `graph`, which has the same layers and types but other weights."""
        kernels = zip(self.kernels, graph.layers, strict=True)
        return replace(self, kernels=tuple(kernel.with_layer(layer) for kernel, layer in kernels))

    @property
    def each(self) -> Resources:
        """One instance: a set of all kernels."""
        return _sum(kernel.resources for kernel in self.kernels)


def layerwise_hardware(
    graph: Graph, board: Board, constraints: NetworkConstraints, *, name: str, batch: int, clock_mhz: float
) -> LayerwiseHardware:
    """The fastest kernels for `board`.

    Raises NoFit: not even the smallest foldings fit. DesignError: weights cannot lie where they shall.
    """
    search = _Search(graph, board, constraints, name=name, batch=batch, clock_mhz=clock_mhz)
    for attempt in sorted(search.attempts(), key=lambda one: one.order)[:TRIES]:
        for fill in FILLS:
            found = search.worked_out(attempt, fill)
            if found is not None:
                return found
    raise search.no_fit()


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    """What a combination of instances and word width comes to. `order`: cycles of the batch, then cost."""

    instances: int
    word_bits: int
    order: tuple[int, float]


class _Search:
    def __init__(
        self,
        graph: Graph,
        board: Board,
        constraints: NetworkConstraints,
        *,
        name: str,
        batch: int,
        clock_mhz: float,
    ) -> None:
        self.graph, self.board, self.constraints = graph, board, constraints
        self.batch, self.clock_mhz = batch, clock_mhz
        self.whole = whole_of(board)
        self.tried = 0
        self.slrs = [usable(slr, board) for slr in board.slrs]
        tensors = graph.tensors()
        names = kernel_names(name, graph.layers)
        problems = [problem for _, problem in task_weight_problems(graph, constraints.weights)]
        if problems:
            raise DesignError(problems)
        places = weight_places(graph, constraints.weights, board)
        folds = {
            layer.name: [one.fold for one in foldings(layer, board, constraints, places.get(layer.name))]
            for layer in graph.layers
        }
        for layer in graph.layers:
            if not folds[layer.name]:
                raise nothing_fits(layer, board, constraints)
        port = ddr_port(board)
        self.formats = {
            bits: {tensor: ddr_words(tensors[tensor], bits, port) for tensor in tensors}
            for bits in WORD_BITS
            if bits <= port.bits
        }
        self.options = {
            bits: [
                [
                    task_kernel(layer, names[layer.name], fold, places.get(layer.name), formats, board)
                    for fold in folds[layer.name]
                ]
                for layer in graph.layers
            ]
            for bits, formats in self.formats.items()
        }

    def attempts(self) -> Iterator[_Attempt]:
        """Every number of instances that shortens the batch, with every word width, as far as they fit."""
        fixed = self.constraints.instances
        most = min(self.board.max_compute_units, self.batch)
        counts = [fixed] if fixed else sorted({-(-self.batch // share) for share in range(1, self.batch + 1)})
        for bits in self.formats:
            for count in counts:
                if count > most:
                    break
                chosen = self._chosen(bits, count, 1.0)
                if chosen is None:
                    break
                cycles = self._interval(chosen, count) * -(-self.batch // count)
                cost = _cost(_sum(one.resources for one in chosen), self._prices()) * count
                yield _Attempt(instances=count, word_bits=bits, order=(cycles, cost))

    def worked_out(self, attempt: _Attempt, fill: float) -> LayerwiseHardware | None:
        """The kernels with FIFOs of the right depths, each in an SLR; None if that does not fit."""
        count = attempt.instances
        chosen = self._chosen(attempt.word_bits, count, fill)
        if chosen is None:
            return None
        kernels = tuple(kernel.with_fifos(self.board) for kernel in chosen)
        slrs = packed([kernel.resources for kernel in kernels], count, self.board)
        if slrs is None:
            return None
        banks, rate = shared_banks(self.board, count, self.clock_mhz)
        return LayerwiseHardware(
            kernels=kernels,
            formats=self.formats[attempt.word_bits],
            word_bits=attempt.word_bits,
            instances=count,
            slrs=tuple(map(tuple, slrs)),
            banks=tuple(banks),
            ddr_rate=rate,
            bottleneck=self._bottleneck(kernels, attempt, rate),
            tried=self.tried,
        )

    def no_fit(self) -> NoFit:
        bits = WORD_BITS[-1]
        least = _sum(
            min((one.resources for one in options), key=lambda one: _cost(one, self._prices()))
            for options in self.options[bits]
        )
        over = [
            f"{getattr(least, kind):,} {kind.upper()} of {getattr(self.whole, kind):,}"
            for kind in KINDS
            if getattr(least, kind) > getattr(self.whole, kind)
        ]
        title = self.board.title
        if over:
            need = ", ".join(over)
            message = f"with the smallest foldings the kernels need {need} of the usable share of {title}"
            return NoFit(message, "style: dataflow, which has no DDR ports between layers; or a larger board")
        if self.constraints.instances:
            kernels = f"{self.constraints.instances} instances of its {len(self.graph.layers)} kernels"
            message = f"{kernels} do not fit {title}"
            return NoFit(message, "fewer instances, or mapping: auto")
        if self.constraints.target_interval:
            asked = f"{self.constraints.target_interval:,} cycles a frame or fewer"
            message = f"no foldings that fit {title} take {asked}"
            return NoFit(message, "a longer interval, or mapping: auto")
        message = f"its {len(self.graph.layers)} kernels do not fit the SLRs of {title}, each in one of them"
        return NoFit(message, "style: dataflow, narrower types, or a larger board")

    def _chosen(self, bits: int, count: int, fill: float) -> list[TaskKernel] | None:
        """The best kernels of those rounds that fit; None if none does, or not within the wished interval."""
        limit = Resources(**{kind: int(getattr(self.whole, kind) * fill / count) for kind in KINDS})
        options = [
            [one for one in found if any(share_of_slr(one.resources, slr) <= 1 for slr in self.slrs)]
            for found in self.options[bits]
        ]
        if not all(options):
            return None
        _, rate = shared_banks(self.board, count, self.clock_mhz)
        best: list[TaskKernel] | None = None
        prices = self._prices()
        for _ in range(ROUNDS):
            self.tried += 1
            found = _greedy(options, limit, prices, rate, self.constraints.target_interval)
            total = _sum(one.resources for one in found)
            fits = _fits(total, limit)
            if fits and (best is None or self._interval(found, count) < self._interval(best, count)):
                best = found
            scarce = {kind: _part(total, limit, kind) for kind in KINDS}
            prices = {kind: price * (0.05 + scarce[kind] ** 2) for kind, price in prices.items()}
        wished = self.constraints.target_interval
        if best is not None and wished and self._interval(best, count) > wished:
            return None
        return best

    def _prices(self) -> dict[str, float]:
        whole = {kind: getattr(self.whole, kind) for kind in KINDS}
        return {kind: 1 / have if have else 1.0 for kind, have in whole.items()}

    def _interval(self, kernels: Sequence[TaskKernel], count: int) -> int:
        _, rate = shared_banks(self.board, count, self.clock_mhz)
        return sum(_cycles(one, rate) for one in kernels)

    def _bottleneck(self, kernels: Sequence[TaskKernel], attempt: _Attempt, rate: float) -> str:
        """The kernel that takes most of the time, and what allows no more speed."""
        total = sum(_cycles(one, rate) for one in kernels)
        waiting = sum(_cycles(one, rate) for one in kernels if one.bytes_moved / rate > one.interval)
        longest = max(kernels, key=lambda one: _cycles(one, rate))
        text = f"{longest.layer.name} takes {_cycles(longest, rate) / total:.0%} of the cycles"
        if waiting > total / 2:
            return f"DDR bandwidth, for {waiting / total:.0%} of the cycles; {text}"
        if self.constraints.instances or self.constraints.folds or self.constraints.target_interval:
            return f"{text}; the design fixes a part of the mapping"
        fastest = [min(_cycles(one, rate) for one in found) for found in self.options[attempt.word_bits]]
        if total == sum(fastest):
            return f"{text}; every kernel has its fastest folding"
        each = _sum(one.resources for one in kernels)
        kind = max(KINDS, key=lambda one: _part(each, self.whole, one))
        return f"{text}; {LIMIT_NAMES[kind]} for more"


def _cycles(kernel: TaskKernel, rate: float) -> int:
    return max(kernel.interval, math.ceil(kernel.bytes_moved / rate))


def _sum(parts: Iterator[Resources] | Sequence[Resources]) -> Resources:
    return sum(parts, Resources())


def _cost(resources: Resources, prices: Prices) -> float:
    return float(sum(getattr(resources, kind) * price for kind, price in prices.items()))


def _part(resources: Resources, limit: Resources, kind: str) -> float:
    have = getattr(limit, kind)
    return float(getattr(resources, kind) / have) if have else 0.0


def _fits(resources: Resources, limit: Resources) -> bool:
    return all(getattr(resources, kind) <= getattr(limit, kind) for kind in KINDS)


def _greedy(
    options: Sequence[Sequence[TaskKernel]],
    limit: Resources,
    prices: Prices,
    rate: float,
    enough: int | None,
) -> list[TaskKernel]:
    """A kernel of each layer's: the cheapest, then along the hulls, the steepest step first, as they fit."""
    hulls = [_hull(found, prices, rate) for found in options]
    chosen = [hull[0] for hull in hulls]
    total = _sum([one.resources for one in chosen])
    if not _fits(total, limit):
        return chosen
    steps = sorted(
        (-_slope(before, after, prices, rate), index, at)
        for index, hull in enumerate(hulls)
        for at, (before, after) in enumerate(zip(hull, hull[1:], strict=False))
    )
    for _, index, at in steps:
        if enough and sum(_cycles(one, rate) for one in chosen) <= enough:
            return chosen
        before, after = hulls[index][at], hulls[index][at + 1]
        if chosen[index] is before and _fits(_exchanged(total, before, after), limit):
            total = _exchanged(total, before, after)
            chosen[index] = after
    return chosen if enough else _filled(options, chosen, total, limit, prices, rate)


def _filled(
    options: Sequence[Sequence[TaskKernel]],
    chosen: list[TaskKernel],
    total: Resources,
    limit: Resources,
    prices: Prices,
    rate: float,
) -> list[TaskKernel]:
    """What still fits beside the hulls, the most cycles for its cost first."""
    while True:
        better = [
            (_slope(chosen[index], one, prices, rate), index, at)
            for index, found in enumerate(options)
            for at, one in enumerate(found)
            if _cycles(one, rate) < _cycles(chosen[index], rate)
            and _fits(_exchanged(total, chosen[index], one), limit)
        ]
        if not better:
            return chosen
        _, index, at = max(better)
        total = _exchanged(total, chosen[index], options[index][at])
        chosen[index] = options[index][at]


def _exchanged(total: Resources, before: TaskKernel, after: TaskKernel) -> Resources:
    return total + after.resources + before.resources.times(-1)


def _slope(before: TaskKernel, after: TaskKernel, prices: Prices, rate: float) -> float:
    """Cycles saved for a unit of cost; without bound if it costs nothing."""
    cost = _cost(after.resources, prices) - _cost(before.resources, prices)
    saved = _cycles(before, rate) - _cycles(after, rate)
    return saved / cost if cost > 0 else math.inf


def _hull(found: Sequence[TaskKernel], prices: Prices, rate: float) -> list[TaskKernel]:
    """The lower convex hull of (cost, cycles), the cheapest first."""
    by_cost = sorted(found, key=lambda one: (_cost(one.resources, prices), _cycles(one, rate)))
    hull: list[TaskKernel] = []
    for one in by_cost:
        if hull and _cycles(one, rate) >= _cycles(hull[-1], rate):
            continue
        while len(hull) > 1 and _slope(hull[-2], hull[-1], prices, rate) <= _slope(
            hull[-1], one, prices, rate
        ):
            hull.pop()
        hull.append(one)
    return hull
