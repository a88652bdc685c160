"""Prints what the README says of each network, and the size of the values after each of its layers.

python designs/networks/describe.py [--layers] [NETWORK ...]
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import torch
from photograph import photograph
from torch import nn

NETWORKS = (
    "lenet",
    "resnet8",
    "autoencoder",
    "ds_cnn",
    "mobilenet_v1_vww",
    "unet",
    "vgg_cifar",
    "squeezenet",
    "resnet18",
    "resnet50",
    "vgg16",
    "mobilenet_v2",
    "yolov3_tiny",
)


@dataclass
class Report:
    """Of one pass: multiply-accumulates of one frame, and per layer (name, kind, standard deviation)."""

    macs: int = 0
    layers: list[tuple[str, str, float]] = field(default_factory=list)


def observe(net: nn.Module, x: torch.Tensor) -> Report:
    """Runs x, one frame, with a hook on every leaf. Only convolutions and Linear count as multiplying."""
    report = Report()

    def hook(name: str) -> Any:
        def after(module: nn.Module, inputs: Any, out: torch.Tensor) -> None:
            if isinstance(module, nn.Conv2d):
                taps = math.prod(module.kernel_size)
                report.macs += out.numel() * taps * (module.in_channels // module.groups)
            elif isinstance(module, nn.ConvTranspose2d):
                taps = math.prod(module.kernel_size)
                report.macs += inputs[0].numel() * taps * (module.out_channels // module.groups)
            elif isinstance(module, nn.Linear):
                report.macs += out.numel() * module.in_features
            report.layers.append((name, type(module).__name__, float(out.std())))

        return after

    hooks = [
        module.register_forward_hook(hook(name))
        for name, module in net.named_modules()
        if not any(module.children())
    ]
    with torch.inference_mode():
        net(x)
    for handle in hooks:
        handle.remove()
    return report


def _frame(module: Any) -> torch.Tensor:
    """A frame for the network of a module: its own, or a photograph."""
    if hasattr(module, "frames"):
        return torch.from_numpy(module.frames(1))
    return torch.from_numpy(photograph(module.SIZE, module.SIZE, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description="parameters, MACs and value sizes of the networks")
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(NETWORKS)}")
    parser.add_argument("--layers", action="store_true", help="print the standard deviation of every layer")
    arguments = parser.parse_args()
    for name in arguments.networks or NETWORKS:
        module = import_module(name)
        net = module.make_net()
        report = observe(net, _frame(module))
        parameters = sum(parameter.numel() for parameter in net.parameters())
        sys.stdout.write(f"{name}: {parameters:,} parameters, {report.macs:,} MACs a frame\n")
        if arguments.layers:
            for layer, kind, deviation in report.layers:
                sys.stdout.write(f"  {layer:32} {kind:18} {deviation:8.3f}\n")


if __name__ == "__main__":
    main()
