"""The graph of a design as report.json has it: ports, and who reads whom through which FIFOs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, TypedDict

from pydantic import Field

from hlsgen.hardware.pipeline import Pipeline
from hlsgen.model.ir import Graph
from hlsgen.model.ir import Port as GraphPort
from hlsgen.report.section import Rows, Section, Shape, Text, Texts


@dataclass(frozen=True, kw_only=True)
class Port(Section):
    """An input of the network. shape: without the batch."""

    name: Text
    shape: Shape
    type: Text


@dataclass(frozen=True, kw_only=True)
class OutputPort(Port):
    """An output of the network. source: the layer it shows; fifos: the streams from there to DDR."""

    source: Text
    fifos: Texts


@dataclass(frozen=True, kw_only=True)
class Edge(Section):
    """An edge: who reads whom. fifos: the streams on the way, the writer's first; none: through DDR."""

    keys: ClassVar[Mapping[str, str]] = {"source": "from"}

    source: Annotated[Text, Field(alias="from")]
    to: Text
    fifos: Texts


@dataclass(frozen=True, kw_only=True)
class GraphSection(Section):
    """The network's ports and edges."""

    inputs: Annotated[tuple[Port, ...], Rows]
    edges: Annotated[tuple[Edge, ...], Rows]
    outputs: Annotated[tuple[OutputPort, ...], Rows]


def graph_figures(graph: Graph, pipeline: Pipeline | None = None) -> GraphSection:
    """The section `graph`. pipeline: the streaming kernel of the graph; None: tensors go through DDR."""
    paths = _Paths(pipeline) if pipeline else None

    def fifos(process: str, index: int) -> tuple[str, ...]:
        return paths.to(process, index) if paths else ()

    return GraphSection(
        inputs=tuple(Port(**_fields(port)) for port in graph.inputs),
        edges=tuple(
            Edge(source=source, to=layer.name, fifos=fifos(layer.name, index))
            for layer in graph.layers
            for index, source in enumerate(layer.inputs)
        ),
        outputs=tuple(
            OutputPort(**_fields(port), source=port.source, fifos=fifos(f"store_{port.name}", 0))
            for port in graph.outputs
        ),
    )


class _PortFields(TypedDict):
    name: str
    shape: tuple[int, ...]
    type: str


def _fields(port: GraphPort) -> _PortFields:
    return {"name": port.name, "shape": port.tensor.shape, "type": str(port.tensor.type)}


class _Paths:
    """Streams from stage to stage, through forks and converters."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.reads = {process.name: process.reads for process in pipeline.processes}
        self.forwarded = {
            stream: process.reads[0]
            for process in pipeline.processes
            if process.forwards
            for stream in process.writes
        }

    def to(self, process: str, index: int) -> tuple[str, ...]:
        """The streams that lead to what `process` reads as number `index`."""
        path = [self.reads[process][index]]
        while path[0] in self.forwarded:
            path.insert(0, self.forwarded[path[0]])
        return tuple(path)
