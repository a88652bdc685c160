"""A balanced network -> {path: content}: everything its build folder holds but the reports."""

from __future__ import annotations

from collections.abc import Mapping

from hlsgen.base.fixed import Codes
from hlsgen.base.version import VERSION
from hlsgen.designfile.clock import Clock
from hlsgen.emit.dataflow import dataflow_files, weight_files
from hlsgen.emit.environment import safe_comment
from hlsgen.emit.plan import KernelNames, Plan, array_bytes, npy_bytes
from hlsgen.emit.project import csim_header_files, makefile
from hlsgen.emit.vitis import LinkedKernel, plain_word, spread_ports, tool_files
from hlsgen.emit.xrt import host_files, network_interface
from hlsgen.search.streaming import StreamingHardware
from hlsgen.targets.board import Board


def streaming_plan(
    balanced: StreamingHardware,
    *,
    name: str,
    source: str,
    board: Board,
    clock: Clock,
    inputs: Mapping[str, Codes],
    golden: Mapping[str, Codes],
    host: bool = True,
) -> Plan:
    """All files of the build folder. `inputs` and `golden`: codes of the testbench's data, by tensor.

    host: False leaves the host program out, of a kernel that is called beside others.
    """
    pipeline = balanced.pipeline
    graph = pipeline.graph
    k = {"name": name, "source": safe_comment(source)}
    plan: Plan = {**dataflow_files(pipeline, KernelNames(kernel=name, source=source), board)}
    data = {f"{port.name}.npy": npy_bytes(inputs[port.name], port.tensor.type) for port in graph.inputs}
    stores = {one.argument: one for one in pipeline.dma_writes}
    data |= {
        f"{port.name}_golden.npy": npy_bytes(stores[port.name].in_ddr(golden[port.source]), port.tensor.type)
        for port in graph.outputs
    }
    weights = weight_files(pipeline)
    data |= {file: array_bytes(beats) for file, beats in weights.items()}
    plan |= {f"tb/{path}": content for path, content in data.items()}
    plan |= csim_header_files()
    linked = _linked(balanced, board, name, [file.removesuffix(".npy") for file in weights])
    plan |= tool_files(
        board,
        clock,
        k,
        VERSION,
        files=list(data),
        linked=linked,
    )
    host = host and not pipeline.interfaces.constraints.streams
    if host:
        # frames of an AXI stream come from another kernel, not from the host
        interface = network_interface(
            pipeline,
            name=name,
            source=source,
            units=[instance["name"] for instance in linked.instances],
            board=board.title,
            clock_mhz=clock.mhz,
        )
        plan |= host_files(interface, VERSION)
    line = f"a network of {len(graph.layers)} layers as one streaming kernel"
    plan |= makefile(board, k, line, VERSION, streaming=True, host=host, free_running=pipeline.free_running)
    return plan


def _linked(balanced: StreamingHardware, board: Board, kernel: str, weights: list[str]) -> LinkedKernel:
    """The kernel with its ports; weights: the arguments that bring some."""
    graph, constraints = balanced.pipeline.graph, balanced.pipeline.interfaces.constraints
    inputs, outputs = ([port.name for port in side] for side in (graph.inputs, graph.outputs))
    memory = [
        *(inputs if constraints.input == "memory" else []),
        *(outputs if constraints.output == "memory" else []),
    ]
    ports, instances = [f"gmem_{name}" for name in (*memory, *weights)], instances_of(balanced, board, kernel)
    return LinkedKernel(
        name=kernel,
        ports=ports,
        instances=instances,
        port_banks=spread_ports(ports, instances, board),
        inputs=inputs if constraints.input == "stream" else [],
        outputs=outputs if constraints.output == "stream" else [],
    )


def instances_of(balanced: StreamingHardware, board: Board, kernel: str) -> list[dict[str, str]]:
    """Instances over the SLRs as they fit, each at a DDR bank; one that needs several SLRs is in none."""
    return [
        {
            "name": f"{kernel}_{number}",
            "slr": "" if balanced.spans else plain_word(one.slr),
            "bank": plain_word(one.bank),
        }
        for number, one in enumerate(balanced.at_banks(board), start=1)
    ]
