"""A shared processor -> {path: content}: the kernel, what it runs on, and a network's program as data beside
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes
from hlsgen.base.version import VERSION
from hlsgen.cost.processor import BURST_WORDS, FIFO_WORDS
from hlsgen.designfile.clock import Clock
from hlsgen.emit.environment import render, safe_comment, source_text
from hlsgen.emit.ompss_shared import PROGRAM_FILE, ompss_program, ompss_shared_files
from hlsgen.emit.plan import Plan, array_bytes, npy_bytes
from hlsgen.emit.project import csim_header_files, makefile
from hlsgen.emit.vitis import LinkedKernel, plain_word, tool_files
from hlsgen.emit.xrt import host_files
from hlsgen.emit.xrt_program import call_rounds, program_interface
from hlsgen.hardware import processor as limits
from hlsgen.hardware.descriptor import ROW_FIELDS, TYPES, WORDS, fields_of
from hlsgen.hardware.processor import Processor
from hlsgen.hardware.processor_file import PROCESSOR, BuiltProcessor
from hlsgen.program.program import Program
from hlsgen.targets.board import Board

INCLUDED = ("counter.h", "dot.h", "lanes.h", "memory.h", "stage.h", "static.h")
"""What of templates/hls/hlsgen/ the processor is made with."""
AS_THEY_STAND = ("sized.h",)
FLOATS = ("floats.h",)
"""Of a processor in floating point."""
RENDERED = {one: f"{one}.j2" for one in ("processor.h", "load.h", "array.h", "finish.h")}
"""Sources by the template that they come from."""
FLOATING = {"array.h": "array_float.h.j2", "finish.h": "finish_float.h.j2"}
"""Of a processor in floating point the templates of their own."""
NO_COSIM = (
    "its three ports of the memory are one buffer, which co-simulation would make three of, "
    "so that no task would see what another one wrote"
)
POOLING = {"pool.h": "pool.h.j2"}
"""Of a processor that pools its results."""
WINDOW = {"window.h": "window.h.j2"}
"""Of one that moves windows over them."""
PORTS = ("gmem_program", "gmem_weights", "gmem_pixels", "gmem_added", "gmem_results")
"""The kernel's m_axi bundles, as kernel.cpp.j2 names them."""
OWN_FILES = ("program", "weights", "rounds", "memory", "memory_golden", "memory_known")
"""Arrays of the testbench that are no frames."""
PROCESS_NAMES = (
    "load",
    "load_weights",
    "load_residual",
    "array",
    "finish",
    "store",
    "pool",
    "fill_table",
    "window_rest",
)
"""The processes in the order of `enum process` in load.h."""


