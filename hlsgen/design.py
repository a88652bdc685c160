"""A design: what to build, for which board. `hlsgen.load` makes one from a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen import samples
from hlsgen.board import Board, load_board
from hlsgen.document import Document
from hlsgen.errors import DesignError, Place, Problem
from hlsgen.frontends.design_file import graph_of
from hlsgen.ir import Graph
from hlsgen.layers.base import Codes
from hlsgen.layers.conv2d import Conv2d
from hlsgen.mapping.conv2d import Infeasible, folding_faults
from hlsgen.mapping.search import Choice, Wish, choose
from hlsgen.passes import run_passes
from hlsgen.quantise import quantised
from hlsgen.report.estimate import Estimate, estimate_of
from hlsgen.schema import DesignFile, SampleFile, load_design_file

if TYPE_CHECKING:
    from hlsgen.project import Project

MOST_SAMPLE_FRAMES = 16
"""Frames that a build simulates unless told otherwise."""


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

    def codes(self, x: ArrayLike) -> Codes:
        """Frames [N, C, H, W] (or one frame [C, H, W]) in the framework's layout, as codes of the input's type.

        Raises DesignError: wrong shape, NaN, or values that leave the type's range.
        """
        array = np.asarray(x, np.float64)
        shape = self.graph.input.shape
        if array.shape[-3:] != shape or array.ndim not in (3, 4):
            wanted = ", ".join(str(size) for size in shape)
            problem = Problem(message=f"x has shape {array.shape}", fix=f"[frames, {wanted}], batch first")
            raise DesignError(problem)
        return quantised(array.reshape(-1, *shape), self.graph.input.type, "x")

    def golden(self, x: ArrayLike) -> NDArray[np.float64]:
        """The design's result in NumPy, [N, M, OH, OW]; equal to C-simulation bit for bit."""
        return self.layer.output_type.decode(self.golden_codes(self.codes(x)))

    def golden_codes(self, codes: Codes) -> Codes:
        simd = self.choice.deployment.mapping.folding.simd
        return self.layer.golden(codes, simd=simd)

    def sample_frames(self, frames: int | None = None, *, file: Path | None = None) -> NDArray[np.float64]:
        """[frames, C, H, W]: what the design's `samples` names, or the frames of `file`."""
        count = frames or min(self.batch, MOST_SAMPLE_FRAMES)
        shape, wanted = self.graph.input.shape, self.file.input.samples
        if file is None and isinstance(wanted, SampleFile):
            file = self.document.beside(wanted.path)
        if file is not None:
            found = samples.from_file(
                file, shape, self.place("input", "samples") if wanted == SampleFile(file) else None
            )
            return found[:frames] if frames else found
        if wanted == "random":
            return samples.random_frames(shape, count, seed=0)
        return samples.photograph(shape, count)

    def place(self, *keys: str | int) -> Place:
        return self.document.place(keys)

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
    """The design in a YAML file; `board` replaces the file's.

    Raises DesignError with every mistake found, each with its place.
    """
    file, document = load_design_file(Path(path))
    graph = run_passes(graph_of(file, document))
    chosen = load_board(
        board or file.board, folder=document.path.parent, place=None if board else document.place(("board",))
    )
    layers = file.mapping.layers.get(file.layers[0].name)
    wish = Wish(instances=file.mapping.instances)
    if layers is not None:
        wish = replace(
            wish,
            rows=layers.rows,
            pe=layers.pe,
            simd=layers.simd,
            fabric_pe=layers.fabric_pe,
            order=layers.order,
        )
    _check_mapping(graph, wish, document)
    return Design(
        name=file.name,
        graph=graph,
        board=chosen,
        clock_mhz=file.clock_mhz or chosen.clock_mhz,
        batch=file.batch,
        wish=wish,
        file=file,
        document=document,
        source=Path(path).name,
    )


def _check_mapping(graph: Graph, wish: Wish, document: Document) -> None:
    """Raises DesignError with every fixed value that does not fit its layer."""
    layer = graph.layers[0]
    assert isinstance(layer, Conv2d)
    faults = folding_faults(layer, rows=wish.rows, pe=wish.pe, simd=wish.simd, fabric_pe=wish.fabric_pe)
    if faults:
        raise DesignError([_mapping_problem(fault, layer.name, document) for fault in faults])


def _mapping_problem(failure: Infeasible, layer: str, document: Document) -> Problem:
    keys: tuple[str, ...] = ("mapping", layer)
    if failure.key == "instances":
        keys = ("mapping", "instances")
    elif failure.key is not None:
        keys = (*keys, failure.key)
    return Problem(message=f"{layer}: {failure}", fix=failure.fix, place=document.place(keys))
