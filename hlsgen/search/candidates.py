"""What each layer could be: its foldings with what they take, those that no other one beats."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import fifo_resources, stage_resources, weight_stream_resources
from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.hardware.pipeline import Stream, staged
from hlsgen.hardware.port_processes import weight_loader
from hlsgen.hardware.ports import ddr_port, words_fit
from hlsgen.hardware.wave_folds import spread_folds, wave_folds
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import Fold
from hlsgen.search.board_limits import KINDS
from hlsgen.targets.board import Board
from hlsgen.targets.terms import Terms

NEARLY = 1.03
"""What saves less than this of every resource is not worth another candidate."""


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


class Foldings:
    """The foldings of a board's streaming stages, looked for once for layers that are alike.

    memory_price, logic_price: of BRAM and URAM, of LUTs and FFs, as a multiple of that of other kinds.
    """

    def __init__(
        self,
        board: Board,
        constraints: NetworkConstraints,
        memory_price: float = 1.0,
        logic_price: float = 1.0,
    ) -> None:
        self.board, self.constraints = board, constraints
        self.memory_price, self.logic_price = memory_price, logic_price
        self._known: dict[Hashable, list[Candidate]] = {}
        # searches with other prices or margins ask for the same ones again
        self._costed = _COSTED.setdefault(board.terms, {})
        self._limits = ddr_port(board), board.multiplier, tuple(getattr(board.total, kind) for kind in KINDS)

    def of(self, layer: Layer, place: WeightPlace | None) -> list[Candidate]:
        """Those of `layer` worth looking at, fastest first; none if none fits the board."""
        if layer.hardware_key is None:
            every = every_folding(layer, self.board, self.constraints, place)
            return _best(every, self.board, self.memory_price, self.logic_price)
        where = None if place is None else replace(place, layer="")
        fixed = tuple(sorted(fixed_keys(layer, self.constraints).items()))
        key = layer.hardware_key, where, fixed, self._limits
        if key not in self._known:
            if key not in self._costed:
                self._costed[key] = every_folding(layer, self.board, self.constraints, place)
            self._known[key] = _best(self._costed[key], self.board, self.memory_price, self.logic_price)
        return self._known[key]


_COSTED: WeakKeyDictionary[Terms, dict[Hashable, tuple[Candidate, ...]]] = WeakKeyDictionary()
"""All foldings that were looked at, by the terms of a board as long as these are in use."""


def foldings(
    layer: Layer,
    board: Board,
    constraints: NetworkConstraints,
    place: WeightPlace | None,
    *,
    memory_price: float = 1.0,
) -> list[Candidate]:
    """The foldings of one streaming stage as `Foldings.of` gives them."""
    return _best(every_folding(layer, board, constraints, place), board, memory_price)


def _best(
    every: Iterable[Candidate], board: Board, memory_price: float, logic_price: float = 1.0
) -> list[Candidate]:
    """Those that no other one beats in both interval and cost, fastest first. every: costed at price 1."""
    if (memory_price, logic_price) != (1, 1):
        prices = (memory_price, logic_price)
        every = [replace(one, share=share_of(one.resources, board, *prices)) for one in every]
    best: list[Candidate] = []
    for one in sorted(every, key=lambda one: (one.share, one.interval)):
        if not best or one.interval < best[-1].interval:
            best.append(one)
    return best[::-1]


def every_folding(
    layer: Layer, board: Board, constraints: NetworkConstraints, place: WeightPlace | None
) -> tuple[Candidate, ...]:
    """The foldings of one streaming stage that fit the board alone."""
    fixed = fixed_keys(layer, constraints)
    # one number for all costs cannot weigh logic cells against DSPs that are left over
    folds = (
        fold
        for fold in (place.folds(layer) if place else layer.folds())
        if fold.multipliers != "fabric" or fixed.get("multipliers") is not None
    )
    return tuple(_fitting(layer, folds, board, fixed, place))


def task_foldings(
    layer: Layer,
    board: Board,
    constraints: NetworkConstraints,
    place: WeightPlace | None,
    *,
    parts: int,
    nearly: float = NEARLY,
) -> list[Candidate]:
    """The foldings of a task's kernel that no other one beats in interval and every kind of resource.

    A convolution is a sliding window or a front wave. Of the latter the multipliers of those that are worth
    it alone are spread over DSPs and logic cells, in `parts` parts. Empty if none fits the board.
    """
    fixed = fixed_keys(layer, constraints)
    if isinstance(layer, Conv2d) and layer.is_float:
        found = []  # a sliding window has no time for a floating-point sum
    else:
        folds = place.folds(layer) if place else layer.folds()
        found = list(_fitting(layer, folds, board, fixed, place))
    if isinstance(layer, Conv2d) and place is not None:
        spread_wish = fixed.get("fabric_pe")
        loose = {key: value for key, value in fixed.items() if key not in ("fabric_pe", "multipliers")}
        plain = undominated(
            _fitting(layer, place.allowed(layer, wave_folds(layer)), board, loose, place), nearly
        )
        unspread = [one.fold for one in plain]
        spread = [fold for one in plain for fold in spread_folds(layer, one.fold, parts, spread_wish)]
        found += _fitting(layer, [*unspread, *spread], board, fixed, place)
    return undominated(found, nearly)


def undominated(candidates: Iterable[Candidate], nearly: float) -> list[Candidate]:
    """Those of `candidates` that no other one beats in interval and all resources.

    nearly: one that takes up to so many times as much of the resources beats another one too.
    """
    found = sorted(candidates, key=lambda one: (one.interval, one.share))
    kept: list[Candidate] = []
    figures = np.zeros((len(found), len(KINDS)))
    for one in found:
        mine = np.array([getattr(one.resources, kind) for kind in KINDS], np.float64)
        # those that are kept are as fast or faster
        if not (figures[: len(kept)] <= mine * nearly).all(axis=1).any():
            figures[len(kept)] = mine
            kept.append(one)
    return kept


def fixed_keys(layer: Layer, constraints: NetworkConstraints) -> Mapping[str, object]:
    """What the design fixes of the folding of `layer`."""
    return (constraints.folds or {}).get(layer.name, {})


def _fitting(
    layer: Layer,
    folds: Iterable[Fold],
    board: Board,
    fixed: Mapping[str, object],
    place: WeightPlace | None,
) -> Iterator[Candidate]:
    """Those of `folds` that keep to what is fixed, fit the board and have words that streams carry."""
    total = board.total
    for fold in folds:
        if any(value is not None and getattr(fold, key) != value for key, value in fixed.items()):
            continue
        if not words_fit(staged(layer, fold, place), board.multiplier):
            continue
        one = _candidate(layer, fold, board, place)
        if all(getattr(one.resources, kind) <= getattr(total, kind) for kind in KINDS):
            yield one


def _candidate(layer: Layer, fold: Fold, board: Board, place: WeightPlace | None) -> Candidate:
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
        share=share_of(resources, board),
        ddr_bytes=moved,
    )


def share_of(
    resources: Resources, board: Board, memory_price: float = 1.0, logic_price: float = 1.0
) -> float:
    """Cost as one number: the sum of the shares of each kind that the board has, each at its price."""
    total = board.total
    prices = {"bram18": memory_price, "uram": memory_price, "lut": logic_price, "ff": logic_price}
    return float(
        sum(
            prices.get(kind, 1.0) * getattr(resources, kind) / getattr(total, kind)
            for kind in KINDS
            if getattr(total, kind)
        )
    )
