"""explore for a network as one streaming kernel."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import (
    ConstrainedStorage,
    LayerWeightConstraints,
    NetworkConstraints,
    NoFit,
    WeightConstraints,
)
from hlsgen.explore.best_first import Searched, cheapest_for, evened, fastest, quickest
from hlsgen.explore.bound import bottleneck, multiplier_bound, utilisation
from hlsgen.explore.front import front
from hlsgen.explore.greedy import greedy
from hlsgen.explore.options import Option
from hlsgen.explore.over_slrs import crossings
from hlsgen.explore.result import Explored, Goal, LayerChoice
from hlsgen.explore.slr_layouts import Layout, layouts
from hlsgen.explore.space import Found, Space
from hlsgen.report.explored import SearchPoint
from hlsgen.search.board_limits import KINDS, fitting, margin_fix, margin_text
from hlsgen.search.streaming import StreamingHardware, balance, check_slrs, memory_ports
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.styles.style import Style


def explore_streaming(design: StreamingNetwork, goal: Goal, progress: Progress) -> Explored[Style[Any]]:
    """The best kernel and instances. Raises DesignError: nothing fits, or the goal is out of reach."""
    try:
        return _explored(design, goal, _space(design, progress), progress)
    except NoFit as failure:
        raise DesignError(Problem(message=f"{design.name}: {failure}", fix=failure.fix)) from None


def _space(design: StreamingNetwork, progress: Progress) -> Space:
    """What is searched. Where not all weights have room on chip, those streamed are those of `balance`."""
    progress("listing every layer's options")
    check_slrs(design.graph, design.constraints)
    constraints, board = design.constraints, design.board
    layers = dict(constraints.weights.layers)
    try:
        quick = balance(design.graph, board, constraints, batch=design.batch, clock_mhz=design.clock_mhz)
    except NoFit:
        pass  # the search may still find what fits, and says what is too much if it does not
    else:
        layers |= {
            name: LayerWeightConstraints(storage="ddr", batch_reuse=quick.pipeline.weights[name].batch)
            for name in quick.spilled
        }
    constraints = replace(constraints, weights=replace(constraints.weights, layers=layers))
    return Space(graph=design.graph, board=board, clock_mhz=design.clock_mhz, constraints=constraints)


def _explored(design: StreamingNetwork, goal: Goal, space: Space, progress: Progress) -> Explored[Style[Any]]:
    most = min(design.batch, design.board.most_units(memory_ports(design.graph, design.constraints)))
    if space.constraints.instances:
        most = space.constraints.instances
    if space.constraints.target_interval and space.shortest > space.constraints.target_interval:
        raise _too_short(space, space.constraints.target_interval)
    places = layouts(design.board, most, space.constraints.instances, apart=bool(space.constraints.slrs))
    baseline = None
    if goal.fastest:
        progress("the greedy baseline")
        baseline = greedy(space, most)
    progress("choosing among them")
    searched = _searched(space, places, goal, baseline)
    found = searched.found
    if found is None:
        raise _out_of_reach(design, space, places, goal)
    layout = _layout_of(found, places)
    if goal.fastest:
        progress("evening out what it takes")
        found = evened(space, layout, found)
    progress("the Pareto front")
    points = front(space, found, most, found.frames_per_s if goal.fastest else math.inf)
    value = found.frames_per_s if goal.fastest else space.price(found)
    why = bottleneck(space, found, layout, most) if goal.fastest else "the goal: it is reached at least cost"
    constraints = _fixed(space, found)
    chosen = replace(design, constraints=constraints, chosen=_hardware(space, found, why))
    return Explored(
        design=design,
        goal=goal,
        point=_point(space, found),
        # of an interval that is asked for: what costs least may be faster than that
        bound=max(searched.bound, value) if goal.fastest else searched.bound,
        gap=searched.gap(value),
        multiplier_fps=multiplier_bound(space),
        binds=why,
        greedy=_point(space, baseline) if baseline else None,
        front=points,
        layers=_layers(space, found),
        crossings=crossings(found.slrs, space.edges) if found.slrs else 0,
        solved=space.solved,
        built=space.built,
        chosen=chosen,
        streamed=len(chosen.hardware.spilled),
        mapping=_mapping(space, found),
    )


def _searched(space: Space, places: list[Layout], goal: Goal, baseline: Found | None) -> Searched:
    if goal.fastest:
        # the baseline may be faster than an interval that the design asks for, and then is no floor
        known = baseline is not None and not space.constraints.target_interval
        return fastest(space, places, baseline.frames_per_s if baseline and known else 0.0)
    cycles = goal.max_latency_us * space.clock_mhz if goal.max_latency_us is not None else None
    return cheapest_for(space, places, frames_per_s=goal.target_fps, latency_cycles=cycles)


def _layout_of(found: Found, places: list[Layout]) -> Layout:
    """The roomiest one with as many instances."""
    same = [
        one
        for one in places
        if one.count == found.instances and (one.by_slr is None) == (found.slrs is not None)
    ]
    return max(same, key=lambda one: tuple(one.capacity))


def _point(space: Space, found: Found) -> SearchPoint:
    used = found.kernel.resources.times(found.instances)
    names = [slr.name for slr in space.board.slrs]
    return SearchPoint(
        frames_per_s=found.frames_per_s,
        interval_cycles=found.kernel.interval,
        latency_us=found.kernel.latency_cycles / space.clock_mhz,
        instances=found.instances,
        by_slr=dict(zip(names, found.by_slr, strict=True)) if found.by_slr else None,
        cost=space.price(found),
        used=_by_kind(used),
        utilisation=utilisation(space, found),
    )


def _by_kind(resources: Resources) -> dict[str, int]:
    return {kind: getattr(resources, kind) for kind in KINDS}


def _layers(space: Space, found: Found) -> tuple[LayerChoice, ...]:
    names = [slr.name for slr in space.board.slrs]
    slrs = [names[slr] for slr in found.slrs] if found.slrs else [None] * len(space.options)
    return tuple(
        LayerChoice(
            name=name,
            kind=one.layer.kind,
            mapping=_layer_mapping(found.kernel.options[name]),
            slr=slr,
            interval_cycles=found.kernel.options[name].interval,
            used=_by_kind(found.kernel.options[name].resources),
            seen=len(one.every),
            options=len(one.options),
        )
        for (name, one), slr in zip(space.options.items(), slrs, strict=True)
    )


def _fold_values(option: Option) -> dict[str, Any]:
    """Every field of the folding that the layer has: what multiplies is said where there are weights."""
    names = ("px", "pe", "simd", *(("multipliers",) if option.place is not None else ()))
    return {name: getattr(option.fold, name) for name in names}


def _layer_mapping(option: Option) -> dict[str, Any]:
    """The keys of a layer in a design file but for `weights`, which stays what the design says."""
    values = _fold_values(option)
    storage = _storage(option)
    return values if storage == "auto" else {**values, "storage": storage}


def _storage(option: Option) -> ConstrainedStorage:
    """The key `storage` of a layer in a design file; auto: none is needed."""
    place = option.place
    if place is None:
        return "auto"
    if place.place == "stream" and not place.any_weights:
        return "ddr"
    return place.storage.value if place.storage is not None else "auto"


def _slrs(space: Space, found: Found) -> dict[str, str]:
    """The SLR of each layer by name; empty: the kernel lies in one."""
    names = [slr.name for slr in space.board.slrs]
    return {layer: names[slr] for layer, slr in found.kernel.pipeline.slrs.items()}


def _mapping(space: Space, found: Found) -> dict[str, Any]:
    """The design file's `mapping`, everything in it fixed."""
    weight_constraints, slrs = space.constraints.weights, _slrs(space, found)
    mapping: dict[str, Any] = {"instances": found.instances}
    if weight_constraints.place != "auto":
        mapping["weights"] = weight_constraints.place
    for name, option in found.kernel.options.items():
        own = weight_constraints.layers.get(name, LayerWeightConstraints())
        mapping[name] = _layer_mapping(option)
        if own.place != "auto":
            mapping[name]["weights"] = own.place
        if name in slrs:
            mapping[name]["slr"] = slrs[name]
        if own.batch_reuse is not None:
            mapping[name]["batch_reuse"] = own.batch_reuse
    return mapping


