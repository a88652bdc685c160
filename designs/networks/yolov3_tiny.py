"""YOLOv3-tiny for COCO's 80 classes, frames of 3 x 416 x 416. Its weights are random.

No trained weights are at hand. Redmon and Farhadi, "YOLOv3: An Incremental Improvement", 2018
(arXiv:1804.02767); the layers are those of darknet's yolov3-tiny.cfg. The results are what its two [yolo]
layers take: boxes are not decoded.

The pool of size 2 and stride 1 keeps 13 x 13: a row below and a column on the right are added. They are zero,
as in the usual PyTorch forms of this network. darknet itself leaves what is outside the picture out (as if it
were minus infinity): the two differ only in the last row and column, where all that is left is negative.

8,852,366 parameters; with the running means and variances, which darknet keeps among its weights, 8,858,734
numbers, as many as yolov3-tiny.weights holds. 2,782,480,896 multiply-accumulates a frame.
"""

from __future__ import annotations

import torch
from random_weights import settle
from torch import nn

CLASSES = 80
ANCHORS = 3
"""Boxes that each head gives per cell."""
OUTPUTS = ANCHORS * (4 + 1 + CLASSES)
SLOPE = 0.1
"""Of the leaky ReLU."""
SIZE = 416
CALIBRATION = 2
"""Frames for the batch normalisations."""


class ConvBnLeaky(nn.Sequential):
    """[N, C, H, W] -> [N, M, H, W]: darknet's [convolutional] with batch_normalize=1, activation=leaky."""

    def __init__(self, channels: int, filters: int, kernel: int) -> None:
        super().__init__(
            nn.Conv2d(channels, filters, kernel, padding=kernel // 2, bias=False),
            nn.BatchNorm2d(filters),
            nn.LeakyReLU(SLOPE),
        )


class YoloV3Tiny(nn.Module):
    """[N, 3, 416, 416] -> ([N, 255, 13, 13], [N, 255, 26, 26]), the coarse head first.

    A head's channels: for each of 3 anchors x, y, w, h, objectness and 80 classes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shallow = nn.Sequential(
            ConvBnLeaky(3, 16, 3),
            nn.MaxPool2d(2),
            ConvBnLeaky(16, 32, 3),
            nn.MaxPool2d(2),
            ConvBnLeaky(32, 64, 3),
            nn.MaxPool2d(2),
            ConvBnLeaky(64, 128, 3),
            nn.MaxPool2d(2),
            ConvBnLeaky(128, 256, 3),
        )
        self.deep = nn.Sequential(
            nn.MaxPool2d(2),
            ConvBnLeaky(256, 512, 3),
            nn.ZeroPad2d((0, 1, 0, 1)),
            nn.MaxPool2d(2, stride=1),
            ConvBnLeaky(512, 1024, 3),
            ConvBnLeaky(1024, 256, 1),
        )
        self.head_coarse = nn.Sequential(ConvBnLeaky(256, 512, 3), nn.Conv2d(512, OUTPUTS, 1))
        self.lateral = nn.Sequential(ConvBnLeaky(256, 128, 1), nn.Upsample(scale_factor=2, mode="nearest"))
        self.head_fine = nn.Sequential(ConvBnLeaky(128 + 256, 256, 3), nn.Conv2d(256, OUTPUTS, 1))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        shallow = self.shallow(x)
        deep = self.deep(shallow)
        fine = torch.cat([self.lateral(deep), shallow], dim=1)
        return self.head_coarse(deep), self.head_fine(fine)


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle(YoloV3Tiny(), SIZE, CALIBRATION)
