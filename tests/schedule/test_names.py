"""Names of variables as the source has them."""

from __future__ import annotations

import pytest

from hlsgen.schedule.names import variable_name


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("counts", "counts"),
        ("counts.i.i", "counts"),
        ("counts.static", "counts"),
        ("_ZZ11static_histE6counts.static", "counts"),
        ("static_hist.counts.static", "counts"),
        ("_ZL5table", "table"),
        ("_ZN7weights5firstE", "first"),
        ("_ZZ3topPiE4line_0", "line"),
        ("x2", "x2"),
        ("_ZZ5conv1PA255_A255_fPA1_A9_A9_fPfS1_E7in_tile", "in_tile"),
    ],
)
def test_the_name_is_that_of_the_source(name: str, wanted: str) -> None:
    assert variable_name(name) == wanted
