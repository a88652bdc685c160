"""U-Net for frames of 3 x 128 x 128, with a quarter of the published channels. Its weights are random.

Ronneberger, Fischer and Brox, "U-Net: Convolutional Networks for Biomedical Image Segmentation", 2015
(arXiv:1505.04597), with what is usual today: convolutions padded, so that the picture keeps its size, and batch
normalisation behind each; and with 16 channels at the top in place of 64.

1,942,594 parameters; 758,382,592 multiply-accumulates a frame.
"""

from __future__ import annotations

import torch
from random_weights import settle
from torch import nn

TOP = 16
"""Channels of the first level; each of the DEPTH levels below it has twice as many."""
DEPTH = 4
CLASSES = 2
SIZE = 128
CALIBRATION = 8
"""Frames for the batch normalisations."""


class Double(nn.Sequential):
    """Two convolutions 3 x 3: [N, C, H, W] -> [N, M, H, W]."""

    def __init__(self, channels: int, filters: int) -> None:
        super().__init__(
            nn.Conv2d(channels, filters, 3, padding=1, bias=False),
            nn.BatchNorm2d(filters),
            nn.ReLU(),
            nn.Conv2d(filters, filters, 3, padding=1, bias=False),
            nn.BatchNorm2d(filters),
            nn.ReLU(),
        )


class UNet(nn.Module):
    """[N, 3, 128, 128] -> scores of every pixel [N, 2, 128, 128]."""

    def __init__(self) -> None:
        super().__init__()
        levels = [TOP << level for level in range(DEPTH + 1)]
        pairs = list(zip(levels, levels[1:], strict=False))
        self.first = Double(3, TOP)
        self.pool = nn.MaxPool2d(2)
        self.down = nn.ModuleList(Double(above, below) for above, below in pairs)
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(below, above, 2, stride=2) for above, below in reversed(pairs)
        )
        self.joined = nn.ModuleList(Double(2 * above, above) for above, _ in reversed(pairs))
        self.last = nn.Conv2d(TOP, CLASSES, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        kept = []
        for down in self.down:
            kept.append(x)
            x = down(self.pool(x))
        for up, joined in zip(self.up, self.joined, strict=True):
            x = joined(torch.cat([kept.pop(), up(x)], dim=1))
        return self.last(x)


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle(UNet(), SIZE, CALIBRATION)
