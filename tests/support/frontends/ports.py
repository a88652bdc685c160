"""Runs a graph on arrays as a framework has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.api.design import Design
from hlsgen.hardware.host_interface import read_interface
from hlsgen.model.ir import Graph, run_golden
from hlsgen.model.ports import inputs_of


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


def assert_simulated_and_encoded(
    design: Design, arrays: Sequence[NDArray[Any]], folder: Path, frames: int
) -> None:
    """That C-simulation gives golden's outputs, and that the testbench and hlsgen.runtime get its codes."""
    project, given = design.build(folder, frames=frames), list(arrays)
    for got, wanted in zip(project.csim(given), design.golden(given), strict=True):
        np.testing.assert_array_equal(got, wanted)
    interface = read_interface(folder)
    codes = inputs_of("net", [interface.port(port) for port in interface.inputs], given)
    for name, array in design.inputs_of(given).items():
        np.testing.assert_array_equal(codes[name], array)
        np.testing.assert_array_equal(np.load(folder / "tb" / f"{name}.npy"), array)
