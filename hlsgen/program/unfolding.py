"""Few input channels leave most of the array's lanes empty: a network's first layer, whose columns become
channels.

A kernel of KW columns over C channels is one of a single column over C * KW channels, channel c * KW + k
being the input moved by k columns. The host packs the input so; padding becomes zeros, and the column stride
is gone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.program.tasks import Stored, Task, Window


def unfolded(task: Task, lanes: int) -> Task:
    """The same task reading unfolded columns, if it takes fewer cycles so; else the task itself."""
    channels, rows, columns = task.source.shape[0], task.source.shape[1], task.window.kernel[1]
    words = -(-channels // lanes) * columns
    if task.weights is None or task.groups > 1 or columns == 1 or -(-channels * columns // lanes) >= words:
        return task
    if task.window.repeat != (1, 1) or task.added is not None:
        return task
    window = task.window
    how = (columns, window.dilation[1], window.stride[1], window.left)
    name = f"{task.source.name}_by_{columns}_{window.dilation[1]}_{window.stride[1]}_{window.left}"
    source = Stored(
        name=name,
        shape=(channels * columns, rows, task.out_shape[2]),
        type=task.source.type,
        unfolded=how,
        of=task.source.of,
    )
    weights = task.weights.transpose(0, 1, 3, 2).reshape(len(task.weights), channels * columns, -1, 1)
    column_free = Window(
        kernel=(window.kernel[0], 1),
        stride=(window.stride[0], 1),
        dilation=(window.dilation[0], 1),
        top=window.top,
    )
    return replace(task, source=source, weights=weights, window=column_free)


def unfold(codes: Codes, stored: Stored) -> Codes:
    """Codes [frames, C, H, W] of the graph's input as the stored tensor has them."""
    return unfolded_columns(codes, stored.unfolded, stored.shape[2])


def unfolded_columns(codes: Codes, how: tuple[int, int, int, int] | None, found_width: int) -> Codes:
    """The same by kernel columns, dilation, stride and left padding; None: as they are. found_width: of
    the result.
    """
    if how is None:
        return codes
    columns, dilation, stride, left = how
    frames, channels, rows, width = codes.shape
    found = np.zeros((frames, channels, columns, rows, found_width), codes.dtype)
    for k in range(columns):
        at = np.arange(found_width) * stride + k * dilation - left
        inside = (at >= 0) & (at < width)
        found[:, :, k, :, inside] = codes[..., at[inside]].transpose(3, 0, 1, 2)
    return found.reshape(frames, channels * columns, rows, found_width)
