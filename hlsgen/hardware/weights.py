"""Where each layer's weights lie, decided once: emission, cost, report and C-simulation all ask here.

constant: text in the C++ source. runtime: loaded into an on-chip memory by a call that says so. stream: never
kept on chip, each word read from DDR once for a block of frames (see hlsgen/layers/conv2d_stream.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from hlsgen.base.errors import DesignError, Problem
from hlsgen.designfile.constraints import (
    ConstrainedPlace,
    ConstrainedStorage,
    LayerWeightConstraints,
    WeightConstraints,
)
from hlsgen.hardware.ports import MOST_DDR_BITS, DdrPort, ddr_port
from hlsgen.hardware.storage import Memory, Storage, choose_storage
from hlsgen.hardware.wave_stage import WaveStage
from hlsgen.layers.base import Layer
from hlsgen.layers.constant_products import has_adders, too_many_digits
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.conv2d_stage import ConvStage
from hlsgen.layers.conv2d_stream import ConvStream, can_stream, most_batch, stream_folds
from hlsgen.layers.packing import SHORTEST_CHAIN, chain_of_types, quad_of_types
from hlsgen.layers.stage import FOR_THESE_WEIGHTS, Fold, Stage
from hlsgen.model.ir import Graph
from hlsgen.targets.board import Board

Place = Literal["constant", "runtime", "stream"]

MOST_AUTO_CONSTANTS = 8192
"""A layer with more loads its weights at run time: constants this many stay readable and quick to compile."""
MOST_CONSTANTS = 65536
"""More as text are refused: compilers take minutes and gigabytes for them."""
LEAST_USES = 16
"""The fewest uses of a streamed word of weights unless the design says otherwise: output pixels of frames."""
INITIALISED = (Storage.REGISTER, Storage.LUTRAM, Storage.BRAM)
"""Memories that have their contents from the start; a URAM has not."""


@dataclass(frozen=True, kw_only=True)
class WeightPlace:
    """Where the weights of `layer` lie.

    storage: the primitive wished for; None: the cheapest. batch: frames that share a word that is streamed.
    any_weights: the design wants to load other weights; else those at hand decide what is exact.
    port_bits: of the DDR port of weights that are streamed.
    """

    layer: str
    place: Place
    storage: Storage | None = None
    batch: int = 1
    any_weights: bool = False
    port_bits: int = MOST_DDR_BITS

    def memory(self, stage: Stage, board: Board) -> Memory | None:
        """The on-chip memory that holds the weights of `stage`; None if they are streamed, or in what
        multiplies.
        """
        if self.place == "stream":
            return None
        if stage.fold.multipliers in FOR_THESE_WEIGHTS:
            return None
        shape = stage.weight_shape()
        assert shape is not None
        depth, lanes, bits = shape
        if self.storage is not None:
            return Memory(name="weights", depth=depth, bits=lanes * bits, copies=1, storage=self.storage)
        among = INITIALISED if self.place == "constant" else tuple(Storage)
        return choose_storage("weights", depth, lanes * bits, 1, board, among=among)

    def folds(self, layer: Layer) -> Iterator[Fold]:
        """Foldings of `layer` with its weights here: packed multipliers must be exact for all it may take."""
        if self.place == "stream":
            assert isinstance(layer, Conv2d)
            yield from stream_folds(layer)
            return
        yield from self.allowed(layer, layer.folds())

    def allowed(self, layer: Layer, folds: Iterable[Fold]) -> Iterator[Fold]:
        """Those of `folds` whose packed multipliers, if they have some, are exact for all it may take."""
        assert isinstance(layer, Conv2d)
        if self.place != "constant" or self.storage is not None:  # those lie in no memory
            folds = (fold for fold in folds if fold.multipliers not in FOR_THESE_WEIGHTS)
        if layer.is_float or not self.any_weights:
            return iter(folds)
        packs = chain_of_types(layer) >= SHORTEST_CHAIN
        quads = [quad_of_types(layer, pixels) >= SHORTEST_CHAIN for pixels in (1, 2)]
        # two pixels share a multiplier of four products wherever there are two, or else its chain is of one
        return (
            fold
            for fold in folds
            if (packs or fold.multipliers != "packed") and (all(quads) or fold.multipliers != "quad")
        )

    def stage(self, layer: Layer, fold: Fold) -> Stage:
        """`layer` as hardware with its weights here."""
        if self.place == "stream":
            assert isinstance(layer, Conv2d)
            return ConvStream(layer=layer, fold=fold, batch=self.batch, most_beat_bits=self.port_bits)
        stage = wave_stage(layer, fold) if fold.rows else layer.stage(fold)
        return stage.for_any_weights() if self.any_weights else stage


def wave_stage(layer: Layer, fold: Fold) -> WaveStage:
    """`layer`, a convolution, as the front wave that `fold` says."""
    assert isinstance(layer, Conv2d)
    return WaveStage(layer=layer, fold=fold)


def weight_places(
    graph: Graph, weight_constraints: WeightConstraints, board: Board
) -> dict[str, WeightPlace]:
    """The place of every layer's weights, by its name. Raises DesignError with all wishes that cannot be."""
    problems = [problem for _, problem in weight_problems(graph, weight_constraints, board)]
    if problems:
        raise DesignError(problems)
    return {
        layer.name: placed(layer, weight_constraints.of(layer.name), ddr_port(board))
        for layer in graph.layers
        if isinstance(layer, Conv2d)
    }


