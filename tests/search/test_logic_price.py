"""Products of few bits: in logic cells where these are as cheap as DSPs, else four a DSP."""

from __future__ import annotations

from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.hardware.weights import WeightPlace
from hlsgen.search.candidates import Foldings
from hlsgen.search.streaming import LOGIC_PRICE, balance
from hlsgen.targets.board import load_board
from tests.layers.test_quad_stage import convolution, random_weights
from tests.support.pipelines import side_by_side

WIDE = convolution(random_weights((64, 64, 3, 3)))
U200 = load_board("u200")


def kinds(price: float) -> set[str]:
    known = Foldings(U200, NetworkConstraints(), logic_price=price)
    found = known.of(WIDE, WeightPlace(layer="conv", place="runtime"))
    return {one.fold.multipliers for one in found if one.fold.px > 1 and one.fold.pe > 4}


def test_the_price_of_logic_cells_decides() -> None:
    assert "quad" not in kinds(1.0)
    assert "quad" in kinds(LOGIC_PRICE)


def test_a_network_of_four_bits_is_as_fast_as_logic_cells_and_dsps_allow() -> None:
    """More products a cycle than logic cells alone have room for."""
    graph = side_by_side([WIDE, WIDE])
    small = load_board("zcu102")
    found = balance(graph, small, NetworkConstraints(), batch=16, clock_mhz=200.0)
    used = {stage.fold.multipliers for stage in found.pipeline.stages.values()}
    assert "quad" in used
    assert found.each.dsp > 0
