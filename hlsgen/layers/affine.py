"""A scale and a shift for each channel: batch normalisation that nothing takes in, constant factors."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.layers.conv2d import Conv2d

if TYPE_CHECKING:
    from hlsgen.layers.stage import Fold, Stage
    from hlsgen.layers.thresholds import Thresholds


@dataclass(frozen=True, kw_only=True, eq=False)
class Affine(Conv2d, kind="affine"):
    """in [C, H, W] -> out [C, H, W]: weights [C, 1, 1, 1] times the channel, plus the bias [C].

    A depthwise convolution by a 1 x 1 kernel (groups = out_channels = C), whose arithmetic it shares.
    """

    kernel: tuple[int, int] = (1, 1)

    @cached_property
    def thresholds(self) -> Thresholds | None:
        """The same as comparisons, where it has few results that rise with its input; None: it has not."""
        from hlsgen.layers.affine_thresholds import thresholds_of

        return thresholds_of(self)

    @property
    def _of_just_these(self) -> Hashable:
        if self.thresholds is None:
            return super()._of_just_these
        return hash((np.asarray(self.weights).tobytes(), np.asarray(self.bias).tobytes()))

    def folds(self) -> Iterator[Fold]:
        """The convolution's, and each with comparisons in place of products, sums and rounding."""
        for fold in super().folds():
            yield fold
            if fold.multipliers == "dsp" and self.thresholds is not None:
                yield replace(fold, multipliers="thresholds")

    def stage(self, fold: Fold) -> Stage:
        if fold.multipliers != "thresholds":
            return super().stage(fold)
        from hlsgen.layers.affine_thresholds import AffineThresholds

        if self.thresholds is None:
            message = "its results do not rise with its inputs in every channel, so that it is no comparisons"
            raise DesignError(self.problem(message, "multipliers: dsp for this layer, and build again"))
        return AffineThresholds(layer=self.thresholds, fold=fold)

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
