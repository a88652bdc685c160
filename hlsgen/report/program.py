"""Another network's program on a built processor, as plan.json and report.md of its folder have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from hlsgen.base.rates import rate_text
from hlsgen.program.program import Program
from hlsgen.report.checks import CsimFigures, csim_text
from hlsgen.report.frames import warning_lines
from hlsgen.report.processor import (
    ProcessorFigures,
    TaskFigures,
    host_text,
    processor_figures,
    processor_text,
    task_figures,
    task_table,
)
from hlsgen.report.section import Count, Positive, Rows, Section, Some, Text, Texts
from hlsgen.report.tables import page, table
from hlsgen.search.for_processor import FittedProgram

AT_ONCE = "with all processes of a task at once and FIFOs of the emitted depths every task runs through"
FORMAT = 1
"""The format of plan.json; another number, another meaning of its keys."""


@dataclass(frozen=True, kw_only=True)
class Unfolding(Section):
    """How an input's columns are made channels: channel c * columns + k is the input moved by k columns."""

    columns: Some
    dilation: Some
    stride: Some
    left: Count


@dataclass(frozen=True, kw_only=True)
class PlacedTensor(Section):
    """A tensor in the memory: bytes, of codes [channels, height, width] that take element_bits each.

    Order: [group of `lanes` channels][block of `rows` rows][column][row of the block][lane]. role: input,
    output or inner. of: the graph's tensor. round_bytes: from a round's first frame to the next one's; 0:
    all rounds share it.
    """

    name: Text
    of: Text
    role: Text
    type: Text
    channels: Some
    height: Some
    width: Some
    rows: Some
    lanes: Some
    element_bits: Some
    first_byte: Count
    frame_bytes: Count
    round_bytes: Count
    unfolded: Unfolding | None = None


@dataclass(frozen=True, kw_only=True)
class ProgramFigures(Section):
    """The content of plan.json. built_with: the kernel. rounds: for which the memory has room in a call.

    task_words: 32-bit words of a task's descriptor. csim: of the build's own sources. left_to_host: layers
    at the network's end that the processor has no hardware for.
    """

    format: Some
    design: Text
    built_with: Text
    board: Text
    clock_mhz: Positive
    units: Texts
    frames_per_s: Positive
    round_cycles: Count
    rounds: Some
    task_words: Some
    program_bytes: Count
    weight_bytes: Count
    memory_bytes: Count
    processor: ProcessorFigures
    tasks: Annotated[tuple[TaskFigures, ...], Rows]
    tensors: Annotated[tuple[PlacedTensor, ...], Rows]
    csim: CsimFigures
    warnings: Texts = ()
    left_to_host: Texts = ()


def program_figures(
    fitted: FittedProgram, rounds: int, csim: CsimFigures, warnings: tuple[str, ...] = ()
) -> ProgramFigures:
    """All that is said of a program whose memory has room for so many rounds."""
    program, built = fitted.program, fitted.built
    plan = program.plan(rounds)
    descriptors = program.descriptors(plan)
    return ProgramFigures(
        format=FORMAT,
        design=program.graph.name,
        built_with=built.name,
        board=built.board,
        clock_mhz=built.clock_mhz,
        units=built.units,
        frames_per_s=fitted.frames_per_s,
        round_cycles=fitted.round_cycles,
        rounds=rounds,
        task_words=descriptors.shape[1],
        program_bytes=int(descriptors.nbytes),
        weight_bytes=int(program.weights.nbytes),
        memory_bytes=plan.words * program.processor.word_bits // 8,
        processor=processor_figures(program, fitted.round_cycles),
        tasks=tuple(task_figures(program, fitted.times, fitted.task_cycles)),
        tensors=placed_tensors(program, rounds),
        csim=csim,
        warnings=warnings,
        left_to_host=fitted.division.left_to_host,
    )


def placed_tensors(program: Program, rounds: int) -> tuple[PlacedTensor, ...]:
    """Every tensor with its place in the memory of `rounds` rounds."""
    plan, outputs = program.plan(rounds), {port.source for port in program.graph.outputs}
    inputs = {port.name for port in program.graph.inputs}
    found = []
    for name, stored in program.lowered.tensors.items():
        layout = program.layout(name)
        role = "input" if stored.of in inputs else "output" if name in outputs else "inner"
        found.append(
            PlacedTensor(
                name=name,
                of=stored.of,
                role=role,
                type=str(stored.type),
                channels=stored.shape[0],
                height=stored.shape[1],
                width=stored.shape[2],
                rows=layout.rows,
                lanes=layout.lanes,
                element_bits=layout.bits,
                first_byte=plan.places[name] * layout.word_bytes,
                frame_bytes=layout.frame_bytes,
                round_bytes=layout.frame_bytes * program.together if name in program.outer else 0,
                unfolded=None if stored.unfolded is None else _unfolding(stored.unfolded),
            )
        )
    return tuple(found)


def _unfolding(how: tuple[int, int, int, int]) -> Unfolding:
    columns, dilation, stride, left = how
    return Unfolding(columns=columns, dilation=dilation, stride=stride, left=left)


def program_line(one: ProgramFigures) -> str:
    """The speed in a line."""
    count = len(one.units)
    units = f"{count} compute units" if count > 1 else "1 compute unit"
    return (
        f"{rate_text(one.frames_per_s)} frames/s modelled on {units} of {one.built_with} at "
        f"{one.clock_mhz:g} MHz ({one.board}); a round of "
        f"{one.processor.frames_together} frames takes {one.round_cycles:,} cycles"
    )


def program_markdown(one: ProgramFigures) -> str:
    """The report of a program's folder."""
    memory = (
        f"In DDR, planned: {one.program_bytes:,} bytes of program, {one.weight_bytes:,} of weights, and "
        f"{one.memory_bytes:,} of tensors for calls of up to {one.rounds} rounds."
    )
    csim = csim_text(
        one.csim,
        compared="tasks",
        at_once=AT_ONCE,
    )
    return page(
        (
            f"# {one.design} on the processor of {one.built_with}",
            warning_lines(one.warnings),
            f"No synthesis: the kernel of that build runs it as it is. {program_line(one)}. The time of a "
            "host between two calls is not in these figures.",
            host_text(one.left_to_host),
            "## C-simulation of that build's sources\n\n" + csim,
            "## Processor\n\n" + processor_text(one.processor),
            "## Tasks of a round\n\n" + task_table(one.tasks),
            "## Memory\n\n" + memory + "\n\n" + _memory_table(one),
        )
    )


def _memory_table(one: ProgramFigures) -> str:
    rows = [
        (
            f"`{place.name}`",
            place.role,
            place.type,
            f"{place.channels} x {place.height} x {place.width}",
            *_bytes(place),
        )
        for place in one.tensors
    ]
    return table(("tensor", "role", "type", "shape", "first byte", "bytes a frame"), rows)


def _bytes(place: PlacedTensor) -> tuple[str, str]:
    return f"{place.first_byte:,}", f"{place.frame_bytes:,}"
