"""ResNet-50 for ImageNet frames of 3 x 224 x 224. Its weights are random: no trained ones are at hand.

He, Zhang, Ren and Sun, "Deep Residual Learning for Image Recognition", 2016 (arXiv:1512.03385), table 1, 50
layers, with projection shortcuts where the shape changes (option B); a block's stride stands at its 3 x 3
convolution, as in the widely used variant v1.5.

25,557,032 parameters; 4,089,184,256 multiply-accumulates a frame.
"""

from __future__ import annotations

import torch
from random_weights import settle
from torch import nn

STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))
"""Channels inside a block and blocks of each stage; every stage but the first halves the picture."""
EXPANSION = 4
"""Channels that a block gives for each inside."""
STEM = 64
CLASSES = 1000
SIZE = 224
CALIBRATION = 2
"""Frames for the batch normalisations."""


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3, 1 x 1 beside a shortcut: [N, C, H, W] -> [N, 4 M, H / stride, W / stride]."""

    def __init__(self, channels: int, inside: int, stride: int) -> None:
        super().__init__()
        filters = EXPANSION * inside
        self.conv1 = nn.Conv2d(channels, inside, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(inside)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(inside, inside, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(inside)
        self.relu2 = nn.ReLU()
        self.conv3 = nn.Conv2d(inside, filters, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(filters)
        self.relu3 = nn.ReLU()
        self.downsample: nn.Module | None = None
        if stride != 1 or channels != filters:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels, filters, 1, stride=stride, bias=False), nn.BatchNorm2d(filters)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu1(self.bn1(self.conv1(x)))
        out = self.relu2(self.bn2(self.conv2(out)))
        return self.relu3(self.bn3(self.conv3(out)) + shortcut)


class ResNet50(nn.Module):
    """[N, 3, 224, 224] -> scores [N, 1000]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, STEM, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(STEM)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        channels = STEM
        for number, (inside, blocks) in enumerate(STAGES, start=1):
            stage = []
            for block in range(blocks):
                stride = 2 if block == 0 and number > 1 else 1
                stage.append(Bottleneck(channels, inside, stride))
                channels = EXPANSION * inside
            self.add_module(f"layer{number}", nn.Sequential(*stage))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(channels, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.flatten(self.avgpool(x)))


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle(ResNet50(), SIZE, CALIBRATION)
