"""A design: what to build, for which board. `hlsgen.load` makes one from a file."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen import samples
from hlsgen.board import Board, load_board
from hlsgen.document import Document
from hlsgen.errors import DesignError, Place, Problem, collecting
from hlsgen.frontends.design_file import graph_of, not_yet
from hlsgen.ir import Graph, verify
from hlsgen.layers.base import Codes
from hlsgen.layers.conv2d import Conv2d
from hlsgen.mapping.conv2d import MOST_PARTITIONS, Infeasible, folding_faults
from hlsgen.mapping.search import Choice, Wish, choose
from hlsgen.passes import run_passes
from hlsgen.quantise import quantised
from hlsgen.report.estimate import Estimate, estimate_of
from hlsgen.schema import DesignFile, load_design_file
from hlsgen.schema_values import SampleFile

if TYPE_CHECKING:
    from hlsgen.project import Project

MOST_SAMPLE_FRAMES = 16
"""Frames that a build simulates unless told otherwise."""
MOST_SAMPLE_ELEMENTS = 1 << 26
"""Fewer frames are simulated if together they would have more elements; at least one is."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """A network of layers, the board and clock it is for, and what is fixed about its hardware."""

    name: str
    graph: Graph
    board: Board
    clock_mhz: float
    batch: int
    wish: Wish
    file: DesignFile
    document: Document
    source: str
    given_frames: NDArray[np.float64] | None = None
    """Of the file that the design's `samples` names."""

    @property
    def layer(self) -> Conv2d:
        layer = self.graph.layers[0]
        assert isinstance(layer, Conv2d)
        return layer

    @cached_property
    def choice(self) -> Choice:
        """The hardware chosen for the layer. Raises DesignError: nothing fits what the design fixes."""
        try:
            return choose(self.layer, self.board, self.wish, clock_mhz=self.clock_mhz, batch=self.batch)
        except Infeasible as failure:
            raise DesignError(_mapping_problem(failure, self.layer.name, self.document)) from None

    def codes(self, x: ArrayLike, *, what: str = "x", place: Place | None = None) -> Codes:
        """Frames [N, C, H, W] (or one [C, H, W]) in the framework's layout, as codes of the input's type.

        Raises DesignError: wrong shape, no numbers, NaN, or values that leave the type's range.
        """
        wanted = ", ".join(str(size) for size in self.graph.input.shape)
        fix = f"[frames, {wanted}], batch first"
        try:
            array = np.asarray(x, np.float64)
        except (TypeError, ValueError) as error:
            raise DesignError(Problem(message=f"{what} is no array of numbers: {error}", fix=fix)) from None
        shape = self.graph.input.shape
        if array.shape[-3:] != shape or array.ndim not in (3, 4) or not array.size:
            raise DesignError(Problem(message=f"{what} has shape {array.shape}", fix=fix))
        return quantised(array.reshape(-1, *shape), self.graph.input.type, what, place)

    def golden(self, x: ArrayLike) -> NDArray[np.float64]:
        """The design's result in NumPy, [N, M, OH, OW]; equal to C-simulation bit for bit."""
        return self.layer.output_type.decode(self.golden_codes(self.codes(x)))

    def golden_codes(self, codes: Codes) -> Codes:
        simd = self.choice.deployment.mapping.folding.simd
        return self.layer.golden(codes, simd=simd)

    def check(self) -> None:
        """Raises DesignError with what `load` leaves open: hardware that does not fit, wrong samples."""
        problems: list[Problem] = []
        with collecting(problems):
            _ = self.choice
        with collecting(problems):
            self.sample_codes()
        if problems:
            raise self.document.error(problems)

    def sample_codes(self, frames: int | None = None, *, file: Path | None = None) -> Codes:
        """`sample_frames` as codes of the input's type."""
        place = None if file else self.document.place(("input", "samples"))
        return self.codes(self.sample_frames(frames, file=file), what=str(file or "samples"), place=place)

    def sample_frames(self, frames: int | None = None, *, file: Path | None = None) -> NDArray[np.float64]:
        """[frames, C, H, W]: what the design's `samples` names, or the frames of `file`; at most `frames`.

        Raises DesignError: the file is wrong, or so many frames do not fit in memory.
        """
        shape = self.graph.input.shape
        given = self.given_frames if file is None else samples.from_file(file, shape)
        if given is not None:
            return given[:frames] if frames else given
        elements = math.prod(shape)
        count = frames or max(1, min(self.batch, MOST_SAMPLE_FRAMES, MOST_SAMPLE_ELEMENTS // elements))
        most = samples.MOST_BYTES // (8 * elements)
        if count > most:
            raise DesignError(
                Problem(
                    message=f"{count:,} frames of {elements:,} elements are too many to simulate at once",
                    fix=f"at most {most:,} frames",
                )
            )
        if self.file.input.samples == "random":
            return samples.random_frames(shape, count, seed=0)
        return samples.photograph(shape, count)

    def estimate(self) -> Estimate:
        """Cycles, resources and speed, all modelled."""
        return estimate_of(self)

    def build(
        self,
        folder: str | Path,
        *,
        frames: int | None = None,
        input_file: Path | None = None,
        csim: bool = True,
    ) -> Project:
        """Emits the project into `folder`, C-simulates it and writes the report; see hlsgen.project.build."""
        from hlsgen.project import build

        return build(self, Path(folder), frames=frames, input_file=input_file, csim=csim)


def load(path: str | Path, *, board: str | None = None) -> Design:
    """The design in a YAML file; `board` replaces the file's (a path is relative to the working folder).

    Raises DesignError with every mistake found, each with its place: first those of the file's form, then
    those of its meaning. Whether hardware that fits exists is only known when `choice` is made.
    """
    file, document = load_design_file(Path(path))
    problems = not_yet(file, document)
    graph, wrong = graph_of(file, document)
    broken = verify(graph)
    chosen: Board | None = None
    with collecting(problems):
        chosen = _board(file, document, board)
    wish = _wish(file)
    given: NDArray[np.float64] | None = None
    with collecting(problems):
        given = _given_frames(file, document)
    broken += wrong + _folding_problems(graph, wish, document)
    if not broken:
        with collecting(broken):
            graph = run_passes(graph)
    design = None
    if chosen is not None:
        design = Design(
            name=file.name,
            graph=graph,
            board=chosen,
            clock_mhz=file.clock_mhz or chosen.clock_mhz,
            batch=file.batch,
            wish=wish,
            file=file,
            document=document,
            source=Path(path).name,
            given_frames=given,
        )
    if problems and design is not None and not broken:
        with collecting(problems):
            _ = design.choice  # what it needs is right, so that it may find one mistake more
    if problems or broken or design is None:
        raise document.error(problems + broken)
    return design


def _board(file: DesignFile, document: Document, other: str | None) -> Board:
    if other is not None:
        return load_board(other)
    return load_board(file.board, folder=document.path.parent, place=document.place(("board",)))


def _wish(file: DesignFile) -> Wish:
    wish = Wish(instances=file.mapping.instances)
    fixed = file.mapping.layers.get(file.layers[0].name)
    if fixed is None:
        return wish
    return replace(
        wish,
        rows=fixed.rows,
        pe=fixed.pe,
        simd=fixed.simd,
        fabric_pe=fixed.fabric_pe,
        order=fixed.order,
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


def _folding_problems(graph: Graph, wish: Wish, document: Document) -> list[Problem]:
    """Every fixed value that does not fit its layer."""
    layer = graph.layers[0]
    assert isinstance(layer, Conv2d)
    # without output rows there is nothing to compare rows with, and the layer itself is refused
    rows = wish.rows if layer.output_shape[1] > 0 else None
    if layer.taps > MOST_PARTITIONS:
        message = f"{layer.name}: the kernel has {layer.taps} taps, more than {MOST_PARTITIONS}"
        fix = f"at most {MOST_PARTITIONS} taps, such as 32 x 32"
        return [Problem(message=message, fix=fix, place=document.place(("layers", 0, "kernel")))]
    faults = folding_faults(layer, rows=rows, pe=wish.pe, simd=wish.simd, fabric_pe=wish.fabric_pe)
    return [_mapping_problem(fault, layer.name, document) for fault in faults]


def _mapping_problem(failure: Infeasible, layer: str, document: Document) -> Problem:
    keys: tuple[str, ...] = ("mapping", layer)
    if failure.key == "instances":
        keys = ("mapping", "instances")
    elif failure.key is not None:
        keys = (*keys, failure.key)
    return Problem(message=f"{layer}: {failure}", fix=failure.fix, place=document.place(keys))
