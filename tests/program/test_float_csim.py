"""C-simulation of shared processors in floating point equals golden, bit for bit: additions have an order."""

from __future__ import annotations

import pytest

from tests.support.float_graphs import FloatDrawing
from tests.support.shared_graphs import addition, cases, network, pooled, single_layer, tall
from tests.support.shared_processor import FLOATS, Building, assert_outputs_exact, assert_program_exact

every_processor = pytest.mark.parametrize("name", FLOATS)
BUILDERS = {"layer": single_layer, "addition": addition, "tall": tall, "pooled": pooled}


@every_processor
@pytest.mark.parametrize("builder", BUILDERS)
def test_tasks_equal_golden(built: Building, name: str, builder: str) -> None:
    for case in cases(BUILDERS[builder], FLOATS[name], 30, drawn=FloatDrawing):
        assert_program_exact(built(name), case.graph, together=case.together, rounds=case.rounds)


@every_processor
def test_networks_equal_golden(built: Building, name: str) -> None:
    for case in cases(network, FLOATS[name], 20, drawn=FloatDrawing):
        assert_program_exact(built(name), case.graph, together=case.together, rounds=case.rounds)
        assert_outputs_exact(built(name), case.graph, together=case.together, rounds=case.rounds)
