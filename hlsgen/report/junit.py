"""The checks of a build as JUnit XML, which CI systems show as tests.

A suite is named as its design. Its cases, by class: design (it is right and fits), csim (a case a layer),
iterations, fifos, lint, judge (the framework), schedule (a case a loop). What was not run is there as
skipped, with its reason; a build that failed has a single case with its message, since nothing of it is kept.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from hlsgen.base.errors import DesignError, EmissionError, HlsgenError, JudgeError, MismatchError
from hlsgen.report.checks import CsimFigures, LayerVerdict, LintFigures
from hlsgen.report.content import Report
from hlsgen.report.judge import JudgeFigures, judge_line
from hlsgen.report.schedule import ScheduledLoop, ScheduleFigures

_UNPRINTABLE = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no spelling for."""
_FAILED_IN = (
    (DesignError, "design"),
    (JudgeError, "judge"),
    (MismatchError, "csim"),
    (EmissionError, "emitted code"),
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A check. text: what it showed, or why it was skipped, is wrong, or could not be made.

    "failed": the design or the emitted code is wrong; "error": a tool is missing or failed.
    """

    kind: str
    name: str
    text: str = ""
    outcome: Literal["passed", "skipped", "failed", "error"] = "passed"


def cases_of(report: Report) -> list[Case]:
    """The checks of a build that ended well, in the order in which they are made."""
    unit = "instance" if report.total.instances == 1 else "instances"
    fits = f"{report.total.instances} {unit} on {report.board_title}"
    return [
        Case(kind="design", name=f"fits {report.board}", text=fits),
        *_lint_cases(report.lint),
        *_csim_cases(report.csim),
        *(_judge_cases(report.judge) if report.judge is not None else ()),
        *(_schedule_cases(report.schedule) if report.schedule is not None else ()),
    ]


def failed_case(error: HlsgenError) -> Case:
    """The only case of a build that ended with an error."""
    for kind, name in _FAILED_IN:
        if isinstance(error, kind):
            return Case(kind=name, name="build", text=str(error), outcome="failed")
    return Case(kind="tools", name="build", text=str(error), outcome="error")


def junit_xml(suite: str, cases: Iterable[Case]) -> str:
    """The file. suite: the design's name, or its file's where it could not be built."""
    listed = list(cases)
    counts = {
        "tests": len(listed),
        "failures": sum(case.outcome == "failed" for case in listed),
        "errors": sum(case.outcome == "error" for case in listed),
        "skipped": sum(case.outcome == "skipped" for case in listed),
    }
    numbers = {key: str(count) for key, count in counts.items()}
    root = ET.Element("testsuites", {"name": "hlsgen", **numbers})
    inner = ET.SubElement(root, "testsuite", {"name": _plain(suite), **numbers})
    for case in listed:
        _add(inner, case, _plain(suite))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _add(suite: ET.Element, case: Case, design: str) -> None:
    words = {"classname": f"{design}.{_plain(case.kind)}", "name": _plain(case.name)}
    element = ET.SubElement(suite, "testcase", words)
    text = _plain(case.text)
    first = text.partition("\n")[0]
    if case.outcome == "passed":
        if text:
            ET.SubElement(element, "system-out").text = text
    elif case.outcome == "skipped":
        ET.SubElement(element, "skipped", {"message": first})
    else:
        tag = "failure" if case.outcome == "failed" else "error"
        ET.SubElement(element, tag, {"message": first}).text = text


def _plain(text: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", text)


def _lint_cases(lint: LintFigures) -> Iterator[Case]:
    words = f"{lint.files} files, {lint.pragmas} pragmas, {lint.warnings} warnings"
    yield Case(kind="lint", name="emitted code", text="\n".join((words, *lint.findings)))


def _csim_cases(csim: CsimFigures) -> Iterator[Case]:
    if csim.verdict == "skipped":
        yield Case(kind="csim", name="C-simulation", text="skipped on request", outcome="skipped")
        return
    # of a single convolution the results as a whole stand for its layer's
    whole = LayerVerdict(name="results", compared=csim.compared, mismatches=csim.mismatches)
    for layer in csim.layers or (whole,):
        equal = layer.compared - layer.mismatches
        words = f"{equal:,} of {layer.compared:,} results equal golden bit for bit, {csim.frames} frames"
        yield Case(
            kind="csim", name=layer.name, text=words, outcome="failed" if layer.mismatches else "passed"
        )
    for name, count in (csim.iterations_measured or {}).items():
        counts = [count] if isinstance(count, int) else [one for _, one in sorted(count.items())]
        words = f"{sum(counts):,} iterations, as modelled"
        yield Case(kind="iterations", name=name, text=words)
    if csim.port_conflicts_measured is not None:
        yield Case(kind="memory", name="ports", text="no iteration asks for more than there are")
    if csim.bounded_fifos is not None:
        words = f"all stages at once: {csim.bounded_fifos.frames} frames {csim.bounded_fifos.verdict}"
        yield Case(kind="fifos", name="emitted depths", text=words)


def _judge_cases(found: JudgeFigures) -> Iterator[Case]:
    skipped = found.verdict == "skipped"
    yield Case(
        kind="judge",
        name=found.by or "framework",
        text=judge_line(found),
        outcome="skipped" if skipped else "passed",
    )


def _schedule_cases(schedule: ScheduleFigures) -> Iterator[Case]:
    if schedule.verdict == "skipped":
        yield Case(kind="schedule", name="loops", text=schedule.why, outcome="skipped")
    for loop in schedule.loops:
        yield Case(
            kind="schedule",
            name=f"{loop.kernel} {loop.label} {loop.place}",
            text=_loop_words(loop),
            outcome="skipped" if loop.ii is None else "passed",
        )


def _loop_words(loop: ScheduledLoop) -> str:
    reasons = "; ".join(loop.reasons)
    if loop.ii is None:
        return f"the II is not decided: {reasons}" if reasons else "the II is not decided"
    return f"II {loop.ii} for {loop.ii_target} ({loop.known}); {loop.chain_ns_estimated:.2f} ns, estimated"
