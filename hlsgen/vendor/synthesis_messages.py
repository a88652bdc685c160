"""What csynth said while it scheduled: loops that it pipelined unasked, and why a pipeline missed its II."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hlsgen.designfile.text_files import read_text
from hlsgen.vendor.schedule_report import SourcePlace
from hlsgen.vendor.xml_tree import read_tree

MOST_LENGTH = 1_000
_AUTOMATIC = re.compile(
    r"Pipelining loop '([^']+)' \((.*?):(\d+)(?::\d+)?\) in function '([^']+)' automatically"
)
_VIOLATION = re.compile(r"The II Violation in module '([^']+)' \((?:loop|function) '([^']+)'\): (.*)")


@dataclass(frozen=True, kw_only=True)
class Violation:
    """Why a pipeline got no smaller II, in the tool's words; loop: its name, or the function's."""

    module: str
    loop: str
    text: str

    @property
    def cause(self) -> str:
        """`ports`, `recurrence`, or `other`."""
        if "limited memory ports" in self.text or "bus request" in self.text or "resource" in self.text:
            return "ports"
        return "recurrence" if "dependence" in self.text else "other"


@dataclass(frozen=True, kw_only=True)
class AutomaticPipeline:
    """A loop without a pragma that the tool pipelined by itself."""

    function: str
    loop: str
    place: SourcePlace


@dataclass(frozen=True, kw_only=True)
class SynthesisMessages:
    automatic: tuple[AutomaticPipeline, ...] = ()
    violations: tuple[Violation, ...] = ()


def read_messages(path: Path) -> SynthesisMessages:
    """A log, or messages as XML; of several runs the last counts. Raises DesignError: it is neither."""
    lines = list(_lines(path))
    starts = [at for at, line in enumerate(lines) if "Starting code transformations" in line]
    analysed = [at for at, line in enumerate(lines) if "Analyzing design file" in line]
    if len(starts) > 1:
        before = [at for at in analysed if at < starts[-1] and at > starts[-2]]
        lines = lines[min(before, default=starts[-1]) :]
    automatic = (_AUTOMATIC.search(line) for line in lines)
    violations = (_VIOLATION.search(line) for line in lines)
    return SynthesisMessages(
        automatic=tuple(
            dict.fromkeys(
                AutomaticPipeline(
                    function=found[4], loop=found[1], place=SourcePlace(file=found[2], line=int(found[3]))
                )
                for found in automatic
                if found
            )
        ),
        violations=tuple(
            dict.fromkeys(
                Violation(module=found[1], loop=found[2], text=found[3][:MOST_LENGTH])
                for found in violations
                if found
            )
        ),
    )


def _lines(path: Path) -> Iterator[str]:
    if path.suffix == ".xml":
        yield from (element.get("content", "") for element in read_tree(path).iter("Message"))
    else:
        yield from read_text(path).splitlines()
