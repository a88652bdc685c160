"""explore for one convolution layer as a kernel that is called: exact, for every folding is tried."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType
from hlsgen.base.progress import Progress
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NoFit
from hlsgen.emit.conv2d import folding_names
from hlsgen.explore.options import non_dominated
from hlsgen.explore.result import Explored, Goal, LayerChoice
from hlsgen.hardware.conv2d import mappings
from hlsgen.layers.packing import signed_bits, widths_pack
from hlsgen.report.explored import FrontPoint, SearchPoint
from hlsgen.search.board_limits import KINDS, whole_of
from hlsgen.search.candidates import share_of
from hlsgen.search.conv_kernel import ConvConstraints, cheapest_of_two, foldings
from hlsgen.search.placement import Deployment, deploy
from hlsgen.styles.conv_kernel import ConvKernel
from hlsgen.styles.style import Style


class _Layer:
    """The layer's deployments. counts: of instances, the most that fit first."""

    def __init__(self, design: ConvKernel) -> None:
        self.design = design
        self.solved = 0

    @cached_property
    def most(self) -> list[Deployment]:
        """A deployment of every folding that fits, with as many instances as do the batch fastest."""
        return [one for one in map(self._deployed, self._mappings) if one is not None]

    @cached_property
    def _mappings(self) -> list[Any]:
        design = self.design
        found: list[Any] = []
        for folding in foldings(design.layer, design.constraints):
            try:
                found += mappings(design.layer, folding, design.board)
            except NoFit:
                continue
        return found

    def _deployed(self, mapping: Any, instances: int | None = None) -> Deployment | None:
        design = self.design
        self.solved += 1
        try:
            return deploy(
                mapping,
                design.board,
                clock_mhz=design.clock_mhz,
                batch=design.batch,
                instances=instances or design.constraints.instances,
            )
        except NoFit:
            return None

    def with_counts(self) -> Iterator[Deployment]:
        """Deployments of every folding, with one instance, twice as many, and so on up to the most."""
        for one in self.most:
            yield one
            count = 1
            while count < len(one.instances) and not self.design.constraints.instances:
                fewer = self._deployed(one.mapping, count)
                if fewer is not None:
                    yield fewer
                count *= 2

    def reaching(self, goal: Goal) -> list[Deployment]:
        """A deployment of every folding, with just the instances that the goal takes."""
        found: list[Any] = []
        for one in self.most:
            if goal.max_latency_us is not None and _latency_us(one) > goal.max_latency_us:
                continue
            count = 1
            if goal.target_fps is not None:
                count = math.ceil(goal.target_fps * one.cycles.interval / (one.clock_mhz * 1e6) - 1e-9)
            fewer = self._deployed(one.mapping, count)
            if fewer is not None and fewer.frames_per_s >= (goal.target_fps or 0) * (1 - 1e-12):
                found.append(fewer)
        return found


def explore_conv_kernel(design: ConvKernel, goal: Goal, progress: Progress) -> Explored[Style[Any]]:
    """The best folding and instances. Raises DesignError: nothing fits, or the goal is out of reach."""
    progress("trying every folding")
    layer = _Layer(design)
    chosen = design.hardware.deployment if goal.fastest else _cheapest(design, layer, goal)
    greedy = _greedy(layer) if goal.fastest else None
    progress("the Pareto front")
    bound = _multiplier_fps(design)
    names = folding_names(design.name, design.layer.name, len(chosen.kernels))
    point = _point(chosen)
    front = _front(layer, chosen)
    return Explored(
        design=design,
        goal=goal,
        point=point,
        bound=point.frames_per_s if goal.fastest else point.cost,
        gap=0.0,
        multiplier_fps=bound,
        binds=chosen.bottleneck if goal.fastest else "the goal: it is reached at least cost",
        greedy=_point(greedy) if greedy else None,
        front=front,
        layers=tuple(
            LayerChoice(
                name=name,
                kind=design.layer.kind,
                mapping=asdict(one.mapping.folding),
                slr=None,
                interval_cycles=one.cycles.interval,
                used=_by_kind(one.each),
                seen=len(layer.most),
                options=len(front),
            )
            for one, (_, name) in zip(chosen.kernels, names, strict=True)
        ),
        crossings=0,
        solved=layer.solved,
        built=len(layer.most),
        chosen=_fixed(design, chosen),
        mapping=_mapping(chosen),
    )


def _cheapest(design: ConvKernel, layer: _Layer, goal: Goal) -> Deployment:
    found = layer.reaching(goal)
    if design.constraints.second is not None:
        both = design.hardware.deployment  # which asks for so many foldings
        slow = goal.target_fps is not None and both.frames_per_s < goal.target_fps
        late = goal.max_latency_us is not None and _latency_us(both) > goal.max_latency_us
        found = [] if slow or late else [both]
    if found:
        best = min(found, key=lambda one: (share_of(one.total, design.board), -one.frames_per_s))
        return _cheaper_of_two(design, goal, best) or best
    fastest = design.hardware.deployment
    quickest = min(layer.most, key=_latency_us)
    reachable, fix = [], []
    if goal.target_fps is not None:
        reachable.append(f"{fastest.frames_per_s:,.0f} frames/s at most")
        fix.append(f"--target-fps {int(fastest.frames_per_s)} or less")
    if goal.max_latency_us is not None:
        reachable.append(f"a latency of {_latency_us(quickest):,.1f} us at least")
        fix.append(f"--max-latency-us {math.ceil(_latency_us(quickest) * 10) / 10} or more")
    message = f"{design.name}: the targets cannot be reached on {design.board.title}: it has "
    raise DesignError(Problem(message=message + " and ".join(reachable), fix=", ".join(fix)))


