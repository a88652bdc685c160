"""The ap_ headers of schedules against the reference headers of the hls4ml wheel, by execution.

What the headers of C-simulation have too is compared in tests/csim/test_fast_headers.py, where the reference
is compiled once for both; here stands what only these have: quotients, single bits, concatenations,
reductions, reversed ranges, words of any width.
"""

from __future__ import annotations

from pathlib import Path

from tests.support.header_programs import compile_program, reference_include, run
from tests.support.schedule_headers import compile_with_schedule_headers, needs_clang
from tests.support.schedule_ir import body, front_end_of, needs_llvm

PAIRS = (
    ("ap_int<7>", "ap_uint<9>"),
    ("ap_uint<12>", "ap_int<20>"),
    ("ap_uint<1>", "ap_uint<1>"),
    ("ap_int<33>", "ap_int<20>"),
    ("ap_uint<64>", "ap_uint<33>"),
    ("ap_int<100>", "ap_uint<40>"),
)
FIXED_PAIRS = (
    ("ap_fixed<16, 6>", "ap_fixed<16, 6>"),
    ("ap_fixed<16, 6>", "ap_ufixed<8, 3>"),
    ("ap_ufixed<12, 8>", "ap_fixed<10, 2>"),
    ("ap_ufixed<8, 4>", "ap_ufixed<6, -1>"),
)
WORDS = ("ap_int<1>", "ap_uint<9>", "ap_uint<64>", "ap_int<65>", "ap_int<200>", "ap_uint<512>")

PROGRAM = r"""
#include <ap_fixed.h>
#include <ap_int.h>
#include <cstdint>
#include <cstdio>

typedef std::uint64_t u64;
static u64 state = 88172645463325252ull;
static u64 next_random() {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return state;
}
template <class X> void draw(X& x, int turn) {
    for (int low = 0; low < X::width; low += 48) {
        const int high = low + 47 < X::width ? low + 47 : X::width - 1;
        const u64 bits = turn == 0 ? u64(0) : turn == 1 ? ~u64(0) : turn == 2 ? u64(low == 0) : next_random();
        x.range(high, low) = bits;
    }
    if (turn == 3) { x.range() = 0; x[X::width - 1] = 1; }
}
template <class X> void put(const X& x) {
    std::printf("%d:", int(X::width));
    for (int low = 0; low < X::width; low += 48) {
        const int high = low + 47 < X::width ? low + 47 : X::width - 1;
        std::printf("%llx.", (unsigned long long)x.range(high, low).to_uint64());
    }
    std::printf("%s ", X(-1) < X(0) ? "s" : "u");
}
// Of signed and unsigned numbers, and of the extreme over -1, the reference's quotients are not those of the
// numbers: left out.
template <class A, class B> bool odd(const A& a, const B& b) {
    const bool mixed = (A(-1) < A(0)) != (B(-1) < B(0));
    const ap_uint<B::width> bits = b.range();
    return b == 0 || (mixed && (a < A(0) || b < B(0))) || (B(-1) < B(0) && bits.and_reduce());
}
template <class A, class B> void quotients(const char* label) {
    std::printf("%s: ", label);
    for (int turn = 0; turn < 200; ++turn) {
        A a; B b; draw(a, turn % 11); draw(b, turn / 11);
        if (odd(a, b)) continue;
        put(a / b); put(a % b);
        A s = a; s /= b; put(s); s = a; s %= b; put(s);
        put(a / 3); put(a % (unsigned char)7);
        if (a > A(0)) put(1000 / a);
    }
    std::printf("\n");
}
template <class A, class B> void fixed_quotients(const char* label) {
    std::printf("%s: ", label);
    for (int turn = 0; turn < 200; ++turn) {
        A a; B b; draw(a, turn % 11); draw(b, turn / 11);
        if (odd(a, b)) continue;
        put(a / b); A s = a; s /= b; put(s);
        put(a & b); put(a | b); put(a ^ b);
        std::printf("%d%d ", int(a[1]), int(bool(a[A::width - 1])));
        a[0] = b[1]; put(a);
    }
    std::printf("\n");
}
template <class A, class B> void places(const char* label) {
    std::printf("%s: ", label);
    for (int turn = 0; turn < 60; ++turn) {
        A a; B b; draw(a, turn % 11); draw(b, turn / 5);
        ap_uint<A::width + B::width> both = (a, b); put(both);
        ap_uint<A::width + B::width> swapped = (b, a); put(swapped);
        ap_uint<A::width + 4> more = (a, ap_uint<4>(turn)); put(more);
        A c; B d; (c, d) = swapped; put(c); put(d);
        const int at = turn % A::width;
        c = a; c[at] = b[0]; put(c); c[at] = !c[at]; put(c);
        c = a; c.set(at); put(c); c.clear(at); put(c); c.invert(at); put(c);
        c.b_not(); put(c); c.reverse(); put(c);
        const ap_uint<A::width> bits = a;
        std::printf("%d%d%d%d ", a.and_reduce(), a.nand_reduce(), a.or_reduce(), a.nor_reduce());
        std::printf("%d%d%d ", bits.xor_reduce(), bits.xnor_reduce(), a.test(at));
        std::printf("%d ", a[at] == b[0]);
        // reversed
        ap_uint<A::width> mirrored = a.range(0, A::width - 1); put(mirrored);
        const int low = turn % A::width, high = A::width - 1 - turn % (A::width - low);
        ap_uint<A::width> part = a.range(high, low); put(part); part = a.range(low, high); put(part);
        c = 0; c.range(high, low) = b; put(c); c = -1; c.range(low, high) = b; put(c);
        put(a.range(high, low) + 1); std::printf("%d ", a.range(high, low) == b);
        ap_uint<A::width> some = a.range(high, low) | b; put(some);
        ap_uint<A::width + B::width> joined = a.concat(b); put(joined); joined = b.concat(a); put(joined);
        if (A::width > 1) { c = a; c.lrotate(at); put(c); c.rrotate(1); put(c); }
    }
    std::printf("\n");
}
template <class W> void words(const char* label) {
    std::printf("%s: ", label);
    for (int turn = 0; turn < 40; ++turn) {
        W a, b; draw(a, turn % 9); draw(b, turn / 3);
        put(a + b); put(a - b); put(a * b); put(a & b); put(a ^ b); put(~a); put(-a);
        put(a << (turn % W::width)); put(a >> (turn % W::width)); put(a >> 1);
        std::printf("%d%d%d%d%d ", a < b, a <= b, a == b, a > b, a != b);
        W s = a; s += b; put(s); s -= 3; put(s); s *= b; put(s); ++s; put(s); s |= a; put(s); s <<= 1; put(s);
        std::printf("%lld %d %u ", (long long)a.to_int64(), a.to_int(), a.to_uint());
    }
    std::printf("\n");
}
template <class A> void from_floating(const char* label) {
    std::printf("%s: ", label);
    const double values[] = {0.0, 0.5, -0.5, 1.0, -1.0, 2.999, -2.999, 100.25, -100.25, 12345.678, -7e8, 3e9,
                             1e-9};
    for (double value : values) { A a = value; put(a); A b = float(value); put(b); }
    std::printf("\n");
}
"""


