"""Tensors that several tasks write, each a part: channels, rows, columns or a rectangle of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hlsgen.hardware.processor import Processor
from hlsgen.program.tasks import Stored, Task, Window
from hlsgen.program.windows import identity, one_of


def beside(
    processor: Processor, name: str, source: Stored, output: Stored, at: tuple[int, int], *, first: bool
) -> Task:
    """The task that writes a part from a row and a column on: the whole output, with zeros around the
    part, to which what the parts before have left there is added.
    """
    window = Window(top=at[0], left=at[1])
    found = identity(source.shape, source.type, processor, window)
    cast = found.epilogue.cast(output.type)
    if not first:
        cast = cast.rounded(output.type).joined(output.type).cast(output.type)
    return Task(
        name=name,
        layers=(),
        source=source,
        output=output,
        out_shape=output.shape,
        window=found.window,
        weights=found.weights,
        groups=found.groups,
        stages=cast.finished(output.type),
        added=None if first else output,
    )


def from_channel(processor: Processor, name: str, source: Stored, output: Stored, offset: int) -> list[Task]:
    """The tasks that write a part from channel `offset` on.

    Where that is within a word, its first channels are added to the word that holds those of the part
    before, and zeros behind them; what follows begins a word.
    """
    found = identity(source.shape, source.type, processor)
    channels, rows, columns = source.shape
    cast = found.epilogue.cast(output.type)
    plain = Task(
        name=name,
        layers=(),
        source=source,
        output=output,
        out_shape=source.shape,
        window=found.window,
        weights=found.weights,
        groups=found.groups,
        stages=cast.finished(output.type),
        offset=offset,
    )
    before = offset % processor.lanes
    if not before:
        return [plain]
    first = min(processor.lanes - before, channels)
    choice = one_of(output.type) * np.eye(channels, dtype=np.int64)[:, :, None, None]
    shared = replace(
        plain,
        name=f"{name}_first",
        weights=np.concatenate([np.zeros((before, channels, 1, 1), choice.dtype), choice[:first]]),
        groups=1,
        out_shape=(before + first, rows, columns),
        offset=offset - before,
        stages=cast.rounded(output.type).joined(output.type).cast(output.type).finished(output.type),
        added=output,
    )
    if first == channels:
        return [shared]
    rest = (channels - first, rows, columns)
    return [
        shared,
        replace(plain, weights=choice[first:], groups=1, out_shape=rest, offset=offset + first),
    ]
