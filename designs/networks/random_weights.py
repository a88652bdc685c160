"""Random weights under which a network behaves as a trained one does: values of every layer stay near 1.

No trained weights are at hand. The hardware depends on them only by the range of the numbers between the
layers, and with it their types; that is why the batch normalisations are set by a pass over real frames.
"""

from __future__ import annotations

import torch
from photograph import photograph
from torch import nn

SEED = 2024
SCALES = (0.5, 1.5)
"""Of the batch normalisations; unequal over the channels, as training leaves them."""
OFFSETS = 0.25
"""Standard deviation of the batch normalisations' offsets."""
BIASES = 0.05
"""Standard deviation of the biases."""


def settle(net: nn.Module, size: int, frames: int) -> nn.Module:
    """`net` with random weights, ready for inference; the same on every call. Changes `net` in place.

    net: takes [frames, 3, size, size].
    frames: of the photograph.
    """
    return settle_on(net, torch.from_numpy(photograph(size, size, frames)))


def settle_on(net: nn.Module, x: torch.Tensor) -> nn.Module:
    """The same for frames of any kind: the mean and variance of x become those of the batch normalisations.

    net: takes x; every parameter belongs to a Conv2d, ConvTranspose2d, Linear or a batch normalisation.

    Everything is drawn and summed in float64 and rounded to float32 at the end: neither the number of threads
    nor the vector unit, which change the order of float sums, reaches the weights.
    """
    generator = torch.Generator().manual_seed(SEED)
    net.double()
    with torch.no_grad():
        for module in net.modules():
            _draw(module, generator)
        _normalise(net, x.double())
    return net.float().eval()


def _draw(module: nn.Module, generator: torch.Generator) -> None:
    """Sets what `module` itself holds: Kaiming normal weights, small biases, scales and offsets."""
    if isinstance(module, nn.Conv2d | nn.ConvTranspose2d | nn.Linear):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu", generator=generator)
        if module.bias is not None:
            nn.init.normal_(module.bias, 0.0, BIASES, generator=generator)
    elif isinstance(module, nn.BatchNorm2d | nn.BatchNorm1d):
        nn.init.uniform_(module.weight, *SCALES, generator=generator)
        nn.init.normal_(module.bias, 0.0, OFFSETS, generator=generator)


def _normalise(net: nn.Module, x: torch.Tensor) -> None:
    """Runs x once and takes its statistics over (momentum None: nothing else counts)."""
    norms = [module for module in net.modules() if isinstance(module, nn.BatchNorm2d | nn.BatchNorm1d)]
    momenta = [norm.momentum for norm in norms]
    net.eval()  # dropout stays off
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
        norm.train()
    net(x)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
