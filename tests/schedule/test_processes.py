"""A kernel's IR in parts: a process of its dataflow each, or a function pipelined as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.base.errors import DesignError
from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.processes import Part, parts_of
from tests.support.schedule_ir import front_end_of, needs_llvm

pytestmark = needs_llvm
TARGET = Target(part="xcu200-fsgd2104-2-e", clock_ns=5.0, version="2020.2")
DATAFLOW = """#include <hls_stream.h>
static int table[4] = {{1, 2, 3, 4}};
static int scaled(int value) {{ return value * table[value & 3]; }}
static void in(const int *a, hls::stream<int> &out, int n) {{
load:
    for (int i = 0; i < n; ++i) {{
#pragma HLS pipeline II=1
        out.write(scaled(a[i]));
    }}
}}
static void sums(hls::stream<int> &in, hls::stream<int> &out, const int steps[8], int n) {{
    int memory[64];
add:
    for (int i = 0; i < n; ++i) {{
#pragma HLS pipeline II=1
        memory[i & 63] = scaled(in.read());
        out.write(memory[(i + 7) & 63] + steps[i & 7] + steps[(i + 1) & 7] + steps[(i + 2) & 7]);
    }}
}}
static void out(hls::stream<int> &in, int *b, int n) {{
store:
    for (int i = 0; i < n; ++i) {{
#pragma HLS pipeline II=1
        b[i] = in.read();
    }}
}}
static int size(int n) {{ return n + 1; }}
void top(const int *a, int *b, int n) {{
#pragma HLS interface m_axi port=a bundle=a
#pragma HLS interface m_axi port=b bundle=b
{region}
    hls::stream<int> first, second;
    int steps[8];
#pragma HLS array_partition variable=steps {partition}
    in(a, first, size(n));
    sums(first, second, steps, n);
    {second}
    out(second, b, n);
}}
"""


def parts(folder: Path, source: str, top: str = "top") -> list[Part]:
    front = front_end_of(folder, source)
    return parts_of(front.ir, top, front.pragmas)


def intervals(folder: Path, source: str) -> dict[str, tuple[int | None, int]]:
    path = folder / "kernel.cpp"
    path.write_text(source, encoding="utf-8")
    found = schedule_component(Component(top="top", files=(path,), target=TARGET))
    return {loop.label: (loop.likely, loop.copies) for loop in found.loops}


def source(region: str = "#pragma HLS dataflow", second: str = "", partition: str = "complete") -> str:
    return DATAFLOW.format(region=region, second=second, partition=partition)


def test_each_process_is_a_part_with_what_it_needs_alone(tmp_path: Path) -> None:
    rest, *processes = parts(tmp_path, source())
    assert rest.lines == frozenset()
    assert [sorted(part.lines) for part in processes] == [[35], [36], [38]]
    for part, others in zip(processes, (("sums", "out"), ("in", "out"), ("in", "sums")), strict=True):
        defined = [line for line in part.ir.splitlines() if line.startswith("define ")]
        for name in others:
            mangled = f"@_ZL{len(name)}{name}"
            assert not any(mangled in line for line in defined)
            assert f'@"{mangled[1:]}' not in "".join(defined)
    assert "@_ZL5table" in processes[0].ir
    assert "@_ZL5table" not in processes[2].ir


def test_parts_say_what_the_whole_says(tmp_path: Path) -> None:
    # without the pragma nothing is cut
    whole = intervals(tmp_path, source(region=""))
    assert intervals(tmp_path, source()) == whole == {"load": (1, 1), "add": (1, 1), "store": (1, 1)}


def test_the_pragmas_of_the_region_hold_within_its_processes(tmp_path: Path) -> None:
    # three words of one bank with two ports
    found = intervals(tmp_path, source(partition="block factor=1"))
    assert found == {"load": (1, 1), "add": (2, 1), "store": (1, 1)}


def test_what_another_process_writes_is_not_known(tmp_path: Path) -> None:
    text = source(second="").replace("int steps[8];", "int steps[8]; fill(steps);")
    text = text.replace(
        "static int size",
        "static void fill(int steps[8]) { for (int i = 0; i < 8; ++i) steps[i] = 0; }\nstatic int size",
    )
    part = next(part for part in parts(tmp_path, text) if 36 in part.lines)
    assert "fill" in "".join(line for line in part.ir.splitlines() if ".elsewhere" in line)


def test_a_function_that_is_called_twice_is_one_part(tmp_path: Path) -> None:
    text = source(second="hls::stream<int> third; sums(second, third, steps, n);")
    found = parts(tmp_path, text)
    assert [sorted(part.lines) for part in found] == [[], [35], [36, 37], [38]]
    assert intervals(tmp_path, text)["add"] == (1, 2)


def test_a_region_within_a_loop_stays_whole(tmp_path: Path) -> None:
    text = source().replace("    in(a, first", "    for (int f = 0; f < 3; ++f) in(a, first")
    assert [part.lines for part in parts(tmp_path, text)] == [frozenset()]


def test_two_calls_in_a_line_stay_together(tmp_path: Path) -> None:
    text = source().replace("steps, n);\n    \n", "steps, n); ")
    assert [part.lines for part in parts(tmp_path, text)] == [frozenset()]


def test_a_function_pipelined_as_a_whole_is_a_part(tmp_path: Path) -> None:
    text = """int weigh(int a[4]) {
#pragma HLS pipeline II=2
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += a[i];
    return sum;
}
void top(int a[4], int *b) { *b = weigh(a); }
"""
    top, weigh = parts(tmp_path, text)
    assert (top.interval, weigh.interval) == (0, 2)
    assert "define" in weigh.ir
    assert "weigh" not in "".join(line for line in top.ir.splitlines() if line.startswith("define"))


@pytest.mark.parametrize(("pragma", "count"), [("#pragma HLS pipeline II=2", 1), ("", 2)])
def test_a_function_that_a_pipeline_calls_through_another_is_part_of_it(
    tmp_path: Path, pragma: str, count: int
) -> None:
    text = f"""int weigh(int a[4]) {{
#pragma HLS pipeline II=2
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += a[i];
    return sum;
}}
int twice(int a[4]) {{ return 2 * weigh(a); }}
void top(int a[4], int b[9]) {{
    for (int n = 0; n < 9; ++n) {{
{pragma}
        b[n] = twice(a);
    }}
}}
"""
    assert len(parts(tmp_path, text)) == count


def test_a_top_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DesignError, match="define no function absent"):
        parts(tmp_path, source(), top="absent")
