"""Output channels computed beside those of a word: sums that wait for the rest of theirs, pass after pass."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from hlsgen.base.errors import MismatchError
from hlsgen.emit.shared import processor_files, program_data
from hlsgen.hardware.processor import Processor
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.program.program import program
from tests.program.test_processor_csim import extreme_layer
from tests.program.test_processor_mutants import ARRAY, FINISH, LOAD, VARIABLE, schemata, survives
from tests.support.kernels import conv
from tests.support.shared_graphs import Case, addition, cases, network, pooled, single_layer, tall
from tests.support.shared_processor import (
    PACKED,
    WIDE,
    Building,
    BuiltProcessor,
    assert_outputs_exact,
    assert_program_exact,
    build_processor,
    chain,
    random_inputs,
)

MOST = replace(
    PACKED,
    rows=5,
    weight_depth=60,
    extra_lanes=6,
    carried_words=60,
    fabric_lanes=4,
    pool_columns=9,
)
"""Two, four .. twelve channels wait for others; pools, tables, products in logic cells."""
DOUBLE = replace(WIDE, pool_columns=0, extra_lanes=4, carried_words=40)
"""Each pass fills two words. 16 bits."""
PROCESSORS = {"most": MOST, "double": DOUBLE}
BUILDERS = {"layer": single_layer, "addition": addition, "tall": tall, "pooled": pooled, "network": network}
every_processor = pytest.mark.parametrize("name", PROCESSORS)


@pytest.fixture(scope="module")
def extra(tmp_path_factory: pytest.TempPathFactory) -> Building:
    """A compiled processor by its name; that of `most` has the mutants below."""

    @cache
    def build(name: str) -> BuiltProcessor:
        edit = partial(schemata, MUTANTS) if name == "most" else dict
        return build_processor(PROCESSORS[name], tmp_path_factory.mktemp(name), edit=edit)

    return build


@pytest.fixture(autouse=True)
def _no_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "0")


@every_processor
@pytest.mark.parametrize("builder", BUILDERS)
def test_tasks_equal_golden(extra: Building, name: str, builder: str) -> None:
    for case in cases(BUILDERS[builder], PROCESSORS[name], 15, first_seed=300):
        assert_program_exact(extra(name), case.graph, together=case.together, rounds=case.rounds)
        assert_outputs_exact(extra(name), case.graph, together=case.together, rounds=case.rounds)


def layer_of(channels: int, shape: tuple[int, int, int], seed: int = 0) -> Conv2d:
    made = conv(
        shape,
        channels,
        (1, 3),
        padding=(0, 1, 0, 1),
        input_type="fixed<8,3>",
        weight_type="fixed<8,1>",
        result_type="fixed<8,4,rnd,sat>",
        seed=seed,
    )
    return replace(made, inputs=("input",))


def least_passes(processor: Processor, channels: int) -> int:
    return min(-(-channels // processor.lanes), -(-channels // processor.outputs))


@every_processor
def test_any_count_of_channels_equals_golden(extra: Building, name: str) -> None:
    """Words that a pass fills whole, in part or not at all, and a last pass that fills two or three."""
    processor = PROCESSORS[name]
    filled = set()
    for channels in range(1, 4 * processor.outputs + 2):
        graph = chain(layer_of(channels, (3, 7, 3), channels))
        made, _ = assert_program_exact(extra(name), graph, together=2, seed=channels)
        (tiling,) = made.tilings
        assert tiling.passes == least_passes(processor, channels)
        assert sum(tiling.ended) == tiling.out_groups
        filled |= set(tiling.ended)
    assert filled == ({1, 2, 3} if name == "most" else {1, 2})


@every_processor
def test_sums_of_extremes_are_exact(extra: Building, name: str) -> None:
    processor = PROCESSORS[name]
    bits = processor.activation_bits
    layer = extreme_layer(processor, f"ufixed<{bits},{bits}>")
    codes = np.zeros((3, *layer.in_shape), np.int64)
    codes[1] = (1 << bits) - 1
    codes[2, ::2] = (1 << bits) - 1
    made, _ = assert_program_exact(extra(name), chain(layer), together=3, inputs={"input": codes})
    assert made.tilings[0].wide


@every_processor
def test_nothing_stands_still(extra: Building, name: str) -> None:
    """With FIFOs of the declared depths, whatever the words that two passes fill."""
    processor = PROCESSORS[name]
    for channels in range(processor.outputs, 3 * processor.outputs, 3):
        graph = chain(layer_of(channels, (processor.lanes + 1, 6, 4)))
        assert_program_exact(extra(name), graph, together=2, rounds=2, options=("--bounded",))
    for case in cases(network, processor, 6, first_seed=1000):
        together, rounds = case.together, case.rounds
        assert_program_exact(
            extra(name), case.graph, together=together, rounds=rounds, options=("--bounded",)
        )


def test_too_short_a_fifo_is_a_deadlock(extra: Building) -> None:
    """Before the weights of the last pass the biases of all words that are left stand."""
    processor = PROCESSORS["most"]
    graph = chain(layer_of(40, (9, 6, 4)))
    made = program(graph, processor, 1)
    assert made.tilings[0].ended == (1, 2, 2)
    data = program_data(made, random_inputs(graph, 1, 0), 1)
    beats = 3 * processor.bias_beats  # finish holds those of a word more
    extra("most").run(data, "--bounded", "--depth", f"biases={beats}")
    with pytest.raises(MismatchError, match="load_weights waits to write biases, which is full"):
        extra("most").run(data, "--bounded", "--depth", f"biases={beats - 1}")


def test_bands_are_as_small_as_what_may_wait() -> None:
    """Of rows, and of frames at once; a block of rows that is too wide goes without the extra channels."""
    channels = 3 * MOST.outputs
    for columns, together, bands, frames, wide in (
        (4, 4, 1, 1, True),
        (2, 4, 1, 2, True),
        (12, 1, 2, 1, True),
    ):
        graph = chain(layer_of(channels, (1, 10, columns)))
        (tiling,) = program(graph, MOST, together).tilings
        assert (tiling.bands, tiling.frames, tiling.wide) == (bands, frames, wide)
        assert tiling.positions(0) * MOST.rows <= MOST.carried_words
    (tiling,) = program(chain(layer_of(channels, (1, 10, 13))), MOST, 1).tilings
    assert not tiling.wide and tiling.passes == tiling.out_groups


def test_without_extra_channels_there_is_no_trace_of_them() -> None:
    files = processor_files(replace(MOST, extra_lanes=0, carried_words=0), name="net", source="test")
    text = "".join(files[f"src/{one}.h"] for one in ("array", "finish", "load"))
    for word in ("OUTPUTS", "EXTRA", "CARR", "carried_t", "passes", "finds"):
        assert word not in text
    text = processor_files(MOST, name="net", source="test")["src/processor.h"]
    for line in ("EXTRA_LANES = 6;", "CARRIED = 12;", "CARRY_STEP = 2;", "CARRIED_WORDS = 60;"):
        assert line in text


MUTANTS = [
    (LOAD, "group == task.passes - 1 ? left", "left", "1"),
    (LOAD, "channels >= 2 * LANES ? 2", "2 * LANES", "2 * LANES + 1"),
    (LOAD, "channels += LANES + task.extra", "task.extra", "0"),
    (LOAD, "channels -= filled * LANES", "filled", "1"),
    (LOAD, "left -= filled", "filled", "1"),
    (FINISH, "held == h && from < 0", "from < 0", "from < -1"),
    (FINISH, "held == h && from >= 0", "held == h", "true"),
    (FINISH, "l - h * CARRY_STEP, low", "h * CARRY_STEP", "h * CARRY_STEP + 1"),
    (FINISH, "channels / CARRY_STEP", "channels", "(channels & ~CARRY_STEP)"),
    (FINISH, "channels < LANES && passes", "channels < LANES", "true"),
    (FINISH, "passes != 0;", "passes != 0", "true"),
    (FINISH, "> at = i;", "i", "0"),
    (FINISH, "if (carries) carried[at]", "carries", "false"),
    (FINISH, "if (row.value == 0 && !arrive) waiting[r] = 0", "row.value == 0", "false"),
    (FINISH, "arrive ? int(task.extra) :", "int(task.extra)", "0"),
    (ARRAY, "group == task.passes - 1", "task.passes", "task.out_groups"),
    (ARRAY, "finds && l < LANES", "finds", "false"),
]
"""File, where in it, what is changed there, and what it becomes."""


def case_of(graph: Graph, together: int) -> Case:
    return Case(graph=graph, program=program(graph, MOST, together), together=together, rounds=1, seed=0)


@pytest.fixture(scope="module")
def examples() -> list[Case]:
    """Layers of many channels, in one band and in several, and one of largest values."""
    drawn = [
        case_of(chain(layer_of(channels, shape, channels)), together)
        for channels, shape, together in (
            (80, (9, 7, 3), 1),
            (40, (9, 7, 3), 2),
            (17, (3, 12, 5), 1),
            (29, (9, 5, 3), 1),
            (MOST.lanes, (2, 5, 3), 1),
        )
    ]
    return [*drawn, *cases(single_layer, MOST, 20, first_seed=5000)]


@pytest.mark.parametrize(
    "number", range(len(MUTANTS) + 1), ids=lambda n: MUTANTS[n - 1][1][:40] if n else "none"
)
def test_a_mutant_is_caught(
    number: int, extra: Building, examples: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(number))
    monkeypatch.setattr("hlsgen.csim.testbench.RUN_SECONDS", 10)
    assert survives(extra("most"), examples) == (number == 0)
