"""SqueezeNet 1.1 for ImageNet frames of 3 x 224 x 224. Its weights are random.

Iandola, Han, Moskewicz, Ashraf, Dally and Keutzer, "SqueezeNet: AlexNet-level accuracy with 50x fewer
parameters and <0.5MB model size", 2016 (arXiv:1602.07360), in the authors' release 1.1: pools earlier, and a
first convolution 3 x 3.

1,235,496 parameters, as published; 349,151,936 multiply-accumulates a frame.
"""

from __future__ import annotations

import torch
from random_weights import settle
from torch import nn

CLASSES = 1000
SIZE = 224
CALIBRATION = 2
"""Frames; the network has no batch normalisations, so that they change nothing."""


class Fire(nn.Module):
    """A squeeze 1 x 1, then 1 x 1 and 3 x 3 beside each other: [N, C, H, W] -> [N, 2 * expand, H, W]."""

    def __init__(self, channels: int, squeeze: int, expand: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeeze, 1)
        self.relu = nn.ReLU()
        self.expand1 = nn.Conv2d(squeeze, expand, 1)
        self.relu1 = nn.ReLU()
        self.expand3 = nn.Conv2d(squeeze, expand, 3, padding=1)
        self.relu3 = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.squeeze(x))
        return torch.cat([self.relu1(self.expand1(x)), self.relu3(self.expand3(x))], dim=1)


class SqueezeNet(nn.Module):
    """[N, 3, 224, 224] -> scores [N, 1000]."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 3, stride=2),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, ceil_mode=True),
            Fire(64, 16, 64),
            Fire(128, 16, 64),
            nn.MaxPool2d(3, stride=2, ceil_mode=True),
            Fire(128, 32, 128),
            Fire(256, 32, 128),
            nn.MaxPool2d(3, stride=2, ceil_mode=True),
            Fire(256, 48, 192),
            Fire(384, 48, 192),
            Fire(384, 64, 256),
            Fire(512, 64, 256),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(0.5),
            nn.Conv2d(512, CLASSES, 1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x))


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle(SqueezeNet(), SIZE, CALIBRATION)
