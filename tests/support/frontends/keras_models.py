"""What the QKeras frontend's tests share: its packages, random weights, comparison with predictions."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hlsgen.base.fixed import FixedType, NumberType
from hlsgen.frontends.qkeras.load import REMEDY, Packages, quiet, tensorflow_packages
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
from hlsgen.model.ir import Graph
from tests.support.frontends.ports import outputs_of

Doubles = NDArray[np.float64]
WARNINGS = [
    pytest.mark.filterwarnings(f"ignore:{message}")
    for message in (
        ".*' deprecated - use ':DeprecationWarning",  # QKeras asks pyparsing by old names
        "The initializer .* is unseeded:UserWarning",  # QKeras' layers share default initialisers
        "You are saving your model as an HDF5 file:UserWarning",
        ".*keras.constraints.serialize:UserWarning",
    )
]
"""What Keras and QKeras warn of when tests make and save models; `pytestmark` of the modules that do."""
INPUT = FixedType(8, 3)
"""The type of inputs where a model does not say one: so narrow that float32 sums are exact."""


def packages() -> Packages:
    """TensorFlow, Keras and QKeras. Skips the module that asks where one of them is missing."""
    missing = [
        name for name in ("tensorflow", "tf_keras", "qkeras") if importlib.util.find_spec(name) is None
    ]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: {REMEDY}", allow_module_level=True)
    return tensorflow_packages()


def randomised(model: Any, seed: int = 0, spread: float = 0.7) -> Any:
    """The model with random weights; variances of normalisations stay positive."""
    rng = np.random.default_rng(seed)
    for variable in model.weights:
        values = rng.normal(0, spread, variable.shape)
        if "variance" in variable.name or "gamma" in variable.name:
            values = rng.uniform(0.3, 2, variable.shape)
        if "iteration" not in variable.name:
            variable.assign(values.astype(np.float32))
    return model


def inputs_for(graph: Graph, frames: int = 3, seed: int = 0) -> list[Doubles]:
    """Random values of each input's type, in the framework's layout."""
    rng = np.random.default_rng(seed)
    arrays = []
    for port in graph.inputs:
        type_ = port.tensor.type
        shape = (frames, *port.shape)
        if isinstance(type_, FixedType):
            arrays.append(type_.decode(rng.integers(type_.min_code, type_.max_code + 1, shape)))
        else:
            arrays.append(rng.normal(0, 1, shape).astype(np.float32).astype(np.float64))
    return arrays


def predicted(model: Any, arrays: list[Doubles]) -> list[Doubles]:
    """The model's own outputs."""
    with quiet():
        given = [array.astype(np.float32) for array in arrays]
        results = model(given if len(given) > 1 else given[0], training=False)
    results = results if isinstance(results, list | tuple) else [results]
    return [np.asarray(result, np.float64) for result in results]


def computed(graph: Graph, arrays: list[Doubles]) -> list[Doubles]:
    """Golden's outputs for the same inputs, as real numbers."""
    codes: list[NDArray[Any]] = []
    for port, array in zip(graph.inputs, arrays, strict=True):
        type_ = port.tensor.type
        codes.append(type_.encode(array) if isinstance(type_, FixedType) else array)
    results = outputs_of(graph, *codes)
    return [
        port.tensor.type.decode(results[port.name])
        if isinstance(port.tensor.type, FixedType)
        else results[port.name]
        for port in graph.outputs
    ]


def check(model: Any, input_type: NumberType | None = INPUT, error: float = 0.0, seed: int = 0) -> Graph:
    """That the model's graph computes what the model predicts, up to `error`; the graph."""
    graph = graph_of_keras(model, name="net", input_type=input_type)
    arrays = inputs_for(graph, seed=seed)
    for got, wanted in zip(computed(graph, arrays), predicted(model, arrays), strict=True):
        assert got.shape == wanted.shape
        if error:
            np.testing.assert_allclose(got, wanted, rtol=error, atol=error)
        else:
            np.testing.assert_array_equal(got, wanted)
    return graph


def functional(shape: tuple[int, ...], *layers: Any, seed: int = 0) -> Any:
    """A Functional model of one layer after the other, with random weights."""
    keras = tensorflow_packages().keras
    with quiet():
        x = source = keras.Input(shape, name="image")
        for layer in layers:
            x = layer(x)
        return randomised(keras.Model(source, x, name="tested"), seed)


def bits(width: int = 4, integer: int = 0, **rest: Any) -> Any:
    return tensorflow_packages().quantizers.quantized_bits(width, integer, **{"alpha": 1, **rest})


def quantizers(*names: str, **rest: Any) -> dict[str, Any]:
    """Quantizers of weights and bias, as arguments of a layer."""
    return {f"{name}_quantizer": bits(**rest) for name in (*names, "bias")}
