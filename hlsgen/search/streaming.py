"""The foldings of a streaming kernel: every stage just fast enough for a common interval, the cheapest way.

For an interval each layer takes the folding of least cost that is no slower, so that the kernel of least
cost for each interval is known at once. Over the intervals, the one is taken with which the instances that
then fit the board do the most frames a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hlsgen.base.progress import Progress, silent
from hlsgen.base.short_repr import Brief
from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import fifo_resources, total_resources
from hlsgen.designfile.constraints import NetworkConstraints, NoFit
from hlsgen.hardware.pipeline import Pipeline, pipeline_of
from hlsgen.hardware.ports import interfaces_of
from hlsgen.hardware.weights import WeightPlace, kept_by_design, weight_places
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.packing import SHORTEST_CHAIN
from hlsgen.model.ir import Graph
from hlsgen.search.board_limits import KINDS, allowed_whole, capacity, fitting, margin_text, room
from hlsgen.search.budget import SearchBudget, Steps
from hlsgen.search.candidates import Candidate
from hlsgen.search.offchip_weights import MEMORY_PRICE, Offchip, kept_on_chip, spilled
from hlsgen.search.placement import LIMIT_NAMES, Instance, at_banks, ddr_bytes_per_s
from hlsgen.search.slr_cut import cut, fits_cut, numbers_of
from hlsgen.targets.board import Board
from hlsgen.timing.fifos import growing_depths, simulated_words
from hlsgen.timing.row_loops import Unrepeated
from hlsgen.timing.timing import Timing, can_simulate, simulate

STEP = 1.06
"""Ratio of the intervals that are looked at, from the shortest possible one."""
MARGIN = 1.15
"""What converters, FIFOs and ports take besides the stages, as a share; the exact figure decides in the end.
"""

BLOCKS = (1, 2, 4, 8, 16)
"""Frames that streamed weights are used for, looked at as long as a larger block is faster."""
WORTHWHILE = 1.05
"""The gain that is worth a larger block, which takes memory, and whose frames wait for each other."""

MOST_FITTING = 4
"""Kernels that fit, made in search of one that is as fast as it seemed before its FIFOs were known."""

FIFO_FIX = (
    "fewer or smaller tensors that wait for another branch (skips, squeeze and excitation)",
    "style: tasks, where they wait in DDR, if the board has room for a kernel with ports for each layer",
)

MOST_SIMULATED_WORDS = 1 << 27
"""The most words of all streams over the frames that FIFO depths come from: a gigabyte of times."""


@dataclass(frozen=True, kw_only=True)
class StreamingHardware(Brief):
    """The kernel that was chosen: its pipeline with FIFO depths, what an instance takes, how many there are.

    by_slr: how many would fit each SLR. bottleneck: what keeps it from being faster.
    """

    pipeline: Pipeline
    each: Resources
    instances: int
    by_slr: Mapping[str, int]
    bottleneck: str

    def __str__(self) -> str:
        count = f"{self.instances} instance{'s' if self.instances > 1 else ''}"
        return f"{count}, a frame every {self.pipeline.interval:,} cycles each; binds: {self.bottleneck}"

    @cached_property
    def timing(self) -> Timing | None:
        """When it does what; None: it has too many words to be simulated, or frames that never repeat."""
        try:
            return simulate(self.pipeline) if can_simulate(self.pipeline) else None
        except Unrepeated:
            return None

    @property
    def spans(self) -> bool:
        """Whether one instance lies over several SLRs."""
        return bool(self.pipeline.slrs)

    @property
    def weights(self) -> dict[str, WeightPlace]:
        """Where the weights of each layer that has some lie."""
        return self.pipeline.weights

    def with_graph(self, graph: Graph) -> StreamingHardware:
        """The same kernel for `graph`, which has the same layers and types but other weights."""
        return replace(self, pipeline=self.pipeline.with_graph(graph))

    @property
    def spilled(self) -> tuple[str, ...]:
        """The layers whose weights are streamed because they have no room on chip."""
        weights = self.pipeline.weights.items()
        return tuple(name for name, one in weights if one.place == "stream" and not one.any_weights)

    @property
    def placed(self) -> dict[str, int]:
        """Instances by SLR: evenly, as far as they fit; one that spans several is named after the first."""
        left = dict(self.by_slr)
        placed = dict.fromkeys(left, 0)
        for _ in range(self.instances):
            slr = max(left, key=lambda name: (left[name] - placed[name], -list(left).index(name)))
            placed[slr] += 1
        return placed

    def at_banks(self, board: Board) -> tuple[Instance, ...]:
        """Every instance with its SLR and DDR bank."""
        return at_banks([slr for slr, count in self.placed.items() for _ in range(count)], board)


def balance(
    graph: Graph,
    board: Board,
    constraints: NetworkConstraints,
    *,
    batch: int,
    clock_mhz: float,
    progress: Progress = silent,
    in_blocks: bool = False,
) -> StreamingHardware:
    """The fastest kernel of `graph` for `board`. in_blocks: as of `Interfaces`.

    All weights are on chip; where that does not fit, those of as many layers are streamed as is fastest, of
    layers of which the design leaves open where they lie.

    Raises NoFit: not even the smallest foldings fit, or the interval asked for is out of reach.
    DesignError: weights cannot lie where they shall.
    """
    check_slrs(graph, constraints)
    budget = SearchBudget(progress)
    search = _Search(
        graph=graph,
        board=board,
        constraints=constraints,
        batch=batch,
        clock_mhz=clock_mhz,
        budget=budget,
        in_blocks=in_blocks,
    )
    places = weight_places(graph, constraints.weights, board)
    kept = kept_on_chip(graph, board, constraints, places)
    choices = [kept] if kept.complete else []
    if choices and (_has_quads(graph) or _has_adders(kept)):
        choices.append(kept_on_chip(graph, board, constraints, places, logic_price=LOGIC_PRICE))
    found = search.best(choices) if choices else None
    if found is None:
        budget.begin()
        found = search.spilled(kept_on_chip(graph, board, constraints, places, memory_price=MEMORY_PRICE))
    return found


LOGIC_PRICE = 4.0
"""The price of logic cells where they are what lacks: products of few bits, and those by constants, have DSPs
instead of them."""


def _has_quads(graph: Graph) -> bool:
    """Whether products of some layer can be made four in a DSP."""
    return any(
        isinstance(layer, Conv2d) and not layer.is_float and max(layer.quad_chains) >= SHORTEST_CHAIN
        for layer in graph.layers
    )


def _has_adders(kept: Offchip) -> bool:
    """Whether shifts and adders take the place of DSPs in a candidate of some layer."""
    return any(one.fold.multipliers == "constants" for found in kept.candidates.values() for one in found)


@dataclass(frozen=True, kw_only=True)
class _Search:
    """What is asked for."""

    graph: Graph
    board: Board
    constraints: NetworkConstraints
    batch: int
    clock_mhz: float
    budget: SearchBudget
    in_blocks: bool

    def best(self, choices: Sequence[Offchip]) -> StreamingHardware | None:
        """A kernel of the most frames a cycle, of equals the first choice's; None: none is found that fits.

        Raises NoFit: the interval asked for is out of every choice's reach, or a kernel cannot be made.
        """
        asked = self.constraints.target_interval
        if asked and choices and all(choice.shortest > asked for choice in choices):
            raise _out_of_reach(choices[0].candidates, asked)
        options = [
            (rate, -number, -interval)
            for number, choice in enumerate(choices)
            for rate, interval in self._rates(choice)
        ]
        best, best_rate, made, fitting = None, 0.0, set(), 0
        steps = Steps(sorted(options, reverse=True), self.budget)
        for rate, number, interval in steps:
            # with its FIFOs there may be room for fewer instances than it seemed
            if best is not None and (rate < WORTHWHILE * best_rate or fitting == MOST_FITTING):
                break
            choice = choices[-number]
            folds = tuple(one.fold for one in choice.picked(-interval).values())
            if (number, folds) in made:
                continue
            made.add((number, folds))
            found = self._built(choice, -interval)
            steps.tell(fits=found is not None)
            if found is None:
                continue
            if asked and found.pipeline.interval > asked:
                raise _slowed(found.pipeline, asked)
            fitting += 1
            if self._rate(found) > best_rate:
                best, best_rate = found, self._rate(found)
        return best

    def spilled(self, kept: Offchip) -> StreamingHardware:
        """The fastest kernel with some weights streamed, in larger blocks as long as DDR is what binds.

        Raises NoFit: none fits.
        """
        blocks: list[tuple[float, list[Offchip]]] = []
        for block in BLOCKS:
            try:
                choices = list(spilled(self.graph, self.board, self.constraints, kept, batch=block))
            except NoFit:
                if not blocks:
                    raise
                break  # a layer that fits in smaller blocks only
            rate = max((rate for one in choices for rate, _ in self._rates(one)), default=0.0)
            if blocks and rate < WORTHWHILE * blocks[-1][0]:
                break
            blocks.append((rate, choices))
            if not rate:
                break
        best, best_rate = None, 0.0
        failure: NoFit | None = None
        for rate, choices in reversed(blocks):
            try:
                spent = best is not None and self.budget.spent >= 1
                found = self.best(choices) if rate > best_rate and not spent else None
            except NoFit as out_of_reach:
                # smaller blocks wait less for each other, and their FIFOs are sooner computed
                found, failure = None, out_of_reach
            if found is not None and self._rate(found) > best_rate:
                best, best_rate = found, self._rate(found)
        if best is None:
            raise failure or self._no_fit((blocks[0][1] or [kept])[-1])
        return best

    def _rates(self, choice: Offchip) -> Iterator[tuple[float, int]]:
        """(frames a cycle, interval) of every interval with which an instance fits."""
        asked = self.constraints.target_interval
        if asked and choice.shortest > asked:
            return
        interval = asked or choice.shortest
        while True:
            count = self._count(_total(choice, interval))
            if not count and choice.fixed:
                # everything is fixed, perhaps by a search that knew the exact figures: they alone decide
                count = self.constraints.instances or 1
            if count:
                moved = sum(one.ddr_bytes for one in choice.picked(interval).values())
                yield min(count / interval, self._ddr_rate(moved, count)), interval
            if interval >= choice.longest or asked:
                return
            interval = min(choice.longest, max(interval + 1, int(interval * STEP)))

    def _rate(self, found: StreamingHardware) -> float:
        """Frames a cycle, no more than DDR carries."""
        by_ddr = self._ddr_rate(found.pipeline.frame_bytes, found.instances)
        return min(found.instances / found.pipeline.interval, by_ddr)

    def _ddr_rate(self, frame_bytes: int, count: int) -> float:
        """Frames a cycle for which DDR moves so many bytes each, of `count` instances."""
        if not frame_bytes:
            return float("inf")
        placed = at_banks([self.board.slrs[0].name] * count, self.board)
        return ddr_bytes_per_s(placed, self.board, self.clock_mhz) / (self.clock_mhz * 1e6) / frame_bytes

    def _count(self, each: Resources) -> int:
        """Instances that fit, each in one SLR, or one over all SLRs; 0 if none, or fewer than asked for."""
        board, fixed = self.board, self.constraints.instances
        alone = room(each, board)
        most = board.most_units(memory_ports(self.graph, self.constraints))
        count = min(alone or min(1, capacity(each, allowed_whole(board))[0]), most, self.batch)
        if fixed is not None:
            return fixed if count >= fixed else 0
        return count

    def _built(self, choice: Offchip, interval: int) -> StreamingHardware | None:
        """The kernel with its converters and FIFOs; None if it does not fit."""
        board = self.board
        folds = {name: one.fold for name, one in choice.picked(interval).items()}
        interfaces = replace(interfaces_of(board, self.constraints.interface), in_blocks=self.in_blocks)
        pipeline = pipeline_of(self.graph, folds, choice.places, interfaces=interfaces)
        check_blocks(pipeline)
        self.budget.makes(simulated_words(pipeline))
        made = self._with_fifos(pipeline)
        if made is not None and (self.constraints.slrs or not room(total_resources(made, board), board)):
            slrs = numbers_of(self.constraints.slrs, board) or cut(made, board)
            made = self._with_fifos(pipeline.across(slrs)) if slrs else None
            made = made if made is not None and fits_cut(made, board) else None
        if made is None:
            return None
        each = total_resources(made, board)
        count = self._count(each)
        return StreamingHardware(
            pipeline=made,
            each=each,
            instances=count,
            by_slr={name: count for name, (count, _) in fitting(each, board).items()},
            bottleneck=self._bottleneck(choice.candidates, made, count, each),
        )

    def _with_fifos(self, pipeline: Pipeline) -> Pipeline | None:
        """The kernel with FIFOs as deep as they must be; None if it does not fit."""
        for depths in growing_depths(pipeline):
            pipeline = pipeline.with_depths(depths)
            each = total_resources(pipeline, self.board)
            if not self._count(each):
                fifos = Resources.sum(fifo_resources(one, self.board) for one in pipeline.streams.values())
                self.budget.lacks(each, fifos, allowed_whole(self.board))
                return None
        return pipeline

    def _no_fit(self, least: Offchip) -> NoFit:
        """Why no kernel fits. least: with as many weights streamed as the design leaves open."""
        asked, title = self.constraints.target_interval, self.board.title
        total, whole = _total(least, asked or least.longest), allowed_whole(self.board)
        made = self.budget.least
        at = f" at an interval of {asked:,} cycles" if asked else ""
        smallest = (at.strip() or "with the smallest foldings") + _streaming(least)
        over = _over(total, whole)
        fixes = ["a longer interval"] if asked else []
        if not over and made is not None:
            smallest = f"of {self.budget.kernels} kernels that were made none fits; with its FIFOs"
            total, fifos = made
            over = _over(total, whole)
            deep = [kind for kind in over if 2 * getattr(fifos, kind) > getattr(total, kind)]
            if deep:
                smallest = smallest.replace("its FIFOs", f"its FIFOs, {_amounts(fifos, deep)} of it,")
                fixes += FIFO_FIX
        if not over:
            count = (
                f"{self.constraints.instances} instances do"
                if self.constraints.instances
                else "the kernel does"
            )
            fix = "fewer instances, a longer interval, or mapping: auto"
            return NoFit(f"{count} not fit {title}{at}", fix)
        needs = ", ".join(
            f"{getattr(total, kind):,} {kind.upper()} of {getattr(whole, kind):,}" for kind in over
        )
        kept = kept_by_design(self.graph, self.constraints.weights)
        if kept:
            fixes.append(f"weights: stream for {kept[0]}, the most weights that the design keeps on chip")
        fixes += ["narrower types", "a smaller network", "or a larger board"]
        return NoFit(
            f"{smallest} the kernel needs {needs} of the usable share of {title}" + margin_text(self.board),
            ", ".join(fixes),
        )

    def _bottleneck(
        self, candidates: Mapping[str, list[Candidate]], pipeline: Pipeline, count: int, each: Resources
    ) -> str:
        """The slowest stage, and why it is no faster."""
        slowest = pipeline.slowest
        stage = f"{slowest.name} with {slowest.interval:,} cycles a frame"
        if self.constraints.target_interval or self.constraints.folds or self.constraints.instances:
            return f"{stage}; the design fixes a part of the mapping"
        if count >= self.batch:
            return f"{stage}; the batch has no frame for another instance"
        found = candidates.get(slowest.name)
        if found is not None and found[0].interval >= slowest.interval:
            return f"{stage}, its fastest folding"
        whole = allowed_whole(self.board)
        shares = {
            kind: getattr(each, kind) * count / getattr(whole, kind) for kind in KINDS if getattr(whole, kind)
        }
        kind = max(shares, key=lambda one: shares[one])
        return f"{stage}; {LIMIT_NAMES[kind]} for more"


def _over(total: Resources, whole: Resources) -> list[str]:
    """The kinds of which `total` is more than there is."""
    return [kind for kind in KINDS if getattr(total, kind) > getattr(whole, kind)]


def _amounts(total: Resources, kinds: Sequence[str]) -> str:
    return ", ".join(f"{getattr(total, kind):,} {kind.upper()}" for kind in kinds)


def _streaming(choice: Offchip) -> str:
    count = sum(place.place == "stream" for place in choice.places.values())
    return f" and the weights of {count} layer{'s' if count > 1 else ''} streamed" if count else ""


def _total(choice: Offchip, interval: int) -> Resources:
    total = Resources.sum(one.resources for one in choice.picked(interval).values())
    return Resources(**{kind: int(getattr(total, kind) * MARGIN) for kind in KINDS})


def memory_ports(graph: Graph, constraints: NetworkConstraints) -> int:
    """The ports of tensors in memory that a streaming kernel has; those of streamed weights come to these."""
    interface = constraints.interface
    sides = ((graph.inputs, interface.input), (graph.outputs, interface.output))
    return sum(len(ports) for ports, kind in sides if kind == "memory")


def check_slrs(graph: Graph, constraints: NetworkConstraints) -> None:
    """Raises NoFit: the design says the SLR of some layers and not of others."""
    missing = [layer.name for layer in graph.layers if layer.name not in constraints.slrs]
    if constraints.slrs and missing:
        raise NoFit(
            f"slr is given of {len(constraints.slrs)} layers and not of {', '.join(missing[:10])}",
            "an slr for every layer, or for none, of a kernel that needs several",
        )


def check_blocks(pipeline: Pipeline) -> None:
    """Raises NoFit: the FIFOs for its blocks of frames take too long to compute."""
    if pipeline.frames_at_once > 1 and simulated_words(pipeline) > MOST_SIMULATED_WORDS:
        raise NoFit(
            f"FIFOs for blocks of {pipeline.frames_at_once} frames take too long to compute for this network",
            "a smaller batch_reuse for the layers whose weights are streamed",
        )


def _out_of_reach(candidates: Mapping[str, list[Candidate]], interval: int) -> NoFit:
    """Some layer's fastest folding is slower than `interval`."""
    name, found = max(candidates.items(), key=lambda item: item[1][0].interval)
    return NoFit(
        f"{name} takes {found[0].interval:,} cycles a frame at its fastest folding, more than the "
        f"interval of {interval:,} that the design asks for",
        f"interval: {found[0].interval} or more, no fixed folding of {name}, or more instances",
    )


def _slowed(pipeline: Pipeline, interval: int) -> NoFit:
    """The layers keep to `interval`; what moves data between them, or to and from DDR, does not."""
    slowest = pipeline.slowest
    return NoFit(
        f"{slowest.name} takes {slowest.interval:,} cycles a frame, more than the interval of {interval:,} "
        "that the design asks for",
        f"interval: {slowest.interval} or more, or more instances",
    )
