"""What AMD's introductory examples use besides numbers and streams: headers of the vendor's cores and
intrinsics, prints, pragmas that are not obeyed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.names import function_name
from hlsgen.schedule.results import KernelSchedule
from tests.support.ir_engine import runner
from tests.support.schedule_ir import front_end_of, needs_llvm, optimised

FIR = """#include "hls_fir.h"
struct taps : hls::ip_fir::params_t {
    static const unsigned num_coeffs = 3;
    static const unsigned filter_type = hls::ip_fir::decimation;
    static const unsigned decim_rate = 2;
    static constexpr double coeff_vec[3] = {1, 2, 1};
};
void top(ap_fixed<16, 16> in[20], ap_fixed<24, 24> out[10], ap_uint<8> *config) {
#pragma HLS dataflow
    static hls::FIR<taps> fir;
    fir.run(in, out, config);
}
"""
DDS = """#include "hls_dds.h"
struct wave : hls::ip_dds::params_t {
    static const unsigned Phase_Width = 24;
    static const unsigned Noise_Shaping = hls::ip_dds::XIP_DDS_NS_TAYLOR;
};
void top(ap_uint<32> data[8], ap_uint<24> phase[8]) {
    static hls::DDS<wave> dds;
    dds.run(data, phase);
}
"""
FFT = """#include "hls_fft.h"
struct sizes : hls::ip_fft::ssr_params_t {
    static const unsigned super_sample_rate = 4;
    static const bool use_native_float = true;
};
typedef hls::stream<hls::vector<std::complex<float>, 4>> samples;
void top(samples &in, samples &out) {
#pragma HLS dataflow
    hls::fft<sizes>(in, out);
}
"""
FLOATS = """#include "ap_float.h"
#include "hls_stream.h"
typedef ap_float<18, 5> small;
void top(hls::stream<float> &in, hls::stream<float> &out, int n) {
    small sum;
    ap_float_acc<small, ap_fixed<32, 16>> all;
    for (int i = 0; i < n; i++) {
        small next = in.read();
        next += small(1.0f) * next;
        sum = all.accumulate(next, i == n - 1);
    }
    out.write(float(sum));
}
"""


def scheduled(folder: Path, source: str, part: str = "xcvc1902-vsva2197-2MP-e-S") -> KernelSchedule:
    path = folder / "kernel.cpp"
    path.write_text(source, encoding="utf-8")
    return schedule_component(
        Component(top="top", files=(path,), target=Target(part=part, clock_ns=4.0, kernel_flow=False))
    )


@needs_llvm
@pytest.mark.parametrize(
    ("source", "core"), [(FIR, "hls::FIR"), (DDS, "hls::DDS"), (FFT, "hls::fft")], ids=["fir", "dds", "fft"]
)
def test_cores_are_named_as_what_is_not_counted(tmp_path: Path, source: str, core: str) -> None:
    """UG1399's calls; AMD's DSP/fir/decimator and DSP/fft/logicore_fft_float_ssr did not compile."""
    found = scheduled(tmp_path, source)
    assert found.loops == () and found.usage.unknown == (core,)
    assert found.usage.as_json()["without"] == [core]


@needs_llvm
def test_loops_with_floats_of_any_width_are_undecided(tmp_path: Path) -> None:
    (loop,) = scheduled(tmp_path, FLOATS).loops
    assert loop.interval is None
    assert {function_name(one) for one in loop.unknown_calls} == {"ap_float_acc", "ap_float"}


INTRINSICS = """#include "hls_dsp_builtins.h"
using namespace hls::{family};
extern "C" void run(const long long *in, long long *out) {{
    static cascade<REG_A1 | REG_B1 | REG_M | REG_P> first;
    static cascade<REG_A1 | REG_B1 | REG_B2 | REG_M | REG_P> second, third;
    static acc<REG_M | REG_P> sum;
    R_t p = first.mul_add(A_t(3), B_t(in[0]), C_t(7));
    p = second.mul_add(A_t(-5), p.bcout, p.pcout);
    p = third.mul_add(A_t(11), p.bcout, p.pcout);
    out[0] = p.pcout;
    out[1] = sum.mul_acc(A_t(in[1]), B_t(in[0]), in[2] == 0);
    out[2] = add_mul_add<REG_AD>(D_t(in[1]), A_t(in[0]), B_t(in[2]), C_t(in[1]));
    out[3] = sub_mul_sub<REG_P>(D_t(in[1]), A_t(in[0]), B_t(in[2]), C_t(in[1]));
    out[4] = mul_rsub<0>(A_t(in[1]), B_t(in[2]), C_t(in[0]));
}}
"""
PORTS = {"dsp48e1": (25, 18, 48), "dsp48e2": (27, 18, 48), "dsp58": (27, 24, 58)}
"""Bits of A and D, B, C and P: UG479, UG579, AM004."""


def wrap(value: int, bits: int) -> int:
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if low >> (bits - 1) else low


@needs_llvm
@pytest.mark.parametrize("family", PORTS)
def test_intrinsics_compute_at_the_widths_of_the_ports(tmp_path: Path, family: str) -> None:
    """A cascade is a systolic FIR filter: B's second register makes each tap see the sample before."""
    bits_a, bits_b, bits_c = PORTS[family]
    run = runner(optimised(front_end_of(tmp_path, INTRINSICS.format(family=family)).ir), 5)
    drawn = random.Random(7)
    samples, total = [0, 0], 0
    for step in range(50):
        in_ = [drawn.randrange(-(1 << 40), 1 << 40), drawn.randrange(-(1 << 40), 1 << 40), step % 9]
        a, d, b = wrap(in_[0], bits_a), wrap(in_[1], bits_a), in_[2]
        samples.append(wrap(in_[0], bits_b))
        total = wrap(d * samples[-1] + (total if in_[2] else 0), bits_c)
        filtered = 7 + 3 * samples[-1] - 5 * samples[-2] + 11 * samples[-3]
        added, c = wrap(a + d, bits_a) * b, wrap(in_[1], bits_c)
        subtracted = c - wrap(d - a, bits_a) * b
        rest = d * b - wrap(in_[0], bits_c)
        expected = [filtered, total, added + c, subtracted, rest]
        assert run(in_) == [wrap(one, bits_c) for one in expected], step


