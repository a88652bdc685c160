"""ResNet-8 for CIFAR-10 frames of 3 x 32 x 32. Its weights are random: trained ones are MLCommons' own.

The image classification benchmark of MLPerf Tiny: Banbury et al., 2021 (arXiv:2106.07597): convolutions and
three residual blocks, with a 1 x 1 shortcut where the shape changes.

12,501,632 multiply-accumulates a frame.
"""

from __future__ import annotations

import torch
from random_weights import settle
from torch import nn

STAGES = (16, 32, 64)
"""Channels of the blocks; every one but the first halves the picture."""
CLASSES = 10
SIZE = 32
CALIBRATION = 16
"""Frames for the batch normalisations."""


class Block(nn.Module):
    """Two convolutions 3 x 3 beside a shortcut: [N, C, H, W] -> [N, M, H / stride, W / stride]."""

    def __init__(self, channels: int, filters: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, filters, 3, stride=stride, padding=1)
        self.bn1 = nn.BatchNorm2d(filters)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(filters, filters, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(filters)
        self.relu2 = nn.ReLU()
        self.shortcut: nn.Module | None = None
        if stride != 1:
            self.shortcut = nn.Conv2d(channels, filters, 1, stride=stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        beside = x if self.shortcut is None else self.shortcut(x)
        out = self.relu1(self.bn1(self.conv1(x)))
        return self.relu2(self.bn2(self.conv2(out)) + beside)


class ResNet8(nn.Module):
    """[N, 3, 32, 32] -> scores [N, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, STAGES[0], 3, padding=1)
        self.bn1 = nn.BatchNorm2d(STAGES[0])
        self.relu = nn.ReLU()
        channels = STAGES[0]
        blocks = []
        for number, filters in enumerate(STAGES):
            blocks.append(Block(channels, filters, 1 if number == 0 else 2))
            channels = filters
        self.blocks = nn.Sequential(*blocks)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(channels, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.flatten(self.avgpool(self.blocks(self.relu(self.bn1(self.conv1(x)))))))


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle(ResNet8(), SIZE, CALIBRATION)
