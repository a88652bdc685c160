"""The headers of Vitis HLS as kernels use them: what becomes of streams, bursts, vectors, functions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hlsgen.schedule.front_end import INCLUDE, compile_to_ir
from tests.support.schedule_ir import body, front_end_of, needs_llvm, optimised

KERNEL = """#define N 8
#define W 4
#define S 2
#define T int
#include <ap_axi_sdata.h>
#include <ap_fixed.h>
#include <ap_shift_reg.h>
#include <ap_utils.h>
#include <hls_array_partition.h>
#include <hls_burst_maxi.h>
#include <hls_math.h>
#include <hls_np_channel.h>
#include <hls_print.h>
#include <hls_stream.h>
#include <hls_streamofblocks.h>
#include <hls_task.h>
#include <hls_vector.h>
#include <hls_x_complex.h>
#undef T
typedef hls::vector<float, N> vec;
typedef hls::axis<ap_uint<64>, 1, 1, 1> word;
typedef ap_axis<32, 2, 5, 6> small_word;

void streams(hls::stream<word> &in, hls::stream<small_word> &out) {
    word w = in.read();
    small_word o;
    o.data = w.data.range(31, 0);
    o.last = w.last;
    o.keep = -1;
    o.user = 1;
    if (!out.full()) out.write(o);
}
int polled(hls::stream<int> &in, hls::stream<ap_uint<12>, 4> &out) {
    int x;
    if (in.read_nb(x)) out << x;
    return in.empty();
}
struct rgbs { short each[4]; };
void bursts(hls::burst_maxi<ap_uint<32>> p, ap_uint<32> *q) {
    p.read_request(0, 16);
    for (int i = 0; i < 16; i++) q[i] = p.read();
    p.write_request(0, 1);
    p.write(3);
    p.write_response();
}
typedef hls::axis<rgbs, 0, 0, 0, AXIS_DISABLE_ALL> bare;
void without_signals(hls::stream<bare> &in, hls::stream<bare> &out) {
    bare word = in.read();
    word.data.each[1] = word.data.each[0];
    out.write(word);
}
typedef hls::axis_user<13, (AXIS_ENABLE_USER | AXIS_ENABLE_LAST)> side;
struct rgb { unsigned char r, g, b; };
void others(hls::burst_maxi<ap_uint<512>> in, hls::stream<side> &words, rgb *out, float *memory, size_t at) {
    in.read_request_unaligned<rgb>(3, 1);
    out[0] = in.read<rgb>();
    side word = words.read();
    word.set_user(word.get_user() + 1);
    words.write(word);
    memory[0] = hls::gather<float, 2>(memory, {at, at + 1}).reduce_add();
}
void vectors(vec *a, vec *b, float *sum) {
    a[1] = a[0] + b[0] * vec(2.0f);
    *sum = b[1].reduce_add();
}
void functions(double *d, float *f, half *h, ap_fixed<16, 8> *x) {
    d[0] = hls::sqrt(d[1]) + hls::pow(d[2], 2.5) + hls::exp(d[3]);
    f[0] = hls::sqrtf(f[1]) + hls::sin(f[2]) + sqrtf(f[3]);
    h[0] = hls::sqrt(h[1]);
    x[0] = hls::sqrt(x[1]);
    x[2] = hls::abs(x[1]);
    x[3] = hls::max(x[1], x[2]);
}
int blocks(hls::stream_of_blocks<int[16]> &s, int i) {
    hls::read_lock<int[16]> block(s);
    ap_wait();
    return block[i];
}
void shared(hls::split::round_robin<int, 2> &ends, hls::x_complex<ap_fixed<8, 4>> *z) {
    ends.in.write(ends.out[1].read());
    z[0] *= z[1];
}
void bits(bool *f, int *n, ap_uint<12> x) {
    f[0] |= x[2];
    n[0] += x[3];
    n[1] = x.range(5, 2) + x[0];
    n[2] <<= x(1, 0);
    switch (x.range(7, 4)) {
        case 1: n[3] = x[n[0]] ? n[4] : 2;
    }
}
int delayed(int x) {
    static ap_shift_reg<int, 16> line;
    return line.shift(x);
}
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> str:
    return optimised(front_end_of(tmp_path_factory.mktemp("headers"), KERNEL).ir)


def calls(function: str) -> list[str]:
    """Names of what is called, in order, without lifetimes and copies."""
    names = re.findall(r"call [^@\n]*@([\w.]+)\(", function)
    return [name for name in names if not name.startswith(("llvm.lifetime", "llvm.memcpy"))]


