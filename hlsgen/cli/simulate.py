"""The command `hlsgen simulate`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from hlsgen.base.progress import Progress
from hlsgen.cli.console import as_json_option, note, print_json, reporting, show, working
from hlsgen.cli.printing import print_warnings
from hlsgen.cli.sweep import Scheduler

if TYPE_CHECKING:
    from hlsgen.dispatch.figures import Figures
    from hlsgen.dispatch.node import Node
    from hlsgen.dispatch.points import Point
    from hlsgen.dispatch.scenario import Scenario

POLICIES = ("SIMPLE", "RANDOM", "MET", "EFT", "ETF", "HEFT_RT")
MOST_RATES = 1000


class Rates(click.ParamType[tuple[float, ...]]):
    """A rate, or LOW:HIGH:COUNT for rates of equal ratio."""

    name = "rates"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        from hlsgen.dispatch.points import rates_between
        from hlsgen.dispatch.schema import RATES

        parts = str(value).split(":")
        try:
            numbers = [float(part) for part in parts[:2]]
            count = int(parts[2]) if len(parts) == 3 else 1
        except ValueError:
            numbers, count = [], 0
        fine = all(math.isfinite(one) and RATES[0] <= one <= RATES[1] for one in numbers)
        if len(parts) not in (1, 3) or not fine or not 1 <= count <= MOST_RATES or sorted(numbers) != numbers:
            self.fail(f"{value!r} is no rate such as 100, and no range of rates such as 10:1000:8")
        return tuple(numbers if len(parts) == 1 else rates_between(numbers[0], numbers[1], count))


class Resources(click.ParamType["Node"]):
    """Elements by type: cpu=3,conv=1."""

    name = "resources"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Node:
        from hlsgen.dispatch.node import Node
        from hlsgen.dispatch.schema import MOST_ELEMENTS

        if not isinstance(value, str):
            assert isinstance(value, Node)
            return value
        found = re.fullmatch(r"[a-z][a-z0-9_]*=\d{1,3}(,[a-z][a-z0-9_]*=\d{1,3})*", value)
        pairs = [pair.split("=") for pair in value.split(",")] if found else []
        counts = {type_: int(count) for type_, count in pairs}
        if len(counts) < max(1, len(pairs)) or not 1 <= sum(counts.values()) <= MOST_ELEMENTS:
            self.fail(f"{value!r} is no list of elements such as cpu=3,conv=1")
        return Node(counts=counts)


@click.command()
@click.argument("scenario", type=click.Path(path_type=Path))
@click.option(
    "--policy",
    "policies",
    type=click.Choice(POLICIES, case_sensitive=False),
    multiple=True,
    help="Another policy than the file's; several: a sweep.",
)
@click.option(
    "--resources",
    "nodes",
    type=Resources(),
    multiple=True,
    metavar="cpu=3,conv=1",
    help="Another node than the file's; several: a sweep.",
)
@click.option(
    "--rate",
    "rates",
    type=Rates(),
    multiple=True,
    metavar="R",
    help="Arrivals a second in all, or LOW:HIGH:COUNT for several of equal ratio: a sweep.",
)
@click.option(
    "--instances", type=click.IntRange(1, 100_000), metavar="N", help="Of each application, not the file's."
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), metavar="N", help="Another seed than the file's.")
@click.option(
    "--window",
    type=click.FloatRange(0, min_open=True),
    metavar="US",
    help="Microseconds that the Gantt chart shows [all].",
)
@click.option(
    "--scheduler",
    type=Scheduler(),
    default="serial",
    show_default=True,
    metavar="S",
    help="Where a sweep runs: serial, local (processes of this machine), tcp://HOST:PORT, slurm, ...",
)
@click.option("--workers", type=click.IntRange(1, 10_000), metavar="N", help="Processes [local: cores].")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Folder [simulate/NAME]."
)
@as_json_option
def simulate(
    scenario: Path,
    policies: tuple[str, ...],
    nodes: tuple[Node, ...],
    rates: tuple[tuple[float, ...], ...],
    instances: int | None,
    seed: int | None,
    window: float | None,
    scheduler: str,
    workers: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Simulate what arrives at CPUs and accelerators, as SCENARIO says, under a policy of CEDR."""
    with reporting(as_json):
        from dataclasses import replace

        from hlsgen.dispatch.files import run_json, sweep_json, write_run, write_sweep
        from hlsgen.dispatch.points import points, run, sweep
        from hlsgen.dispatch.scenario import load_scenario

        if scheduler != "serial":
            from hlsgen.sweep.cluster import check_scheduler

            check_scheduler(scheduler)
        with working(as_json) as progress:
            given = load_scenario(scenario, say=note, progress=progress)
            if seed is not None:
                given = replace(given, seed=seed)
            if instances is not None:
                given = given.with_instances(instances)
            asked = points(
                given,
                _nodes(nodes) or [given.node],
                list(dict.fromkeys(policies)) or [given.policy],
                sorted({rate for each in rates for rate in each})
                or [sum(one.rate for one in given.applications)],
            )
            folder = output or Path("simulate") / given.name
            if len(asked) == 1:
                chosen = asked[0].scenario
                done, figures = run(chosen)
                write_run(folder, chosen, done, figures, window)
            else:
                if window is not None:
                    raise click.UsageError("--window is of a single simulation's Gantt chart")
                found = sweep(asked, scheduler, workers, _Watched(progress))
                write_sweep(folder, given, found)
        if len(asked) == 1:
            if as_json:
                print_json({**run_json(chosen, figures), "folder": str(folder)})
            else:
                _print_run(chosen, figures, folder)
        elif as_json:
            print_json({**sweep_json(given, found), "folder": str(folder)})
        else:
            _print_sweep(given, found, folder)


