"""explore for a network as tasks: the kernels whose cycles, added up, are fewest; by integer programming.

A case is a number of instances with a width of the words in DDR. Its kernels are one of each layer's options,
in sum within the board: the linear relaxation says how good a case can be, so that only few are solved in
whole numbers. What is chosen is then made with all that it fixes, FIFOs and SLRs included.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress
from hlsgen.designfile.constraints import NoFit
from hlsgen.explore.options import non_dominated
from hlsgen.explore.result import Explored, Goal, LayerChoice
from hlsgen.explore.solver import solve
from hlsgen.layers.stage import Fold
from hlsgen.report.explored import FrontPoint, SearchPoint
from hlsgen.report.layerwise import LayerwiseEstimate
from hlsgen.search.board_limits import KINDS, allowed_whole, whole_of
from hlsgen.search.candidates import share_of
from hlsgen.search.layerwise import LayerwiseHardware, LayerwiseSearch
from hlsgen.search.task_choice import KernelOptions, Vector, choose, vector
from hlsgen.search.task_kernels import KernelOption
from hlsgen.styles.layerwise import LayerwiseNetwork
from hlsgen.styles.style import Style

NODES = 2000
"""Of branch and cut, for a case."""
FILLS = (1.0, 0.97, 0.93, 0.88, 0.8)
"""Shares of the board, until the kernels with their FIFOs can be placed in its SLRs."""
SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)
"""Of the board, that the front is made for."""


@dataclass(frozen=True, kw_only=True)
class _Case:
    """bound: cycles a frame (fastest), or cost of all instances, that no choice of this case is below."""

    instances: int
    word_bits: int
    options: Sequence[KernelOptions]
    bound: float


class _Explorer:
    def __init__(self, design: LayerwiseNetwork, goal: Goal) -> None:
        self.design, self.goal = design, goal
        self.search = LayerwiseSearch(
            design.graph,
            design.board,
            design.constraints,
            name=design.name,
            batch=design.batch,
            clock_mhz=design.clock_mhz,
            nearly=1.0,
        )
        self.whole = vector(allowed_whole(design.board))
        self.usable = vector(whole_of(design.board))
        self.solved = self.built = 0

    def cases(self) -> list[_Case]:
        """Every case that fits, the most promising first."""
        found = []
        for bits in self.search.formats:
            for count in self.search.counts():
                options = self.search.options(bits, count)
                relaxed = None if options is None else self._solution(options, count, 1.0, relaxed=True)
                if options is None or relaxed is None:
                    break
                found.append(_Case(instances=count, word_bits=bits, options=options, bound=relaxed[0]))
        return sorted(found, key=self._merit)

    def _merit(self, case: _Case) -> float:
        """Less is better: seconds a frame of all instances together, or cost."""
        return case.bound / case.instances if self.goal.fastest else case.bound

    def best(self) -> tuple[LayerwiseNetwork, float]:
        """The best design, and the merit that none is below. Raises DesignError: none reaches the goal."""
        cases = self.cases()
        best: tuple[float, LayerwiseNetwork] | None = None
        least = math.inf
        for case in cases:
            if best is not None and self._merit(case) >= best[0]:
                break
            least = min(least, self._merit(case))
            for fill in FILLS:
                made = self._made(case, fill)
                if made is not None:
                    merit = self._reached(made)
                    if best is None or merit < best[0]:
                        best = merit, made
                    break
        if best is None:
            raise self._out_of_reach()
        return best[1], min(least, best[0])

    def _reached(self, design: LayerwiseNetwork) -> float:
        hardware = design.hardware
        if self.goal.fastest:
            return hardware.interval / hardware.instances
        return share_of(hardware.each.times(hardware.instances), design.board)

    def _made(self, case: _Case, fill: float) -> LayerwiseNetwork | None:
        """The design of the case's best kernels; None if they do not fit, or miss the goal once made."""
        slack = 1.0
        for _ in range(4):
            solution = self._solution(case.options, case.instances, fill, slack=slack)
            if solution is None:
                return None
            chosen = [one.kernels[at] for one, at in zip(case.options, solution[1], strict=True)]
            design = self._fixed(chosen, case.instances)
            self.built += 1
            try:
                _ = design.hardware
            except DesignError:
                return None
            missed = self._missed(design)
            if missed <= 1:
                return design
            slack /= missed * 1.001
        return None

    def _missed(self, design: LayerwiseNetwork) -> float:
        """By what factor the design is slower than the goal."""
        estimate = design.estimate()
        factors = [1.0]
        if self.goal.target_fps is not None:
            factors.append(self.goal.target_fps * (1 - 1e-12) / estimate.frames_per_s)
        if self.goal.max_latency_us is not None:
            factors.append(estimate.latency_cycles / design.clock_mhz / self.goal.max_latency_us)
        return max(factors)

    def _solution(
        self,
        options: Sequence[KernelOptions],
        count: int,
        fill: float,
        *,
        relaxed: bool = False,
        slack: float = 1.0,
    ) -> tuple[float, list[int]] | None:
        """The least cycles (or cost), and which of each layer's options; None if nothing fits.

        slack: of the cycles that the goal allows.
        """
        self.solved += 1
        cycles = np.concatenate([one.cycles for one in options])
        resources = np.concatenate([one.resources for one in options])
        layer = np.repeat(np.arange(len(options)), [len(one.kernels) for one in options])
        one_each = (layer[None, :] == np.arange(len(options))[:, None]).astype(np.float64)
        limit = np.floor(self.whole * fill / count)
        some = limit > 0
        if (resources[:, ~some] > 0).any():
            return None
        rows = [
            LinearConstraint(one_each, 1, 1),
            LinearConstraint(resources[:, some].T / limit[some][:, None], -np.inf, 1),
        ]
        most = self._most_cycles(count)
        if most is not None:
            rows.append(LinearConstraint(cycles[None, :] / most, -np.inf, slack))
        objective = cycles if self.goal.fastest else (resources @ self._prices) * count
        found = solve(
            objective / objective.max(),
            whole=np.full(len(cycles), 0 if relaxed else 1),
            upper=np.ones(len(cycles)),
            constraints=rows,
            nodes=NODES,
        )
        if found.x is None:
            return None
        picks = [int(np.argmax(found.x[layer == number])) for number in range(len(options))]
        return float(found.fun * objective.max()), picks

    @property
    def _prices(self) -> Vector:
        """`share_of` one unit of each kind."""
        total = np.array([getattr(self.design.board.total, kind) for kind in KINDS], np.float64)
        return np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)

    def _most_cycles(self, count: int) -> float | None:
        """Cycles of a frame with which the goal is reached; a frame's way is never shorter than these."""
        goal, clock = self.goal, self.design.clock_mhz
        limits = []
        if goal.target_fps is not None:
            limits.append(count * clock * 1e6 / goal.target_fps)
        if goal.max_latency_us is not None:
            limits.append(goal.max_latency_us * clock)
        if self.design.constraints.target_interval:
            limits.append(self.design.constraints.target_interval)
        return min(limits) if limits else None

    def _fixed(self, chosen: Sequence[KernelOption], count: int) -> LayerwiseNetwork:
        folds = {
            layer.name: fold_keys(one.fold, rows=layer.name in self.search.places)
            for layer, one in zip(self.design.graph.layers, chosen, strict=True)
        }
        constraints = replace(self.design.constraints, folds=folds, instances=count, search="quick")
        return replace(self.design, constraints=constraints, chosen=None)

    def _out_of_reach(self) -> DesignError:
        design = self.design
        if self.goal.fastest:
            return DesignError(design.no_fit(self.search.no_fit()))
        quickest, _ = _Explorer(design, Goal()).best()
        estimate = quickest.estimate()
        rate, latency = estimate.frames_per_s, estimate.latency_cycles / design.clock_mhz
        message = (
            f"{design.name}: the targets cannot be reached on {design.board.title}: its fastest kernels give "
            f"{rate:,.0f} frames/s with a latency of {latency:,.1f} us"
        )
        fixes = []
        if self.goal.target_fps is not None:
            fixes.append(f"--target-fps {int(rate)} or less")
        if self.goal.max_latency_us is not None:
            fixes.append(f"--max-latency-us {math.ceil(latency * 10) / 10} or more")
        return DesignError(Problem(message=message, fix=", ".join(fixes)))

    def front(self, made: LayerwiseNetwork) -> tuple[FrontPoint, ...]:
        """Frames a second against the share of the board, each by the quick choice within a part of it."""
        hardware = made.hardware
        points = [_front_point(made, hardware, chosen=True), *self._points(hardware.word_bits)]
        amounts = np.array(
            [[-round(one.frames_per_s * 1e3), round(one.largest_share * 1e6)] for one in points]
        )
        kept = {one for one in non_dominated(amounts) if amounts[one, 0] >= amounts[0, 0]} | {0}
        return tuple(
            sorted((points[one] for one in kept), key=lambda one: (one.frames_per_s, one.largest_share))
        )

    def _points(self, bits: int) -> Iterator[FrontPoint]:
        prices = np.divide(1.0, self.whole, out=np.ones_like(self.whole), where=self.whole > 0)
        for count in self.search.counts():
            options = self.search.options(bits, count)
            if options is None:
                return
            for share in SHARES:
                picks = choose(options, np.floor(self.whole * share / count), prices, None)
                if picks is None:
                    continue
                cycles = sum(one.cycles[at] for one, at in zip(options, picks, strict=True))
                used = sum(one.resources[at] for one, at in zip(options, picks, strict=True)) * count
                some = self.usable > 0
                yield FrontPoint(
                    frames_per_s=count * self.design.clock_mhz * 1e6 / cycles,
                    interval=int(cycles),
                    instances=count,
                    largest_share=float((used[some] / self.usable[some]).max()),
                    used={kind: int(amount) for kind, amount in zip(KINDS, used, strict=True)},
                )


