"""A layer whose instances differ in folding: its build, its reports, and that each kernel is verified."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import hlsgen
from hlsgen.api.project import build
from hlsgen.base.errors import MismatchError
from hlsgen.cost.cycles import iterations
from hlsgen.emit import conv2d
from hlsgen.emit.conv2d import folding_names
from hlsgen.emit.ompss import frame_shares
from hlsgen.explore.design_file import fixed_design
from hlsgen.hardware.banks import BankMap
from hlsgen.report.html import html_report
from hlsgen.report.reading import read_report
from hlsgen.vendor.build_report import read_build
from tests.support.host_builds import foldings_design

DESIGNS = Path(__file__).parents[2] / "designs"


def test_a_build_verifies_and_reports_both_kernels(tmp_path: Path) -> None:
    design = foldings_design(tmp_path)
    project = build(design, tmp_path / "build", frames=2)
    one, other = design.style.hardware.deployment.kernels
    found = project.report
    assert [(kernel["kernel"], kernel["instances"]) for kernel in found["kernels"]] == [
        ("conv", 3),
        ("conv_b", 2),
    ]
    assert found["total"]["instances"] == 5
    # what was there before is said of the first kernel, or of all together
    assert found["layers"][0]["folding"] == found["kernels"][0]["folding"]
    assert found["total"]["interval_cycles"] == one.cycles.interval
    assert found["total"]["dsp"] == 3 * one.each.dsp + 2 * other.each.dsp
    speeds = [3 / one.cycles.interval, 2 / other.cycles.interval]
    assert found["performance"]["frames_per_s"] == pytest.approx(sum(speeds) * design.clock_mhz * 1e6)
    shares = [kernel["frames_share"] for kernel in found["kernels"]]
    assert shares == pytest.approx([speed / sum(speeds) for speed in speeds], abs=1e-6)
    # every frame through both
    assert found["csim"]["compared"] == 2 * 2 * 4 * design.graph.outputs[0].shape[1] * 9
    counted = found["csim"]["iterations_measured"]
    assert counted["conv_b compute"] == iterations(other.mapping, 2).compute != counted["compute"]
    text = (tmp_path / "build/report.md").read_text()
    assert "| conv_b | 2 | 2 x 1 x 3" in text and "## Memory and banks of `conv_b`" in text
    page = html_report(read_report(tmp_path / "build"), tmp_path / "build")
    assert page == (tmp_path / "build/report.html").read_text() and "conv_b" in page
    built = read_build(tmp_path / "build")
    assert built.kernels == ["conv", "conv_b"]
    assert [built.modelled_kernel(name, "routed")["dsp"] for name in built.kernels] == [
        one.each.dsp,
        other.each.dsp,
    ]
    x = np.random.default_rng(1).normal(0, 1, (5, *design.graph.inputs[0].shape))
    np.testing.assert_array_equal(project.csim(x), design.golden(x))
    np.testing.assert_array_equal(project.csim(x[0]), design.golden(x[0]))


def test_a_fault_of_the_second_kernel_ends_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = conv2d.kernel_constants

    def no_offsets(mapping: Any, names: Any) -> Any:
        zero = BankMap(mapping.bank_map.banks, (0,) * mapping.bank_map.slots)
        return constants(replace(mapping, bank_map=zero) if names.kernel == "conv_b" else mapping, names)

    monkeypatch.setattr(conv2d, "kernel_constants", no_offsets)
    with pytest.raises(MismatchError):
        build(foldings_design(tmp_path), tmp_path / "build", frames=1)


def test_explore_fixes_both_foldings(tmp_path: Path) -> None:
    """What it writes has the same hardware, though the file that it came from fixes nothing."""
    path = tmp_path / "free.yaml"
    text = Path("designs/conv_int8_wide.yaml").read_text()
    path.write_text(
        text.replace("[64, 56, 56]", "[16, 14, 14]").replace("out_channels: 64", "out_channels: 16")
    )
    explored = hlsgen.load(path, clock_mhz=300).explore()
    deployment = explored.chosen.style.hardware.deployment
    assert len(deployment.kernels) == 2 and len(explored.layers) == 2
    target = tmp_path / "fixed.yaml"
    target.write_text(fixed_design(explored, path, target, clock_mhz=300))
    assert yaml.safe_load(target.read_text())["mapping"]["conv1"]["second"]["instances"]
    again = hlsgen.load(target).style.hardware.deployment
    assert str(again) == str(deployment) and again.instances == deployment.instances


def test_names_of_kernels_and_files() -> None:
    assert folding_names("conv", "conv1", 1) == [("conv", "conv1")]
    assert folding_names("conv", "conv1", 3) == [
        ("conv", "conv1"),
        ("conv_b", "conv1_b"),
        ("conv_c", "conv1_c"),
    ]
    # conv_b.h is the layer's own header, or was it CONV_B.h
    assert folding_names("conv", "CONV_B", 2)[1] == ("conv__b", "CONV_B__b")


def test_frames_are_dealt_by_speed() -> None:
    assert frame_shares([5.0]) == [1]
    assert frame_shares([3.0, 1.0]) == [3, 1]
    assert frame_shares([1000.0, 1.0]) == [64, 1]
    parts = frame_shares([2.0, 1.0])
    assert parts[0] / sum(parts) == pytest.approx(2 / 3, abs=0.01)
