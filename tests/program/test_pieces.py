"""Tensors made of pieces: pixels of channels, parts along rows or columns, windows that are not alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from hlsgen.base.errors import DesignError
from hlsgen.base.type_text import parse_type
from hlsgen.layers.adaptive_pool import AdaptivePool
from hlsgen.layers.base import Shape, Tensor
from hlsgen.layers.concat import Concat
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.rearrange import Rearrange
from hlsgen.model.ir import Graph, Port
from hlsgen.program.lowering import lowered
from hlsgen.program.regions import regions
from tests.support.kernels import conv
from tests.support.scaled_graphs import pixels_of_channels
from tests.support.shared_processor import (
    PACKED,
    Building,
    assert_outputs_exact,
    assert_program_exact,
    chain,
)

TYPE = parse_type("fixed<8,4,rnd,sat>")


def tensor(*shape: int) -> Tensor:
    channels, rows, columns = shape
    return Tensor(shape=(channels, rows, columns), type=TYPE)


@pytest.mark.parametrize("name", ["packed", "wide"])
@pytest.mark.parametrize(
    ("shape", "by"), [((8, 5, 4), (2, 2)), ((12, 13, 3), (2, 1)), ((9, 3, 3), (3, 3)), ((4, 1, 1), (1, 4))]
)
def test_pixels_made_of_channels_equal_golden(
    built: Building, name: str, shape: Shape, by: tuple[int, int]
) -> None:
    """Pixel shuffle, as transposed convolutions and bilinear upsampling end with it."""
    layer = pixels_of_channels("input", tensor(*shape), by)
    made, _ = assert_program_exact(built(name), chain(layer), together=2, rounds=2)
    assert made.tasks[0].window.zeros
    assert_program_exact(built(name), chain(layer), options=("--bounded",))


def test_pixels_in_another_order_are_refused() -> None:
    """Rows and columns of a pixel exchanged with those of the image."""
    axes = (((2, 48),), ((2, 24), (4, 3)), ((3, 1), (2, 12)))
    layer = Rearrange(name="r", inputs=("input",), source=tensor(4, 4, 6), axes=axes)
    with pytest.raises(DesignError, match="r: it moves elements in another way than repeating pixels"):
        lowered(chain(layer), PACKED)


@pytest.mark.parametrize("name", ["packed", "wide", "signed"])
@pytest.mark.parametrize("axis", [1, 2])
def test_parts_along_rows_or_columns_equal_golden(built: Building, name: str, axis: int) -> None:
    rng = np.random.default_rng(axis)
    for seed in range(5):
        channels, rows, columns = (int(size) for size in rng.integers(1, 9, 3))
        parts = []
        for _ in range(int(rng.integers(2, 5))):
            along = int(rng.integers(1, 12))
            shape = (channels, along, columns) if axis == 1 else (channels, rows, along)
            type_ = parse_type(str(rng.choice(["fixed<8,4>", "fixed<8,3>", "fixed<6,4>"])))
            parts.append(Tensor(shape=shape, type=type_))
        names = [f"in{number}" for number in range(len(parts))]
        layer = Concat(name="joined", inputs=tuple(names), parts=tuple(parts), axis=axis, result_type=TYPE)
        graph = Graph(
            name="parts",
            inputs=tuple(Port.of(name, part) for name, part in zip(names, parts, strict=True)),
            layers=(layer,),
            outputs=(Port.of("out", layer.output, "joined"),),
        )
        assert_program_exact(built(name), graph, together=2, rounds=2, seed=seed)
        assert_outputs_exact(built(name), graph, rounds=2, seed=seed)


@pytest.mark.parametrize("name", ["packed", "wide"])
@pytest.mark.parametrize("kernel", [(3, 3), (2, 3)])
@pytest.mark.parametrize("overhang", [(0, 0), (1, 1)])
def test_averages_of_unlike_windows_equal_golden(
    built: Building, name: str, kernel: tuple[int, int], overhang: tuple[int, int]
) -> None:
    """Padding that is not counted, windows that hang over the image (ceil mode)."""
    top = kernel[0] - 2
    for stride, padding, shape in (
        ((1, 1), (top, 1, top, 1), (5, 8, 7)),
        ((2, 2), (top, 0, 0, 1), (3, 10, 9)),
    ):
        layer = Pool2d(
            name="pool",
            inputs=("input",),
            source=tensor(*shape),
            function="average",
            kernel=kernel,
            stride=stride,
            padding=padding,
            overhang=overhang,
            count_include_pad=False,
            result_type=TYPE,
        )
        assert not layer.check()
        made, _ = assert_program_exact(built(name), chain(layer), together=2, rounds=2)
        unlike = len(layer.distinct_counts) > 1
        assert len(made.tasks) == (2 * len(regions(layer)) if unlike else 1)
        assert_outputs_exact(built(name), chain(layer), rounds=2)


@pytest.mark.parametrize("function", ["max", "average"])
@pytest.mark.parametrize(("shape", "size"), [((5, 7, 10), (3, 4)), ((9, 5, 6), (3, 3)), ((3, 4, 4), (6, 3))])
def test_adaptive_pools_equal_golden(
    built: Building, function: Literal["max", "average"], shape: Shape, size: tuple[int, int]
) -> None:
    layer = AdaptivePool(
        name="pool", inputs=("input",), source=tensor(*shape), function=function, size=size, result_type=TYPE
    )
    assert_program_exact(built("packed"), chain(layer), together=2, rounds=2)


def test_what_reads_a_joined_tensor_equals_golden(built: Building) -> None:
    """The whole of it, not a part: a convolution behind pixels that were channels."""
    first = conv(
        (6, 5, 4),
        8,
        padding=(1, 1, 1, 1),
        input_type="fixed<8,4>",
        weight_type="fixed<6,1>",
        result_type="fixed<8,4,rnd,sat>",
    )
    second = pixels_of_channels(first.name, first.output, (2, 2))
    last = conv(
        second.output_shape,
        3,
        padding=(1, 1, 1, 1),
        input_type="fixed<8,4,rnd,sat>",
        weight_type="fixed<6,1>",
        result_type="fixed<8,5,rnd,sat>",
    )
    graph = chain(first, second, replace(last, name="last", inputs=(second.name,)))
    assert_program_exact(built("packed"), graph, together=2)


def test_pools_of_too_many_kinds_of_windows_are_refused() -> None:
    layer = AdaptivePool(
        name="pool",
        inputs=("input",),
        source=tensor(2, 29, 31),
        function="average",
        size=(12, 13),
        result_type=TYPE,
    )
    with pytest.raises(DesignError, match=r"pool: its windows are of \d+ kinds, more than 64"):
        lowered(chain(layer), PACKED)
