"""Puts synthesised figures beside the model's: the difference in percent, in report.json and report.md.

A report of a kernel is compared with one instance of it, without the platform's interconnect. csynth's LUT
and FF are compared with what the model expects csynth to say, Vivado's with what it expects to be routed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.output import MARK, overwrite_files
from hlsgen.designfile.text_files import refuse
from hlsgen.designfile.validation import printable
from hlsgen.emit.conv2d import COSIM_FRAMES
from hlsgen.report.html import PAGE, html_report
from hlsgen.report.reading import checked_report
from hlsgen.report.synthesised import CycleRange, Difference, SynthesisFigures
from hlsgen.search.board_limits import COLUMNS
from hlsgen.targets.terms import Target
from hlsgen.vendor.build_report import Build, read_build
from hlsgen.vendor.find_reports import find_reports, read_all
from hlsgen.vendor.report import Module, Range, Stage, SynthesisReport

HEADING = "## Synthesised beside the model"
WRAPPERS = ("bd_0_wrapper", "bd_0_hls_inst_0")
"""What export_design calls the kernel for Vivado."""


def compare_build(folder: Path, named: Sequence[Path] = ()) -> tuple[list[SynthesisFigures], list[str]]:
    """Reads the reports in a build folder, or those that are named, and writes them into its report.

    Gives what its report then has as `synthesised`, and notes on reports that are of something else. Raises
    DesignError: no build, no report, or a report is damaged. OutputError: the report cannot be written.
    """
    build = read_build(folder)
    reports = read_all([Path(one) for one in named] or find_reports(folder))
    found: list[SynthesisFigures] = []
    notes: list[str] = []
    for report in reports:
        beside = compared(build, report)
        if beside is not None:
            found.append(beside)
            continue
        note = f"{printable(str(report.path))} is of {report.top or 'no named design'}"
        if named:
            fix = f"reports of {', '.join(build.kernels)}"
            raise DesignError(Problem(message=f"{note}, which this build has no kernel of", fix=fix))
        notes.append(f"{note}: left out")
    if not found:
        fix = "let the vendor tools run, as its Makefile does (make csynth), or name the reports"
        refuse(folder, "holds no report of the vendor tools on its kernels", fix)
    write_synthesised(build, found)
    return found, notes


def read_back(folder: Path) -> tuple[list[SynthesisFigures], list[str]]:
    """The comparison of `compare_build`, for results that may have no reports yet, or damaged ones: notes say
    so.

    Raises OutputError.
    """
    if not find_reports(folder):
        return [], []
    try:
        return compare_build(folder)
    except DesignError as error:
        return [], [f"the vendor's reports were not read: {one.message}" for one in error.problems]


def compared(build: Build, report: SynthesisReport) -> SynthesisFigures | None:
    """One report beside the model; None if it is of none of the build's kernels."""
    if report.stage is Stage.ROUTED and report.modules and not report.top:
        return _linked(build, report)
    top = build.kernels[0] if report.top in WRAPPERS and len(build.kernels) == 1 else report.top
    if top not in build.kernels:
        return None
    differences = _resources(build.modelled_kernel(top, _target(report)), report.resources)
    if len(build.kernels) == 1:
        differences |= _cycles(build, report)
    if report.clock_ns is not None and report.estimated_clock_ns is not None:
        wanted = 1000 / float(build.figures.clock_mhz)
        differences["clock_ns"] = _difference(wanted, report.estimated_clock_ns)
    slow = sorted({loop.ii for loop in report.loops if loop.ii is not None and loop.ii > 1})
    if report.loops:
        differences["largest_ii"] = _difference(1, slow[-1] if slow else 1)
    return _figures(build, report, differences)