def auto_places(graph: Graph) -> dict[str, WeightPlace]:
    """The places of a graph for which nothing is wished."""
    return {
        layer.name: placed(layer, LayerWeightConstraints(), DdrPort())
        for layer in graph.layers
        if isinstance(layer, Conv2d)
    }


def placed(layer: Conv2d, constraints: LayerWeightConstraints, port: DdrPort) -> WeightPlace:
    """Where the weights of `layer` lie if that is wished, which has no problems. port: of streamed ones."""
    place: Place
    if constraints.streams:
        place = "stream"
    elif constraints.place == "auto":
        # of one that wants a memory that cannot be initialised the weights arrive
        small = layer.weights.size <= MOST_AUTO_CONSTANTS and constraints.storage != "uram"
        place = "constant" if small else "runtime"
    else:
        place = constraints.place
    storage = None if constraints.storage in ("auto", "ddr") else Storage(constraints.storage)
    batch = (constraints.batch_reuse or _usual_batch(layer)) if place == "stream" else 1
    return WeightPlace(
        layer=layer.name,
        place=place,
        storage=storage,
        batch=batch,
        any_weights=constraints.place in ("runtime", "stream"),
        port_bits=port.bits,
    )


def may_spill(layer: Layer, weight_constraints: WeightConstraints) -> bool:
    """Whether hlsgen may decide to stream the weights of `layer`, which then are just those at hand."""
    constraints = weight_constraints.of(layer.name)
    return (
        isinstance(layer, Conv2d)
        and can_stream(layer)
        and (constraints.place, constraints.storage) == ("auto", "auto")
    )


def kept_by_design(graph: Graph, weight_constraints: WeightConstraints) -> list[str]:
    """The layers whose weights the design keeps on chip, though they could be streamed; the largest first."""
    found = [
        layer
        for layer in graph.layers
        if isinstance(layer, Conv2d)
        and can_stream(layer)
        and not may_spill(layer, weight_constraints)
        and not weight_constraints.of(layer.name).streams
    ]
    return [layer.name for layer in sorted(found, key=lambda layer: -layer.weights.size)]


def spilled_place(layer: Conv2d, batch: int, port: DdrPort) -> WeightPlace:
    """Where the weights of a layer lie that hlsgen streams because they have no room on chip."""
    return placed(
        layer, LayerWeightConstraints(storage="ddr", batch_reuse=min(batch, most_batch(layer))), port
    )


