"""The hardware of `style: shared`: which processor, how many of them, how a network's tasks are cut for it.

Every processor of the list is judged by what its multipliers alone would take, the promising ones in full:
the search ends where no bound is above the best that was found, so that it finds the fastest of the list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress, silent
from hlsgen.base.short_repr import Brief
from hlsgen.cost.processor import AXI_PORTS, processor_resources
from hlsgen.cost.program_time import TASK_CYCLES, TaskTime
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NetworkConstraints, NoFit
from hlsgen.hardware.processor import BIAS_BITS, FLOAT_BITS, LEAST_POOLED_ROWS, LEAST_WINDOWED_ROWS, Processor
from hlsgen.hardware.storage import Storage
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.packing import pair_bits
from hlsgen.model.ir import Graph
from hlsgen.program.behind import windows_behind
from hlsgen.program.host_tail import Division
from hlsgen.program.lowering import (
    Lowered,
    lowered,
    lowered_apart,
    most_pooled_columns,
    needs_scales,
    needs_tables,
    windows_joined,
)
from hlsgen.program.program import Program
from hlsgen.program.tiling import NotTiled, Tiling, band_blocks, tiled
from hlsgen.search.board_limits import allowed, room_within
from hlsgen.search.candidates import share_of
from hlsgen.search.processor_limits import DDR, Misses, bottleneck
from hlsgen.search.processor_needs import needed_widths, widest, without_tail
from hlsgen.search.processor_rounds import TOGETHER, Candidate, Rounds, frames_together
from hlsgen.search.task_placement import packed, shared_banks
from hlsgen.search.task_times import TaskTimes
from hlsgen.targets.board import Board

ROWS = (1, 3, 5, 7, 9, 11, 13)
LANES = (4, 8, 16, 32)
PIXEL_DEPTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
WEIGHT_DEPTHS = (64, 128, 256, 512, 1024, 2048)
EXTRA_PARTS = (4, 2, 1)
"""Output channels that are computed at once beside those of a word: such a part of them, or none."""
CARRIED_WORDS = 2048
"""Words of sums that wait for the rest of their channels, where there are extra ones."""
MOST_IN_FABRIC, MOST_FABRIC_LANES = 2, 16
"""One lane in so many, and so many at the most, have their products in logic cells: where more fit so."""
OnTheWay = Callable[[Processor], Processor]


@dataclass(frozen=True, kw_only=True)
class SharedHardware(Brief):
    """Processors that are alike, and the program that each of them runs on frames of its own. division: what
    is left to the host.

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
    division: Division

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
    def frames_per_cycle(self) -> float:
        """Frames a cycle of all instances."""
        return self.instances * self.program.together / self.round_cycles

    @property
    def task_limits(self) -> tuple[str, ...]:
        """What sets the cycles of each task."""
        pairs = zip(self.task_cycles, self.times, strict=True)
        return tuple(DDR if cycles > time.cycles else time.binds for cycles, time in pairs)

    @property
    def cycles_by_limit(self) -> Mapping[str, int]:
        """Cycles of a round by what sets them."""
        found: Counter[str] = Counter()
        for cycles, limit in zip(self.task_cycles, self.task_limits, strict=True):
            found[limit] += cycles
        return found

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
        """The same processors for `graph`, which has the same layers and types but other weights. Raises
        DesignError: these need other tasks, or what the processors lack.
        """
        division = without_tail(graph)
        graph = division.head
        tasks = lowered(graph, self.processor)
        if [task.layers for task in tasks.tasks] != [task.layers for task in self.program.tasks]:
            message = f"the weights of {graph.name} make other tasks of its layers than those that were built"
            raise DesignError(
                Problem(message=message, fix="hlsgen program --for the build, or build the design again")
            )
        tilings = tuple(
            replace(tiling, task=task) for tiling, task in zip(self.program.tilings, tasks.tasks, strict=True)
        )
        program = replace(self.program, graph=graph, lowered=tasks, tilings=tilings)
        return replace(self, program=program, division=division)


def shared_hardware(
    graph: Graph,
    board: Board,
    constraints: NetworkConstraints,
    *,
    clock_mhz: float,
    batch: int,
    progress: Progress = silent,
) -> SharedHardware:
    """The fastest processors of the list that fit. Raises NoFit; DesignError: a layer has no hardware."""
    return SharedSearch(graph, board, constraints, clock_mhz, batch, progress).best()


