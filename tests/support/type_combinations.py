"""Layers of every legal combination of types, multipliers and places of weights, or of some of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.hardware.conv_folding import Folding
from hlsgen.hardware.weights import Place, WeightPlace
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense
from hlsgen.layers.stage import Fold
from tests.support.kernels import conv, random_codes
from tests.support.layer_examples import EXAMPLES

TYPES = tuple(
    FixedType(width, integer, signed)
    for width, integer in ((1, 1), (5, 7), (8, 0), (17, 6))
    for signed in (True, False)
)
PAIRS = tuple(itertools.product(TYPES, TYPES))
PLACES: tuple[Place, ...] = ("constant", "runtime", "stream")
ROUNDINGS = tuple(itertools.product(Rounding, (Overflow.WRAP, Overflow.SAT, Overflow.SAT_SYM)))


def is_signed(layer: Conv2d) -> bool:
    """Of its weights."""
    assert isinstance(layer.weight_type, FixedType)
    return layer.weight_type.signed


FOLDINGS = (
    Folding(rows=1, pe=2, simd=1),
    Folding(rows=2, pe=2, simd=2, fabric_pe=1),
    Folding(rows=1, pe=4, simd=1, order="channels", fabric_pe=4),
)


def task_kernels() -> Iterator[tuple[Conv2d, Folding]]:
    """Convolutions of a quarter of all pairs of types, every type on either side; their bias has its turn."""
    for number, (source, weight) in enumerate(PAIRS):
        if (number // len(TYPES) + number) % 4 == 0:
            layer = conv((4, 5, 6), 4, input_type=str(source), weight_type=str(weight), bias=number % 3 != 0)
            yield layer, FOLDINGS[number // len(TYPES) % len(FOLDINGS)]


def result_types(source: FixedType) -> Iterator[FixedType]:
    """A type of the other signedness, wider or narrower, with each rounding and overflow in its turn."""
    for rounding, overflow in itertools.cycle(ROUNDINGS):
        for width, integer in ((4, 2), (1, 0), (23, 8)):
            yield FixedType(width, integer, not source.signed, rounding, overflow)


def retyped(layer: Layer, source: FixedType, result: FixedType | None) -> Layer | None:
    """The layer with sources of that type, if it can have them."""
    try:
        fresh = layer.retyped((source,) * len(layer.sources), result)
        return None if fresh.check() else fresh
    except (AssertionError, DesignError):
        return None


def layers_of_any_types() -> list[Layer]:
    """Of each kind without weights a layer for every type, with a result of its own or of another type."""
    results = {source: result_types(source) for source in TYPES}
    found: list[Layer | None] = []
    for kind, examples in EXAMPLES.items():
        if kind in ("conv2d", "dense", "affine"):
            continue
        for number, source in enumerate(TYPES):
            layer = examples[number % len(examples)]
            other = retyped(layer, source, next(results[source]))
            found += [other or retyped(layer, source, None)]
    return [layer for layer in found if layer is not None]


def weighted_layer(number: int, source: FixedType, weight: FixedType) -> Conv2d:
    """A convolution, a depthwise one and a dense layer in turn."""
    kind, shape, groups, kernel = (
        (Conv2d, (4, 3, 4), 1, (2, 2)),
        (Conv2d, (4, 3, 4), 4, (2, 2)),
        (Dense, (6, 1, 1), 1, (1, 1)),
    )[number % 3]
    random = np.random.default_rng(number)
    bias = TYPES[number % len(TYPES)]
    layer = kind(
        name="layer",
        in_shape=shape,
        out_channels=4,
        kernel=kernel,
        groups=groups,
        input_type=source,
        weight_type=weight,
        bias_type=bias,
        accumulator=weight,
        result_type=weight,
        weights=random_codes(weight, (4, shape[0] // groups, *kernel), random),
        bias=random_codes(bias, (4 * (number % 2),), random),
    )
    return layer.retyped((source,), next(result_types(source)))


def weighted_layers() -> Iterator[tuple[Conv2d, Fold, WeightPlace]]:
    """Every pair of types: packed multipliers with every place of the weights, others with that in turn."""
    for number, (source, weight) in enumerate(PAIRS):
        layer = weighted_layer(number, source, weight)
        if layer.check():
            continue
        turn = PLACES[(number // 3 + number // len(TYPES)) % len(PLACES)]
        # depthwise weights cannot stream
        for place in PLACES if layer.groups == 1 else PLACES[:2]:
            where = WeightPlace(layer="layer", place=place, any_weights=place != "constant")
            for kind, fold in {fold.multipliers: fold for fold in where.folds(layer)}.items():
                if kind == "packed" or place == turn:
                    yield layer, fold, where
