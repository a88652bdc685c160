"""How near hlsgen's cells of whole designs are to those that csynth reported.

A third of the repositories, chosen by a hash of their names, were not looked at while the rules were made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from rich.table import Table

KINDS = ("lut", "ff", "dsp", "bram18")
FEWEST = {"lut": 100, "ff": 100, "dsp": 4, "bram18": 4}
"""Designs with fewer of a kind say nothing of a relative error."""


def is_held_out(repository: str) -> bool:
    """Whether a repository is of the third that nothing was fitted to."""
    return int(hashlib.sha256(repository.encode()).hexdigest(), 16) % 3 == 2


def distinct(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the designs that a repository holds again."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        found.setdefault(str([row["repository"], row["version"], row["part"], row["reported"]]), row)
    return list(found.values())


def errors(rows: Sequence[Mapping[str, Any]], kind: str) -> list[float]:
    """The relative errors of a kind of cell, by size."""
    found = [
        (row["predicted"][kind] / row["reported"][kind]) - 1
        for row in rows
        if row["reported"][kind] >= FEWEST[kind]
    ]
    return sorted(found, key=abs)


def score(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """By kind: how many designs, the median error, what nine in ten stay within, the mean of repositories."""
    return {kind: one for kind in KINDS if (one := _score(rows, kind)) is not None}


def _score(rows: Sequence[Mapping[str, Any]], kind: str) -> dict[str, float] | None:
    found = [abs(error) for error in errors(rows, kind)]
    if not found:
        return None
    names = sorted({row["repository"] for row in rows})
    each = [errors([row for row in rows if row["repository"] == name], kind) for name in names]
    return {
        "designs": len(found),
        "median": median(found),
        "within_90": found[min(len(found) - 1, int(0.9 * len(found)))],
        "within_fifth": sum(error <= 0.2 for error in found) / len(found),
        "mean_of_repositories": fmean(fmean(map(abs, one)) for one in each if one),
    }


def areas_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Errors of designs that were looked at, and of those that were not."""
    table = Table(title="cells of whole designs, predicted over csynth's")
    heads = ("", "designs", "median error", "90 %", "within 20 %", "mean of repositories")
    for head in heads:
        table.add_column(head, justify="left" if not head else "right")
    for name, part in (
        ("looked at", [row for row in rows if not is_held_out(row["repository"])]),
        ("held out", [row for row in rows if is_held_out(row["repository"])]),
    ):
        for kind, one in score(part).items():
            shares = ("median", "within_90", "within_fifth", "mean_of_repositories")
            table.add_row(f"{name}: {kind}", f"{one['designs']:.0f}", *(f"{one[key]:.0%}" for key in shares))
    return table
