"""Kernels that become too large once their loops are unrolled: said, and not tried for hours."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component, schedule_components
from hlsgen.schedule.names import function_name
from hlsgen.schedule.unrolled_size import MOST_INSTRUCTIONS, says_too_large
from tests.support.command_line import run
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm

LARGE = """namespace net {
template <int N> void dense(const short in[N], short weights[N][N], short out[N]) {
#pragma HLS array_partition variable=in complete
#pragma HLS array_partition variable=out complete
#pragma HLS array_partition variable=weights complete dim=0
#pragma HLS pipeline II=1
    for (int o = 0; o < N; ++o) {
        int sum = 0;
        for (int i = 0; i < N; ++i) sum += in[i] * weights[i][o];
        out[o] = short(sum);
    }
}
void large(const short in[4096], short weights[4096][4096], short out[4096]) {
    dense<4096>(in, weights, out);
}
}
void small(const short in[16], short weights[16][16], short out[16]) {
    net::dense<16>(in, weights, out);
}
"""
FACTORS = """void f(int x[64]) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline off
#pragma HLS unroll factor=FACTOR
        x[i] *= 3;
    }
}
"""


def component(path: Path, text: str, **changes: object) -> Component:
    path.write_text(text)
    target = Target(part="xczu9eg-ffvb1156-2-e", clock_ns=5.0, version="2024.1", kernel_flow=False)
    return Component(**{"top": "", "files": (path,), "target": target, **changes})  # type: ignore[arg-type]


def test_what_is_too_large_is_said_and_others_are_scheduled(tmp_path: Path) -> None:
    (kernel,) = schedule_components([component(tmp_path / "net.cpp", LARGE)])
    (said,) = kernel.too_large
    assert said.startswith("net::dense: some ") and "unroll less" in said and said in kernel.findings()
    assert [(loop.likely, loop.operations["mul 16x16"]) for loop in kernel.loops] == [(1, 256)]
    assert kernel.as_json()["too_large"] == [said]
    size = int(said.split()[2].replace(",", ""))
    assert 4 * 4096**2 < size < 30 * 4096**2  # loads, a product and a sum of each weight


def test_the_command_ends_with_one(tmp_path: Path) -> None:
    (tmp_path / "net.cpp").write_text(LARGE)
    done = run("schedule", str(tmp_path / "net.cpp"))
    assert done.exit_code == 1 and "net::dense: some" in " ".join(done.output.split())
    assert "no estimate of its cells" in done.output and "csynth ~" not in done.output


@pytest.mark.parametrize("factor", [1, 8, 64])
def test_a_factor_is_what_counts(tmp_path: Path, factor: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many copies as LLVM makes: of a body of a few instructions, more of them than are allowed."""
    text = FACTORS.replace("FACTOR", str(factor))
    kernel = schedule_component(component(tmp_path / "f.cpp", text, top="f"))
    assert not kernel.too_large and kernel.instructions >= 3 * factor
    monkeypatch.setattr("hlsgen.schedule.unrolled_size.MOST_INSTRUCTIONS", 3 * factor)
    (said,) = schedule_component(component(tmp_path / "f.cpp", text, top="f")).too_large
    assert kernel.instructions <= int(said.split()[2].replace(",", "")) <= 20 * factor + 20


def test_the_limit() -> None:
    assert says_too_large("f", MOST_INSTRUCTIONS) == ""
    assert says_too_large("f", MOST_INSTRUCTIONS + 1).startswith("f: some 1,000,001 instructions")


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("top", "top"),
        ("_Z3topPi", "top"),
        ("_ZN4nnet5denseI8ap_fixedILi8EEEEvPT_", "nnet::dense"),
        ("_ZN1a1b1fEv", "a::b::f"),
        ("_ZL4seenv", "_ZL4seenv"),
        ("_ZN17ProcessingElement5setupE6ap_intILi11EE", "ProcessingElement::setup"),
        ("_ZNK2pe3addEi", "pe::add"),
        ("_ZNSt3__15mutex4lockEv", "std::mutex::lock"),
    ],
)
def test_names_of_functions(name: str, source: str) -> None:
    assert function_name(name) == source
