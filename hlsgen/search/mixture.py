"""The hardware of `style: mixed`: the first layers stream, and feed shared processors with the rest.

A graph is cut at a tensor that alone leads from its first layers to the others (DNNExplorer, Zhang et al.,
ICCAD 2020, splits networks so). While the processors are at work on some rounds of frames, the streaming
kernel leaves those of the next in DDR: the slower of both sets the speed.

For every cut the processors of the list are judged with what the fastest first layers would be in what they
leave of the board: a bound that neither side is above. Where it is above the best that was found, tasks are
cut and timed; of the best, kernels are made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError
from hlsgen.base.progress import Progress, silent
from hlsgen.base.rates import rate_text
from hlsgen.base.short_repr import Brief
from hlsgen.cost.processor import AXI_PORTS
from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import stage_resources
from hlsgen.designfile.constraints import NetworkConstraints, NoFit
from hlsgen.hardware.ports import LEAST_DDR_BITS
from hlsgen.hardware.processor import Processor
from hlsgen.hardware.weights import WeightPlace, weight_places
from hlsgen.model.ir import Graph
from hlsgen.program.layout import Layout
from hlsgen.search.board_limits import KINDS, allowed
from hlsgen.search.candidates import share_of
from hlsgen.search.graph_cuts import after, before
from hlsgen.search.offchip_weights import Offchip, kept_on_chip
from hlsgen.search.processor_limits import bottleneck
from hlsgen.search.processor_rounds import Candidate, Rounds
from hlsgen.search.program_tails import Tails
from hlsgen.search.shared import SharedHardware, SharedSearch
from hlsgen.search.slr_cut import taken_by_slr
from hlsgen.search.streaming import MARGIN, STEP, StreamingHardware, balance
from hlsgen.search.task_placement import packed, shared_banks
from hlsgen.targets.board import Board

NEARLY = 0.97
"""Mixtures that seem as fast as this share of the best are kept, in case that the best does not fit."""
MOST_MADE = 6
"""Mixtures of which kernels are made."""

SLOWER = (1.0, 1.05, 1.15, 1.5, 2.0, 3.0, 5.0)
"""Intervals that are tried, as multiples of the one wished: converters may be slower than stages."""

Amounts = NDArray[np.int64]
FRONT_PORTS = 2
"""Ports of the streaming kernel on a bank: into the processors' memory on each, and its inputs on one."""


@dataclass(frozen=True, kw_only=True)
class MixedHardware(Brief):
    """A streaming kernel of the layers up to `cut`, and shared processors that run those after it.

    front_board: the board beside the processors, which the kernel was made for. cuts: that were looked at;
    tried: mixtures of which tasks were cut.
    """

    graph: Graph
    cut: str
    front: StreamingHardware
    back: SharedHardware
    front_board: Board
    cuts: int
    tried: int

    def __str__(self) -> str:
        streaming = len(self.front.pipeline.graph.layers) - 1
        layers = f"{streaming} layer{'s' if streaming > 1 else ''}"
        return (
            f"{layers} up to {self.cut} as a streaming kernel, a frame every "
            f"{self.front.pipeline.interval:,} cycles; the others on {self.back}"
        )

    @property
    def front_rate(self) -> float:
        """Frames a cycle that the streaming kernel makes."""
        return self.front.instances / self.front.pipeline.interval

    @property
    def frames_per_cycle(self) -> float:
        return min(self.front_rate, self.back.frames_per_cycle)

    @property
    def instances(self) -> int:
        """Processors: the streaming kernel feeds all of them."""
        return self.back.instances

    @property
    def each(self) -> Resources:
        """What a processor takes; the streaming kernel comes to that once."""
        return self.back.each

    @property
    def bottleneck(self) -> str:
        if self.front_rate < self.back.frames_per_cycle:
            return f"the layers that stream: {self.front_limit}"
        return f"the processors: {self.back.bottleneck}"

    @property
    def front_limit(self) -> str:
        """What sets the speed of the streaming kernel, which is made just fast enough."""
        slowest = self.front.pipeline.slowest
        return f"{slowest.name} with {slowest.interval:,} cycles a frame, with what the processors leave"

    @property
    def weights(self) -> dict[str, WeightPlace]:
        """Where the weights of each layer lie."""
        return {**self.front.weights, **self.back.weights}

    def with_graph(self, graph: Graph) -> MixedHardware:
        """The same for `graph`, which has the same layers and types but other weights."""
        return replace(
            self,
            graph=graph,
            front=self.front.with_graph(before(graph, self.cut, self.back.processor)),
            back=self.back.with_graph(after(graph, self.cut)),
        )

    @cached_property
    def used_by_slr(self) -> Mapping[str, Resources]:
        """What both take of each SLR."""
        return {
            name: front + self.back.each.times(self.back.slrs.count(name))
            for name, front in self.front_by_slr.items()
        }

    @property
    def front_by_slr(self) -> Mapping[str, Resources]:
        """What the streaming kernel takes of each SLR."""
        names = [slr.name for slr in self.front_board.slrs]
        if self.front.spans:
            parts = taken_by_slr(self.front.pipeline, self.front_board)
            return dict(zip(names, parts, strict=True))
        placed = self.front.placed
        return {name: self.front.each.times(placed.get(name, 0)) for name in names}


