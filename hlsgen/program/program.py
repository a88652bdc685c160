"""A network's program for a processor: descriptors, weights, and where everything lies in DDR.

A round runs all tasks on `together` frames. Inputs and outputs of all rounds lie one after the other; what is
between has a place for one round, which tensors share whose lives do not meet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes
from hlsgen.base.short_repr import Brief
from hlsgen.hardware.descriptor import encoded, fields_of
from hlsgen.hardware.processor import BIAS_BITS, WINDOW_SIDE, Processor
from hlsgen.model.ir import Graph
from hlsgen.program.epilogue import Stage
from hlsgen.program.float_golden import FloatGolden
from hlsgen.program.layout import Layout
from hlsgen.program.lowering import Lowered, lowered
from hlsgen.program.memory_plan import Life, MemoryPlan, planned
from hlsgen.program.tasks import Behind, Stored, Task
from hlsgen.program.tiling import NotTiled, Tiling, tiled, weight_matrix
from hlsgen.program.unfolding import unfold

WORD_LIMIT = 1 << 31


@dataclass(frozen=True, kw_only=True, eq=False)
class Program(Brief):
    """tilings: of each task, in the order of the calls. together: frames of a round."""

    graph: Graph
    processor: Processor
    lowered: Lowered
    tilings: tuple[Tiling, ...]
    together: int

    @property
    def tasks(self) -> tuple[Task, ...]:
        return self.lowered.tasks

    @cached_property
    def outer(self) -> frozenset[str]:
        """Tensors of which every round has its own: inputs and outputs of the graph."""
        stored = self.lowered.tensors
        inputs = {name for name in stored if not any(task.output.name == name for task in self.tasks)}
        return frozenset(inputs | {port.source for port in self.graph.outputs})

    @property
    def compared(self) -> list[str]:
        """The tensors that tasks write and the graph has: pieces of a layer's results are not among them."""
        known = self.graph.tensors()
        return [task.output.name for task in self.tasks if task.output.name in known]

    def rounds_of(self, frames: int) -> int:
        """Rounds that so many frames take."""
        return -(-frames // self.together)

    def layout(self, name: str) -> Layout:
        return Layout.of(self.processor, self.lowered.tensors[name].shape)

    def lives(self, rounds: int) -> dict[str, Life]:
        """From which task to which each tensor is needed, and the words that it takes for `rounds` rounds."""
        last = len(self.tasks)
        lives = {}
        for name in self.lowered.tensors:
            readers = [
                at
                for at, task in enumerate(self.tasks)
                if name == task.source.name or (task.added is not None and name == task.added.name)
            ]
            writers = [at for at, task in enumerate(self.tasks) if task.output.name == name]
            outer = name in self.outer
            lives[name] = Life(
                words=self.layout(name).frame_words * self.together * (rounds if outer else 1),
                first=0 if outer else min(writers),
                last=last if outer else max([*readers, *writers]),
            )
        return lives

    def plan(self, rounds: int, *, keep: bool = False) -> MemoryPlan:
        """Places for `rounds` rounds. keep: of every tensor one of its own, for what looks at all of them."""
        found = planned(self.lives(rounds), keep=keep)
        if found.words >= WORD_LIMIT:
            message = (
                f"{rounds} rounds of {self.together} frames need {found.words:,} words of memory at once"
            )
            raise DesignError(Problem(message=message, fix="fewer frames in a call"))
        fed = [port.name for port in self.graph.inputs if port.fed]
        return found.beginning_with(fed[0], self.lives(rounds)[fed[0]].words) if fed else found

    def descriptors(self, plan: MemoryPlan) -> NDArray[np.int32]:
        """[tasks, WORDS]"""
        words = []
        beats = 0
        for tiling in self.tilings:
            words.append(
                encoded(self.processor, self._fields(tiling, plan, beats), tiling.task.window.stride[0])
            )
            beats += weight_beats(tiling)
        return np.stack(words)

    def _fields(self, tiling: Tiling, plan: MemoryPlan, beats: int) -> dict[str, int]:
        task = tiling.task
        found = dict.fromkeys(fields_of(self.processor), 0)
        found |= self._place("in", task.source, plan)
        found |= self._place("out", task.output, plan)
        begin = task.offset // self.processor.lanes * found["out_plane"]
        found["out_base"] += begin
        if task.added is not None:
            found |= self._place("residual", task.added, plan)
            if task.added.name == task.output.name:
                found["residual_base"] += begin  # a part of a concat joins what the part before has left
            found["residual"] = 2 if task.adds_a_pixel else 1
            found["residual_signed"] = int(task.added.signed)
            found["residual_step"] = 0 if task.adds_a_pixel else tiling.band_out * _out_line(tiling)
        found |= _shape_fields(tiling) | _product_fields(tiling)
        found |= _stage_fields(task.stages)
        if self.processor.scales:
            found |= _scale_fields(self.processor, task.stages)
        if self.processor.extra_lanes:
            found |= {"passes": tiling.passes, "extra": tiling.pass_lanes - self.processor.lanes}
        if task.behind is not None:
            found |= _window_fields(tiling, task.behind)
        return found | {"weight_base": beats}

    def _place(self, role: str, stored: Stored, plan: MemoryPlan) -> dict[str, int]:
        layout = self.layout(stored.name)
        own = plan.step or layout.frame_words * self.together
        steps = own if stored.name in self.outer else 0
        return {
            f"{role}_base": plan.places[stored.name],
            f"{role}_round": steps,
            f"{role}_frame": layout.frame_words,
            f"{role}_plane": layout.plane_words,
        }

    @cached_property
    def golden_of(self) -> FloatGolden | None:
        """Golden of a layer as this processor adds floats; None: in fixed point, where any order will do."""
        if not self.processor.floating:
            return None
        unfolded = {task.layers[0] for task in self.tasks if task.source.unfolded is not None}
        return FloatGolden(lanes=self.processor.lanes, unfolded=frozenset(unfolded))

    @cached_property
    def weights(self) -> NDArray[np.uint8]:
        """The bytes of all weights and biases, in the order of the tasks."""
        return np.concatenate([weight_bytes(tiling) for tiling in self.tilings])

    def memory(self, inputs: Mapping[str, Codes], plan: MemoryPlan) -> NDArray[np.uint8]:
        """The bytes of DDR with the inputs, codes [frames, C, H, W] of each, in their places."""
        word_bytes = self.processor.word_bits // 8
        found = np.zeros(plan.words * word_bytes, np.uint8)
        for name, stored in self.lowered.tensors.items():
            if (
                stored.of in inputs
                and name in self.outer
                and stored.of in {p.name for p in self.graph.inputs}
            ):
                data = self.layout(name).packed(unfold(np.asarray(inputs[stored.of]), stored)).reshape(-1)
                first = plan.places[name] * word_bytes
                found[first : first + data.size] = data
        return found

    def tensor(self, name: str, data: NDArray[np.uint8], plan: MemoryPlan, frames: int) -> Codes:
        """Codes [frames, C, H, W] of a tensor out of the bytes of DDR; inner ones: those of the last
        round.
        """
        layout, stored = self.layout(name), self.lowered.tensors[name]
        first = plan.places[name] * layout.word_bytes
        count = frames if name in self.outer else min(frames, self.together)
        part = data[first : first + count * layout.frame_bytes].reshape(count, -1)
        return layout.unpacked(part, signed=stored.signed)


def program(graph: Graph, processor: Processor, together: int) -> Program:
    """The graph as a program. Raises DesignError: the processor has no hardware for a layer, or no room."""
    for pools in (True, False):
        tasks = lowered(graph, processor, pools=pools)
        try:
            tilings = tuple(tiled(processor, task, together) for task in tasks.tasks)
        except NotTiled as failure:
            if pools and any(task.pooled or task.behind is not None for task in tasks.tasks):
                # two blocks of rows may be too many where one is not
                continue
            fix = "mapping: auto, or a processor with deeper memories"
            raise DesignError(Problem(message=f"{graph.name}: {failure}", fix=fix)) from None
        break
    return Program(graph=graph, processor=processor, lowered=tasks, tilings=tilings, together=together)


def weight_beats(tiling: Tiling) -> int:
    """Beats of a task's weights and biases."""
    processor = tiling.processor
    table = 0 if tiling.task.table is None else processor.table_beats
    return table + tiling.weight_beats


def weight_bytes(tiling: Tiling) -> NDArray[np.uint8]:
    """A table, if there is one; for each pass the biases of the output groups that it fills, those and the
    weights of a second window, then its weights: [word][output lane][input lane], lowest bits first.
    """
    processor, task = tiling.processor, tiling.task
    lanes = processor.lanes
    kind = "f" if processor.floating else "i"
    bias = np.zeros(tiling.out_groups * lanes, f"<{kind}{BIAS_BITS // 8}")
    if task.bias is not None:
        bias[: task.out_shape[0]] = task.bias
    numbers = [bias]
    if processor.scales:
        numbers += _channel_numbers(task, len(bias))
    parts = [_words(number).reshape(tiling.out_groups, -1) for number in numbers]
    if task.behind is not None and task.behind.weights is not None:
        parts += [_bias_bytes(tiling, task.behind.bias), _window_weight_bytes(tiling, task.behind.weights)]
    given = np.concatenate(parts, axis=1)
    ends = np.cumsum(tiling.ended)
    of_pass = [given[end - count : end].reshape(-1) for end, count in zip(ends, tiling.ended, strict=True)]
    if tiling.weight_words:
        weights = weight_matrix(tiling).view(np.uint8).reshape(tiling.passes, -1)
        of_pass = [part for pair in zip(of_pass, weights, strict=True) for part in pair]
    found = np.concatenate(of_pass)
    if task.table is None:
        return found
    entries = task.table.astype(f"<i{processor.activation_bits // 8}").view(np.uint8)
    return np.concatenate([entries, found])


def _bias_bytes(tiling: Tiling, bias: Codes | None) -> NDArray[np.uint8]:
    """[output groups, bytes] of the biases [M] of all lanes, None: zeros."""
    found = np.zeros(tiling.out_groups * tiling.processor.lanes, np.int64)
    if bias is not None and np.size(bias):
        found[: tiling.task.out_shape[0]] = bias
    return found.astype(f"<i{BIAS_BITS // 8}").view(np.uint8).reshape(tiling.out_groups, -1)


def _window_weight_bytes(tiling: Tiling, weights: Codes) -> NDArray[np.uint8]:
    """[output groups, bytes] of the weights [C, 1, KH, KW] of a second window: [row][column][lane], a smaller
    kernel in the last rows and columns.
    """
    processor, groups = tiling.processor, tiling.out_groups
    channels, _, rows, columns = np.shape(weights)
    whole = np.zeros((groups * processor.lanes, WINDOW_SIDE, WINDOW_SIDE), np.int64)
    whole[:channels, WINDOW_SIDE - rows :, WINDOW_SIDE - columns :] = np.asarray(weights)[:, 0]
    lanes = whole.reshape(groups, processor.lanes, WINDOW_SIDE, WINDOW_SIDE).transpose(0, 2, 3, 1)
    wide = np.dtype(f"<i{processor.weight_bits // 8}")
    data = np.ascontiguousarray(lanes.astype(wide)).view(np.uint8).reshape(groups, -1)
    found = np.zeros((groups, processor.window_weight_beats * processor.weight_beat_bits // 8), np.uint8)
    found[:, : data.shape[1]] = data
    return found


def _words(numbers: Codes) -> NDArray[np.uint8]:
    """The bytes of numbers of 32 bits; of floats their own."""
    if numbers.dtype.kind == "f":
        return numbers.view(np.uint8)
    return numbers.astype(f"<i{BIAS_BITS // 8}").view(np.uint8)


def _channel_numbers(task: Task, channels: int) -> list[Codes]:
    """Factor, slope, and both halves of the offset of each of `channels`, those that fill words included."""
    first, own = task.stages[0], task.out_shape[0]

    def each(numbers: tuple[int, ...], alike: int) -> Codes:
        found = np.zeros(channels, np.int64)
        found[:own] = numbers or alike
        return found

    offset = each(first.offsets, first.offset)
    low = (offset & (1 << BIAS_BITS) - 1).astype(np.uint32).view(np.int32).astype(np.int64)
    factors = each(first.factors, first.factor), each(first.slopes, first.slope)
    return [*factors, low, offset >> BIAS_BITS]


def _scale_fields(processor: Processor, stages: tuple[Stage, ...]) -> dict[str, int]:
    """What a stage rounds away, and how the second tensor takes part."""
    _, most = processor.fractions
    found = {"up": most - stages[0].bits, "residual_up": stages[0].joining_up}
    if len(stages) > 1:
        second = stages[1]
        low = second.offset & (1 << BIAS_BITS) - 1
        found |= {
            "second_up": most - second.bits,
            "second_offset": low - (low >> (BIAS_BITS - 1) << BIAS_BITS),
            "second_offset_high": second.offset >> BIAS_BITS,
            "multiplies": int(second.multiplies),
        }
        if second.joining:
            found["residual_up"] = second.joining_up
    return found | dict.fromkeys(("factor", "slope", "offset"), 0)


def _shape_fields(tiling: Tiling) -> dict[str, int]:
    task, processor, window = tiling.task, tiling.processor, tiling.task.window
    return {
        "in_rows": task.in_shape[1],
        "in_columns": task.in_shape[2],
        "in_blocks": tiling.in_blocks,
        "in_groups": tiling.in_groups,
        "frames": tiling.frames,
        "frame_bands": tiling.sequels,
        "bands": tiling.bands,
        "band_out": tiling.band_out,
        "band_step": tiling.band_step,
        "band_first": tiling.band_first,
        "band_blocks": tiling.band_blocks,
        "band_phase": tiling.band_phase,
        "band_top": -window.top,
        "out_columns": task.out_shape[2],
        "out_blocks": tiling.out_blocks,
        "out_groups": tiling.out_groups,
        "pool": int(task.pooled),
        "table": int(task.table is not None),
        "signed_results": int(task.output.signed),
        "stored_columns": task.stored_shape[2],
        "stored_blocks": tiling.stored_blocks,
        "stored_band": tiling.stored_band,
        "largest": int(task.weights is None),
        "signed_pixels": int(task.source.signed),
        "kernel_rows": window.kernel[0],
        "kernel_columns": window.kernel[1],
        "stride_columns": window.stride[1],
        "left": window.left,
        "dilation_columns": window.dilation[1],
        "dilation_rows": window.dilation[0],
        "dilation_phase": window.dilation[0] % processor.rows,
        "read_groups": tiling.read_groups,
        "chunks": len(tiling.chunks),
        "chunk_words": tiling.chunks[0],
        "last_words": tiling.chunks[-1],
        "repeat_rows": window.repeat[0],
        "repeat_columns": window.repeat[1],
        "repeat_zeros": int(window.zeros),
        "repeat_line": task.source.shape[2] * processor.rows,
    }


def _out_line(tiling: Tiling) -> int:
    """Words of a block of ROWS output rows."""
    return tiling.task.out_shape[2] * tiling.processor.rows


def _product_fields(tiling: Tiling) -> dict[str, int]:
    """What a processor would have to multiply sizes for."""
    task, rows, window = tiling.task, tiling.processor.rows, tiling.task.window
    columns, stored_line = task.in_shape[2], task.stored_shape[2] * rows
    plane = tiling.band_blocks * columns
    return {
        "in_line": columns * rows,
        "band_rows": tiling.band_step * rows,
        "band_plane": plane,
        "band_frame": tiling.in_groups * plane,
        "arriving": tiling.in_groups * tiling.frames * rows,
        "out_line": _out_line(tiling),
        "out_words": _out_line(tiling) * tiling.frames,
        "out_step": tiling.stored_band * stored_line,
        "stored_line": stored_line,
        "block_rows": window.stride[0] * rows,
        "block_step": window.stride[0] * columns,
        "tap_step": window.dilation[0] // rows * columns,
        "pass_words": window.kernel[0] * window.kernel[1] * tiling.read_groups,
        "pass_step": tiling.read_step * plane,
        "steps": tiling.sequels * tiling.bands * tiling.passes * len(tiling.chunks),
    }


def _window_fields(tiling: Tiling, behind: Behind) -> dict[str, int]:
    """Of a second window over the results."""
    rows, columns = behind.window.kernel
    largest = behind.weights is None
    bits = [not largest, largest, rows > 1, rows > 2, columns > 1, columns > 2, behind.type.signed]
    found = {
        "window": sum(bit << place for place, bit in enumerate(bits)),
        "out_rows": tiling.task.out_shape[1],
        "window_stride": behind.stride,
        "window_first_row": behind.first_row,
        "window_first_column": behind.first_column,
        "window_across": behind.across(tiling.task.out_shape[2]),
        "window_blocks": tiling.passed_blocks,
        "window_slots": behind.across(tiling.task.out_shape[2]) * tiling.processor.rows * tiling.frames,
        "window_rows": tiling.band_out * tiling.processor.rows,
    }
    if behind.stage is not None:
        found |= {
            "window_factor": behind.stage.factor,
            "window_rounding": behind.stage.rounding,
            "window_low": behind.stage.low,
            "window_high": behind.stage.high,
        }
    return found


def _stage_fields(stages: tuple[Stage, ...]) -> dict[str, int]:
    first = stages[0]
    found = {
        "factor": first.factor,
        "slope": first.slope,
        "offset": first.offset,
        "tie": first.tie,
        "rounding": first.rounding,
        "low": first.low,
        "high": first.high,
        "early": int(bool(first.joining)),
        "residual_factor": first.joining,
    }
    if len(stages) > 1:
        second = stages[1]
        found |= {
            "second": 1,
            "second_factor": second.factor,
            "second_slope": second.slope,
            "second_rounding": second.rounding,
            "second_low": second.low,
            "second_high": second.high,
        }
        if second.joining:
            found["residual_factor"] = second.joining
    return found