def program() -> str:
    calls = [call("quotients", *pair) for pair in PAIRS]
    calls += [call("fixed_quotients", *pair) for pair in FIXED_PAIRS]
    calls += [call("places", *pair) for pair in PAIRS[:4]]
    calls += [call("words", type_) for type_ in WORDS]
    calls += [call("from_floating", type_) for type_ in ("ap_int<24>", "ap_uint<40>", "ap_int<5>")]
    return PROGRAM + "int main() {\n" + "\n".join(calls) + "\n}\n"


def call(function: str, *types: str) -> str:
    return f'{function}<{", ".join(types)}>("{function} {" ".join(types)}");'


@needs_clang
def test_what_only_these_headers_have_equals_the_reference(tmp_path: Path) -> None:
    flags = ("-std=c++14", "-O0", "-w", "-DNDEBUG", f"-isystem{reference_include()}")
    expected = run(compile_program(tmp_path, "reference", program(), *flags)).stdout
    found = run(compile_with_schedule_headers(tmp_path, "schedule", program())).stdout
    assert len(expected.splitlines()) == len(found.splitlines()) == 6 + 4 + 4 + 6 + 3
    for line, wanted in zip(found.splitlines(), expected.splitlines(), strict=True):
        assert line == wanted


WHOLE_NUMBERS = r"""
#include <cmath>
#include <cstdio>
#include <hls_math.h>

template <class T> int differences() {
    int found = 0;
    for (int bits = 0; bits < 1 << T::width; ++bits) {
        T x;
        x.range(T::width - 1, 0) = bits;
        const double d = x.to_double();
        if (d > 29 || d < -30) continue;  // whose whole number may be beyond the type's
        const double ours[] = {hls::floor(x).to_double(), hls::ceil(x).to_double(), hls::trunc(x).to_double(),
                               hls::round(x).to_double(), hls::rint(x).to_double(), hls::fabs(x).to_double()};
        const double theirs[] = {std::floor(d), std::ceil(d),      std::trunc(d),
                                 std::round(d), std::nearbyint(d), std::fabs(d)};
        for (int at = 0; at < 6; ++at) found += ours[at] != theirs[at];
    }
    return found;
}

int main() {
    std::printf("%d %d %d\n", differences<ap_fixed<13, 6>>(), differences<ap_ufixed<9, 5>>(),
                differences<ap_fixed<7, 6>>());
}
"""


@needs_clang
def test_fixed_point_numbers_become_whole_as_those_of_the_standard_library(tmp_path: Path) -> None:
    program = compile_with_schedule_headers(tmp_path, "whole", WHOLE_NUMBERS)
    assert run(program).stdout.split() == ["0", "0", "0"]


