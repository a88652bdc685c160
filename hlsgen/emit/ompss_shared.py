"""A shared processor as OmpSs-2@FPGA: an FPGA task runs a network's program on a block of frames, another
creates them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hlsgen.base.version import VERSION
from hlsgen.cost.processor import FIFO_WORDS
from hlsgen.designfile.clock import Clock
from hlsgen.emit.environment import render, safe_comment, source_text
from hlsgen.emit.ompss_network import TASK_CYCLES
from hlsgen.emit.ompss_project import Accelerator, creator, function_name, tool_files
from hlsgen.emit.plan import Plan, array_bytes
from hlsgen.program.program import Program, weight_beats
from hlsgen.program.slots import SlotPlan, slot_plan
from hlsgen.program.tasks import Stored
from hlsgen.targets.board import Board

PROGRAM_FILE = "ompss_program.npy"
"""The descriptors of every slot, in tb/."""


def ompss_program(program: Program, slots: int) -> bytes:
    """The content of PROGRAM_FILE."""
    plan = slot_plan(program, slots)
    return array_bytes(np.concatenate([program.descriptors(one).reshape(-1) for one in plan.plans]))


def ompss_shared_files(
    program: Program,
    *,
    name: str,
    source: str,
    board: Board,
    clock: Clock,
    slrs: tuple[str, ...],
    batch: int,
    round_cycles: int,
) -> Plan:
    """{"ompss/Makefile": text, ..., "tb/ompss_program.npy": bytes}. slrs: of each accelerator."""
    k = _context(program, name=name, source=source, slots=len(slrs), batch=batch, round_cycles=round_cycles)
    files: Plan = {
        f"ompss/{name}_{part}": render(f"ompss/shared_{part}.j2", k=k, version=VERSION)
        for part in ("tasks.fpga.h", "kernel.fpga.h", "tasks.cpp")
    }
    files["ompss/main.cpp"] = render("ompss/shared_main.cpp.j2", k=k, version=VERSION)
    files["tb/frames.h"] = source_text("hls/dataflow/frames.h")
    accelerators = (
        Accelerator(name=k["instance"], instances=len(slrs), slrs=slrs),
        creator(board, k["batch"]),
    )
    return files | tool_files(board, clock, k, accelerators, VERSION, port_bits=None, arguments=False)


def block_rounds(program: Program, round_cycles: int, batch: int, instances: int) -> int:
    """Rounds of a task: enough for TASK_CYCLES, but work for every instance."""
    rounds = -(-batch // program.together)
    return max(1, min(-(-TASK_CYCLES // round_cycles), -(-rounds // instances)))


def _context(
    program: Program, *, name: str, source: str, slots: int, batch: int, round_cycles: int
) -> dict[str, Any]:
    """What the templates name."""
    graph, plan = program.graph, slot_plan(program, slots)
    inputs = {port.name: port.tensor for port in graph.inputs}
    outputs = {port.source: port.tensor for port in graph.outputs}
    tensors = [
        {
            "name": one,
            "channels": tensor.shape[0],
            "height": tensor.shape[1],
            "width": tensor.shape[2],
            "bits": tensor.type.width,
        }
        for one, tensor in {**inputs, **outputs}.items()
    ]
    places = [
        _place(program, stored, plan, is_input=stored.of in inputs)
        for one, stored in program.lowered.tensors.items()
        if stored.of in inputs or one in outputs
    ]
    instance, made_by = function_name(f"{name}_instance"), function_name(f"{name}_batch")
    host = function_name(f"{name}_frames")
    return {
        "name": name,
        "guard": f"HLSGEN_OMPSS_{name.upper()}",
        "source": safe_comment(source),
        "space": f"{name}_ompss",
        "instance": instance,
        "batch": made_by,
        "host": host,
        "instances": slots,
        "together": program.together,
        "rounds_per_task": block_rounds(program, round_cycles, batch, slots),
        "tasks": len(program.tasks),
        "weight_beats": sum(weight_beats(tiling) for tiling in program.tilings),
        "slot_words": plan.slot_words,
        "round_words": plan.round_words,
        "tensors": tensors,
        "inputs": list(inputs),
        "outputs": [
            {"name": port.name, "source": port.source, "place": port.source} for port in graph.outputs
        ],
        "places": places,
        "program_file": PROGRAM_FILE,
        "POOL_COLUMNS": program.processor.pool_columns,
        "WINDOW": bool(program.processor.window_columns),
        "WINDOW_PRODUCTS": program.processor.window_products,
        "WINDOW_FIFO": program.processor.window_fifo,
        "FIFO": FIFO_WORDS,
        "BIAS_FIFO": program.processor.waiting_bias_beats,
        "FLOATING": program.processor.floating,
        "SUMS_FIFO": program.processor.sums_fifo,
        "instance_indent": _indent(instance),
        "parameters": _parameters(host),
        "batch_parameters": _parameters(made_by),
    }


def _parameters(function: str) -> str:
    """Of the tasks that run all rounds."""
    parts = (
        "const int *program",
        "const processor::beat_t *weights",
        "processor::word_t *memory",
        "int rounds",
        "int blocks",
    )
    return f",\n{_indent(function)}".join((", ".join(parts[:3]), ", ".join(parts[3:])))


def _indent(function: str) -> str:
    """Under the first parameter of a function."""
    return " " * len(f"void {function}(")


def _place(program: Program, stored: Stored, plan: SlotPlan, *, is_input: bool) -> dict[str, Any]:
    columns, dilation, stride, left = stored.unfolded or (1, 1, 1, 0)
    return {
        "name": stored.name,
        "tensor": stored.of,
        "input": is_input,
        "first": plan.plans[0].places[stored.name] - plan.first_round,
        "channels": stored.shape[0],
        "height": stored.shape[1],
        "width": stored.shape[2],
        "columns": columns,
        "dilation": dilation,
        "stride": stride,
        "left": left,
        "signed": stored.signed,
    }
