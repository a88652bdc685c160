"""Values and operations of the graph builder, held against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.frontends.builder.builder import GraphBuilder, Value
from tests.support.frontends.ports import kinds, outputs_of

Array = NDArray[Any]
FRAMES = 2


def frames(*shape: int, seed: int = 0) -> Array:
    """[FRAMES, *shape] of small integers, all sums of which are exact."""
    return np.random.default_rng(seed).integers(-8, 9, (FRAMES, *shape)).astype(np.float64)


def check(
    shape: Sequence[int],
    build: Callable[[GraphBuilder, Value], Value],
    expected: Callable[[Array], Array],
    layers: list[str] | None = None,
    channels_last: bool = False,
) -> None:
    """That what `build` makes of an input gives what `expected` says, with just these layers."""
    builder = GraphBuilder("net", channels_last)
    builder.output("y", build(builder, builder.input("x", shape)))
    graph = builder.build()
    given_frames = frames(*shape)
    wanted = np.stack([expected(frame) for frame in given_frames])
    got = outputs_of(graph, given_frames)["y"]
    assert got.shape == wanted.shape
    np.testing.assert_array_equal(got, wanted)
    if layers is not None:
        assert kinds(graph) == layers


def double(builder: GraphBuilder, x: Value) -> Value:
    return builder.affine(x, 2.0)
