"""Processors whose channels have factors of their own, and which multiply tensors: through C-simulation."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import chain

import numpy as np
import pytest

from hlsgen.base.errors import DesignError, MismatchError, ToolError
from hlsgen.base.type_text import parse_type
from hlsgen.csim import testbench
from hlsgen.layers.base import Tensor
from hlsgen.layers.binary import Mul
from hlsgen.model.ir import Graph, Port
from hlsgen.program.lowering import lowered
from tests.program.test_processor_mutants import FINISH, LOAD, VARIABLE, Mutant, schemata
from tests.support.scaled_graphs import pixels_of_channels, quantised
from tests.support.shared_graphs import Case, Drawing, cases
from tests.support.shared_processor import (
    PACKED,
    SINGLE_ROW,
    Building,
    BuiltProcessor,
    assert_outputs_exact,
    assert_program_exact,
    build_processor,
)


def test_quantised_layers_equal_golden(built: Building) -> None:
    found: Counter[str] = Counter()
    for case in cases(quantised, SINGLE_ROW, 50):
        assert_program_exact(built("single_row"), case.graph, together=case.together, rounds=case.rounds)
        for tiling in case.program.tilings:
            task, stages = tiling.task, tiling.task.stages
            facts = {
                "factors of channels": bool(stages[0].factors),
                "offsets of channels": bool(stages[0].offsets),
                "slopes of channels": stages[0].slopes != stages[0].factors,
                "multiplied": stages[-1].multiplies,
                "subtracted": stages[-1].joining < 0,
                "second offset": len(stages) > 1 and stages[1].offset != 0,
                "a pixel": task.adds_a_pixel,
                "added early": stages[0].joining != 0,
                "shifted": stages[-1].joining_up > 0,
                "fewer bits": stages[0].bits < 24,
                "more bits": stages[0].bits > 24,
            }
            found.update(name for name, holds in facts.items() if holds)
    assert len(found) == 11 and min(found.values()) >= 3, found


def test_all_processes_at_once_give_the_same(built: Building) -> None:
    for case in cases(quantised, SINGLE_ROW, 8, first_seed=3000):
        assert_program_exact(built("single_row"), case.graph, together=case.together, options=("--bounded",))
        assert_outputs_exact(built("single_row"), case.graph, together=case.together, rounds=case.rounds)


MUTANTS: list[Mutant] = [
    (FINISH, "numbers[EACH + beat].range", "EACH + beat", "beat"),
    (FINISH, "numbers[2 * EACH + beat]", "2 * EACH", "EACH"),
    (FINISH, "numbers[3 * EACH + beat]", "3 * EACH", "4 * EACH"),
    (FINISH, "numbers[4 * EACH + beat]", "4 * EACH", "3 * EACH"),
    (FINISH, "ap_uint<FRACTION>(task.tie) << task.up", "task.up", "0"),
    (FINISH, "late(!task.early", "!task.early", "true"),
    (FINISH, "&& !task.multiplies", "!task.multiplies", "true"),
    (FINISH, "second_offset(task.second_offset_high)", "task.second_offset_high", "0"),
    (FINISH, "ap_uint<32>(task.second_offset)", "task.second_offset", "0"),
    (FINISH, "residual_signed && added", "residual_signed", "true"),
    (FINISH, "joining_t(product) << residual_up", "residual_up", "ap_uint<6>(0)"),
    (FINISH, "sum + own.bias", "own.bias", "ap_int<BIAS>(0)"),
    (FINISH, "biased[SUM - 1] ? own.slope", "biased[SUM - 1]", "false"),
    (FINISH, "biased * by + own.offset", "own.offset", "ap_int<OFFSET>(0)"),
    (FINISH, "if (early) scaled", "early", "false"),
    (FINISH, "placed_t(scaled) << up", "up", "second_up"),
    (FINISH, "placed_t(both) << second_up", "second_up", "up"),
    (FINISH, "if (multiplies) again_by", "multiplies", "false"),
    (FINISH, "again_by + second_offset", "second_offset", "ap_int<OFFSET>(0)"),
    (FINISH, "if (late) both", "late", "false"),
    (LOAD, "first[r] = again == 0", "again == 0", "true"),
    (LOAD, "rows.first[row.value] && again == 0", "rows.first[row.value]", "true"),
    (LOAD, "rows.first[row.value] && again == 0", "again == 0", "true"),
    (LOAD, "!task.repeat_zeros ||", "!task.repeat_zeros", "true"),
    (LOAD, "SCALES && task.residual == 2", "task.residual == 2", "false"),
]


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> BuiltProcessor:
    return build_processor(SINGLE_ROW, tmp_path_factory.mktemp("scales"), edit=partial(schemata, MUTANTS))


@pytest.fixture(scope="module")
def examples() -> list[Case]:
    drawn = ((quantised, 60), (pooling, 15), (shuffling, 5))
    return list(chain(*(cases(build, SINGLE_ROW, count, first_seed=7000) for build, count in drawn)))


def pooling(drawing: Drawing) -> Graph:
    """An average, perhaps."""
    return drawing.graph([drawing.pool(drawing.port(drawing.image()))])


def shuffling(drawing: Drawing) -> Graph:
    """Pixels made of channels."""
    shape = (12, drawing.whole(2, 9), drawing.whole(2, 5))
    source = drawing.port(shape)
    return drawing.graph([drawing.add(pixels_of_channels(source, drawing.tensors[source], (2, 3)))])


def survives(built: BuiltProcessor, examples: list[Case]) -> bool:
    for case in examples:
        try:
            assert_program_exact(built, case.graph, together=case.together)
        except (AssertionError, MismatchError, ToolError):
            return False
    return True


@pytest.mark.parametrize("number", range(len(MUTANTS) + 1))
def test_a_mutant_is_caught(
    number: int, mutants: BuiltProcessor, examples: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but number 0, which is none."""
    monkeypatch.setenv(VARIABLE, str(number))
    monkeypatch.setattr(testbench, "RUN_SECONDS", 10)
    assert survives(mutants, examples) == (number == 0)


def gate(shape: tuple[int, int, int]) -> Graph:
    """An image times one pixel of its channels."""
    ports = (
        Port.of("x", Tensor(shape=shape, type=parse_type("fixed<8,4>"))),
        Port.of("g", Tensor(shape=(shape[0], 1, 1), type=parse_type("ufixed<8,0>"))),
    )
    layer = Mul(
        name="mul",
        inputs=("x", "g"),
        left=ports[0].tensor,
        right=ports[1].tensor,
        result_type=parse_type("fixed<8,4,rnd_conv,sat>"),
    )
    return Graph(name="gate", inputs=ports, layers=(layer,), outputs=(Port.of("y", layer.output, "mul"),))


@pytest.mark.parametrize("shape", [(3, 5, 4), (17, 9, 11), (40, 150, 3)])
def test_gates_equal_golden(built: Building, shape: tuple[int, int, int]) -> None:
    """Squeeze-and-excite: every pixel times its channel's gate, in one band or several."""
    made, found = assert_program_exact(built("single_row"), gate(shape), together=2, rounds=2)
    assert made.tasks[0].adds_a_pixel
    assert np.any(found["mul"])


def test_processors_without_scales_refuse_products() -> None:
    with pytest.raises(DesignError, match="mul: it is of kind mul, and the processor adds tensors only"):
        lowered(gate((3, 5, 4)), PACKED)
