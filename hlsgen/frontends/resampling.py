"""The graph builder's images between pixels: linear and bilinear upsampling by whole factors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hlsgen.frontends.convolutions import Convolutions
from hlsgen.frontends.joining import Joining
from hlsgen.frontends.sums import Array
from hlsgen.frontends.views import Value


class Resampling(Convolutions, Joining):
    """Operations whose result lies between the elements that there are."""

    def interpolated(self, x: Value, factors: Sequence[int]) -> Value:
        """A signal with factors[0] times as many columns, an image with as many times the rows and columns.

        Linear between the centres of pixels, the border's pixels repeated beyond them: PyTorch's
        align_corners=False, ONNX's half_pixel, Keras' bilinear. A depthwise convolution gives the pixels of
        each phase as channels.
        """
        if x.rank == 2:
            image = self.unsqueeze(x, 0 if self.channels_last else 1)
            return self.squeeze(self.interpolated(image, (1, *factors)), (0 if self.channels_last else 1,))
        between = []
        first = 0 if self.channels_last else 1
        for axis, factor in enumerate(factors, start=first):
            alone = x.shape[axis] == 1  # there is nothing between: each pixel is it
            x = self.repeat(x, axis, factor) if alone else x
            between.append(1 if alone else factor)
        if between == [1, 1]:
            return x
        border = [(1, 1) if factor > 1 else (0, 0) for factor in between]
        amounts = [*border, (0, 0)] if self.channels_last else [(0, 0), *border]
        padded = self.pad(x, amounts, mode="edge")
        rows, columns = (phase_weights(factor) for factor in between)
        kernel = rows[:, None, :, None] * columns[None, :, None, :]
        channels = self.channels_first(x).shape[0]
        weights = np.tile(kernel.reshape(-1, 1, *kernel.shape[2:]), (channels, 1, 1, 1))
        y = self.conv2d(padded, weights, groups=channels)
        return self.depth_to_space(y, (between[0], between[1]))


def phase_weights(factor: int) -> Array:
    """[phase, tap]: how much of the pixel before, the pixel and the one behind the phase's pixel is.

    The centre of pixel `phase` of `factor` lies (phase + 1/2) / factor - 1/2 pixels behind the centre.
    """
    if factor == 1:
        return np.ones((1, 1))
    behind = (np.arange(factor) + 0.5) / factor - 0.5
    return np.stack([np.maximum(-behind, 0), 1 - np.abs(behind), np.maximum(behind, 0)], axis=1)
