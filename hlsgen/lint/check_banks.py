"""Whether the ports that a link configuration leads to a memory bank are no more than the bank takes.

v++ refuses more ("Resources exhausted", CFGEN 83-2231) once all kernels are compiled, after hours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from hlsgen.base.errors import Place
from hlsgen.lint.rules import Finding, Rule, Severity

BANK_OVERFULL = Rule(
    name="bank-overfull",
    severity=Severity.ERROR,
    what="kernel ports that link.cfg leads to a memory bank and that are more than it takes",
)
LED = re.compile(r"sp=([\w.]+):(\S+)$")
RANGE = re.compile(r"(\w+)\[(\d+):(\d+)\]$")


def check_banks(path: str, text: str, most: int | None) -> list[Finding]:
    """The findings in the link configuration `text`. most: ports that a bank takes; None: not known."""
    ports: Counter[str] = Counter()
    found = []
    for number, line in enumerate(text.splitlines() if most is not None else (), start=1):
        match = LED.match(line)
        for bank in _banks(match[2]) if match is not None else ():
            ports[bank] += 1
            if ports[bank] == (most or 0) + 1:
                place = Place(file=path, line=number, column=1, excerpt=line, width=len(line))
                message = f"{bank} has {most} ports already, which is what v++ connects to a bank"
                fix = "sp= to another bank, for all ports of the same buffer; or fewer compute units"
                found.append(Finding(rule=BANK_OVERFULL, message=message, fix=fix, place=place))
    return found


def _banks(text: str) -> Iterator[str]:
    """Those that a port reaches: DDR[0:2] is three."""
    match = RANGE.match(text)
    if match is None:
        yield text
    else:
        yield from (f"{match[1]}[{number}]" for number in range(int(match[2]), int(match[3]) + 1))
