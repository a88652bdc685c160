"""Which layers' weights come from DDR for every block of frames, where not all of them have room on chip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.hardware.ports import ddr_port
from hlsgen.hardware.weights import WeightPlace, may_spill, spilled_place
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.search.candidates import Candidate, Foldings
from hlsgen.search.no_folding import nothing_fits
from hlsgen.targets.board import Board


@dataclass(frozen=True, kw_only=True)
class Offchip:
    """Every layer's candidates, fastest first, with its weights in one place."""

    places: Mapping[str, WeightPlace]
    candidates: Mapping[str, list[Candidate]]

    @property
    def complete(self) -> bool:
        """Whether every layer has a candidate that fits the board alone."""
        return all(self.candidates.values())

    @property
    def shortest(self) -> int:
        """The interval of the layer whose fastest candidate is slowest."""
        return max(found[0].interval for found in self.candidates.values())

    @property
    def longest(self) -> int:
        """The interval of the slowest candidate: a longer one makes nothing cheaper."""
        return max(found[-1].interval for found in self.candidates.values())

    @property
    def fixed(self) -> bool:
        """Whether no layer has a second candidate."""
        return all(len(found) == 1 for found in self.candidates.values())

    def picked(self, interval: int) -> dict[str, Candidate]:
        """The cheapest candidate of each layer that is no slower than `interval`, else the fastest."""
        return {
            name: next((one for one in reversed(found) if one.interval <= interval), found[0])
            for name, found in self.candidates.items()
        }

    def with_layer(self, name: str, place: WeightPlace, found: list[Candidate]) -> Offchip:
        """The same but for one layer, whose weights lie at `place`."""
        return Offchip(places={**self.places, name: place}, candidates={**self.candidates, name: found})


def kept_on_chip(
    graph: Graph,
    board: Board,
    constraints: NetworkConstraints,
    places: Mapping[str, WeightPlace],
    *,
    memory_price: float = 1.0,
    logic_price: float = 1.0,
) -> Offchip:
    """Every layer with its weights where `places` says; a layer that does not fit so has no candidates.

    Raises NoFit: one of whose weights the design says where they lie, or that has none, does not fit.
    """
    known = Foldings(board, constraints, memory_price, logic_price)
    candidates = {layer.name: known.of(layer, places.get(layer.name)) for layer in graph.layers}
    for layer in graph.layers:
        if not candidates[layer.name] and not may_spill(layer, constraints.weights):
            raise nothing_fits(layer, board, constraints)
    return Offchip(places=places, candidates=candidates)


MEMORY_PRICE = 4.0
"""The price of BRAM and URAM where memory is what lacks: well filled words are worth some logic cells."""


def spilled(
    graph: Graph, board: Board, constraints: NetworkConstraints, kept: Offchip, *, batch: int
) -> Iterator[Offchip]:
    """`kept` with one layer's weights more in DDR each time: those first that free most for their traffic.

    Those of layers that do not fit on chip at all are there from the start. kept: at MEMORY_PRICE. batch:
    frames of a block. Raises NoFit: a layer does not fit either way.
    """
    choice, worth, known = kept, {}, Foldings(board, constraints, MEMORY_PRICE)
    for layer in graph.layers:
        if not isinstance(layer, Conv2d) or not may_spill(layer, constraints.weights):
            continue
        place = spilled_place(layer, batch, ddr_port(board))
        found = known.of(layer, place)
        here = kept.candidates[layer.name]
        if not found and not here:
            raise nothing_fits(layer, board, constraints)
        if not here:
            choice = choice.with_layer(layer.name, place, found)
        elif found and found[-1].share < here[-1].share:
            worth[(here[-1].share - found[-1].share) / found[-1].ddr_bytes, layer.name] = place, found
    if not kept.complete:
        yield choice
    for (_, name), (place, found) in sorted(worth.items(), key=lambda item: item[0], reverse=True):
        choice = choice.with_layer(name, place, found)
        yield choice