def processor_files(processor: Processor, *, name: str, source: str) -> dict[str, str]:
    """The sources of a kernel called `name`, and its testbench."""
    k = _constants(processor, name, source)
    files = {f"src/hlsgen/{one}": source_text(f"hls/hlsgen/{one}") for one in INCLUDED}
    own = (*AS_THEY_STAND, *(FLOATS if processor.floating else ()))
    files |= {f"src/{one}": source_text(f"hls/shared/{one}") for one in own}
    rendered = RENDERED | (FLOATING if processor.floating else {})
    rendered |= POOLING if processor.pool_columns else {}
    rendered |= WINDOW if processor.window_columns else {}
    files |= {
        f"src/{one}": render(f"hls/shared/{template}", k=k, version=VERSION)
        for one, template in rendered.items()
    }
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
        "EXTRA_LANES": processor.extra_lanes,
        **_names(extra=bool(processor.extra_lanes)),
        "CARRY_STEP": processor.carry_step,
        "CARRIED": processor.most_carried,
        "CARRIED_WORDS": processor.carried_words,
        "FABRIC_LANES": processor.fabric_lanes,
        "POOL_COLUMNS": processor.pool_columns,
        **window_constants(processor),
        "TABLE": limits.TABLE_ENTRIES if processor.tables else 0,
        "ACTIVATION": processor.activation_bits,
        "OPERAND": processor.operand_bits,
        "WEIGHT": processor.weight_bits,
        "SUM": processor.sum_bits,
        "BIAS": limits.BIAS_BITS,
        "RESULT": processor.result_bits,
        "FACTOR": processor.factor_bits,
        "FRACTION": processor.fractions[1],
        "SCALES": processor.scales,
        "MOST_UP": limits.MOST_UP,
        "MOST_JOINING_UP": limits.MOST_JOINING_UP,
        "JOINING": processor.joining_bits,
        "EXACT": processor.exact_bits,
        "OFFSET": limits.OFFSET_BITS,
        "CHANNEL_NUMBERS": limits.CHANNEL_NUMBERS,
        "CHAIN": processor.chain if processor.packed else 0,
        "FLOATING": processor.floating,
        "INTERLEAVE": processor.interleave,
        "MOST_INTERLEAVED": processor.most_interleaved,
        "SUMS_FIFO": processor.sums_fifo,
        "BAND_DEPTH": processor.pixel_depth,
        "FILTER_DEPTH": processor.weight_depth,
        "BEAT": processor.weight_beat_bits,
        "SIZE": limits.SIZE_BITS,
        "DESCRIPTOR": WORDS,
        "FIFO": FIFO_WORDS,
        "BIAS_FIFO": processor.waiting_bias_beats,
        "BURST": BURST_WORDS,
        "band_storage": processor.pixel_storage.value,
        "filter_storage": processor.weight_storage.value,
        "fields": list(fields_of(processor).items()),
        "row_fields": list(ROW_FIELDS.items()),
        "types": TYPES,
    }


def _names(*, extra: bool) -> dict[str, str]:
    """What the templates call things, by whether there are output channels beside those of a word."""
    if extra:
        return {
            "outputs": "OUTPUTS",
            "passes": "passes",
            "largest": "finds",
            "value": "value",
            "biases": "filled * BIAS_BEATS",
            "whole": "whole",
        }
    return {
        "outputs": "LANES",
        "passes": "out_groups",
        "largest": "largest",
        "value": "pixel[l]",
        "biases": "BIAS_BEATS",
        "whole": "waiting[0]",
    }


