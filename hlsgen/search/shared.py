"""The hardware of `style: shared`: which processor, how many of them, and how a network's tasks are cut for
it.

Every processor of the list is judged by what its multipliers alone would take, the promising ones in full:
the search ends where no bound is above the best that was found, so that it finds the fastest of the list.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from hlsgen.base.progress import Progress, silent
from hlsgen.base.short_repr import Brief
from hlsgen.cost.processor import processor_resources
from hlsgen.cost.program_time import TaskTime, task_time
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NetworkConstraints, NoFit
from hlsgen.hardware.processor import BIAS_BITS, Processor
from hlsgen.hardware.storage import Storage
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.program.lowering import Lowered, lowered
from hlsgen.program.program import Program
from hlsgen.program.tiling import NotTiled, Tiling, band_blocks, tiled
from hlsgen.search.board_limits import KINDS, allowed, capacity, fitting, room
from hlsgen.search.placement import LIMIT_NAMES
from hlsgen.search.task_placement import packed, shared_banks
from hlsgen.targets.board import Board

ROWS = (1, 3, 5, 7, 9, 11, 13)
LANES = (4, 8, 16, 32)
TOGETHER = (1, 2, 4, 8, 16)
"""Frames of a round: weights are read once for those that lie on chip together."""
PIXEL_DEPTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
WEIGHT_DEPTHS = (64, 128, 256, 512, 1024, 2048)
NARROW, WIDE = 8, 16
"""Bits of a processor's activations and weights."""


