"""What binary points by channel are worth: the arithmetic of the benchmark that docs/quantise.md quotes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.channel_points import Row, decibels, judged, of_one_type, with_points, with_scales


def test_points_are_of_each_channel() -> None:
    """A channel a hundred times smaller keeps its own bits; what both hold is a type of more."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((2, 3, 3, 3)) * np.array([1.0, 0.01])[:, None, None, None]
    type_, made = with_points(values, 5)
    np.testing.assert_array_equal(type_.decode(type_.encode(made)), made)
    assert 5 < type_.width <= 16
    _, single = of_one_type(values, 5)
    assert decibels(values[1], made[1]) > decibels(values[1], single[1]) + 12
    assert len(np.unique(made[1])) > 8 and len(np.unique(single[1])) <= 2
    assert decibels(values, with_scales(values, 5)) > decibels(values, made)


def test_the_common_type_has_an_end() -> None:
    values = np.stack([np.full((1, 1, 1), one) for one in (1.0, 2.0**-30, 0.0)])
    type_, made = with_points(values, 4)
    assert type_.width == 16
    assert made[0] == 1.0 and not made[2].any()


def row(kind: str, price: float, worth: float) -> Row:
    return Row(
        network="n",
        interval=1,
        layer="conv1",
        kind=kind,
        bits=4,
        multipliers="fabric",
        decibels=worth,
        price=price,
    )


def test_rows_stand_beside_single_types_of_their_price() -> None:
    rows = [row("type", 1.0, 10.0), row("type", 2.0, 20.0), row("type", 3.0, 99.0)]
    found = judged([*rows, row("points", 1.5, 16.0), row("points", 2.5, 25.0), row("points", 3.5, 30.0)])
    assert [(one.better, one.along) for one in found[3:]] == [
        pytest.approx((6.0, 1.0)),
        pytest.approx((5.0, 5.0)),
        pytest.approx((-69.0, -69.0)),
    ]
