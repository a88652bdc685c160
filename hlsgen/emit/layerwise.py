"""A network of tasks -> {path: content}: a kernel for each layer, and the order of their calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes
from hlsgen.base.floating import HALF
from hlsgen.base.version import VERSION
from hlsgen.designfile.clock import Clock
from hlsgen.emit.adapters import ddr_format
from hlsgen.emit.dataflow import kernel_files, shared_files
from hlsgen.emit.environment import render, safe_comment
from hlsgen.emit.ompss_network import ompss_network_files
from hlsgen.emit.plan import KernelNames, Plan, array_bytes, npy_bytes
from hlsgen.emit.project import csim_header_files, makefile
from hlsgen.emit.vitis import LinkedKernel, plain_word, task_tool_files
from hlsgen.emit.xrt import host_files, task_interface
from hlsgen.hardware.weight_beats import weight_beats, weight_data
from hlsgen.model.ir import Graph
from hlsgen.search.layerwise import LayerwiseHardware
from hlsgen.search.task_kernels import TaskKernel
from hlsgen.targets.board import Board


def layerwise_plan(
    choice: LayerwiseHardware,
    graph: Graph,
    *,
    name: str,
    source: str,
    board: Board,
    clock: Clock,
    batch: int,
    inputs: Mapping[str, Codes],
    golden: Mapping[str, Codes],
) -> Plan:
    """All files of the build folder. `inputs` and `golden`: codes of the testbench's data, by tensor."""
    k = {"name": name, "source": safe_comment(source)}
    plan: Plan = {**task_network_files(choice, graph, name=name, source=source, board=board)}
    data = {f"{port.name}.npy": npy_bytes(inputs[port.name], port.tensor.type) for port in graph.inputs}
    data |= {
        f"{port.name}_golden.npy": npy_bytes(golden[port.source], port.tensor.type) for port in graph.outputs
    }
    data |= {file: array_bytes(beats) for file, beats in layerwise_weight_files(choice).items()}
    plan |= {f"tb/{path}": content for path, content in data.items()}
    plan |= csim_header_files()
    linked = _linked(choice)
    plan |= task_tool_files(board, clock, k, VERSION, files=list(data), kernels=linked)
    interface = task_interface(
        choice,
        graph,
        name=name,
        source=source,
        units={kernel.name: [instance["name"] for instance in kernel.instances] for kernel in linked},
        board=board.title,
        clock_mhz=clock.mhz,
    )
    plan |= host_files(interface, VERSION)
    ompss = ompss_network_files(
        choice, graph, name=name, source=source, board=board, clock=clock, batch=batch
    )
    plan |= ompss
    line = f"a network of {len(graph.layers)} layers, each a kernel that is called in turn"
    names = [kernel.name for kernel in choice.kernels]
    plan |= makefile(board, k, line, VERSION, streaming=True, kernels=names, ompss=bool(ompss))
    return plan


def task_network_files(
    choice: LayerwiseHardware, graph: Graph, *, name: str, source: str, board: Board
) -> dict[str, str]:
    """The sources of the kernels, of what calls them, and of the testbench."""
    files = shared_files(half=any(tensor.type == HALF for tensor in graph.tensors().values()))
    for kernel in choice.kernels:
        names = KernelNames(kernel=kernel.name, source=source, shared_port=_shared_with(kernel, choice))
        files |= kernel_files(kernel.pipeline, names, board)
    k = _host(choice, graph, name, source)
    for template, path in (
        ("host.h.j2", f"src/{name}.h"),
        ("host.cpp.j2", f"src/{name}.cpp"),
        ("testbench.cpp.j2", f"tb/{name}_tb.cpp"),
    ):
        assert path not in files, f"{path} is a layer's"
        files[path] = render(f"hls/tasks_network/{template}", k=k, version=VERSION)
    return files


def has_weights(kernel: TaskKernel) -> bool:
    """Whether the kernel's weights arrive at run time."""
    return bool(kernel.pipeline.loaders)


def layerwise_weight_files(choice: LayerwiseHardware) -> dict[str, NDArray[np.uint64]]:
    """The testbench's .npy files of weights that arrive at run time; no tensor has a dot in its name."""
    return {
        f"{kernel.layer.name}.weights.npy": weight_data(kernel.pipeline)
        for kernel in choice.kernels
        if has_weights(kernel)
    }


def _host(choice: LayerwiseHardware, graph: Graph, name: str, source: str) -> dict[str, Any]:
    kernels = [
        {
            "name": kernel.name,
            "layer": kernel.layer.name,
            "reads": list(kernel.reads.values()),
            "weight_beats": sum(weight_beats(kernel.pipeline).values()),
        }
        for kernel in choice.kernels
    ]
    tensors = [{"name": tensor, **ddr_format(choice.formats[tensor])} for tensor in graph.tensors()]
    return {
        "name": name,
        "guard": f"HLSGEN_NETWORK_{name.upper()}",
        "source": safe_comment(source),
        "interval": choice.interval,
        "kernels": kernels,
        "has_weights": any(kernel["weight_beats"] for kernel in kernels),
        "tensors": tensors,
        "widths": {tensor["name"]: tensor["WIDTH"] for tensor in tensors},
        "PORT": choice.port_bits,
        "inputs": [port.name for port in graph.inputs],
        "outputs": [{"name": port.name, "source": port.source} for port in graph.outputs],
    }


def _linked(choice: LayerwiseHardware) -> list[LinkedKernel]:
    found = []
    for kernel, slrs in zip(choice.kernels, choice.slrs, strict=True):
        banks: dict[str, str] = {}
        for number in range(1, choice.instances + 1):
            lie, weights = choice.placed.tensors[number - 1], choice.placed.weights[number - 1]
            tensors = {**kernel.reads, kernel.writes: kernel.layer.name}
            reached = {port: lie[tensor] for port, tensor in tensors.items()}
            if has_weights(kernel):
                reached["weights"] = weights[kernel.layer.name]
            banks |= {
                f"{kernel.name}_{number}.gmem_{port}": plain_word(bank)
                for port, bank in reached.items()
                if port != _shared_with(kernel, choice)[0]
            }
        found.append(
            LinkedKernel(
                name=kernel.name,
                ports=list(dict.fromkeys(name.rpartition(".")[2] for name in banks)),
                instances=[
                    {"name": f"{kernel.name}_{number}", "slr": plain_word(slr), "bank": ""}
                    for number, slr in enumerate(slrs, start=1)
                ],
                port_banks=banks,
            )
        )
    return found


def _shared_with(kernel: TaskKernel, choice: LayerwiseHardware) -> tuple[str, str]:
    """The output's port and the input's whose AXI port it shares; empty if it has one of its own."""
    shares = kernel.layer.name in choice.placed.sharing
    return (kernel.writes, next(iter(kernel.reads))) if shares else ("", "")
