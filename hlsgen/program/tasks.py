"""A task: the work of a layer, and of those that are done with it before anything is written, for any
processor.

What it computes is a window that moves over a tensor: sums of products with weights, or the largest value;
then its stages (epilogue.py). Where its tensors lie and how it is cut into bands is decided for a processor
(tiling.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hlsgen.base.fixed import Codes, FixedType, NumberType
from hlsgen.base.short_repr import Brief
from hlsgen.layers.base import Shape
from hlsgen.program.epilogue import Stage


@dataclass(frozen=True, kw_only=True)
class Stored(Brief):
    """A tensor that lies in DDR: codes of `type`, [C, H, W].

    unfolded: of an input whose neighbouring columns the host has made channels: kernel columns, their
    dilation, the stride and the left padding; `shape` is what the array sees then.
    """

    name: str
    shape: Shape
    type: NumberType
    unfolded: tuple[int, int, int, int] | None = None
    of: str = ""
    """The graph's tensor that it holds."""

    @property
    def signed(self) -> bool:
        """Whether its codes have a sign."""
        return not isinstance(self.type, FixedType) or self.type.signed


@dataclass(frozen=True, kw_only=True)
class Window:
    """Kernel, stride and dilation, each (rows, columns); padding at the top and at the left, below 0 to cut
    off.

    repeat: how often each row and column of the source counts (nearest upsampling); zeros: it counts once,
    and zeros follow.
    """

    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    top: int = 0
    left: int = 0
    repeat: tuple[int, int] = (1, 1)
    zeros: bool = False

    @property
    def taps(self) -> int:
        return self.kernel[0] * self.kernel[1]

    @property
    def reach_rows(self) -> int:
        return (self.kernel[0] - 1) * self.dilation[0] + 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Behind(Brief):
    """A second window, which moves over a task's results on their way to DDR: a depthwise convolution, or
    largest values.

    type: of those results. shape: of what it makes of them. weights: [C, 1, KH, KW], None: largest values;
    bias: [C]; stage: what is done to their sums.
    """

    window: Window
    type: FixedType
    shape: Shape
    weights: Codes | None = None
    bias: Codes | None = None
    stage: Stage | None = None

    @property
    def stride(self) -> int:
        return self.window.stride[0]

    @property
    def first_row(self) -> int:
        """The row of results with which the first window ends."""
        return self.window.kernel[0] - 1 - self.window.top

    @property
    def first_column(self) -> int:
        """The column with which it ends."""
        return self.window.kernel[1] - 1 - self.window.left

    @property
    def goes_on(self) -> bool:
        """Whether every `stride` blocks of results make a whole block of its own, so that it may go on from
        band to band.
        """
        return self.first_row < self.stride

    def across(self, columns: int) -> int:
        """Columns that it passes: those of the results, and those that the last windows reach beyond."""
        return max(columns, self.first_column + (self.shape[2] - 1) * self.stride + 1)

    def down(self, rows: int) -> int:
        """Rows that it passes."""
        return max(rows, self.first_row + (self.shape[1] - 1) * self.stride + 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Task(Brief):
    """layers: those whose work it does; the last one's output it writes.

    weights: [M, C / groups, KH, KW]; None: the largest value of each window. bias: [M], in codes of the sums.
    added: the tensor that joins, None: none. offset: the channel of `output` at which its results begin.
    macs: multiply-accumulates of a frame, as layers count them. pooled: of two rows by two columns of the
    results the largest is stored; out_shape is the shape before that. table: [256] what each result becomes,
    by its lowest 8 bits, before it is pooled; None: it stays. behind: a second window over the results, which
    have out_shape.
    """

    name: str
    layers: tuple[str, ...]
    source: Stored
    output: Stored
    out_shape: Shape
    window: Window
    weights: Codes | None
    groups: int = 1
    bias: Codes | None = None
    stages: tuple[Stage, ...]
    added: Stored | None = None
    offset: int = 0
    macs: int = 0
    pooled: bool = False
    table: Codes | None = None
    behind: Behind | None = None

    @cached_property
    def in_shape(self) -> Shape:
        """The source's shape with its rows and columns repeated."""
        channels, rows, columns = self.source.shape
        return channels, rows * self.window.repeat[0], columns * self.window.repeat[1]

    @property
    def stored_shape(self) -> Shape:
        """What it writes of its output."""
        if self.behind is not None:
            return self.behind.shape
        channels, rows, columns = self.out_shape
        return (channels, rows // 2, columns // 2) if self.pooled else self.out_shape

    @property
    def adds_a_pixel(self) -> bool:
        """Whether the tensor that joins has one pixel for all of the results'."""
        return self.added is not None and self.added.shape[1:] == (1, 1) != self.out_shape[1:]

    @cached_property
    def depthwise(self) -> bool:
        """Whether each output channel reads the input channel of the same number alone."""
        return self.weights is None or (self.groups == self.in_shape[0] == self.out_shape[0])
