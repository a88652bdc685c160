"""DS-CNN for keyword spotting, frames of 1 x 49 x 10. Its weights are random: trained ones are MLCommons' own.

The keyword spotting benchmark of MLPerf Tiny: Banbury et al., 2021 (arXiv:2106.07597), after Zhang, Suda, Lai and
Chandra, "Hello Edge", 2017 (arXiv:1711.07128): ten cepstral coefficients of 49 steps of a second of sound.

23,756 parameters; 24,908 with running means and variances, as Keras counts; 2,656,768 multiply-accumulates a frame.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from random_weights import settle_on
from sounds import cepstra
from torch import nn

CHANNELS = 64
BLOCKS = 4
CLASSES = 12
CALIBRATION = 32
"""Frames for the batch normalisations."""


class ConvBnRelu(nn.Sequential):
    """[N, C, H, W] -> [N, 64, H, W], with a bias before the batch normalisation as in the benchmark."""

    def __init__(self, kernel: int, groups: int = 1) -> None:
        super().__init__(
            nn.Conv2d(CHANNELS, CHANNELS, kernel, padding=kernel // 2, groups=groups),
            nn.BatchNorm2d(CHANNELS),
            nn.ReLU(),
        )


class DsCnn(nn.Module):
    """[N, 1, 49, 10] -> scores [N, 12]."""

    def __init__(self) -> None:
        super().__init__()
        # TensorFlow's "same" for a kernel of 10 x 4 with stride 2 pads one row more below
        self.pad = nn.ZeroPad2d((1, 1, 4, 5))
        self.conv1 = nn.Conv2d(1, CHANNELS, (10, 4), stride=2)
        self.bn1 = nn.BatchNorm2d(CHANNELS)
        self.relu = nn.ReLU()
        self.dropout1 = nn.Dropout(0.2)
        blocks: list[nn.Module] = []
        for _ in range(BLOCKS):
            blocks += [ConvBnRelu(3, CHANNELS), ConvBnRelu(1)]
        self.blocks = nn.Sequential(*blocks)
        self.dropout2 = nn.Dropout(0.4)
        self.avgpool = nn.AvgPool2d((25, 5))
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(CHANNELS, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.dropout1(self.relu(self.bn1(self.conv1(self.pad(x)))))
        return self.fc(self.flatten(self.avgpool(self.dropout2(self.blocks(x)))))


def frames(count: int) -> NDArray[np.float32]:
    """[count, 1, 49, 10]."""
    return cepstra(count)[:, None]


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle_on(DsCnn(), torch.from_numpy(frames(CALIBRATION)))
