"""Cycles and bytes of a program's tasks on a shared processor.

`iterations` of the array's loop follow from the emitted code and equal those that C-simulation counts,
always. What a task takes beside them is modelled: the fill of pipelines and bursts with round figures, and
processes that the array waits for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from hlsgen.hardware.descriptor import WORDS
from hlsgen.hardware.processor import TABLE_ENTRIES, WINDOW_BLOCKS
from hlsgen.program.tiling import Tiling

STEP_CYCLES, FLOAT_STEP_CYCLES = 20, 60
"""Fill and drain of the array's pipeline, and the loop around it, each step; the second in floating point."""
BURST_CYCLES = 75
"""From the first request of a burst to its first word: the read latency of Vitis HLS' reports, 64 to 75
cycles.
"""
START_CYCLES = 2 * BURST_CYCLES + WORDS
"""A descriptor is read and the processes of a task start."""
END_CYCLES = 2 * BURST_CYCLES
"""The last sums pass the pipeline of `finish`, and DDR acknowledges what is stored."""
TASK_CYCLES = START_CYCLES + END_CYCLES + BURST_CYCLES
"""Cycles of a task of a round beside those of its steps."""
REPEATED_CYCLES = 5
"""Cycles a word where rows and columns are repeated: reads that are no bursts, 16 of them outstanding."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of the array: iterations that compute, that bring the next weights, and in all; positions it
    ends, and the output groups that it fills there.
    """

    taps: int
    beats: int
    iterations: int
    positions: int
    groups: int


@dataclass(frozen=True, kw_only=True)
class TaskTime:
    """cycles: of a task of a round, as far as DDR keeps up; busy: those in which multipliers work; bytes
    moved.

    binds: what sets the cycles of most of its steps.
    """

    cycles: int
    busy: int
    binds: str
    bytes_read: int
    bytes_written: int

    @property
    def bytes_moved(self) -> int:
        return self.bytes_read + self.bytes_written

    def with_ddr(self, bytes_per_cycle: float) -> int:
        """Cycles where DDR gives this many bytes a cycle."""
        return max(self.cycles, math.ceil(self.bytes_moved / bytes_per_cycle))


def steps(tiling: Tiling) -> Iterator[Step]:
    """The steps of a task, the first one that only waits for pixels and weights included."""
    beats_each = tiling.processor.weight_beats
    groups, chunks = tiling.passes, tiling.chunks
    tiles = tiling.sequels * tiling.bands
    order = [
        (tile, group, chunk)
        for tile in range(tiles)
        for group in range(groups)
        for chunk in range(len(chunks))
    ]
    first = chunks[0] * beats_each
    yield Step(taps=0, beats=first, iterations=max(first, arriving_words(tiling, 0)), positions=0, groups=0)
    left = arriving_words(tiling, 1 % tiling.bands) if tiles > 1 else 0
    for at, (tile, group, chunk) in enumerate(order):
        band = tile % tiling.bands
        single = len(chunks) == 1
        taps = (tiling.window_words if single else chunks[chunk]) * tiling.turns(band)
        beats = chunks[order[at + 1][2]] * beats_each if at + 1 < len(order) else 0
        ends = chunk == len(chunks) - 1
        tile_ends = ends and group == groups - 1
        count = max(taps, beats, left if tile_ends else 0)
        positions = tiling.positions(band) if ends else 0
        yield Step(taps=taps, beats=beats, iterations=count, positions=positions, groups=tiling.ended[group])
        left = max(0, left - count)
        if tile_ends:
            left = arriving_words(tiling, (band + 2) % tiling.bands) if tile + 2 < tiles else 0


def arriving_words(tiling: Tiling, band: int) -> int:
    """Words of pixels of a band."""
    lines = tiling.loaded_blocks(band) * tiling.task.in_shape[2]
    return tiling.frames * tiling.in_groups * lines * tiling.processor.rows


def iterations(tiling: Tiling) -> int:
    """Iterations of the array's loop in a task of a round."""
    return sum(step.iterations for step in steps(tiling))


def task_time(tiling: Tiling) -> TaskTime:
    """What a task of a round takes.

    A step lasts as long as the slowest of the array, the weights of the next one, and the words that its
    results leave in; a band no less than what the next band's pixels take to arrive.
    """
    processor, task = tiling.processor, tiling.task
    word_cycles = REPEATED_CYCLES if task.window.repeat != (1, 1) else 1
    first, *others = steps(tiling)
    cycles = max(first.iterations * word_cycles, first.beats) + BURST_CYCLES
    band_cycles = 0
    filling = FLOAT_STEP_CYCLES if processor.floating else STEP_CYCLES
    setting: Counter[str] = Counter()
    each_band = tiling.passes * len(tiling.chunks)
    for at, step in enumerate(others, start=1):
        burst = step.groups * BURST_CYCLES * tiling.frames if step.positions else 0
        results = _leaving(tiling, step) + burst
        array, weights = step.iterations + filling, step.beats + BURST_CYCLES
        longest = max(array, results, weights)
        band_cycles += longest
        if longest == results:
            setting["results leaving"] += longest
        elif longest == weights or step.taps < step.beats:
            setting["weights arriving"] += longest
        else:
            setting["multipliers" if step.iterations == step.taps else "pixels arriving"] += longest
        if at % each_band == 0:
            band = at // each_band % tiling.bands
            runs = tiling.frames * tiling.in_groups
            load = arriving_words(tiling, band) * word_cycles + runs * BURST_CYCLES if at < len(others) else 0
            cycles += max(band_cycles, load)
            setting["pixels arriving"] += max(0, load - band_cycles)
            band_cycles = 0
    read, written = _bytes(tiling)
    cycles += START_CYCLES + END_CYCLES + (0 if task.table is None else TABLE_ENTRIES)
    if task.behind is not None:
        cycles += WINDOW_BLOCKS * task.behind.shape[2] * processor.rows
    return TaskTime(
        cycles=cycles,
        busy=sum(step.taps for step in others),
        binds=setting.most_common(1)[0][0],
        bytes_read=read,
        bytes_written=written,
    )


def _leaving(tiling: Tiling, step: Step) -> int:
    """Cycles in which a step's results leave `finish`, and the window over them, a word each."""
    if not step.positions or tiling.task.behind is None:
        return step.groups * step.positions * tiling.processor.rows
    return tiling.window_slots + tiling.processor.window_weight_beats + STEP_CYCLES


def _bytes(tiling: Tiling) -> tuple[int, int]:
    """Bytes that a task of a round reads and writes."""
    processor = tiling.processor
    word, beat = processor.word_bits // 8, processor.weight_beat_bits // 8
    pixels = sum(arriving_words(tiling, band) for band in range(tiling.bands)) * tiling.sequels
    results = sum(tiling.positions(band) for band in range(tiling.bands)) * processor.rows * tiling.out_groups
    results *= tiling.sequels
    beats = tiling.weight_beats
    weights = beats * tiling.bands * tiling.sequels
    if tiling.task.table is not None:
        weights += processor.table_beats
    added = results if tiling.task.added is not None else 0
    if tiling.task.adds_a_pixel:
        added = tiling.out_groups * tiling.frames * tiling.bands * tiling.sequels
    stored = sum(tiling.stored_of(band) for band in range(tiling.bands)) * processor.rows
    stored *= tiling.task.stored_shape[2] * tiling.frames * tiling.out_groups * tiling.sequels
    return (pixels + added) * word + weights * beat, stored * word
