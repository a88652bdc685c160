"""VGG-16 for ImageNet frames of 3 x 224 x 224. Its weights are random: no trained ones are at hand.

Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition", 2015
(arXiv:1409.1556), table 1, configuration D, with batch normalisation after every convolution.

138,365,992 parameters; 15,470,264,320 multiply-accumulates a frame.
"""

from __future__ import annotations

import torch
from random_weights import settle
from torch import nn

STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
"""Channels and convolutions of each stage; a pool behind each halves the picture."""
HIDDEN = 4096
CLASSES = 1000
SIZE = 224
CALIBRATION = 1
"""Frames for the batch normalisations."""


class Vgg16(nn.Module):
    """[N, 3, 224, 224] -> scores [N, 1000]."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = 3
        for filters, count in STAGES:
            for _ in range(count):
                layers += [
                    nn.Conv2d(channels, filters, 3, padding=1),
                    nn.BatchNorm2d(filters),
                    nn.ReLU(),
                ]
                channels = filters
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        side = SIZE >> len(STAGES)
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels * side * side, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, CLASSES),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x))


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle(Vgg16(), SIZE, CALIBRATION)