@dataclass(frozen=True, kw_only=True)
class SharedHardware(Brief):
    """Processors that are alike, and the program that each of them runs on frames of its own.

    slrs, banks: of each instance. ddr_rate: bytes a cycle that an instance has. each: what one takes.
    """

    program: Program
    times: tuple[TaskTime, ...]
    each: Resources
    slrs: tuple[str, ...]
    banks: tuple[str, ...]
    ddr_rate: float
    bottleneck: str
    tried: int

    def __str__(self) -> str:
        count = f"{self.instances} processor{'s' if self.instances > 1 else ''}"
        return f"{count} of {self.processor}, {self.interval:,} cycles a frame; binds: {self.bottleneck}"

    @property
    def processor(self) -> Processor:
        return self.program.processor

    @property
    def instances(self) -> int:
        return len(self.slrs)

    @cached_property
    def task_cycles(self) -> tuple[int, ...]:
        """Cycles of each task of a round."""
        return tuple(time.with_ddr(self.ddr_rate) for time in self.times)

    @property
    def round_cycles(self) -> int:
        return sum(self.task_cycles)

    @property
    def interval(self) -> int:
        """Cycles a frame of a processor."""
        return -(-self.round_cycles // self.program.together)

    @property
    def weights(self) -> dict[str, WeightPlace]:
        """All weights are read from DDR, so that every layer may take others."""
        layers = self.program.graph.layers
        return {
            one.name: WeightPlace(layer=one.name, place="stream") for one in layers if isinstance(one, Conv2d)
        }

    def with_graph(self, graph: Graph) -> SharedHardware:
        """The same processors for `graph`, which has the same layers and types but other weights."""
        tasks = lowered(graph, self.processor)
        tilings = tuple(
            replace(tiling, task=task) for tiling, task in zip(self.program.tilings, tasks.tasks, strict=True)
        )
        return replace(self, program=replace(self.program, graph=graph, lowered=tasks, tilings=tilings))


def shared_hardware(
    graph: Graph,
    board: Board,
    constraints: NetworkConstraints,
    *,
    clock_mhz: float,
    progress: Progress = silent,
) -> SharedHardware:
    """The fastest processors of the list that fit. Raises NoFit; DesignError: a layer has no hardware."""
    if graph.input.is_float:
        raise NoFit("a shared processor computes in fixed point", "a fixed-point precision, or style: tasks")
    return _SharedSearch(graph, board, constraints, clock_mhz, progress).best()


@dataclass
class _SharedSearch:
    graph: Graph
    board: Board
    constraints: NetworkConstraints
    clock_mhz: float
    progress: Progress

    def __post_init__(self) -> None:
        self.tried = 0
        self.lowered: dict[int, Lowered] = {}
        self.times: dict[tuple[object, ...], tuple[Tiling, TaskTime]] = {}
        self.most_frames = 1 if self.constraints.instances is None else 1
        self.terms = self.board.terms
        self.lacking = ""

    def best(self) -> SharedHardware:
        found: SharedHardware | None = None
        candidates = sorted(self._candidates(), key=lambda one: -one.bound)
        for number, one in enumerate(candidates):
            if found is not None and one.bound <= self._speed(found):
                break
            self.progress("choosing the processor", number, len(candidates))
            for together in TOGETHER:
                made = self._made(one, together)
                if made is not None and (found is None or self._speed(made) > self._speed(found)):
                    found = made
        if found is None:
            raise self._no_fit()
        return replace(found, bottleneck=self._bottleneck(found), tried=self.tried)

    def _speed(self, hardware: SharedHardware) -> float:
        """Frames a cycle of all instances."""
        return hardware.instances * hardware.program.together / hardware.round_cycles

    def _no_fit(self) -> NoFit:
        title = self.board.title
        if self.constraints.instances:
            message = f"{self.constraints.instances} processors for {self.graph.name} do not fit {title}"
            return NoFit(message, "fewer instances, or mapping: auto")
        why = f": {self.lacking}" if self.lacking else ""
        return NoFit(
            f"no processor for {self.graph.name} fits {title}{why}", "narrower types, or a larger board"
        )

    def _lowered(self, lanes: int) -> Lowered:
        """The tasks, which depend on the lanes alone."""
        if lanes not in self.lowered:
            self.lowered[lanes] = lowered(
                self.graph, self._processor(1, lanes, PIXEL_DEPTHS[0], WEIGHT_DEPTHS[0])
            )
        return self.lowered[lanes]

    @cached_property
    def _widths(self) -> tuple[int, int, bool]:
        """Bits of activations and of weights that the network needs, and whether it has unsigned ones as
        wide.
        """
        return needed_widths(self.graph)

    def _processor(
        self,
        rows: int,
        lanes: int,
        pixel_depth: int,
        weight_depth: int,
        storages: tuple[Storage, Storage] = (Storage.BRAM, Storage.BRAM),
    ) -> Processor:
        activation_bits, weight_bits, unsigned = self._widths
        beat = min(self.board.memory.port_bits, lanes * BIAS_BITS, lanes * lanes * weight_bits)
        return Processor(
            rows=rows,
            lanes=lanes,
            activation_bits=activation_bits,
            weight_bits=weight_bits,
            unsigned=unsigned,
            pixel_depth=pixel_depth,
            weight_depth=weight_depth,
            weight_beat_bits=beat,
            pixel_storage=storages[0],
            weight_storage=storages[1],
        )

    def _candidates(self) -> Iterator[_Candidate]:
        """Processors of which at least one fits, with the frames a cycle that their multipliers allow."""
        limits = [allowed(slr, self.board) for slr in self.board.slrs]
        for lanes in LANES:
            for rows in ROWS:
                smallest = self._processor(rows, lanes, PIXEL_DEPTHS[0], WEIGHT_DEPTHS[0])
                if not any(capacity(processor_resources(smallest, self.terms), one)[0] for one in limits):
                    continue
                yield from self._of_folding(smallest)

    def _of_folding(self, smallest: Processor) -> Iterator[_Candidate]:
        """The depths that hold the tasks, for a folding that fits."""
        tasks = self._lowered(smallest.lanes).tasks
        try:
            busy = 0
            deepest = replace(smallest, pixel_depth=PIXEL_DEPTHS[-1], weight_depth=WEIGHT_DEPTHS[-1])
            tilings = [tiled(deepest, task, 1) for task in tasks]
        except NotTiled as failure:
            self.lacking = str(failure)
            return
        busy = sum(max(one.window_words, smallest.rows) * _all_positions(one) for one in tilings)
        least_pixels = max(
            band_blocks(smallest, task, 1) * one.in_groups * task.in_shape[2]
            for task, one in zip(tasks, tilings, strict=True)
        )
        kinds = (Storage.BRAM, Storage.URAM) if self.board.total.uram else (Storage.BRAM,)
        depths = [depth for depth in PIXEL_DEPTHS if depth >= least_pixels]
        for pixel_depth, weight_depth, *storages in product(depths, WEIGHT_DEPTHS, kinds, kinds):
            processor = self._processor(
                smallest.rows, smallest.lanes, pixel_depth, weight_depth, (storages[0], storages[1])
            )
            each = processor_resources(processor, self.terms)
            count = self._count(each)
            if count:
                yield _Candidate(processor=processor, each=each, count=count, bound=count / busy)

    def _count(self, each: Resources) -> int:
        """Instances that fit, each in one SLR, or as many as are asked for; 0: not."""
        most = min(room(each, self.board), self.board.max_compute_units)
        asked = self.constraints.instances
        return (asked if asked <= most else 0) if asked else most

    def _made(self, one: _Candidate, together: int) -> SharedHardware | None:
        """The hardware of a candidate; None: a task does not fit its memories, or the interval is missed."""
        self.tried += 1
        tasks = self._lowered(one.processor.lanes)
        try:
            parts = [self._timed(one.processor, index, together) for index in range(len(tasks.tasks))]
        except NotTiled as failure:
            self.lacking = str(failure)
            return None
        placed = packed([one.each], one.count, self.board)
        if placed is None:
            return None
        banks, rate = shared_banks(self.board, one.count, self.clock_mhz)
        hardware = SharedHardware(
            program=Program(
                graph=self.graph,
                processor=one.processor,
                lowered=tasks,
                tilings=tuple(tiling for tiling, _ in parts),
                together=together,
            ),
            times=tuple(time for _, time in parts),
            each=one.each,
            slrs=tuple(placed[0]),
            banks=tuple(banks),
            ddr_rate=rate,
            bottleneck="",
            tried=self.tried,
        )
        wished = self.constraints.target_interval
        return None if wished and hardware.interval > wished else hardware

    def _timed(self, processor: Processor, index: int, together: int) -> tuple[Tiling, TaskTime]:
        """A task's tiling and time; of equal shapes they are the same."""
        task = self._lowered(processor.lanes).tasks[index]
        key = (
            processor,
            together,
            task.in_shape,
            task.source.shape,
            task.out_shape,
            task.window,
            task.groups,
            task.weights is None,
            task.added is None,
        )
        if key not in self.times:
            tiling = tiled(processor, task, together)
            self.times[key] = tiling, task_time(tiling)
        tiling, time = self.times[key]
        return replace(tiling, task=task), time

    def _bottleneck(self, hardware: SharedHardware) -> str:
        """What most of the time goes to, and what allows no more processors."""
        waiting = sum(
            cycles
            for cycles, time in zip(hardware.task_cycles, hardware.times, strict=True)
            if cycles > time.cycles
        )
        total = hardware.round_cycles
        if waiting > total / 2:
            return f"DDR bandwidth, for {waiting / total:.0%} of the cycles"
        if self.constraints.instances:
            return "the instances that the design asks for"
        kinds = {binding for _, binding in fitting(hardware.each, self.board).values()}
        names = " and ".join(LIMIT_NAMES[kind] for kind in KINDS if kind in kinds)
        return f"{names} for more multipliers"


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A processor, what it takes, how many fit; bound: frames a cycle that they cannot be above."""

    processor: Processor
    each: Resources
    count: int
    bound: float


def _all_positions(tiling: Tiling) -> int:
    """Positions of all output groups of a frame."""
    return tiling.out_blocks * tiling.task.out_shape[2] * tiling.out_groups


def needed_widths(graph: Graph) -> tuple[int, int, bool]:
    """Bits of activations and of weights that a graph needs of a processor, and whether unsigned ones fill
    them.

    Raises DesignError: a layer has no hardware, or needs more than the widest processor has.
    """
    wide = Processor(
        rows=1,
        lanes=4,
        activation_bits=WIDE,
        weight_bits=WIDE,
        unsigned=True,
        pixel_depth=PIXEL_DEPTHS[0],
        weight_depth=WEIGHT_DEPTHS[0],
        weight_beat_bits=32,
    )
    found = lowered(graph, wide)
    types = [tensor.type for tensor in found.tensors.values()]
    activation_bits = NARROW if max(type_.width for type_ in types) <= NARROW else WIDE
    unsigned = any(not type_.signed and type_.width == activation_bits for type_ in types)
    limits = [
        max(int(task.weights.max()), ~int(task.weights.min()))
        for task in found.tasks
        if task.weights is not None and np.size(task.weights)
    ]
    weight_bits = NARROW if max(limits, default=0) < 1 << (NARROW - 1) else WIDE
    return activation_bits, weight_bits, unsigned


def shares_of_time(hardware: SharedHardware) -> Mapping[str, float]:
    """By task the part of a round that it takes."""
    total = hardware.round_cycles
    return {
        task.name: cycles / total
        for task, cycles in zip(hardware.program.tasks, hardware.task_cycles, strict=True)
    }


def utilisation(hardware: SharedHardware) -> float:
    """The part of all products of a frame's time that the network needs."""
    products = hardware.program.graph.macs * hardware.program.together
    return products / (hardware.round_cycles * hardware.processor.multipliers)


def word_bytes(processor: Processor) -> int:
    return math.ceil(processor.word_bits / 8)