def mixed_hardware(
    graph: Graph,
    board: Board,
    constraints: NetworkConstraints,
    *,
    clock_mhz: float,
    batch: int,
    least: float = 0.0,
    progress: Progress = silent,
) -> MixedHardware:
    """The fastest mixture. least: frames a cycle that it must be above.

    Raises NoFit: there is none; DesignError: a layer has no hardware, or weights cannot lie where they shall.
    """
    return _MixedSearch(graph, board, constraints, clock_mhz, batch, least, progress).best()


@dataclass(frozen=True, kw_only=True)
class _Fronts:
    """The first layers of a cut, for every interval that is looked at the cheapest: [interval, kind].

    Converters, FIFOs and ports are in them as a share of the rest.
    """

    intervals: Amounts
    amounts: Amounts

    @classmethod
    def of(cls, choice: Offchip, layers: Sequence[str]) -> _Fronts:
        found = [choice.candidates[name] for name in layers]
        interval, longest = max(one[0].interval for one in found), max(one[-1].interval for one in found)
        intervals = [interval]
        while interval < longest:
            interval = min(longest, max(interval + 1, int(interval * STEP)))
            intervals.append(interval)
        total = np.zeros((len(intervals), len(KINDS)), np.int64)
        for one in found:
            taken = np.array([[getattr(each.resources, kind) for kind in KINDS] for each in one], np.int64)
            speeds = np.array([each.interval for each in one])
            # the cheapest that is no slower, which is the last one: the fastest come first
            total += taken[np.maximum(np.searchsorted(speeds, intervals, side="right") - 1, 0)]
        return cls(intervals=np.array(intervals), amounts=(total * MARGIN).astype(np.int64))

    def may_exceed(self, rate: float, limits: Amounts) -> bool:
        """Whether the layers alone fit the board, [SLR, kind], at more frames a cycle than `rate`."""
        faster = self.amounts[self.intervals * rate < 1]
        return bool(_fits(faster, limits.sum(axis=0)).any())

    def fastest(self, left: Amounts, more: Amounts) -> int | None:
        """The shortest interval that fits what is left of an SLR, or of all; with `more` beside the layers.

        left: [SLR, kind]. None: none fits.
        """
        wanted = self.amounts + more
        fits = _fits(wanted, left.sum(axis=0)) | np.any([_fits(wanted, one) for one in left], axis=0)
        return int(self.intervals[np.argmax(fits)]) if fits.any() else None


def _fits(wanted: Amounts, limit: Amounts) -> NDArray[np.bool_]:
    """Which rows of [option, kind] keep to a limit of each kind."""
    found: NDArray[np.bool_] = np.all(wanted <= limit, axis=1)
    return found


@dataclass(frozen=True, kw_only=True)
class _Mixture:
    """What seems to fit. rate: frames a cycle; interval: that the first layers must keep to."""

    rate: float
    cut: str
    search: SharedSearch
    rounds: Rounds
    interval: int


