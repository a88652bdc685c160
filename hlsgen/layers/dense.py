"""A fully connected layer: the convolution of a vector by a 1 x 1 kernel."""

from __future__ import annotations

from dataclasses import dataclass

from hlsgen.errors import Problem
from hlsgen.layers.conv2d import Conv2d


@dataclass(frozen=True, kw_only=True, eq=False)
class Dense(Conv2d, kind="dense"):
    """in [F, 1, 1] -> out [M, 1, 1]: weights [M, F, 1, 1] times the vector, plus the bias [M].

    Arithmetic, types and limits are the convolution's.
    """

    kernel: tuple[int, int] = (1, 1)

    def check(self) -> list[Problem]:
        problems = super().check()
        if self.in_shape[1:] != (1, 1):
            shape = " x ".join(str(size) for size in self.in_shape)
            message = f"a dense layer reads a vector, but its source is an image of {shape}"
            problems.append(self.problem(message, "flatten the image first, or use a 1 x 1 convolution"))
        given = (self.kernel, self.stride, self.padding, self.dilation, self.groups)
        if given != ((1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 1):
            message = "a dense layer has no kernel, stride, padding, dilation or groups"
            problems.append(self.problem(message, "leave them out, or use a convolution"))
        return problems
