"""What each layer could be: its foldings with what they take, those that no other one beats."""

from __future__ import annotations

from dataclasses import dataclass

from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import fifo_resources, stage_resources, weight_stream_resources
from hlsgen.designfile.constraints import NetworkConstraints, NoFit
from hlsgen.hardware.pipeline import Stream, staged
from hlsgen.hardware.ports import ddr_port
from hlsgen.hardware.processes import weight_loader
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.base import Layer
from hlsgen.layers.stage import Fold
from hlsgen.search.board_limits import KINDS
from hlsgen.targets.board import Board


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A folding of a layer that no other one beats in both interval and cost.

    share: its cost as one number. ddr_bytes: of weights that are streamed, a frame.
    """

    fold: Fold
    interval: int
    resources: Resources
    share: float
    ddr_bytes: int = 0


def foldings(
    layer: Layer,
    board: Board,
    constraints: NetworkConstraints,
    place: WeightPlace | None,
    *,
    memory_price: float = 1.0,
) -> list[Candidate]:
    """The foldings worth looking at, fastest first; none if none fits the board.

    memory_price: of BRAM and URAM, as a multiple of that of other kinds.
    """
    fixed = (constraints.folds or {}).get(layer.name, {})
    total = board.total
    found = []
    for fold in place.folds(layer) if place else layer.folds():
        if any(value is not None and getattr(fold, key) != value for key, value in fixed.items()):
            continue
        # one number for all costs cannot weigh logic cells against DSPs that are left over
        if fold.multipliers == "fabric" and fixed.get("multipliers") is None:
            continue
        one = _candidate(layer, fold, board, place, memory_price)
        if all(getattr(one.resources, kind) <= getattr(total, kind) for kind in KINDS):
            found.append(one)
    found.sort(key=lambda one: (one.share, one.interval))
    best: list[Candidate] = []
    for one in found:
        if not best or one.interval < best[-1].interval:
            best.append(one)
    return best[::-1]


def nothing_fits(layer: Layer, board: Board, constraints: NetworkConstraints) -> NoFit:
    """Why no folding of `layer` that the design allows fits."""
    fixed = (constraints.folds or {}).get(layer.name, {})
    asked = ", ".join(f"{key}: {value}" for key, value in fixed.items() if value is not None)
    if asked:
        return NoFit(
            f"{layer.name}: no folding with {asked} fits it and {board.title}",
            "values that divide the layer's channels (pe, simd) or width (px), or mapping: auto",
        )
    return NoFit(
        f"{layer.name}: even its smallest folding takes more than {board.title} has",
        "narrower types, a smaller layer, or a larger board",
    )


def _candidate(
    layer: Layer, fold: Fold, board: Board, place: WeightPlace | None, memory_price: float
) -> Candidate:
    stage = staged(layer, fold, place)
    resources, moved = stage_resources(stage, board, place), 0
    loader = weight_loader(stage, ddr_port(board))
    if loader is not None:
        moved, block = loader.frame_bytes, loader.stage.batch * stage.inputs[0].frame_words
        # the next block arrives while this one is computed
        waiting = Stream(name="", words=stage.inputs[0], depth=block)
        resources += weight_stream_resources(loader, board) + fifo_resources(waiting, board)
    return Candidate(
        fold=fold,
        interval=stage.interval,
        resources=resources,
        share=share_of(resources, board, memory_price),
        ddr_bytes=moved,
    )


def share_of(resources: Resources, board: Board, memory_price: float = 1.0) -> float:
    """Cost as one number: the sum of the shares of each kind that the board has, memories at their price."""
    total, prices = board.total, {"bram18": memory_price, "uram": memory_price}
    return float(
        sum(
            prices.get(kind, 1.0) * getattr(resources, kind) / getattr(total, kind)
            for kind in KINDS
            if getattr(total, kind)
        )
    )
