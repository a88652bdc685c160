"""Layers in each of their legal foldings: what a search may choose, the schedule takes with II 1.

In the suite a gate, whose second input has one value a channel; nightly each kind of layer that tests draw.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from hlsgen.base.type_text import parse_type
from hlsgen.hardware.weights import auto_places
from hlsgen.layers.binary import Mul
from tests.schedule.test_foldings import STAGES, assert_scheduled, emit_stages
from tests.support.layers.exact import tensor
from tests.support.layers.stage_cases import Case, every_fold
from tests.support.pipelines import side_by_side
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
AT_ONCE = 16
"""Stages of a kernel: one compilation for all of them."""
MOST = 64
"""Elements that a folding handles at once: larger ones repeat what smaller ones show."""


def assert_all_have_ii_1(cases: list[Case], folder: Path) -> None:
    small = [(layer, fold) for layer, fold in cases if fold.px * fold.pe * fold.simd <= MOST]
    for begin in range(0, len(small), AT_ONCE):
        batch = small[begin : begin + AT_ONCE]
        graph = side_by_side([layer for layer, _ in batch])
        folds = {layer.name: fold for layer, (_, fold) in zip(graph.layers, batch, strict=True)}
        source = emit_stages(graph, folds, auto_places(graph), folder / str(begin))
        assert_scheduled(source, "cases")


def test_a_gate_in_every_folding(tmp_path: Path) -> None:
    """Of three elements and more a word, and three words and more, one was refused."""
    gate = Mul(
        name="op",
        inputs=("left", "right"),
        left=tensor((9, 2, 1), "fixed<8,3>"),
        right=tensor((9, 1, 1), "ufixed<8,1>"),
        result_type=parse_type("fixed<8,3,rnd,sat>"),
    )
    assert_all_have_ii_1(every_fold(gate), tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", range(len(STAGES)))
def test_each_kind_in_every_folding(kind: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    @settings(
        max_examples=5,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=STAGES[kind])
    def every(case: Case) -> None:
        assert_all_have_ii_1(every_fold(case[0]), tmp_path_factory.mktemp("folds"))

    every()
