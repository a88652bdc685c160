"""The ap_ headers of C-simulation, and those of schedules, against the reference headers of the hls4ml wheel.

One generated program is compiled with each header set; all must print the same bits.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.support.header_programs import INCLUDE, STRICT, compile_program, reference_include, run
from tests.support.schedule_headers import HAS_CLANG, compile_with_schedule_headers

ROUNDINGS = ("TRN", "TRN_ZERO", "RND", "RND_ZERO", "RND_INF", "RND_MIN_INF", "RND_CONV")
OVERFLOWS = ("WRAP", "WRAP_SM", "SAT", "SAT_ZERO", "SAT_SYM")

# (width, integer, signed): source, target; all modes of more types in tests/base/test_fixed_reference.py
CONVERSIONS = (
    ((16, 6, True), (8, 4, True)),
    ((16, 6, True), (8, 3, False)),
    ((40, 16, True), (24, 10, True)),
    ((64, 32, False), (63, 32, True)),
    ((100, 50, True), (17, 3, True)),
    ((5, -2, True), (6, 20, True)),
)
FROM_DOUBLE = ((8, 4, True), (8, 4, False), (40, 16, True), (90, 45, True))
FIXED_PAIRS = (
    ("ap_fixed<16, 6>", "ap_fixed<16, 6>"),
    ("ap_fixed<16, 6>", "ap_ufixed<8, 3>"),
    ("ap_ufixed<8, 8>", "ap_ufixed<8, -2>"),
    ("ap_ufixed<8, 8>", "ap_fixed<12, 4>"),
    ("ap_fixed<24, 12, AP_RND, AP_SAT>", "ap_fixed<8, 2>"),
    ("ap_ufixed<40, 16>", "ap_fixed<20, 4>"),
    ("ap_fixed<48, 24, AP_RND_CONV, AP_SAT_SYM>", "ap_fixed<48, 30>"),
    ("ap_ufixed<64, 32>", "ap_ufixed<32, 16>"),
    ("ap_fixed<33, 3>", "ap_fixed<64, 40>"),
)
BESIDE_INTEGERS = (
    "ap_fixed<16, 6>",
    "ap_ufixed<8, 8>",
    "ap_fixed<24, 12, AP_RND, AP_SAT>",
    "ap_ufixed<40, 16>",
    "ap_fixed<64, 32>",
)
INT_PAIRS = (
    ("ap_int<8>", "ap_uint<8>"),
    ("ap_uint<16>", "ap_uint<16>"),
    ("ap_uint<5>", "ap_int<24>"),
    ("ap_int<24>", "ap_uint<16>"),
    ("ap_int<32>", "ap_int<32>"),
    ("ap_uint<32>", "ap_int<40>"),
    ("ap_int<64>", "ap_int<64>"),
    ("ap_uint<64>", "ap_uint<33>"),
    ("ap_int<100>", "ap_int<20>"),
    ("ap_int<1>", "ap_uint<1>"),
)

PROGRAM = r"""
#include <ap_fixed.h>
#include <ap_int.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

typedef std::uint64_t u64;
static u64 state = 1;
static u64 next_random() {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return state;
}
// Zero, one, all ones, the extremes, their neighbours, halves; then random bits of random length.
template <class X> void draw(X& x, int turn) {
    const int w = X::width;
    u64 lo = 0, hi = 0;
    switch (turn) {
        case 0: break;
        case 1: lo = 1; break;
        case 2: lo = hi = ~u64(0); break;
        case 3: case 4: case 5: case 6:
            if (w > 64) hi = u64(1) << (w - 65); else lo = u64(1) << (w - 1);
            if (turn == 4) { lo += 1; }
            if (turn >= 5) { if (w > 64) { hi -= 1; lo = ~u64(0); } else lo -= 1; }
            if (turn == 6) { lo -= 1; }
            break;
        default:
            lo = next_random(); hi = next_random();
            if (turn % 3 == 0) {
                lo = u64(std::int64_t(lo) >> (turn % 60));
                hi = u64(std::int64_t(lo) >> 63);
            }
            if (turn % 3 == 1) lo &= ~u64(0) << (turn % 30);
    }
    if (w > 64) { x.range(w - 1, 64) = hi; x.range(63, 0) = lo; } else x.range(w - 1, 0) = lo;
}
template <class X> void put(const X& x) {
    const int w = X::width;
    if (w > 64) std::printf("%llx.", (unsigned long long)x.range(w - 1, 64).to_uint64());
    std::printf("%llx ", (unsigned long long)x.range(w > 64 ? 63 : w - 1, 0).to_uint64());
}
template <class X> void put_typed(const X& x) {
    std::printf("<%d%s>", int(X::width), X(-1) < X(0) ? "s" : "u");
    put(x);
}

