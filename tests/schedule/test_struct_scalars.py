"""Numbers in structs with arrays are cut out where nothing but reading, writing and copying is done with
them, and the code computes what it did."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hlsgen.schedule import optimise
from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.struct_scalars import with_scalars_apart
from tests.support.ir_engine import runner
from tests.support.schedule_ir import front_end_of, needs_llvm

pytestmark = needs_llvm

KERNEL = """
struct Inner { int first; short rows[6]; float weight; };
struct Buffer {
    unsigned char count;
    long long words[8];
    Inner inner;
    int sum;
    Buffer() : count(0), sum(0) {}
    void push(long long x) {
        words[count & 7] = x;
        count++;
        sum += (int)x;
    }
};
struct Plain { int table[4]; int last; short also; };
extern "C" void run(const long long *in, long long *out) {
    Buffer one, two;
    Plain plain = {}, twin;
    for (int i = 0; i < 5; ++i) {
        one.push(in[i]);
        plain.table[in[i] & 3] += plain.last;
        plain.last = (int)in[i] + plain.also;
        plain.also++;
    }
    two = one;                                   // whole, with arrays and numbers
    one.inner.first = 7;
    one.inner.rows[in[1] & 3] = (short)in[0];
    one.inner.weight = 0.5f;
    two.inner = one.inner;                       // a struct within
    two.push(in[5]);
    twin = plain;
    if (in[2] & 1) plain.last = -1;
    if (in[3] & 1) one = two;
    out[0] = one.count; out[1] = two.count; out[2] = one.sum; out[3] = two.sum;
    out[4] = one.words[in[4] & 3]; out[5] = two.words[in[4] & 7 ? 1 : 2];
    out[6] = two.inner.first + one.inner.rows[in[1] & 3];
    out[7] = (long long)(two.inner.weight * 8.0f);
    out[8] = plain.last; out[9] = twin.last; out[10] = twin.also; out[11] = twin.table[in[0] & 3];
}
"""


def wrap(value: int, bits: int) -> int:
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if low >> (bits - 1) else low


def expected(given: list[int]) -> list[int]:
    words = {i: given[i] for i in range(5)}
    total = wrap(sum(wrap(x, 32) for x in given[:5]), 32)
    table, last = [0] * 4, 0
    for i in range(5):
        table[given[i] & 3] = wrap(table[given[i] & 3] + last, 32)
        last = wrap(wrap(given[i], 32) + i, 32)
    both = given[3] & 1
    more = wrap(total + wrap(given[5], 32), 32)
    return [
        6 if both else 5,
        6,
        more if both else total,
        more,
        words[given[4] & 3],
        words[1 if given[4] & 7 else 2],
        7 + wrap(given[0], 16),
        4,
        -1 if given[2] & 1 else last,
        last,
        5,
        table[given[0] & 3],
    ]


def test_what_is_computed_stays(tmp_path: Path) -> None:
    inlined = optimise.inline(front_end_of(tmp_path, KERNEL).ir, ["run"])
    apart = with_scalars_apart(inlined)
    for name in ("one.number0", "two.number0", "plain.number16", "plain.number20", "one.number72"):
        assert f'%"{name}" = alloca' in apart
    assert with_scalars_apart(apart) == apart
    before, after = runner(inlined, 12), runner(optimise.unroll(apart), 12)
    drawn = random.Random(11)
    cases = [[0] * 6, [-1] * 6, [(1 << 63) - 1, -(1 << 63), 1, 1, 7, 255]]
    cases += [[drawn.randrange(-(1 << 63), 1 << 63) for _ in range(6)] for _ in range(300)]
    for case in cases:
        assert before(case) == after(case) == expected(case), case


STAYS = """
struct Buffer {{ long long words[8]; {kind} count; int other; }};
__attribute__((noinline)) long long seen(const {seen} *p);
long long seen(const {seen} *p) {{ return ((const char *)p)[0]; }}
extern "C" void run(const long long *in, long long *out) {{
    Buffer one;
    one.count = 0;
    one.other = 0;
    for (int i = 0; i < 4; ++i) {{
        one.words[in[i] & 7] = i;
        one.count += (int)in[i];
        one.other++;
    }}
    {use}
    out[1] = one.other + one.words[in[0] & 7];
}}
"""


@pytest.mark.parametrize(
    ("kind", "seen", "use", "cut"),
    [
        ("int", "int", "out[0] = one.count;", ["64", "68"]),
        ("int", "int", "out[0] = seen(&one.count);", ["68"]),
        ("int", "Buffer", "out[0] = seen(&one);", []),
        ("volatile int", "int", "out[0] = one.count;", ["68"]),
        ("int", "int", "out[0] = ((short *)&one.count)[1];", ["68"]),
        ("int", "int", "out[0] = *(long long *)&one.count;", []),
        ("int", "int", "out[0] = (&one.count)[in[0] & 1];", []),
        ("int", "int", "__builtin_memcpy(out, (char *)&one + 66, 2); out[0] &= 0xffff;", ["68"]),
        ("int", "int", "__builtin_memset(&one, (int)in[0], sizeof one); out[0] = one.count;", []),
        ("int", "int", "__builtin_memcpy(out, &one, in[0] & 7);", []),
    ],
)
def test_what_else_is_done_with_a_number_leaves_it(
    tmp_path: Path, kind: str, seen: str, use: str, cut: list[str]
) -> None:
    text = STAYS.format(kind=kind, seen=seen, use=use)
    kept = ["run", *(["_Z4seenPKi"] if "seen(" in use and seen == "int" else ["_Z4seenPK6Buffer"])]
    inlined = optimise.inline(front_end_of(tmp_path, text).ir, kept)
    apart = with_scalars_apart(inlined)
    assert [at for at in ("64", "68") if f'%"one.number{at}" = alloca' in apart] == cut
    before, after = runner(inlined, 2), runner(apart, 2)
    for case in ([0, 1, 2, 3], [9, -4, 1 << 40, 5], [3, 3, 3, 3]):
        assert before(case) == after(case)


TWINS = """
struct Half { long long words[4]; int count; };
struct Both { Half left, right; };
extern "C" void run(const long long *in, long long *out) {
    Both both;
    both.left.count = 0;
    both.right.count = 7;
    for (int i = 0; i < 4; ++i) {
        both.left.words[in[i] & 3] = in[i];
        both.left.count += (int)in[i];
    }
    both.right = both.left;
    both.left.count = 1;
    out[0] = both.right.count;
    out[1] = both.left.count + both.right.words[in[0] & 3];
}
"""


def test_halves_that_are_copied_to_each_other_stay(tmp_path: Path) -> None:
    inlined = optimise.inline(front_end_of(tmp_path, TWINS).ir, ["run"])
    apart = with_scalars_apart(inlined)
    before, after = runner(inlined, 2), runner(apart, 2)
    for case in ([0, 1, 2, 3], [9, -4, 1 << 40, 5], [3, 3, 3, 3]):
        last = next(x for x in reversed(case) if (x ^ case[0]) & 3 == 0)
        assert before(case) == after(case) == [wrap(sum(wrap(x, 32) for x in case), 32), 1 + last]


COUNTED = """
struct Step {{
    short wires[{words}];
    unsigned char count;
}};
void steps(int n, int gap, short first, short out[{words}], unsigned char *total) {{
#pragma HLS interface ap_memory port=out
    Step end;
    end.count = 0;
    {before}
lower:
    for (int i = 0; i < n; i++) {{
#pragma HLS unroll factor=2
        {guard} end.wires[end.count] = 1 - gap + i;
        end.count++;
    }}
copy:
    for (int i = 0; i < {words}; i++) out[i] = end.wires[i];
    *total = end.count;
}}
"""


@pytest.mark.parametrize(
    ("words", "before", "guard", "interval"),
    [
        (48, "", "", 1),
        (48, "if (first) end.wires[end.count++] = first;", "", 1),
        (256, "", "", None),  # which come again
        (48, "", "if (i != gap)", None),  # not in each iteration
    ],
)
def test_words_behind_a_count_of_the_same_struct_are_different_words(
    tmp_path: Path, words: int, before: str, guard: str, interval: int | None
) -> None:
    """caps-tum/ATOMFLOW sortLatticeByRow.cpp:780 and 1716, 2024.2, xczu49dr at 10 ns: II 1."""
    source = tmp_path / "steps.cpp"
    source.write_text(COUNTED.format(words=words, before=before, guard=guard), encoding="utf-8")
    target = Target(part="xczu49dr-ffvf1760-2-e", clock_ns=10.0, version="2024.2", kernel_flow=False)
    found = schedule_component(Component(top="steps", files=(source,), target=target))
    assert [(loop.label, loop.likely) for loop in found.loops] == [("lower", interval), ("copy", 1)]