def _figures(
    build: Build, report: SynthesisReport, differences: Mapping[str, Difference]
) -> SynthesisFigures:
    path = report.path
    inside = path.is_relative_to(build.folder)  # a build folder may be moved
    return SynthesisFigures(
        stage=report.stage.value,
        file=path.relative_to(build.folder).as_posix() if inside else str(path),
        top=report.top,
        version=report.version,
        part=report.part,
        clock_ns=report.clock_ns,
        estimated_clock_ns=report.estimated_clock_ns,
        passed=report.passed,
        latency_cycles=_cycle_range(report.latency),
        interval_cycles=_cycle_range(report.interval),
        resources=report.resources,
        differences=differences,
    )


def _cycle_range(cycles: Range | None) -> CycleRange | None:
    return None if cycles is None else CycleRange(min=cycles.low, max=cycles.high)


def _linked(build: Build, report: SynthesisReport) -> SynthesisFigures | None:
    """A report of Vitis' link: its rows of kernels, each with all its compute units together."""
    rows = {module.name: module for module in report.modules if module.name in build.kernels}
    if len(rows) < len(build.kernels):
        return None
    modelled = {kind: build.instances * count for kind, count in build.modelled("routed").items()}
    return _figures(build, report, _resources(modelled, _sum(list(rows.values()))))


def _sum(modules: Sequence[Module]) -> dict[str, float]:
    return {kind: sum(module.resources.get(kind, 0) for module in modules) for kind in COLUMNS}


def _target(report: SynthesisReport) -> Target:
    return "csynth" if report.stage is Stage.CSYNTH else "routed"


def _resources(modelled: Mapping[str, float], synthesised: Mapping[str, float]) -> dict[str, Difference]:
    return {kind: _difference(modelled[kind], synthesised[kind]) for kind in COLUMNS if kind in synthesised}


def _cycles(build: Build, report: SynthesisReport) -> dict[str, Difference]:
    """The difference of a call's cycles, where the report states them."""
    total = build.figures.total
    if report.latency is None or report.latency.low != report.latency.high:
        return {}
    frames = COSIM_FRAMES if report.stage is Stage.COSIM else 1
    modelled = total.latency_cycles + (frames - 1) * total.interval_cycles
    return {"latency_cycles": _difference(modelled, report.latency.high)}


def _difference(modelled: float, synthesised: float) -> Difference:
    """The two figures, and by how many percent of what is synthesised the model is above it."""
    if synthesised:
        percent: float | None = round(100 * (modelled / synthesised - 1), 1)
    else:
        percent = None if modelled else 0.0
    return Difference(modelled=_plain(modelled), synthesised=_plain(synthesised), percent=percent)


def _plain(value: float) -> float:
    return int(value) if float(value).is_integer() else round(value, 3)


def write_synthesised(build: Build, found: Sequence[SynthesisFigures]) -> None:
    """Puts them into report.json, at the end of report.md and into report.html, instead of earlier ones.

    Raises DesignError: there is a report.html, but report.json has not all that it shows. OutputError: they
    cannot be written.
    """
    content = {**build.content, "synthesised": [one.as_json() for one in found]}
    path = build.folder / "report.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    before = text.partition(HEADING)[0].rstrip()
    markdown = f"{before}\n\n{HEADING}\n\n{synthesised_text(found)}\n".lstrip()
    files: dict[str, str | bytes] = {MARK: json.dumps(content, indent=2) + "\n", "report.md": markdown}
    if (build.folder / PAGE).is_file():
        name = str(build.folder / MARK)
        files[PAGE] = html_report(checked_report(content, name), build.folder)
    overwrite_files(build.folder, files)


def synthesised_text(found: Sequence[SynthesisFigures]) -> str:
    """Tables of Markdown, one a report."""
    parts = [
        "The model's figures are those of one kernel (of all of them for a link report), without the "
        "interconnect; percent: how far the model is above what is synthesised."
    ]
    for one in found:
        lines = [f"{one.about}, `{one.file}`:", "", "| | modelled | synthesised | percent |", "|-|-|-|-|"]
        lines += ["| " + " | ".join(cells) + " |" for cells in one.rows()]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
