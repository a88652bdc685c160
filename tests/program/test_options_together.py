"""Processors with several options at once, as the search makes them: scales beside all that they allow."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from tests.support.scaled_graphs import quantised
from tests.support.shared_graphs import addition, cases, network, pooled, single_layer
from tests.support.shared_processor import (
    PACKED,
    WIDE,
    Building,
    BuiltProcessor,
    assert_outputs_exact,
    assert_program_exact,
    build_processor,
)

PROCESSORS = {
    "narrow": replace(
        PACKED,
        rows=5,
        scales=True,
        extra_lanes=6,
        carried_words=60,
        weight_depth=60,
        fabric_lanes=4,
        pool_columns=9,
    ),
    "wide": replace(WIDE, scales=True, extra_lanes=4, carried_words=40),
}
"""Factors of each channel beside tables, pools, extra channels and products in logic cells; 8 and 16 bits."""
BUILDERS = (quantised, network, pooled, single_layer, addition)


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Building:
    """A compiled processor by its name."""

    @cache
    def build(name: str) -> BuiltProcessor:
        return build_processor(PROCESSORS[name], tmp_path_factory.mktemp(name))

    return build


@pytest.mark.parametrize("name", PROCESSORS)
def test_tasks_equal_golden(together: Building, name: str) -> None:
    """All processes one after the other, outputs of several rounds, and all processes at once."""
    wide = scaled = looked_up = on_the_way = 0
    for builder in BUILDERS:
        for case in cases(builder, PROCESSORS[name], 12, first_seed=700):
            made, _ = assert_program_exact(
                together(name), case.graph, together=case.together, rounds=case.rounds
            )
            assert_outputs_exact(together(name), case.graph, together=case.together, rounds=case.rounds)
            wide += sum(tiling.wide for tiling in made.tilings)
            scaled += sum(bool(task.stages[0].factors) for task in made.tasks)
            looked_up += sum(task.table is not None for task in made.tasks)
            on_the_way += sum(task.pooled for task in made.tasks)
        for case in cases(builder, PROCESSORS[name], 3, first_seed=900):
            assert_program_exact(together(name), case.graph, together=case.together, options=("--bounded",))
    assert min(wide, scaled, on_the_way) >= 3, (wide, scaled, on_the_way)
    assert looked_up >= (0 if name == "wide" else 3)  # of results that have 8 bits or fewer
