"""A design file of a layer -> a design."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem, collecting
from hlsgen.base.quantise import quantised
from hlsgen.designfile.document import Document
from hlsgen.designfile.schema import DesignFile, FoldingMapping, read_design_file
from hlsgen.designfile.schema_values import SampleFile
from hlsgen.frontends.builder.design_file import graph_of, interface_problem
from hlsgen.hardware.conv_folding import MOST_PARTITIONS, folding_faults
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model import samples
from hlsgen.model.ir import Graph, verify
from hlsgen.passes import run_passes
from hlsgen.search.conv_kernel import ConvConstraints
from hlsgen.styles.conv_kernel import ConvKernel, mapping_problem
from hlsgen.targets.board import Board, load_board


def load_design_file(path: Path) -> tuple[DesignFile, Document]:
    """The design in the file, and the document that knows its positions.

    Raises DesignError with all independent mistakes, by line and column; the board is looked up too.
    """
    design, document, problems = read_design_file(path)
    problems += board_problems(document)
    if design is None or problems:
        raise document.error(problems)
    return design, document


def board_problems(document: Document) -> list[Problem]:
    """What is wrong with the board that the file names, if it names one."""
    name = document.data.get("board")
    if not isinstance(name, str) or not name.isprintable():
        return []
    try:
        load_board(name, folder=document.path.parent, place=document.place(("board",)))
    except DesignError as error:
        return list(error.problems)
    return []


def load_layer(path: Path, *, board: str | None = None) -> ConvKernel:
    """The layer in a design file; arguments as of `hlsgen.load`.

    Raises DesignError with every mistake found, each with its place: first those of the file's form, then
    those of its meaning. Whether hardware that fits exists is only known when `hardware` is made.
    """
    file, document = load_design_file(path)
    problems = interface_problem(file, document)
    graph, wrong = graph_of(file, document)
    broken = verify(graph)
    chosen: Board | None = None
    with collecting(problems):
        chosen = _board(file, document, board)
    constraints = _wish(file)
    given: NDArray[np.float64] | None = None
    with collecting(problems):
        given = _given_frames(file, document)
    broken += (
        wrong + _folding_problems(graph, constraints, document) + _contradictions(file, constraints, document)
    )
    if not broken:
        with collecting(broken):
            graph = run_passes(graph)
    design = None
    if chosen is not None:
        design = ConvKernel(
            name=file.name,
            graph=graph,
            board=chosen,
            clock_mhz=file.clock_mhz or chosen.clock_mhz,
            uncertainty=file.uncertainty,
            batch=file.batch,
            constraints=constraints,
            file=file,
            document=document,
            source=path.name,
            given_frames=given,
        )
    if problems and design is not None and not broken:
        with collecting(problems):
            _ = design.hardware  # what it needs is right, so that it may find one mistake more
    if problems or broken or design is None:
        raise document.error(problems + broken)
    return design


def _board(file: DesignFile, document: Document, other: str | None) -> Board:
    board = (
        load_board(file.board, folder=document.path.parent, place=document.place(("board",)))
        if other is None
        else load_board(other)
    )
    return board if file.margin is None else board.with_margin(file.margin)


def _wish(file: DesignFile) -> ConvConstraints:
    constraints = ConvConstraints(instances=file.mapping.instances, foldings=file.mapping.foldings)
    fixed = file.mapping.layers.get(file.layers[0].name)
    if fixed is None:
        return constraints
    second = fixed.second
    if second is not None:
        beside = _folded(ConvConstraints(instances=second.instances), second)
        constraints = replace(constraints, second=beside)
    return _folded(constraints, fixed)


def _folded(constraints: ConvConstraints, fixed: FoldingMapping) -> ConvConstraints:
    return replace(
        constraints,
        rows=fixed.rows,
        pe=fixed.pe,
        simd=fixed.simd,
        fabric_pe=fixed.fabric_pe,
        order=fixed.order,
        algorithm=fixed.algorithm,
    )


def _given_frames(file: DesignFile, document: Document) -> NDArray[np.float64] | None:
    """The frames of the file that `samples` names, if any. Raises DesignError: they do not fit the input."""
    wanted = file.input.samples
    if not isinstance(wanted, SampleFile):
        return None
    place = document.place(("input", "samples"))
    frames = samples.from_file(document.beside(wanted.path), file.input.shape, place)
    quantised(frames, file.input.type, f"samples: {wanted.path}", place)
    return frames


def _folding_problems(graph: Graph, constraints: ConvConstraints, document: Document) -> list[Problem]:
    """Every fixed value that does not fit its layer."""
    layer = graph.layers[0]
    assert isinstance(layer, Conv2d)
    # without output rows there is nothing to compare rows with, and the layer itself is refused
    rows = constraints.rows if layer.output_shape[1] > 0 else None
    if layer.taps > MOST_PARTITIONS:
        message = f"{layer.name}: the kernel has {layer.taps} taps, more than {MOST_PARTITIONS}"
        fix = f"at most {MOST_PARTITIONS} taps, such as 32 x 32"
        return [Problem(message=message, fix=fix, place=document.place(("layers", 0, "kernel")))]
    found = []
    for one, keys in ((constraints, ()), (constraints.second, ("second",))):
        if one is None:
            continue
        faults = folding_faults(
            layer,
            rows=rows and one.rows,
            pe=one.pe,
            simd=one.simd,
            fabric_pe=one.fabric_pe,
            algorithm=one.algorithm,
        )
        found += [mapping_problem(fault, layer.name, document, inside=keys) for fault in faults]
    return found


def _contradictions(file: DesignFile, constraints: ConvConstraints, document: Document) -> list[Problem]:
    """Whether the number of foldings and what is fixed of them go together."""
    place = document.place(("mapping", "foldings"))
    if constraints.foldings == 1 and constraints.second is not None:
        message = f"foldings: 1 allows no `second` of {file.layers[0].name}"
        return [Problem(message=message, fix="foldings: 2, or leave one of the two out", place=place)]
    if constraints.foldings == 2 and constraints.second is None and not constraints.open:
        message = "foldings: 2 says nothing where a folding or `instances` is fixed, but no `second` folding"
        fix = f"add `second: {{}}` to {file.layers[0].name}, or leave foldings or what is fixed out"
        return [Problem(message=message, fix=fix, place=place)]
    return []
