"""Kernels that become too large once their loops are unrolled: said, and not tried for hours."""

from __future__ import annotations

from dataclasses import replace
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


LAYERS = """void layer(const short in[256], short out[256]) {
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        out[i] = in[i] * short(3 + i);
    }
}
void point(const short in[8], short out[8]) {
    for (int i = 0; i < 8; ++i) out[i] = in[i] * in[7 - i];
}
void top(short a[256], short b[256], short c[64][8], short d[64][8], short e[64][8]) {
#pragma HLS array_partition variable=c complete dim=2
#pragma HLS array_partition variable=d complete dim=2
#pragma HLS array_partition variable=e complete dim=2
    layer(a, b);
    layer(b, a);
    for (int round = 0; round < 5; ++round) {
        layer(a, b);
        layer(b, a);
    }
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        point(c[i], d[i]);
        point(d[i], e[i]);
    }
}
"""


def test_what_is_too_large_is_scheduled_by_first_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ry1and/SkyNet-KV260 (log of 2022.2): 1.3 million instructions where each layer is a copy, 20,000 where
    each function is there once; 26 of the 27 loops that are decided have the II of the log. A pipeline that
    calls a function twice is made of both; a loop around calls is none."""
    whole = schedule_component(component(tmp_path / "top.cpp", LAYERS, top="top"))
    assert whole.by_first_calls == ()
    monkeypatch.setattr("hlsgen.schedule.unrolled_size.MOST_INSTRUCTIONS", 400)
    kernel = schedule_component(component(tmp_path / "top.cpp", LAYERS, top="top"))
    (said,) = kernel.by_first_calls
    assert said.startswith("top: some ") and said.endswith(
        "once loops are unrolled as the vendor's tool would"
    )
    assert kernel.too_large == () and kernel.as_json()["by_first_calls"] == [said]
    assert kernel.instructions < whole.instructions
    assert [loop.copies for loop in whole.loops] == [4, 1] and [loop.copies for loop in kernel.loops] == [
        1,
        1,
    ]
    assert [(loop.title, loop.likely, loop.trips) for loop in kernel.loops] == [
        (loop.title, loop.likely, loop.trips) for loop in whole.loops
    ]
    assert kernel.loops[-1].operations["mul 16x16"] == 16


def test_first_calls_are_a_note_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [schedule_component(component(tmp_path / "top.cpp", LAYERS, top="top"))]
    found = [replace(one, by_first_calls=("top: some 2,000,000 instructions",)) for one in found]
    monkeypatch.setattr("hlsgen.cli.schedule._scheduled", lambda *_: found)
    done = run("schedule", str(tmp_path / "top.cpp"))
    said = " ".join((done.output + done.stderr).split())
    assert "some 2,000,000 instructions: scheduled, and its cells counted, by the first call of each" in said
    assert done.exit_code == 0


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
