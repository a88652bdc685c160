"""Runs a graph on arrays as a framework has them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.model.ir import Graph, run_golden


def outputs_of(graph: Graph, *inputs: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Golden's outputs by name, [frames, *shape] in the framework's layout, for inputs in the same layout."""
    tensors = {
        port.name: port.to_tensor(np.asarray(array)) for port, array in zip(graph.inputs, inputs, strict=True)
    }
    values = run_golden(graph, tensors)
    return {port.name: port.from_tensor(values[port.source]) for port in graph.outputs}


def kinds(graph: Graph) -> list[str]:
    """The kinds of the layers in their order."""
    return [layer.kind for layer in graph.layers]
