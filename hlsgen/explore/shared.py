"""explore for a network on shared processors: every processor of the list is judged, so that it is exact.

Without a goal that is what the quick search does too. With one, processors with their instances are taken up
in the order of their cost, and those whose multipliers alone are too slow are passed over: the first that
reaches the goal is the cheapest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NoFit, ProcessorConstraints
from hlsgen.explore.options import non_dominated
from hlsgen.explore.result import Explored, Goal, LayerChoice
from hlsgen.report.explored import FrontPoint, SearchPoint
from hlsgen.search.board_limits import KINDS, allowed_whole, whole_of
from hlsgen.search.candidates import share_of
from hlsgen.search.processor_rounds import Candidate, Rounds
from hlsgen.search.shared import SharedHardware, SharedSearch
from hlsgen.styles.shared import SharedNetwork
from hlsgen.styles.style import Style
from hlsgen.targets.board import Board

SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Of the board, that the front is made for."""


class _Explorer:
    def __init__(self, design: SharedNetwork, goal: Goal, progress: Progress) -> None:
        self.design, self.goal = design, goal
        self.search = SharedSearch(
            design.graph, design.board, design.constraints, design.clock_mhz, design.batch, progress
        )
        self.candidates = list(self.search.candidates())
        self.judged = len(self.candidates)

    def best(self) -> SharedHardware:
        """The fastest, or the cheapest that reaches the goal. Raises DesignError: none does; NoFit."""
        if self.goal.fastest:
            return self.search.best()
        counted = list(self._counted())
        self.judged = len(counted)
        for one in sorted(counted, key=self._price):
            if not self._may_reach(one):
                continue
            reaching = [rounds for rounds in self.search.rounds(one) if self._reaches(rounds)]
            if reaching:
                found = max(reaching, key=lambda rounds: rounds.frames_per_cycle)
                return replace(self.search.made(found), bottleneck="the goal: it is reached at least cost")
        raise self._out_of_reach()

    def _price(self, one: Candidate) -> float:
        return share_of(one.each.times(one.count), self.design.board)

    def _counted(self) -> Iterator[Candidate]:
        """Each candidate with every number of instances that fits."""
        for one in self.candidates:
            counts = [one.count] if self.design.constraints.instances else range(1, one.count + 1)
            yield from (replace(one, count=count) for count in counts)

    def _may_reach(self, one: Candidate) -> bool:
        """Whether its multipliers are as fast as the goal asks; a frame takes no less than `cycles`."""
        goal, hz = self.goal, self.design.clock_mhz * 1e6
        fast = goal.target_fps is None or one.bound * hz >= goal.target_fps * (1 - 1e-12)
        return fast and (goal.max_latency_us is None or one.cycles / hz * 1e6 <= goal.max_latency_us)

    def _reaches(self, made: Rounds) -> bool:
        goal, hz = self.goal, self.design.clock_mhz * 1e6
        fast = goal.target_fps is None or made.frames_per_cycle * hz >= goal.target_fps * (1 - 1e-12)
        return fast and (goal.max_latency_us is None or made.cycles / hz * 1e6 <= goal.max_latency_us)

    def _out_of_reach(self) -> DesignError:
        design, goal, mhz = self.design, self.goal, self.design.clock_mhz
        fastest = self.search.best()
        rate = fastest.frames_per_cycle * mhz * 1e6
        latency = self._least_cycles() / mhz
        message = (
            f"{design.name}: the targets cannot be reached on {design.board.title}: its fastest processors "
            f"give {rate:,.0f} frames/s, and the shortest latency is {latency:,.1f} us"
        )
        fixes = []
        if goal.target_fps is not None:
            fixes.append(f"--target-fps {int(rate)} or less")
        if goal.max_latency_us is not None:
            fixes.append(f"--max-latency-us {math.ceil(latency * 10) / 10} or more")
        return DesignError(Problem(message=message, fix=", ".join(fixes)))

    def _least_cycles(self) -> float:
        """Of a round on any of the candidates: those whose multipliers alone take as many are left out."""
        least = math.inf
        for one in sorted(self.candidates, key=lambda one: one.cycles):
            if one.cycles >= least:
                break
            least = min([least, *(rounds.cycles for rounds in self.search.rounds(one))])
        return least

    def front(self, made: SharedHardware) -> tuple[FrontPoint, ...]:
        """Frames a second against the share of the board, each the fastest within a part of it."""
        whole = allowed_whole(self.design.board)
        points = [self._front_point(made, chosen=True)]
        for share in SHARES:
            found = self.search.fastest([one for one in self._within(whole, share) if one.count])
            if found is not None:
                points.append(self._front_point(found))
        if self.goal.fastest:
            points = [one for one in points if one.chosen or one.frames_per_s <= points[0].frames_per_s]
        amounts = np.array(
            [[-round(one.frames_per_s * 1e3), round(one.largest_share * 1e6)] for one in points]
        )
        kept = set(non_dominated(amounts)) | {0}
        return tuple(
            sorted((points[one] for one in kept), key=lambda one: (one.frames_per_s, one.largest_share))
        )

    def _within(self, whole: Resources, share: float) -> Iterator[Candidate]:
        """The candidates with as many instances as a part of the board holds."""
        for one in self.candidates:
            limits = [
                int(share * getattr(whole, kind) / getattr(one.each, kind))
                for kind in KINDS
                if getattr(one.each, kind)
            ]
            count = min(one.count, *limits)
            yield replace(one, count=0 if self.design.constraints.instances and count < one.count else count)

    def _front_point(self, made: SharedHardware, *, chosen: bool = False) -> FrontPoint:
        used = made.each.times(made.instances)
        return FrontPoint(
            frames_per_s=made.frames_per_cycle * self.design.clock_mhz * 1e6,
            interval=made.interval,
            instances=made.instances,
            largest_share=max(_utilisation(used, self.design.board).values()),
            used={kind: getattr(used, kind) for kind in KINDS},
            chosen=chosen,
        )


