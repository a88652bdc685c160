"""No folding is chosen or taken whose words are wider than what streams carry in synthesis."""

from __future__ import annotations

import pytest

from hlsgen.base.fixed import FixedType
from hlsgen.designfile.constraints import NetworkConstraints, NoFit
from hlsgen.hardware.conv2d import bare_mapping, map_conv2d
from hlsgen.hardware.conv_folding import Folding, folding_faults
from hlsgen.layers.base import Tensor
from hlsgen.layers.clamp import Clamp
from hlsgen.search.candidates import foldings
from hlsgen.search.no_folding import nothing_fits
from hlsgen.targets.board import load_board
from tests.support.kernels import conv

WIDEST = 4096  # bits, where synthesis begins to fail
U200 = load_board("u200")


def clamp() -> Clamp:
    type_ = FixedType(16, 6)
    return Clamp(
        name="wide",
        inputs=("x",),
        source=Tensor(shape=(1024, 2, 4), type=type_),
        low=0.0,
        high=6.0,
        result_type=type_,
    )


def test_no_candidate_has_words_that_no_stream_carries() -> None:
    layer = clamp()
    assert max(fold.px * fold.pe for fold in layer.folds()) * 16 > WIDEST
    found = [one.fold for one in foldings(layer, U200, NetworkConstraints(), None)]
    assert max(fold.px * fold.pe for fold in found) * 16 == WIDEST


def test_a_folding_of_too_wide_words_is_refused_with_the_limit() -> None:
    asked = NetworkConstraints(folds={"wide": {"pe": 512}})
    assert not foldings(clamp(), U200, asked, None)
    said = nothing_fits(clamp(), U200, asked)
    assert "pe: 512" in str(said) and "4,096 bits" in said.fix


def test_a_layer_of_its_own_has_no_wider_results() -> None:
    layer = conv(
        (4, 40, 12), 64, result_type="fixed<24,12>", input_type="fixed<8,3>", weight_type="fixed<8,1>"
    )
    assert not folding_faults(layer, rows=2, pe=64, simd=None, fabric_pe=None)
    with pytest.raises(NoFit, match="rows: 4 with pe: 64 makes words of 6,144 bits") as caught:
        map_conv2d(layer, Folding(rows=4, pe=64, simd=1), U200)
    assert "rows x pe of at most 170" in caught.value.fix
    assert bare_mapping(layer, Folding(rows=2, pe=64, simd=1), U200.multiplier).folding.rows == 2
