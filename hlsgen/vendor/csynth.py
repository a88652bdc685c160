"""csynth.xml and <function>_csynth.xml of Vivado HLS and Vitis HLS.

The order of elements and the names of resources differ by version: DSP48E is the older DSP, URAM may be
missing. Loops are elements called by their labels; a nested loop is an element within its loop's. Values may
be open: `undef`, `?`, `-`, `~0`, or a range, `30 ~ 541`.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from hlsgen.base.errors import DesignError
from hlsgen.designfile.text_files import refuse
from hlsgen.designfile.validation import shown
from hlsgen.vendor.report import MOST, Loop, Module, Range, Stage, SynthesisReport
from hlsgen.vendor.xml_tree import read_tree

NAMES = {"BRAM_18K": "bram18", "DSP": "dsp", "DSP48E": "dsp", "FF": "ff", "LUT": "lut", "URAM": "uram"}
OPEN = {"", "-", "-1", "?", "undef", "~0", "inf", "no", "none", "N/A"}
SUMMARY = "csynth.xml"
"""The file of the whole design."""
MOST_MODULES = 2_000
WHOLE = "let csynth run again and name its csynth.xml"


def read_csynth(path: Path) -> SynthesisReport:
    """The report in a file. Raises DesignError: it is damaged, cut off, or no such report."""
    root = read_tree(path)
    if root.tag != "profile":
        refuse(path, f"is no csynth report: its root element is {shown(root.tag)}, not profile", WHOLE)
    reader = _Reader(path)
    given = reader.section(root, "UserAssignments")
    performance = reader.section(root, "PerformanceEstimates")
    area = reader.section(root, "AreaEstimates")
    resources = reader.resources(reader.section(area, "Resources"))
    lacking = [kind for kind in ("lut", "ff", "dsp", "bram18") if kind not in resources]
    if lacking:
        refuse(path, f"states no {', '.join(lacking).upper()} of the whole design", WHOLE)
    top = (given.findtext("TopModelName") or "").strip()
    if not top:
        refuse(path, "does not name its top function (TopModelName)", WHOLE)
    available = area.find("AvailableResources")
    latency, interval = reader.cycles(performance)
    return SynthesisReport(
        path=path,
        stage=Stage.CSYNTH,
        top=top,
        version=(root.findtext("ReportVersion/Version") or "").strip(),
        part=(given.findtext("Part") or "").strip(),
        flow_target=(given.findtext("FlowTarget") or "").strip(),
        clock_ns=reader.real(given.findtext("TargetClockPeriod"), "TargetClockPeriod"),
        uncertainty_ns=reader.real(given.findtext("ClockUncertainty"), "ClockUncertainty"),
        estimated_clock_ns=reader.estimated(performance),
        latency=latency,
        interval=interval,
        resources={kind: resources.get(kind, 0) for kind in ("dsp", "bram18", "uram", "lut", "ff")},
        available={} if available is None else reader.resources(available),
        modules=tuple(reader.modules(root)),
    )


class _Reader:
    """Values of one file, with errors that name it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def section(self, parent: ET.Element, name: str) -> ET.Element:
        found = parent.find(name)
        if found is None:
            refuse(self.path, f"has no {name} in its {parent.tag}: it is no complete csynth report", WHOLE)
        return found

    def whole(self, text: str | None, name: str) -> int | None:
        """A count; None if it is left open."""
        text = (text or "").strip()
        if text in OPEN:
            return None
        if re.fullmatch("[0-9]{1,20}", text) is None or int(text) > MOST:
            refuse(self.path, f"says {name} is {shown(text)}, which is no count", WHOLE)
        return int(text)

    def real(self, text: str | None, name: str) -> float | None:
        """A positive number; None if it is left open."""
        text = (text or "").strip()
        if text in OPEN:
            return None
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) is None:
            refuse(self.path, f"says {name} is {shown(text)}, which is no number", WHOLE)
        return float(text)

    def range(self, element: ET.Element | None, name: str) -> Range | None:
        """A count, `30 ~ 541`, or <range><min/><max/></range>; None if it is left open."""
        if element is None:
            return None
        nested = element.find("range")
        ends: list[str | None]
        if nested is not None:
            ends = [nested.findtext("min"), nested.findtext("max")]
        else:
            text = element.text or ""
            ends = [*text.split("~")] if "~" in text.strip("~ ") else [text, text]
        if len(ends) != 2:
            refuse(self.path, f"says {name} is {shown(element.text)}, which is no range", WHOLE)
        low, high = (self.whole(end, name) for end in ends)
        return None if low is None or high is None else Range(low=low, high=high)

    def most(self, element: ET.Element | None, name: str) -> int | None:
        """The upper end of what may be a range: iterations without a pipeline differ in length."""
        found = self.range(element, name)
        return None if found is None else found.high

    def resources(self, element: ET.Element) -> dict[str, float]:
        found: dict[str, float] = {}
        for child in element:
            kind = NAMES.get(child.tag)
            count = self.whole(child.text, child.tag) if kind else None
            if kind and count is not None:
                found[kind] = count
        return found

    def cycles(self, performance: ET.Element) -> tuple[Range | None, Range | None]:
        """Latency and interval of a function."""
        overall = performance.find("SummaryOfOverallLatency")
        if overall is None:
            return None, None
        pairs = (("Best-caseLatency", "Worst-caseLatency"), ("Interval-min", "Interval-max"))
        found: list[Range | None] = []
        for names in pairs:
            low, high = (self.whole(overall.findtext(name), name) for name in names)
            found.append(None if low is None or high is None else Range(low=low, high=high))
        if found[1] is None:
            found[1] = self.range(overall.find("PipelineInitiationInterval"), "PipelineInitiationInterval")
        return found[0], found[1]

    def estimated(self, performance: ET.Element) -> float | None:
        """The clock period that csynth expects, in ns."""
        text = performance.findtext("SummaryOfTimingAnalysis/EstimatedClockPeriod")
        return self.real(text, "EstimatedClockPeriod")

    def modules(self, root: ET.Element) -> Iterator[Module]:
        """Every function: of the ModuleInformation of csynth.xml, or, up to 2020.1, where that has the top
        alone, of the files beside it."""
        told = root.findall("ModuleInformation/Module")
        for element in told:
            yield self._module((element.findtext("Name") or "").strip() or "?", element)
        if not told and self.path.name == SUMMARY:
            yield from self._modules_beside()

    def _modules_beside(self) -> Iterator[Module]:
        """The functions that have a report of their own in the folder; damaged ones are left out."""
        for path in sorted(self.path.parent.glob(f"*_{SUMMARY}"))[:MOST_MODULES]:
            try:
                root = read_tree(path)
                name = (root.findtext("UserAssignments/TopModelName") or "").strip()
                module = _Reader(path)._module(name, root) if root.tag == "profile" and name else None
            except DesignError:
                continue
            if module is not None:
                yield module

    def _module(self, name: str, element: ET.Element) -> Module:
        area = element.find("AreaEstimates/Resources")
        resources = {} if area is None else self.resources(area)
        performance = element.find("PerformanceEstimates")
        if performance is None:
            return Module(name=name, resources=resources)
        latency, interval = self.cycles(performance)
        overall = "SummaryOfOverallLatency"
        kind = performance.findtext(f"{overall}/PipelineType") or performance.findtext("PipelineType")
        return Module(
            name=name,
            resources=resources,
            latency=latency,
            interval=interval,
            loops=tuple(self.loops(performance)),
            pipeline=(kind or "").strip(),
            depth=self.most(performance.find(f"{overall}/PipelineDepth"), "PipelineDepth"),
            estimated_clock_ns=self.estimated(performance),
        )

    def loops(self, performance: ET.Element) -> Iterator[Loop]:
        """Loops and the loops within them: the elements that have a trip count."""
        told = performance.iterfind("SummaryOfViolations/SummaryOfLoopViolations//*[SourceLocation]")
        sources = {loop.tag: (loop.findtext("SourceLocation") or "").strip(" -") for loop in told}
        for element in performance.iterfind("SummaryOfLoopLatency//*[TripCount]"):
            yield Loop(
                name=(element.findtext("Name") or element.tag).strip(),
                trip_count=self.range(element.find("TripCount"), "TripCount"),
                latency=self.range(element.find("Latency"), "Latency"),
                ii=self.whole(element.findtext("PipelineII"), "PipelineII"),
                depth=self.most(element.find("PipelineDepth"), "PipelineDepth"),
                source=sources.get(element.tag, ""),
            )
