"""C-simulation of shared processors in floating point equals golden, bit for bit: additions have an order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from hlsgen.csim import testbench
from hlsgen.csim.compiler import Headers, reference_headers
from hlsgen.layers.adaptive_pool import AdaptivePool
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.pool2d import Pool2d
from tests.program.test_processor_mutants import ARRAY, FINISH, VARIABLE, Mutant, schemata, survives
from tests.support.float_graphs import FLOAT, FloatDrawing
from tests.support.shared_graphs import Case, addition, cases, network, pooled, single_layer, tall
from tests.support.shared_processor import (
    FLOATING,
    FLOATS,
    Building,
    BuiltProcessor,
    assert_outputs_exact,
    assert_program_exact,
    build_processor,
)

every_processor = pytest.mark.parametrize("name", FLOATS)
BUILDERS = {"layer": single_layer, "addition": addition, "tall": tall, "pooled": pooled}
float_cases = partial(cases, drawn=FloatDrawing)


@every_processor
@pytest.mark.parametrize("builder", BUILDERS)
def test_tasks_equal_golden(built: Building, name: str, builder: str) -> None:
    for case in float_cases(BUILDERS[builder], FLOATS[name], 30):
        assert_program_exact(built(name), case.graph, together=case.together, rounds=case.rounds)


@every_processor
def test_networks_equal_golden(built: Building, name: str) -> None:
    for case in float_cases(network, FLOATS[name], 20):
        assert_program_exact(built(name), case.graph, together=case.together, rounds=case.rounds)
        assert_outputs_exact(built(name), case.graph, together=case.together, rounds=case.rounds)


def test_what_is_drawn_covers_what_takes_turns() -> None:
    """Groups of every kind, parts of weights for one position and for several, occur above, several times."""
    found: Counter[str] = Counter()
    for processor in FLOATS.values():
        for builder in (*BUILDERS.values(), network):
            for case in float_cases(builder, processor, 20 if builder is network else 30):
                found.update(features(case))
    assert set(found) == {
        *("fewer than take turns", "a longer last group", "whole groups", "several groups and a rest"),
        *("parts for a position", "parts for several", "unfolded", "slope", "average", "added", "pooled"),
    }
    assert min(found.values()) >= 3, found


def features(case: Case) -> list[str]:
    found = []
    for tiling in case.program.tilings:
        task, least = tiling.task, tiling.processor.interleave
        positions = tiling.positions(0)
        parts = len(tiling.chunks) > 1
        facts = {
            "fewer than take turns": positions < least,
            "a longer last group": least < positions < 2 * least,
            "whole groups": positions >= 2 * least and positions % least == 0,
            "several groups and a rest": positions > 2 * least and positions % least > 0,
            "parts for a position": parts and positions == 1,
            "parts for several": parts and positions > 1,
            "unfolded": task.source.unfolded is not None,
            "slope": task.stages[0].slope != task.stages[0].factor,
            "average": task.stages[0].slope == task.stages[0].factor != 0x3F800000,
            "added": task.added is not None,
            "pooled": task.pooled,
        }
        found += [name for name, holds in facts.items() if holds]
    return found


@every_processor
@pytest.mark.parametrize("columns", [1, 11, 12, 13, 23, 24, 25, 47])
def test_any_number_of_positions_takes_turns(built: Building, name: str, columns: int) -> None:
    """Fewer than a group, whole groups, and rests that lengthen the last one: nothing is read too soon."""
    drawing = FloatDrawing(FLOATS[name], np.random.default_rng(columns))
    drawing.port((3, 2, columns))
    layer = Conv2d(
        name="conv",
        inputs=("in0",),
        in_shape=(3, 2, columns),
        out_channels=FLOATS[name].lanes + 1,
        kernel=(1, 3),
        padding=(0, 1, 0, 1),
        **drawing.numbers("in0", FLOAT),
    )
    drawing.add(drawing.weighted(layer, (layer.out_channels, 3, 1, 3), None))
    assert_program_exact(built(name), drawing.graph(["conv"]))


@every_processor
def test_all_processes_at_once_give_the_same(built: Building, name: str) -> None:
    """With FIFOs of the declared depths nothing stands still."""
    for builder in (network, single_layer):
        for case in float_cases(builder, FLOATS[name], 8, first_seed=1000):
            assert_program_exact(
                built(name), case.graph, together=case.together, rounds=case.rounds, options=("--bounded",)
            )


@pytest.mark.skipif(reference_headers() is None, reason="needs hls4ml: pip install hls4ml")
def test_the_reference_headers_give_the_same(built: Building) -> None:
    for builder in (network, addition, single_layer):
        for case in float_cases(builder, FLOATING, 4, first_seed=2000):
            assert_program_exact(
                built("floating", Headers.REFERENCE),
                case.graph,
                together=case.together,
                rounds=case.rounds,
            )


@every_processor
def test_largest_values_of_extremes_are_exact(built: Building, name: str) -> None:
    """The largest of numbers that are all below zero, of infinities, and of zeros of both signs."""
    drawing = FloatDrawing(FLOATS[name], np.random.default_rng(3))
    tensor = drawing.tensors[drawing.port((FLOATS[name].lanes + 1, 9, 6))]
    layer = Pool2d(
        name="pool",
        inputs=("in0",),
        source=tensor,
        function="max",
        kernel=(3, 3),
        padding=(1, 1, 1, 1),
        result_type=FLOAT,
    )
    drawing.add(layer)
    codes = np.full((4, *tensor.shape), -3.0e38, np.float32)
    codes[1] = -0.0
    codes[1, :, 4, 3] = 0.0
    codes[2, ::2] = np.float32(1e-45)
    codes[3, :, ::2] = 3.0e38
    graph = drawing.graph(["pool"])
    assert_program_exact(built(name), graph, together=4, inputs={"in0": codes})


def test_sums_round_in_the_order_that_is_defined(built: Building) -> None:
    """One large number, its opposite and small ones: any other order gives another sum."""
    weights = np.ones((4, 8, 1, 3), np.float32)
    drawing = FloatDrawing(FLOATING, np.random.default_rng(3))
    drawing.port((8, 1, 3))
    zeros = drawing.numbers("in0", FLOAT)
    layer = Conv2d(name="conv", inputs=("in0",), in_shape=(8, 1, 3), out_channels=4, kernel=(1, 3), **zeros)
    drawing.add(replace(layer, weights=weights, bias=np.zeros(4, np.float32)))
    codes = np.full((1, 8, 1, 3), 1.5, np.float32)
    codes[0, 1, 0, 0], codes[0, 6, 0, 2] = 2.0**26, -(2.0**26)
    _, found = assert_program_exact(built("floating"), drawing.graph(["conv"]), inputs={"in0": codes})
    # words of four lanes as trees: (1.5 + 2**26) + 3, then five words of 6 (4 of them in steps of 8), then
    # 3 + (1.5 - 2**26)
    total = np.float32(0)
    for column, word in ((at, half) for at in range(3) for half in range(2)):
        lanes = codes[0, 4 * word : 4 * word + 4, 0, column]
        total = total + ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]))
    assert found["conv"].reshape(-1)[0] == total != np.float32(22 * 1.5)


@every_processor
def test_averages_of_unlike_windows_equal_golden(built: Building, name: str) -> None:
    """Windows at the border count fewer pixels, those of an adaptive pool differ in size."""
    drawing = FloatDrawing(FLOATS[name], np.random.default_rng(4))
    tensor = drawing.tensors[drawing.port((5, 7, 6))]
    common = {"inputs": ("in0",), "source": tensor, "result_type": FLOAT}
    drawing.add(Pool2d(name="border", function="average", kernel=(3, 3), padding=(1, 1, 1, 1), **common))
    drawing.add(AdaptivePool(name="adaptive", function="average", size=(3, 4), **common))
    drawing.add(AdaptivePool(name="largest", function="max", size=(4, 4), **common))
    graph = drawing.graph(["border", "adaptive", "largest"])
    assert_program_exact(built(name), graph, together=2, rounds=2)


MUTANTS: list[Mutant] = [
    (ARRAY, "return turn < count;", "turn < count", "true"),
    (ARRAY, "const bool ends = left <= MOST_INTERLEAVED;", "left <= MOST_INTERLEAVED", "left <= INTERLEAVE"),
    (ARRAY, "left > INTERLEAVE ? turn_t(rest - 1)", "rest - 1", "rest - 2"),
    (ARRAY, "left -= INTERLEAVE;", "INTERLEAVE", "INTERLEAVE - 1"),
    (ARRAY, "turns_end && !again ? group_begin : next", "turns_end && !again", "again"),
    (ARRAY, "if (turns_end) first = again;", "again", "false"),
    (ARRAY, "walk.is_last_tap() && walk.is_position()", "walk.is_position()", "true"),
    (ARRAY, "tap_column.last && tap_row.last", "tap_row.last", "true"),
    (ARRAY, "else if (turns_end) word += 1", "turns_end", "true"),
    (ARRAY, "else if (turns_end) plane += window.plane", "window.plane", "address_t(0)"),
    (ARRAY, "first ? 0.0f : as_float", "first", "false"),
    (ARRAY, "first ? number_t(MINUS_INFINITY)", "MINUS_INFINITY", "0u"),
    (ARRAY, "wanted[r].enable && is_less(most_yet", "wanted[r].enable", "true"),
    (ARRAY, "sum[r][turn] = out", "turn", "turn_t(0)"),
    (FINISH, "negative ? slope : factor", "negative", "false"),
    (FINISH, "is_less(high, value)", "is_less(high, value)", "is_less(value, high)"),
    (FINISH, "adds ? limited(as_bits(both)", "adds", "false"),
    (FINISH, "limited(as_bits(both), second_low, second_high)", "second_low", "low"),
    (FINISH, "magnitude == 0 ?", "magnitude == 0", "false"),
    ("src/floats.h", "negative ? number_t(~bits)", "negative", "false"),
]


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> BuiltProcessor:
    folder = tmp_path_factory.mktemp("float_mutants")
    return build_processor(FLOATING, folder, edit=partial(schemata, MUTANTS))


@pytest.fixture(scope="module")
def examples() -> list[Case]:
    builders = (single_layer, addition, tall)
    return [case for builder in builders for case in float_cases(builder, FLOATING, 25, first_seed=3000)]


def test_without_a_mutant_all_is_equal(
    mutants: BuiltProcessor, examples: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "0")
    assert survives(mutants, examples)


@pytest.mark.parametrize("number", range(1, len(MUTANTS) + 1), ids=lambda n: f"{n}-{MUTANTS[n - 1][1][:40]}")
def test_a_mutant_is_caught(
    number: int, mutants: BuiltProcessor, examples: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(number))
    monkeypatch.setattr(testbench, "RUN_SECONDS", 10)
    assert not survives(mutants, examples)