@needs_llvm
@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        ("streams", ["__hls_stream_read", "__hls_stream_full", "__hls_stream_slot", "__hls_stream_write"]),
        ("polled", ["__hls_stream_read_nb", "__hls_stream_slot", "__hls_stream_write", "__hls_stream_empty"]),
        (
            "bursts",
            ["__hls_maxi_read_request", "__hls_maxi_read", "__hls_maxi_write_request", "__hls_maxi_slot"]
            + ["__hls_maxi_write", "__hls_maxi_write_response"],
        ),
        ("blocks", ["__hls_block_acquire", "__hls_wait", "__hls_block_release"]),
        (
            "others",
            ["__hls_maxi_read_request", "__hls_maxi_read", "__hls_stream_read", "__hls_stream_slot"]
            + ["__hls_stream_write"],
        ),
        ("shared", ["__hls_stream_read", "__hls_stream_slot", "__hls_stream_write"]),
        ("delayed", ["__hls_shift_slot", "__hls_shift"]),
    ],
)
def test_each_action_is_one_call(compiled: str, function: str, wanted: list[str]) -> None:
    found = [name for name in calls(body(compiled, function)) if name.startswith("__hls")]
    assert found == wanted


@needs_llvm
def test_calls_carry_the_bits_of_a_word(compiled: str) -> None:
    # data, keep, strb, user, last, id, dest
    assert re.search(r"@__hls_stream_read\(ptr [^,]*, i64 noundef 84\)", body(compiled, "streams"))
    assert re.search(r"@__hls_stream_slot\(ptr [^,]*, i64 noundef 12\)", body(compiled, "polled"))
    assert re.search(r"@__hls_maxi_read\(ptr [^,]*, i64 noundef 32\)", body(compiled, "bursts"))
    assert re.search(r"@__hls_maxi_read\(ptr [^,]*, i64 noundef 24\)", body(compiled, "others"))
    assert re.search(r"@__hls_stream_read\(ptr [^,]*, i64 noundef 14\)", body(compiled, "others"))


@needs_llvm
def test_functions_are_intrinsics_or_named(compiled: str) -> None:
    found = calls(body(compiled, "functions"))
    for name in ("llvm.sqrt.f64", "llvm.pow.f64", "llvm.exp.f64", "llvm.sqrt.f32", "llvm.sin.f32"):
        assert name in found
    assert "sqrtf" not in found
    assert sum("fixed_sqrt" in name for name in found) == 1
    assert "br " not in body(compiled, "functions")


@needs_llvm
def test_a_vector_is_added_at_once(compiled: str) -> None:
    """Loops over elements ask for unrolling; a reduction is a tree of additions."""
    function = body(compiled, "vectors")
    assert "llvm.loop" in function
    assert function.count("fadd float") == 1 + 7


@needs_llvm
def test_what_other_headers_bring_is_there(tmp_path: Path) -> None:
    source = "#include <ap_int.h>\nvoid top(uint8_t *x) { std::vector<int> y(3); x[0] = y[1] + UINT8_MAX; }\n"
    assert "@_Z3topPh" in front_end_of(tmp_path, source).ir


@needs_llvm
def test_copies_of_the_vendor_s_headers_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    (tmp_path / "copies" / "ap_int.h").write_text("#error the vendor's\n")
    source = "#include <ap_int.h>\nvoid top(ap_int<3> *x) { ++*x; }\n"
    assert "add i3" in optimised(front_end_of(tmp_path, source, include_folders=[tmp_path / "copies"]).ir)


@needs_llvm
def test_the_c_library_is_known(tmp_path: Path) -> None:
    source = "#include <string.h>\nvoid top(int *x, int *y) { memcpy(x, y, 64); }\n"
    assert "@llvm.memcpy" in front_end_of(tmp_path, source).ir


@needs_llvm
def test_complex_numbers_have_no_checks_for_infinities(tmp_path: Path) -> None:
    source = "#include <complex>\nvoid top(std::complex<float> *x) { x[0] *= x[1]; }\n"
    ir = front_end_of(tmp_path, source).ir
    assert "__mulsc3" not in ir
    assert ir.count("fmul float") == 4


@needs_llvm
def test_complex_numbers_of_c_s_header_need_no_std(tmp_path: Path) -> None:
    """Aswin-Raj-K/Pulse-Doppler-Radar radarProcessor.hpp: ten loops did not compile."""
    source = "#include <complex.h>\nfloat top(complex<float> *x) { return x->real(); }\n"
    assert " float @_Z3top" in front_end_of(tmp_path, source).ir


@needs_llvm
def test_a_kernel_may_have_a_header_of_that_name(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "complex.h").write_text("struct complex { int re, im; };\n")
    source = tmp_path / "kernel.cpp"
    source.write_text("#include <complex.h>\nint top(complex *x) { return x->re + x->im; }\n")
    assert " i32 @_Z3top" in compile_to_ir([source], include_folders=[folder]).ir


