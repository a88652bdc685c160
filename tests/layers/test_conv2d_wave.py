"""The front wave as a stage: any folding of random convolutions against golden and its schedule."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hlsgen.hardware.wave_stage import spread_folds, wave_folds
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import Fold
from tests.support.layers.random_convolutions import convolutions
from tests.support.pipelines import assert_layers_exact

CASES = 12


@st.composite
def folded(draw: st.DrawFn) -> tuple[Conv2d, Fold]:
    layer = draw(convolutions().filter(lambda layer: layer.groups == 1))
    fold = draw(st.sampled_from(list(wave_folds(layer))))
    return layer, draw(st.sampled_from([fold, *spread_folds(layer, fold)]))


# no shrinking: each example is a compilation
@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(cases=st.lists(folded(), min_size=CASES, max_size=CASES))
def test_any_folding_is_exact(tmp_path_factory: object, cases: list[tuple[Conv2d, Fold]]) -> None:
    folder: Path = tmp_path_factory.mktemp("wave")  # type: ignore[attr-defined]
    assert_layers_exact(cases, folder)
