"""The front end on small kernels: what the IR holds, which marks there are, what is said when it fails."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from hlsgen.base.errors import ToolError
from hlsgen.schedule import clang
from hlsgen.schedule.front_end import FrontEnd, SourceError, compile_to_ir

needs_clang = pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None, reason="the package ziglang is not installed"
)


def ir_of(folder: Path, source: str, **options: object) -> FrontEnd:
    path = folder / "kernel.cpp"
    path.write_text(source, encoding="utf-8")
    return compile_to_ir([path], **options)  # type: ignore[arg-type]


@needs_clang
def test_a_variable_that_does_not_exist_costs_its_mark_alone(tmp_path: Path) -> None:
    source = """#include <ap_int.h>
void top(ap_uint<7> *x) {
#pragma HLS interface m_axi port=x depth=8
#pragma HLS array_partition variable=absent complete
    for (int i = 0; i < 8; ++i) {
#pragma HLS pipeline II=1
        x[i] += 1;
    }
}
"""
    front = ir_of(tmp_path, source)
    assert [pragma.name for pragma in front.pragmas] == ["interface", "array_partition", "pipeline"]
    assert [(pragma.index, pragma.line) for pragma in front.dropped] == [(1, 4)]
    assert "i32 noundef 0" in front.ir and "i32 noundef 2" in front.ir
    assert front.pragmas[0].file == str(tmp_path / "kernel.cpp")


@needs_clang
def test_pragmas_where_no_call_can_stand_cost_their_marks_alone(tmp_path: Path) -> None:
    source = """struct kept {
#pragma HLS data_pack variable=x
    int x;
};
int top(int n, kept k) {
#pragma HLS inline off
    if (n > 3)
        n = 1;
#pragma HLS latency max=2
    else
        n = k.x;
    int table[2] = {
#pragma HLS unroll
        1, 2};
    return table[n];
}
"""
    front = ir_of(tmp_path, source)
    assert [pragma.name for pragma in front.dropped] == ["data_pack", "latency", "unroll"]
    assert len(front.pragmas) == 4


@needs_clang
def test_an_error_of_the_source_has_its_place(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        ir_of(tmp_path, "#include <ap_int.h>\nvoid top(ap_int<4> x) {\n    x = undeclared;\n}\n")
    problem = caught.value.problems[0]
    assert problem.place is not None
    assert (problem.place.line, problem.place.column) == (3, 9)
    assert "undeclared" in problem.message
    assert caught.value.exit_code == 1


@needs_clang
def test_what_headers_of_ours_remedy_is_not_what_is_shown(tmp_path: Path) -> None:
    """ybxs887/SAA GEMM.hpp: std::cout without its header, as the vendor's allow, hid what defines twice."""
    source = tmp_path / "twice.cpp"
    source.write_text(
        "#include <ap_int.h>\n"
        "void say() { std::cout << 1; std::cout << 2; }\n"
        "void f(int &a) { a = 1; }\n"
        "void f(int &a) { a = 2; }\n"
    )
    with pytest.raises(SourceError) as error:
        compile_to_ir([source])
    (problem,) = error.value.problems
    assert "redefinition of 'f'" in problem.message
    assert problem.place is not None and problem.place.line == 4


@needs_clang
def test_a_header_is_found_behind_the_path_of_another_machine(tmp_path: Path) -> None:
    source = '#include "C:/xilinx/Vitis/2024.2/include/ap_int.h"\nap_int<5> top(ap_int<4> x) { return x; }\n'
    assert "i5" in ir_of(tmp_path, source).ir


@needs_clang
def test_a_header_of_the_vendors_libraries_may_be_named_and_not_used(tmp_path: Path) -> None:
    source = (
        '#include "C:\\Xilinx\\Vivado\\2020.2\\data\\ip\\src\\hls_video.h"\n'
        "void top(hls::stream<ap_int<4> >& in, int* out) { *out = in.read(); }\n"
    )
    assert "i4" in ir_of(tmp_path, source).ir
    with pytest.raises(SourceError):
        ir_of(tmp_path, source + "hls::LineBuffer<3, 8, int> lines;\n")


@needs_clang
def test_null_is_a_number_too(tmp_path: Path) -> None:
    # as it is with the compiler's library of the vendor's tool
    assert ir_of(tmp_path, "#include <stdlib.h>\nint top() {\n    int x = NULL;\n    return x;\n}\n").ir


@needs_clang
def test_constructors_have_one_name_and_loops_over_elements_a_node(tmp_path: Path) -> None:
    source = """#include <ap_fixed.h>
struct counted { int count; counted(int x); };
counted::counted(int x) : count(x) {}
int top(int x) {
    ap_fixed<16, 3> sums[7] = {0};
    return counted(x).count + sums[x].to_int();
}
"""
    text = ir_of(tmp_path, source).ir
    assert " alias " not in text
    (loop,) = [line for line in text.splitlines() if "br i1 %arrayinit.done" in line]
    assert "!llvm.loop !" in loop


def test_without_the_compiler_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clang, "_zig", lambda: None)
    with pytest.raises(ToolError, match=r"pip install 'hlsgen\[schedule\]'") as caught:
        ir_of(tmp_path, "void top() {}\n")
    assert caught.value.exit_code == 4


COSTS = """#pragma once
enum Fork { OLD, NEW };
template <Fork F> constexpr short costs[2] = {0, 0};
template <> constexpr short costs<OLD>[2] = {3, 5};
int first(int);
"""


@needs_clang
def test_a_specialised_constant_of_a_header_is_each_files_own(tmp_path: Path) -> None:
    """FluxAstromeshLabs/evmone-fpga: to the vendor's Clang and to g++ it is seen in its file alone. A
    function that two files define is another matter."""
    (tmp_path / "costs.h").write_text(COSTS, encoding="utf-8")
    files = [tmp_path / "a.cpp", tmp_path / "b.cpp"]
    files[0].write_text('#include "costs.h"\nint first(int i) { return costs<OLD>[i]; }\n')
    files[1].write_text('#include "costs.h"\nint both(int i) { return first(i) + costs<OLD>[i + 1]; }\n')
    found = compile_to_ir(files).ir
    assert found.count("[i16 3, i16 5]") == 2
    files[1].write_text("int first(int i) { return i; }\n")
    with pytest.raises(SourceError, match="do not link"):
        compile_to_ir(files)


@needs_clang
def test_what_files_may_define_together_is_one(tmp_path: Path) -> None:
    """A table that is a static member of a template stands in each file, and once in the kernel."""
    (tmp_path / "table.h").write_text(
        "template <class T> struct Table { static constexpr short words[2] = {3, 5}; };\nint first(int);\n"
    )
    files = [tmp_path / "a.cpp", tmp_path / "b.cpp"]
    files[0].write_text('#include "table.h"\nint first(int i) { return Table<int>::words[i]; }\n')
    files[1].write_text(
        '#include "table.h"\nint both(int i) { return first(i) + Table<int>::words[i + 1]; }\n'
    )
    assert compile_to_ir(files).ir.count("[i16 3, i16 5]") == 1
