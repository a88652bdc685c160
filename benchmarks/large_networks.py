"""Large networks for ImageNet frames, with random weights: how long hlsgen takes depends on their shapes.

Residual networks of three convolutions a block: He, Zhang, Ren and Sun, 2016 (arXiv:1512.03385), table 1, 50
layers with the stride in the 3 x 3 convolution; and the same with four blocks less, 38 layers. VGG-16:
Simonyan and Zisserman, 2015 (arXiv:1409.1556), configuration D.
"""

from __future__ import annotations

import torch
from torch import nn

SEED = 2024
CLASSES = 1000
WIDTHS = (64, 128, 256, 512)
"""Channels inside the blocks of a stage; it gives four times as many."""
BLOCKS = {"resnet50": (3, 4, 6, 3), "resnet38": (3, 4, 2, 3)}
VGG = ((64, 64), (128, 128), (256,) * 3, (512,) * 3, (512,) * 3)


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3 and 1 x 1 beside a shortcut: [N, C, H, W] -> [N, 4 * width, H / stride, W / stride]."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            *(nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
            *(nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
            *(nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels != 4 * width:
            projection = nn.Conv2d(channels, 4 * width, 1, stride, bias=False)
            self.shortcut = nn.Sequential(projection, nn.BatchNorm2d(4 * width))
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.relu(self.inner(x) + self.shortcut(x))


def residual(blocks: tuple[int, ...]) -> nn.Module:
    """[N, 3, H, W] -> scores [N, 1000]; blocks: of each stage."""
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    layers.append(nn.MaxPool2d(3, 2, 1))
    channels = 64
    for stage, (width, count) in enumerate(zip(WIDTHS, blocks, strict=True)):
        for number in range(count):
            layers.append(Bottleneck(channels, width, 2 if stage and not number else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES))


def vgg16(size: int) -> nn.Module:
    """[N, 3, size, size] -> scores [N, 1000]."""
    layers: list[nn.Module] = []
    channels = 3
    for stage in VGG:
        for filters in stage:
            layers += [nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU()]
            channels = filters
        layers.append(nn.MaxPool2d(2))
    side = size >> len(VGG)
    dense = [nn.Linear(channels * side * side, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten(), *dense, nn.Linear(4096, CLASSES))


def network(name: str, size: int) -> nn.Module:
    """resnet50, resnet38 or vgg16 for frames of 3 x size x size, ready for inference."""
    torch.manual_seed(SEED)
    net = vgg16(size) if name == "vgg16" else residual(BLOCKS[name])
    with torch.no_grad():
        for module in net.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
            elif isinstance(module, Bottleneck):
                # the sums of shortcuts stay in range without statistics of real frames
                nn.init.constant_(module.inner[-1].weight, 0.3)
    return net.eval()
