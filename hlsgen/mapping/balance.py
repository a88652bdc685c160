"""The foldings of a streaming kernel: every stage just fast enough for a common interval, the cheapest way.

For an interval each layer takes the folding of least cost that is no slower, so that the kernel of least
cost for each interval is known at once. Over the intervals, the one is taken with which the instances that
then fit the board do the most frames a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hlsgen.board import Board
from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import stage_resources, total_resources
from hlsgen.ir import Graph
from hlsgen.layers.base import Layer
from hlsgen.layers.stage import Fold
from hlsgen.mapping.fifos import fifo_depths, simulated_words
from hlsgen.mapping.pipeline import Pipeline, pipeline_of, staged
from hlsgen.mapping.placement import BINDS, KINDS, Instance, at_banks, capacity, usable
from hlsgen.mapping.ports import InterfaceWish, interfaces_of
from hlsgen.mapping.weights import WeightPlace, WeightWishes, weight_places

STEP = 1.06
"""Ratio of the intervals that are looked at, from the shortest possible one."""
MARGIN = 1.15
"""What converters, FIFOs and ports take besides the stages, as a share; the exact figure decides in the end.
"""

MOST_SIMULATED_WORDS = 1 << 27
"""Of all streams over the frames that FIFO depths are computed from: a gigabyte of times."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A folding of a layer that no other one beats in both interval and cost."""

    fold: Fold
    interval: int
    resources: Resources
    share: float


@dataclass(frozen=True, kw_only=True)
class StreamWish:
    """What the design fixes: instances, values of foldings by layer (None: free), where weights lie.

    interface: of what kind the ports are. search: how the rest is chosen, by `balance` or `hlsgen.explore`.
    """

    instances: int | None = None
    folds: Mapping[str, Mapping[str, object]] | None = None
    target_interval: int | None = None
    weights: WeightWishes = field(default_factory=WeightWishes)
    interface: InterfaceWish = InterfaceWish()
    search: Literal["quick", "best"] = "quick"


