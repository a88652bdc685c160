"""How often the schedule of public designs is the vendor's: II, depth and longest chain of each loop, and
the cells of whole designs.

python benchmarks/schedule.py FOLDER [--only FILE] [--json PATH] [--jobs 2] [--limit 300]

FOLDER holds checkouts of repositories, a folder each, with sources beside solutions of Vitis HLS, its logs,
the RTL that it emitted, or files that say what a text tells of them (schedule_told.py).
--only names the folders that count, one a line: a half of them is kept aside until the method is frozen.
Loops of designs that do not compile, or take too long, are loops that were not decided.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from processes import Failed, run
from rich.console import Console
from rich.table import Table
from schedule_areas import areas_table
from schedule_areas import distinct as distinct_areas
from schedule_areas import score as areas_score
from schedule_logs import find_logs, read_logged, tops_of
from schedule_rtl import find_rtl, read_emitted
from schedule_told import FILES, find_told, read_told
from schedule_truth import Expected, expected_loops, lacks_header, unfit, with_sources_beside

from hlsgen.base.errors import DesignError
from hlsgen.schedule.configuration import Configuration
from hlsgen.schedule.results import LoopSchedule
from hlsgen.vendor.solution import REPORT, VendorSolution, find_solutions, read_solution

JSON = Path("build/benchmarks/schedule.json")
RIGHT, WRONG, UNDECIDED, NOT_FOUND, FAILED = "right", "wrong", "undecided", "not found", "failed"
MOST_SHOWN = 60
_INTERFACE = re.compile(r"\bconfig_interface\s.*")


@dataclass(frozen=True, kw_only=True)
class Found:
    """A loop as hlsgen schedules it; ii None: undecided. between: what it is without and with chains.
    estimate, grounds: the II that is likely and what it rests on (hlsgen/schedule/confidence.py)."""

    file: str
    line: int
    function: str
    ii: int | None
    between: tuple[int, int]
    tier: str
    trips: int | None
    depth: int
    chain_ns: float
    reasons: tuple[str, ...]
    estimate: int | None = None
    grounds: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A loop of a report beside hlsgen's. depth, chain_ns: None where there are none to compare."""

    repository: str
    solution: str
    version: str
    module: str
    name: str
    place: str
    outcome: str
    trips: tuple[int, int] | None
    vendor_ii: int
    ii: int | None
    between: tuple[int, int] | None
    tier: str
    vendor_depth: int | None
    depth: int | None
    vendor_chain_ns: float | None
    chain_ns: float | None
    why: str
    said: str
    estimate: int | None
    grounds: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Scheduled:
    """A design as hlsgen schedules it. usage: cells by kind, None if it could not be done."""

    loops: tuple[Found, ...] = ()
    usage: dict[str, int] | None = None


def schedule_of(solution: VendorSolution) -> Scheduled:
    """hlsgen's schedule of a solution's sources. Raises DesignError or ToolError: they do not compile."""
    from hlsgen.schedule.component import Component, Target
    from hlsgen.schedule.confidence import grounds_of
    from hlsgen.schedule.kernels import schedule_components

    report = solution.report
    target = _options(solution).obeyed(
        Target(
            part=report.part,
            clock_ns=report.clock_ns or 10.0,
            uncertainty_ns=solution.uncertainty_ns,
            version=report.version[:6],
            kernel_flow=report.flow_target == "vitis",
        )
    )
    defines = {
        name: value or "1" for name, _, value in (one.partition("=") for one in solution.flags.defines)
    }
    component = Component(
        top=report.top,
        files=solution.sources,
        target=target,
        include_folders=solution.include_folders,
        defines=defines,
        directives=solution.directives,
    )
    kernel = schedule_components([component], jobs=1)[0]
    loops = (
        Found(
            file=loop.place.file,
            line=loop.place.line,
            function=loop.place.function,
            ii=loop.interval,
            between=loop.between,
            tier=loop.tier.value,
            trips=loop.trips,
            depth=loop.depth,
            chain_ns=loop.chain_ns,
            reasons=loop.reasons,
            estimate=loop.estimate,
            grounds=tuple(ground.name for ground in grounds_of(loop)),
        )
        for loop in sorted(kernel.loops, key=_calls_of)
        if loop.place is not None
    )
    return Scheduled(loops=tuple(loops), usage=asdict(kernel.usage.csynth))


