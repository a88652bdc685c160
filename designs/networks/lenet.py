"""LeNet-5 for grey frames of 1 x 32 x 32, as it is written today. Its weights are random.

LeCun, Bottou, Bengio and Haffner, "Gradient-Based Learning Applied to Document Recognition", 1998: two
convolutions 5 x 5 without padding, each with a pool, then three dense layers. As in most forms of today the
second convolution sees all channels, pools take maxima, and ReLU stands for tanh.

61,706 parameters, the count known for this form; 416,520 multiply-accumulates a frame.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from photograph import photograph
from random_weights import settle_on
from torch import nn

CLASSES = 10
SIZE = 32


class LeNet(nn.Module):
    """[N, 1, 32, 32] -> scores [N, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.relu1 = nn.ReLU()
        self.pool1 = nn.MaxPool2d(2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.relu2 = nn.ReLU()
        self.pool2 = nn.MaxPool2d(2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.relu3 = nn.ReLU()
        self.fc2 = nn.Linear(120, 84)
        self.relu4 = nn.ReLU()
        self.fc3 = nn.Linear(84, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool1(self.relu1(self.conv1(x)))
        x = self.pool2(self.relu2(self.conv2(x)))
        return self.fc3(self.relu4(self.fc2(self.relu3(self.fc1(self.flatten(x))))))


def frames(count: int) -> NDArray[np.float32]:
    """[count, 1, 32, 32]: the green of a photograph."""
    return photograph(SIZE, SIZE, count)[:, 1:2]


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle_on(LeNet(), torch.from_numpy(frames(1)))