class NoFit(Exception):
    """Nothing fits; the message says what is too much, `fix` what could be changed."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


@dataclass(frozen=True, kw_only=True)
class Balanced:
    """The kernel that was chosen: its pipeline with FIFO depths, what an instance takes, how many there are.

    by_slr: how many would fit each SLR. spans: one instance lies over several SLRs. binds: what keeps it from
    being faster.
    """

    pipeline: Pipeline
    each: Resources
    instances: int
    by_slr: Mapping[str, int]
    spans: bool
    binds: str

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


def balance(graph: Graph, board: Board, wish: StreamWish, *, batch: int) -> Balanced:
    """The fastest kernel of `graph` for `board`.

    Raises NoFit: not even the smallest foldings fit, or the interval asked for is out of reach.
    DesignError: weights cannot lie where they shall.
    """
    places = weight_places(graph, wish.weights, board)
    candidates = {layer.name: foldings(layer, board, wish, places.get(layer.name)) for layer in graph.layers}
    slowest = max(found[-1].interval for found in candidates.values())
    fastest = max(found[0].interval for found in candidates.values())
    if wish.target_interval and fastest > wish.target_interval:
        raise _out_of_reach(candidates, wish.target_interval)
    options: list[tuple[float, int, int]] = []
    interval = wish.target_interval or fastest
    while True:
        total = _total(candidates, interval)
        count = _count(total, board, batch, wish.instances)
        if not count and all(len(found) == 1 for found in candidates.values()):
            # everything is fixed, perhaps by a search that knew the exact figures: they alone decide
            count = wish.instances or 1
        if count:
            options.append((count / interval, -interval, count))
        if interval >= slowest or wish.target_interval:
            break
        interval = min(slowest, max(interval + 1, int(interval * STEP)))
    for _, negative, _ in sorted(options, reverse=True):
        found = _built(graph, candidates, places, -negative, board, batch, wish)
        if found is None:
            continue
        if wish.target_interval and found.pipeline.interval > wish.target_interval:
            raise _slowed(found.pipeline, wish.target_interval)
        return found
    raise _no_fit(_total(candidates, wish.target_interval or slowest), board, wish)


def foldings(layer: Layer, board: Board, wish: StreamWish, place: WeightPlace | None) -> list[Candidate]:
    """The foldings worth looking at, fastest first."""
    fixed = (wish.folds or {}).get(layer.name, {})
    total = board.total
    found = []
    for fold in place.folds(layer) if place else layer.folds():
        if any(value is not None and getattr(fold, key) != value for key, value in fixed.items()):
            continue
        # one number for all costs cannot weigh logic cells against DSPs that are left over
        if fold.multipliers == "fabric" and fixed.get("multipliers") is None:
            continue
        stage = staged(layer, fold, place)
        resources = stage_resources(stage, board, place)
        if any(getattr(resources, kind) > getattr(total, kind) for kind in KINDS):
            continue
        found.append(
            Candidate(
                fold=fold, interval=stage.interval, resources=resources, share=share_of(resources, board)
            )
        )
    if not found:
        asked = ", ".join(f"{key}: {value}" for key, value in fixed.items() if value is not None)
        raise NoFit(
            f"{layer.name}: no folding" + (f" with {asked}" if asked else "") + " fits it",
            "values that divide the layer's channels (pe, simd) or width (px), or mapping: auto",
        )
    found.sort(key=lambda one: (one.share, one.interval))
    best: list[Candidate] = []
    for one in found:
        if not best or one.interval < best[-1].interval:
            best.append(one)
    return best[::-1]


def share_of(resources: Resources, board: Board) -> float:
    """Cost as one number: the sum of the shares of each kind that the board has."""
    total = board.total
    return float(
        sum(getattr(resources, kind) / getattr(total, kind) for kind in KINDS if getattr(total, kind))
    )


def _picked(found: list[Candidate], interval: int) -> Candidate:
    """The cheapest candidate that is no slower than `interval`, else the fastest; fastest first."""
    return next((one for one in reversed(found) if one.interval <= interval), found[0])


def _total(candidates: Mapping[str, list[Candidate]], interval: int) -> Resources:
    total = Resources()
    for found in candidates.values():
        total += _picked(found, interval).resources
    return Resources(**{kind: int(getattr(total, kind) * MARGIN) for kind in KINDS})


def whole_of(board: Board) -> Resources:
    """What a design may use of all SLRs together."""
    total = Resources()
    for slr in board.slrs:
        total += usable(slr, board)
    return total


def _count(each: Resources, board: Board, batch: int, fixed: int | None) -> int:
    """Instances that fit, each in one SLR, or one over all SLRs; 0 if none, or fewer than `fixed`."""
    count = sum(capacity(each, usable(slr, board))[0] for slr in board.slrs)
    count = min(count or capacity(each, whole_of(board))[0], board.max_compute_units, batch)
    count = min(count, 1) if not any(capacity(each, usable(slr, board))[0] for slr in board.slrs) else count
    if fixed is not None:
        return fixed if count >= fixed else 0
    return count


def _built(
    graph: Graph,
    candidates: Mapping[str, list[Candidate]],
    places: Mapping[str, WeightPlace],
    interval: int,
    board: Board,
    batch: int,
    wish: StreamWish,
) -> Balanced | None:
    """The kernel with its converters and FIFOs, if as many instances of it fit as of any slower one."""
    folds = {name: _picked(found, interval).fold for name, found in candidates.items()}
    pipeline = pipeline_of(graph, folds, places, interfaces=interfaces_of(board, wish.interface))
    if pipeline.frames_at_once > 1 and simulated_words(pipeline) > MOST_SIMULATED_WORDS:
        raise NoFit(
            f"FIFOs for blocks of {pipeline.frames_at_once} frames take too long to compute for this network",
            "a smaller batch_reuse for the layers whose weights are streamed",
        )
    pipeline = pipeline.with_depths(fifo_depths(pipeline))
    each = total_resources(pipeline, board)
    count = _count(each, board, batch, wish.instances)
    if not count:
        return None
    by_slr = {slr.name: capacity(each, usable(slr, board))[0] for slr in board.slrs}
    spans = not any(by_slr.values())
    return Balanced(
        pipeline=pipeline,
        each=each,
        instances=count,
        by_slr=by_slr,
        spans=spans,
        binds=_binds(candidates, pipeline, board, batch, wish, count, each),
    )


def _binds(
    candidates: Mapping[str, list[Candidate]],
    pipeline: Pipeline,
    board: Board,
    batch: int,
    wish: StreamWish,
    count: int,
    each: Resources,
) -> str:
    """The slowest stage, and why it is no faster."""
    slowest = pipeline.slowest
    stage = f"{slowest.name} with {slowest.interval:,} cycles a frame"
    if wish.target_interval or wish.folds or wish.instances:
        return f"{stage}; the design fixes a part of the mapping"
    if count >= batch:
        return f"{stage}; the batch has no frame for another instance"
    found = candidates.get(slowest.name)
    if found is not None and found[0].interval >= slowest.interval:
        return f"{stage}, its fastest folding"
    whole = whole_of(board)
    shares = {
        kind: getattr(each, kind) * count / getattr(whole, kind) for kind in KINDS if getattr(whole, kind)
    }
    kind = max(shares, key=lambda one: shares[one])
    return f"{stage}; {BINDS[kind]} for more"


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


def _no_fit(least: Resources, board: Board, wish: StreamWish) -> NoFit:
    whole = whole_of(board)
    over = [
        f"{getattr(least, kind):,} {kind.upper()} of {getattr(whole, kind):,}"
        for kind in KINDS
        if getattr(least, kind) > getattr(whole, kind)
    ]
    asked = f"at an interval of {wish.target_interval:,} cycles" if wish.target_interval else ""
    if over:
        return NoFit(
            f"{asked or 'with the smallest foldings'} the kernel needs {', '.join(over)} of the usable share "
            f"of {board.title}",
            ("a longer interval, " if asked else "") + "narrower types, a smaller network, or a larger board",
        )
    count = f"{wish.instances} instances do" if wish.instances else "the kernel does"
    return NoFit(
        f"{count} not fit {board.title}" + (f" {asked}" if asked else ""),
        "fewer instances, a longer interval, or mapping: auto",
    )
