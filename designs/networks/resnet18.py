"""ResNet-18 for ImageNet frames of 3 x 224 x 224. Its weights are random: no trained ones are at hand.

He, Zhang, Ren and Sun, "Deep Residual Learning for Image Recognition", 2016 (arXiv:1512.03385), table 1, 18
layers, with projection shortcuts where the shape changes (option B).

11,689,512 parameters, as published; 1,814,073,344 multiply-accumulates a frame.
"""

from __future__ import annotations

import torch
from random_weights import settle
from torch import nn

STAGES = (64, 128, 256, 512)
"""Channels of the stages, two blocks each; every stage but the first halves the picture."""
CLASSES = 1000
SIZE = 224
CALIBRATION = 4
"""Frames for the batch normalisations."""


class BasicBlock(nn.Module):
    """Two convolutions 3 x 3 beside a shortcut: [N, C, H, W] -> [N, M, H / stride, W / stride]."""

    def __init__(self, channels: int, filters: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, filters, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(filters)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(filters, filters, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(filters)
        self.relu2 = nn.ReLU()
        self.downsample: nn.Module | None = None
        if stride != 1 or channels != filters:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels, filters, 1, stride=stride, bias=False),
                nn.BatchNorm2d(filters),
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu1(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu2(out + shortcut)


class ResNet18(nn.Module):
    """[N, 3, 224, 224] -> scores [N, 1000]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, STAGES[0], 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(STAGES[0])
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = _stage(STAGES[0], STAGES[0], stride=1)
        self.layer2 = _stage(STAGES[0], STAGES[1], stride=2)
        self.layer3 = _stage(STAGES[1], STAGES[2], stride=2)
        self.layer4 = _stage(STAGES[2], STAGES[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(STAGES[3], CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.flatten(self.avgpool(x)))


def _stage(channels: int, filters: int, stride: int) -> nn.Sequential:
    return nn.Sequential(BasicBlock(channels, filters, stride), BasicBlock(filters, filters, 1))


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle(ResNet18(), SIZE, CALIBRATION)