def _cheaper_of_two(design: ConvKernel, goal: Goal, equal: Deployment) -> Deployment | None:
    """Two foldings that reach the goal at less cost than equal instances; None where nothing is gained."""
    if goal.target_fps is None or not design.constraints.open:
        return None
    both = cheapest_of_two(
        design.layer,
        design.board,
        clock_mhz=design.clock_mhz,
        batch=design.batch,
        frames_per_s=goal.target_fps,
        cost=share_of(equal.total, design.board),
    )
    late = both and goal.max_latency_us is not None and _latency_us(both) > goal.max_latency_us
    return None if late else both


def _greedy(layer: _Layer) -> Deployment | None:
    """The baseline, folded as FINN does: SIMD grows first, then PE, all on DSPs, one row at a time."""
    plain = [one for one in layer.most if one.mapping.folding.order == "rows"]
    if not plain:
        return None
    for key in ("rows", "fabric_pe"):
        least = min(getattr(one.mapping.folding, key) for one in plain)
        plain = [one for one in plain if getattr(one.mapping.folding, key) == least]
    widest = max(one.mapping.folding.simd for one in plain)
    path = [one for one in plain if one.mapping.folding.pe == 1 or one.mapping.folding.simd == widest]
    return max(path or plain, key=lambda one: one.batch_frames_per_s)


def _front(layer: _Layer, chosen: Deployment) -> tuple[FrontPoint, ...]:
    points = [_front_point(chosen, chosen=True), *map(_front_point, layer.with_counts())]
    amounts = np.array([[-round(one.frames_per_s * 1e3), round(one.largest_share * 1e6)] for one in points])
    kept = {*non_dominated(amounts), 0}
    return tuple(sorted((points[one] for one in kept), key=lambda one: (one.frames_per_s, one.largest_share)))


def _front_point(one: Deployment, *, chosen: bool = False) -> FrontPoint:
    return FrontPoint(
        frames_per_s=one.frames_per_s,
        interval=one.cycles.interval,
        instances=len(one.instances),
        largest_share=max(_utilisation(one).values()),
        used=_by_kind(one.total),
        chosen=chosen,
    )


def _point(one: Deployment) -> SearchPoint:
    counts = {slr.name: sum(at.slr == slr.name for at in one.instances) for slr in one.board.slrs}
    return SearchPoint(
        frames_per_s=one.frames_per_s,
        interval_cycles=one.cycles.interval,
        latency_us=_latency_us(one),
        instances=len(one.instances),
        by_slr=counts,
        cost=share_of(one.total, one.board),
        used=_by_kind(one.total),
        utilisation=_utilisation(one),
    )


def _latency_us(one: Deployment) -> float:
    """Of a frame on the instance that takes longest."""
    return max(kernel.cycles.latency for kernel in one.kernels) / one.clock_mhz


def _by_kind(resources: Resources) -> dict[str, int]:
    return {kind: getattr(resources, kind) for kind in KINDS}


def _utilisation(one: Deployment) -> dict[str, float]:
    whole = whole_of(one.board)
    return {kind: getattr(one.total, kind) / getattr(whole, kind) for kind in KINDS if getattr(whole, kind)}


def _multiplier_fps(design: ConvKernel) -> float:
    """Frames a second if all usable DSPs multiplied in every cycle, two products each where packed."""
    layer = design.layer
    each: float = layer.float_cores.multiplier_dsp if layer.is_float else 1
    if isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType):
        dsp = design.board.multiplier
        each = dsp.blocks(signed_bits(layer.input_type), signed_bits(layer.weight_type))
        if widths_pack(layer.input_type, layer.weight_type, dsp.wide):
            each = 0.5
    return float(whole_of(design.board).dsp * design.clock_mhz * 1e6 / (each * layer.macs))


def _mapping(chosen: Deployment) -> dict[str, Any]:
    """The key of a design file that fixes the deployment."""
    first, *others = chosen.kernels
    folding = asdict(first.mapping.folding)
    for one in others:
        folding["second"] = {"instances": len(one.instances), **asdict(one.mapping.folding)}
    return {"instances": len(first.instances), chosen.layer.name: folding}


def _fixed(design: ConvKernel, chosen: Deployment) -> ConvKernel:
    first, *others = [
        ConvConstraints(**asdict(one.mapping.folding), instances=len(one.instances)) for one in chosen.kernels
    ]
    constraints = replace(first, second=others[0] if others else None)
    return replace(design, constraints=constraints)
