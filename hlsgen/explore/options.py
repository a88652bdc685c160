"""What each layer could be: its foldings with every place of its weights, those that nothing else beats.

An option's cost has all that depends on it alone: the stage with its weights and buffers, its DDR ports, the
forks of what it gives and its FIFOs at their least. Converters and deep FIFOs depend on two layers or on all:
they come on top, so that sums of options are a lower bound of every kernel that is made of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from hlsgen.cost.published_cores import SHIFT_WORDS, SMALL_FIFO_BITS
from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import (
    fifo_resources,
    held_weights_resources,
    process_resources,
    stage_resources,
    weight_stream_resources,
)
from hlsgen.designfile.constraints import LayerWeightConstraints, NetworkConstraints, NoFit
from hlsgen.hardware.pipeline import Stream, first_readers, staged
from hlsgen.hardware.port_processes import DmaRead, DmaWrite, weight_loader
from hlsgen.hardware.ports import Interfaces, ddr_port, interfaces_of, words_fit
from hlsgen.hardware.processes import Fork
from hlsgen.hardware.storage import LUTRAM_MOST_WORDS, Storage
from hlsgen.hardware.weights import WeightPlace, placed
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import FOR_THESE_WEIGHTS, Fold, Stage, StreamFormat
from hlsgen.model.ir import Graph
from hlsgen.search.board_limits import KINDS
from hlsgen.search.no_folding import nothing_fits
from hlsgen.targets.board import Board

Vector = NDArray[np.int64]
"""One number for each of KINDS."""
Format = tuple[int, int]
"""A stream's words: neighbouring pixels, channels."""
NEAR = 2
"""How much faster than is asked for a folding may be that is looked at all the same."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """A layer as hardware. place: of its weights; None if it has none.

    interval: cycles a frame, of the stage or of a DDR port that takes its words. ddr_bytes: of its ports, a
    frame. multipliers: products a cycle. gives, takes: the formats of its output and inputs.
    """

    fold: Fold
    place: WeightPlace | None
    interval: int
    resources: Resources
    ddr_bytes: int
    multipliers: int
    gives: Format
    takes: tuple[Format, ...]


@dataclass(frozen=True, kw_only=True)
class LayerOptions:
    """The options of `layer` that no other one beats in interval and all resources, fastest first.

    every: all of them, fastest first: one that is beaten can still have the words that its neighbours have.
    """

    layer: Layer
    options: tuple[Option, ...]
    every: tuple[Option, ...]

    def of(self, layer: Layer) -> LayerOptions:
        """The same of a layer that is alike."""
        if layer is self.layer:
            return self
        own = {
            id(one): one if one.place is None else replace(one, place=replace(one.place, layer=layer.name))
            for one in self.every
        }
        return LayerOptions(
            layer=layer,
            options=tuple(own[id(one)] for one in self.options),
            every=tuple(own[id(one)] for one in self.every),
        )

    @cached_property
    def intervals(self) -> Vector:
        return np.array([one.interval for one in self.options], np.int64)

    @cached_property
    def costs(self) -> NDArray[np.int64]:
        return costs_of(self.options)

    @cached_property
    def every_cost(self) -> NDArray[np.int64]:
        return costs_of(self.every)


def costs_of(options: Sequence[Option]) -> NDArray[np.int64]:
    """The costs as [options, KINDS]."""
    return np.array([vector(one.resources) for one in options], np.int64)


def vector(resources: Resources) -> Vector:
    return np.array([getattr(resources, kind) for kind in KINDS], np.int64)


def resources_of(amounts: Vector) -> Resources:
    return Resources(**{kind: int(amount) for kind, amount in zip(KINDS, amounts, strict=True)})


def all_options(
    graph: Graph, board: Board, constraints: NetworkConstraints, near: int | None = None
) -> dict[str, LayerOptions]:
    """The options of each layer; near: as of `layer_options`.

    Raises NoFit: nothing that the design fixes for some layer fits.
    """
    found = {}
    for layer, options in _each(graph, board, constraints, near):
        if options is None:
            raise nothing_fits(layer, board, constraints)
        found[layer.name] = options
    return found


def possible_options(
    graph: Graph, board: Board, constraints: NetworkConstraints
) -> dict[str, LayerOptions | None]:
    """The options of each layer by itself; None: not even its smallest folding has room."""
    return {layer.name: options for layer, options in _each(graph, board, constraints, None)}


def _each(
    graph: Graph, board: Board, constraints: NetworkConstraints, near: int | None
) -> Iterator[tuple[Layer, LayerOptions | None]]:
    """Every layer with its options, those of layers that are alike computed once."""
    known: dict[Hashable, LayerOptions | None] = {}
    for layer in graph.layers:
        key = _likeness(graph, layer, constraints)
        if key is None or key not in known:
            try:
                known[key] = layer_options(graph, layer, board, constraints, near)
            except NoFit:
                known[key] = None
        options = known[key]
        yield layer, None if options is None else options.of(layer)


def _likeness(graph: Graph, layer: Layer, constraints: NetworkConstraints) -> Hashable:
    """What the options of a layer depend on, beside the board; None: it cannot be said."""
    if layer.hardware_key is None:
        return None
    fixed = tuple(sorted((constraints.folds or {}).get(layer.name, {}).items()))
    return layer.hardware_key, fixed, constraints.weights.of(layer.name), _Surroundings.of(graph, layer)


def layer_options(
    graph: Graph, layer: Layer, board: Board, constraints: NetworkConstraints, near: int | None = None
) -> LayerOptions:
    """The options of one layer that keep to `wish` and to the board.

    near: a number of cycles for which the cheapest is looked for: of a convolution, whose multipliers cost
    the more the faster it is, those alone that are as fast, by no more than NEAR times; or the fastest, where
    none is; or all, where none of these can be built.
    """
    fixed = {
        key: value
        for key, value in (constraints.folds or {}).get(layer.name, {}).items()
        if value is not None
    }
    own = constraints.weights.of(layer.name)
    total = vector_of_board(board)
    adapters = _Adapters(graph, layer, board, interfaces_of(board, constraints.interface))
    found = []
    folds = placed(layer, own, ddr_port(board)).folds(layer) if isinstance(layer, Conv2d) else layer.folds()
    allowed = [fold for fold in folds if all(getattr(fold, key) == value for key, value in fixed.items())]
    if near is not None and isinstance(layer, Conv2d):
        allowed = _near(layer, allowed, near)
    for fold in allowed:
        for stage, place in _placements(layer, fold, own, board):
            if not words_fit(stage, board.multiplier):
                continue
            option = adapters.option(stage, fold, place)
            if (vector(option.resources) <= total).all():
                found.append(option)
    if not found and near is not None:
        return layer_options(graph, layer, board, constraints)
    if not found:
        raise nothing_fits(layer, board, constraints)
    amounts = np.array([[one.interval, *vector(one.resources)] for one in found], np.int64)
    kept = non_dominated(amounts)
    order = np.lexsort(amounts.T[::-1])
    return LayerOptions(
        layer=layer,
        options=tuple(found[index] for index in kept),
        every=tuple(found[int(index)] for index in order),
    )


def _near(layer: Layer, folds: Sequence[Fold], near: int) -> list[Fold]:
    """Those no slower than `near` cycles nor more than NEAR times faster; the fastest, if all are slower; and
    those for just these weights, whose adders cost no more the faster they are.
    """
    intervals = [layer.stage(fold).interval for fold in folds]
    fast = [one for one in intervals if one <= near]
    least, most = (max(fast) / NEAR, near) if fast else (0, min(intervals, default=0))
    return [
        fold
        for fold, one in zip(folds, intervals, strict=True)
        if least <= one <= most or (fold.multipliers in FOR_THESE_WEIGHTS and one <= near)
    ]


def usual_options(graph: Graph, layer: Layer, board: Board, constraints: NetworkConstraints) -> list[Option]:
    """Every folding on DSPs with its weights where they lie unless the search says otherwise."""
    fixed = (constraints.folds or {}).get(layer.name, {})
    place = (
        placed(layer, constraints.weights.of(layer.name), ddr_port(board))
        if isinstance(layer, Conv2d)
        else None
    )
    adapters = _Adapters(graph, layer, board, interfaces_of(board, constraints.interface))
    return [
        adapters.option(staged(layer, fold, place), fold, place)
        for fold in (place.folds(layer) if place else layer.folds())
        if fold == Fold(px=fold.px, pe=fold.pe, simd=fold.simd)
        and all(value is None or getattr(fold, key) == value for key, value in fixed.items())
        and words_fit(staged(layer, fold, place), board.multiplier)
    ]


def vector_of_board(board: Board) -> Vector:
    """All that is free for kernels."""
    return np.array([getattr(board.total, kind) for kind in KINDS], np.int64)


def non_dominated(amounts: NDArray[np.int64]) -> list[int]:
    """The rows of `amounts` [n, kinds] that no other row beats or equals in everything, sorted.

    Of equal rows the first one stays. Layers that are alike have the same rows, and searches ask again and
    again.
    """
    return list(_non_dominated(amounts.shape, np.ascontiguousarray(amounts, np.int64).tobytes()))


@lru_cache(maxsize=1024)
def _non_dominated(shape: tuple[int, int], data: bytes) -> tuple[int, ...]:
    amounts = np.frombuffer(data, np.int64).reshape(shape)
    order = np.lexsort(amounts.T[::-1])
    rows = amounts[order]
    kept = np.zeros_like(rows)
    count = 0
    found = []
    for index, row in zip(order, rows, strict=True):
        # a row that dominates this one is smaller or equal in the first column, so it came before
        if count and (kept[:count] <= row).all(axis=1).any():
            continue
        kept[count] = row
        count += 1
        found.append(int(index))
    return tuple(found)


def _placements(
    layer: Layer, fold: Fold, constraints: LayerWeightConstraints, board: Board
) -> Iterator[tuple[Stage, WeightPlace | None]]:
    """The layer folded so, with its weights wherever the design and their memory's depth leave it free."""
    if not isinstance(layer, Conv2d):
        yield layer.stage(fold), None
        return
    own_weights = fold.multipliers in FOR_THESE_WEIGHTS
    if constraints.storage != "auto" or constraints.place == "stream" or own_weights:
        place = placed(layer, constraints, ddr_port(board))
        yield staged(layer, fold, place), place
        return
    shape = layer.stage(fold).weight_shape()
    assert shape is not None
    for storage in _storages(shape[0], constraints, board):
        place = placed(layer, replace(constraints, storage=storage.value), ddr_port(board))
        yield staged(layer, fold, place), place


