"""Tensors of PyTorch that hold no plain real numbers: sparse, quantised, without values, ..."""

from __future__ import annotations

from collections.abc import Iterable

from hlsgen.base.errors import Place, Problem
from hlsgen.designfile.validation import printable
from hlsgen.frontends.torch.package import torch

Fault = tuple[str, str]
"""What a tensor is instead, and the remedy."""


def _fault(tensor: torch.Tensor) -> Fault | None:
    if tensor.is_nested:
        return "a nested tensor", "one tensor of one shape"
    if tensor.is_meta:
        return "on the meta device, without values", "load the weights first"
    if tensor.is_quantized:
        return "quantised by PyTorch", "tensor.dequantize()"
    if tensor.layout != torch.strided:
        return "not dense", "tensor.to_dense()"
    return ("complex", "real numbers") if tensor.is_complex() else None


def tensor_problems(
    tensors: Iterable[tuple[str, torch.Tensor]], where: str, place: Place | None
) -> list[Problem]:
    """The problems of tensors that cannot be weights. `where`: what holds them."""
    problems = []
    for name, tensor in tensors:
        found = _fault(tensor)
        if found is not None:
            message = f"{where}: {printable(name)} is {found[0]} ({tensor.layout}, {tensor.dtype})"
            problems.append(Problem(message=message, fix=found[1], place=place))
    return problems
