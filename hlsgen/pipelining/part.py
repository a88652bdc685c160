"""A part of a pipeline: what it reads and gives, what computes it, and on which cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem
from hlsgen.cpu.running import Framework
from hlsgen.layers.base import Shape
from hlsgen.model.ir import Graph

Values: TypeAlias = NDArray[np.floating[Any]]
"""Values of a tensor, [N, C, H, W]."""
Compute: TypeAlias = Callable[[Mapping[str, Values]], Mapping[str, Values]]
"""Values of the tensors that a part reads, by name -> of those that it gives."""
Target = Literal["cpu", "fpga"]
ANY = "float32"
"""The type of values that no quantiser has narrowed."""


@dataclass(eq=False)
class Output:
    """A tensor that a part, or the pipeline as its input, gives. type: as a design file writes it."""

    owner: str
    name: str
    shape: Shape
    type: str

    def __str__(self) -> str:
        sizes = " x ".join(map(str, self.shape))
        return f"{self.owner}.{self.name} ({sizes} of {self.type})"


@dataclass(eq=False)
class Input:
    """A tensor that a part, or the pipeline as its output, reads. source: where it comes from; None: from
    nowhere yet.
    """

    owner: str
    name: str
    shape: Shape
    type: str
    source: Output | None = None

    def __str__(self) -> str:
        sizes = " x ".join(map(str, self.shape))
        return f"{self.owner}.{self.name} ({sizes} of {self.type})"

    def connect(self, output: Output) -> None:
        """Reads this output. Raises DesignError: it is connected already, or shape or type differ."""
        if self.source is not None:
            message = f"{self} is connected to {self.source} already"
            raise DesignError(Problem(message=message, fix="each input once"))
        if output.shape != self.shape:
            message = f"{output} goes to {self}: the shapes differ"
            raise DesignError(Problem(message=message, fix="the tensor that the part was cut at"))
        if ANY not in (output.type, self.type) and output.type != self.type:
            message = f"{output} goes to {self}: the number types differ, and no layer converts them"
            raise DesignError(Problem(message=message, fix="parts of one design"))
        self.source = output


End = TypeVar("End", Input, Output)


@dataclass(eq=False)
class Part:
    """name: an identifier. make: opens what computes it, once for each of `workers`, in its thread.

    close: gives back what `make` opened, if that has anything. cpus: cores that its threads may use; empty:
    all. about: its target in words. gives: of an FPGA part, the tensor that each output of its build shows.
    saved: what an archive holds of it. graph: its layers, where a network was split here.
    """

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    make: Callable[[], Compute]
    target: Target = "cpu"
    framework: Framework = "onnxruntime"
    threads: int = 1
    workers: int = 1
    cpus: tuple[int, ...] = ()
    about: str = ""
    gives: tuple[str, ...] = ()
    saved: Callable[[], Mapping[str, bytes]] | None = field(default=None, repr=False)
    graph: Graph | None = field(default=None, repr=False)

    def input(self, name: str | int) -> Input:
        """By name or number. Raises DesignError: there is none."""
        return _named(self.inputs, name, self.name, "input")

    def output(self, name: str | int) -> Output:
        """By name or number. Raises DesignError: there is none."""
        return _named(self.outputs, name, self.name, "output")


def _named(ports: tuple[End, ...], name: str | int, owner: str, what: str) -> End:
    if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < len(ports):
        return ports[name]
    for port in ports:
        if port.name == name:
            return port
    message = f"{owner} has no {what} {name!r:.80}"
    known = ", ".join(f"{number} or {port.name!r}" for number, port in enumerate(ports))
    raise DesignError(Problem(message=message, fix=f"{known or 'it has none'}"))