@dataclass
class SharedSearch:
    """The processors of the list that keep to the constraints. Raises NoFit: no processor can.

    batch: frames that come in one go, which the fastest is the fastest for: no more of them go together than
    every processor gets.
    """

    graph: Graph
    board: Board
    constraints: NetworkConstraints
    clock_mhz: float
    batch: int
    progress: Progress = silent

    def __post_init__(self) -> None:
        self.floating = self.graph.input.is_float
        self.division = without_tail(self.graph)
        self.graph = self.division.head
        self.tried = 0
        self.misses = Misses()
        self.lowered: dict[tuple[int, int], Lowered] = {}
        self.times = TaskTimes()
        self.rates: dict[int, float] = {}
        self.terms = self.board.terms
        self.limits = [allowed(slr, self.board) for slr in self.board.slrs]
        self.widths = self._widths()
        self.pool_columns = most_pooled_columns(self.graph)
        self.tables = needs_tables(self.graph)
        self.scales = not self.floating and needs_scales(self.graph, widest(self.graph))
        self.windows = windows_behind(self.graph)

    def best(self) -> SharedHardware:
        """The fastest. Raises NoFit: none keeps to the constraints."""
        found = self.fastest(list(self.candidates()))
        if found is None:
            raise self.misses.no_fit(self.graph, self.board, self.constraints)
        return found

    def _price(self, one: Candidate) -> float:
        return share_of(one.each, self.board)

    def fastest(self, candidates: Sequence[Candidate]) -> SharedHardware | None:
        """The fastest of candidates for the batch, and of those the fastest for any; None: there is none."""
        batch = self.batch
        ordered = sorted(candidates, key=lambda one: (-one.bound_of(batch), -one.bound, self._price(one)))
        found: Rounds | None = None
        for number, one in enumerate(ordered):
            if found is not None and one.bound_of(batch) < found.rate_of(batch):
                break
            self.progress("choosing the processor", number, len(ordered))
            for rounds in self.rounds(one, found):
                if found is None or self._merit(rounds) > self._merit(found):
                    found = rounds
        return None if found is None else self.made(found)

    def _merit(self, one: Rounds) -> tuple[float, float]:
        """Frames a cycle of the batch, and of any number of them."""
        return one.rate_of(self.batch), one.frames_per_cycle

    def rounds(self, one: Candidate, best: Rounds | None = None) -> Iterator[Rounds]:
        """A candidate with as many frames a round as there are, where its memories hold the tasks.

        best: found before; what cannot be better is left out.
        """
        wished, rate = self.constraints.target_interval, self._rate(one.count)
        least = (0.0, 0.0) if best is None else self._merit(best)
        tasks = self._lowered(one.processor).tasks
        if one.processor.window_columns and not any(task.behind for task in tasks):
            return  # its memories are too small for them: one without the hardware for windows is as fast
        for together in self._values("together", frames_together(-(-self.batch // one.count))):
            if (one.bound_of(self.batch, together), one.bound) <= least:
                continue
            self.tried += 1
            try:
                timed = self.times.of(one.processor, tasks, together)
            except NotTiled as failure:
                self.misses.not_tiled(str(failure))
                continue
            cycles = sum(time.with_ddr(rate) for time in timed.times)
            found = Rounds(candidate=one, together=together, cycles=cycles, timed=timed)
            if wished and found.interval > wished:
                self.misses.too_slow(found.interval)
                continue
            yield found

    def _widths(self) -> tuple[int, int, bool]:
        """The bits of activations and of weights, and whether there are unsigned activations as wide.

        Raises NoFit: fewer are asked for than the network needs.
        """
        asked = self.constraints.processor
        if asked.lanes and (asked.extra_lanes or 0) > asked.lanes:
            message = (
                f"extra_lanes of the processor is {asked.extra_lanes}, more than its {asked.lanes} lanes"
            )
            raise NoFit(message, f"extra_lanes: {asked.lanes} or fewer", key="processor")
        if self.floating:
            for key in ("activation_bits", "weight_bits", "extra_lanes"):
                if asked.given.get(key):
                    message = (
                        f"{key} of the processor is {asked.given[key]}, and {self.graph.name} is in float32"
                    )
                    raise NoFit(message, f"no {key}, or a fixed-point precision", key="processor")
            return FLOAT_BITS, FLOAT_BITS, False
        activation_bits, weight_bits, unsigned = needed_widths(self.graph, asked.activation_bits)
        for key, needed in (("activation_bits", activation_bits), ("weight_bits", weight_bits)):
            given = getattr(asked, key)
            if given is not None and given < needed:
                message = f"{key} of the processor is {given}, and {self.graph.name} needs {needed}"
                raise NoFit(message, f"{key}: {needed}, or narrower types", key="processor")
        return activation_bits, max(weight_bits, asked.weight_bits or 0), unsigned

    def stored_without_pools(self) -> frozenset[str]:
        """The tensors that tasks leave in DDR where no pool is done on the way there."""
        return frozenset(task.output.name for task in self.apart(LANES[-1], 0).tasks)

    def apart(self, lanes: int, pool_columns: int) -> Lowered:
        """The tasks for so many lanes, without windows over results."""
        plain = self._processor(LEAST_POOLED_ROWS, lanes, PIXEL_DEPTHS[0], WEIGHT_DEPTHS[0])
        return self._apart(replace(plain, pool_columns=pool_columns))

    def _values(self, key: str, every: Sequence[int]) -> Sequence[int]:
        """The list, or what the design fixes in its place."""
        given = self.constraints.processor.given.get(key)
        return every if given is None else (given,)

    def _lowered(self, processor: Processor) -> Lowered:
        """The tasks, which depend on the lanes and on what is done to results on their way to DDR."""
        return windows_joined(self._apart(processor), self.graph, processor)

    def _apart(self, processor: Processor) -> Lowered:
        """The same without windows over results."""
        key = processor.lanes, processor.pool_columns
        if key not in self.lowered:
            self.lowered[key] = lowered_apart(self.graph, processor)
        return self.lowered[key]

    def _cost(self, processor: Processor) -> Resources:
        """What a processor takes."""
        return processor_resources(processor, self.terms)

    def _processor(
        self,
        rows: int,
        lanes: int,
        pixel_depth: int,
        weight_depth: int,
        fabric_lanes: int = 0,
        extra_lanes: int = 0,
    ) -> Processor:
        activation_bits, weight_bits, unsigned = self.widths
        beat = min(self.board.memory.port_bits, lanes * BIAS_BITS, lanes * lanes * weight_bits)
        while lanes * (lanes + extra_lanes) * weight_bits % beat:
            beat //= 2
        return Processor(
            rows=rows,
            lanes=lanes,
            activation_bits=activation_bits,
            weight_bits=weight_bits,
            unsigned=unsigned,
            pixel_depth=pixel_depth,
            weight_depth=weight_depth,
            weight_beat_bits=beat,
            tables=self.tables,
            scales=self.scales,
            fabric_lanes=fabric_lanes,
            floating=self.floating,
            extra_lanes=extra_lanes,
            carried_words=CARRIED_WORDS if extra_lanes else 0,
            may_pack=pair_bits(weight_bits) <= self.board.multiplier.wide,
        )

    def candidates(self) -> Iterator[Candidate]:
        """Processors of which at least one fits, each with as many as fit or are asked for."""
        for lanes in self._values("lanes", LANES):
            every = (0, *(lanes // part for part in EXTRA_PARTS if lanes // part % 2 == 0))
            extras = [extra for extra in self._values("extra_lanes", every) if extra <= lanes]
            extras = [0] if self.floating else extras
            for rows, extra in product(self._values("rows", ROWS), extras):
                for on_the_way in self._on_the_way(rows, lanes, extra):
                    foldings = self._foldings(rows, lanes, extra, on_the_way)
                    if foldings:
                        yield from self._of_foldings(foldings)

    def _on_the_way(self, rows: int, lanes: int, extra: int) -> Iterator[OnTheWay]:
        """What is done to results on their way to DDR: nothing, pools of 2 x 2, windows."""
        yield lambda plain: plain
        if self.pool_columns and rows >= LEAST_POOLED_ROWS:
            yield lambda plain: replace(plain, pool_columns=self.pool_columns)
        if (
            self.windows.columns
            and rows >= LEAST_WINDOWED_ROWS
            and not (self.scales or self.floating or extra)
        ):
            yield self.windows.of
            if (of_bands := windows_behind(self.graph, lanes)) != self.windows:
                yield of_bands.of

    def _foldings(self, rows: int, lanes: int, extra: int, on_the_way: OnTheWay) -> list[Processor]:
        """The processor with the smallest memories, and with products in logic cells where more fit so."""
        depths = self._values("pixel_words", PIXEL_DEPTHS)[0], self._values("weight_words", WEIGHT_DEPTHS)[0]
        found: list[Processor] = []
        most, outputs = 0, lanes + extra
        most_in_fabric = min(outputs // MOST_IN_FABRIC, MOST_FABRIC_LANES)
        if self.floating:
            most_in_fabric = lanes  # an adder in logic cells is hardly larger than one of DSPs
        in_fabric = range(0, most_in_fabric + 1, 2)
        for fabric_lanes in self._values("fabric_lanes", in_fabric):
            if fabric_lanes > outputs:
                continue
            plain = self._processor(rows, lanes, *depths, fabric_lanes, extra)
            smallest = on_the_way(plain)
            count = self._count(smallest, self._cost(smallest), "")
            if count > most:
                most = count
                found.append(smallest)
        return found

    def _of_foldings(self, foldings: Sequence[Processor]) -> Iterator[Candidate]:
        """The depths that hold the tasks, for foldings that fit: they differ in what multiplies alone."""
        smallest = foldings[0]
        every = self._values("pixel_words", PIXEL_DEPTHS)
        weight_depths = self._values("weight_words", WEIGHT_DEPTHS)
        deepest = replace(smallest, pixel_depth=every[-1], weight_depth=weight_depths[-1])
        # with the most windows over results, which take no cycles of the array
        tasks = self._lowered(deepest).tasks
        try:
            tilings = [tiled(deepest, task, 1) for task in tasks]
        except NotTiled as failure:
            self.misses.not_tiled(str(failure))
            return
        busy = sum(map(_least_cycles, tilings))
        least, widest = max(
            (band_blocks(smallest, task, 1) * one.in_groups * task.in_shape[2], task.name)
            for task, one in zip(tasks, tilings, strict=True)
        )
        most = max(self._values("together", [min(TOGETHER[-1], self.batch)]))
        cycles = busy + len(tasks) * TASK_CYCLES // most
        for pixel_depth, weight_depth in product(every, weight_depths):
            if pixel_depth >= least:
                why = f" with {pixel_depth:,} words a bank for the pixels of {widest}"
                deep = [replace(one, pixel_depth=pixel_depth, weight_depth=weight_depth) for one in foldings]
                yield from self._of_memories(deep, cycles, why if pixel_depth > every[0] else "")

    def _of_memories(self, deep: Sequence[Processor], cycles: int, why: str) -> list[Candidate]:
        """Processors with their memories in BRAM or URAM, where none that costs less fits as often."""
        kinds = (Storage.BRAM, Storage.URAM) if self.board.total.uram else (Storage.BRAM,)
        found = []
        for one, pixels, weights in product(deep, kinds, kinds):
            processor = replace(one, pixel_storage=pixels, weight_storage=weights)
            each = self._cost(processor)
            count = self._count(processor, each, why)
            if count:
                found.append(Candidate(processor=processor, each=each, count=count, cycles=cycles))
        kept: list[Candidate] = []
        for candidate in sorted(found, key=self._price):
            if all(candidate.count > other.count for other in kept):
                kept.append(candidate)
        return kept

    def _count(self, processor: Processor, each: Resources, why: str) -> int:
        """Instances that fit, each in one SLR, or as many as are asked for; 0: not. why: it is so large."""
        most = min(room_within(each, self.limits), self.board.most_units(AXI_PORTS))
        asked = self.constraints.instances
        if not most:
            self.misses.too_large(processor, each, why, self.board)
        if asked and 0 < most < asked:
            self.misses.too_few(processor, most)
        return (asked if asked <= most else 0) if asked else most

    def made(self, one: Rounds) -> SharedHardware:
        """The hardware of a candidate."""
        candidate, processor = one.candidate, one.candidate.processor
        placed = packed([candidate.each], candidate.count, self.board)
        assert placed is not None, "so many fit"
        banks, rate = shared_banks(self.board, candidate.count, self.clock_mhz)
        hardware = SharedHardware(
            program=Program(
                graph=self.graph,
                processor=processor,
                lowered=self._lowered(processor),
                tilings=one.timed.on(processor),
                together=one.together,
            ),
            times=one.timed.times,
            each=candidate.each,
            slrs=tuple(placed[0]),
            banks=tuple(banks),
            ddr_rate=rate,
            bottleneck="",
            tried=self.tried,
            division=self.division,
        )
        cycles = hardware.cycles_by_limit
        binds = bottleneck(hardware.each, hardware.slrs, cycles, self.board, self.constraints)
        return replace(hardware, bottleneck=binds)

    def _rate(self, count: int) -> float:
        """Bytes a cycle that each of so many instances has."""
        if count not in self.rates:
            self.rates[count] = shared_banks(self.board, count, self.clock_mhz)[1]
        return self.rates[count]


def _least_cycles(tiling: Tiling) -> int:
    """Of a frame: those of the products of all passes, or in which the words of all output groups leave."""
    position = max(tiling.window_words * tiling.passes, tiling.processor.rows * tiling.out_groups)
    return tiling.out_blocks * tiling.task.out_shape[2] * position
