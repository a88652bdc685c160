"""The graph of a design as report.json has it: ports, and who reads whom through which FIFOs."""

from __future__ import annotations

from typing import Any

from hlsgen.hardware.pipeline import Pipeline
from hlsgen.model.ir import Graph, Port


def graph_figures(graph: Graph, pipeline: Pipeline | None = None) -> dict[str, Any]:
    """The section `graph`. pipeline: the streaming kernel of the graph; None: tensors go through DDR.

    `fifos` of an edge or an output: the streams on the way, the writer's first.
    """
    paths = _Paths(pipeline) if pipeline else None
    return {
        "inputs": [_port(port) for port in graph.inputs],
        "edges": [
            {
                "from": source,
                "to": layer.name,
                "fifos": paths.to(layer.name, index) if paths else [],
            }
            for layer in graph.layers
            for index, source in enumerate(layer.inputs)
        ],
        "outputs": [
            {
                **_port(port),
                "source": port.source,
                "fifos": paths.to(f"store_{port.name}", 0) if paths else [],
            }
            for port in graph.outputs
        ],
    }


def _port(port: Port) -> dict[str, Any]:
    return {"name": port.name, "shape": list(port.tensor.shape), "type": str(port.tensor.type)}


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

    def to(self, process: str, index: int) -> list[str]:
        """Those that lead to what `process` reads as number `index`."""
        path = [self.reads[process][index]]
        while path[0] in self.forwarded:
            path.insert(0, self.forwarded[path[0]])
        return path
