"""What the lines that the vendor's tools print tell: what they are at, and what went wrong.

The lines are those in public logs of Vitis 2020.2 to 2025.2. A tool that prints others is followed all the
same, without saying what it is at.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from hlsgen.designfile.validation import printable

AT = (
    (re.compile(r"Run (\w+): Step (\w+): Started"), "{0}: {1}"),
    (re.compile(r"Finished (\d+)\w\w of (\d+) tasks \(([^)]*)\)"), "{0} of {1} done: {2}"),
    (
        re.compile(r"(\w+)-level synthesis in progress, (\d+) of (\d+) jobs complete"),
        "{0} synthesis, {1} of {2}",
    ),
    (re.compile(r"Implementing module '([^']+)'"), "module {0}"),
    (re.compile(r"\bRunning: (csim|csynth|cosim|export)_design"), "{0}_design"),
)
"""A pattern, and what is said of its groups."""
WRONG = re.compile(
    r"^\s*(ERROR\b|FATAL\b|Error:|error:|\S+: error:|\*\*\* |Segmentation fault|.*\bcommand not found$)"
)
MOST_WRONG = 10
LAST = 10
WIDTH = 300


@dataclass
class Heard:
    """What a tool has printed so far: the first lines that tell of something wrong, and the last of all."""

    wrong: list[str] = field(default_factory=list)
    last: deque[str] = field(default_factory=lambda: deque(maxlen=LAST))

    def hear(self, line: str) -> None:
        text = printable(line.rstrip())[:WIDTH]
        if not text.strip():
            return
        self.last.append(text)
        if len(self.wrong) < MOST_WRONG and WRONG.match(text):
            self.wrong.append(text)

    def excerpt(self) -> str:
        """The lines with errors, then the last ones; each once."""
        tail = [line for line in self.last if line not in self.wrong]
        parts = [f"  {line}" for line in self.wrong]
        if tail:
            parts += ["  ..."] if self.wrong else []
            parts += [f"  {line}" for line in tail]
        return "\n".join(parts)


def at(line: str) -> str | None:
    """What a tool is at, if the line tells."""
    for pattern, said in AT:
        found = pattern.search(line)
        if found:
            return printable(said.format(*found.groups()))[:80]
    return None
