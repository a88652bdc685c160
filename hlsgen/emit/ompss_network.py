"""A network of tasks as OmpSs-2@FPGA: an FPGA task a layer, and one that creates them over the frames."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hlsgen.base.version import VERSION
from hlsgen.designfile.clock import Clock
from hlsgen.emit.adapters import ddr_format
from hlsgen.emit.dataflow import kernel_context
from hlsgen.emit.environment import render, safe_comment
from hlsgen.emit.ompss_project import Accelerator, creator, function_name, tool_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.ports import MOST_DDR_BITS
from hlsgen.hardware.weight_beats import weight_beats
from hlsgen.model.ir import Graph
from hlsgen.ompss.clauses import MOST_ARGUMENTS, MOST_DEPENDENCES, MOST_TYPES
from hlsgen.search.layerwise import LayerwiseHardware
from hlsgen.search.task_kernels import TaskKernel
from hlsgen.targets.board import Board

TASK_CYCLES = 4096
"""A task should take so many cycles at the least, on the average of the layers. A judgement: what the
hardware runtime takes for a task has not been measured.
"""


@dataclass(frozen=True, kw_only=True)
class _Task:
    """A layer's task as the templates name it."""

    kernel: TaskKernel
    function: str
    space: str
    weight_beats: int

    @property
    def read_once(self) -> list[tuple[str, str]]:
        """(port, tensor) of the tensors it reads; one that it reads twice only by its first port."""
        first: dict[str, str] = {}
        for port, tensor in self.kernel.reads.items():
            first.setdefault(tensor, port)
        return [(port, tensor) for tensor, port in first.items()]

    def reads(self, space: str) -> list[str]:
        """Array sections of what it reads; space: the C++ namespace of their sizes."""
        return [f"[{space}::BLOCK_{tensor.upper()}]{port}" for port, tensor in self.read_once]


def network_obstacles(choice: LayerwiseHardware, graph: Graph) -> list[str]:
    """Why there is no OmpSs-2@FPGA application of these kernels, in full sentences; empty if there is one."""
    found = []
    most = MOST_TYPES - 1
    if len(choice.kernels) > most:
        found.append(
            f"the network has {len(choice.kernels)} layers, each an accelerator type, and the hardware "
            f"runtime of OmpSs-2@FPGA knows {most} beside the task that creates them"
        )
    for task in _tasks(choice):
        arguments = len(task.kernel.reads) + 2 + (2 if task.weight_beats else 0)
        found += _over(task.kernel.layer.name, arguments, len(task.read_once) + 1)
    buffers = len(graph.inputs) + len(_results(graph)) + bool(_scratch(graph))
    weights = any(task.weight_beats for task in _tasks(choice))
    found += _over("the task that creates the others", buffers + 2 + 2 * weights, buffers + weights)
    return found


def _over(what: str, arguments: int, dependences: int) -> list[str]:
    pairs = (("arguments", arguments, MOST_ARGUMENTS), ("dependences", dependences, MOST_DEPENDENCES))
    return [
        f"{what} needs {count} {kind}, and a task of OmpSs-2@FPGA has {most} at the most"
        for kind, count, most in pairs
        if count > most
    ]


def ompss_network_files(
    choice: LayerwiseHardware,
    graph: Graph,
    *,
    name: str,
    source: str,
    board: Board,
    clock: Clock,
    batch: int,
) -> dict[str, str]:
    """{"ompss/Makefile": text, ...}; nothing if `network_obstacles` names any."""
    if network_obstacles(choice, graph):
        return {}
    tasks = _tasks(choice)
    k = _context(choice, graph, tasks, name=name, source=source, batch=batch)
    files = {
        f"ompss/{name}_tasks.fpga.h": render("ompss/network.fpga.h.j2", k=k, version=VERSION),
        f"ompss/{name}_tasks.cpp": render("ompss/network_tasks.cpp.j2", k=k, version=VERSION),
        "ompss/main.cpp": render("ompss/network_main.cpp.j2", k=k, version=VERSION),
    }
    for task in tasks:
        pipeline, names = task.kernel.pipeline, KernelNames(kernel=task.kernel.name, source=source)
        context = kernel_context(pipeline, names, board)
        text = render("ompss/network_kernel.fpga.h.j2", k=context, task=task, top=k, version=VERSION)
        files[f"ompss/kernels/{task.kernel.name}.fpga.h"] = text
    accelerators = [
        Accelerator(name=task.function, instances=choice.instances, slrs=slrs)
        for task, slrs in zip(tasks, choice.slrs, strict=True)
    ]
    return files | tool_files(
        board,
        clock,
        k,
        (*accelerators, creator(board, k["batch"])),
        VERSION,
        port_bits=None,
        arguments=False,
    )


