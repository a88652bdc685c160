"""A balanced network -> {path: content}: everything its build folder holds but the reports."""

from __future__ import annotations

from collections.abc import Mapping

from hlsgen.board import Board
from hlsgen.emit.dataflow import DataflowNames, dataflow_files, weight_files
from hlsgen.emit.environment import safe_comment
from hlsgen.emit.plan import Plan, array_bytes, npy_bytes
from hlsgen.emit.project import csim_header_files, makefile
from hlsgen.emit.vitis import plain_word, tool_files
from hlsgen.layers.base import Codes
from hlsgen.mapping.balance import Balanced
from hlsgen.version import VERSION


def network_plan(
    balanced: Balanced,
    *,
    name: str,
    source: str,
    board: Board,
    clock_mhz: float,
    inputs: Mapping[str, Codes],
    golden: Mapping[str, Codes],
) -> Plan:
    """All files of the build folder. `inputs` and `golden`: codes of the testbench's data, by tensor."""
    pipeline = balanced.pipeline
    graph = pipeline.graph
    k = {"name": name, "source": safe_comment(source)}
    plan: Plan = {**dataflow_files(pipeline, DataflowNames(kernel=name, source=source), board)}
    data = {f"{port.name}.npy": npy_bytes(inputs[port.name], port.tensor.type) for port in graph.inputs}
    data |= {
        f"{port.name}_golden.npy": npy_bytes(golden[port.source], port.tensor.type) for port in graph.outputs
    }
    ports = [f"gmem_{port.name}" for port in (*graph.inputs, *graph.outputs)]
    for file, beats in weight_files(pipeline).items():
        data[file] = array_bytes(beats)
        ports.append(f"gmem_{file.removesuffix('.npy')}")
    plan |= {f"tb/{path}": content for path, content in data.items()}
    plan |= csim_header_files()
    plan |= tool_files(
        board,
        clock_mhz,
        k,
        VERSION,
        files=list(data),
        ports=ports,
        instances=_instances(balanced, board, name),
    )
    line = f"a network of {len(graph.layers)} layers as one streaming kernel"
    plan |= makefile(board, k, line, VERSION, streaming=True)
    return plan


def _instances(balanced: Balanced, board: Board, kernel: str) -> list[dict[str, str]]:
    """Instances over the SLRs as they fit, each at a DDR bank."""
    return [
        {"name": f"{kernel}_{number}", "slr": plain_word(one.slr), "bank": plain_word(one.bank)}
        for number, one in enumerate(balanced.at_banks(board), start=1)
    ]
