"""Cycles of one instance: what each pipelined loop iterates, and what a call and a frame take.

Source of the loop formula: a pipelined loop takes (N - 1) * II + depth - 1 cycles and its function two more,
as in Vitis HLS' own reports; every loop here has II = 1. The iterations are exact (C-simulation counts the
same); the depth is modelled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hlsgen.hardware.conv2d import ConvMapping


@dataclass(frozen=True, kw_only=True)
class Iterations:
    """Iterations of each pipelined loop in a call with some number of frames."""

    weights: int
    fill: int
    compute: int
    drain: int
    load: int
    store: int


@dataclass(frozen=True, kw_only=True)
class Cycles:
    """`interval`: cycles from frame to frame. `depth`: of the compute pipeline. Both per instance."""

    mapping: ConvMapping
    interval: int
    depth: int

    def call(self, frames: int) -> int:
        """Cycles of a call with `frames` frames, from start to the last word stored."""
        counts = iterations(self.mapping, frames)
        last_pass = self.mapping.drain_steps + AXI_LATENCY
        return AXI_LATENCY + counts.weights + counts.fill + counts.compute + self.depth - 1 + last_pass + 2

    @property
    def latency(self) -> int:
        """Cycles of a call with one frame, the loading of the weights included."""
        return self.call(1)


AXI_LATENCY = 70
"""Cycles from a request to DDR to its first word (Vitis HLS schedules 64 to 70)."""
MULTIPLY_DEPTH = {"float": 4, "half": 4, "widened": 5, "fixed": 3, "packed": 3}
"""Half operands are widened in a cycle."""
FIXED_ADD_DEPTH = 1
WINOGRAD_ADDERS = 4
"""One after the other: rows brought to the points, words packed, two that make rows of the points."""
WAVE_DEPTH = 6
"""Counters, bank select, memory read and the way to the window."""


def iterations(mapping: ConvMapping, frames: int) -> Iterations:
    """What C-simulation counts for a call with `frames` frames."""
    layer, wave = mapping.layer, mapping.wave
    channels = layer.in_shape[0]
    passes = frames * wave.tiles * mapping.filter_steps
    biases = layer.out_channels if has_bias(mapping) else 0
    fill = wave.rows_needed(0) * channels * mapping.in_words * mapping.load_times
    # nothing arrives after the last frame, so its last tile does not wait
    compute = frames * interval(mapping) - mapping.load_times * mapping.stalls[1]
    return Iterations(
        weights=layer.weights.size + biases,
        fill=fill,
        compute=compute,
        drain=(passes + 1) * mapping.drain_steps,
        load=frames * wave.rows_used * channels * mapping.in_words * mapping.load_times,
        store=frames * layer.out_channels * layer.output_shape[1] * mapping.out_words,
    )


def interval(mapping: ConvMapping) -> int:
    """Iterations of the compute loop from frame to frame, the waiting for rows included."""
    return mapping.load_times * (mapping.wave.tiles * mapping.tile_iterations + mapping.stalls[0])


def has_bias(mapping: ConvMapping) -> bool:
    return mapping.layer.bias.size > 0


def cycles(mapping: ConvMapping) -> Cycles:
    """The interval is the compute loop's: it waits for the load; drain and store keep up by construction."""
    return Cycles(mapping=mapping, interval=interval(mapping), depth=pipeline_depth(mapping))


def pipeline_depth(mapping: ConvMapping) -> int:
    """Modelled depth of the compute loop: wave, multiplier, adders, result."""
    levels = (mapping.terms - 1).bit_length()
    if mapping.folding.algorithm == "winograd":
        adders = mapping.point_terms * FIXED_ADD_DEPTH + WINOGRAD_ADDERS * FIXED_ADD_DEPTH + 2
    elif mapping.layer.is_float:
        adders = (levels + 1) * mapping.layer.float_cores.add_cycles
    elif mapping.arithmetic == "packed":
        chunks = -(-mapping.terms // max(1, mapping.chain))
        adders = mapping.chain * FIXED_ADD_DEPTH + chunks.bit_length() + 2
    else:
        adders = mapping.terms * FIXED_ADD_DEPTH + 1
    return WAVE_DEPTH + MULTIPLY_DEPTH[mapping.arithmetic] + adders + 2


def ddr_bytes(mapping: ConvMapping) -> int:
    """Bytes a frame moves to and from DDR, rows padded to words; weights, loaded once a call, not counted."""
    words_in, words_out = _frame_words(mapping)
    return words_in * _word_bytes(mapping)[0] + words_out * _word_bytes(mapping)[1]


def ddr_bursts(mapping: ConvMapping) -> int:
    """Bursts of a frame: a channel's rows of a tile are one, in and out."""
    layer, wave = mapping.layer, mapping.wave
    tiles_in = int(np.count_nonzero(wave.rows_by_tile))
    return mapping.load_times * layer.in_shape[0] * tiles_in + layer.out_channels * wave.tiles


def ddr_cost(mapping: ConvMapping) -> int:
    """Bytes that the DDR's peak is charged with for a frame: its bytes, and BURST_OVERHEAD_BYTES for each
    burst.
    """
    return ddr_bytes(mapping) + ddr_bursts(mapping) * BURST_OVERHEAD_BYTES


BURST_OVERHEAD_BYTES = 64
"""What a burst costs beside its data, a DDR4 access of eight beats on 64 bits: opening its row, unaligned
ends. An estimate.
"""


def _frame_words(mapping: ConvMapping) -> tuple[int, int]:
    layer, wave = mapping.layer, mapping.wave
    read = mapping.load_times * layer.in_shape[0] * wave.rows_used * mapping.in_words
    return read, layer.out_channels * layer.output_shape[1] * mapping.out_words


def _word_bytes(mapping: ConvMapping) -> tuple[int, int]:
    layer = mapping.layer
    return (
        mapping.in_lanes * layer.input_type.container_bits // 8,
        mapping.out_lanes * layer.result_type.container_bits // 8,
    )
