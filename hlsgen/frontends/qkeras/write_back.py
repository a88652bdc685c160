"""Trained weights of a graph's layers back in the variables of the Keras model that the graph was read from.

Which element of a variable a layer's weight is, is asked of the frontend itself: the model is read with
variables that hold the numbers 2, 3, 4 ..., and a layer that has 7 where another one has its weight has it
from where the 7 stood. A batch norm that a layer has taken in becomes one that only adds the bias.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.short_repr import Brief
from hlsgen.frontends.qkeras.calls import layers_of
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.model.precision import Floats
from hlsgen.passes import FLOAT_PASSES, run_passes

MOST_NUMBERS = 1 << 24
"""Whole numbers that float32 tells apart."""
NEUTRAL: dict[str, Callable[[Any], float]] = {
    "gamma": lambda layer: 1.0,
    "beta": lambda layer: 0.0,
    "moving_mean": lambda layer: 0.0,
    "moving_variance": lambda layer: 1.0 - float(layer.epsilon),
    "bias": lambda layer: 0.0,
}
"""What a variable holds, by the end of its name, that no layer has its weights from."""
REMEDY = "convolutions and dense layers of Keras, each called once, whose scores nothing multiplies"
State = Mapping[str, NDArray[Any]]
"""The variables of a model by layer and name."""


@dataclass(frozen=True, kw_only=True)
class Carrier(Brief):
    """The variables that hold a layer's weights and bias (None: it has none).

    order: the flat position in the variable of each of the layer's weights, in the order of its flat array;
    bias_order likewise.
    """

    layer: str
    weight: str
    order: NDArray[np.int64]
    bias: str | None
    bias_order: NDArray[np.int64]


def state_of(model: Any) -> dict[str, NDArray[Any]]:
    """The model's variables as arrays."""
    return {name: np.array(variable.numpy()) for name, _, variable in _variables(model)}


def load_state(model: Any, state: State) -> None:
    """Gives a model these variables, in place."""
    for name, _, variable in _variables(model):
        variable.assign(state[name])


def carriers(model: Any, reference: Graph) -> list[Carrier]:
    """The variables that hold the weights of `reference`, which was read from the model.

    The model is as it was afterwards. Raises DesignError: those of a layer are not those of one variable, in
    whatever order.
    """
    before = state_of(model)
    try:
        # biases of layers whose batch norm adds one of its own are the batch norm's
        numbers = [_Numbers(model, before, reference.name, names) for names in (("beta", "gamma"), ("bias",))]
    finally:
        load_state(model, before)
    layers = [layer for layer in reference.layers if isinstance(layer, Conv2d)]
    found = [_carrier(layer, *numbers) for layer in layers]
    weights = [one.weight for one in found]
    twice = sorted({one.layer for one in found if weights.count(one.weight) > 1})
    if twice:
        raise _refusal(twice[0], "its weights are those of another layer too")
    return found


def with_weights(
    model: Any, known: Sequence[Carrier], weights: Mapping[str, tuple[Floats, Floats]]
) -> dict[str, NDArray[Any]]:
    """The model's state with these weights and biases of its layers, by name."""
    state = state_of(model)
    _neutralise(model, state)
    for one in known:
        values, bias = weights[one.layer]
        _put(state, one.weight, one.order, values)
        if one.bias is not None:
            _put(state, one.bias, one.bias_order, bias)
    return state


class _Numbers:
    """What the frontend reads from a model whose kernels, and some other variables, hold numbers."""

    def __init__(self, model: Any, before: State, name: str, numbered: Sequence[str]) -> None:
        self.first: dict[str, int] = {}
        self.sizes: dict[str, int] = {}
        state = dict(before)
        _neutralise(model, state)
        following = 2  # 1 is what a neutral factor is
        for key, _, _ in _variables(model):
            end = key.rpartition("/")[2]
            if end.endswith("kernel") or end in numbered:
                size = state[key].size
                self.first[key], self.sizes[key] = following, size
                state[key] = np.arange(following, following + size).reshape(state[key].shape)
                following += size
        if following > MOST_NUMBERS:
            message = f"{name} has {following:,} weights, more than can be traced back to a Keras model"
            raise DesignError(Problem(message=message, fix=f"at most {MOST_NUMBERS:,}"))
        load_state(model, state)
        graph = run_passes(graph_of_keras(model, name=name), FLOAT_PASSES)
        self.layers = {layer.name: layer for layer in graph.layers if isinstance(layer, Conv2d)}

    def place(self, values: Floats | None) -> tuple[str, NDArray[np.int64]] | None:
        """The variable, and the place in it of each value; None: they are not those of one variable."""
        if values is None or not values.size:
            return None
        flat = np.asarray(values, np.float64).reshape(-1)
        found = np.rint(flat).astype(np.int64)
        for key, first in self.first.items():
            places = found - first
            whole = np.arange(self.sizes[key])
            if np.allclose(flat, found, rtol=1e-6, atol=0) and np.array_equal(np.sort(places), whole):
                return key, places
        return None

    def of_weights(self, layer: str) -> tuple[str, NDArray[np.int64]] | None:
        read = self.layers.get(layer)
        return self.place(None if read is None else read.weights)

    def of_bias(self, layer: str) -> tuple[str, NDArray[np.int64]] | None:
        read = self.layers.get(layer)
        return self.place(None if read is None else read.bias)


def _carrier(layer: Conv2d, norms: _Numbers, biases: _Numbers) -> Carrier:
    """The carrier of a layer. Raises DesignError: there is none."""
    # with numbers as its scale a batch norm multiplies the numbers of a kernel
    weight = biases.of_weights(layer.name) or norms.of_weights(layer.name)
    if weight is None:
        raise _refusal(layer.name, "its weights are not those of one variable, but computed")
    bias = norms.of_bias(layer.name) or biases.of_bias(layer.name)
    if layer.bias.size and bias is None:
        raise _refusal(layer.name, "its bias is not one variable's")
    nothing = np.zeros(0, np.int64)
    return Carrier(
        layer=layer.name,
        weight=weight[0],
        order=weight[1],
        bias=None if bias is None else bias[0],
        bias_order=nothing if bias is None else bias[1],
    )


def _variables(model: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name, layer and variable of all that layers are made of, those of models inside included."""
    for label, layer in layers_of(model):
        for variable in getattr(layer, "weights", ()):
            yield f"{label}/{variable.name.rpartition('/')[2].partition(':')[0]}", layer, variable


def _neutralise(model: Any, state: dict[str, NDArray[Any]]) -> None:
    """Batch norms that change nothing, and no biases."""
    for name, layer, _ in _variables(model):
        value = NEUTRAL.get(name.rpartition("/")[2])
        if value is not None:
            state[name] = np.full_like(state[name], value(layer))


def _put(state: dict[str, NDArray[Any]], name: str, order: NDArray[np.int64], values: Floats) -> None:
    """Replaces a variable by the values that are its elements in this order."""
    flat = np.empty(order.size)
    flat[order] = np.asarray(values, np.float64).reshape(-1)
    state[name] = flat.reshape(state[name].shape).astype(state[name].dtype)


def _refusal(layer: str, why: str) -> DesignError:
    message = f"{layer}: trained weights cannot be written back: {why}"
    return DesignError(Problem(message=message, fix=REMEDY))
