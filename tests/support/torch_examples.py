"""A call of each PyTorch module and operation that hlsgen reads, for tests/support/recorded_operations.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

Case = nn.Module | Callable[..., Any]
IMAGE, SIGNAL, VECTOR = (4, 6, 6), (4, 6), (4,)
aten = torch.ops.aten
NUMBERS = torch.arange(1.0, 37.0).reshape(6, 6) / 20
KERNEL = torch.arange(108.0).reshape(3, 4, 3, 3) / 100
TRANSPOSED = torch.arange(48.0).reshape(4, 3, 2, 2) / 50


class Calls(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


class Examples(nn.Module):
    """Cases of the same inputs together, since to export many takes hardly longer than to export one."""

    def __init__(self, cases: Sequence[Case]) -> None:
        super().__init__()
        self.cases = nn.ModuleList(case if isinstance(case, nn.Module) else Calls(case) for case in cases)

    def forward(self, x: torch.Tensor, y: torch.Tensor | None = None) -> dict[str, Any]:
        inputs = (x,) if y is None else (x, y)
        return {f"case{number}": case(*inputs) for number, case in enumerate(self.cases)}


IMAGES: list[Case] = [
    nn.Conv2d(4, 3, 3, padding=1),
    nn.ConvTranspose2d(4, 3, 2, 2),
    nn.BatchNorm2d(4),
    nn.MaxPool2d(2),
    nn.AvgPool2d(2),
    nn.AdaptiveAvgPool2d(1),
    nn.AdaptiveAvgPool2d(3),
    nn.AdaptiveMaxPool2d(1),
    nn.AdaptiveMaxPool2d(3),
    nn.AdaptiveAvgPool2d(4),
    nn.AdaptiveMaxPool2d(4),
    nn.Linear(6, 5),
    nn.Softmax2d(),
    nn.ReLU(),
    nn.ReLU6(),
    nn.Hardtanh(),
    nn.LeakyReLU(),
    nn.PReLU(4),
    nn.RReLU(),
    nn.Sigmoid(),
    nn.Tanh(),
    nn.SiLU(),
    nn.Mish(),
    nn.GELU(),
    nn.ELU(),
    nn.SELU(),
    nn.CELU(),
    nn.Softplus(),
    nn.Softsign(),
    nn.Hardswish(),
    nn.Hardsigmoid(),
    nn.LogSigmoid(),
    nn.Softshrink(),
    nn.Hardshrink(),
    nn.Tanhshrink(),
    nn.Threshold(0.3, -2.0),
    nn.GLU(1),
    nn.ZeroPad2d(1),
    nn.ConstantPad2d(1, 0.5),
    nn.ReflectionPad2d(1),
    nn.ReplicationPad2d(1),
    nn.CircularPad2d(1),
    nn.PixelShuffle(2),
    nn.PixelUnshuffle(3),
    nn.ChannelShuffle(2),
    nn.Upsample(scale_factor=2),
    nn.UpsamplingNearest2d(scale_factor=2),
    nn.Dropout(),
    nn.Dropout2d(),
    nn.AlphaDropout(),
    nn.FeatureAlphaDropout(),
    nn.Identity(),
    nn.Flatten(),
    nn.Unflatten(1, (2, 2)),
    # sums of products
    lambda x: torch.convolution(x, KERNEL, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    lambda x: torch.convolution(x, TRANSPOSED, None, [2, 2], [0, 0], [1, 1], True, [0, 0], 1),
    lambda x: torch._convolution(x, KERNEL, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, *[False] * 4),
    lambda x: x @ NUMBERS,
    # along axes
    lambda x: (x.mean((2, 3)), x.mean(2), x.sum((2, 3)), x.sum(-1), x.amax((2, 3)), x.amax(3)),
    lambda x: tuple(x.max(1)),
    lambda x: x.max(2)[0],
    lambda x: (x.argmax(1), x.argmin(1), x.amin((2, 3))),
    lambda x: tuple(x.min(1)),
    lambda x: (F.softmax(x, 1), F.log_softmax(x, 1)),
    lambda x: F.max_pool2d(x, 2, return_indices=True)[0],
    # limits and functions
    lambda x: torch.clip(torch.clamp_max(torch.clamp_min(torch.clamp(x, 0, 1), 0.1), 0.9), 0, 1),
    lambda x: torch.minimum(torch.maximum(x, torch.tensor(0.25)), torch.tensor(0.5)),
    lambda x: F.relu6(aten.relu6(x)),
    lambda x: (x.exp(), x.erf(), x.abs(), x.sign(), torch.sgn(x), torch.special.expit(x)),
    # comparisons and choices
    lambda x: (torch.where(x > 0, x, 0), torch.where(x >= 0, x, 0.5), torch.where(x < 0, 0.5, x)),
    lambda x: (torch.where(x <= 0.25, x, 0.25), torch.where(x.abs() <= 0.5, 1, x)),
    lambda x: (torch.where(x > 0, x, x / 2), torch.where(x >= 0.1, x * x, -1.0), torch.where(x < 0, 2, -3)),
    lambda x: torch.where(x.abs() > 0.5, x - x.sign() * 0.5, x * 0.5),
    lambda x: (torch.where(NUMBERS > 1, x, -x), torch.where(NUMBERS[:1] > 0.1, x, 0), (x > 0.3).float()),
    lambda x: torch.where(x[:, :1] > x[:, 1:2], x, NUMBERS),
    lambda x: (torch.where(x.relu() == 0, x, 1), torch.where(x.relu() != 0, x, NUMBERS), x * (x > NUMBERS)),
    lambda x: (x.masked_fill(x < 0, 7), x.masked_fill(NUMBERS > 1, 0), torch.where(~(x > 0), x, 3 * x)),
    lambda x: torch.where(torch.logical_or(x > 1, torch.logical_not(x > -1)), 2 * x, 1),
    lambda x: torch.where((x > -1) & (x <= 0.5) | (x == 0.75), 2 * x, 1),
    lambda x: torch.where(torch.logical_and(x > 0, NUMBERS > 1), 2 * x, 1),
    lambda x: torch.where(aten.bitwise_not(x.transpose(2, 3)[:, 1:3] >= 0), x[:, :2], 1),
    lambda x: torch.where(aten.bitwise_or(aten.bitwise_and(x > 0, x < 1), x > 2), x, 1),
    # arithmetic with constants
    lambda x: torch.rsub(torch.subtract(x.sub(1).add(3), 2), NUMBERS, alpha=2),
    lambda x: torch.multiply(x.mul(3), 2),
    lambda x: torch.true_divide(torch.divide(x.div(2), 3), 4),
    lambda x: torch.negative(x.neg()),
    lambda x: (x.square(), x**3),
    # views
    lambda x: aten._unsafe_view((2 * x).view(-1, 144), [-1, 36, 4]),
    lambda x: (2 * x).unsqueeze(1).squeeze(1),
    lambda x: (2 * x).permute(0, 2, 3, 1).reshape(x.shape[0], 144),
    lambda x: (2 * x).transpose(1, 2).reshape(x.shape[0], 4, 36),
    lambda x: F.relu(aten.alias(x.detach().clone()).type_as(x).double()),
    lambda x: x[:, :1].expand(-1, 4, -1, -1).reshape(x.shape[0], 144),
    lambda x: (2 * x).repeat(1, 2, 1, 3),
    lambda x: torch.tile(2 * x, (2, 1)),
    lambda x: (2 * x).repeat_interleave(3, 1),
    lambda x: (2 * x).flip(1, 3),
    lambda x: x.roll(2, 1),
    lambda x: (2 * x)[:, 1:, :, 1:-1],
    lambda x: (2 * x).select(1, 2),
    lambda x: (2 * x)[:, [1, 3]],
    lambda x: (2 * x)[:, [0, 1, 3]],
    lambda x: (2 * x).index_select(1, torch.tensor([0, 2])),
    lambda x: (torch.split(2 * x, 3, 1), torch.split(2 * x, [1, 3], 1)),
    lambda x: (torch.unsafe_split(2 * x, 3, 2), torch.unsafe_split_with_sizes(2 * x, [2, 2], 1)),
    lambda x: (2 * x).unbind(2),
    lambda x: torch.constant_pad_nd(x, [1, 0], 2.5),
    lambda x: F.interpolate(x, size=(2, 12), mode="nearest-exact"),
    nn.Upsample(scale_factor=2, mode="bilinear"),
    nn.Upsample(scale_factor=2, mode="bicubic"),
    lambda x: F.interpolate(x, size=(3, 3), mode="bilinear", antialias=True),
    lambda x: F.interpolate(x, size=(3, 3), mode="bicubic", antialias=True),
]
SIGNALS: list[Case] = [
    nn.Conv1d(4, 3, 3),
    nn.ConvTranspose1d(4, 3, 5, 3),
    nn.BatchNorm1d(4),
    nn.MaxPool1d(3, 2),
    nn.AvgPool1d(3, 2),
    nn.AdaptiveAvgPool1d(2),
    nn.AdaptiveMaxPool1d(3),
    nn.AdaptiveAvgPool1d(4),
    nn.AdaptiveMaxPool1d(4),
    nn.ZeroPad1d(1),
    nn.ConstantPad1d(1, 3.5),
    nn.ReflectionPad1d(1),
    nn.ReplicationPad1d(1),
    nn.CircularPad1d(1),
    nn.Upsample(scale_factor=3),
    nn.Upsample(scale_factor=2, mode="linear"),
    lambda x: F.max_pool1d(x, 2, return_indices=True)[0],
    lambda x: F.interpolate(x, size=18, mode="nearest-exact"),
    lambda x: torch.mv(x[:, 0], NUMBERS[0]),
]
VECTORS: list[Case] = [
    nn.Linear(4, 5),
    nn.Softmax(1),
    nn.Softmin(1),
    nn.LogSoftmax(1),
    lambda x: (aten._softmax(x, 1, False), aten._log_softmax(x, 1, False)),
    lambda x: torch.mm(x, NUMBERS[:4]),
    lambda x: torch.addmm(NUMBERS[0], x, NUMBERS[:4]),
]
PAIRS: list[Case] = [
    lambda x, y: (x + y, x - y, torch.rsub(x, y), x * y),
    lambda x, y: (torch.add(x, y, alpha=-1), torch.sub(x, y, alpha=3), torch.rsub(x, y, alpha=2)),
    lambda x, y: (torch.cat([x, y], 1), torch.concat([x, y], 2), torch.concatenate([x, y], 3)),
    lambda x, y: torch.hstack((x, y)),
    lambda x, y: torch.stack([x, y], 1),
    lambda x, y: (torch.maximum(x, y), torch.minimum(x, y), torch.max(x, y), torch.min(x, y)),
]
EXAMPLES: dict[tuple[tuple[int, ...], ...], list[Case]] = {
    (IMAGE,): IMAGES,
    (SIGNAL,): SIGNALS,
    (VECTOR,): VECTORS,
    (IMAGE, IMAGE): PAIRS,
}
"""By the shapes of the inputs, without the batch."""
