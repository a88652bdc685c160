"""C sources: what C allows and C++ does not, and the marks of pragmas there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hlsgen.schedule.front_end import SourceError, compile_to_ir
from tests.support.schedule_ir import body, marks, needs_llvm, optimised

SOURCE = """#include <math.h>
#include <stdint.h>
#include <string.h>
#include "parts.h"
#define F 4
typedef struct pair { __int32_t a[8]; float b; } pair_t;
int table[16];
int table[16];
const float weights[4] = { [2] = 1.5f, 2.5f };
inline int twice(int class) { return 2 * class; }
float top(int x[static 64], float *restrict y, pair_t p[4], int new, _Bool z, int w[3][5]) {
#pragma HLS interface m_axi port=y depth=F*16
#pragma HLS array_partition variable=x cyclic factor=F
#pragma HLS array_partition variable=w complete dim=2
    static int counts[8];
    int local[4][6][2];
    _Bool flags[9];
#pragma HLS array_partition variable=local complete dim=0
#pragma HLS array_partition variable=flags complete
#pragma HLS array_partition variable=absent complete
#pragma HLS disaggregate variable=p
#pragma HLS interface s_axilite port=new
    float sum = strlen(text("new this", 1)) + z;
    if (new)
#pragma HLS latency max=3
        sum = 1;
    else
        sum = 2;
    for (int i = 0; i < new; i++) {
#pragma HLS pipeline II=F/2
#pragma HLS dependence variable=counts inter false
        counts[x[i] & 7]++;
        sum += sqrtf(y[i]) * weights[i & 3] + twice(i) + table[i & 15] + p[i & 3].a[0];
    }
    declared_nowhere(local, w, flags);
    return sum;
}
int main() {
    float *y = malloc(12);
    int x[64], v[7][7];
    pair_t p[4];
    return top(x, v, p, 3, 1, v);
}
"""


@needs_llvm
def test_a_file_of_c_is_c(tmp_path: Path) -> None:
    """Keywords of C++ as names, arrays of other forms as arguments, pointers from void*, functions and
    variables declared twice or not at all: warnings to the vendor's tool, or nothing."""
    (tmp_path / "parts.h").write_text("char *text(char *new, int class);\n", encoding="utf-8")
    (tmp_path / "kernel.c").write_text(SOURCE, encoding="utf-8")
    front = compile_to_ir([tmp_path / "kernel.c"])
    assert "float @top(" in front.ir and "@main(" in front.ir
    assert "define linkonce_odr i32 @twice(" in front.ir
    assert [(one.name, one.line) for one in front.dropped] == [("array_partition", 20), ("latency", 25)]
    none = [0] * 6
    assert sorted(marks(front.ir)) == [
        (0, True, [4, 32, 1, *none, 64]),
        (1, True, [4, 32, 1, 64, *none[1:], 4]),
        (2, True, [4, 32, 2, 3, 5, *none[2:], 2]),
        (3, True, [4, 32, 3, 4, 6, 2, *none[3:], 0]),
        (4, True, [1, 1, 1, 9, *none[1:]]),
        (6, True, [36, 288, 1, 4, *none[1:]]),
        (7, True, [4, 32, 0, *none]),
        (8, False, [3]),
        (9, False, [2]),
        (10, True, [4, 32, 1, 8, *none[1:]]),
    ]


@needs_llvm
def test_c_that_includes_headers_of_cpp_is_that(tmp_path: Path) -> None:
    source = "#include <ap_int.h>\nvoid top(ap_int<5> *x) { x[0] += 1; }\n"
    (tmp_path / "kernel.c").write_text(source, encoding="utf-8")
    assert "@_Z3topP6ap_intILi5EE(" in compile_to_ir([tmp_path / "kernel.c"]).ir


@needs_llvm
def test_what_neither_language_takes_is_refused_in_the_words_of_c(tmp_path: Path) -> None:
    (tmp_path / "kernel.c").write_text("int top(int new) { return absent; }\n", encoding="utf-8")
    with pytest.raises(SourceError, match="use of undeclared identifier 'absent'") as refused:
        compile_to_ir([tmp_path / "kernel.c"])
    assert len(refused.value.problems) == 1


EXACT = """#include "ap_cint.h"
uint20 chosen(uint20 a, int c) { return c ? a : 0; }
GIVEN int given() {
    uint12 x = 4000;
    int7 y = -3;
    x = x + 100;
    y = y * 2;
    int5 wrapped = 20;
    uint9 some = 0;
    apint_set_bit(some, 8, 1);
    apint_set_range(some, 3, 1, 5);
    return x * 10000 + some * 10 + wrapped + y + apint_get_bit(some, 8) + apint_get_range(some, 4, 2);
}
"""


@needs_llvm
@pytest.mark.parametrize("suffix", [".c", ".cpp"])
def test_numbers_of_exact_width_are_the_languages_own(tmp_path: Path, suffix: str) -> None:
    """njansen28: ap_cint.h in C, whose choices between a number and 0 are ambiguous to ap_ numbers."""
    source = (
        EXACT if suffix == ".c" else EXACT.replace("uint20 chosen(uint20 a, int c) { return c ? a : 0; }", "")
    )
    path = tmp_path / f"kernel{suffix}"
    path.write_text(source.replace("GIVEN", 'extern "C"' if suffix == ".cpp" else ""))
    (result,) = re.findall(r"ret i32 (-?\d+)", body(optimised(compile_to_ir([path]).ir), "given"))
    assert int(result) == 4 * 10000 + (256 + 10) * 10 - 12 - 6 + 1 + 2