@needs_llvm
def test_what_comes_with_the_vendors_compiler_is_there(tmp_path: Path) -> None:
    source = """#include <bits/stdc++.h>
#include <gmp.h>
__uint16_t top(std::array<int, 4> y) { return std::accumulate(y.begin(), y.end(), 0); }
"""
    assert " i16 @_Z3top" in front_end_of(tmp_path, source).ir


@needs_llvm
def test_the_header_of_the_fft_brings_its_complex_numbers(tmp_path: Path) -> None:
    """jehigh-sd/LTE_Cell_Search sss_corr.h: eight loops did not compile."""
    source = "#include <hls_fft.h>\nfloat top(hls::x_complex<float> *x) { return x->re - x->im; }\n"
    assert " float @_Z3top" in front_end_of(tmp_path, source).ir


@needs_llvm
def test_an_fft_of_several_samples_a_cycle(tmp_path: Path) -> None:
    """dracconi/openhw_gcc_phat, 2025.1: five loops did not compile."""
    source = """#include <hls_fft.h>
struct sizes : hls::ip_fft::params_t {
    static const unsigned super_sample_rate = hls::ip_fft::ssr_4;
};
int top() { return sizes::super_sample_rate + 10 * hls::ip_fft::params_t::super_sample_rate; }
"""
    assert " ret i32 14" in front_end_of(tmp_path, source).ir


@needs_llvm
def test_types_that_no_header_of_the_vendor_s_brings_may_be_the_kernel_s(tmp_path: Path) -> None:
    source = "#include <ap_fixed.h>\ntypedef float double_t;\nvoid top(double_t *x) { *x += 1; }\n"
    assert "@_Z3topPf(" in front_end_of(tmp_path, source).ir


@needs_llvm
def test_comparisons_in_a_row_compile(tmp_path: Path) -> None:
    """cuciureansergiu/kv260_svm sobel.cpp:68: an error of Clang's, but none of the vendor's compiler."""
    assert " i1 @_Z3top" in front_end_of(tmp_path, "bool top(int x) { return 0 <= x < 23; }\n").ir


@needs_llvm
def test_old_standards_compile(tmp_path: Path) -> None:
    source = "#include <ap_int.h>\nint top(register int x) { return ap_int<5>(x) + 1; }\n"
    flags = ["-std=c++0x", "-O0", "-Wall", "-DWIDE=9"]
    ir = front_end_of(tmp_path, source.replace("<5>", "<WIDE>"), standard="c++0x", flags=flags).ir
    assert "@_Z3topi" in ir and "i9" in ir and "optnone" not in ir


def test_headers_are_ours() -> None:
    for header in INCLUDE.rglob("*.h"):
        text = header.read_text(encoding="utf-8")
        assert text.startswith("// Copyright the hlsgen authors. Licensed under the Apache License"), header
        assert len(text.splitlines()) < 500, header


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("ap_uint<8> a = 4; a |= TWO; a += ONE; return a.to_int();", 7),
        ("ap_int<8> a = -3; return (a * TWO - MINUS).to_int();", -5),
        ("ap_uint<4> a = 9; return ((a | TWO) == ELEVEN) + (TWO < a) * 2;", 3),
        ("ap_uint<8> a = ONE; a <<= TWO; return (a >> ONE).to_int();", 2),
        ("ap_uint<8> a = 0; a.range(3, 0) = ELEVEN; return a.to_int();", 11),
        ("ap_fixed<8, 5> a = TWO; a += ONE; return (a * TWO + MINUS).to_int() + (a > ONE);", 6),
    ],
)
@needs_llvm
def test_enumerators_are_numbers(tmp_path: Path, body: str, result: int) -> None:
    """As states are written (tohshima/hackcpu); the values are those of int."""
    text = "#include <ap_fixed.h>\nenum { ONE = 1, TWO, ELEVEN = 11 };\nenum sign { MINUS = -1 };\n"
    text += f'extern "C" int given() {{ {body} }}\n'
    ir = optimised(front_end_of(tmp_path, text).ir)
    assert re.search(r"ret i32 (-?\d+)", ir)[1] == str(result)  # type: ignore[index]


@needs_llvm
def test_a_stream_is_read_and_written_behind_a_flag(tmp_path: Path) -> None:
    """read_dep and write_dep of the vendor's hls_stream.h: a word as by read and write, and the flag back."""
    text = """#include <hls_stream.h>
extern "C" bool passed(hls::stream<int> &in, hls::stream<int> &out) {
    int word;
    const bool read = in.read_dep(word, true);
    return out.write_dep(word + 1, read);
}
"""
    code = body(optimised(front_end_of(tmp_path, text).ir), "passed")
    assert code.count("@__hls_stream_read(") == code.count("@__hls_stream_write(") == 1
