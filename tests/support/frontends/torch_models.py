"""Models for the tests of the PyTorch frontend, and the comparison of a model with its graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch import nn

from hlsgen.frontends.torch.to_graph import graph_of_module
from hlsgen.model.ir import Graph
from tests.support.frontends.ports import kinds, outputs_of

Shape = tuple[int, ...]
IMAGE, SIGNAL, VECTOR = (4, 6, 6), (4, 6), (4,)
TOLERANCE = 1e-9
# threads that wait for each other take longer than one that computes, as soon as anything else runs
torch.set_num_threads(1)


class Of(nn.Module):
    """A function as a model. It has a parameter for each channel of 4 and a few others."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.scale = nn.Parameter(torch.tensor([1.5, -0.5, 2.0, 0.25]).reshape(4, 1, 1))
        self.matrix = nn.Parameter(torch.arange(36.0).reshape(6, 6) / 20 - 1)
        self.register_buffer("places", torch.arange(144.0).reshape(1, 4, 6, 6) / 100)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(self, *inputs)


class Together(nn.Module):
    """Several models, or functions, of the same inputs: to export them takes as long as to export one."""

    def __init__(self, models: Iterable[nn.Module | Callable[..., Any]]) -> None:
        super().__init__()
        self.models = nn.ModuleList(m if isinstance(m, nn.Module) else Of(m) for m in models)

    def forward(self, x: torch.Tensor, y: torch.Tensor | None = None) -> list[Any]:
        inputs = [x] if y is None else [x, y]
        return [model(*(each.clone() for each in inputs)) for model in self.models]


def settle(model: nn.Module, seed: int = 0) -> nn.Module:
    """The model in float64 and evaluation mode, batch normalisations with statistics of their own."""
    torch.manual_seed(seed)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d) and module.running_mean is not None:
            nn.init.normal_(module.running_mean)
            nn.init.uniform_(module.running_var, 0.5, 2.0)  # type: ignore[arg-type]
            if module.affine:
                nn.init.normal_(module.weight)
                nn.init.normal_(module.bias)
    return model.double().eval()


def random(shape: Shape, seed: int = 1, frames: int = 3) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(0, 1.5, (frames, *shape)))


def same(model: nn.Module, *shapes: Shape, layers: list[str] | None = None) -> Graph:
    """That the model's graph gives what the model gives; the graph."""
    settle(model)
    graph = graph_of_module(model, list(shapes), name="net")
    inputs = [random(shape, seed) for seed, shape in enumerate(shapes)]
    with torch.no_grad():
        wanted = model(*(each.clone() for each in inputs))
    got = outputs_of(graph, *(each.numpy() for each in inputs))
    flat = torch.utils._pytree.tree_leaves(wanted)
    assert len(got) == len(flat)
    for (name, array), tensor in zip(got.items(), flat, strict=True):
        assert array.shape == tuple(tensor.shape), name
        np.testing.assert_allclose(array, tensor.numpy(), rtol=0, atol=TOLERANCE, err_msg=name)
    if layers is not None:
        assert kinds(graph) == layers
    return graph