def _options(solution: VendorSolution) -> Configuration:
    """The options of a solution; those of the interface from its log, where no script is kept."""
    from hlsgen.designfile.tcl_commands import TclCommand
    from hlsgen.schedule.tcl_script import options_said

    options = dict(solution.options)
    asked = any(key.startswith("syn.interface.") for key in options)
    if not asked and solution.folder.is_dir():
        logs = (log.read_text(encoding="utf-8", errors="replace") for log in solution.folder.glob("*.log"))
        said = [_INTERFACE.search(line) for log in logs for line in log.splitlines()]
        lines = [TclCommand(words=tuple(found[0].split()), line=1) for found in said if found]
        options |= options_said(lines)
    return Configuration(
        path=solution.folder,
        values={key: [(1, value)] for key, value in options.items()},
        folder=solution.folder,
    )


def _calls_of(loop: LoopSchedule) -> list[int]:
    """The lines of the calls that a loop was inlined at, the outermost first: the tool numbers the copies of
    a loop in that order."""
    return [line for _, line in reversed(loop.place.calls)] if loop.place is not None else []


def matched(expected: Sequence[Expected], found: Sequence[Found]) -> Iterator[tuple[Expected, Found | None]]:
    """Each loop of the report with hlsgen's at the same line: of several that with its trips and function."""
    used: set[int] = set()
    for one in expected:
        ranks = [
            (_elsewhere(one, ours), at, _other_trips(one, ours), int(index in used), index)
            for index, ours in enumerate(found)
            for at, (path, line) in enumerate(one.lines)
            if line == ours.line and _is_file(path, ours)
        ]
        best = min(ranks)[-1] if ranks else _within(one, found)
        if best is not None:
            used.add(best)
        yield one, None if best is None else found[best]


def _within(expected: Expected, found: Sequence[Found]) -> int | None:
    """The only pipelined loop within the nest that a sentence names; None if there are several."""
    if expected.body is None:
        return None
    path, first, last = expected.body
    inside = [
        index for index, ours in enumerate(found) if first <= ours.line <= last and _is_file(path, ours)
    ]
    return inside[0] if len({found[index].line for index in inside}) == 1 else None


def _is_file(path: Path, found: Found) -> bool:
    parts = Path(found.file).parts
    return path.parts[-len(parts) :] == parts


def _elsewhere(expected: Expected, found: Found) -> int:
    """Whether a loop stands in another function than that of the report's module, as far as names tell: an
    argument of a template is 14u for the vendor, 14U for Clang."""
    module = expected.loop.module.split("_Pipeline")[0].lower()
    function = re.sub(r"\W+", "_", found.function).strip("_").lower()
    return 0 if module == function else 1 if module.startswith(function) else 2


def _other_trips(expected: Expected, found: Found) -> int:
    trips = expected.loop.trip_count
    return int(found.trips is None or trips is None or found.trips not in (trips.low, trips.high))


def compare(folder: Path, root: Path, schedule: Callable[[VendorSolution], Scheduled]) -> dict[str, Any]:
    """The loops of one solution, log or folder of RTL beside hlsgen's, as JSON; `left_out` says why there are
    none."""
    try:
        solution = with_sources_beside(_read(folder, root), root)
    except DesignError as error:
        return {"left_out": f"unreadable: {error}"}
    why = unfit(solution)
    expected: list[Expected] = []
    if not why:
        expected, why = expected_loops(solution, root)
    if why:
        return {"left_out": why}
    failure = ""
    found = Scheduled()
    try:
        found = schedule(solution) if expected else found
    except Exception as error:  # whatever ends it is a design that it cannot do: counted and shown
        failure = f"{type(error).__name__}: {error}"
        if lacking := lacks_header(failure, root):
            return {"left_out": lacking}
    modules = [one.loop.module for one in expected]
    return {
        "failure": failure,
        "part": solution.report.part,
        "clock_ns": solution.report.clock_ns,
        "loops": [
            asdict(_compared(solution, root, one, ours, failure, alone=modules.count(one.loop.module) == 1))
            for one, ours in matched(expected, found.loops)
        ],
        "usage": _usage(solution, root, found.usage) if found.usage and solution.report.resources else None,
    }


def _read(path: Path, root: Path) -> VendorSolution:
    if path.is_file():
        return read_told(path, root) if path.match(FILES) else read_logged(path, root)
    return read_solution(path, root) if (path / REPORT).is_file() else read_emitted(path, root)


