"""What a module does with its global arrays, by the attributes of functions; what is open, inlining tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.front_end import compile_to_ir
from hlsgen.schedule.optimise import run_passes
from hlsgen.schedule.readers import uses_of
from tests.support.schedule_ir import needs_llvm

IR = """
@read = global [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@element = global [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@written = global [4 x i32] zeroinitializer
@stored = global [4 x i32] zeroinitializer
@filled = global [4 x i32] zeroinitializer
@chosen = global [4 x i32] zeroinitializer
@kept = global [4 x i32] zeroinitializer
@named = global [4 x i32] zeroinitializer
@given_away = global [4 x i32] zeroinitializer
@holder = global ptr null
@names = global ptr @named
declare void @unknown(ptr)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1)
define internal i32 @reads(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
define internal void @writes(ptr %p, i32 %v) {
  %e = getelementptr i32, ptr %p, i32 2
  store i32 %v, ptr %e
  ret void
}
define internal ptr @at(ptr %p, i32 %n) {
  %e = getelementptr i32, ptr %p, i32 %n
  ret ptr %e
}
define internal void @keeps(ptr %p) {
  store ptr %p, ptr @holder
  ret void
}
define i32 @top(i1 %c) {
  %a = call i32 @reads(ptr getelementptr inbounds ([4 x i32], ptr @read, i32 0, i32 1))
  %p = call ptr @at(ptr @element, i32 3)
  %b = load i32, ptr %p
  call void @writes(ptr @written, i32 %b)
  %q = call ptr @at(ptr @stored, i32 1)
  store i32 %a, ptr %q
  call void @llvm.memset.p0.i64(ptr @filled, i8 1, i64 16, i1 false)
  %r = select i1 %c, ptr @chosen, ptr @read
  call void @keeps(ptr @kept)
  call void @unknown(ptr @given_away)
  ret i32 %a
}
"""
LATER = """
@t = global [4 x i32] [i32 1, i32 2, i32 3, i32 4]
define void @top(i1 %c) {
entry:
  br label %makes
uses:
  store i32 5, ptr %p
  ret void
makes:
  %p = getelementptr i32, ptr @t, i32 2
  br label %uses
}
"""
NAMES = ("read", "element", "written", "stored", "filled", "chosen", "kept", "named", "given_away")


@needs_llvm
def test_uses() -> None:
    found = uses_of(run_passes(IR, ("post_order_function_attributes",)), frozenset(NAMES))
    assert found.written == {"written", "stored", "filled"}
    # a choice of two is open for both
    assert found.read == {"element"}
    without = IR.replace("select i1 %c, ptr @chosen, ptr @read", "getelementptr i32, ptr @chosen, i32 1")
    found = uses_of(run_passes(without, ("post_order_function_attributes",)), frozenset(NAMES))
    assert found.read == {"element", "read", "chosen"}


def test_blocks_stand_in_any_order() -> None:
    assert uses_of(LATER, frozenset({"t"})).written == {"t"}


@needs_llvm
@pytest.mark.parametrize(
    ("use", "kind"),
    [
        ("out[0] = table[in[0] & 3];", "constant"),
        ("out[0] = in[0] ? table[in[0] & 3] : other[in[0] & 3];", "constant"),
        ("const int *p = in[0] ? table : other; out[0] = p[in[0] & 3];", "constant"),
        ("out[0] = table[in[0] & 3]; table[in[1] & 3] = 5;", "global"),
        ("int *p = in[0] ? table : other; p[in[0] & 3] = 1; out[0] = table[in[1] & 3];", "global"),
        ("set(table, in[0]); out[0] = table[in[1] & 3];", "global"),
        ("at(table, in[0]) = 3; out[0] = table[in[1] & 3];", "global"),
        ("out[0] = at(table, in[0]);", "constant"),
        ("int *p = other; for (int i = 0; i < in[0]; ++i) { *p = i; p = table + i; } out[0] = *p;", "global"),
    ],
)
def test_tables_of_kernels(tmp_path: Path, use: str, kind: str) -> None:
    file = tmp_path / "top.cpp"
    file.write_text(
        "int table[4] = {3, 1, 4, 1};\nint other[4] = {5, 9, 2, 6};\n"
        "static void set(int *p, int n) { p[n & 3] = n; }\n"
        "static int &at(int *p, int n) { return p[n & 3]; }\n"
        f"void top(const int in[4], int out[4]) {{ {use} }}\n"
    )
    (line,) = [one for one in compile_to_ir([file]).ir.splitlines() if one.startswith("@table = ")]
    assert f" {kind} [" in line