def _usual_batch(layer: Conv2d) -> int:
    _, rows, columns = layer.output_shape
    return min(most_batch(layer), -(-LEAST_USES // (rows * columns)))


def weight_problems(
    graph: Graph, weight_constraints: WeightConstraints, board: Board
) -> list[tuple[str, Problem]]:
    """What cannot be, with the layer whose wish it is."""
    if weight_constraints.place not in ("auto", "constant", "runtime"):
        message = f"weights: {weight_constraints.place} is none of auto, constant, runtime"
        return [("weights", Problem(message=message, fix="one of these three; stream is a layer's own wish"))]
    by_name = {layer.name: layer for layer in graph.layers}
    found: list[tuple[str, Problem]] = []
    for name, constraints in weight_constraints.layers.items():
        layer = by_name.get(name)
        if layer is None:
            message = f"the mapping has weights for {name}, which is no layer of {graph.name}"
            found.append((name, Problem(message=message, fix=f"the layers are {_few(list(by_name))}")))
        elif not isinstance(layer, Conv2d) and constraints != LayerWeightConstraints():
            message = f"the mapping says where its weights lie, but a layer of kind {layer.kind} has none"
            found.append((name, layer.problem(message, "leave weights, storage and batch_reuse out")))
    for layer in graph.layers:
        if isinstance(layer, Conv2d):
            constraints = weight_constraints.of(layer.name)
            found += [(layer.name, one) for one in _layer_problems(layer, constraints, board)]
            if constraints.streams:
                found += [(layer.name, one) for one in _stream_problems(layer, constraints, graph)]
            elif constraints.batch_reuse is not None:
                message = "batch_reuse is of weights that are streamed, and its weights are not"
                found.append((layer.name, layer.problem(message, "weights: stream, or leave it out")))
    return found


def task_weight_problems(graph: Graph, weight_constraints: WeightConstraints) -> list[tuple[str, Problem]]:
    """What besides cannot be in a network of tasks, with the layer whose wish it is."""
    message = "weights: stream is not for networks as tasks, whose kernels keep their weights"
    return [
        (layer.name, layer.problem(message, "weights: runtime, or style: dataflow"))
        for layer in graph.layers
        if weight_constraints.of(layer.name).streams
    ]


def _layer_problems(layer: Conv2d, constraints: LayerWeightConstraints, board: Board) -> Iterator[Problem]:
    if constraints.place not in get_args(ConstrainedPlace) or constraints.storage not in get_args(
        ConstrainedStorage
    ):
        places, memories = ", ".join(get_args(ConstrainedPlace)), ", ".join(get_args(ConstrainedStorage))
        message = f"weights: {constraints.place} with storage: {constraints.storage} is nothing that there is"
        yield layer.problem(message, f"weights: one of {places}; storage: one of {memories}")
        return
    if constraints.storage == "ddr" and constraints.place in ("constant", "runtime"):
        message = f"weights: {constraints.place} keeps them on chip, storage: ddr does not"
        yield layer.problem(message, "weights: stream, or another storage")
    if constraints.place == "constant" and layer.weights.size > MOST_CONSTANTS:
        message = f"{layer.weights.size:,} weights as constants are more than the {MOST_CONSTANTS:,} allowed"
        yield layer.problem(message, "weights: runtime, which loads them from DDR once")
    if constraints.place == "constant" and constraints.storage == "uram":
        message = "constants cannot lie in URAM, which has no contents before it is written"
        yield layer.problem(message, "storage: bram, or weights: runtime")
    elif constraints.storage == "uram" and not board.total.uram:
        yield layer.problem(f"{board.title} has no URAM", "storage: bram, lutram, register or auto")


def packing_problems(before: Stage, after: Stage) -> list[Problem]:
    """What keeps the weights of `after` from the hardware of `before`, which is the same layer's."""
    if isinstance(before, ConvStage) and before.only_signs and not after.layer.only_signs:  # type: ignore[attr-defined]
        message = (
            "its weights are -1 and 1 alone, for which its bits are counted; the other network's are not"
        )
        fix = "mapping: {weights: runtime}, or multipliers: dsp for this layer, and build again"
        return [after.layer.problem(message, fix)]
    if before.fold.multipliers == "constants" and not has_adders(after.layer):  # type: ignore[arg-type]
        return [too_many_digits(after.layer)]  # type: ignore[arg-type]
    if after.chain >= before.chain:
        return []
    together = "four" if before.fold.multipliers == "quad" else "two"
    message = (
        f"{together} of its products share a multiplier, exactly for the first weights: sums of "
        f"{before.chain} of the other network's are too large"
    )
    fix = "mapping: {weights: runtime}, or multipliers: dsp for this layer, and build again"
    return [after.layer.problem(message, fix)]


def _stream_problems(layer: Conv2d, constraints: LayerWeightConstraints, graph: Graph) -> Iterator[Problem]:
    if not can_stream(layer):
        message = f"weights are not streamed for a layer of {layer.groups} groups, which has few of them"
        yield layer.problem(message, "weights: runtime")
    if constraints.storage not in ("auto", "ddr"):
        message = (
            f"weights that are streamed are not kept, so that storage: {constraints.storage} has no meaning"
        )
        yield layer.problem(message, "leave storage out, or weights: runtime")
    most = most_batch(layer)
    if constraints.batch_reuse is not None and not 1 <= constraints.batch_reuse <= most:
        message = f"a word of weights cannot be used for {constraints.batch_reuse} frames"
        yield layer.problem(message, f"batch_reuse from 1 to {most}")
    ports = {*graph.tensors(), *(port.name for port in graph.outputs)}
    if f"{layer.name}_weights" in ports:
        message = f"its port for weights would have the name {layer.name}_weights, which is taken"
        yield layer.problem(message, "another name in the model, or weights: runtime")


def _few(names: list[str]) -> str:
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