def _fixed(space: Space, found: Found) -> NetworkConstraints:
    """The constraints as the design file of `_mapping` would be read."""
    constraints, options = space.constraints, found.kernel.options
    layers = dict(constraints.weights.layers)
    for layer in found.kernel.pipeline.graph.layers:
        storage = _storage(options[layer.name])
        if storage != "auto":
            layers[layer.name] = replace(layers.get(layer.name, LayerWeightConstraints()), storage=storage)
    return replace(
        constraints,
        instances=found.instances,
        folds={name: _fold_values(option) for name, option in options.items()},
        target_interval=None,
        slrs=_slrs(space, found),
        weights=WeightConstraints(place=constraints.weights.place, layers=layers),
        search="quick",
    )


def _hardware(space: Space, found: Found, why: str) -> StreamingHardware:
    each = found.kernel.resources
    by_slr = {name: count for name, (count, _) in fitting(each, space.board).items()}
    return StreamingHardware(
        pipeline=found.kernel.pipeline,
        each=each,
        instances=found.instances,
        by_slr=by_slr,
        bottleneck=why,
    )


def _too_short(space: Space, interval: int) -> NoFit:
    slowest = max(space.options.values(), key=lambda one: int(one.intervals[0]))
    fastest_interval = int(slowest.intervals[0])
    return NoFit(
        f"{slowest.layer.name} takes {fastest_interval:,} cycles a frame at its fastest folding, more than "
        f"the interval of {interval:,} that the design asks for",
        f"interval: {fastest_interval} or more",
    )


