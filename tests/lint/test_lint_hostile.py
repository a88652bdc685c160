"""The lint on files that nobody means well: it ends, soon, without a traceback."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.lint import lint
from tests.lint.test_lint_rules import LINT

SECONDS = 10
"""On a busy machine; each takes less than 2 s on a quiet one, and what is quadratic takes minutes."""
N = 10_000
CASES = {
    "round brackets": b"(" * N,
    "braces": b"void f() {" + b"{" * N,
    "brackets of an initialiser": b"int a = " + b"{" * N + b"}" * N + b";",
    "angle brackets": b"a<" * N,
    "templates": b"template<" * N,
    "if in if": b"void f() {" + b"if (x) " * N,
    "for in for": b"void f() {" + b"for (;;) " * N,
    "else": b"else " * N,
    "lambdas": b"void f() {\n#pragma HLS inline\n" + b"[]() {" * N,
    "unary": b"void f() { x = " + b"-" * N + b"1; }",
    "ternary": b"void f() { x = " + b"a ? b : " * N + b"1; }",
    "sum": b"int a = " + b"1 + " * N + b"1;",
    "scopes": b"a::" * N,
    "namespaces": b"namespace a {" * N,
    "stars": b"*" * N,
    "quotes": b"'" * N,
    "double quotes": b'"' * N,
    "raw strings": b'R"x(' * N,
    "comments": b"/*" * N,
    "conditions": b"#if a\n" * N,
    "continued lines": b"#pragma HLS pipeline \\\n" * N,
    "pragmas outside": b"#pragma HLS pipeline II=1\n" * N,
    "pragmas inside": b"void f() {\n" + b"#pragma HLS array_partition variable=x complete\n" * N + b"}\n",
    "pragmas in lambdas": b"void f() {\n" + b"g([]() {\n#pragma HLS unroll\n});\n" * (N // 10) + b"}\n",
    "pragmas between statements": b"void f() {\n" + b"x = 1;\n#pragma HLS pipeline\n" * (N // 5) + b"}\n",
    "one long line": b"void f() {\n#pragma HLS " + b"x " * N + b"\n}\n",
    "one long value": b"void f() {\n#pragma HLS unroll factor=" + b"1+" * N + b"1\n}\n",
    "one long list": b"void f() {\n#pragma HLS stable variable=" + b"x, " * N + b"x\n}\n",
    "many mistakes in a line": b"void f() { " + b'_Pragma("HLS nothing") ' * (N // 5) + b"}\n",
    "includes itself": b'#include "a.cpp"\n' * 1000,
    "constants": b"".join(b"const int a%d = a%d + a%d;\n" % (i, i + 1, i + 1) for i in range(3000))
    + b"ap_int<a0> x;",
    "a circle of constants": b"const int a = b + b; const int b = a + a; ap_int<a> x;",
    "macros": b"".join(b"#define A%d() A%d() A%d()\n" % (i, i + 1, i + 1) for i in range(300))
    + b"void f() {\n#pragma HLS dataflow\n" + b"A0();\n" * 2000 + b"}\n",
    "a macro of itself": b"#define A(x) A(x)\nvoid f() {\n#pragma HLS dataflow\nA(1);\n}\n",
    "stages": b"void g(hls::stream<int> &a, hls::stream<int> &b) { b.write(a.read()); }\n"
    b"void f(hls::stream<int> &x) {\n#pragma HLS dataflow\nhls::stream<int> s;\n"
    + b"g(s, x);\n" * 5000
    + b"}\n",
    "functions in a circle": b"void g(hls::stream<int> &a) { h(a); }\nvoid h(hls::stream<int> &a) { g(a); }\n"
    b"void f() {\n#pragma HLS dataflow\nhls::stream<int> s;\ng(s);\nh(s);\n}\n",
    "mentions": b"void g(hls::stream<int> &a) {" + b"k((((a" * (N // 10) + b"}\n"
    b"void f() {\n#pragma HLS dataflow\nhls::stream<int> s;\ng(s);\n}\n",
    "wide numbers": b"ap_int<" * N + b"1",
    "numbers": b"ap_int<N + 1> x;\n" * N,
    "interfaces": b"".join(
        b"void f%d(int *x) {\n#pragma HLS interface m_axi port=x\n}\n" % i for i in range(5000)
    ),
    "huge values": b"void f() {\n#pragma HLS latency max="
    + b"9" * N
    + b"\n#pragma HLS latency max=1<<1<<60\n}\n",
}  # fmt: skip


def findings(data: bytes) -> list[str]:
    """The findings of a file a.cpp, each of which can be printed and be written as JSON."""
    linted = lint(["a.cpp"], {"a.cpp": data}.get)
    for finding in linted.findings:
        assert str(finding).encode() and finding.as_json()["line"] >= 1
    return [finding.rule.name for finding in linted.findings]


@pytest.mark.parametrize("case", list(CASES))
def test_it_ends_soon(case: str) -> None:
    begin = time.process_time()
    findings(CASES[case])
    assert time.process_time() - begin < SECONDS


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"\0", "not-text"),
        (b"void f() {\n\xff}\n", "not-text"),
        (b"x" * ((16 << 20) + 1), "not-text"),
        (b"(" * 257, "too-deep"),
        (b"void f() {" + b"if (x) " * 2000 + b";}", "too-deep"),
        (random.Random(1).randbytes(10_000), "not-text"),
    ],
)
def test_what_is_no_source_is_said_to_be_none(data: bytes, rule: str) -> None:
    assert findings(data) == [rule]


@pytest.mark.parametrize("data", [b"", b"\n", b"\xef\xbb\xbfint x;\n", b"int x;\r\n", b"// \xc3\xa4\n"])
def test_nothing_is_found_in_little(data: bytes) -> None:
    assert findings(data) == []


def test_windows_line_ends_change_nothing() -> None:
    for path in sorted(LINT.glob("*.cpp")):
        data = path.read_bytes()
        assert findings(data.replace(b"\n", b"\r\n")) == findings(data), path.name


SOURCES = [path.read_bytes() for path in sorted(LINT.glob("*.cpp"))]
PIECES = [bytes([byte]) for byte in b"(){}[]<>;,*&\"'#\\/=+-:?.a0 \n\t\r\0\xff"]
PIECES += [b"#pragma HLS ", b"variable=", b"dataflow", b"interface m_axi port=", b"hls::stream<int> "]
PIECES += [b"/*", b"*/", b"//", b'R"(', b"#if 0\n", b"#else\n", b"#endif\n", b"#define A(x) x\n", b"::"]
PIECES += [b"ap_int<", b"[](){", b"struct a {", b"namespace {", b"return ", b"case 1:", b"\xc3\xa4"]
PIECES += [b"template <typename T> ", b"for (int i = 0;", b"const int n = n;"]


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_mutated_sources_never_break_it(data: st.DataObject) -> None:
    """Sources with pieces cut out, doubled, and put in."""
    source = bytearray(data.draw(st.sampled_from(SOURCES)))
    for _ in range(data.draw(st.integers(1, 12))):
        at = data.draw(st.integers(0, len(source)))
        what = data.draw(st.sampled_from(["cut", "double", "put", "put"]))
        if what == "put":
            source[at:at] = data.draw(st.sampled_from(PIECES))
        else:
            stop = min(len(source), at + data.draw(st.integers(1, 60)))
            source[at:stop] = b"" if what == "cut" else bytes(source[at:stop]) * 2
    findings(bytes(source))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join),
    st.lists(st.sampled_from(PIECES), max_size=20).map(b"".join),
)
def test_pieces_in_any_order_never_break_it(before: bytes, inside: bytes) -> None:
    findings(before)
    findings(b"void f(hls::stream<int> &a) {\n#pragma HLS " + inside + b"\n" + before + b"\n}\n")


def test_time_is_spent_on_what_is_there(tmp_path: Path) -> None:
    """Ten times the file takes some ten times as long."""
    one = (LINT / "clean.cpp").read_bytes().replace(b"#pragma once", b"")
    seconds = []
    for times in (5, 50):
        begin = time.process_time()
        findings(one * times)
        seconds.append(time.process_time() - begin)
    assert seconds[1] < 40 * seconds[0]