OF_NUMBERS = r"""
#include <cmath>
#include <cstdio>
#include <hls_math.h>

static int differences = 0;
template <class T, class U> void same(T found, U wanted) {
    differences += std::fabs(double(found) - double(wanted)) > 1e-3;
}

template <class T> void all() {
    same(hls::pown(T(2.5), 3), 15.625);
    same(hls::rootn(T(27), 3), 3);
    same(hls::powr(T(4), T(1.5)), 8);
    same(hls::asinpi(T(1)), 0.5);
    same(hls::acospi(T(-1)), 1);
    same(hls::atanpi(T(1)), 0.25);
    same(hls::atan2pi(T(1), T(-1)), 0.75);
    same(hls::maxmag(T(-3), T(2)), -3);
    same(hls::maxmag(T(-3), T(3)), 3);
    same(hls::minmag(T(-3), T(2)), 2);
    same(hls::minmag(T(-3), T(3)), -3);
    same(hls::scalbln(T(3), 4L), 48);
    same(hls::llrint(T(2.5)), 2);
    T whole;
    same(hls::fract(T(-2.25), &whole), 0.75);
    same(whole, -3);
    int quotient, expected;
    same(hls::remquo(T(11), T(4), &quotient), std::remquo(11.0, 4.0, &expected));
    same(quotient, expected);
    const T unknown = T(0) / T(0);
    same(hls::isgreater(T(2), T(1)), true);
    same(hls::isgreaterequal(T(1), T(2)), false);
    same(hls::isless(T(2), T(1)), false);
    same(hls::islessequal(T(1), T(1)), true);
    same(hls::islessgreater(unknown, T(1)), false);
    same(hls::isunordered(unknown, T(1)), true);
}

int main() {
    all<float>();
    all<double>();
    same(hls::pownf(2, 2) + hls::powrf(2, 2) + hls::atan2pif(0, 1) + hls::maxmagf(1, 2), 10);
    std::printf("%d\n", differences);
}
"""


@needs_clang
def test_more_functions_of_numbers_have_the_values_of_mathematics(tmp_path: Path) -> None:
    assert run(compile_with_schedule_headers(tmp_path, "numbers", OF_NUMBERS)).stdout.split() == ["0"]


PARTS = r"""
#include <cstdio>
#include <hls_math.h>
#include <utils/x_hls_utils.h>

int main() {
    const fp_struct<float> f(-6.5f);
    const fp_struct<double> d(0.15625);
    const fp_struct<half> h(half(1.5f));
    std::printf("%d %d %x %x\n", int(f.sign), f.expv(), unsigned(f.sig), unsigned(f.data()));
    std::printf("%d %d %llx %g\n", int(d.sign), d.expv(), (unsigned long long)(d.data()), d.to_ieee());
    std::printf("%d %x %g %g\n", h.expv(), unsigned(h.data()), h.to_float(), f.mantissa().to_double());
    const fp_struct<float> ten(ap_uint<32>(0x41200000)), minus_two(1, 128, 0);
    std::printf("%g %g\n", ten.to_ieee(), minus_two.to_float());
}
"""


@needs_clang
def test_parts_of_floating_point_numbers(tmp_path: Path) -> None:
    """By IEEE 754: -6.5 is -1.625 * 2^2, c0d00000; 0.15625 is 1.25 * 2^-3, 3fc4000000000000; 1.5 in half is
    3e00; 41200000 is 10."""
    found = run(compile_with_schedule_headers(tmp_path, "parts", PARTS)).stdout.split("\n")
    assert found[0] == "1 2 500000 c0d00000"
    assert found[1] == "0 -3 3fc4000000000000 0.15625"
    assert found[2] == "0 3e00 1.5 1.625"
    assert found[3] == "10 -2"


@needs_llvm
def test_a_value_behind_a_register(tmp_path: Path) -> None:
    """farouk527/Projet_HLS_optimisation: the library's `reg`, which is called by its name alone."""
    source = "#include <utils/x_hls_utils.h>\nusing namespace hls;\nint twice(int x) { return reg(x + x); }\n"
    front = front_end_of(tmp_path, source)
    assert "call" in body(front.ir, "twice") and not front.dropped  # no pragma of ours is the user's


@needs_llvm
def test_half_beside_other_types(tmp_path: Path) -> None:
    """As in C-simulation, where diqingz/llm_hls multiplies half by float; the vendor's own operations have a
    header that some sources name."""
    front_end_of(
        tmp_path,
        """#include <etc/autopilot_ssdm_op.h>
#include <hls_half.h>
#include <type_traits>
template <class A, class B> void same() { static_assert(std::is_same<A, B>::value, "other types"); }
void mixed(half *h, float *f, double *d, int *n) {
    same<decltype(h[0] * f[0]), float>();
    same<decltype(f[0] + h[0]), float>();
    same<decltype(h[0] - n[0]), float>();
    same<decltype(d[0] / h[0]), double>();
    same<decltype(h[0] * h[1]), half>();
    f[0] = h[0] * f[1] + n[0] / h[2];
}
""",
    )
