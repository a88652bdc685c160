"""What a design file of a network fixes of its hardware, checked: keys of `mapping`, and `interface`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hlsgen.base.errors import Problem
from hlsgen.base.short_repr import Brief
from hlsgen.designfile.constraints import NetworkConstraints, interface_problems
from hlsgen.designfile.document import Document
from hlsgen.designfile.model_schema import NetworkFile
from hlsgen.designfile.style_keys import mapping_problems
from hlsgen.hardware.weights import task_weight_problems, weight_problems
from hlsgen.model.ir import Graph
from hlsgen.styles.auto import AUTO, STYLES
from hlsgen.targets.board import Board


@dataclass(frozen=True, kw_only=True)
class Wishes(Brief):
    """What a design file fixes. refused: with style: auto the styles that cannot obey it, and why."""

    constraints: NetworkConstraints
    refused: Mapping[str, Problem] = field(default_factory=dict)


def wishes(file: NetworkFile, graph: Graph, document: Document, board: Board) -> Wishes:
    """What the file fixes. Raises DesignError: the style cannot obey a key, or of style: auto none can."""
    known = [layer.name for layer in graph.layers]
    problems = [
        Problem(
            message=f"{name} is no layer of this network",
            fix=f"the layers are {', '.join(known[:30])}" + (", ..." if len(known) > 30 else ""),
            place=document.place(("mapping", name), key=True),
        )
        for name in file.mapping.layers
        if name not in known
    ]
    if problems:
        raise document.error(problems)
    constraints = _constraints(file)
    names = tuple(STYLES) if file.style == AUTO else (file.style,)
    problems = _unknown_slrs(file, document, board)
    by_style = {name: _style_problems(name, file, constraints, graph, document, board) for name in names}
    if all(by_style.values()):
        problems += [one for found in by_style.values() for one in found]
    if problems:
        raise document.error(problems)
    refused = {name: found[0] for name, found in by_style.items() if found}
    return Wishes(constraints=constraints, refused=refused)


def _constraints(file: NetworkFile) -> NetworkConstraints:
    mapping = file.mapping
    folds = {name: one.fold for name, one in mapping.layers.items()}
    return NetworkConstraints(
        instances=mapping.instances,
        folds={
            name: fold for name, fold in folds.items() if any(value is not None for value in fold.values())
        },
        target_interval=mapping.interval,
        slrs={name: one.slr for name, one in mapping.layers.items() if one.slr is not None},
        weights=mapping.weight_constraints,
        interface=file.interface.constraints,
        search=mapping.search,
        processor=mapping.processor.constraints,
    )


def _style_problems(
    style: str,
    file: NetworkFile,
    constraints: NetworkConstraints,
    graph: Graph,
    document: Document,
    board: Board,
) -> list[Problem]:
    """What the file asks for and a network of this style has not, each with its place."""
    problems = [
        replace(one, place=document.place(("interface",)))
        for one in interface_problems(constraints.interface, style)
    ]
    for at, problem in mapping_problems(constraints, style):
        problems.append(replace(problem, place=document.place(("mapping", *at), key=True)))
    if style == "shared":
        return problems
    found = weight_problems(graph, constraints.weights, board)
    if style == "tasks":
        found += task_weight_problems(graph, constraints.weights)
    else:
        problems += _wave_problems(file, document)
    problems += _slr_problems(style, file, document)
    for name, problem in found:
        loc = ("mapping", name) if name in file.mapping.layers else ("mapping", "weights")
        problems.append(replace(problem, place=document.place(loc, key=True)))
    return problems


def _unknown_slrs(file: NetworkFile, document: Document, board: Board) -> list[Problem]:
    """SLRs of layers that the board has not."""
    names = [slr.name for slr in board.slrs]
    return [
        Problem(
            message=f"{name}: {board.title} has no SLR {one.slr!r:.80}",
            fix=f"one of {', '.join(names)}",
            place=document.place(("mapping", name, "slr")),
        )
        for name, one in file.mapping.layers.items()
        if one.slr is not None and one.slr not in names
    ]


def _slr_problems(style: str, file: NetworkFile, document: Document) -> list[Problem]:
    """SLRs of layers of what is no single streaming kernel."""
    given = [name for name, one in file.mapping.layers.items() if one.slr is not None]
    if not given or (style == "dataflow" and file.mapping.instances in (None, 1)):
        return []
    message = "slr says where the layers of one streaming kernel lie that needs several SLRs"
    place = document.place(("mapping", given[0], "slr"), key=True)
    return [Problem(message=message, fix="style: dataflow and instances: 1, or no slr", place=place)]


def _wave_problems(file: NetworkFile, document: Document) -> list[Problem]:
    """The keys of front waves, which are kernels of their own, in a network that is one streaming kernel."""
    return [
        Problem(
            message=f"{name}: {key} is of a front wave, and in style: dataflow a window slides",
            fix="style: tasks, or px for several pixels at once",
            place=document.place(("mapping", name, key), key=True),
        )
        for name, one in file.mapping.layers.items()
        for key in ("rows", "fabric_pe")
        if getattr(one, key) is not None
    ]
