"""What is looked for once for layers that are alike: the work grows with the layers that differ."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.explore import options
from hlsgen.explore.options import all_options, layer_options, vector_of_board
from hlsgen.hardware.weights import auto_places
from hlsgen.layers import constant_products
from hlsgen.layers.conv2d import Conv2d
from hlsgen.search import candidates
from hlsgen.search.candidates import every_folding, foldings
from hlsgen.search.offchip_weights import kept_on_chip
from hlsgen.targets.board import Margins, load_board
from tests.timing.test_timing import residual

BOARD = load_board("zcu102")


@pytest.mark.parametrize("convolutions", [2, 9])
def test_foldings_are_looked_for_once(convolutions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = residual(6, 8, convolutions=convolutions)
    places = auto_places(graph)
    board = BOARD.with_terms(replace(BOARD.terms))
    looked = mock.Mock(wraps=every_folding)
    monkeypatch.setattr(candidates, "every_folding", looked)
    found = kept_on_chip(graph, board, NetworkConstraints(), places)
    assert looked.call_count == 3, "stem, 3x3, join"
    dear = kept_on_chip(
        graph, board.with_margins(Margins(lut=0.1, ff=0.1)), NetworkConstraints(), places, memory_price=4.0
    )
    assert looked.call_count == 3, "other prices and margins ask for the same"
    for layer in graph.layers:
        own = [
            foldings(layer, board, NetworkConstraints(), places.get(layer.name), memory_price=price)
            for price in (1.0, 4.0)
        ]
        assert [found.candidates[layer.name], dear.candidates[layer.name]] == own


@pytest.mark.parametrize("convolutions", [3, 9])
def test_options_are_looked_for_once(convolutions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, constraints = residual(6, 8, convolutions=convolutions), NetworkConstraints()
    looked = mock.Mock(wraps=layer_options)
    monkeypatch.setattr(options, "layer_options", looked)
    found = all_options(graph, BOARD, constraints)
    assert looked.call_count == 3
    for layer in graph.layers:
        own = layer_options(graph, layer, BOARD, constraints)
        assert (found[layer.name].options, found[layer.name].every) == (own.options, own.every)


def test_the_cheapest_near_an_interval_is_the_cheapest_of_all() -> None:
    """Foldings far faster than asked for are left out, and no sum of shares of a board is less with them."""
    graph, constraints = residual(6, 8, convolutions=3), NetworkConstraints()
    prices = 1 / np.maximum(vector_of_board(BOARD), 1)
    whole = all_options(graph, BOARD, constraints)
    for interval in (1, 40, 333, 2000, 10**6):
        near = all_options(graph, BOARD, constraints, interval)
        for name, every in whole.items():
            some = near[name]
            assert set(some.options) <= set(every.every)
            most = max(interval, int(every.intervals.min()))
            least = (every.costs[every.intervals <= most] @ prices).min()
            assert (some.costs[some.intervals <= most] @ prices).min() == pytest.approx(least)
    assert sum(len(one.every) for one in near.values()) < sum(len(one.every) for one in whole.values())


def test_what_a_design_fixes_of_one_layer_is_of_that_layer() -> None:
    graph = residual(6, 8, convolutions=2)
    constraints = NetworkConstraints(folds={"long0": {"pe": 1, "simd": 1}})
    kept = kept_on_chip(graph, BOARD, constraints, auto_places(graph)).candidates
    assert {one.fold.pe for one in kept["long0"]} == {1}
    assert max(one.fold.pe for one in kept["long1"]) > 1


def test_weights_that_pack_otherwise_are_not_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = next(one for one in residual(6, 8).layers if isinstance(one, Conv2d))
    assert layer.hardware_key == replace(layer, name="other", inputs=("stem",)).hardware_key
    negative = -np.asarray(layer.weights)
    assert layer.hardware_key != replace(layer, weights=negative).hardware_key, "other shifts and adders"
    monkeypatch.setattr(constant_products, "MOST_DIGITS", 0)
    layer = replace(layer)
    assert layer.hardware_key == replace(layer, weights=negative).hardware_key
    assert layer.hardware_key != replace(layer, stride=(2, 2)).hardware_key
    assert layer.hardware_key != replace(layer, bias=np.zeros(layer.out_channels, np.int64)).hardware_key
    packed = replace(layer)
    vars(packed)["packed_chain"] = layer.packed_chain + 1
    assert layer.hardware_key != packed.hardware_key
