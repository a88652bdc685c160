"""The IR, optimised as schedules do, executed: it computes what arithmetic apart from it says."""

from __future__ import annotations

import random
from pathlib import Path

from tests.support.ir_engine import runner
from tests.support.schedule_ir import front_end_of, needs_llvm, optimised

KERNEL = """#include <ap_fixed.h>
#include <ap_int.h>
#include <hls_half.h>
struct pair { ap_uint<7> a; ap_int<100> b; bool flag; };
struct wrapped { ap_int<7> only; };

// not inlined: numbers and structures pass from function to function
__attribute__((noinline)) ap_int<7> narrow(ap_int<9> x, ap_uint<130> y) { return x + y.range(70, 66); }
__attribute__((noinline)) pair twice(pair p) {
    p.a += p.a;
    p.b += p.b;
    p.flag = !p.flag;
    return p;
}
__attribute__((noinline)) wrapped inner(wrapped w, ap_uint<1> up) {
    w.only += up;
    return w;
}
__attribute__((noinline)) ap_fixed<9, 5, AP_RND, AP_SAT> rounded(ap_fixed<20, 8> x) { return x; }

extern "C" void run(const long long *in, long long *out) {
    const ap_int<9> x = in[0];
    const ap_uint<130> y = (ap_uint<130>(in[1]) << 66) | ap_uint<130>(in[2] & 0xffff);
    out[0] = narrow(x, y);
    pair p;
    p.a = in[0];
    p.b = in[1];
    p.flag = in[2] & 1;
    p = twice(p);
    out[1] = p.a;
    out[2] = (p.b >> 40).to_int64();
    out[3] = p.flag;
    wrapped w;
    w.only = in[2];
    out[4] = inner(w, ap_uint<1>(in[0])).only;
    ap_fixed<20, 8> f;
    f.range(19, 0) = in[2];
    out[5] = ap_int<9>(rounded(f).range(8, 0));
    ap_uint<5> counts[3] = {0};
    for (int i = 0; i < 9; ++i) counts[i % 3] += ap_uint<5>(in[0]);
    out[6] = counts[1];
    out[7] = (y * y).range(140, 130).to_int();
}
"""


def wrap(value: int, bits: int, signed: bool = True) -> int:
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if signed and low >> (bits - 1) else low


def expected(a: int, b: int, c: int) -> list[int]:
    y = wrap((wrap(b, 130, False) << 66) | (c & 0xFFFF), 130, False)
    fixed = wrap(c, 20)
    down = (fixed + (1 << 7)) >> 8  # 12 bits of fraction become 4, halves go up
    return [
        wrap(wrap(a, 9) + (y >> 66 & 31), 7),
        wrap(2 * a, 7, False),
        wrap(wrap(2 * b, 100) >> 40, 64),
        1 - (c & 1),
        wrap(c + (a & 1), 7),
        min(max(down, -256), 255),
        wrap(3 * wrap(a, 5, False), 5, False),
        y * y >> 130 & 0x7FF,
    ]


@needs_llvm
def test_the_ir_computes_what_the_source_says(tmp_path: Path) -> None:
    run = runner(optimised(front_end_of(tmp_path, KERNEL).ir), 8)
    drawn = random.Random(5)
    cases = [(0, 0, 0), (-1, -1, -1), (255, 1 << 62, 0x7FFFF), (-256, -(1 << 63), 0x80000)]
    cases += [tuple(drawn.randrange(-(1 << 63), 1 << 63) for _ in range(3)) for _ in range(200)]
    for case in cases:
        assert run(case) == expected(*case), case