def _tasks(choice: LayerwiseHardware) -> list[_Task]:
    taken: set[str] = {kernel.layer.name for kernel in choice.kernels}
    tasks = []
    for kernel in choice.kernels:
        space = _free(f"{kernel.layer.name}_task", taken)
        taken.add(space)
        beats = sum(weight_beats(kernel.pipeline).values())
        function = function_name(kernel.name)
        tasks.append(_Task(kernel=kernel, function=function, space=space, weight_beats=beats))
    return tasks


def _free(name: str, taken: Iterable[str]) -> str:
    """`name`, or it with underscores behind that nothing else is called."""
    taken = set(taken)
    while name in taken:
        name += "_"
    return name


def _results(graph: Graph) -> list[str]:
    """The tensors that leave the network, each once."""
    return list(dict.fromkeys(port.source for port in graph.outputs))


def _scratch(graph: Graph) -> list[str]:
    """The tensors between layers."""
    results = _results(graph)
    return [layer.name for layer in graph.layers if layer.name not in results]


def block_frames(choice: LayerwiseHardware, batch: int) -> int:
    """Frames of a task: as many as keep an average layer busy, but work for every instance."""
    average = choice.interval / len(choice.kernels)
    return max(1, min(-(-TASK_CYCLES // int(max(average, 1))), -(-batch // choice.instances)))


def _context(
    choice: LayerwiseHardware, graph: Graph, tasks: list[_Task], *, name: str, source: str, batch: int
) -> dict[str, Any]:
    """What the templates name. A tensor is a parameter of the batch task, or a part of a slot."""
    functions = {task.function for task in tasks}
    frames = block_frames(choice, batch)
    tensors = {one: _tensor(one, choice, frames) for one in graph.tensors()}
    slot = 0
    for one in _scratch(graph):
        tensors[one]["AT"] = slot
        slot += tensors[one]["BLOCK"]
    weights, at = [], 0
    for task in tasks:
        if task.weight_beats:
            weights.append(
                {"layer": task.kernel.layer.name, "space": task.space, "AT": at, "beats": task.weight_beats}
            )
            at += task.weight_beats
    found = {
        "name": name,
        "guard": f"HLSGEN_OMPSS_{name.upper()}",
        "source": safe_comment(source),
        "space": _free(f"{name}_ompss", (layer.name for layer in graph.layers)),
        "batch": _free(function_name(f"{name}_batch"), functions),
        "host": _free(function_name(f"{name}_frames"), functions),
        "instances": choice.instances,
        "FRAMES_PER_TASK": frames,
        # a block in every instance of every layer
        "SLOTS": choice.instances * len(tasks),
        "tasks": tasks,
        "tensors": tensors,
        "inputs": [tensors[port.name] for port in graph.inputs],
        "results": [tensors[one] for one in _results(graph)],
        "outputs": [{"name": port.name, "source": port.source} for port in graph.outputs],
        "PORT": choice.port_bits,
        "SLOT": slot,
        "weights": weights,
        "weight_beats": at,
    }
    return found | _signature(found)


def _signature(k: dict[str, Any]) -> dict[str, Any]:
    """The batch task's parameters, and the array sections that it depends on."""
    space = k["space"]
    blocks = f"(frames + {space}::FRAMES_PER_TASK - 1) / {space}::FRAMES_PER_TASK"
    inputs = [f"[{blocks} * {space}::BLOCK_{t['name'].upper()}]{t['name']}_data" for t in k["inputs"]]
    results = [f"[{blocks} * {space}::BLOCK_{t['name'].upper()}]{t['name']}_data" for t in k["results"]]
    parameters = [f"const ap_uint<{k['PORT']}> *{t['name']}_data" for t in k["inputs"]]
    parameters += [f"ap_uint<{k['PORT']}> *{t['name']}_data" for t in k["results"]]
    if k["SLOT"]:
        results.append(f"[slots * {space}::SLOT]scratch")
        parameters.append(f"ap_uint<{k['PORT']}> *scratch")
    if k["weights"]:
        inputs.append(f"[{space}::WEIGHT_BEATS]weights")
        parameters += ["const ap_uint<64> *weights", "unsigned long long version"]
    parameters += ["int frames", "int slots"]
    return {
        "sections_in": inputs,
        "sections_out": results,
        "parameters": parameters,
        "names": [parameter.split("*")[-1].split()[-1] for parameter in parameters],
    }


def _tensor(name: str, choice: LayerwiseHardware, frames: int) -> dict[str, Any]:
    """BLOCK: its port words for a task, whole parts of MOST_DDR_BITS, so that no word holds two blocks."""
    found = ddr_format(choice.formats[name])
    parts = -(-frames * found["FRAME_BEATS"] * found["WIDTH"] // MOST_DDR_BITS)
    return {"name": name, "BLOCK": parts * MOST_DDR_BITS // choice.port_bits, "AT": None, **found}
