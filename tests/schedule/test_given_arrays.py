"""Functions that are pipelined as a whole have the arrays of those who call them, with their banks.

Judges: hftsoi/sparse-pixels (2020.1: `dense` splits an array that the pipelined function reads 36 times,
II 1), and the ports that a memory has.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.front_end import compile_to_ir
from hlsgen.schedule.kept_parts import KeptParts, Work
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.processes import parts_of
from hlsgen.schedule.results import LoopSchedule, Tier
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm

# the calls between are as hls4ml has them
PIPELINED = """#include <hls_stream.h>
template <int K> void sums(const int *data, int *out) {
#pragma HLS pipeline II=1
    int sum = 0;
    for (int i = 0; i < 16; ++i) sum += data[i];
    *out = sum;
}
template <int K> void wrapped(const int *data, int *out) {
#pragma HLS inline
    sums<K>(data, out);
}
"""
CALLER = """OUTSIDE
void dense_K(hls::stream<int> &in, hls::stream<int> &out) {
    DECLARED
    PRAGMA
    FILL: for (int i = 0; i < 16; ++i) {
#pragma HLS pipeline
        GIVEN[i] = in.read();
    }
    int sum;
    wrapped<K>(GIVEN, &sum);
    out.write(sum);
}
"""
COMPLETE = "#pragma HLS array_partition variable=data complete"
RUNNING = "static int n = 0; n ^= 1; int data[2][16];"


class Case(NamedTuple):
    """An array, what is given of it, and the II that two ports a bank leave."""

    interval: int
    pragma: str = ""
    declared: str = "int data[16];"
    given: str = "data"
    outside: str = ""


CASES = [
    Case(8),
    Case(1, COMPLETE),
    Case(2, "#pragma HLS array_partition variable=data cyclic factor=4"),
    Case(4, "#pragma HLS array_reshape variable=data block factor=2"),
    Case(16, "#pragma HLS bind_storage variable=data type=ram_1p impl=bram"),
    # of the first dimension only
    Case(8, COMPLETE, "int data[2][16];", "data[1]"),
    Case(1, f"{COMPLETE} dim=2", "int data[2][16];", "data[1]"),
    Case(1, f"{COMPLETE} dim=2", RUNNING, "data[n]"),
    Case(8, f"{COMPLETE} dim=1", RUNNING, "data[n]"),
    Case(4, "#pragma HLS array_partition variable=data block factor=8", "int data[64];", "(data + 16)"),
    Case(1, COMPLETE.replace("data", "one.data"), "struct { int n; int data[16]; } one;", "one.data"),
    Case(1, COMPLETE, "static int data[16];"),
    Case(8, "", "", "all", "int all[16];"),
    Case(1, COMPLETE.replace("data", "every"), "", "every", "int every[16];"),
    # what 2020.2 does not know counts for nothing
    Case(8, "#pragma HLS array_partition variable=data type=complete"),
]


@cache
def functions(source: str, version: str, *, kernel_flow: bool = False) -> dict[int, LoopSchedule]:
    """The pipelines of the functions `sums` by their K."""
    target = Target(part="xczu9eg-ffvb1156-2-e", clock_ns=5.0, version=version, kernel_flow=kernel_flow)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "top.cpp"
        file.write_text(PIPELINED + source)
        loops = schedule_component(Component(top="top", files=(file,), target=target)).loops
    found = {re.search(r"4sumsILi(\d+)E", one.function): one for one in loops if one.label != "FILL"}
    return {int(name[1]): one for name, one in found.items() if name is not None}


def kernel() -> str:
    """A kernel that calls the functions of all cases, which have no array in common."""
    text = "".join(
        CALLER.replace("_K", f"_{at}")
        .replace("<K>", f"<{at}>")
        .replace("OUTSIDE", one.outside)
        .replace("DECLARED", one.declared)
        .replace("PRAGMA", f"\n{one.pragma}\n")
        .replace("GIVEN", one.given)
        for at, one in enumerate(CASES)
    )
    calls = "".join(f"    dense_{at}(in, out);\n" for at in range(len(CASES)))
    return f"{text}void top(hls::stream<int> &in, hls::stream<int> &out) {{\n{calls}}}\n"


@pytest.mark.parametrize("kernel_flow", [False, True])
def test_pragmas_of_the_caller_hold(kernel_flow: bool) -> None:
    """In either flow, of the last release that splits nothing by itself: an array of the kernel's own is no
    AXI port."""
    found = functions(kernel(), "2020.2", kernel_flow=kernel_flow)
    assert {at: one.likely for at, one in found.items()} == {at: one.interval for at, one in enumerate(CASES)}
    assert all(one.tier == Tier.SHOWN for one in found.values())
    assert not [bank for one in found.values() for bank in one.banks if bank.storage == "axi"]


def test_later_releases_split_them_by_themselves() -> None:
    found = functions(kernel(), "2024.2")
    assert found[0].likely == 1 and found[len(CASES) - 1].likely == 1


def test_a_split_of_the_functions_own_counts() -> None:
    text = "void top(int *out) {\n    int data[16];\n"
    text += "    FILL: for (int i = 0; i < 16; ++i) data[i] = i * *out;\n"
    own = "template <> void sums<1>(const int *data, int *out) {\n#pragma HLS pipeline\n"
    own += "#pragma HLS array_partition variable=data cyclic factor=4\n    int sum = 0;\n"
    own += "    for (int i = 0; i < 16; ++i) sum += data[i];\n    *out = sum;\n}\n"
    assert functions(f"{own}{text}    sums<1>(data, out);\n}}\n", "2020.2")[1].likely == 2


def test_of_several_calls_the_first_tells() -> None:
    text = "void top(hls::stream<int> &in, hls::stream<int> &out) {\n    int one[16], other[16];\n"
    text += "#pragma HLS array_partition variable=one complete\n"
    text += "    FILL: for (int i = 0; i < 16; ++i) { one[i] = in.read(); other[i] = 3 * i; }\n"
    text += (
        "    int sum, more;\n    sums<1>(A, &sum);\n    sums<1>(B, &more);\n    out.write(sum + more);\n}\n"
    )
    for first, second, interval in (("one", "other", 1), ("other", "one", 8)):
        called = text.replace("(A,", f"({first},").replace("(B,", f"({second},")
        assert functions(called, "2020.2")[1].likely == interval


def test_another_split_of_the_caller_is_another_part(tmp_path: Path) -> None:
    """Else a build would keep the schedule of the one before."""
    target = Target(part="xczu9eg-ffvb1156-2-e", clock_ns=5.0, version="2020.2", kernel_flow=False)
    digests = []
    for split in ("complete", "cyclic factor=4", "complete"):
        file = tmp_path / "top.cpp"
        file.write_text(PIPELINED + kernel().replace("cyclic factor=4", split))
        front = compile_to_ir([file])
        (part,) = [one for one in parts_of(front.ir, "top", front.pragmas) if "4sumsILi2E" in one.root]
        digests.append(KeptParts().digest(Work(part=part, pragmas=front.pragmas, target=target)))
    assert digests[0] == digests[2] != digests[1]


def test_the_kernels_own_arrays() -> None:
    """Words of an AXI port come one a cycle; ports of memories are two, and no release splits those."""
    text = (
        "void top(const int data[16], hls::stream<int> &out) {\n    int sum;\n    wrapped<1>(data, &sum);\n"
    )
    text += "    out.write(sum);\n}\n"
    assert [functions(text, version)[1].likely for version in ("2020.2", "2024.2")] == [8, 8]
    found = functions(text, "2020.2", kernel_flow=True)[1]
    assert found.banks[0].storage == "axi" and found.likely != 8


def test_a_pipelined_function_stands_in_its_own_file(tmp_path: Path) -> None:
    """Not in the header of what it calls first (hanjie1/SBS_ECAL_trigger: hls_stream.h:26 was said)."""
    source = tmp_path / "doubled.cpp"
    lines = ["#include <hls_stream.h>", "void doubled(hls::stream<int> &in, hls::stream<int> &out) {"]
    lines += ["#pragma HLS pipeline II=1", "    int word = in.read();", "    out.write(2 * word);", "}"]
    source.write_text("\n".join(lines), encoding="utf-8")
    (loop,) = schedule_component(
        Component(top="doubled", files=(source,), target=Target(part="xcu200-fsgd2104-2-e", clock_ns=5.0))
    ).loops
    assert loop.place is not None
    assert (Path(loop.place.file).name, loop.place.line) == ("doubled.cpp", 4)
