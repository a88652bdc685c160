"""Networks and their synthesised figures: one kernel, or one for every layer."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hlsgen.api.from_model import from_torch
from hlsgen.api.project import build
from hlsgen.base.errors import DesignError
from hlsgen.designfile.constraints import NetworkConstraints, WeightConstraints
from hlsgen.targets.terms import CELLS, FEATURES, OUTSIDE, TARGETS, Target, Terms, packaged_terms
from hlsgen.vendor.calibrate import calibrate
from hlsgen.vendor.compare import compare_build
from tests.support import vendor_reports
from tests.support.vendor_reports import FIGURES

torch = pytest.importorskip("torch")
STYLES = ("tasks", "dataflow")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """By style what the model says of three networks of two layers."""
    found: dict[str, list[dict[str, Any]]] = {style: [] for style in STYLES}
    for style in STYLES:
        for channels in (2, 4, 8):
            torch.manual_seed(1)
            module = torch.nn.Sequential(torch.nn.Conv2d(2, channels, 3), torch.nn.MaxPool2d(2)).eval()
            design = from_torch(
                module,
                (2, 8, 8),
                batch=4,
                name=f"n{channels}",
                style=style,
                constraints=NetworkConstraints(instances=2),
            )
            folder = tmp_path_factory.mktemp(style) / design.name
            found[style].append(build(design, folder, csim=False, frames=1).report)
    return found


def write(folder: Path, report: dict[str, Any], target: Target, scale: float) -> Path:
    """A build with reports on each of its kernels that have `scale` times the modelled LUTs and FFs."""
    place = folder / report["design"]
    place.mkdir(parents=True)
    (place / "report.json").write_text(json.dumps(report))
    if report["cost"]["style"] == "tasks":
        kernels = {layer["kernel"]: layer["cells"][target] for layer in report["layers"]}
    else:
        parts = [part[target] for part in report["cost"]["by_term"] if part["term"] != OUTSIDE]
        kernels = {report["design"]: {kind: sum(part[kind] for part in parts) / 2 for kind in CELLS}}
    figures = {
        name: {**FIGURES, **{kind: round(scale * cells[kind]) for kind in CELLS}}
        for name, cells in kernels.items()
    }
    if target == "csynth":
        for name, counts in figures.items():
            (place / f"{name}_csynth.xml").write_text(
                vendor_reports.csynth(counts, top=name, latency="undef")
            )
    else:
        both = {name: {kind: 2 * count for kind, count in counts.items()} for name, counts in figures.items()}
        (place / "kernel_util_routed.rpt").write_text(vendor_reports.link(both))
    return place


@pytest.mark.parametrize("style", STYLES)
def test_kernels_make_up_the_design(built: dict[str, list[dict[str, Any]]], style: str) -> None:
    """Of every network; a task's cells are those of its kernels and the interconnect, the instances' all."""
    for report in built[style]:
        for target in TARGETS:
            parts = {part["term"]: part[target] for part in report["cost"]["by_term"]}
            for kind in CELLS:
                whole = report["cost"][target][kind]
                assert sum(part[kind] for part in parts.values()) == pytest.approx(
                    whole, abs=0.02 * whole + 40
                )
                if style == "tasks":
                    kernels = sum(layer["cells"][target][kind] for layer in report["layers"])
                    inside = whole - parts[OUTSIDE][kind]
                    assert report["total"]["instances"] * kernels == pytest.approx(inside, abs=0.01 * whole)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("style", STYLES)
def test_compare(built: dict[str, list[dict[str, Any]]], tmp_path: Path, style: str, target: Target) -> None:
    """Each kernel by itself, or all in a link report with all their instances."""
    report = built[style][1]
    found, notes = compare_build(write(tmp_path, report, target, 2.0))
    assert notes == []
    tops = [layer["kernel"] for layer in report["layers"]] if style == "tasks" else [report["design"]]
    assert sorted(one.top for one in found) == (sorted(tops) if target == "csynth" else [""])
    for one in found:
        for kind in CELLS:
            assert one.differences[kind].percent == pytest.approx(-50, abs=1)


@pytest.mark.parametrize("key", ["kernel", "cells"])
def test_a_build_without_figures_of_its_kernels(
    built: dict[str, list[dict[str, Any]]], tmp_path: Path, key: str
) -> None:
    report = copy.deepcopy(built["tasks"][0])
    del report["layers"][1][key]
    (tmp_path / "report.json").write_text(json.dumps(report))
    with pytest.raises(DesignError, match=r"report\.json lacks figures of its kernels"):
        compare_build(tmp_path)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("style", STYLES)
def test_calibrate(
    built: dict[str, list[dict[str, Any]]], tmp_path: Path, style: str, target: Target
) -> None:
    for report in built[style]:
        write(tmp_path, report, target, 1.5)
    for one in calibrate(tmp_path, packaged_terms()).refits:
        assert (one.style, one.target, one.designs) == (style, target, 3)
        assert list(one.scales.values()) == pytest.approx([1.5] * len(FEATURES), rel=0.02)


def test_a_kernel_without_its_report_leaves_the_build_out(
    built: dict[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    for report in built["tasks"]:
        write(tmp_path, report, "csynth", 1.5)
    kernel = built["tasks"][0]["layers"][0]["kernel"]
    (tmp_path / "n2" / f"{kernel}_csynth.xml").unlink()
    done = calibrate(tmp_path, packaged_terms())
    assert {one.designs for one in done.refits} == {2}
    assert done.notes == (f"{tmp_path / 'n2'} has no reports on all of its kernels; left out",)


def test_calibration_counts_for_its_style_alone(
    built: dict[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    for report in built["tasks"]:
        write(tmp_path, report, "routed", 1.5)
    terms = Terms(file=calibrate(tmp_path, packaged_terms()).file)
    module = torch.nn.Conv2d(2, 2, 3)
    given = NetworkConstraints(instances=2, weights=WeightConstraints(place="runtime"))  # foldings that stay
    design = {
        style: from_torch(module, (2, 8, 8), name="one", style=style, constraints=given) for style in STYLES
    }
    for style, ratio in (("tasks", 1.5), ("dataflow", 1.0)):
        plain, other = (
            np.array([part["routed"]["lut"] for part in one.estimate().as_json()["cost"]["by_term"]], float)
            / one.estimate().as_json()["total"]["instances"]
            for one in (design[style], design[style].with_terms(terms))
        )
        assert other.sum() == pytest.approx(ratio * plain.sum(), rel=0.02)
