"""Whether the compute units that a link configuration pins to an SLR have room there.

v++ takes `slr=` at its word: a kernel that is larger than its SLR fails in implementation, after hours. AMD's
rule is to give such a kernel no SLR (UG1393, "Assigning Compute Units to SLRs").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hlsgen.base.errors import Place
from hlsgen.lint.rules import Finding, Rule, Severity

SLR_OVERFULL = Rule(
    name="slr-overfull",
    severity=Severity.ERROR,
    what="compute units that link.cfg pins to an SLR and that take more than is usable there",
)
UNITS = re.compile(r"nk=(\w+):(\d+)(?::([\w.]+))?$")
PINNED = re.compile(r"slr=(\w+):(\w+)$")

Counts = Mapping[str, int]
"""Resources by kind."""


def check_slrs(
    path: str, text: str, kernels: Mapping[str, Counts], slrs: Mapping[str, Counts]
) -> list[Finding]:
    """The findings in the link configuration `text`.

    kernels: what a compute unit of each takes. slrs: what designs may use of each.
    """
    lines = text.splitlines()
    units = dict(_units(lines))
    taken: dict[str, dict[str, int]] = {}
    found = []
    for number, line in enumerate(lines, start=1):
        match = PINNED.match(line)
        if match is None:
            continue
        unit, slr = match.groups()
        used = taken.setdefault(slr, {})
        for kind, count in kernels[units[unit]].items():
            used[kind] = used.get(kind, 0) + count
        over = _over(used, slrs[slr])
        if over:
            place = Place(file=path, line=number, column=1, excerpt=line, width=len(line))
            message = f"{unit} and what {slr} has already take {over} there"
            fix = "no slr= for a kernel that needs several SLRs; for others fewer compute units in this one"
            found.append(Finding(rule=SLR_OVERFULL, message=message, fix=fix, place=place))
    return found


def _units(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(compute unit, kernel) of every nk=."""
    for line in lines:
        match = UNITS.match(line)
        if match is None:
            continue
        kernel, count, names = match.groups()
        every = names.split(".") if names else [f"{kernel}_{number + 1}" for number in range(int(count))]
        yield from ((unit, kernel) for unit in every)


def _over(used: Counts, slr: Counts) -> str:
    """What there is too much of, in words."""
    return ", ".join(
        f"{count:,} {kind.upper()} of {slr[kind]:,}" for kind, count in used.items() if count > slr[kind]
    )