template <class S, class D> void conversion(const char* label) {
    std::printf("%s: ", label);
    for (int turn = 0; turn < 40; ++turn) {
        S s; draw(s, turn);
        D d = s; put(d);
        D e; e = s; if (e != d) std::printf("!");
    }
    std::printf("\n");
}
template <class D> void from_double(const char* label) {
    std::printf("%s: ", label);
    for (int turn = 0; turn < 60; ++turn) {
        u64 bits = next_random();
        if (turn < 50) bits = (bits & ~(u64(0x7ff) << 52)) | u64(1023 - 80 + turn * 3 + 2) << 52;
        if (turn % 4 == 0) bits &= ~u64(0) << 50;
        double value; std::memcpy(&value, &bits, 8);
        if (value != value || value - value != 0) value = 0.5;
        D d = value; put(d);
        D f = float(turn - 30) / 16; put(f);
        D g = turn - 30; put(g);
        D h = (unsigned char)(turn * 5); put(h);
        std::printf("%a %a ", d.to_double(), double(f.to_float()));
    }
    std::printf("\n");
}
// The reference compares a negative number with an unsigned one of 32 bits or more as C does, as if both
// were unsigned; ours compares values. Those pairs are left out.
template <class X> struct trait {
    static bool odd_beside_signed() { return !(X(-1) < X(0)) && X::width >= 32; }
    static bool is_signed() { return X(-1) < X(0); }
};
template <> struct trait<int> {
    static bool odd_beside_signed() { return false; }
    static bool is_signed() { return true; }
};
template <> struct trait<double> : trait<int> { static bool is_signed() { return false; } };
template <class A, class B> void compare(const A& a, const B& b) {
    if (trait<A>::odd_beside_signed() && trait<B>::is_signed()) return;
    if (trait<B>::odd_beside_signed() && trait<A>::is_signed()) return;
    std::printf("%d%d%d%d%d%d ", a < b, a <= b, a > b, a >= b, a == b, a != b);
}
template <class A, class B> void arithmetic(const char* label) {
    std::printf("%s: ", label);
    for (int turn = 0; turn < 300; ++turn) {
        A a; B b;
        draw(a, turn % 17); draw(b, turn / 17);
        put_typed(a + b); put_typed(a - b); put_typed(a * b);
        compare(a, b);
        A s = a; s += b; put(s); s -= b; s -= b; put(s);
        A m = a; m *= b; put(m);
        A t = s; t += a; t += b; t -= a; put(t); std::printf("%d ", t == s + b);
        A l = a; l += b; l += b; A k = l; put(k); std::printf("%a %d ", l.to_double(), 0); compare(l, b);
        std::printf("%d %d ", a.to_int(), int(a.to_int64() & 0xffff));
    }
    std::printf("\n");
}
template <class A> void negation(const char* label) {
    std::printf("%s: ", label);
    for (int turn = 0; turn < 40; ++turn) {
        A a; draw(a, turn);
        A n; n = -a; put(n);
        std::printf("%d%d ", int(a[0]), int(a[A::width - 1]));
    }
    std::printf("\n");
}
template <class A, class B> void integers(const char* label) {
    std::printf("%s: ", label);
    for (int turn = 0; turn < 300; ++turn) {
        A a; B b;
        draw(a, turn % 17); draw(b, turn / 17);
        put_typed(a & b); put_typed(a | b); put_typed(a ^ b); put(~a);
        A s = a; s &= b; put(s); s |= b; put(s); s ^= a; put(s);
        const int count = turn % A::width;
        put(a << count); put(a >> count); put(a << -count); put(a >> -count);
        put(a >> ap_uint<3>(turn & 7)); put(a << ap_int<3>((turn & 7) - 4));
        s = a; s <<= count; put(s); s = a; s >>= count; put(s);
        s = a; ++s; put(s); --s; --s; put(s); A old = s++; put(old); put(s); old = s--; put(old); put(s);
        put_typed(a + 3); put_typed(7 - a); put_typed(a * (short)-5); put_typed(a + 9ull);
        compare(a, 1); compare(-1, a); compare(a, turn);
        B c = a; put(c); A d = turn - 150; put(d); d = (long long)next_random(); put(d);
        s = a; s += 5; put(s); s -= 7; put(s); s *= -3; put(s);
        std::printf("%d %d %lld ", int(!a), a.to_int(), (long long)a.to_int64());
        ap_fixed<24, 12> f = a; put(f); A g = f; put(g);
    }
    std::printf("\n");
}
template <class A> void fixed_with_integers(const char* label) {
    std::printf("%s: ", label);
    for (int turn = 0; turn < 60; ++turn) {
        A a; draw(a, turn);
        const ap_int<9> i = turn * 7 - 200;
        const ap_uint<5> u = turn;
        put_typed(a + 3); put_typed(2 - a); put_typed(a * (signed char)-5);
        put_typed(a + i); put_typed(u - a); put_typed(a * u);
        compare(a, 1); compare(a, i); compare(a, 0.25 * turn); std::printf("%d ", 0.5 < a);
        A s = a; s += 1; put(s); s -= i; put(s); s *= 3; put(s); ++s; put(s); --s; --s; put(s);
        const int count = turn % A::width;
        put(a << count); put(a >> count); put(a << -count); s = a; s >>= count; put(s); s <<= count; put(s);
        ap_int<12> n = a; put(n); ap_uint<40> m = a; put(m);
        std::printf("%d %u %a %a ", a.to_int(), a.to_uint(), a.to_double(), double(a.to_float()));
        const double as_double = a; const int as_int = a; const bool as_bool = a;
        std::printf("%a %d %d ", as_double, as_int, as_bool);
    }
    std::printf("\n");
}
template <class W> void words(const char* label) {
    std::printf("%s: ", label);
    W word = 0, other = -1;
    for (int turn = 0; turn < 200; ++turn) {
        const int lo = int(next_random() % W::width);
        const int room = W::width - lo < 64 ? W::width - lo : 64;
        const int hi = lo + int(next_random() % room);
        word.range(hi, lo) = next_random();
        word.range(15, 0) = ap_int<9>(-turn);
        ap_fixed<16, 6> f; f.range(15, 0) = word.range(31, 16); put(f);
        word(63, 48) = f.range(15, 0);
        ap_uint<24> u = word.range(hi, lo); put(u);
        ap_int<7> s = word(hi, lo); put(s);
        other(hi, lo) = word(hi, lo);
        W copy = other; std::printf("%d%d ", copy == other, copy == word);
        word = copy;
        for (int at = 0; at < W::width; at += 50) {
            const int end = at + 49 < W::width ? at + 49 : W::width - 1;
            std::printf("%llx ", (unsigned long long)word.range(end, at).to_uint64());
        }
    }
    std::printf("\n");
}
template <class X> void sizes(const char* label) { std::printf("%s: %d\n", label, int(sizeof(X))); }
"""


def fixed(width: int, integer: int, signed: bool, rounding: str = "TRN", overflow: str = "WRAP") -> str:
    return f"ap_{'' if signed else 'u'}fixed<{width}, {integer}, AP_{rounding}, AP_{overflow}>"


def calls() -> list[str]:
    modes = itertools.cycle(zip(itertools.cycle(ROUNDINGS), OVERFLOWS * 7, strict=False))
    found = []
    for source, target in CONVERSIONS:
        found += [call("conversion", fixed(*source), one) for one in targets(target, modes, 4)]
    for target in FROM_DOUBLE:
        found += [call("from_double", one) for one in targets(target, modes, 2)]
    found += [call("arithmetic", *pair) for pair in FIXED_PAIRS + INT_PAIRS if "100" not in pair[0]]
    found += [call("integers", *pair) for pair in INT_PAIRS]
    found += [call("fixed_with_integers", one) for one in BESIDE_INTEGERS]
    found += [call("negation", one) for one in sorted({first for first, _ in FIXED_PAIRS + INT_PAIRS})]
    found += [call("words", f"ap_uint<{width}>") for width in (64, 128, 256, 512, 1024)]
    found += [call("sizes", f"ap_int<{width}>") for width in (1, 8, 9, 16, 17, 24, 32, 33, 40, 64)]
    return found + [call("sizes", f"ap_ufixed<{width}, 4>") for width in (7, 12, 16, 20, 31, 32, 48, 64)]


def targets(kind: tuple[int, int, bool], modes: Iterator[tuple[str, str]], count: int) -> list[str]:
    """The type with the next modes, but those that it does not support."""
    taken = itertools.islice(modes, count)
    return [fixed(*kind, *one) for one in taken if kind[2] or one[1] != "WRAP_SM"]


def call(function: str, *types: str) -> str:
    return f'{function}<{", ".join(types)}>("{function} {" <- ".join(reversed(types))}");'


def test_every_compiler_gives_what_the_reference_gives(tmp_path: Path) -> None:
    """Without warnings too; optimised code shows what is undefined."""
    source = PROGRAM + "int main() {\n" + "\n".join(calls()) + "\nreturn 0;\n}\n"
    # NDEBUG: the reference asserts on shifts by more than the width, though it handles them.
    reference = ("-std=c++14", "-O0", "-w", "-DNDEBUG", f"-isystem{reference_include()}")
    theirs = run(compile_program(tmp_path, "slow", source, *reference))
    assert theirs.returncode == 0
    flags = ("-std=c++11", *STRICT, f"-I{INCLUDE / 'fast'}")
    programs = [compile_program(tmp_path, "fast", source, "-O2", *flags)]
    if shutil.which("clang++") is not None:
        programs.append(compile_program(tmp_path, "clang", source, "-O0", *flags, compiler="clang++"))
    if HAS_CLANG:
        programs.append(compile_with_schedule_headers(tmp_path, "exact", source))
    for program in programs:
        ours = run(program)
        assert ours.returncode == 0
        for line, expected in zip(ours.stdout.splitlines(), theirs.stdout.splitlines(), strict=True):
            assert line == expected, program.name


def test_unsigned_sign_magnitude_wrap_does_not_compile(tmp_path: Path) -> None:
    source = "#include <ap_fixed.h>\nint main() { ap_ufixed<8, 4, AP_TRN, AP_WRAP_SM> x; (void)x; }\n"
    (tmp_path / "bad.cpp").write_text(source, encoding="utf-8")
    command = ["g++", "-std=c++11", f"-I{INCLUDE / 'fast'}", "-fsyntax-only", "bad.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "ap_ufixed does not support AP_WRAP_SM" in done.stderr
