"""Calibration: known scales come back from reports that were made with them, and errors are told honestly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.cli.commands import cli
from hlsgen.targets.terms import CELLS, FEATURES, Target, Terms, load_terms, packaged_terms, terms_text
from hlsgen.vendor.calibrate import Refit, calibrate
from tests.support import vendor_reports
from tests.support.vendor_reports import FIGURES

OUTSIDE = "interconnect"
MAPPING = "{{instances: {instances}, conv1: {{rows: {rows}, pe: {pe}, simd: {simd}, fabric_pe: {fabric}}}}}"
TEMPLATE = """
name: {name}
board: u200
batch: 4
input: {{shape: [4, 16, 16], type: "{type}", samples: random}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 8, kernel: 3, weights: {{seed: 3}}}}
mapping: {mapping}
"""
FOLDINGS = [
    (1, 1, 1, 0, "fixed<16,6>"),
    (1, 8, 4, 0, "fixed<16,6>"),
    (2, 8, 4, 8, "fixed<8,4>"),
    (2, 2, 1, 2, "fixed<8,4>"),
    (1, 4, 4, 0, "fixed<16,6>"),
    (7, 4, 2, 0, "fixed<16,6>"),
    (2, 4, 4, 4, "fixed<12,4>"),
    (1, 2, 4, 1, "fixed<12,4>"),
    (7, 1, 4, 0, "fixed<16,6>"),
    (14, 2, 2, 0, "fixed<16,6>"),
    (1, 8, 1, 8, "fixed<6,3>"),
    (2, 8, 2, 8, "fixed<6,3>"),
    (2, 1, 2, 1, "fixed<16,6>"),
    (7, 2, 2, 0, "fixed<10,4>"),
]


@pytest.fixture(scope="module")
def estimates(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the model says of designs of one style that differ in size and in what they are made of."""
    folder = tmp_path_factory.mktemp("designs")
    found = []
    for number, (rows, pe, simd, fabric, type_) in enumerate(FOLDINGS):
        mapping = MAPPING.format(instances=1 + number % 3, rows=rows, pe=pe, simd=simd, fabric=fabric)
        path = folder / f"d{number}.yaml"
        path.write_text(TEMPLATE.format(name=f"d{number}", type=type_, mapping=mapping))
        found.append(hlsgen.load(path).estimate().as_json())
    return found


def reported(estimate: dict[str, Any], target: Target, scales: dict[str, float]) -> dict[str, float]:
    """LUT and FF of one instance if there were `scales` times as many as the model says, by term."""
    figures = dict(FIGURES)
    for kind in CELLS:
        parts = {
            part["term"]: part[target][kind]
            for part in estimate["cost"]["by_term"]
            if part["term"] != OUTSIDE
        }
        whole = sum(scales.get(name, scales["all"]) * cells for name, cells in parts.items())
        figures[kind] = round(whole / estimate["total"]["instances"])
    return figures


def write(folder: Path, estimate: dict[str, Any], target: Target, scales: dict[str, float]) -> None:
    """A build folder with a report of the tool that the target is of."""
    place = folder / estimate["design"]
    place.mkdir(parents=True, exist_ok=True)
    (place / "report.json").write_text(json.dumps(estimate))
    figures = reported(estimate, target, scales)
    if target == "csynth":
        (place / "csynth.xml").write_text(vendor_reports.csynth(figures, top=estimate["design"]))
    else:
        (place / "x_util_routed.rpt").write_text(
            vendor_reports.utilisation(figures, design=estimate["design"])
        )


def refits(folder: Path, terms: Terms | None = None) -> dict[str, Refit]:
    return {one.kind: one for one in calibrate(folder, terms or packaged_terms()).refits}


@pytest.mark.parametrize("target", ["csynth", "routed"])
def test_common_scale_comes_back(tmp_path: Path, estimates: list[dict[str, Any]], target: Target) -> None:
    for estimate in estimates[:4]:
        write(tmp_path, estimate, target, {"all": 1.7})
    for one in refits(tmp_path).values():
        assert (one.style, one.target, one.designs) == ("layer", target, 4)
        assert list(one.scales.values()) == pytest.approx([1.7] * len(FEATURES), rel=2e-3)
        assert one.before[0] == pytest.approx(1 - 1 / 1.7, abs=2e-3)
        assert one.after[1] < 5e-3


def test_scales_of_terms_come_back(tmp_path: Path, estimates: list[dict[str, Any]]) -> None:
    """Each large term has its own once there are enough designs."""
    wanted = {"all": 1.0, "lut_product": 1.5, "cascaded_product": 0.7}
    for estimate in estimates:
        write(tmp_path, estimate, "routed", wanted)
    lut = refits(tmp_path)["lut"]
    assert lut.after[1] < 0.02 < lut.before[1]
    for name in ("lut_product", "cascaded_product", "memory_lutram"):
        assert lut.scales[name] == pytest.approx(wanted.get(name, 1.0), rel=0.05)


