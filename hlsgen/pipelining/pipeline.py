"""`hlsgen.Pipeline`: parts that are connected explicitly, in an order in which each can compute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Say, silent
from hlsgen.base.scratch import Scratch
from hlsgen.base.short_repr import Brief, lines
from hlsgen.model.ir import Port
from hlsgen.pipelining.part import ANY, Input, Output, Part

if TYPE_CHECKING:
    from hlsgen.pipelining.running import Running

End = TypeVar("End", Input, Output)

OUTSIDE = "the pipeline"
"""The owner of its own inputs and outputs in messages."""


class Pipeline(Brief):
    """Parts by name. Frames come by `input(name)`, results go to `output(name)`, both in the framework's
    layout; in between tensors are values [N, C, H, W].

    `open` runs it, `save` and `Pipeline.load` keep it in one file.
    """

    def __init__(self, name: str, inputs: Sequence[Port], outputs: Sequence[Port]) -> None:
        self.name = name
        self.input_ports, self.output_ports = tuple(inputs), tuple(outputs)
        self.sources = tuple(
            Output(owner=OUTSIDE, name=port.name, shape=port.tensor.shape, type=ANY) for port in inputs
        )
        self.results = tuple(
            Input(owner=OUTSIDE, name=port.name, shape=port.tensor.shape, type=ANY) for port in outputs
        )
        self.parts: dict[str, Part] = {}
        # folders of builds: gone with this object
        self.kept: Scratch | None = None

    def __repr__(self) -> str:
        told = (f"{one.name}: {one.about}, {one.workers} at once" for one in self.parts.values())
        return lines(f"{type(self).__name__} {self.name}", *told)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from hlsgen.pipelining.notebook import pipeline_card

        return pipeline_card(self).html()

    def __getitem__(self, name: str) -> Part:
        """Raises DesignError: there is no such part."""
        if name not in self.parts:
            known = ", ".join(self.parts) or "none yet"
            raise DesignError(Problem(message=f"{self.name} has no part {name!r:.80}", fix=f"parts: {known}"))
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def add(self, part: Part) -> Part:
        """Raises DesignError: the name is taken, or no identifier."""
        if not (part.name.isidentifier() and part.name.isascii()) or part.name in self.parts:
            message = f"{part.name!r:.80} cannot be the name of another part of {self.name}"
            raise DesignError(Problem(message=message, fix="an identifier that no other part has"))
        self.parts[part.name] = part
        return part

    def input(self, name: str | int = 0) -> Output:
        """What comes from outside, for a part to read. Raises DesignError: there is none."""
        return _of(self.sources, name, self.name, "input")

    def output(self, name: str | int = 0) -> Input:
        """What goes outside, to be connected to a part's output. Raises DesignError: there is none."""
        return _of(self.results, name, self.name, "output")

    def open(self, depth: int = 2) -> Running:
        """At work: see `Running`."""
        from hlsgen.pipelining.running import Running

        return Running(self, depth)

    def save(self, path: str | Path) -> None:
        """Writes everything into one file: see `hlsgen.pipelining.archive.save`."""
        from hlsgen.pipelining.archive import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, say: Say = silent, xclbin: str | Path | None = None) -> Pipeline:
        """What `save` wrote: see `hlsgen.pipelining.archive.load`."""
        from hlsgen.pipelining.archive import load

        return load(Path(path), say, None if xclbin is None else Path(xclbin))

    def in_order(self) -> list[Part]:
        """The parts, each behind those that it reads. Raises DesignError: an input that nothing is connected
        to, a part of another pipeline, a cycle.
        """
        every = [*(port for part in self.parts.values() for port in part.inputs), *self.results]
        for port in every:
            if port.source is None:
                message = f"{port} is connected to nothing"
                raise DesignError(
                    Problem(message=message, fix=".connect(...) with an output of another part")
                )
            known = self.sources if port.source.owner == OUTSIDE else self._outputs_of(port.source.owner)
            if not any(one is port.source for one in known):
                message = f"{port} reads {port.source}, which is of another pipeline"
                raise DesignError(Problem(message=message, fix="parts of this one"))
        ordered: list[Part] = []
        left = dict(self.parts)
        while left:
            ready = [
                part
                for part in left.values()
                if not any(port.source is not None and port.source.owner in left for port in part.inputs)
            ]
            if not ready:
                names = ", ".join(left)
                message = f"{names} of {self.name} wait for each other: their connections are a cycle"
                raise DesignError(Problem(message=message, fix="connections that lead forwards"))
            ordered += ready
            for part in ready:
                del left[part.name]
        return ordered

    def _outputs_of(self, name: str) -> tuple[Output, ...]:
        part = self.parts.get(name)
        return part.outputs if part is not None else ()


def _of(ports: Sequence[End], name: str | int, owner: str, what: str) -> End:
    for number, port in enumerate(ports):
        if name in (number, port.name) and not isinstance(name, bool):
            return port
    known = ", ".join(port.name for port in ports)
    raise DesignError(Problem(message=f"{owner} has no {what} {name!r:.80}", fix=f"there are {known}"))
