"""Reads report.json of a build folder, which anybody may have written or damaged, as content.py has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.output import MARK
from hlsgen.designfile.text_files import read_text, refuse
from hlsgen.designfile.validation import Mistake, mistakes_in, printable
from hlsgen.report.content import Figures, Report
from hlsgen.report.section import AGAIN

F = TypeVar("F", bound=Figures)


def read_report(folder: Path) -> Report:
    """report.json of a build folder. Raises DesignError: no build, damaged, or of an older hlsgen."""
    return checked_report(build_json(folder), str(folder / MARK))


def build_json(folder: Path) -> object:
    """What report.json of a build folder holds. Raises DesignError: there is none, or it is no JSON."""
    if not folder.is_dir():
        refuse(folder, "is no folder", "name a folder that `hlsgen build` has written")
    path = folder / MARK
    if not path.is_file():
        refuse(folder, f"holds no {MARK}", "name a folder that `hlsgen build` has written")
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        refuse(path, f"is no JSON: {printable(str(error))}", AGAIN)


def checked_report(content: object, name: str = MARK) -> Report:
    """The content of report.json. Raises DesignError: it lacks something, or is not hlsgen's."""
    return _checked(_report(), content, name)


def checked_figures(content: object, name: str = MARK) -> Figures:
    """The modelled figures alone, whatever else is there. Raises as `checked_report` does."""
    return _checked(_figures(), content, name)


@cache
def _report() -> TypeAdapter[Report]:
    return TypeAdapter(Report)


@cache
def _figures() -> TypeAdapter[Figures]:
    return TypeAdapter(Figures)


def _checked(adapter: TypeAdapter[F], content: object, name: str) -> F:
    try:
        found = adapter.validate_python(content)
        mistake = next(_contradictions(found), None)
        if mistake is None:
            return found
    except ValidationError as error:
        mistake = next(mistakes_in(error.errors()[0]))
    steps = [str(step) for step in mistake.at if "[" not in str(step)]
    where = f"`{printable('.'.join(steps))}` " if steps else "the whole "
    message = f"{printable(name)} is damaged: {where}{mistake.message}"
    raise DesignError(Problem(message=message, fix=AGAIN))


def _contradictions(figures: Figures) -> Iterator[Mistake]:
    """What figures say that cannot be: edges lead from inputs and earlier layers to later ones."""
    known = {port.name for port in figures.graph.inputs}
    reads: dict[str, list[str]] = {}
    for edge in figures.graph.edges:
        reads.setdefault(edge.to, []).append(edge.source)
    for layer in figures.layers:
        if not set(reads.pop(layer.name, ())) <= known:
            message = f"has an edge to {layer.name} from what is no input and no earlier layer"
            yield Mistake(message=message, fix=AGAIN, at=("graph",))
        if layer.name in known:
            yield Mistake(message=f"has the name {layer.name} twice", fix=AGAIN, at=("layers",))
        known.add(layer.name)
    if reads or not {port.source for port in figures.graph.outputs} <= known:
        yield Mistake(message="names layers that are not there", fix=AGAIN, at=("graph",))
    streams = {fifo.name for fifo in figures.fifos}
    ways = [one.fifos for one in figures.graph.edges] + [one.fifos for one in figures.graph.outputs]
    if not all(set(way) <= streams for way in ways):
        yield Mistake(message="names streams that are not there", fix=AGAIN, at=("graph",))
    schedule = figures.schedule if isinstance(figures, Report) else None
    if schedule and schedule.loops and schedule.budget_ns is None:
        yield Mistake(message="is missing", fix=AGAIN, at=("schedule", "budget_ns"))
    if figures.styles and sum(one.chosen for one in figures.styles) != 1:
        yield Mistake(message="must have one style that is chosen", fix=AGAIN, at=("styles",))
    if any((one.frames_per_s is None) != bool(one.refusal) for one in figures.styles):
        yield Mistake(message="must have figures or a refusal for each style", fix=AGAIN, at=("styles",))
    if figures.explored and sum(one.chosen for one in figures.explored.front) != 1:
        yield Mistake(message="must have one point that is chosen", fix=AGAIN, at=("explored", "front"))