def test_terms_with_the_calibration_predict_the_designs(
    tmp_path: Path, estimates: list[dict[str, Any]]
) -> None:
    """The file that is written, read again, gives the reported cells with the error that it states."""
    for estimate in estimates[:5]:
        write(tmp_path, estimate, "routed", {"all": 0.5})
    path = tmp_path / "terms.yaml"
    path.write_text(terms_text(calibrate(tmp_path, packaged_terms()).file))
    design = tmp_path / "d1.yaml"
    rows, pe, simd, fabric, type_ = FOLDINGS[1]
    mapping = MAPPING.format(instances=2, rows=rows, pe=pe, simd=simd, fabric=fabric)
    design.write_text(TEMPLATE.format(name="d1", type=type_, mapping=mapping))
    cost = hlsgen.load(design, terms=path).estimate().as_json()["cost"]
    assert cost["terms"].startswith(f"{packaged_terms().name}, calibrated ")
    inside = reported(estimates[1], "routed", {"all": 0.5})["lut"]
    parts = {part["term"]: part["routed"]["lut"] for part in cost["by_term"]}
    assert (sum(parts.values()) - parts[OUTSIDE]) / 2 == pytest.approx(inside, rel=0.01)
    assert cost["routed"]["lut_error"] == 0.05
    assert "calibrated on 5 designs" in cost["routed"]["basis"]
    assert cost["csynth"]["lut_error"] > 0.05, "no csynth report has come"


def test_calibrating_again_goes_on_top(tmp_path: Path, estimates: list[dict[str, Any]]) -> None:
    for estimate in estimates[:3]:
        write(tmp_path / "first", estimate, "csynth", {"all": 2.0})
    first = Terms(file=calibrate(tmp_path / "first", packaged_terms()).file)
    for estimate in estimates[:3]:
        again = json.loads(json.dumps(estimate))
        again["cost"]["terms"] = first.name
        for part in again["cost"]["by_term"]:
            part["csynth"] = {kind: 2 * part["csynth"][kind] for kind in CELLS}
        write(tmp_path / "second", again, "csynth", {"all": 1.5})
    second = calibrate(tmp_path / "second", first).file
    assert second.name != first.name and second.name.count("calibrated") == 1
    (calibration,) = second.calibrations
    assert list(calibration.lut_scale.values()) == pytest.approx([3.0] * len(FEATURES), rel=5e-3)


def test_error_is_that_of_designs_that_were_not_fitted_to(
    tmp_path: Path, estimates: list[dict[str, Any]]
) -> None:
    """Reports that no scale explains leave the error that they show."""
    for number, estimate in enumerate(estimates[:6]):
        write(tmp_path, estimate, "csynth", {"all": 1.0 if number % 2 else 2.0})
    for one in refits(tmp_path).values():
        assert one.after[1] > 0.3
    (calibration,) = calibrate(tmp_path, packaged_terms()).file.calibrations
    assert calibration.lut_error > 0.3


def test_refusals(tmp_path: Path, estimates: list[dict[str, Any]]) -> None:
    with pytest.raises(DesignError, match="is no folder"):
        calibrate(tmp_path / "nowhere", packaged_terms())
    with pytest.raises(DesignError, match="holds no build with reports"):
        calibrate(tmp_path, packaged_terms())
    write(tmp_path, estimates[0], "csynth", {"all": 1.0})
    with pytest.raises(DesignError, match="fewer than 2 designs of every style"):
        calibrate(tmp_path, packaged_terms())
    write(tmp_path, estimates[1], "csynth", {"all": 1.0})
    (tmp_path / "d1" / "csynth.xml").write_text("<profile>")
    with pytest.raises(DesignError, match="ends before its elements do"):
        calibrate(tmp_path, packaged_terms())
    other = {**estimates[1], "cost": {**estimates[1]["cost"], "terms": "others"}}
    write(tmp_path, other, "csynth", {"all": 1.0})
    with pytest.raises(DesignError, match="is modelled with the terms others, not"):
        calibrate(tmp_path, packaged_terms())


def test_builds_without_reports_are_told(tmp_path: Path, estimates: list[dict[str, Any]]) -> None:
    for estimate in estimates[:3]:
        write(tmp_path, estimate, "csynth", {"all": 1.0})
    (tmp_path / "d2" / "csynth.xml").unlink()
    done = calibrate(tmp_path, packaged_terms())
    assert done.notes == (f"{tmp_path / 'd2'} has no reports on all of its kernels; left out",)
    assert {one.designs for one in done.refits} == {2}


def test_command(tmp_path: Path, estimates: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for estimate in estimates[:3]:
        write(tmp_path / "builds", estimate, "csynth", {"all": 1.25})
    said = CliRunner().invoke(cli, ["calibrate", "builds"], catch_exceptions=False)
    assert said.exit_code == 0, said.output
    assert "1.25" in said.stdout and "wrote terms.yaml" in said.stdout
    assert load_terms("terms.yaml").file.calibrations[0].designs == 3
    again = CliRunner().invoke(cli, ["calibrate", "builds"], catch_exceptions=False)
    assert again.exit_code == 4 and "is there already" in again.stderr
    words = ["calibrate", "builds", "--force", "-o", "terms.yaml", "--json"]
    with_json = CliRunner().invoke(cli, words, catch_exceptions=False)
    lut, ff = json.loads(with_json.stdout)["refitted"]
    assert (lut["kind"], ff["kind"], lut["designs"]) == ("lut", "ff", 3)
    assert lut["error_after"]["q90"] < 0.01 < lut["error_before"]["q90"]