def _storages(depth: int, constraints: LayerWeightConstraints, board: Board) -> list[Storage]:
    """The primitives for `depth` words of weights: as in `choose_storage`."""
    if depth == 1:
        return [Storage.REGISTER]
    found = [Storage.BRAM]
    if depth <= LUTRAM_MOST_WORDS:
        found.append(Storage.LUTRAM)
    # one that cannot be initialised is filled by a call, which constants are not
    if board.total.uram and constraints.place != "constant":
        found.append(Storage.URAM)
    return found


@dataclass(frozen=True, kw_only=True)
class _Surroundings:
    """A layer's readers, how many of them are outputs, and the inputs of the graph that it loads: which of
    its own inputs each is, and how many readers that has.
    """

    readers: int
    stores: int
    loads: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, graph: Graph, layer: Layer) -> _Surroundings:
        consumers, first = graph.consumers(), first_readers(graph)
        return cls(
            readers=len(consumers[layer.name]),
            stores=sum(index < 0 for _, index in consumers[layer.name]),
            loads=tuple(
                (index, len(consumers[source]))
                for index, source in enumerate(layer.inputs)
                if first.get(source) == (layer.name, index)
            ),
        )


class _Adapters:
    """What joins a layer to its neighbours and to DDR, as far as it depends on this layer alone."""

    def __init__(self, graph: Graph, layer: Layer, board: Board, interfaces: Interfaces) -> None:
        self.layer = layer
        self.board = board
        self.interfaces = interfaces
        self._known: dict[tuple[Format, tuple[Format, ...]], tuple[Resources, int, int]] = {}
        # by folding without weights: the place of these is all that else tells options apart
        self._stages: dict[Fold, Resources] = {}
        self.around = _Surroundings.of(graph, layer)

    def option(self, stage: Stage, fold: Fold, place: WeightPlace | None) -> Option:
        gives = (stage.output.px, stage.output.channels)
        takes = tuple((words.px, words.channels) for words in stage.inputs)
        if (gives, takes) not in self._known:
            self._known[gives, takes] = self._around(stage)
        around, interval, moved = self._known[gives, takes]
        if fold not in self._stages:
            self._stages[fold] = stage_resources(stage, self.board, None)
        total = self._stages[fold] + held_weights_resources(stage, self.board, place) + around
        loader = weight_loader(stage, self.interfaces.ddr)
        if loader is not None:
            total += weight_stream_resources(loader, self.board)
            moved += loader.frame_bytes
        return Option(
            fold=fold,
            place=place,
            interval=max(stage.interval, interval),
            resources=total,
            ddr_bytes=moved,
            multipliers=stage.products,
            gives=gives,
            takes=takes,
        )

    def _around(self, stage: Stage) -> tuple[Resources, int, int]:
        """Resources of streams, forks and ports of a stage's words; cycles and bytes a frame of ports."""
        interval, moved = 0, 0
        total = self._tensor(stage.output, self.around.readers)
        if self.around.stores:
            store = DmaWrite(name="", reads=(), writes=(), words=stage.output, port=self.interfaces.output)
            interval = store.interval
            total += process_resources(store, self.board).times(self.around.stores)
            moved += self.around.stores * store.frame_bytes
        for index, readers in self.around.loads:
            words = stage.inputs[index]
            load = DmaRead(name="", reads=(), writes=(), words=words, port=self.interfaces.input)
            interval = max(interval, load.interval)
            total += process_resources(load, self.board) + self._tensor(words, readers)
            moved += load.frame_bytes
        return total, interval, moved

    def _tensor(self, words: StreamFormat, readers: int) -> Resources:
        """The streams and forks of a tensor with so many readers."""
        total = least_fifo(words, self.board).times(max(1, 2 * readers - 1))
        if readers > 1:
            fork = Fork(name="", reads=(), writes=(), words=words)
            total += process_resources(fork, self.board).times(readers - 1)
        return total


def least_fifo(words: StreamFormat, board: Board) -> Resources:
    """What a FIFO of `words` takes at any depth: of each kind the least of all ways to build one."""
    bits = words.lanes * words.type.width
    # of each way the shallowest
    depths = (2, 3, SHIFT_WORDS + 1, max(SHIFT_WORDS, SMALL_FIFO_BITS // bits) + 1)
    ways = [vector(fifo_resources(Stream(name="", words=words, depth=depth), board)) for depth in depths]
    return resources_of(np.min(ways, axis=0))
