"""The report.json of a build folder, as far as synthesised figures are put beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlsgen.base.output import MARK
from hlsgen.designfile.text_files import refuse
from hlsgen.report.content import AGAIN
from hlsgen.report.reading import build_json
from hlsgen.targets.terms import CELLS, OUTSIDE, TARGETS, CostStyle, Kind, Target
from hlsgen.vendor.report import KINDS


@dataclass(frozen=True, kw_only=True)
class Build:
    """A build: its folder and what its model says. `report` is the content of report.json."""

    folder: Path
    report: dict[str, Any]

    @property
    def style(self) -> CostStyle:
        style: CostStyle = self.report["cost"]["style"]
        return style

    @property
    def instances(self) -> int:
        return int(self.report["total"]["instances"])

    @property
    def kernels(self) -> list[str]:
        """The C++ functions that are synthesised, each by itself."""
        if self.style == "tasks":
            return [str(layer["kernel"]) for layer in self.report["layers"]]
        return [str(self.report["design"])]

    def parts(self, target: Target, kind: Kind) -> dict[str, float]:
        """Modelled cells of one instance by term, without what lies outside the kernels."""
        return {
            part["term"]: part[target][kind] / self.instances
            for part in self.report["cost"]["by_term"]
            if part["term"] != OUTSIDE
        }

    def modelled(self, target: Target) -> dict[str, float]:
        """Resources of one instance as its reports count them: all of its kernels, nothing outside."""
        total = self.report["total"]
        figures = {kind: total[kind] / self.instances for kind in KINDS}
        return {**figures, **{kind: sum(self.parts(target, kind).values()) for kind in CELLS}}

    def modelled_kernel(self, name: str, target: Target) -> dict[str, float]:
        """The modelled figures of one kernel."""
        if self.style != "tasks":
            return self.modelled(target)
        layer = next(layer for layer in self.report["layers"] if layer["kernel"] == name)
        figures = {kind: float(layer[kind]) for kind in KINDS}
        return {**figures, **{kind: float(layer["cells"][target][kind]) for kind in CELLS}}


def read_build(folder: Path) -> Build:
    """Raises DesignError: it is no build folder, or its report.json is damaged or of an older hlsgen."""
    report: Any = build_json(folder)
    fault = _fault(report)
    if fault:
        refuse(folder / MARK, f"{fault}, as hlsgen's own does not", AGAIN)
    return Build(folder=folder, report=report)


def _fault(report: object) -> str:
    """What is wrong with the figures that are needed; empty if nothing is."""
    if not isinstance(report, dict):
        return "is no mapping"
    total, cost = report.get("total"), report.get("cost")
    if not isinstance(report.get("design"), str) or not isinstance(report.get("layers"), list):
        return "names no design or no layers"
    wanted = (*KINDS, "instances", "interval_cycles", "latency_cycles")
    if not isinstance(total, dict) or not all(_is_count(total.get(key)) for key in wanted):
        return "lacks counts in `total`"
    if not total["instances"]:
        return "has no instance"
    if not isinstance(cost, dict) or cost.get("style") not in ("layer", "tasks", "dataflow"):
        return "lacks `cost`"
    parts = cost.get("by_term")
    if not isinstance(parts, list) or not all(_is_part(part) for part in parts):
        return "lacks cells by term"
    clock = report.get("clock_mhz")
    if not isinstance(cost.get("terms"), str) or not isinstance(clock, int | float) or not clock > 0:
        return "names no terms or no clock"
    if cost["style"] == "tasks" and not all(_is_kernel(layer) for layer in report["layers"]):
        return "lacks figures of its kernels"
    return ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15


def _is_cells(value: object) -> bool:
    return isinstance(value, Mapping) and all(_is_count(value.get(kind)) for kind in CELLS)


def _is_part(part: object) -> bool:
    return (
        isinstance(part, Mapping)
        and isinstance(part.get("term"), str)
        and all(_is_cells(part.get(target)) for target in TARGETS)
    )


def _is_kernel(layer: object) -> bool:
    return (
        isinstance(layer, Mapping)
        and isinstance(layer.get("kernel"), str)
        and all(_is_count(layer.get(kind)) for kind in KINDS)
        and isinstance(layer.get("cells"), Mapping)
        and all(_is_cells(layer["cells"].get(target)) for target in TARGETS)
    )
