"""Kernels and SLRs: one that needs several is pinned to none, and what is pinned has room."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hlsgen.api.design import Design, load
from hlsgen.base.errors import EmissionError
from hlsgen.lint.check_slrs import check_slrs
from tests.support.stand_ins.config_files import kernels_in, read_link

SLRS = """slrs:
  - {{name: SLR0, lut: {lut}, ff: 100000, bram18: 200, uram: 20, dsp: {dsp}}}
  - {{name: SLR1, lut: {lut}, ff: 100000, bram18: 200, uram: 20, dsp: {dsp}}}
  - {{name: SLR2, lut: {lut}, ff: 100000, bram18: 200, uram: 20, dsp: {dsp}}}

memory:"""
NETWORK = """
name: net
board: small.yaml
margin: 0
batch: 64
style: {style}
input: {{shape: [4, 8, 8], type: "fixed<8,3>", samples: random}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 8, kernel: 3, padding: same}}
  - {{name: relu1, kind: clamp, low: 0}}
  - {{name: conv2, kind: conv2d, out_channels: 8, kernel: 3, padding: same}}
  - {{name: sum, kind: add, inputs: [conv2, relu1]}}
  - {{name: conv3, kind: conv2d, out_channels: 8, kernel: 3}}
precision: "fixed<8,3>"
mapping: {mapping}
"""


def made(
    folder: Path, *, lut: int = 14_000, dsp: int = 200, style: str = "dataflow", **mapping: Any
) -> Design:
    """The network on a board of three equal SLRs."""
    board = (Path(__file__).parents[2] / "boards" / "u200.yaml").read_text()
    text = re.sub(r"slrs:\n.*?\nmemory:", SLRS.format(lut=lut, dsp=dsp), board, flags=re.DOTALL)
    (folder / "small.yaml").write_text(text)
    (folder / "net.yaml").write_text(NETWORK.format(style=style, mapping=mapping or "auto"))
    return load(folder / "net.yaml")


def link_of(design: Design) -> str:
    inputs = design.sample_inputs(1)
    return str(design.style.plan(inputs, design.golden_codes(inputs))["vitis/link.cfg"])


def test_a_kernel_over_several_slrs_is_pinned_to_none(tmp_path: Path) -> None:
    design = made(tmp_path)
    assert design.style.hardware.spans, "this board tests nothing"
    project = design.build(tmp_path / "out", csim=False)
    path = tmp_path / "out/vitis/link.cfg"
    linked = read_link(path, kernels_in((tmp_path / "out/src").glob("*.cpp")))
    assert list(linked.units) == ["net_1"] and linked.slr == {}
    assert {bank for _, bank in linked.banks} == {"m_axi_gmem_x", "m_axi_gmem_output1"}
    assert "# No slr= for net_1" in path.read_text()
    rows = {slr["name"]: slr["instances"] for slr in project.report["slrs"]}
    assert rows["all SLRs"] == 1 and rows["SLR0"] == 0


def test_what_has_room_is_pinned(tmp_path: Path) -> None:
    design = made(tmp_path, lut=60_000, instances=3)
    pinned = dict(re.findall(r"^slr=(\w+):(\w+)$", link_of(design), re.MULTILINE))
    assert pinned == {"net_1": "SLR0", "net_2": "SLR1", "net_3": "SLR2"}
    assert not design.style.hardware.spans


@pytest.mark.parametrize("style", ["dataflow", "tasks"])
def test_a_pin_to_an_slr_that_is_too_small_is_a_bug(
    tmp_path: Path, style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As hlsgen emitted it until now: the whole kernel in SLR0."""
    design = made(tmp_path, style=style, lut=14_000 if style == "dataflow" else 60_000)
    link = link_of(design)
    pins = (
        "slr=net_1:SLR0\n" if style == "dataflow" else "".join(f"slr={unit}:SLR0\n" for unit in units(link))
    )
    wrong = re.sub(r"^slr=.*\n", "", link, flags=re.MULTILINE) + pins
    given = type(design.style).plan

    def pinned(self: Any, *more: Any) -> dict[str, Any]:
        return {**given(self, *more), "vitis/link.cfg": wrong}

    monkeypatch.setattr(type(design.style), "plan", pinned)
    with pytest.raises(EmissionError, match="slr-overfull") as caught:
        design.build(tmp_path / "out", csim=False)
    assert caught.value.exit_code == 5 and "LUT of " in str(caught.value)
    assert not (tmp_path / "out").exists()


def units(link: str) -> list[str]:
    """The compute units of the link configuration, several times over: enough to fill any SLR."""
    return [
        name
        for names in re.findall(r"^nk=\w+:\d+:([\w.]+)$", link, re.MULTILINE)
        for name in names.split(".")
    ]


KERNELS = {"a": {"lut": 60, "dsp": 5}, "b": {"lut": 30, "dsp": 0}}
REGIONS = {"SLR0": {"lut": 100, "dsp": 9}, "SLR1": {"lut": 50, "dsp": 100}}


@pytest.mark.parametrize(
    ("link", "over"),
    [
        (["nk=a:1", "nk=b:2:x.y", "slr=a_1:SLR0", "slr=x:SLR0", "slr=y:SLR1"], ""),
        (["nk=a:1", "nk=b:2:x.y", "slr=a_1:SLR0", "slr=x:SLR0", "slr=y:SLR0"], "120 LUT of 100"),
        (["nk=a:2", "slr=a_1:SLR0", "slr=a_2:SLR0"], "120 LUT of 100, 10 DSP of 9"),
        (["nk=a:1", "slr=a_1:SLR1"], "60 LUT of 50"),
        (["nk=a:9"], ""),
    ],
)
def test_the_rule(link: list[str], over: str) -> None:
    """The last line is one compute unit too many."""
    found = check_slrs("vitis/link.cfg", "\n".join(link), KERNELS, REGIONS)
    assert bool(found) == bool(over)
    for one in found:
        unit, slr = link[-1].removeprefix("slr=").split(":")
        assert one.message == f"{unit} and what {slr} has already take {over} there"
        assert (one.place.line, one.place.excerpt) == (len(link), link[-1])
