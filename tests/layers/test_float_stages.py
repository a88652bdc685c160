"""Stages in float32 against golden, bit for bit, and golden against float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hlsgen.base.fixed import Codes, FloatType
from hlsgen.layers.base import Layer, Tensor
from hlsgen.layers.binary import Add, Mul, Sub
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.concat import Concat
from hlsgen.layers.crop import Crop
from hlsgen.layers.float_sum_stage import PARTIALS, partial_sums
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.pad import Pad
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.rearrange import Rearrange
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import run_golden
from tests.support.pipelines import assert_layers_exact, random_floats, side_by_side

FLOAT = FloatType()


def tensor(*shape: int) -> Tensor:
    return Tensor(shape=shape, type=FLOAT)  # type: ignore[arg-type]


def pool(function: str, source: Tensor, **more: object) -> Pool2d:
    sizes = {"kernel": (3, 2), "stride": (2, 1), "padding": (1, 1, 1, 1)} | more
    return Pool2d(name="pool", source=source, function=function, result_type=FLOAT, **sizes)  # type: ignore[arg-type]


def layers() -> list[Layer]:
    image = tensor(6, 7, 9)
    return [
        Clamp(name="relu", source=image, result_type=FLOAT, low=0.0),
        Clamp(name="relu6", source=image, result_type=FLOAT, low=0.0, high=6.0),
        pool("max", image),
        pool("average", image, count_include_pad=True),
        pool("average", image, count_include_pad=False),
        GlobalPool(name="most", source=image, function="max", result_type=FLOAT),
        GlobalPool(name="mean", source=image, function="average", result_type=FLOAT),
        GlobalPool(name="sum", source=tensor(3, 3, 4), function="sum", result_type=FLOAT),
        GlobalPool(name="one", source=tensor(4, 1, 1), function="average", result_type=FLOAT),
        Add(name="add", left=image, right=image, result_type=FLOAT),
        Sub(name="sub", left=image, right=image, result_type=FLOAT),
        Mul(name="scale", left=image, right=tensor(6, 1, 1), result_type=FLOAT),
        Concat(name="concat", parts=(image, tensor(3, 7, 9)), axis=0, result_type=FLOAT),
        Pad(name="pad", source=image, padding=(1, 2, 0, 3), value=-1.5),
        Crop(name="crop", source=image, begin=(1, 2, 0), size=(4, 3, 4), step=(1, 1, 2)),
        Rearrange(name="twice", source=image, axes=(((6, 63),), ((7, 9), (2, 0)), ((9, 1), (2, 0)))),
    ]


@pytest.mark.parametrize("which", ["least", "most"])
def test_stages_equal_golden(which: str, tmp_path: Path) -> None:
    cases: list[tuple[Layer, Fold]] = []
    for layer in layers():
        folds = list(layer.folds())
        cases.append((layer, folds[0] if which == "least" else folds[-1]))
    assert_layers_exact(cases, tmp_path)


def exact(layer: Layer, inputs: dict[str, Codes]) -> Codes:
    """The layer's result for the same numbers in float64."""
    graph = side_by_side([layer])
    wide = {name: codes.astype(np.float64) for name, codes in inputs.items()}
    return run_golden(graph, wide)[graph.layers[0].name]


def test_golden_is_as_near_to_float64_as_float32_can_be() -> None:
    generator = np.random.default_rng(5)
    for layer in layers():
        graph = side_by_side([layer])
        inputs = {port.name: random_floats((2, *port.tensor.shape), generator) for port in graph.inputs}
        found = run_golden(graph, inputs)[graph.layers[0].name]
        assert found.dtype == np.float32, layer.name
        want = exact(layer, inputs)
        largest = max(float(np.abs(codes).max()) for codes in inputs.values())
        size = largest**2 if layer.kind == "mul" else largest
        # 63 additions at the most, each off by half a last bit of a sum
        np.testing.assert_allclose(found, want, rtol=0, atol=64 * size * 2.0**-24 * 63, err_msg=layer.name)


def test_partial_sums_take_turns() -> None:
    """Sixteen running sums, then a tree: with 2^24 and ones the order shows."""
    pixels = [np.float32(1)] * (2 * PARTIALS)
    pixels[0] = np.float32(2**24)
    # partial sum 0: 2^24 + 1 = 2^24; the others 2 each; the tree adds them in pairs of pairs
    assert partial_sums([np.array(one) for one in pixels]) == np.float32(2**24 + 30)
    assert np.add.accumulate(np.array(pixels))[-1] == np.float32(2**24), "in a row all are lost"


def test_zeros_keep_their_signs() -> None:
    values = np.array([-0.0, 0.0, -1.0, 7.0], np.float32).reshape(1, 1, 1, 4)
    relu = Clamp(name="relu", source=tensor(1, 1, 4), result_type=FLOAT, low=0.0, high=6.0)
    assert [str(one) for one in relu.golden(values).reshape(-1)] == ["-0.0", "0.0", "0.0", "6.0"]
