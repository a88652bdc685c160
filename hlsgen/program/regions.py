"""A pool whose windows are not alike, in rectangles of its output where they are.

Windows at the border of an image count fewer pixels (padding that is not counted, ceil mode), those of an
adaptive pool may differ anywhere. Each rectangle is a pool of its own; the pieces are put together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlsgen.layers.adaptive_pool import AdaptivePool
from hlsgen.layers.base import Shape
from hlsgen.layers.pool import Pool
from hlsgen.layers.pool2d import Pool2d
from hlsgen.program.tasks import Window

MOST_REGIONS = 64
"""Each is two tasks."""
Reading = tuple[int, int, int]
"""Of an output row or column: the first row of the source that it reads, taps, and those that count."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """`size` neighbouring output rows (or columns) from `first` on that read alike, `step` apart."""

    first: int
    size: int
    step: int
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class Region:
    """A rectangle of the output from (row, column) on; what it counts of each window."""

    row: int
    column: int
    shape: Shape
    window: Window
    count: int


def regions(pool: Pool) -> list[Region]:
    """The fewest rectangles of like windows."""
    rows, columns = (_runs(_readings(pool, axis)) for axis in (0, 1))
    dilation = pool.dilation if isinstance(pool, Pool2d) else (1, 1)
    return [
        Region(
            row=down.first,
            column=right.first,
            shape=(pool.source.shape[0], down.size, right.size),
            window=Window(
                kernel=(down.reading[1], right.reading[1]),
                stride=(down.step, right.step),
                dilation=dilation,
                top=-down.reading[0],
                left=-right.reading[0],
            ),
            count=down.reading[2] * right.reading[2],
        )
        for down in rows
        for right in columns
    ]


def _readings(pool: Pool, axis: int) -> list[Reading]:
    """What each output row (axis 0) or column (1) reads."""
    if isinstance(pool, AdaptivePool):
        return [(first, end - first, end - first) for first, end in pool.windows[axis]]
    assert isinstance(pool, Pool2d)
    counts, before = pool.window_counts[axis], pool.padding[axis]
    return [
        (number * pool.stride[axis] - before, pool.kernel[axis], count) for number, count in enumerate(counts)
    ]


def _runs(readings: Sequence[Reading]) -> list[Run]:
    """Neighbours that read and count as many, each as far behind the one before."""
    found: list[Run] = []
    for number, reading in enumerate(readings):
        if found and found[-1].reading[1:] == reading[1:]:
            last = found[-1]
            step = reading[0] - readings[number - 1][0]
            if last.size == 1 or step == last.step:
                found[-1] = Run(first=last.first, size=last.size + 1, step=step, reading=last.reading)
                continue
        found.append(Run(first=number, size=1, step=1, reading=reading))
    return found