def _nodes(nodes: Sequence[Node]) -> list[Node]:
    return list({node.text: node for node in nodes}.values())


class _Watched:
    """The progress of a sweep."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.total = self.done = 0

    def begin(self, total: int) -> None:
        self.total = total

    def running(self, jobs: int) -> None:
        self.progress(f"{self.done} of {self.total} simulated, {jobs} running", self.done, self.total)

    def ended(self, point: Point, found: dict[str, Any]) -> None:
        self.done += 1

    def say(self, text: str) -> None:
        note(text)


def _print_run(scenario: Scenario, found: Figures, folder: Path) -> None:
    from hlsgen.dispatch.figures import rate_text

    print_warnings(scenario.warnings)
    head = f"{scenario.name} on {found.resources} under {found.policy}, simulated"
    table = Table("application", "instances", "mean", "median", "95 %", "99 %", "largest")
    table.title = f"{head}: response times in us"
    rows = {**found.by_application, **({"all": found.response} if len(found.by_application) > 1 else {})}
    for name, one in rows.items():
        cells = (one.mean, *one.percentiles, one.largest)
        table.add_row(name, f"{one.instances:,}", *(f"{cell:,.1f}" for cell in cells))
    show(table)
    click.echo(
        f"{rate_text(found.arrived)} instances/s arrive, {rate_text(found.completed)} are completed"
        + (": saturated" if found.saturated else "")
        + f"; no policy can do more than {rate_text(found.capacity.rate)}"
        + f" ({', '.join(found.capacity.full)} busy)"
    )
    click.echo(f"makespan {found.makespan_us:,.1f} us; tasks wait {found.queued_us:,.1f} us in the mean")
    click.echo("busy: " + ", ".join(f"{name} {share:.0%}" for name, share in found.busy.items()))
    _print_times(scenario)
    click.echo(f"wrote {click.format_filename(folder)}/ (gantt.svg, timing_trace.log, simulation.json)")


def _print_sweep(scenario: Scenario, found: Sequence[dict[str, Any]], folder: Path) -> None:
    from hlsgen.dispatch.figures import rate_text
    from hlsgen.dispatch.points import saturation

    print_warnings(scenario.warnings)
    table = Table("resources", "policy", "saturated from", "most completed", "no policy more than")
    table.title = f"{scenario.name}, simulated: instances a second"
    for one in saturation(found):
        begins = one["saturated_from_per_s"]
        table.add_row(
            one["resources"],
            one["policy"],
            "no rate" if begins is None else rate_text(begins),
            rate_text(one["most_completed_per_s"]),
            rate_text(one["capacity_per_s"]),
        )
    show(table)
    _print_times(scenario)
    click.echo(f"{len(found)} simulations; wrote {click.format_filename(folder)}/ (sweep.svg, sweep.json)")


def _print_times(scenario: Scenario) -> None:
    for type_, texts in scenario.source.items():
        click.echo(f"times of {type_}: {'; '.join(texts)}")
