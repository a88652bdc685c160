"""A shared processor -> {path: content}: the kernel, what it runs on, and a network's program as data beside
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.base.version import VERSION
from hlsgen.cost.processor import BURST_WORDS, FIFO_WORDS
from hlsgen.designfile.clock import Clock
from hlsgen.emit.environment import render, safe_comment, source_text
from hlsgen.emit.plan import Plan, array_bytes
from hlsgen.emit.project import csim_header_files, makefile
from hlsgen.emit.vitis import LinkedKernel, plain_word, tool_files
from hlsgen.hardware import processor as limits
from hlsgen.hardware.descriptor import FIELDS, ROW_FIELDS, WORDS
from hlsgen.hardware.processor import Processor
from hlsgen.program.program import Program
from hlsgen.targets.board import Board

INCLUDED = ("counter.h", "dot.h", "lanes.h", "memory.h", "stage.h", "static.h")
"""What of templates/hls/hlsgen/ the processor is made with."""
AS_THEY_STAND = ("sized.h", "load.h", "finish.h")
RENDERED = ("processor.h", "array.h")
PORTS = ("gmem_program", "gmem_weights", "gmem_pixels", "gmem_added", "gmem_results")
"""The kernel's m_axi bundles, as kernel.cpp.j2 names them."""
PROCESS_NAMES = ("load", "load_weights", "load_residual", "array", "finish", "store")
"""The processes in the order of `enum process` in load.h."""


def processor_files(processor: Processor, *, name: str, source: str) -> dict[str, str]:
    """The sources of a kernel called `name`, and its testbench."""
    k = _constants(processor, name, source)
    files = {f"src/hlsgen/{one}": source_text(f"hls/hlsgen/{one}") for one in INCLUDED}
    files |= {f"src/{one}": source_text(f"hls/shared/{one}") for one in AS_THEY_STAND}
    files |= {f"src/{one}": render(f"hls/shared/{one}.j2", k=k, version=VERSION) for one in RENDERED}
    files["tb/npy.h"] = source_text("hls/npy.h")
    for template, path in (
        ("kernel.h.j2", f"src/{name}.h"),
        ("kernel.cpp.j2", f"src/{name}.cpp"),
        ("testbench.cpp.j2", f"tb/{name}_tb.cpp"),
    ):
        files[path] = render(f"hls/shared/{template}", k=k, version=VERSION)
    return files


def _constants(processor: Processor, name: str, source: str) -> dict[str, Any]:
    return {
        "name": name,
        "source": safe_comment(source),
        "ROWS": processor.rows,
        "LANES": processor.lanes,
        "FABRIC_LANES": processor.fabric_lanes,
        "ACTIVATION": processor.activation_bits,
        "OPERAND": processor.operand_bits,
        "WEIGHT": processor.weight_bits,
        "SUM": processor.sum_bits,
        "BIAS": limits.BIAS_BITS,
        "RESULT": limits.RESULT_BITS,
        "FACTOR": processor.factor_bits,
        "FRACTION": processor.factor_fraction,
        "CHAIN": processor.chain if processor.packed else 0,
        "BAND_DEPTH": processor.pixel_depth,
        "FILTER_DEPTH": processor.weight_depth,
        "BEAT": processor.weight_beat_bits,
        "SIZE": limits.SIZE_BITS,
        "DESCRIPTOR": WORDS,
        "FIFO": FIFO_WORDS,
        "BIAS_FIFO": 2 * processor.bias_beats,
        "BURST": BURST_WORDS,
        "band_storage": processor.pixel_storage.value,
        "filter_storage": processor.weight_storage.value,
        "fields": list(FIELDS.items()),
        "row_fields": list(ROW_FIELDS.items()),
    }


def program_data(
    program: Program,
    inputs: Mapping[str, Codes],
    rounds: int,
    *,
    keep: bool = False,
) -> dict[str, Codes]:
    """The testbench's arrays by file name. keep: every tensor has a place of its own."""
    plan = program.plan(rounds, keep=keep)
    return {
        "program.npy": program.descriptors(plan).reshape(-1),
        "weights.npy": program.weights,
        "memory.npy": program.memory(inputs, plan),
        "rounds.npy": np.array([rounds], np.int32),
    }


def program_files(
    program: Program, inputs: Mapping[str, Codes], golden: Mapping[str, Codes], rounds: int
) -> Plan:
    """The same as files, with what golden says of the outputs and which bytes those are."""
    data = program_data(program, inputs, rounds)
    plan = program.plan(rounds)
    expected = np.zeros_like(data["memory.npy"])
    known = np.zeros_like(expected)
    word_bytes = program.processor.word_bits // 8
    for port in program.graph.outputs:
        layout, first = program.layout(port.source), plan.places[port.source] * word_bytes
        packed = layout.packed(golden[port.source]).reshape(-1)
        expected[first : first + packed.size] = packed
        known[first : first + packed.size] = np.tile(layout.known(), len(golden[port.source]))
    data |= {"memory_golden.npy": expected, "memory_known.npy": known}
    return {f"tb/{name}": array_bytes(array) for name, array in data.items()}


def shared_plan(
    program: Program,
    *,
    name: str,
    source: str,
    board: Board,
    clock: Clock,
    slrs: Sequence[str],
    banks: Sequence[str],
    inputs: Mapping[str, Codes],
    golden: Mapping[str, Codes],
) -> Plan:
    """All files of the build folder. slrs, banks: of each instance.

    inputs, golden: codes of the testbench's frames by tensor, of which whole rounds are taken.
    """
    k = {"name": name, "source": safe_comment(source)}
    frames = len(next(iter(inputs.values())))
    missing = -frames % program.together

    def whole(codes: Codes) -> Codes:
        return np.concatenate([codes, *[codes[-1:]] * missing])

    data = program_files(
        program,
        {one: whole(codes) for one, codes in inputs.items()},
        {port.source: whole(golden[port.source]) for port in program.graph.outputs},
        (frames + missing) // program.together,
    )
    plan: Plan = {
        **processor_files(program.processor, name=name, source=source),
        **data,
        **csim_header_files(),
    }
    instances = [
        {"name": f"{name}_{number}", "slr": plain_word(slr), "bank": plain_word(bank)}
        for number, (slr, bank) in enumerate(zip(slrs, banks, strict=True), start=1)
    ]
    linked = LinkedKernel(name=name, ports=PORTS, instances=instances)
    files = [path.removeprefix("tb/") for path in data]
    plan |= tool_files(board, clock, k, VERSION, files=files, linked=linked)
    line = f"a processor for networks, with the program of one of {len(program.graph.layers)} layers"
    plan |= makefile(board, k, line, VERSION, streaming=True, host=False)
    return plan
