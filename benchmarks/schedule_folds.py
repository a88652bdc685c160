"""How often the schedule of public designs is right where it decides, by leaving out one owner after another.

python benchmarks/schedule_folds.py JSON [JSON ...]

Each JSON is what benchmarks/schedule.py wrote of one set. For each owner the reasons that decide no II
(hlsgen/schedule/confidence.py) are chosen again by the loops of all others, and the owner's loops judged by
that. Prints the table of reasons over all loops as well.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from rich.console import Console
from rich.table import Table
from scipy.stats import binomtest

from hlsgen.schedule.confidence import Ground, Record

Row = dict[str, Any]


def owner_of(row: Row) -> str:
    """Whose repository a loop is of."""
    return str(row["repository"]).split("+")[0].lower()


def found_of(row: Row) -> int | None:
    """The II that was found, decided or as an estimate."""
    found = row["ii"] or row["estimate"]
    return None if found is None else int(found)


def is_right(row: Row) -> bool:
    """Whether that is the vendor's."""
    return found_of(row) == int(row["vendor_ii"])


def records_of(rows: Iterable[Row]) -> dict[Ground, Record]:
    """How often each reason was right."""
    by_ground: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for name in row["grounds"] if found_of(row) is not None else ():
            by_ground[name].append(row)
    return {
        Ground[name]: Record(
            loops=len(of_ground),
            right=sum(map(is_right, of_ground)),
            owners=len(set(map(owner_of, of_ground))),
            share=mean(shares_of_owners(of_ground)),
        )
        for name, of_ground in by_ground.items()
    }


def shares_of_owners(rows: Iterable[Row]) -> list[float]:
    """The share of each owner's loops that were right."""
    by_owner: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        by_owner[owner_of(row)].append(is_right(row))
    return [sum(rights) / len(rights) for rights in by_owner.values()]


def doubted_by(rows: Iterable[Row]) -> set[str]:
    """The names of the reasons that decide nothing, by these loops."""
    return {ground.name for ground, record in records_of(rows).items() if not record.decides}


def decided_in_folds(rows: Sequence[Row]) -> list[Row]:
    """The loops that are decided by the reasons that the other owners' loops leave."""
    kept: list[Row] = []
    for owner in sorted(set(map(owner_of, rows))):
        doubted = doubted_by(row for row in rows if owner_of(row) != owner)
        kept += [row for row in rows if owner_of(row) == owner and decides(row, doubted)]
    return kept


def decides(row: Row, doubted: Collection[str]) -> bool:
    """Whether a loop is decided where some reasons decide nothing."""
    return found_of(row) is not None and not set(row["grounds"]) & set(doubted)


def _decided(rows: Iterable[Row], doubted: Collection[str]) -> list[Row]:
    return [row for row in rows if decides(row, doubted)]


def share(part: int, whole: int) -> str:
    """A share in % with its Wilson interval of 95 %."""
    if not whole:
        return ""
    interval = binomtest(part, whole).proportion_ci(method="wilson")
    return f"{part} ({part / whole:.1%}, {interval.low:.1%} to {interval.high:.1%})"


def _mean_of_owners(rows: Sequence[Row]) -> str:
    shares = shares_of_owners(rows)
    return f"{mean(shares):.1%} of {len(shares)}" if shares else ""


def _table(title: str, sets: dict[str, list[Row]], select: Callable[[Sequence[Row]], list[Row]]) -> Table:
    table = Table(title=title)
    for head in ("", "loops", "decided", "right", "II 1: right", "above 1: right", "each owner once"):
        table.add_column(head, justify="left" if not head else "right")
    whole = [row for rows in sets.values() for row in rows]
    kept = {id(row) for row in select(whole)}
    for name, rows in [*sets.items(), ("all", whole)]:
        decided = [row for row in rows if id(row) in kept]
        ones = [row for row in decided if found_of(row) == 1]
        above = [row for row in decided if found_of(row) != 1]
        table.add_row(
            name,
            str(len(rows)),
            f"{len(decided)} ({len(decided) / max(1, len(rows)):.0%})",
            share(sum(map(is_right, decided)), len(decided)),
            f"{sum(map(is_right, ones))} of {len(ones)}",
            f"{sum(map(is_right, above))} of {len(above)}",
            _mean_of_owners(decided),
        )
    return table


def main() -> None:
    """Reads the files and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("json", type=Path, nargs="+")
    given = parser.parse_args()
    sets = {path.stem: list(json.loads(path.read_text(encoding="utf-8"))["loops"]) for path in given.json}
    whole = [row for rows in sets.values() for row in rows]
    console = Console(width=max(150, Console().width))
    table = Table(title="what an II rests on")
    for head in ("", "loops", "right", "owners", "each owner once", "decides"):
        table.add_column(head)
    for ground, record in sorted(records_of(whole).items(), key=lambda pair: pair[1].right / pair[1].loops):
        share = f"{record.share:.0%}"
        cells = ground.name, record.loops, record.right, record.owners, share, record.decides
        table.add_row(*map(str, cells))
    console.print(table)
    console.print(_table("every reason decides", sets, lambda rows: [r for r in rows if decides(r, ())]))
    console.print(_table("without each owner in turn", sets, decided_in_folds))
    doubted = doubted_by(whole)
    console.print(
        _table("with the table of all", sets, lambda rows: [r for r in rows if decides(r, doubted)])
    )


if __name__ == "__main__":
    main()
