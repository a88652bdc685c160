"""C-simulation of a network of tasks: every layer's output, and what each kernel's streams and stages did."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.csim.streaming import REFUSALS, NetworkRun, StreamingRun, read_trace, signed_codes
from hlsgen.csim.testbench import run_testbench, save_frames
from hlsgen.emit.layerwise import layerwise_weight_files
from hlsgen.model.ir import Graph
from hlsgen.search.layerwise import LayerwiseHardware


@dataclass(frozen=True, kw_only=True)
class LayerwiseRun(NetworkRun):
    """A run of all kernels: the records of each one's streams and processes, by its name."""

    kernels: dict[str, StreamingRun]

    def check_schedule(self, frames: int) -> None:
        for run in self.kernels.values():
            run.check_schedule(frames)

    @property
    def counted(self) -> dict[str, dict[str, int]]:
        return {name: run.counted for name, run in self.kernels.items()}


def simulate(
    choice: LayerwiseHardware,
    graph: Graph,
    executable: Path,
    inputs: Mapping[str, Codes],
    scratch: Path,
    *,
    bounded: bool = False,
) -> LayerwiseRun:
    """The compiled testbench on `inputs`, in a folder of its own below `scratch`.

    bounded: the stages of a kernel at once, FIFOs as deep as declared. Raises as a streaming kernel's does.
    """
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder = Path(name)
        for port in graph.inputs:
            save_frames(folder / f"{port.name}.npy", inputs[port.name], port.tensor.type)
        for file, beats in layerwise_weight_files(choice).items():
            np.save(folder / file, beats)
        command = [str(executable), str(folder)] + (["--bounded"] if bounded else [])
        seconds = run_testbench(command, REFUSALS).seconds
        tensors = {port.name: inputs[port.name] for port in graph.inputs}
        kernels = {}
        for kernel in choice.kernels:
            layer = kernel.layer
            codes = np.load(folder / f"{layer.name}_csim.npy")
            tensors[layer.name] = signed_codes(codes, layer.output_type)
            streams, iterations = read_trace(folder / f"{layer.name}.trace.txt")
            kernels[kernel.name] = StreamingRun(
                tensors={},
                seconds=seconds,
                pipeline=kernel.pipeline,
                streams=streams,
                iterations=iterations,
            )
        return LayerwiseRun(tensors=tensors, kernels=kernels, seconds=seconds)
