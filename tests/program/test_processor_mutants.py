"""Small faults in a shared processor's templates must not pass: results, counts or memories' ports show them.

All of them are compiled into one binary, each chosen by its number when that runs (mutant schemata: Untch,
Offutt and Harrold, Mutation analysis using mutant schemata, 1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain

import pytest

from hlsgen.base.errors import MismatchError, ToolError
from hlsgen.csim import testbench
from hlsgen.program.program import program
from tests.program.test_windows_behind import extreme as extreme_window
from tests.support.shared_graphs import Case, addition, cases, network, pooled, single_layer, tall, windowed
from tests.support.shared_processor import (
    PACKED,
    WIDE,
    WINDOWED,
    BuiltProcessor,
    assert_program_exact,
    build_processor,
)

Mutant = tuple[str, str, str, str]
VARIABLE = "HLSGEN_TEST_MUTANT"
ARRAY, LOAD, FINISH = "src/array.h", "src/load.h", "src/finish.h"
CHOICE = f"""#include <cstdlib>

namespace processor {{

inline int mutant() {{
    static const int number = std::atoi(std::getenv("{VARIABLE}"));
    return number;
}}

}}  // namespace processor

namespace processor {{
"""
MUTANTS = [
    (ARRAY, "x >= 0 && x < place_t", "x >= 0", "x > 0"),
    (
        ARRAY,
        "x >= 0 && x < place_t(window.columns)",
        "x < place_t(window.columns)",
        "x <= place_t(window.columns)",
    ),
    (ARRAY, "row >= 0 && row <", "row >= 0", "row > 0"),
    (ARRAY, "row < place_t(window.rows)", "row < place_t(window.rows)", "row <= place_t(window.rows)"),
    (
        ARRAY,
        "const bool carries = turned >= ROWS;\n            const place_t",
        "turned >= ROWS",
        "turned > ROWS",
    ),
    (ARRAY, "common + window.skip[r] + carried", "window.skip[r]", "address_t(0)"),
    (ARRAY, "half ? address_t(place + BAND_DEPTH)", "half", "ap_uint<1>(!half)"),
    (ARRAY, "const bool taps_end = groups_end &&", "groups_end", "true"),
    (ARRAY, "column_x += window.stride", "window.stride", "window.dilation_columns"),
    (ARRAY, "x += window.dilation_columns", "window.dilation_columns", "window.stride"),
    (ARRAY, "block_y -= below", "below", "place_t(0)"),
    (ARRAY, "block_y += window.block_rows", "window.block_rows", "place_t(ROWS)"),
    (ARRAY, "block_line += window.block_step", "window.block_step", "window.plane"),
    (ARRAY, "y += window.dilation_rows", "window.dilation_rows", "ap_uint<4>(1)"),
    (ARRAY, "line += window.tap_step +", "window.tap_step", "address_t(0)"),
    (ARRAY, "phase = window.first_phase", "window.first_phase", "bank_t(0)"),
    (ARRAY, "frame_plane += window.frame", "window.frame", "window.plane"),
    (ARRAY, "else plane += window.plane", "window.plane", "address_t(0)"),
    (ARRAY, "blocks.outside * task.in_columns", "blocks.outside", "0"),
    (ARRAY, "columns.left == 1", "1", "2"),
    (ARRAY, "beats.start(words * FILTER_BEATS)", "words", "(words + 1)"),
    (ARRAY, "address = half * FILTER_DEPTH", "half", "0"),
    (ARRAY, "top + task.band_rows", "task.band_rows", "task.band_step"),
    (ARRAY, "first_plane + task.pass_step", "task.pass_step", "0"),
    (ARRAY, "first_block + task.band_step", "task.band_step", "task.band_out"),
    (ARRAY, "run * task.arriving", "task.arriving", "(task.in_groups * ROWS)"),
    (ARRAY, "task.chunks == 1 ? task.pass_words * positions : words", "task.chunks == 1", "true"),
    (ARRAY, "filter_half ? 0 : FILTER_DEPTH;  //", "filter_half", "ap_uint<1>(!filter_half)"),
    (ARRAY, "again = largest || ends", "ends", "false"),
    (ARRAY, "if (sign) value", "sign", "true"),
    (ARRAY, "wanted[r].enable ? value", "wanted[r].enable", "true"),
    (ARRAY, "found < pixel[l]", "found < pixel[l]", "found > pixel[l]"),
    (ARRAY, "const bool larger = wanted[r].enable &&", "wanted[r].enable", "true"),
    (ARRAY, "ap_int<SUM>(-(1 << ACTIVATION))", "-(1 << ACTIVATION)", "0"),
    (ARRAY, "= first ? start : sum[r][l]", "first", "false"),
    (ARRAY, "chunk == task.chunks - 2", "2", "1"),
    (ARRAY, "if (tile_ends) band_half = !band_half", "tile_ends", "computes"),
    (ARRAY, "tile_ends && tile + 1 < tiles", "tile + 1", "tile + 2"),
    (ARRAY, "step + 2 < steps", "step + 2", "step + 3"),
    (LOAD, "first = most(from, 0)", "0", "1"),
    (LOAD, "outside = first - from", "first - from", "0"),
    (LOAD, "least(each, left)", "left", "size_t(-1)"),
    (LOAD, "left -= each", "each", "size_t(0)"),
    (LOAD, "again == repeat - 1", "repeat - 1", "repeat"),
    (LOAD, "row_ends && in_block == ROWS - 1", "ROWS - 1", "ROWS"),
    (LOAD, "if (block_ends) block += line", "line", "ROWS"),
    (LOAD, "block < blocks.first; ++block) rows.next", "blocks.first", "0"),
    (LOAD, "again == task.repeat_columns - 1", "task.repeat_columns", "task.repeat_rows"),
    (LOAD, "round * task.in_round", "round", "0"),
    (LOAD, "plane += task.in_plane", "task.in_plane", "0"),
    (LOAD, "next += task.in_frame", "task.in_frame", "0"),
    (LOAD, "first_block += task.band_step", "task.band_step", "task.band_out"),
    (LOAD, "repeats ? 0 : blocks.first", "blocks.first", "0"),
    (LOAD, "chunk == 0 ? BIAS_BEATS", "chunk == 0", "true"),
    (LOAD, "int from = task.weight_base", "task.weight_base", "0"),
    (LOAD, "round * task.residual_round", "round", "0"),
    (LOAD, "begin += task.residual_frame", "task.residual_frame", "0"),
    (LOAD, "next += task.residual_frame", "task.residual_frame", "0"),
    (LOAD, "plane += task.residual_plane", "task.residual_plane", "0"),
    (LOAD, "band_begin += task.residual_step", "task.residual_step", "0"),
    (LOAD, "round * task.out_round", "round", "0"),
    (LOAD, "begin += task.out_frame", "task.out_frame", "0"),
    (LOAD, "next += task.out_frame", "task.out_frame", "0"),
    (LOAD, "plane += task.out_plane", "task.out_plane", "0"),
    (LOAD, "band_begin += task.out_step", "task.out_step", "0"),
    (FINISH, "nearest = bits & NEAREST", "NEAREST", "0"),
    (FINISH, "half_up_above = bits & HALF_UP_ABOVE", "HALF_UP_ABOVE", "HALF_UP_BELOW"),
    (FINISH, "half_up_below = bits & HALF_UP_BELOW", "HALF_UP_BELOW", "HALF_UP_ABOVE"),
    (FINISH, "half_up_odd = bits & HALF_UP_ODD", "HALF_UP_ODD", "0"),
    (FINISH, "to_zero = bits & TO_ZERO", "TO_ZERO", "0"),
    (FINISH, "below > tie", "tie", "ap_uint<FRACTION>(0)"),
    (FINISH, "way.half_up_odd && whole[0]", "whole[0]", "!whole[0]"),
    (FINISH, "half && (more || half_up", "more", "false"),
    (FINISH, "way.to_zero && negative && (half", "negative", "true"),
    (FINISH, "&& (half || more)", "half", "false"),
    (FINISH, "if (value < low) return", "value < low", "false"),
    (FINISH, "if (value > high) return", "value > high", "false"),
    (FINISH, "residual_signed && added", "residual_signed", "true"),
    (FINISH, "sum + bias", "sum + bias", "sum - bias"),
    (FINISH, "biased[SUM - 1] ? slope", "biased[SUM - 1]", "false"),
    (FINISH, "biased * by + offset", "offset", "ap_int<32>(0)"),
    (FINISH, "if (early) scaled", "early", "false"),
    (FINISH, "first[RESULT - 1] ? second_slope", "first[RESULT - 1]", "false"),
    (FINISH, "if (!early) both", "!early", "true"),
    (FINISH, "second_way, ap_uint<FRACTION>(0)), second_low", "second_low", "low"),
    (FINISH, "return again ? then : first", "again", "false"),
    (FINISH, "if (adds) other", "adds", "false"),
]
"""File, where in it, what is changed there, and what it becomes."""
POOL = "src/pool.h"
POOL_MUTANTS = [
    (POOL, "ap_uint<ACTIVATION>(sign) <<", "sign", "true"),
    (
        POOL,
        "(one ^ turned) < (other ^ turned)",
        "(one ^ turned) < (other ^ turned)",
        "(one ^ turned) > (other ^ turned)",
    ),
    (POOL, "column += ROWS", "ROWS", "ROWS - 1"),
    (POOL, "columns_left -= 1", "1", "0"),
    (POOL, "at.row.value[0] ^ second", "second", "false"),
    (POOL, "odd_row && !top", "!top", "true"),
    (POOL, "(odd_row || bottom)", "bottom", "false"),
    (POOL, "at.columns_left != 0", "at.columns_left != 0", "true"),
    (POOL, "!at.odd_column && !(second", "!at.odd_column", "at.odd_column"),
    (POOL, "!(second && top)", "second", "false"),
    (POOL, "(second ? ROWS : 0)", "ROWS", "ROWS + 1"),
    (POOL, "if (takes && half == h)", "half == h", "half != h"),
    (POOL, "second || block == blocks - 1", "second", "pools"),
    (POOL, "block / 2 < kept", "kept", "kept + 1"),
    (POOL, "in_band == of_band - 1", "of_band - 1", "of_band"),
    (POOL, "const int rest = leaving.left", "leaving.left", "(leaving.left >> 1)"),
    (LOAD, "band_begin += task.out_step", "task.out_step", "0"),
    (LOAD, "blocks_in_turn(task.stored_band", "task.stored_band", "task.band_out"),
]
"""Of results that are pooled on their way to DDR."""
WINDOW = "src/window.h"
WINDOW_MUTANTS = [
    (WINDOW, "until(first), now(first == 0)", "first == 0", "false"),
    (WINDOW, "again ? before_next == 0", "before_next == 0", "true"),
    (WINDOW, "again ? before_next : ap_uint<4>(until - 1)", "until - 1", "until - 0"),
    (WINDOW, "base == last ? result_address_t(0)", "base == last", "false"),
    (WINDOW, "if (lines.now && row.advance())", "lines.now", "true"),
    (WINDOW, "place += ROWS", "ROWS", "ROWS - 1"),
    (
        WINDOW,
        "column_before(task.window & WINDOW_COLUMN_BEFORE)",
        "WINDOW_COLUMN_BEFORE",
        "WINDOW_FIRST_COLUMN",
    ),
    (
        WINDOW,
        "first_column(task.window & WINDOW_FIRST_COLUMN)",
        "WINDOW_FIRST_COLUMN",
        "WINDOW_COLUMN_BEFORE",
    ),
    (WINDOW, "row_before(task.window & WINDOW_ROW_BEFORE)", "WINDOW_ROW_BEFORE", "WINDOW_FIRST_ROW"),
    (WINDOW, "first_row(task.window & WINDOW_FIRST_ROW)", "WINDOW_FIRST_ROW", "WINDOW_ROW_BEFORE"),
    (WINDOW, "&& (task.window & WINDOW_SIGNED);", "WINDOW_SIGNED", "0"),
    (WINDOW, "const bool joins = first_column && !leftmost", "!leftmost", "true"),
    (WINDOW, "ends = column_before && !leftmost", "!leftmost", "true"),
    (WINDOW, "row_before && column < above", "column < above", "column > above"),
    (WINDOW, "first_row && column < topmost", "first_row", "row_before"),
    (WINDOW, "joins && column < one", "joins", "ends"),
    (WINDOW, "largest ^ turned", "turned", "ap_uint<ACTIVATION>(0)"),
    (WINDOW, "sign(task.window & WINDOW_SIGNED)", "WINDOW_SIGNED", "WINDOW_SUMS"),
    (WINDOW, "(y * SIDE + x) * LANES + l, place", "y * SIDE + x", "x * SIDE + y"),
    (WINDOW, "leftmost ? window_sum_t(0) : of_first", "leftmost", "false"),
    (WINDOW, "leftmost ? window_sum_t(0) : of_two", "leftmost", "false"),
    (WINDOW, "column[1] + one", "one", "window_sum_t(0)"),
    (WINDOW, "column[2] + two", "two", "one"),
    (WINDOW, "sum + bias", "sum + bias", "sum - bias"),
    (WINDOW, "ap_uint<FRACTION>(0)), low, high", "low", "ap_int<RESULT>(-(1 << (RESULT - 1)))"),
    (WINDOW, "const bool column_inside = x.value < columns", "x.value < columns", "true"),
    (WINDOW, "column_inside && y < rows ? word", "y < rows", "true"),
    (WINDOW, "topmost ? word_t(0) : read", "topmost", "false"),
    (WINDOW, "const int rest = left", "left", "left >> 1"),
    (WINDOW, "first_row(task, of_stored.count())", "of_stored.count()", "task.stored_blocks"),
    (WINDOW, "last_band ? behind_last : 0", "last_band", "true"),
    (WINDOW, "band_y += task.window_rows", "task.window_rows", "0"),
    (WINDOW, "if (parts) lines += task.window_across", "task.window_across", "0"),
    (WINDOW, "block.value < arriving", "arriving", "passed"),
    (WINDOW, "if (bottom) above[k][at]", "bottom", "top"),
    (WINDOW, "const bool part = of_slot.blocks_left != 0", "of_slot.blocks_left != 0", "false"),
    (WINDOW, "part ? of_slot.next_base", "part", "!part"),
    (WINDOW, "whole == 1 ? words", "whole == 1", "true"),
    (WINDOW, "frame_ends ? ap_uint<SIZE>(0)", "frame_ends", "false"),
    (WINDOW, "y = block_y;", "block_y", "y"),
    (WINDOW, "word = found_largest.in_order(word)", "found_largest.in_order(word)", "word"),
    (LOAD, "task.window_factor ? WINDOW_BEATS : 0", "task.window_factor", "task.window"),
    (LOAD, "chunk == 0 ? second : 0", "second", "0"),
]
"""Of windows over results on their way to DDR."""


def schemata(mutants: Sequence[Mutant], files: dict[str, str]) -> dict[str, str]:
    """Each expression as the choice of itself and what its mutant, numbered from 1, makes of it."""
    places: dict[str, list[tuple[int, str, str]]] = {}
    for number, (file, context, old, new) in enumerate(mutants, start=1):
        text = files[file]
        assert text.count(context) == 1 and old in context, f"{context!r} in {file}: follow the template"
        choice = f"(mutant() == {number} ? ({new}) : ({old}))"
        places.setdefault(file, []).append((text.index(context) + context.index(old), old, choice))
    for file, changes in places.items():
        text = files[file]
        for at, old, choice in sorted(changes, reverse=True):
            text = text[:at] + choice + text[at + len(old) :]
        files[file] = text
    files["src/processor.h"] = files["src/processor.h"].replace("namespace processor {\n", CHOICE, 1)
    return files


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> BuiltProcessor:
    return build_processor(PACKED, tmp_path_factory.mktemp("mutants"), edit=partial(schemata, MUTANTS))


@pytest.fixture(scope="module")
def examples() -> list[Case]:
    """Small ones of all sorts."""
    drawn = ((addition, 25), (single_layer, 45), (tall, 40), (network, 25))
    return list(chain.from_iterable(cases(build, PACKED, count, first_seed=5000) for build, count in drawn))


def survives(built: BuiltProcessor, examples: list[Case]) -> bool:
    """Whether no example shows a difference."""
    for case in examples:
        try:
            assert_program_exact(built, case.graph, together=case.together, rounds=case.rounds)
        except (AssertionError, MismatchError, ToolError):
            return False
    return True


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


@pytest.fixture(scope="module")
def pool_mutants(tmp_path_factory: pytest.TempPathFactory) -> BuiltProcessor:
    return build_processor(
        WIDE, tmp_path_factory.mktemp("pool_mutants"), edit=partial(schemata, POOL_MUTANTS)
    )


@pytest.fixture(scope="module")
def pools() -> list[Case]:
    return list(cases(pooled, WIDE, 140, first_seed=5000))


def test_without_a_mutant_all_pools_are_equal(
    pool_mutants: BuiltProcessor, pools: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "0")
    assert survives(pool_mutants, pools)


@pytest.mark.parametrize("number", range(1, len(POOL_MUTANTS) + 1), ids=lambda n: POOL_MUTANTS[n - 1][1][:40])
def test_a_mutant_of_a_pool_is_caught(
    number: int, pool_mutants: BuiltProcessor, pools: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(number))
    monkeypatch.setattr(testbench, "RUN_SECONDS", 10)
    assert not survives(pool_mutants, pools)


@pytest.fixture(scope="module")
def window_mutants(tmp_path_factory: pytest.TempPathFactory) -> BuiltProcessor:
    return build_processor(
        WINDOWED, tmp_path_factory.mktemp("window_mutants"), edit=partial(schemata, WINDOW_MUTANTS)
    )


@pytest.fixture(scope="module")
def windows() -> list[Case]:
    graph = extreme_window(WINDOWED, "ufixed<8,8,rnd,sat>")
    extreme = Case(graph=graph, program=program(graph, WINDOWED, 2), together=2, rounds=1, seed=0)
    return [extreme, *cases(windowed, WINDOWED, 120, first_seed=5000)]


def test_without_a_mutant_all_windows_are_equal(
    window_mutants: BuiltProcessor, windows: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "0")
    assert survives(window_mutants, windows)


@pytest.mark.parametrize(
    "number", range(1, len(WINDOW_MUTANTS) + 1), ids=lambda n: f"{n}-{WINDOW_MUTANTS[n - 1][1][:40]}"
)
def test_a_mutant_of_a_window_is_caught(
    number: int, window_mutants: BuiltProcessor, windows: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(number))
    monkeypatch.setattr(testbench, "RUN_SECONDS", 10)
    assert not survives(window_mutants, windows)
