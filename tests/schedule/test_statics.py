"""Static variables are variables of the one function that uses them, whatever their types are called."""

from __future__ import annotations

from pathlib import Path

from hlsgen.schedule.component import Target
from hlsgen.schedule.front_end import compile_to_ir
from hlsgen.schedule.processes import parts_of
from hlsgen.schedule.statics import localised
from tests.support.schedule_ir import needs_llvm

MODULE = """@{name} = internal global {kind} zeroinitializer, align 4

define void @top(ptr %in) {{
entry:
  store i32 0, ptr {address}, align 4
  ret void
}}
"""
ENGINE = '%"struct.(anonymous namespace)::Engine"'
SOURCE = """
namespace {
struct Engine {
  int cells[64];
  int count;
};
Engine engine;
}  // namespace

void top(int const in[64], int out[64]) {
  engine.count = 0;
  for (int i = 0; i < 64; ++i) {
#pragma HLS PIPELINE
    engine.cells[63 - i] = in[i];
    engine.count += in[i];
  }
  for (int i = 0; i < 64; ++i) {
#pragma HLS PIPELINE
    out[i] = engine.cells[i] + engine.count;
  }
}
"""


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n")]


def test_parentheses_of_a_name_end_no_address() -> None:
    address = f"getelementptr inbounds nuw ({ENGINE}, ptr @engine, i32 0, i32 1)"
    found = lines_of(localised(MODULE.format(name="engine", kind=ENGINE, address=address)))
    given = f'%"__hls_state.0" = getelementptr inbounds nuw {ENGINE}, ptr %"engine.static", i32 0, i32 1'
    assert given in found and 'store i32 0, ptr %"__hls_state.0", align 4' in found


def test_an_address_within_an_address_comes_first() -> None:
    inner = "getelementptr inbounds ([8 x i32], ptr @words, i32 0, i32 2)"
    address = f"getelementptr (i8, ptr {inner}, i64 4)"
    found = lines_of(localised(MODULE.format(name="words", kind="[8 x i32]", address=address)))
    first = found.index(
        '%"__hls_state.0" = getelementptr inbounds [8 x i32], ptr %"words.static", i32 0, i32 2'
    )
    second = found.index('%"__hls_state.1" = getelementptr i8, ptr %"__hls_state.0", i64 4')
    assert first < second < found.index('store i32 0, ptr %"__hls_state.1", align 4')


@needs_llvm
def test_a_struct_without_a_namespace_is_scheduled(tmp_path: Path) -> None:
    from hlsgen.schedule.analysis import schedule_part

    source = tmp_path / "engine.cpp"
    source.write_text(SOURCE)
    front = compile_to_ir([source])
    target = Target(part="xczu9eg-ffvb1156-2-e", clock_ns=5.0, version="2023.2", kernel_flow=False)
    (part,) = parts_of(front.ir, "top", front.pragmas)
    loops = schedule_part(part, front.pragmas, target).loops
    assert [(loop.likely, loop.trips) for loop in loops] == [(1, 64), (1, 64)]
