"""Trained weights of a graph's layers back in the parameters of the module that the graph was read from.

Which element of a parameter a layer's weight is, is asked of the frontend itself: a copy of the module whose
parameters hold the numbers 1, 2, 3 ... is read, and a layer that has 7 where another one has its weight has
it from the seventh. A batch norm that a layer has taken in becomes one that only adds the bias.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.short_repr import Brief
from hlsgen.frontends.torch.package import nn, torch
from hlsgen.frontends.torch.to_graph import graph_of_module
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.model.precision import Floats
from hlsgen.passes import FLOAT_PASSES, run_passes

NORMS = (nn.BatchNorm1d, nn.BatchNorm2d)
SUMS = (nn.Conv1d, nn.Conv2d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.Linear)
REMEDY = "convolutions and linear layers as modules of torch.nn (nn.Conv2d, nn.Linear), each called once"


@dataclass(frozen=True, kw_only=True)
class Carrier(Brief):
    """The parameters that hold a layer's weights: of a convolution or linear module, or of a batch norm
    alone.

    norm: the path of a batch norm whose scale and shift the layer has taken in. order: the flat position in
    the parameter of each of the layer's weights, in the order of its flat array; bias_order likewise.
    """

    layer: str
    weight: str
    bias: str | None
    norm: str | None
    order: NDArray[np.int64]
    bias_order: NDArray[np.int64]


def carriers(module: nn.Module, input_shapes: Sequence[tuple[int, ...]], reference: Graph) -> list[Carrier]:
    """The parameters that hold the weights of `reference`, which was read from the module.

    Raises DesignError: those of a layer are not those of one module, in whatever order.
    """
    found = [_named(module, reference, layer) for layer in reference.layers if isinstance(layer, Conv2d)]
    weights = [one.weight for one in found]
    twice = sorted({one.layer for one in found if weights.count(one.weight) > 1})
    if twice:
        raise _refusal(twice[0], "its weights are those of another layer too")
    numbered = _numbered(module, found)
    read = run_passes(graph_of_module(numbered, input_shapes, name=reference.name), FLOAT_PASSES)
    layers = {layer.name: layer for layer in read.layers}
    state = module.state_dict()
    return [_ordered(one, layers.get(one.layer), state) for one in found]


def with_weights(
    module: nn.Module, known: Sequence[Carrier], weights: Mapping[str, tuple[Floats, Floats]]
) -> dict[str, torch.Tensor]:
    """The module's state dict with these weights and biases of its layers, by name."""
    state = {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
    for one in known:
        _neutral(module, state, one)
        values, bias = weights[one.layer]
        _put(state, one.weight, one.order, values)
        if one.bias is not None:
            _put(state, one.bias, one.bias_order, bias)
    return state


def _named(module: nn.Module, reference: Graph, layer: Conv2d) -> Carrier:
    """The modules whose names say that the layer is theirs; the order is not known yet."""
    modules = dict(module.named_modules())
    own = [origin.name for origin in reference.origins if origin.source == layer.name]
    if any(isinstance(modules.get(name.partition("@")[0]), SUMS + NORMS) for name in own if "@" in name):
        raise _refusal(layer.name, "its module is called several times")
    sums = [name for name in own if isinstance(modules.get(name), SUMS)]
    norms = [name for name in own if isinstance(modules.get(name), NORMS)]
    if len(sums) + (not sums) * len(norms) != 1 or len(norms) > 1:
        raise _refusal(layer.name, "its weights are not those of one module")
    first = (sums or norms)[0]
    norm = norms[0] if sums and norms else None
    last = norm or first
    if norm is not None and modules[norm].bias is None:
        raise _refusal(layer.name, f"the batch norm {norm} has no scale and shift (affine=False)")
    if layer.bias.size and modules[last].bias is None:
        raise _refusal(layer.name, f"it has a bias and {last} has none")
    nothing = np.zeros(0, np.int64)
    return Carrier(
        layer=layer.name,
        weight=f"{first}.weight",
        bias=f"{last}.bias" if layer.bias.size else None,
        norm=norm if sums else first,
        order=nothing,
        bias_order=nothing,
    )


def _numbered(module: nn.Module, known: Sequence[Carrier]) -> nn.Module:
    """A copy in double precision whose carriers hold 1, 2, 3 ..."""
    fresh = copy.deepcopy(module).double()
    state = fresh.state_dict()
    for one in known:
        _neutral(fresh, state, one)
        for name in (one.weight, one.bias):
            if name is not None:
                size = state[name].numel()
                state[name] = torch.arange(1, size + 1, dtype=torch.float64).reshape(state[name].shape)
    fresh.load_state_dict(state)
    return fresh.eval()


def _neutral(module: nn.Module, state: dict[str, torch.Tensor], one: Carrier) -> None:
    """Makes the layer's batch norm one that changes nothing but by its shift, and drops other biases."""
    first = one.weight.removesuffix(".weight")
    if f"{first}.bias" in state:
        state[f"{first}.bias"] = torch.zeros_like(state[f"{first}.bias"])
    if one.norm is None:
        return
    norm = module.get_submodule(one.norm)
    assert isinstance(norm, NORMS)
    for name, value in (("weight", 1.0), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1 - norm.eps)):
        state[f"{one.norm}.{name}"] = torch.full_like(state[f"{one.norm}.{name}"], value)


def _ordered(one: Carrier, layer: object, state: Mapping[str, torch.Tensor]) -> Carrier:
    """The carrier with the order that a numbered module's layer shows."""
    if not isinstance(layer, Conv2d):
        raise _refusal(one.layer, "the network without it is another one")
    order = _positions(one, layer.weights, state[one.weight].numel())
    bias = np.zeros(0, np.int64)
    if one.bias is not None:
        bias = _positions(one, layer.bias, state[one.bias].numel())
    return Carrier(
        layer=one.layer, weight=one.weight, bias=one.bias, norm=one.norm, order=order, bias_order=bias
    )


def _positions(one: Carrier, numbers: Floats, size: int) -> NDArray[np.int64]:
    flat = np.asarray(numbers, np.float64).reshape(-1)
    found = np.rint(flat).astype(np.int64) - 1
    if not np.allclose(flat, found + 1, rtol=1e-9) or not np.array_equal(np.sort(found), np.arange(size)):
        raise _refusal(one.layer, f"its weights are not those of {one.weight}, but computed from them")
    return found


def _put(state: dict[str, torch.Tensor], name: str, order: NDArray[np.int64], values: Floats) -> None:
    """Replaces a parameter by the values that are its elements in this order."""
    flat = np.empty(order.size)
    flat[order] = np.asarray(values, np.float64).reshape(-1)
    state[name] = torch.from_numpy(flat).reshape(state[name].shape).to(state[name].dtype)


def _refusal(layer: str, why: str) -> DesignError:
    message = f"{layer}: trained weights cannot be written back: {why}"
    return DesignError(Problem(message=message, fix=REMEDY))
