"""A scale and a shift for each channel: batch normalisation that nothing takes in, constant factors."""

from __future__ import annotations

from dataclasses import dataclass

from hlsgen.base.errors import Problem
from hlsgen.layers.conv2d import Conv2d


@dataclass(frozen=True, kw_only=True, eq=False)
class Affine(Conv2d, kind="affine"):
    """in [C, H, W] -> out [C, H, W]: weights [C, 1, 1, 1] times the channel, plus the bias [C].

    A depthwise convolution by a 1 x 1 kernel (groups = out_channels = C), whose arithmetic it shares.
    """

    kernel: tuple[int, int] = (1, 1)

    def check(self) -> list[Problem]:
        problems = super().check()
        channels = self.in_shape[0]
        if (self.groups, self.out_channels) != (channels, channels):
            message = (
                f"an affine layer scales each of its {channels} channels, "
                f"not {self.out_channels} of them in {self.groups} groups"
            )
            problems.append(self.problem(message, f"groups and output channels of {channels}"))
        given = (self.kernel, self.stride, self.padding, self.dilation)
        if given != ((1, 1), (1, 1), (0, 0, 0, 0), (1, 1)):
            message = "an affine layer has no kernel, stride, padding or dilation"
            problems.append(self.problem(message, "leave them out, or use a depthwise convolution"))
        return problems