def fold_keys(fold: Fold, *, rows: bool) -> dict[str, object]:
    """`fold` as a design file fixes it. rows: of a layer with weights, which may be a front wave."""
    if fold.rows:
        spread = {"fabric_pe": fold.fabric_pe, "multipliers": fold.multipliers}
        return {"rows": fold.rows, "pe": fold.pe, "simd": fold.simd, **spread}
    sizes: dict[str, object] = {"px": fold.px, "pe": fold.pe, "simd": fold.simd}
    return {**sizes, "multipliers": fold.multipliers, "rows": 0} if rows else sizes


def explore_layerwise(design: LayerwiseNetwork, goal: Goal, progress: Progress) -> Explored[Style[Any]]:
    """The best kernels and instances. Raises DesignError: nothing fits, or the goal is out of reach."""
    progress("the foldings of every layer")
    explorer = _explorer(design, goal)
    progress("choosing kernels")
    chosen, least = explorer.best()
    greedy = _quick(design) if goal.fastest else None
    progress("the Pareto front")
    hardware, rate = chosen.hardware, chosen.estimate().frames_per_s
    merit = explorer._reached(chosen)
    scale = design.clock_mhz * 1e6
    return Explored(
        design=design,
        goal=goal,
        point=_point(chosen),
        bound=scale / least if goal.fastest else least,
        gap=merit / least - 1,
        multiplier_fps=None,
        binds=explorer.search.bottleneck(hardware.kernels, hardware.word_bits, hardware.placed)
        if goal.fastest
        else "the goal: it is reached at least cost",
        greedy=None if greedy is None else _point(greedy),
        baseline="the quick choice",
        front=tuple(one for one in explorer.front(chosen) if one.chosen or one.frames_per_s <= rate),
        layers=tuple(_layer_choices(explorer, hardware)),
        crossings=0,
        solved=explorer.solved,
        built=explorer.built,
        chosen=chosen,
        mapping={"instances": hardware.instances, **dict(chosen.constraints.folds or {})},
    )