class _MixedSearch:
    """The mixtures of a network. Raises NoFit: it cannot be cut."""

    def __init__(
        self,
        graph: Graph,
        board: Board,
        constraints: NetworkConstraints,
        clock_mhz: float,
        batch: int,
        least: float,
        progress: Progress,
    ) -> None:
        self.graph, self.board, self.constraints = graph, board, constraints
        self.clock_mhz, self.batch, self.least, self.progress = clock_mhz, batch, least, progress
        if graph.input.is_float:
            raise NoFit(
                "a streaming kernel computes in fixed point", "a fixed-point precision, or style: shared"
            )
        self.streaming_board = board.for_style("dataflow")
        self.limits = np.array(
            [[getattr(allowed(slr, board), kind) for kind in KINDS] for slr in board.slrs], np.int64
        )
        self.tried = self.looked_at = 0
        self.reasons: list[str] = []
        self.tails = Tails(graph, board, constraints, clock_mhz, batch)
        self.placed: dict[tuple[Resources, int], Amounts | None] = {}
        self.kept: list[_Mixture] = []
        self.best_rate = least
        self.frame_bytes = sum(
            math.prod(port.tensor.shape) * _bytes(port.tensor.type) for port in graph.inputs
        )

    def best(self) -> MixedHardware:
        found = self.tails.cuts
        if not found:
            message = f"no tensor of {self.graph.name} alone leads from its first layers to the others"
            raise NoFit(message, "style: shared, or a network without skips over all of its layers")
        places = weight_places(self.graph, self.constraints.weights, self.streaming_board)
        on_chip = kept_on_chip(self.graph, self.streaming_board, self.constraints, places)
        for number, cut in enumerate(found):
            self.progress("choosing where streaming ends", number, len(found))
            self._look_at(cut, on_chip)
        made = self._fastest_made()
        if made is None:
            raise self._no_fit()
        return made

    def _fastest_made(self) -> MixedHardware | None:
        """The fastest of those that seemed so, with its kernels made; None: none is fast enough then."""
        best, rate = None, self.least
        for mixture in sorted(self.kept, key=lambda one: -one.rate)[:MOST_MADE]:
            if mixture.rate <= rate:
                break
            try:
                made = self._made(mixture, rate)
            except NoFit as failure:
                self.reasons.append(str(failure))
                continue
            if made.frames_per_cycle > rate:
                best, rate = made, made.frames_per_cycle
        return best

    def _no_fit(self) -> NoFit:
        fix = "style: shared, narrower types, or a larger board"
        if self.least and not self.kept:
            speed = self.least * self.clock_mhz * 1e6
            return NoFit(f"no mixture of {self.graph.name} makes more than {rate_text(speed)} frames/s", fix)
        why = f": {self.reasons[-1]}" if self.reasons else ""
        message = f"no streaming kernel beside shared processors of {self.graph.name} fits {self.board.title}"
        return NoFit(message + why, fix)

    def _look_at(self, cut: str, on_chip: Offchip) -> None:
        """Keeps what is faster than the best before, or nearly as fast, with the graph cut there."""
        layers = [layer.name for layer in self.graph.layers]
        streaming = layers[: layers.index(cut) + 1]
        if not all(on_chip.candidates[name] for name in streaming):
            self.reasons.append(f"the weights of the layers up to {cut} have no room on chip")
            return
        fronts = _Fronts.of(on_chip, streaming)
        if not fronts.may_exceed(self.best_rate, self.limits):
            return
        try:
            search = self.tails.search(cut)
            candidates = list(search.candidates())
        except (NoFit, DesignError) as failure:
            self.reasons.append(f"behind {cut}: {failure}")
            return
        self.looked_at += 1
        fastest = 1 / int(fronts.intervals[0])
        options = sorted(
            (
                (-min(count / one.cycles, fastest), count * share_of(one.each, self.board), at, count)
                for at, one in enumerate(candidates)
                for count in self._counts(one)
            ),
        )
        blocks: dict[tuple[int, int], tuple[Amounts, int]] = {}
        for bound, _, at, count in options:
            if -bound <= self.best_rate:
                break
            one = replace(candidates[at], count=count)
            folding = one.processor.rows, one.processor.lanes
            if folding not in blocks:
                blocks[folding] = self._blocks(cut, one.processor)
            left = self._left(one)
            more, shortest = blocks[folding]
            interval = None if left is None else fronts.fastest(left, more)
            worth = max(self.least, self.best_rate * NEARLY)
            if interval is not None and min(count / one.cycles, 1 / max(interval, shortest)) > worth:
                self._time(cut, search, one, max(interval, shortest))

    def _counts(self, one: Candidate) -> Sequence[int]:
        """How many of a processor are tried: as many as are asked for, or any that fit."""
        if one.processor.lanes * one.processor.activation_bits < LEAST_DDR_BITS:
            return ()  # its words are narrower than any port
        masters, most = self.board.memory.masters, one.count
        if masters is not None:
            # all ports of a processor are on its bank, beside those of the streaming kernel
            most = min(most, len(self.board.memory.banks) * ((masters - FRONT_PORTS) // AXI_PORTS))
        if self.constraints.instances:
            return (one.count,) if one.count <= most else ()
        return range(1, most + 1)

    def _left(self, one: Candidate) -> Amounts | None:
        """[SLR, kind] beside the processors."""
        key = one.each, one.count
        if key not in self.placed:
            self.placed[key] = self._left_beside(one)
        return self.placed[key]

    def _left_beside(self, one: Candidate) -> Amounts | None:
        placed = packed([one.each], one.count, self.board)
        if placed is None:
            return None
        each = np.array([getattr(one.each, kind) for kind in KINDS], np.int64)
        here = np.array([placed[0].count(slr.name) for slr in self.board.slrs], np.int64)
        left: Amounts = self.limits - here[:, None] * each
        return left

    def _blocks(self, cut: str, processor: Processor) -> tuple[Amounts, int]:
        """What putting the results in order takes, and its interval."""
        layer = before(self.graph, cut, processor).layers[-1]
        stage = layer.stage(next(layer.folds()))
        taken = stage_resources(stage, self.streaming_board, None)
        return np.array([getattr(taken, kind) for kind in KINDS], np.int64), stage.interval

    def _time(self, cut: str, search: SharedSearch, one: Candidate, interval: int) -> None:
        """Keeps a processor with as many frames a round as is fastest, where it is fast enough."""
        self.tried += 1
        for rounds in search.rounds(one):
            rate = self._ddr_rate(search, rounds, interval)
            if rate <= 0:
                continue
            cycles = sum(time.with_ddr(rate) for time in rounds.timed.times)
            back = one.count * rounds.together / cycles
            found = min(back, 1 / interval)
            if found > max(self.least, self.best_rate * NEARLY):
                wanted = interval if back >= 1 / interval else int(1 / back)
                timed = replace(rounds, cycles=cycles)
                self.kept.append(_Mixture(rate=found, cut=cut, search=search, rounds=timed, interval=wanted))
                self.best_rate = max(self.best_rate, found)

    def _ddr_rate(self, search: SharedSearch, rounds: Rounds, interval: int) -> float:
        """Bytes a cycle of a processor beside the streaming kernel, which writes what the processors read,
        and reads the network's inputs from one of their banks.
        """
        count = rounds.candidate.count
        banks, rate = shared_banks(self.board, count, self.clock_mhz)
        port = search.graph.inputs[0]
        written = Layout.of(rounds.candidate.processor, port.tensor.shape).frame_bytes / count
        read = self.frame_bytes / max(banks.count(bank) for bank in banks)
        speed = min(1 / interval, rounds.frames_per_cycle)
        return rate - speed * (written + read)

    def _made(self, one: _Mixture, least: float) -> MixedHardware:
        """The kernels. Raises NoFit: the streaming one has no room at more than `least` frames a cycle."""
        back = one.search.made(one.rounds)
        back = replace(back, ddr_rate=self._ddr_rate(one.search, one.rounds, one.interval))
        each = {kind: getattr(back.each, kind) for kind in KINDS}
        taken = {
            slr.name: {kind: value * back.slrs.count(slr.name) for kind, value in each.items()}
            for slr in self.board.slrs
        }
        board = self.streaming_board.beside(taken)
        graph = before(self.graph, one.cut, back.processor)
        front = self._front(graph, board, one.interval, least)
        made = MixedHardware(
            graph=self.graph,
            cut=one.cut,
            front=front,
            back=back,
            front_board=board,
            cuts=self.looked_at,
            tried=self.tried,
        )
        beside = self.board.beside(
            {slr: {kind: getattr(used, kind) for kind in KINDS} for slr, used in made.front_by_slr.items()}
        )
        binds = bottleneck(back.each, back.slrs, back.cycles_by_limit, beside, self.constraints)
        return replace(made, back=replace(back, bottleneck=binds))

    def _front(self, graph: Graph, board: Board, interval: int, least: float) -> StreamingHardware:
        """The streaming kernel at an interval, or at a longer one where what stands between its stages is
        slower than these. Raises NoFit: it has no room, at more than `least` frames a cycle.
        """
        failure: NoFit | None = None
        for longer in SLOWER:
            asked = int(interval * longer)
            if failure is not None and asked * least >= 1:
                break
            try:
                return balance(
                    graph,
                    board,
                    _of_front(self.constraints, graph, asked),
                    batch=self.batch,
                    clock_mhz=self.clock_mhz,
                    progress=self.progress,
                    in_blocks=True,
                )
            except NoFit as found:
                failure = found
        assert failure is not None
        raise failure


def _of_front(constraints: NetworkConstraints, graph: Graph, interval: int) -> NetworkConstraints:
    """What the design fixes of the layers that stream, and how fast they have to be."""
    names = {layer.name for layer in graph.layers}
    weights = constraints.weights
    return NetworkConstraints(
        instances=1,
        target_interval=interval,
        folds={name: fold for name, fold in (constraints.folds or {}).items() if name in names} or None,
        weights=replace(weights, layers={name: w for name, w in weights.layers.items() if name in names}),
    )


def _bytes(type_: object) -> int:
    """Of an element in DDR."""
    bits: int = getattr(type_, "container_bits", 8)
    return bits // 8
