"""Warnings of numbers that half does not suit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hlsgen.model.half_range import half_warnings
from hlsgen.model.ir import Graph, Port
from tests.support.kernels import conv, frames_for

LAYER = replace(conv((4, 9, 10), 4, input_type="half", weight_type="half"), inputs=("x",))


def warned(factor: float, inputs: float) -> list[str]:
    weights = LAYER.input_type.encode(LAYER.weights.astype(np.float64) * factor)
    layer = replace(LAYER, weights=weights, bias=LAYER.bias * 0)
    port = Port(name="x", source="x", tensor=layer.sources[0], shape=layer.in_shape)
    graph = Graph(name="net", inputs=(port,), layers=(layer,), outputs=(Port.of("y", layer.output, "conv1"),))
    frames = layer.input_type.encode(frames_for(layer, 1).astype(np.float64) * inputs)
    return half_warnings(graph, {"conv1": layer.golden(frames)})


def test_numbers_of_usual_sizes_need_no_warning() -> None:
    assert warned(1, 1) == [] and warned(2.0**-6, 2.0**3) == []


def test_results_beyond_the_range() -> None:
    (line,) = warned(2.0**8, 2.0**8)
    assert "results are infinite or no number, since half ends at 65504" in line


def test_numbers_too_small() -> None:
    (weights,) = warned(2.0**-12, 1)
    assert weights.startswith("conv1: most weights are below 0.00049, near 6.1e-05")
    (results,) = warned(2.0**-7, 2.0**-8)
    assert results.startswith("conv1: most results are below")


def test_float32_has_room() -> None:
    layer = conv((4, 9, 10), 4)
    port = Port(name="x", source="x", tensor=layer.sources[0], shape=layer.in_shape)
    graph = Graph(
        name="net",
        inputs=(port,),
        layers=(replace(layer, inputs=("x",)),),
        outputs=(Port.of("y", layer.output, "conv1"),),
    )
    assert half_warnings(graph, {"conv1": layer.golden(frames_for(layer, 1)) * np.float32(1e-9)}) == []