def _out_of_reach(design: StreamingNetwork, space: Space, places: list[Layout], goal: Goal) -> NoFit:
    """Why nothing was found: the goal, with what can be reached; or not even the smallest kernel fits."""
    title = design.board.title
    best = fastest(space, places).found
    if best is None:
        least = sum((one.options[-1].resources for one in space.options.values()), Resources())
        sizes = ", ".join(f"{getattr(least, kind):,} {kind.upper()}" for kind in KINDS)
        fixed = " that the design fixes" if space.constraints.instances or space.constraints.folds else ""
        return NoFit(
            f"no kernel{fixed} fits the usable share of {title}{margin_text(design.board)}; the one of the "
            f"slowest foldings takes {sizes} besides what joins its layers",
            f"mapping: auto, narrower types, a smaller network, or a larger board{margin_fix(design.board)}",
        )
    asked, reached, fix = [], [], []
    if goal.target_fps is not None:
        asked.append(f"{goal.target_fps:,.0f} frames/s")
        reached.append(f"{best.frames_per_s:,.0f} frames/s")
        fix.append(f"--target-fps {int(best.frames_per_s)} or less")
    if goal.max_latency_us is not None:
        latency = quickest(space, places, best).kernel.latency_cycles / space.clock_mhz
        asked.append(f"a latency of {goal.max_latency_us:,g} us")
        reached.append(f"{latency:,.1f} us")
        fix.append(f"--max-latency-us {math.ceil(latency * 10) / 10:g} or more")
    return NoFit(
        f"{' and '.join(asked)} cannot be reached on {title}; what can be: {' or '.join(reached)}",
        f"{', '.join(fix)}, narrower types, or a larger board{margin_fix(design.board)}",
    )
