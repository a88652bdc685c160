"""Tables that a function of their own computes from constants are ROMs.

Judges: reports of hls4ml's softmax (2023.1 and 2023.2, five repositories): rom_np, and no loop that fills it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.results import LoopSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm

FILL = """static void fill(ap_fixed<18, 8> (&table)[256]) {
    FILL: for (int i = 0; i < 256; ++i) {
        ap_fixed<8, 4> x;
        x(7, 0) = i;
        table[i] = hls::exp((float)x);
    }
}
"""
READ = """void top(const ap_uint<8> in[64][8], ap_fixed<18, 8> out[64]) {
#pragma HLS array_partition variable=in complete dim=2
    DECLARED
    BEFORE
    READ: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        ap_fixed<18, 8> sum = 0;
        for (int j = 0; j < 8; ++j) {
            ap_fixed<18, 8> one = table[in[i][j]];
            sum += one;
        }
        out[i] = sum;
        AFTER
    }
}
"""


def loops(
    folder: Path,
    *,
    fill: str = FILL,
    before: str = "fill(table);",
    declared: str = "ap_fixed<18, 8> table[256];",
    after: str = "",
) -> dict[str, LoopSchedule]:
    """By label; of a release that copies no array."""
    file = folder / "top.cpp"
    read = READ.replace("DECLARED", declared).replace("BEFORE", before).replace("AFTER", after)
    file.write_text("#include <ap_fixed.h>\n#include <ap_int.h>\n#include <hls_math.h>\n" + fill + read)
    target = Target(part="xczu9eg-ffvb1156-2-e", clock_ns=5.0, version="2020.2", kernel_flow=False)
    found = schedule_component(Component(top="top", files=(file,), target=target)).loops
    return {one.label: one for one in found}


def test_a_table_is_a_rom(tmp_path: Path) -> None:
    found = loops(tmp_path)
    assert found.keys() == {"READ"} and found["READ"].likely == 1
    (table,) = [bank for bank in found["READ"].banks if bank.array == "table"]
    assert table.reads == 8 and table.writes == 0


IN_PLACE = FILL[FILL.index("    FILL") : FILL.rindex("}")]
SEEDED = FILL.replace("[256])", "[256], int seed)").replace("= i;", "= i ^ seed;")

GIVEN = FILL.replace("[256])", "[256], const ap_uint<8> in[64][8])")
STORED = "table[i] = hls::exp((float)x);"
CHOSEN = GIVEN.replace(STORED, "table[i] = in[i / 4][0] > 3 ? ap_fixed<18, 8>(1) : ap_fixed<18, 8>(-1);")
IN_BRANCHES = GIVEN.replace(STORED, "if (in[i / 4][0] > 3) table[i] = 1; else table[i] = -1;")
NOT_ALWAYS = GIVEN.replace(STORED, f"if (in[i / 4][0] > 3) {STORED}")


@pytest.mark.parametrize(
    ("fill", "before", "after"),
    [
        # yehohnathan/tfg_hardware_accelerator, 2024.2: sums of words of a port, of which a sign is left
        pytest.param(CHOSEN, "fill(table, in);", "", id="chosen by what the kernel is given"),
        pytest.param(IN_BRANCHES, "fill(table, in);", "", id="in branches of what the kernel is given"),
        pytest.param(NOT_ALWAYS, "fill(table, in);", "", id="where what the kernel is given asks for it"),
        pytest.param(SEEDED, "fill(table, in[0][0]);", "", id="of what the kernel is given"),
        pytest.param(FILL, "fill(table);", "table[i] = sum;", id="written later"),
        pytest.param(FILL, "fill(table); table[3] = in[0][0];", "", id="mended by what the kernel is given"),
        pytest.param(FILL, "if (in[0][0] > 3) fill(table);", "", id="on a condition"),
        pytest.param(FILL, "", "if (i == 7) fill(table);", id="in between"),
        pytest.param("", IN_PLACE, "", id="in the function that reads it"),
        pytest.param(
            FILL.replace("hls::exp((float)x)", "i ? ap_fixed<18, 8>(table[i - 1] + x) : ap_fixed<18, 8>(x)"),
            "fill(table);",
            "",
            id="of its own words",
        ),
    ],
)
def test_others_are_memories(tmp_path: Path, fill: str, before: str, after: str) -> None:
    found = loops(tmp_path, fill=fill, before=before, after=after)
    written = [
        bank for loop in found.values() for bank in loop.banks if bank.array == "table" and bank.writes
    ]
    assert written


def test_a_function_that_is_pipelined_has_no_loop_that_fills(tmp_path: Path) -> None:
    """As hls4ml's softmax: 256 exponentials side by side are in no report."""
    file = tmp_path / "top.cpp"
    file.write_text(
        "#include <ap_fixed.h>\n#include <ap_int.h>\n#include <hls_math.h>\n"
        + FILL
        + """void top(ap_uint<8> a, ap_uint<8> b, ap_fixed<18, 8> &out) {
#pragma HLS pipeline
    ap_fixed<18, 8> table[256];
    fill(table);
    out = table[a] + table[b];
}
"""
    )
    target = Target(part="xcvu13p-flga2577-2-e", clock_ns=2.8, version="2024.2", kernel_flow=False)
    kernel = schedule_component(Component(top="top", files=(file,), target=target))
    (pipeline,) = kernel.loops
    assert pipeline.likely == 1 and kernel.instructions < 200 and pipeline.depth < 8