def _usage(solution: VendorSolution, root: Path, predicted: dict[str, int]) -> dict[str, Any]:
    report = solution.report
    return {
        "repository": root.name,
        "solution": str(solution.folder.relative_to(root)),
        "version": report.version[:6],
        "part": report.part,
        "predicted": predicted,
        "reported": {kind: int(report.resources[kind]) for kind in predicted},
    }


def _compared(
    solution: VendorSolution,
    root: Path,
    expected: Expected,
    found: Found | None,
    failure: str,
    *,
    alone: bool,
) -> Compared:
    loop = expected.loop
    path, line = expected.lines[0]
    if failure:
        outcome, why = FAILED, failure.splitlines()[0]
    elif found is None:
        outcome, why = NOT_FOUND, "no pipelined loop at its lines"
    else:
        outcome = UNDECIDED if found.ii is None else RIGHT if found.ii == loop.ii else WRONG
        why = "; ".join(found.reasons)
    return Compared(
        repository=root.name,
        solution=str(solution.folder.relative_to(root)),
        version=solution.report.version[:6],
        module=loop.module,
        name=loop.name,
        place=f"{path.relative_to(root.resolve())}:{line}",
        outcome=outcome,
        trips=None if loop.trip_count is None else (loop.trip_count.low, loop.trip_count.high),
        vendor_ii=loop.ii or 0,
        ii=found.ii if found else None,
        between=found.between if found else None,
        tier=found.tier if found else "",
        vendor_depth=loop.depth,
        depth=found.depth if found else None,
        vendor_chain_ns=loop.estimated_ns if alone else None,
        chain_ns=found.chain_ns if found else None,
        why=why[:600],
        said=loop.said[:300],
        estimate=found.estimate if found else None,
        grounds=found.grounds if found else (),
    )


def score(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Counts and errors of compared loops; depth and chain where hlsgen's II is the vendor's."""
    outcomes = [row["outcome"] for row in rows]
    right = outcomes.count(RIGHT)
    decided = right + outcomes.count(WRONG)
    agreed = [row for row in rows if row["outcome"] == RIGHT]
    depths = [(row["depth"], row["vendor_depth"]) for row in agreed if row["vendor_depth"]]
    chains = [(row["chain_ns"], row["vendor_chain_ns"]) for row in agreed if row["vendor_chain_ns"]]
    above = [row for row in rows if row["vendor_ii"] > 1]
    return {
        "loops": len(rows),
        "decided": decided,
        "right": right,
        "wrong": outcomes.count(WRONG),
        "undecided": outcomes.count(UNDECIDED),
        "not_found": outcomes.count(NOT_FOUND),
        "failed": outcomes.count(FAILED),
        "above_one": len(above),
        "above_one_right": sum(row["outcome"] == RIGHT for row in above),
        "above_one_decided": sum(row["outcome"] in (RIGHT, WRONG) for row in above),
        "depth_error": _spread([abs(ours - theirs) for ours, theirs in depths]),
        "depth_error_relative": _spread([abs(ours - theirs) / theirs for ours, theirs in depths]),
        "chain_error_ns": _spread([abs(ours - theirs) for ours, theirs in chains]),
    }


def _spread(errors: Sequence[float]) -> dict[str, float] | None:
    """Median and what 90 % stay within."""
    if not errors:
        return None
    ordered = sorted(errors)
    return {"median": median(ordered), "within_90": ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]}


def distinct(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the loops that a repository holds again, as of another commit of the same design."""
    keys = ("repository", "version", "name", "vendor_ii", "vendor_depth", "part", "clock_ns", "trips")
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        found.setdefault(str([row[key] for key in keys]), row)
    return list(found.values())


def _checkouts(folder: Path, only: Path | None) -> list[Path]:
    names = None if only is None else set(only.read_text(encoding="utf-8").split())
    return [
        path for path in sorted(folder.iterdir()) if path.is_dir() and (names is None or path.name in names)
    ]


def _designs(root: Path) -> list[Path]:
    """What tells of designs: reports before logs, logs before RTL, and what texts tell."""
    logs = find_logs(root)
    return [*find_solutions(root), *logs, *find_rtl(root, tops_of(logs)), *find_told(root)]


def _in_child(folder: Path, root: Path, limit: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out.json"
        command = [
            sys.executable,
            str(Path(__file__).resolve()),
            str(root),
            "--one",
            str(folder),
            "--json",
            str(out),
        ]
        try:
            run(command, Path.cwd(), limit)
            return dict(json.loads(out.read_text(encoding="utf-8")))
        except Failed as error:
            failure = error

    def failed(_: VendorSolution) -> Scheduled:
        raise failure

    return compare(folder, root, failed)


def _said(folder: Path, result: dict[str, Any]) -> dict[str, Any]:
    """The result of a solution, which the terminal has as soon as it is there: all of them take hours."""
    outcomes = Counter(row["outcome"] for row in result.get("loops", ()))
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    said = counts or str(result.get("left_out") or "no loops").split("\n")[0]
    print(f"{folder}: {said}", file=sys.stderr, flush=True)
    return result


def _table(title: str, groups: dict[str, list[dict[str, Any]]]) -> Table:
    table = Table(title=title)
    heads = ("", "loops", "decided", "II right", "wrong", "undecided", "not found", "failed", "II > 1 right")
    for head in (*heads, "depth off", "chain off, ns"):
        table.add_column(head, justify="left" if not head else "right")
    for name, rows in groups.items():
        one = score(rows)
        pairs = [one["depth_error"], one["chain_error_ns"]]
        table.add_row(
            name,
            str(one["loops"]),
            _share(one["decided"], one["loops"]),
            _share(one["right"], one["decided"]),
            *(str(one[key]) for key in ("wrong", "undecided", "not_found", "failed")),
            f"{one['above_one_right']} of {one['above_one']}",
            *(
                "" if pair is None else f"{pair['median']:.3g}, 90 % {pair['within_90']:.3g}"
                for pair in pairs
            ),
        )
    return table


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})" if whole else "0"


