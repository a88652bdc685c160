"""Pragmas of every spelling and place, as data and as marks in preprocessed C++ and in the IR."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.front_end import compile_to_ir
from hlsgen.schedule.marks import mark
from hlsgen.schedule.pragmas import parse_pragma
from tests.support.schedule_ir import front_end_of, marks, needs_llvm, optimised


@pytest.mark.parametrize(
    ("text", "words", "values", "texts", "variables"),
    [
        ("pipeline II=2 rewind style=flp", ("rewind",), {"ii": "2"}, {"style": "flp"}, ()),
        ("PIPELINE off", ("off",), {}, {}, ()),
        ("array_partition variable = x cyclic factor = N * 2 dim=1", ("cyclic",),
         {"factor": "N * 2", "dim": "1"}, {}, ("x",)),
        ("ARRAY_PARTITION variable=a.b[2].c complete", ("complete",), {}, {}, ("a.b[2].c",)),
        ("unroll factor=(A + 1) skip_exit_check", ("skip_exit_check",), {"factor": "(A + 1)"}, {}, ()),
        ("unroll factor=sizes<int, 4>::value", (), {"factor": "sizes<int, 4>::value"}, {}, ()),
        ("RESOURCE variable=x core=RAM_2P latency=2", (), {"latency": "2"}, {"core": "RAM_2P"}, ("x",)),
        ("dependence variable=x inter RAW distance=4 true", ("inter", "raw", "true"), {"distance": "4"}, {},
         ("x",)),
        ("interface m_axi port=a,b offset=slave bundle=g depth=8", ("m_axi",), {"depth": "8"},
         {"offset": "slave", "bundle": "g"}, ("a", "b")),
        ("interface s_axilite port=a offset=0x10", ("s_axilite",), {"offset": "0x10"}, {}, ("a",)),
        ("interface ap_ctrl_none port=return", ("ap_ctrl_none",), {}, {"port": "return"}, ()),
        ("interface mode=axis port=in register_mode=both", (), {}, {"mode": "axis", "register_mode": "both"},
         ("in",)),
        ("loop_tripcount min=1 max=f(2, 3) avg=2", (), {"min": "1", "max": "f(2, 3)", "avg": "2"}, {}, ()),
        ("bind_op variable=t op=mul impl=dsp latency=-1", (), {"latency": "-1"}, {"op": "mul", "impl": "dsp"},
         ("t",)),
        ("allocation instances=mul limit=1 operation", ("operation",), {"limit": "1"}, {"instances": "mul"},
         ()),
        ("stream variable = a, b depth = N - 1", (), {"depth": "N - 1"}, {}, ("a", "b")),
        ("interface m_axi port=a, bundle=g, depth=2", ("m_axi",), {"depth": "2"}, {"bundle": "g"}, ("a",)),
        ("unroll factor = N > 4 ? 4 : N", (), {"factor": "N > 4 ? 4 : N"}, {}, ()),
        ("array_partition variable=this->x[0] block factor=2", ("block",), {"factor": "2"}, {},
         ("this->x[0]",)),
        ("inline", (), {}, {}, ()),
    ],
)  # fmt: skip
def test_a_pragma_is_read(
    text: str,
    words: tuple[str, ...],
    values: dict[str, str],
    texts: dict[str, str],
    variables: tuple[str, ...],
) -> None:
    parsed = parse_pragma(text)
    assert parsed.name == text.split()[0].lower()
    assert parsed.words == words
    assert dict(zip(parsed.options, parsed.values, strict=True)) == values
    assert parsed.texts == texts
    assert parsed.variables == variables


def marked_lines(source: str) -> list[str]:
    return [" ".join(line.split()) for line in mark(source).text.splitlines()]


def test_lines_stay_and_macros_are_replaced() -> None:
    source = """# 7 "a.cpp"
