"""Random layers and small graphs in float32 that a shared processor in floating point has hardware for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hlsgen.base.fixed import Codes, FloatType
from hlsgen.layers.adaptive_pool import AdaptivePool
from hlsgen.layers.base import Shape, Tensor
from hlsgen.layers.binary import Add
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.leaky import Leaky
from hlsgen.model.ir import Graph, Port
from tests.support.shared_graphs import Drawing, Unfit

FLOAT = FloatType()
EXPONENTS = range(-40, 30)
"""Of the powers of two that some numbers are multiplied by: sums of unlike ones depend on their order."""


class FloatDrawing(Drawing):
    """The same layers as in fixed point, of numbers whose sizes differ widely."""

    def port(self, shape: Shape) -> str:
        name = f"in{len(self.ports)}"
        self.ports.append(Port.of(name, Tensor(shape=shape, type=FLOAT)))
        self.tensors[name] = self.ports[-1].tensor
        return name

    def fraction(self, source: str) -> int:
        return 0

    def numbers(self, source: str, weight_type: Any) -> dict[str, Any]:
        types = dict.fromkeys(("input_type", "weight_type", "bias_type", "accumulator", "result_type"), FLOAT)
        return {**types, "weights": np.zeros(0, np.float32), "bias": np.zeros(0, np.float32)}

    def weighted(self, layer: Conv2d, shape: tuple[int, ...], most: int | None) -> Conv2d:
        if layer.check():
            raise Unfit(str(layer.check()[0]))
        bias = floats(self.rng, (shape[0] * self.whole(0, 1),))
        return replace(layer, weights=floats(self.rng, shape), bias=bias)

    def retyped(self, layer: Any, largest: int | None = None) -> Any:
        return layer

    def global_pool(self, source: str) -> str:
        tensor = self.tensors[source]
        if self.whole(0, 2) == 0 and tensor.shape[1] % 2 == 0:
            size = (tensor.shape[1] // 2, 1)
            layer = AdaptivePool(
                name=self.fresh("adaptive"),
                inputs=(source,),
                source=tensor,
                function=self.pick(["max", "average"]),
                size=size,
                result_type=FLOAT,
            )
            return self.add(layer)
        return self._global(source)

    def _global(self, source: str) -> str:
        from hlsgen.layers.global_pool import GlobalPool

        function = self.pick(["max", "average", "sum"])
        name, tensor = self.fresh("global"), self.tensors[source]
        return self.add(
            GlobalPool(name=name, inputs=(source,), source=tensor, function=function, result_type=FLOAT)
        )

    def leaky(self, source: str) -> str:
        layer = Leaky(
            name=self.fresh("leaky"),
            inputs=(source,),
            source=self.tensors[source],
            slopes=np.array([self.pick([0.0, self.rng.uniform(-1, 2)])], np.float32),
            slope_type=FLOAT,
            result_type=FLOAT,
        )
        return self.add(layer)

    def sum(self, left: str, right: str) -> str:
        one, other = self.tensors[left], self.tensors[right]
        layer = Add(name=self.fresh("add"), inputs=(left, right), left=one, right=other, result_type=FLOAT)
        return self.add(layer)

    def concat(self, *sources: str) -> str:
        parts = tuple(self.tensors[name] for name in sources)
        layer = Concat(name=self.fresh("concat"), inputs=sources, parts=parts, axis=0, result_type=FLOAT)
        return self.add(layer)


def floats(rng: np.random.Generator, shape: tuple[int, ...]) -> Codes:
    """Numbers of all sizes between 2**-40 and 2**30, most of them around one, some of them zero."""
    found = rng.normal(size=shape) * np.where(
        rng.random(shape) < 1 / 8, 2.0 ** rng.integers(EXPONENTS[0], EXPONENTS[-1], shape), 1.0
    )
    return np.where(rng.random(shape) < 1 / 16, 0.0, found).astype(np.float32)


def float_inputs(graph: Graph, frames: int, seed: int) -> dict[str, Codes]:
    """Frames of `floats`; some zeros are below zero."""
    rng = np.random.default_rng(seed)
    found = {}
    for port in graph.inputs:
        codes = floats(rng, (frames, *port.tensor.shape))
        found[port.name] = np.where((codes == 0) & (rng.random(codes.shape) < 0.5), np.float32(-0.0), codes)
    return found
