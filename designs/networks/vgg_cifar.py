"""VGG-16 for CIFAR-10 frames of 3 x 32 x 32. Its weights are random: no trained ones are at hand.

Configuration D of Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image
Recognition", 2015 (arXiv:1409.1556), in the form that is common for CIFAR-10: 13 convolutions 3 x 3 with
bias, each with batch normalisation and ReLU; 5 max pools down to 512 x 1 x 1; and one Linear 512 -> 10 in
place of ImageNet's three.

14,728,266 parameters, the count published for this form (kuangliu/pytorch-cifar); 313,201,664
multiply-accumulates a frame.
"""

from __future__ import annotations

import torch
from random_weights import settle
from torch import nn

STAGES = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))
"""Channels of the convolutions; a max pool ends every stage."""
CLASSES = 10
SIZE = 32
CALIBRATION = 64
"""Frames for the batch normalisations; many, as the last stage has 2 x 2 pixels of each."""


class VggCifar(nn.Module):
    """[N, 3, 32, 32] -> scores [N, 10]."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = 3
        for stage in STAGES:
            for filters in stage:
                layers += [nn.Conv2d(channels, filters, 3, padding=1), nn.BatchNorm2d(filters), nn.ReLU()]
                channels = filters
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        self.flatten = nn.Flatten()
        self.classifier = nn.Linear(channels, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.features(x)
        return self.classifier(self.flatten(x))


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle(VggCifar(), SIZE, CALIBRATION)