def explore_shared(design: SharedNetwork, goal: Goal, progress: Progress) -> Explored[Style[SharedHardware]]:
    """The best processors and their number. Raises DesignError: nothing fits, or the goal is out of reach."""
    progress("the processors that fit")
    try:
        explorer = _Explorer(design, goal, progress)
        hardware = explorer.best()
    except NoFit as failure:
        raise DesignError(design.no_fit(failure)) from None
    chosen = _fixed(design, hardware)
    progress("the Pareto front")
    point = _point(chosen, hardware)
    return Explored(
        design=design,
        goal=goal,
        point=point,
        bound=point.frames_per_s if goal.fastest else point.cost,
        gap=0.0,
        multiplier_fps=None,
        binds=hardware.bottleneck,
        greedy=point if goal.fastest else None,
        baseline="the quick choice",
        front=explorer.front(hardware),
        layers=tuple(_layer_choices(hardware)),
        crossings=0,
        solved=explorer.judged,
        built=explorer.search.tried,
        chosen=chosen,
        mapping={"instances": hardware.instances, "processor": processor_keys(hardware)},
    )


def processor_keys(hardware: SharedHardware) -> dict[str, int]:
    """The processor as a design file fixes it."""
    one = hardware.processor
    return {
        "rows": one.rows,
        "lanes": one.lanes,
        "extra_lanes": one.extra_lanes,
        "fabric_lanes": one.fabric_lanes,
        "together": hardware.program.together,
        "pixel_words": one.pixel_depth,
        "weight_words": one.weight_depth,
        **({} if one.floating else {"activation_bits": one.activation_bits, "weight_bits": one.weight_bits}),
    }


def _fixed(design: SharedNetwork, hardware: SharedHardware) -> SharedNetwork:
    constraints = replace(
        design.constraints,
        instances=hardware.instances,
        processor=ProcessorConstraints(**processor_keys(hardware)),
        search="quick",
    )
    return replace(design, constraints=constraints, chosen=hardware)


def _layer_choices(hardware: SharedHardware) -> Iterable[LayerChoice]:
    """The tasks: all of the same processor, each with its cycles of a frame."""
    together = hardware.program.together
    kinds = {layer.name: layer.kind for layer in hardware.program.graph.layers}
    for task, cycles in zip(hardware.program.tasks, hardware.task_cycles, strict=True):
        yield LayerChoice(
            name=task.name,
            kind=" ".join(kinds[name] for name in task.layers),
            mapping={},
            slr=None,
            interval_cycles=-(-cycles // together),
            used={},
            seen=1,
            options=1,
        )


def _point(design: Style[SharedHardware], hardware: SharedHardware) -> SearchPoint:
    board, used = design.board, hardware.each.times(hardware.instances)
    return SearchPoint(
        frames_per_s=hardware.frames_per_cycle * design.clock_mhz * 1e6,
        interval_cycles=hardware.interval,
        latency_us=hardware.round_cycles / design.clock_mhz,
        instances=hardware.instances,
        by_slr={slr.name: hardware.slrs.count(slr.name) for slr in board.slrs},
        cost=share_of(used, board),
        used={kind: getattr(used, kind) for kind in KINDS},
        utilisation=_utilisation(used, board),
    )


def _utilisation(used: Resources, board: Board) -> Mapping[str, float]:
    whole = whole_of(board)
    return {kind: getattr(used, kind) / getattr(whole, kind) for kind in KINDS if getattr(whole, kind)}
