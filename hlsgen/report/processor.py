"""A shared processor and the tasks of its program, as report.json and report.md have them. All modelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlsgen.cost.program_time import TaskTime
from hlsgen.hardware.processor import FLOAT_BITS
from hlsgen.program.program import Program
from hlsgen.report.section import Count, Flag, Number, Section, Some, Text, Texts
from hlsgen.report.tables import table


@dataclass(frozen=True, kw_only=True)
class ProcessorFigures(Section):
    """Its folding, number widths in bits, and memories in words of a bank; memory_bytes: of DDR for a round.

    extra_lanes: output channels computed beside those of a word. scales: whether each channel has a factor.
    fabric_lanes: output channels whose products, of floats additions, are logic cells. pool_columns: of
    tensors that are pooled on their way to DDR, the most. window_columns: of those over which a second window
    moves there: depthwise convolutions, if there are window_products, largest values, if window_largest.
    frames_together: of a round. busy: the part of its products in all its time that the network needs.
    """

    rows: Some
    lanes: Some
    extra_lanes: Count = 0
    multipliers: Some
    packed: Flag
    fabric_lanes: Count = 0
    pool_columns: Count = 0
    window_columns: Count = 0
    window_products: Flag = False
    window_largest: Flag = False
    tables: Flag = False
    scales: Flag = False
    activation_bits: Some
    weight_bits: Some
    pixel_words: Some
    weight_words: Some
    frames_together: Some
    busy: Number
    memory_bytes: Count


@dataclass(frozen=True, kw_only=True)
class TaskFigures(Section):
    """A task of a round: the layers whose work it does, its cycles and what part of the round these are.

    busy: the part of the products in its time that its layers need. bands: of an image; frames: at once on
    chip.
    """

    name: Text
    layers: Texts
    cycles: Count
    share: Number
    busy: Number
    bands: Some
    frames: Some
    bytes_read: Count
    bytes_written: Count
    binds: Text


def processor_figures(program: Program, round_cycles: int) -> ProcessorFigures:
    """The section `processor` of a program whose rounds take so many cycles."""
    one, plan = program.processor, program.plan(1)
    products = program.graph.macs * program.together
    return ProcessorFigures(
        rows=one.rows,
        lanes=one.lanes,
        extra_lanes=one.extra_lanes,
        multipliers=one.multipliers,
        packed=one.packed,
        fabric_lanes=one.fabric_lanes,
        pool_columns=one.pool_columns,
        window_columns=one.window_columns,
        window_products=one.window_products,
        window_largest=one.window_largest,
        tables=one.tables,
        scales=one.scales,
        activation_bits=one.activation_bits,
        weight_bits=one.weight_bits,
        pixel_words=one.pixel_depth,
        weight_words=one.weight_depth,
        frames_together=program.together,
        busy=round(products / (round_cycles * one.multipliers), 4),
        memory_bytes=plan.words * one.word_bits // 8,
    )


def task_figures(
    program: Program, times: Sequence[TaskTime], task_cycles: Sequence[int]
) -> list[TaskFigures]:
    """The section `tasks`. task_cycles: of each task of a round, with what it waits for DDR."""
    found = []
    for tiling, time, cycles in zip(program.tilings, times, task_cycles, strict=True):
        task = tiling.task
        products = cycles * program.processor.multipliers
        found.append(
            TaskFigures(
                name=task.name,
                layers=task.layers,
                cycles=cycles,
                share=round(cycles / sum(task_cycles), 4),
                busy=round(task.macs * program.together / products, 4),
                bands=tiling.bands,
                frames=tiling.frames,
                bytes_read=time.bytes_read,
                bytes_written=time.bytes_written,
                binds="DDR" if cycles > time.cycles else time.binds,
            )
        )
    return found


def processor_text(one: ProcessorFigures) -> str:
    """The processor in words."""
    floating = one.activation_bits == FLOAT_BITS
    products = "two products a DSP" if one.packed else "in float32" if floating else "a product a DSP"
    if one.fabric_lanes:
        what = "the additions" if floating else "those"
        products += f", {what} of {one.fabric_lanes} output channels in logic cells"
    outputs = one.lanes + one.extra_lanes
    if one.window_products:
        products += ", and multipliers of their own for depthwise convolutions on the way to DDR"
    if one.window_largest:
        products += ", and windows that find largest values there"
    if one.scales:
        products += ", factors of each output channel"
    return (
        f"{one.rows} output rows x {outputs} output channels x {one.lanes} input channels: "
        f"{one.multipliers:,} products a cycle, {products}; activations of {one.activation_bits} and weights "
        f"of {one.weight_bits} bits. On chip {one.pixel_words:,} words of pixels a row and "
        f"{one.weight_words:,} words of weights, twice each: the next ones arrive meanwhile. "
        f"{one.frames_together} frames a round share what is read of weights. "
        f"The network needs {one.busy:.0%} of the products of all cycles. Tensors of a round take "
        f"{one.memory_bytes:,} bytes of DDR."
    )


TASK_HEADS = (
    "task",
    "layers",
    "cycles",
    "of the round",
    "products used",
    "bands",
    "frames",
    "MB moved",
    "set by",
)


def task_cells(one: TaskFigures) -> tuple[str, ...]:
    """A task's row below TASK_HEADS."""
    return (
        one.name,
        ", ".join(one.layers),
        f"{one.cycles:,}",
        f"{one.share:.1%}",
        f"{one.busy:.0%}",
        f"{one.bands:,}",
        f"{one.frames:,}",
        f"{(one.bytes_read + one.bytes_written) / 1e6:,.2f}",
        one.binds,
    )


def host_text(left: Sequence[str]) -> str:
    """What no processor does, in words; empty: nothing. left: layers with their kinds."""
    if not left:
        return ""
    return (
        f"Left to the host, without hardware: {', '.join(left)}. The program's outputs are the tensors that "
        "these read; golden and `csim` of the design finish them in the same integers."
    )


def task_table(tasks: Sequence[TaskFigures]) -> str:
    """The tasks in the order of their calls."""
    rows = [(f"`{name}`", *cells) for name, *cells in map(task_cells, tasks)]
    return table(TASK_HEADS, rows)
