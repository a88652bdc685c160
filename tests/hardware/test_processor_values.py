"""What no processor is, refused with the reason whether assertions are on or not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.shared_processor import PACKED


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"rows": 4}, "4 rows, an even number"),
        ({"lanes": 3}, "no pairs"),
        ({"lanes": 0}, "no pairs"),
        ({"fabric_lanes": 1}, "no pairs"),
        ({"fabric_lanes": 10}, "lanes in logic cells"),
        ({"extra_lanes": 10, "carried_words": 8}, "more extra lanes"),
        ({"extra_lanes": 2}, "without words that wait"),
        ({"carried_words": 2}, "without words that wait"),
        ({"weight_beat_bits": 0}, "no beats of 0 bits"),
        ({"weight_beat_bits": 96}, "no beats of 96 bits"),
        (
            {"weight_beat_bits": 4096, "lanes": 128, "weight_bits": 64},
            "tables that are no beats of 4096 bits",
        ),
        ({"rows": 1, "pool_columns": 4}, "pools on the way to DDR"),
        ({"floating": True}, "floating point of other than 32 bits"),
        ({"floating": True, "activation_bits": 32, "weight_bits": 32}, "what only integers have"),
        ({"window_columns": 4}, "columns of no windows"),
        ({"window_largest": True}, "windows over results of no columns"),
        ({"window_columns": 4, "window_largest": True}, "without a result"),
        (
            {"window_columns": 4, "window_results": 4, "window_largest": True, "scales": True},
            "windows over results with pools, scales",
        ),
    ],
)
def test_what_no_processor_is(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        replace(PACKED, **values)
