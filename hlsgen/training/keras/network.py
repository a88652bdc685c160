"""A network in fixed point as a QKeras model that is trained: layers of QKeras between quantizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.model.ports import Floats
from hlsgen.training.backend import FRAMES_TOGETHER, Weights
from hlsgen.training.keras.packages import keras, qkeras, quiet, tf
from hlsgen.training.keras.stages import (
    WEIGHTED,
    Computed,
    Products,
    function_of,
    input_of,
    output_of,
    result_of,
    unknown,
)


class Network:
    """A Keras model that takes frames of each input in the framework's layout, and gives each output's.

    graph: in fixed point, which the model computes. model: in float32, as it is trained; `exact` makes the
    same in doubles.
    """

    def __init__(self, graph: Graph, weights: Weights, dtype: str = "float32") -> None:
        """weights: in floating point. Raises DesignError: a layer or a type that training cannot follow."""
        self.graph, self.dtype = graph, dtype
        self.products: dict[str, Products] = {}
        with quiet(), tf.init_scope():
            self.model = self._built(weights)

    def _built(self, weights: Weights) -> Any:
        graph, values, inputs = self.graph, {}, []
        for port in graph.inputs:
            given, values[port.name] = input_of(port, self.dtype)
            inputs.append(given)
        for number, layer in enumerate(graph.layers):
            sources = [values[name] for name in layer.inputs]
            label = f"layer{number}"
            if isinstance(layer, Conv2d):
                if type(layer) not in WEIGHTED:
                    raise unknown(layer)
                given_weights = weights[layer.name]
                products = Products(layer, bool(given_weights[1].size), label, self.dtype)
                found = products(sources[0])
                products.load(*given_weights)
                self.products[layer.name] = products
            else:
                found = Computed(function_of(layer), name=label, dtype=self.dtype)(*sources)
            quantiser = result_of(layer.output_type, layer.name)
            if quantiser is not None:
                found = qkeras.QActivation(quantiser, name=f"{label}_result", dtype=self.dtype)(found)
            values[layer.name] = found
        outputs = [output_of(port, values[port.source], self.dtype) for port in graph.outputs]
        return keras.Model(inputs, outputs)

    def exact(self) -> Any:
        """The model in doubles, with the weights of now."""
        nothing = {name: one.values() for name, one in self.products.items()}
        twin = Network(self.graph, nothing, "float64")
        twin.model.set_weights([one.astype(np.float64) for one in self.model.get_weights()])
        return twin.model

    def evaluated(self, values: Mapping[str, Floats]) -> list[Floats]:
        """What the model predicts in the framework's layout, in doubles, in which its sums are exact.

        values: frames [N, C, H, W] of each input.
        """
        frames = [
            # as a tensor: Keras rounds arrays to float32
            tf.constant(port.from_tensor(values[port.name]), tf.float64)
            for port in self.graph.inputs
        ]
        model = self.exact()
        model.run_eagerly = True  # a graph of so few frames takes longer to make
        with quiet():
            found = model.predict(frames, batch_size=FRAMES_TOGETHER, verbose=0)
        return found if isinstance(found, list) else [found]

    def weights(self) -> dict[str, tuple[Floats, Floats]]:
        """What it computes with now, on the grids of its types."""
        return {name: one.values() for name, one in self.products.items()}
