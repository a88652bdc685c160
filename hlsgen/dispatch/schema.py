"""The file of `hlsgen simulate`: elements, costs, applications. docs/simulate.md explains every key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from hlsgen.designfile.validation import Entries, Mistake, Real, Whole, must_be, refused
from hlsgen.dispatch.policies import POLICIES

CPU = "cpu"
MOST_ELEMENTS = 256
MOST_TASKS = 10_000
MOST_INSTANCES = 100_000
MOST_RUNS = 2_000_000
"""Tasks of all instances in a simulation."""
MICROSECONDS = (0.001, 1e9)
RATES = (1e-3, 1e8)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_TYPE = re.compile(r"[a-z][a-z0-9_]{0,30}")


def _check_name(text: str) -> str:
    if _NAME.fullmatch(text) is None:
        fix = "use letters, digits and underscores, a letter first, at most 63"
        raise refused(must_be("a name", text, fix))
    return text


def _check_type(text: str) -> str:
    if _TYPE.fullmatch(text) is None or text[-1].isdigit():
        fix = "use lower-case letters, digits and underscores, no digit at the end"
        raise refused(must_be("a type of element", text, fix))
    return text


def _check_line(text: str) -> str:
    if not 1 <= len(text) <= 200 or not text.isprintable():
        raise refused(must_be("a line of 1 to 200 printable characters", text, "write a short text"))
    return text


Name = Annotated[str, AfterValidator(_check_name)]
Type = Annotated[str, AfterValidator(_check_type)]
Line = Annotated[str, AfterValidator(_check_line)]
Microseconds = Annotated[float, Real(*MICROSECONDS)]
Costs = dict[Type, Microseconds]
Counts = dict[Type, Annotated[int, Whole(0, MOST_ELEMENTS)]]


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TaskSection(Section):
    """A task; `costs`, microseconds by type of element, in place of those of its kind."""

    name: Name
    kind: Name
    after: Annotated[tuple[Name, ...], Entries(0, MOST_TASKS)] = ()
    costs: Costs | None = None


class ApplicationSection(Section):
    """An application: tasks that are written out, or a design of hlsgen whose layers are tasks.

    accelerators: by type of element the kinds of layers that it has kernels for. cpu_times: a file of times
    that were measured.
    """

    name: Name
    rate_per_s: Annotated[float, Real(*RATES)]
    instances: Annotated[int, Whole(1, MOST_INSTANCES)] = 100
    arrival: Literal["periodic", "poisson"] = "periodic"
    tasks: Annotated[tuple[TaskSection, ...], Entries(1, MOST_TASKS)] | None = None
    network: Line | None = None
    accelerators: dict[Type, Annotated[tuple[Name, ...], Entries(1, 100)]] | None = None
    cpu_times: Line | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        wrong = []
        if (self.tasks is None) == (self.network is None):
            fix = "write its `tasks`, or name the design file of a `network`"
            wrong.append(Mistake(message="needs either `tasks` or a `network`", fix=fix))
        if self.network is None:
            wrong += [
                Mistake(message="is of a network alone", fix="remove it, or name a `network`", at=(key,))
                for key in ("accelerators", "cpu_times")
                if getattr(self, key) is not None
            ]
        elif not self.accelerators and self.cpu_times is None:
            fix = "add `accelerators: {conv: [conv2d]}`, or `cpu_times: FILE`, or both"
            wrong.append(Mistake(message="has nothing that runs its network", fix=fix, at=("network",)))
        if CPU in (self.accelerators or {}):
            fix = "name the type of the accelerator; CPUs take what `cpu_times` says"
            wrong.append(Mistake(message="holds the CPUs", fix=fix, at=("accelerators", CPU)))
        if wrong:
            raise refused(*wrong)
        return self


class ScenarioFile(Section):
    """The whole file. times: by type of element where the microseconds of `costs` come from."""

    name: Name
    resources: Counts
    policy: Literal["SIMPLE", "RANDOM", "MET", "EFT", "ETF", "HEFT_RT"] = "EFT"
    estimates: Literal["task", "kind"] = "task"
    seed: Annotated[int, Whole(0, 2**31 - 1)] = 0
    costs: dict[Name, Costs] = {}
    times: dict[Type, Literal["measured", "modelled", "assumed"]] = {}
    applications: Annotated[tuple[ApplicationSection, ...], Entries(1, 100)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        wrong = []
        if not 1 <= sum(self.resources.values()) <= MOST_ELEMENTS:
            message = f"must have from 1 to {MOST_ELEMENTS} elements in all"
            wrong.append(Mistake(message=message, fix="write such as {cpu: 3, conv: 1}", at=("resources",)))
        seen: set[str] = set()
        for place, one in enumerate(self.applications):
            if one.name in seen:
                fix = "give each application its own"
                at = ("applications", place, "name")
                wrong.append(Mistake(message=f"{one.name} is there twice", fix=fix, at=at))
            seen.add(one.name)
            wrong += _task_mistakes(one, self.costs, place)
        if wrong:
            raise refused(*wrong)
        return self


def _task_mistakes(one: ApplicationSection, costs: Mapping[str, Any], place: int) -> list[Mistake]:
    """What is wrong with the names in an application's tasks."""
    known: set[str] = set()
    wrong = []
    for number, task in enumerate(one.tasks or ()):
        at = ("applications", place, "tasks", number)
        if task.name in known:
            fix = "give each task of an application its own"
            wrong.append(Mistake(message=f"{task.name} is there twice", fix=fix, at=(*at, "name")))
        for index, earlier in enumerate(task.after):
            if earlier not in known:
                message = f"names {earlier}, which is no earlier task"
                fix = "list tasks in an order in which each comes after those it waits for"
                wrong.append(Mistake(message=message, fix=fix, at=(*at, "after", index)))
        if not task.costs and not costs.get(task.kind):
            message = f"{task.kind} has no costs"
            fix = f"add {task.kind}: {{cpu: 10}} to the file's `costs`, or give the task its own"
            wrong.append(Mistake(message=message, fix=fix, at=(*at, "kind")))
        known.add(task.name)
    return wrong


class CpuTimesFile(Section):
    """A table of times by layer. measured: where and how. microseconds: a frame, by name of layer."""

    measured: Line
    microseconds: dict[Name, Annotated[float, Real(0, MICROSECONDS[1])]]


assert set(POLICIES) == {"SIMPLE", "RANDOM", "MET", "EFT", "ETF", "HEFT_RT"}