def _explorer(design: LayerwiseNetwork, goal: Goal) -> _Explorer:
    try:
        return _Explorer(design, goal)
    except NoFit as failure:
        raise DesignError(design.no_fit(failure)) from None


def _quick(design: LayerwiseNetwork) -> LayerwiseNetwork | None:
    """The quick search's choice, which is the baseline; None if it finds none."""
    try:
        _ = design.hardware
    except DesignError:
        return None
    return design


def _layer_choices(explorer: _Explorer, hardware: LayerwiseHardware) -> Iterator[LayerChoice]:
    options = explorer.search.kernels[hardware.word_bits]
    for kernel, found in zip(hardware.kernels, options, strict=True):
        yield LayerChoice(
            name=kernel.layer.name,
            kind=kernel.layer.kind,
            mapping=fold_keys(kernel.fold, rows=kernel.layer.name in explorer.search.places),
            slr=None,
            interval_cycles=hardware.interval_of(kernel),
            used={kind: getattr(kernel.resources, kind) for kind in KINDS},
            seen=len(found),
            options=len(found),
        )


def _point(design: LayerwiseNetwork) -> SearchPoint:
    hardware, estimate, board = design.hardware, design.estimate(), design.board
    used = hardware.each.times(hardware.instances)
    return SearchPoint(
        frames_per_s=estimate.frames_per_s,
        interval_cycles=hardware.interval,
        latency_us=estimate.latency_cycles / design.clock_mhz,
        instances=hardware.instances,
        by_slr={slr.name: sum(at.count(slr.name) for at in hardware.slrs) for slr in board.slrs},
        cost=share_of(used, board),
        used={kind: getattr(used, kind) for kind in KINDS},
        utilisation=_utilisation(design),
    )


def _utilisation(design: LayerwiseNetwork) -> Mapping[str, float]:
    hardware, whole = design.hardware, whole_of(design.board)
    used = hardware.each.times(hardware.instances)
    return {kind: getattr(used, kind) / getattr(whole, kind) for kind in KINDS if getattr(whole, kind)}


def _front_point(
    design: LayerwiseNetwork, hardware: LayerwiseHardware, *, chosen: bool = False
) -> FrontPoint:
    estimate: LayerwiseEstimate = design.estimate()
    used = hardware.each.times(hardware.instances)
    return FrontPoint(
        frames_per_s=estimate.frames_per_s,
        interval=hardware.interval,
        instances=hardware.instances,
        largest_share=max(_utilisation(design).values()),
        used={kind: getattr(used, kind) for kind in KINDS},
        chosen=chosen,
    )
