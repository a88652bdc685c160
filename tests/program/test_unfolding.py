"""Columns of an input that the host makes channels: the same sums, and only where that saves cycles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType, Overflow
from hlsgen.program.lowering import lowered
from hlsgen.program.tasks import Stored, Task, Window
from hlsgen.program.unfolding import unfold, unfolded
from tests.support.kernels import conv
from tests.support.shared_processor import PACKED, chain

TYPE = FixedType(8, 8)


def task_of(
    channels: int, size: tuple[int, int], window: Window, *, groups: int = 1, outputs: int = 3, right: int = 0
) -> Task:
    """A convolution's; right: columns of padding there."""
    rows = (size[0] + window.top - window.reach_rows) // window.stride[0] + 1
    reach = (window.kernel[1] - 1) * window.dilation[1] + 1
    columns = (size[1] + window.left + right - reach) // window.stride[1] + 1
    rng = np.random.default_rng(channels)
    return Task(
        name="task",
        layers=("task",),
        source=Stored(name="in", shape=(channels, *size), type=TYPE, of="in"),
        output=Stored(name="task", shape=(outputs, rows, columns), type=TYPE, of="task"),
        out_shape=(outputs, rows, columns),
        window=window,
        weights=rng.integers(-128, 128, (outputs, channels // groups, *window.kernel)),
        groups=groups,
        stages=(),
    )


def sums(task: Task, codes: np.ndarray) -> np.ndarray:
    """[M, OH, OW], tap by tap; outside the source are zeros."""
    assert task.weights is not None
    found = np.zeros(task.out_shape, np.int64)
    window = task.window
    for m, y, x in np.ndindex(*task.out_shape):
        for i, j in np.ndindex(*window.kernel):
            row = y * window.stride[0] - window.top + i * window.dilation[0]
            column = x * window.stride[1] - window.left + j * window.dilation[1]
            if 0 <= row < codes.shape[1] and 0 <= column < codes.shape[2]:
                found[m, y, x] += task.weights[m, :, i, j] @ codes[:, row, column]
    return found


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_unfolded_columns_give_the_same_sums(data: st.DataObject) -> None:
    draw = data.draw
    window = Window(
        kernel=(draw(st.integers(1, 3)), draw(st.integers(2, 5))),
        stride=(draw(st.integers(1, 2)), draw(st.integers(1, 3))),
        dilation=(draw(st.integers(1, 2)), draw(st.integers(1, 2))),
        top=draw(st.integers(0, 2)),
        left=draw(st.integers(-1, 3)),
    )
    reach = (window.kernel[1] - 1) * window.dilation[1] + 1
    size = (window.reach_rows + draw(st.integers(0, 3)), reach + 1 + draw(st.integers(0, 4)))
    task = task_of(draw(st.integers(1, 3)), size, window, right=draw(st.integers(0, 3)))
    other = unfolded(task, 16)
    assert other is not task and other.source.unfolded is not None
    assert other.window.kernel[1] == other.window.stride[1] == 1 and other.window.left == 0
    codes = np.random.default_rng(draw(st.integers(0, 99))).integers(-128, 128, (2, *task.source.shape))
    stored = unfold(codes, other.source)
    assert stored.shape == (2, *other.source.shape)
    for frame in range(2):
        np.testing.assert_array_equal(sums(other, stored[frame]), sums(task, codes[frame]))


def test_an_element_of_an_unfolded_input_by_hand() -> None:
    """Channel 1 by a kernel of 3 columns, stride 2, padding 1: its channels 3, 4, 5 of column 1 are columns
    1, 2, 3 of the image.
    """
    task = task_of(2, (1, 7), Window(kernel=(1, 3), stride=(1, 2), left=1), right=1)
    other = unfolded(task, 8)
    image = np.arange(14).reshape(1, 2, 1, 7)
    stored = unfold(image, other.source)
    assert stored.shape == (1, 6, 1, 4)
    assert stored[0, :, 0, 1].tolist() == [1, 2, 3, 8, 9, 10]
    assert stored[0, :, 0, 0].tolist() == [0, 0, 1, 0, 7, 8]


@pytest.mark.parametrize(
    ("channels", "window", "groups"),
    [
        (8, Window(kernel=(3, 3)), 1),  # its lanes are full
        (3, Window(kernel=(3, 1)), 1),  # one column
        (3, Window(kernel=(3, 3)), 3),  # groups
        (3, Window(kernel=(3, 3), repeat=(2, 2)), 1),
    ],
)
def test_what_saves_nothing_stays(channels: int, window: Window, groups: int) -> None:
    task = task_of(channels, (6, 6), window, groups=groups)
    assert unfolded(task, 8) is task


def test_only_inputs_of_the_graph_are_unfolded() -> None:
    """The host packs those alone."""
    small = FixedType(4, 2)
    layers = [
        conv(
            (3, 9, 9), 3, padding=(1, 1, 1, 1), input_type="fixed<4,2>", weight_type="fixed<4,2>", bias=False
        )
        for _ in range(2)
    ]
    type_ = replace(small, overflow=Overflow.SAT)
    first, second = (replace(layer, input_type=type_, result_type=type_) for layer in layers)
    graph = chain(
        replace(first, name="first", inputs=("input",)), replace(second, name="second", inputs=("first",))
    )
    tasks = lowered(graph, PACKED).tasks
    assert [task.source.unfolded is not None for task in tasks] == [True, False]
