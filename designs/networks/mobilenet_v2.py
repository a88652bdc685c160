"""MobileNetV2, width 1.0, for ImageNet frames of 3 x 224 x 224. Its weights are random.

No trained weights are at hand. Sandler, Howard, Zhu, Zhmoginov and Chen, "MobileNetV2: Inverted Residuals and
Linear Bottlenecks", 2018 (arXiv:1801.04381), table 2.

3,504,872 parameters, as published; 300,774,272 multiply-accumulates a frame.
"""

from __future__ import annotations

import torch
from random_weights import settle
from torch import nn

STEM = 32
BOTTLENECKS = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Rows of the paper's table: expansion, channels, repetitions, stride of the first."""
LAST = 1280
CLASSES = 1000
SIZE = 224
CALIBRATION = 4
"""Frames for the batch normalisations."""


class ConvBnRelu6(nn.Sequential):
    """[N, C, H, W] -> [N, M, H / stride, W / stride], each value from 0 to 6."""

    def __init__(self, channels: int, filters: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
        super().__init__(
            nn.Conv2d(
                channels, filters, kernel, stride=stride, padding=kernel // 2, groups=groups, bias=False
            ),
            nn.BatchNorm2d(filters),
            nn.ReLU6(),
        )


class InvertedResidual(nn.Module):
    """Expansion 1 x 1, depthwise 3 x 3, linear projection 1 x 1, and a shortcut where the shape stays.

    [N, C, H, W] -> [N, M, H / stride, W / stride].
    """

    def __init__(self, channels: int, filters: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = channels * expansion
        layers: list[nn.Module] = []
        if expansion != 1:
            layers.append(ConvBnRelu6(channels, hidden, 1))
        layers += [
            ConvBnRelu6(hidden, hidden, 3, stride=stride, groups=hidden),
            nn.Conv2d(hidden, filters, 1, bias=False),
            nn.BatchNorm2d(filters),
        ]
        self.conv = nn.Sequential(*layers)
        self.shortcut = stride == 1 and channels == filters

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.conv(x) if self.shortcut else self.conv(x)


class MobileNetV2(nn.Module):
    """[N, 3, 224, 224] -> scores [N, 1000]."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [ConvBnRelu6(3, STEM, 3, stride=2)]
        channels = STEM
        for expansion, filters, repetitions, stride in BOTTLENECKS:
            for repetition in range(repetitions):
                first = stride if repetition == 0 else 1
                layers.append(InvertedResidual(channels, filters, first, expansion))
                channels = filters
        layers.append(ConvBnRelu6(channels, LAST, 1))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(LAST, CLASSES))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.avgpool(self.features(x))
        return self.classifier(self.flatten(x))


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle(MobileNetV2(), SIZE, CALIBRATION)