@needs_llvm
def test_an_accumulator_of_a_dsp_has_an_interval_of_one(tmp_path: Path) -> None:
    """UG1399's FIR filter by `acc`, and the cascade of complex numbers in AMD's example."""
    source = """#include "hls_dsp_builtins.h"
void top(const short delay[64], const short coeff[64], long *out) {
    hls::dsp58::acc<hls::dsp58::REG_P | hls::dsp58::REG_M> sum;
    hls::dsp58::C_t result;
    for (int i = 0; i < 64; i++) result = sum.mul_acc(delay[i], coeff[i], i == 0);
    *out = result;
}
"""
    (loop,) = scheduled(tmp_path, source).loops
    assert (loop.interval, loop.trips) == (1, 64)


@needs_llvm
def test_complex_products_have_the_products_that_they_are_made_of(tmp_path: Path) -> None:
    source = """#include "hls_dsp_builtins.h"
using namespace hls::dspcplx;
void top(const A_t a[64], const B_t b[64], C_t out[64]) {
    for (int i = 0; i < 64; i++) out[i] = mul_add<FULL_PIPELINE | REG_M | REG_P>(a[i], b[i], C_t(1, 2));
}
"""
    (loop,) = scheduled(tmp_path, source).loops
    assert loop.interval == 1 and loop.operations["mul 18x18"] == 4


PRINTING = """#include <iomanip>
#include <iostream>
#include "ap_int.h"
struct pixel { int red; };
std::ostream &operator<<(std::ostream &to, const pixel &p) { return to << "red " << p.red; }
void top(int a[64], int b[64]) {
#pragma HLS interface ap_memory port=a
#pragma HLS interface ap_memory port=b
    for (int i = 0; i < 64; i++) {
        b[i] = a[i] + 1;
        pixel p{b[i]};
        std::cout << "b[" << i << "] = " << std::setw(4) << std::hex << b[i] << 'c' << std::endl;
        std::cout << ap_int<9>(i) << p;
        std::cerr << 1.5f << std::flush;
    }
}
"""


@needs_llvm
def test_what_is_printed_is_no_hardware(tmp_path: Path) -> None:
    """AMD's using_stream_as_sync prints in its processes: strings stayed loops, which kept those around
    undecided, and the cells were seven times what they are without."""
    quiet = "\n".join(one for one in PRINTING.splitlines() if "std::c" not in one)
    printing, silent = (scheduled(tmp_path, source) for source in (PRINTING, quiet))
    (loop,), (alone,) = printing.loops, silent.loops
    assert (loop.interval, loop.trips, loop.depth) == (1, 64, alone.depth)
    assert printing.usage == silent.usage and printing.usage.unknown == ()


@needs_llvm
def test_pragmas_of_which_nothing_is_known_are_named(tmp_path: Path) -> None:
    """AMD's using_array_stencil_1d and maxi_cache_locality: they counted for nothing, without a word."""
    source = """void top(const int in[66], int out[64]) {
    for (int i = 0; i < 64; i++) {
#pragma HLS pipeline II=1
#pragma HLS array_stencil variable=in
        out[i] = in[i] + in[i + 1] + in[i + 2];
    }
}
"""
    (dropped,) = scheduled(tmp_path, source).dropped
    assert str(dropped).endswith("kernel.cpp:4: #pragma HLS array_stencil")
