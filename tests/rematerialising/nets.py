"""Small networks of every sort that becomes a chain."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, channels: int, inplace: bool = False) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=inplace)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.drop = nn.Dropout2d(0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.drop(self.conv2(self.relu(self.bn1(self.conv1(x))))) + x)


class Residual(nn.Module):
    """Convolution, blocks, pooling, a view and a classifier."""

    def __init__(self, blocks: int = 3, inplace: bool = False) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.blocks = nn.Sequential(*(Block(8, inplace) for _ in range(blocks)))
        self.scale = nn.Parameter(torch.full((8, 1, 1), 1.5))
        self.fc = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.blocks(self.stem(x)) * self.scale
        x = F.max_pool2d(x, 2)
        x = F.adaptive_avg_pool2d(x, 1)
        return self.fc(torch.flatten(x, 1))


class Branching(nn.Module):
    """Its forward looks at values, so that no trace goes through it."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x) if float(x.detach().sum()) > 0 else 2 * self.conv(x)


class Counting(nn.Module):
    """Its first ten batches set the scale of those that follow, as a quantizer's do, in plain Python."""

    running: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0
        self.register_buffer("running", torch.ones(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            self.seen += 1
            self.running = 0.5 * self.running + x.detach().abs().mean() / self.seen
        return torch.tanh(x / self.running)


class Tied(nn.Module):
    """One layer at three depths."""

    def __init__(self) -> None:
        super().__init__()
        self.shared = nn.Linear(12, 12)
        self.other = nn.Linear(12, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.shared(x))
        x = torch.tanh(self.other(x))
        x = torch.tanh(self.shared(x))
        return torch.sigmoid(self.shared(x))


def plain() -> nn.Module:
    """Layers alone, some of them in place, with dropout."""
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.Dropout(0.4),
        nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 4, 3),
        nn.Hardtanh(inplace=True),
        nn.Flatten(),
        nn.Linear(4 * 4, 5),
        nn.LogSoftmax(1),
    )


def with_own_modules() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        Branching(),
        Counting(),
        nn.BatchNorm2d(8),
        Branching(),
        nn.ReLU(),
        Counting(),
    )


def frozen() -> nn.Module:
    """Its first layers are not trained."""
    net = plain()
    assert isinstance(net, nn.Sequential)
    for layer in net[:2]:
        layer.requires_grad_(False)
    return net


PICTURE = (6, 3, 8, 8)
NETS = {
    "layers": (plain, PICTURE),
    "residual": (Residual, PICTURE),
    "residual in place": (lambda: Residual(inplace=True), PICTURE),
    "own modules": (with_own_modules, PICTURE),
    "tied": (Tied, (64, 12)),
    "frozen": (frozen, PICTURE),
}
