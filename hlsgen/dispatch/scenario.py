"""A scenario: what a file says is to be simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hlsgen.base.errors import DesignError, Problem, collecting
from hlsgen.base.progress import Progress, Say, silent
from hlsgen.designfile.document import Document
from hlsgen.dispatch.networks import network_tasks
from hlsgen.dispatch.node import MICROSECOND, Application, Node, Task
from hlsgen.dispatch.schema import MOST_RUNS, ApplicationSection, ScenarioFile


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A node and what arrives at it. by_kind: policies know one time for each kind and type, as CEDR's.

    source: by type of element where its times come from. warnings: what a reader of the figures should know.
    """

    name: str
    node: Node
    applications: tuple[Application, ...]
    policy: str
    by_kind: bool
    seed: int
    source: Mapping[str, tuple[str, ...]]
    built: Mapping[str, int]

    @property
    def warnings(self) -> tuple[str, ...]:
        """More accelerators than a design's board has room for."""
        return tuple(
            f"{self.node.counts[type_]} elements of type {type_}; the design has {count} of them on its board"
            for type_, count in self.built.items()
            if self.node.counts.get(type_, 0) > count
        )

    def on(self, node: Node) -> Scenario:
        """The same on another node. Raises DesignError: it cannot run some task."""
        other = replace(self, node=node)
        check_runnable(other)
        return other

    def under(self, policy: str) -> Scenario:
        """The same under another policy."""
        return replace(self, policy=policy)

    def at_rate(self, rate: float) -> Scenario:
        """The same with so many arrivals a second in all, of each application its share of them."""
        factor = rate / sum(one.rate for one in self.applications)
        return replace(
            self, applications=tuple(replace(one, rate=one.rate * factor) for one in self.applications)
        )

    def with_instances(self, instances: int) -> Scenario:
        """The same with so many instances of each application. Raises DesignError: too many tasks."""
        other = replace(
            self, applications=tuple(replace(one, instances=instances) for one in self.applications)
        )
        check_runnable(other)
        return other


def load_scenario(path: Path, *, say: Say = lambda _: None, progress: Progress = silent) -> Scenario:
    """The scenario in a file; files that it names are relative to it.

    `say` is told when a model's own code is run. Raises DesignError with every mistake found.
    """
    document = Document.read(path)
    given = document.validate(ScenarioFile)
    source: dict[str, list[str]] = {}
    built: dict[str, int] = {}
    problems: list[Problem] = []
    applications = []
    for one in given.applications:
        with collecting(problems):
            applications.append(_application(one, given, document, source, built, say, progress))
    if problems:
        raise DesignError(problems)
    found = Scenario(
        name=given.name,
        node=Node(counts=dict(given.resources)),
        applications=tuple(applications),
        policy=given.policy,
        by_kind=given.estimates == "kind",
        seed=given.seed,
        source={type_: tuple(dict.fromkeys(texts)) for type_, texts in source.items()},
        built=built,
    )
    check_runnable(found)
    return found


def _application(
    one: ApplicationSection,
    given: ScenarioFile,
    document: Document,
    source: dict[str, list[str]],
    built: dict[str, int],
    say: Say,
    progress: Progress,
) -> Application:
    """The application; adds to `source` and `built` what is known of its elements."""
    frames = 1
    if one.network is not None:
        table = None if one.cpu_times is None else document.beside(one.cpu_times)
        found = network_tasks(
            document.beside(one.network), one.accelerators or {}, table, say=say, progress=progress
        )
        tasks, frames = found.tasks, found.frames
        for type_, text in found.source.items():
            source.setdefault(type_, []).append(text)
        for type_ in one.accelerators or {}:
            built[type_] = min(found.instances, built.get(type_, found.instances))
    else:
        tasks = _written_tasks(one, given)
        for type_ in dict.fromkeys(type_ for task in tasks for type_ in task.nanoseconds):
            source.setdefault(type_, []).append(given.times.get(type_, "assumed"))
    return Application(
        name=one.name,
        tasks=tasks,
        rate=one.rate_per_s,
        instances=one.instances,
        poisson=one.arrival == "poisson",
        frames=frames,
    )


def _written_tasks(one: ApplicationSection, given: ScenarioFile) -> tuple[Task, ...]:
    assert one.tasks is not None
    at = {task.name: place for place, task in enumerate(one.tasks)}
    return tuple(
        Task(
            name=task.name,
            kind=task.kind,
            nanoseconds={
                type_: max(1, round(takes * MICROSECOND))
                for type_, takes in (task.costs or given.costs[task.kind]).items()
            },
            after=tuple(sorted({at[earlier] for earlier in task.after})),
        )
        for task in one.tasks
    )


def check_runnable(scenario: Scenario) -> None:
    """Checks that each task has an element. Raises DesignError: some have none, or there are too many."""
    problems = []
    for one in scenario.applications:
        left = [task for task in one.tasks if not scenario.node.can_run(task)]
        if left:
            types = ", ".join(dict.fromkeys(type_ for task in left for type_ in task.nanoseconds))
            message = f"no element of {scenario.node.text} runs {left[0].name} of {one.name}"
            if len(left) > 1:
                message += f", nor {len(left) - 1} more of its tasks"
            problems.append(Problem(message=message, fix=f"add elements that do: {types}"))
    runs = sum(len(one.tasks) * one.instances for one in scenario.applications)
    if runs > MOST_RUNS:
        message = f"{scenario.name} runs {runs:,} tasks in all"
        problems.append(Problem(message=message, fix=f"fewer instances: {MOST_RUNS:,} tasks at most"))
    if problems:
        raise DesignError(problems)
