"""Networks of four families whose numbers are hard to choose types for; small, with random weights.

As published but for width and depth: MobileNetV3-small (hard swish, excitation, depthwise), ResNeXt (groups),
DenseNet (concatenation, batch norm before convolution) and RegNetY (groups, excitation).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

CLASSES = 100


def normalised(
    channels: int, filters: int, kernel: int, stride: int = 1, groups: int = 1, act: nn.Module | None = None
) -> nn.Sequential:
    """Convolution, batch norm, activation."""
    convolution = nn.Conv2d(channels, filters, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(filters), act or nn.Identity())


class Excitation(nn.Module):
    """Channels scaled by what a small network says of their means."""

    def __init__(self, channels: int, squeezed: int, gate: nn.Module) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeezed, 1)
        self.excite = nn.Conv2d(squeezed, channels, 1)
        self.gate = gate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        means = x.mean((2, 3), keepdim=True)
        return x * self.gate(self.excite(torch.relu(self.squeeze(means))))


class Block(nn.Module):
    """`body` with a shortcut: the source itself, or `shortcut` of it; without either alone."""

    def __init__(self, body: nn.Module, shortcut: nn.Module | None, act: nn.Module | None = None) -> None:
        super().__init__()
        self.body, self.shortcut, self.act = body, shortcut, act

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.body(x) if self.shortcut is None else self.body(x) + self.shortcut(x)
        return y if self.act is None else self.act(y)


V3_SMALL = (
    (3, 16, 16, True, False, 2),
    (3, 72, 24, False, False, 2),
    (3, 88, 24, False, False, 1),
    (5, 96, 40, True, True, 2),
    (5, 240, 40, True, True, 1),
    (5, 120, 48, True, True, 1),
    (5, 144, 48, True, True, 1),
    (5, 288, 96, True, True, 2),
    (5, 576, 96, True, True, 1),
)
"""Kernel, expanded and given channels, excitation, hard swish, stride: Howard and others, 2019, table 2."""


def mobilenet_v3() -> nn.Module:
    """MobileNetV3-small, 3 x 64 x 64, in full width."""
    layers: list[nn.Module] = [normalised(3, 16, 3, 2, act=nn.Hardswish())]
    channels = 16
    for kernel, wide, filters, excited, swish, stride in V3_SMALL:
        act = nn.Hardswish() if swish else nn.ReLU()
        body = [normalised(channels, wide, 1, act=act)] if wide != channels else []
        body.append(normalised(wide, wide, kernel, stride, wide, act))
        if excited:
            body.append(Excitation(wide, max(8, wide // 32 * 8), nn.Hardsigmoid()))
        body.append(normalised(wide, filters, 1))
        same = stride == 1 and channels == filters
        layers.append(Block(nn.Sequential(*body), nn.Identity() if same else None))
        channels = filters
    layers += [normalised(channels, 576, 1, act=nn.Hardswish()), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    head = [nn.Linear(576, 256), nn.Hardswish(), nn.Linear(256, CLASSES)]
    return nn.Sequential(*layers, *head)


def _stages(
    bottleneck: Callable[[int, int, int], nn.Module], widths: tuple[int, ...], deep: int
) -> nn.Module:
    """A stem, stages that halve the frame, each of `deep` bottlenecks with shortcuts, and scores."""
    layers: list[nn.Module] = [normalised(3, widths[0], 3, 2, act=nn.ReLU())]
    channels = widths[0]
    for filters in widths:
        for number in range(deep):
            stride = 2 if number == 0 else 1
            same = stride == 1 and channels == filters
            shortcut = nn.Identity() if same else normalised(channels, filters, 1, stride)
            layers.append(Block(bottleneck(channels, filters, stride), shortcut, nn.ReLU()))
            channels = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES))


def resnext() -> nn.Module:
    """Bottlenecks of 8 groups, 3 x 64 x 64: Xie and others, 2017."""

    def bottleneck(channels: int, filters: int, stride: int) -> nn.Module:
        inner = filters // 2
        return nn.Sequential(
            normalised(channels, inner, 1, act=nn.ReLU()),
            normalised(inner, inner, 3, stride, 8, nn.ReLU()),
            normalised(inner, filters, 1),
        )

    return _stages(bottleneck, (32, 64, 128, 256), 2)


def regnet() -> nn.Module:
    """RegNetY: groups of 8 channels and excitation, 3 x 64 x 64: Radosavovic and others, 2020."""

    def bottleneck(channels: int, filters: int, stride: int) -> nn.Module:
        return nn.Sequential(
            normalised(channels, filters, 1, act=nn.ReLU()),
            normalised(filters, filters, 3, stride, filters // 8, nn.ReLU()),
            Excitation(filters, max(8, channels // 4), nn.Sigmoid()),
            normalised(filters, filters, 1),
        )

    return _stages(bottleneck, (24, 56, 152), 3)


class Dense(nn.Module):
    """Each layer reads all channels before it and adds `growth`: Huang and others, 2017."""

    def __init__(self, channels: int, layers: int, growth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm2d(channels + number * growth),
                nn.ReLU(),
                nn.Conv2d(channels + number * growth, 2 * growth, 1, bias=False),
                nn.BatchNorm2d(2 * growth),
                nn.ReLU(),
                nn.Conv2d(2 * growth, growth, 3, padding=1, bias=False),
            )
            for number in range(layers)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.cat([x, layer(x)], 1)
        return x


def densenet() -> nn.Module:
    """Three dense blocks of four layers, 3 x 64 x 64."""
    layers: list[nn.Module] = [nn.Conv2d(3, 32, 3, 2, 1, bias=False)]
    channels = 32
    for _ in range(3):
        layers.append(Dense(channels, 4, 16))
        channels += 64
        layers += [nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, channels // 2, 1, bias=False)]
        layers.append(nn.AvgPool2d(2))
        channels //= 2
    head = [nn.BatchNorm2d(channels), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, *head, nn.Linear(channels, CLASSES))


NETWORKS = {"mobilenet_v3": mobilenet_v3, "resnext": resnext, "densenet": densenet, "regnet": regnet}
