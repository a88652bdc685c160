"""Names of variables as the source has them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hlsgen.csim.compiler import INCLUDE
from hlsgen.schedule.names import variable_name


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("counts", "counts"),
        ("counts.i.i", "counts"),
        ("counts.static", "counts"),
        ("_ZZ11static_histE6counts.static", "counts"),
        ("static_hist.counts.static", "counts"),
        ("_ZL5table", "table"),
        ("_ZN7weights5firstE", "first"),
        ("_ZZ3topPiE4line_0", "line"),
        ("x2", "x2"),
        ("_ZZ5conv1PA255_A255_fPA1_A9_A9_fPfS1_E7in_tile", "in_tile"),
        # AndyWanna/switching_algorithms, in a log of 2024.1
        ("_ZZ10sw_qps_topP13PacketArrivalbbP7ap_uintILi7EES1_ILi8EEbbE10sw_manager", "sw_manager"),
    ],
)
def test_the_name_is_that_of_the_source(name: str, wanted: str) -> None:
    assert variable_name(name) == wanted


STATICS = """
#include <ap_fixed.h>
#include <ap_int.h>
namespace inner {
int first(ap_int<12> x, ap_fixed<16, 6, AP_RND_CONV, AP_SAT> (*)[4][11]) {
    static int counted = 1;
    return counted += x;
}
template <class T, int LESS, bool YES> struct held {
    static T table[3];
    int plus(const T (&x)[7]) { static int counted; return counted += x[0] + table[1] + LESS + YES; }
};
template <class T, int LESS, bool YES> T held<T, LESS, YES>::table[3];
}
static int second(const ap_ufixed<9, -3> &x) { static int counted; return counted += x.to_int(); }
using some = inner::held<ap_uint<8>, -12, true>;
int third(const ap_ufixed<9, -3> &x, some &one, inner::held<int, 5, false> &two) {
    return second(x) + one.plus({}) + two.plus({});
}
"""


def test_names_that_a_compiler_makes(tmp_path: Path) -> None:
    """Of statics in functions and templates whose parameters have numbers in their types."""
    source = tmp_path / "statics.cpp"
    source.write_text(STATICS)
    include = INCLUDE / "fast"
    command = ["g++", "-std=c++14", "-w", f"-I{include}", f"-I{INCLUDE / 'common'}", "-c", str(source)]
    subprocess.run([*command, "-o", str(tmp_path / "statics.o")], check=True)
    listed = subprocess.run(["nm", str(tmp_path / "statics.o")], check=True, capture_output=True, text=True)
    rows = [line.split()[-2:] for line in listed.stdout.splitlines()]
    names = [name for kind, name in rows if kind in "bBdDuV" and not name.startswith("_ZGV")]
    assert len(names) == 6
    assert sorted(map(variable_name, names)) == ["counted"] * 4 + ["table"] * 2