def _grouped(rows: Sequence[dict[str, Any]], key: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: str(row[key])):
        groups.setdefault(str(row[key]), []).append(row)
    return {**groups, "all": list(rows)}


def _show(rows: Sequence[dict[str, Any]], left_out: dict[str, int], console: Console) -> None:
    console.print(_table("by version of the vendor's tool", _grouped(rows, "version")))
    console.print(_table("by repository", _grouped(rows, "repository")))
    for why, count in sorted(left_out.items(), key=lambda item: -item[1]):
        console.print(f"left out: {count} solutions: {why}")
    missed = [row for row in rows if row["outcome"] != RIGHT]
    for row in sorted(missed, key=lambda row: (row["outcome"], row["repository"], row["place"]))[:MOST_SHOWN]:
        console.print(
            f"{row['outcome']}: {row['repository']} {row['place']} {row['name']}: II {row['ii']} for "
            f"{row['vendor_ii']} ({row['version']}) {row['why'][:160]} | {row['said'][:120]}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    if len(missed) > MOST_SHOWN:
        console.print(f"and {len(missed) - MOST_SHOWN} more, in the JSON")


def main() -> None:
    """Run over all solutions, print the tables, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", type=Path, help="a file with the names of the folders that count")
    parser.add_argument("--json", type=Path, default=JSON)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300, help="seconds for one solution")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        given.json.write_text(json.dumps(compare(given.one, given.folder, schedule_of)))
        return
    work = [(path, root) for root in _checkouts(given.folder, given.only) for path in _designs(root)]
    with ThreadPoolExecutor(given.jobs) as pool:
        results = list(pool.map(lambda item: _said(item[0], _in_child(item[0], item[1], given.limit)), work))
    rows = distinct(
        {**row, "part": result["part"], "clock_ns": result["clock_ns"]}
        for result in results
        for row in result.get("loops", ())
    )
    left_out: dict[str, int] = {}
    for result in results:
        if result.get("left_out"):
            why = str(result["left_out"]).split("\n")[0][:120]
            left_out[why] = left_out.get(why, 0) + 1
    usage = distinct_areas(result["usage"] for result in results if result.get("usage"))
    console = Console(width=max(150, Console().width))
    _show(rows, left_out, console)
    console.print(areas_table(usage))
    given.json.parent.mkdir(parents=True, exist_ok=True)
    areas = {"score": areas_score(usage), "designs": usage}
    whole = {"score": score(rows), "left_out": left_out, "loops": rows, "areas": areas}
    given.json.write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