def window_constants(processor: Processor) -> dict[str, Any]:
    """Of a second window over the results."""
    kinds = (
        ("a depthwise convolution", processor.window_products),
        ("largest values", processor.window_largest),
    )
    return {
        "WINDOW": bool(processor.window_columns),
        "WINDOW_COLUMNS": processor.window_columns,
        "WINDOW_RESULTS": processor.window_results,
        "WINDOW_PRODUCTS": processor.window_products,
        "WINDOW_LARGEST": processor.window_largest,
        "WINDOW_WEIGHT_BEATS": processor.window_weight_beats,
        "WINDOW_FIFO": processor.window_fifo,
        "SIDE": limits.WINDOW_SIDE,
        "HELD_BLOCKS": limits.WINDOW_BLOCKS,
        "NEAREST_READ": limits.NEAREST_READ,
        "window_kinds": " or ".join(kind for kind, made in kinds if made),
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


def whole_rounds(codes: Codes, together: int) -> Codes:
    """Frames filled up to whole rounds, by the last one again."""
    return np.concatenate([codes, *[codes[-1:]] * (-len(codes) % together)])


def program_files(
    program: Program, inputs: Mapping[str, Codes], golden: Mapping[str, Codes], held: int
) -> dict[str, bytes]:
    """What the testbench and hosts read: descriptors and weights, the frames in memory with what golden
    says of the outputs and which bytes those are, and the same as .npy files in the order [N, C, H, W].

    inputs, golden: codes by tensor. held: rounds for which the memory has room, those of the frames at least.
    """
    together = program.together
    whole = {name: whole_rounds(codes, together) for name, codes in inputs.items()}
    rounds = len(next(iter(whole.values()))) // together
    plan = program.plan(held)
    memory = program.memory(whole, plan)
    expected, known = np.zeros_like(memory), np.zeros_like(memory)
    for port in program.graph.outputs:
        layout = program.layout(port.source)
        codes, first = (
            whole_rounds(golden[port.source], together),
            plan.places[port.source] * layout.word_bytes,
        )
        packed = layout.packed(codes).reshape(-1)
        expected[first : first + packed.size] = packed
        known[first : first + packed.size] = np.tile(layout.known(), len(codes))
    own: list[Codes] = [
        program.descriptors(plan).reshape(-1),
        program.weights,
        np.array([rounds], np.int32),
        memory,
        expected,
        known,
    ]
    files = {f"{name}.npy": array_bytes(array) for name, array in zip(OWN_FILES, own, strict=True)}
    for port in program.graph.inputs:
        if f"{port.name}.npy" in files:
            message = f"input {port.name} has the name of one of the files that every program has in tb/"
            raise DesignError(Problem(message=message, fix=f"another name than {', '.join(OWN_FILES)}"))
        files[f"{port.name}.npy"] = npy_bytes(inputs[port.name], port.tensor.type)
    for port in program.graph.outputs:
        files[f"{port.name}_golden.npy"] = npy_bytes(golden[port.source], port.tensor.type)
    return files


def shared_plan(
    program: Program,
    built: BuiltProcessor,
    *,
    source: str,
    board: Board,
    clock: Clock,
    slrs: Sequence[str],
    banks: Sequence[str],
    round_cycles: int,
    batch: int,
    inputs: Mapping[str, Codes],
    golden: Mapping[str, Codes],
    left_to_host: tuple[str, ...] = (),
) -> Plan:
    """All files of the build folder. slrs, banks: of each compute unit of `built`. round_cycles: of one of
    them.

    inputs, golden: codes of the testbench's frames by tensor.
    """
    name = built.name
    k = {"name": name, "source": safe_comment(source)}
    call = call_rounds(program, round_cycles / program.together, clock.mhz)
    held = max(call, program.rounds_of(len(next(iter(inputs.values())))))
    data = program_files(program, inputs, golden, held)
    plan: Plan = {**processor_files(program.processor, name=name, source=source), **csim_header_files()}
    plan |= {f"tb/{file}": content for file, content in data.items()}
    plan[PROCESSOR] = built.as_json()
    linked = linked_processors(built, slrs, banks)
    plan |= tool_files(board, clock, k, VERSION, files=list(data), linked=linked)
    line = f"a processor for networks, with the program of one of {len(program.graph.layers)} layers"
    plan |= host_files(
        program_interface(
            program, built, name=name, source=source, call=call, held=held, left_to_host=left_to_host
        ),
        VERSION,
    )
    plan |= ompss_shared_files(
        program,
        name=name,
        source=source,
        board=board,
        clock=clock,
        slrs=tuple(slrs),
        batch=batch,
        round_cycles=round_cycles,
    )
    plan[f"tb/{PROGRAM_FILE}"] = ompss_program(program, len(slrs))
    plan |= makefile(board, k, line, VERSION, streaming=True, ompss=True, no_cosim=NO_COSIM)
    return plan


def linked_processors(built: BuiltProcessor, slrs: Sequence[str], banks: Sequence[str]) -> LinkedKernel:
    """The kernel as it is linked. slrs, banks: of each compute unit of `built`."""
    instances = [
        {"name": unit, "slr": plain_word(slr), "bank": plain_word(bank)}
        for unit, slr, bank in zip(built.units, slrs, banks, strict=True)
    ]
    return LinkedKernel(name=built.name, ports=PORTS, instances=instances)


def unit_names(name: str, count: int) -> tuple[str, ...]:
    """The compute units of a kernel, as vitis/link.cfg calls them."""
    return tuple(f"{name}_{number}" for number in range(1, count + 1))
