"""Stages of many kinds one after the other, in words of different formats, with FIFOs as deep as declared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hlsgen.base.fixed import FixedType
from hlsgen.layers.argmax import ArgMax
from hlsgen.layers.base import Layer
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.rearrange import Rearrange
from hlsgen.layers.softmax import Softmax
from hlsgen.layers.stage import Fold
from hlsgen.layers.table import Table
from hlsgen.model.ir import Graph, Port
from tests.layers.test_dense_stage import RESULT, affine, dense
from tests.layers.test_rearrange_stage import flatten, flatten_last, pixel_unshuffle, upsample
from tests.support.layers.exact import tensor
from tests.support.pipelines import assert_pipeline_exact

PROBABILITY = FixedType(12, 0, signed=False)
INDEX = FixedType(3, 3, signed=False)


def in_a_row(*layers: Layer) -> Graph:
    """Each layer reads the one before."""
    named = [
        replace(
            layer, name=f"{layer.kind}{number}", inputs=(f"{before.kind}{number - 1}" if before else "image",)
        )
        for number, (before, layer) in enumerate(zip((None, *layers), layers, strict=False))
    ]
    return Graph(
        name="row",
        inputs=(Port.of("image", named[0].sources[0]),),
        layers=tuple(named),
        outputs=(Port.of("result", named[-1].output, named[-1].name),),
    )


def network(last: Rearrange) -> Graph:
    """4 x 4 x 8 images to the index of one of 6 classes; `last` is how the image becomes a vector."""
    image = tensor((4, 4, 8), RESULT)
    unshuffle = pixel_unshuffle((4, 4, 8), 2)
    return in_a_row(
        Clamp(name="", source=image, low=-3.0, high=3.0, result_type=RESULT),
        replace(upsample((4, 4, 8), 2, 2), source=image),
        affine((4, 8, 16), source=RESULT),
        replace(unshuffle, source=tensor((4, 8, 16), RESULT)),
        Leaky(
            name="",
            source=tensor((16, 4, 8), RESULT),
            slopes=np.arange(16),
            slope_type=FixedType(5, 0, signed=False),
            result_type=RESULT,
        ),
        replace(last, source=tensor((16, 4, 8), RESULT)),
        dense(512, 6, source=RESULT),
        Table(name="", source=tensor((6, 1, 1), RESULT), function="tanh", result_type=FixedType(16, 3)),
        Softmax(name="", source=tensor((6, 1, 1), FixedType(16, 3)), result_type=PROBABILITY),
        ArgMax(name="", source=tensor((6, 1, 1), PROBABILITY), result_type=INDEX),
    )


def chosen(layer: Layer, which: str) -> Fold:
    """The first, the middle or the last folding."""
    folds = list(layer.folds())
    return folds[{"narrow": 0, "middle": len(folds) // 2, "wide": -1}[which]]


@pytest.mark.parametrize(
    ("last", "which"),
    [
        (flatten((16, 4, 8)), ("middle", "wide")),
        (flatten_last((16, 4, 8)), ("wide", "narrow", "middle")),
    ],
)
def test_a_row_of_stages_is_exact(tmp_path: Path, last: Rearrange, which: tuple[str, ...]) -> None:
    graph = network(last)
    wide_dense = Fold(pe=6, simd=16)  # all of its foldings would take thousands of multipliers
    folds = {
        layer.name: wide_dense if layer.kind == "dense" else chosen(layer, which[number % len(which)])
        for number, layer in enumerate(graph.layers)
    }
    assert_pipeline_exact(graph, folds, tmp_path)


def test_intervals_are_those_of_the_schedules() -> None:
    for layer in (*network(flatten((16, 4, 8))).layers, flatten_last((16, 4, 8))):
        for fold in list(layer.folds())[::7]:
            stage = layer.stage(fold)
            assert stage.interval == stage.schedule(3).iterations - stage.schedule(2).iterations