#define FACTOR 4
#define TWICE (FACTOR * 2)
void f() {
#pragma HLS unroll factor=TWICE
#undef FACTOR
#pragma HLS pipeline II=FACTOR
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#pragma HLS latency max=LEAST(TWICE, f(1, 2)) min=LEAST
}
"""
    marked = mark(source)
    assert marked.text.count("\n") == source.count("\n")
    assert " ".join(marked.text.splitlines()[4].split()) == "::hls_marks::here(0, ((4 * 2)));"
    assert " ".join(marked.text.splitlines()[6].split()) == "::hls_marks::here(1, (FACTOR));"
    assert [(one.file, one.line) for one in marked.pragmas] == [("a.cpp", 10), ("a.cpp", 12), ("a.cpp", 14)]
    assert marked.places == {("a.cpp", 10): [0], ("a.cpp", 12): [1], ("a.cpp", 14): [2]}
    least = "(((FACTOR * 2)) < (f(1, 2)) ? ((FACTOR * 2)) : (f(1, 2)))"
    assert " ".join(marked.text.splitlines()[8].split()) == f"::hls_marks::here(2, ({least}), (LEAST));"


def test_a_pragma_before_a_lone_statement_joins_it() -> None:
    lines = marked_lines("for (;;)\n#pragma hls pipeline\n#pragma HLS unroll\nx();\n")
    assert lines == [
        "for (;;)",
        "if ((::hls_marks::here(0)), 0) ; else",
        "if ((::hls_marks::here(1)), 0) ; else",
        "x();",
    ]
    lines = marked_lines("if (a) {}\nelse\n#pragma HLS latency max=3\n y();\n")
    assert lines[2] == "if ((::hls_marks::here(0, (3))), 0) ; else"
    assert marked_lines("x(1);\n#pragma AP inline\n")[1] == "::hls_marks::here(0);"


def test_a_pragma_between_a_declarator_and_its_body_goes_into_it() -> None:
    lines = marked_lines("void f(int a)\n#pragma HLS inline\n#pragma HLS interface port=a ap_none\n{\n}\n")
    assert lines[:3] == ["void f(int a)", "", ""]
    assert lines[3] == "{ ::hls_marks::here(0); ::hls_marks::variable(1, a);"


KERNEL = """#include <ap_int.h>
#define DEPTH 8
#define PRAGMA(x) _Pragma(#x)
struct pair { ap_int<7> a; int b; };
struct owner {
    ap_uint<5> member[3][4];
    void work() {
#pragma HLS array_partition variable=member dim=2 complete
        member[0][0] += 1;
    }
};
template <int N> int sum(const int (&x)[N]) {
#pragma HLS array_partition variable=x factor=N/2 cyclic
    int all = 0;
    for (int i = 0; i < N; ++i)
#pragma HLS unroll factor=N
        all += x[i];
    return all;
}
#pragma HLS dataflow
int top(ap_int<12> memory[DEPTH][2], pair *pairs, int n, owner &o) {
PRAGMA(HLS INTERFACE m_axi port=pairs depth=DEPTH)
#pragma HLS interface ap_memory port=memory
#pragma HLS interface s_axilite port=n
    const int table[DEPTH] = {1, 2, 3};
    pair local[4];
#pragma HLS data_pack variable=local
    local[n & 3] = pairs[n];
    for (int i = 0; i < n; ++i) {
#pragma HLS pipeline ii=DEPTH/4
#pragma HLS dependence variable=memory inter false
        memory[i][0] = memory[i][1];
    }
    if (n > 2)
        for (int i = 0; i < n; ++i)
#pragma HLS unroll
            memory[i][1] = 0;
    else
        memory[0][0] = 1;
    o.work();
    return sum(table) + local[1].b;
}
"""


@needs_llvm
def test_marks_carry_addresses_forms_and_values(tmp_path: Path) -> None:
    front = front_end_of(tmp_path, KERNEL)
    assert [(one.name, one.line) for one in front.dropped] == [("dataflow", 20)]
    named = {}
    for index, variable, numbers in marks(optimised(front.ir)):
        pragma = front.pragmas[index]
        named[pragma.name, pragma.line] = (variable, numbers)
    assert named == {
        # bytes and bits of an element, dimensions, six extents, values
        ("array_partition", 8): (True, [1, 5, 2, 3, 4, 0, 0, 0, 0, 2]),
        ("array_partition", 13): (True, [4, 32, 1, 8, 0, 0, 0, 0, 0, 4]),
        ("unroll", 16): (False, [8]),
        ("interface", 22): (True, [8, 64, 1, 0, 0, 0, 0, 0, 0, 8]),
        ("interface", 23): (True, [2, 12, 2, 8, 2, 0, 0, 0, 0]),
        ("interface", 24): (True, [4, 32, 0, 0, 0, 0, 0, 0, 0]),
        ("data_pack", 27): (True, [8, 64, 1, 4, 0, 0, 0, 0, 0]),
        ("pipeline", 30): (False, [2]),
        ("dependence", 31): (True, [2, 12, 2, 8, 2, 0, 0, 0, 0]),
        ("unroll", 36): (False, []),
    }


@needs_llvm
def test_several_files_are_one_module(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("int other(int x);\n")
    (tmp_path / "a.cpp").write_text(
        '#include "a.h"\nstatic int helper(int x) { return x + 1; }\n'
        "int top(int x) {\n#pragma HLS pipeline\n return other(helper(x)); }\n"
    )
    (tmp_path / "b.cpp").write_text(
        '#include "a.h"\nstatic int helper(int x) { return x * 3; }\n'
        "int other(int x) {\n#pragma HLS inline\n return helper(x); }\n"
    )
    front = compile_to_ir([tmp_path / "a.cpp", tmp_path / "b.cpp"])
    assert [(one.index, one.name) for one in front.pragmas] == [(0, "pipeline"), (1, "inline")]
    assert {index for index, _, _ in marks(optimised(front.ir))} == {0, 1}
