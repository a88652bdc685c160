"""MobileNet v1 of a quarter width for visual wake words, frames of 3 x 96 x 96. Its weights are random: trained
ones are MLCommons' own.

The visual wake words benchmark of MLPerf Tiny: Banbury et al., 2021 (arXiv:2106.07597), after Howard et al., 2017
(arXiv:1704.04861). Where a stride is 2, TensorFlow's "same" pads below and on the right alone.

213,586 parameters; 7,489,664 multiply-accumulates a frame.
"""

from __future__ import annotations

import torch
from random_weights import settle
from torch import nn

STEM = 8
BLOCKS = (
    (16, 1),
    (32, 2),
    (32, 1),
    (64, 2),
    (64, 1),
    (128, 2),
    (128, 1),
    (128, 1),
    (128, 1),
    (128, 1),
    (128, 1),
    (256, 2),
    (256, 1),
)
"""Channels and stride of the separable convolutions."""
CLASSES = 2
SIZE = 96
CALIBRATION = 32
"""Frames for the batch normalisations."""


class ConvBnRelu(nn.Sequential):
    """[N, C, H, W] -> [N, M, H / stride, W / stride]."""

    def __init__(self, channels: int, filters: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
        around = kernel - stride if kernel > 1 else 0
        before = around // 2
        super().__init__(
            nn.ZeroPad2d((before, around - before, before, around - before)),
            nn.Conv2d(channels, filters, kernel, stride=stride, groups=groups, bias=False),
            nn.BatchNorm2d(filters),
            nn.ReLU(),
        )


class MobileNetV1(nn.Module):
    """[N, 3, 96, 96] -> scores [N, 2]."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [ConvBnRelu(3, STEM, 3, stride=2)]
        channels = STEM
        for filters, stride in BLOCKS:
            layers += [ConvBnRelu(channels, channels, 3, stride, channels), ConvBnRelu(channels, filters, 1)]
            channels = filters
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(channels, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.flatten(self.avgpool(self.features(x))))


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle(MobileNetV1(), SIZE, CALIBRATION)
