"""Forms of QONNX models that its own tools write: truncations, and tensors with their channels last."""

from __future__ import annotations

import warnings
from typing import Any
from unittest import mock

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("qonnx", reason="needs qonnx: pip install 'hlsgen[onnx]'")

from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import (  # noqa: E402
    QONNX,
    assert_same,
    message,
    model,
    node,
    normal,
    outputs_of,
)
from tests.support.frontends.onnx_networks import FRAMES, Net, differences, executed  # noqa: E402


def truncated(net: Net, x: str, numbers: list[float], **attributes: Any) -> str:
    names = " ".join([x, *(net.constant(number) for number in numbers)])
    return net.add("Trunc", names, domain=QONNX, **attributes)


@pytest.mark.parametrize("mode", ["FLOOR", "ROUND", "CEIL"])
@pytest.mark.parametrize("signed", [0, 1])
@pytest.mark.parametrize("scale", [2.0**-4, 0.0371])
def test_truncations_of_sums(mode: str, signed: int, scale: float) -> None:
    """As Brevitas' TruncAvgPool2d: the mean of integers times their number, cut to few bits."""
    net = Net((3, 6, 6))
    x = net.quant("x", scale, 8, signed=signed)
    pooled = net.add("AveragePool", x, kernel_shape=[3, 3], strides=[3, 3])
    sums = net.add("Mul", f"{pooled} {net.constant(9.0)}")
    numbers = [scale, 0.0, 12.0, 16 * scale, 8.0]
    made = net.qonnx(truncated(net, sums, numbers, rounding_mode=mode, signed=signed), (3, 2, 2))
    made.opset_import[1].version = 2
    array = np.float32(60 * scale) * normal(1, FRAMES, 3, 6, 6)
    _, steps = differences(made, array, 16 * scale, executed(made, array))
    assert not steps.any()


def test_truncations_of_the_first_version() -> None:
    net = Net((3, 4, 5))
    x = net.quant("x", 2.0**-3, 8)
    made = net.qonnx(truncated(net, x, [2.0**-3, 0.0, 8.0, 5.0], rounding_mode="FLOOR"), (3, 4, 5))
    array = 6 * normal(1, FRAMES, 3, 4, 5)
    _, steps = differences(made, array, 2.0**-3, executed(made, array))
    assert not steps.any()


def test_truncations_that_are_none() -> None:
    for numbers, said in (
        ([0.5, 1.0, 8.0, 2.0, 4.0], "the zero point 1"),
        ([0.5, 0.0, 8.0, 0.7, 4.0], "no power of two"),
        ([0.5, 0.0, 8.5, 2.0, 4.0], "it truncates 8.5 bits"),
    ):
        net = Net((3, 4, 5))
        assert said in message(net.qonnx(truncated(net, net.quant("x", 0.5), numbers), (3, 4, 5)))


def test_a_network_with_its_channels_last() -> None:
    """What qonnx's ConvertToChannelsLastAndClean makes of a network, with and without its input."""
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.transformation.channels_last import ConvertToChannelsLastAndClean
    from qonnx.transformation.infer_shapes import InferShapes

    net = Net((3, 8, 8))
    weights = net.quant(net.constant(normal(1, 4, 3, 3, 3)), 2.0**-5, 6, narrow=1)
    x = net.quant("x", 2.0**-4)
    y = net.add(
        "Conv",
        f"{x} {weights}",
        pads=[1, 1, 1, 1],
        kernel_shape=[3, 3],
        dilations=[1, 1],
        group=1,
        strides=[1, 1],
    )
    statistics = [normal(2, 4), normal(3, 4), normal(4, 4), np.abs(normal(5, 4)) + 1]
    y = net.add("BatchNormalization", " ".join([y, *(net.constant(array) for array in statistics)]))
    y = net.quant(net.add("Relu", y), 2.0**-4, 8, signed=0)
    y = net.add("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 0, 0])
    made = net.qonnx(y, (4, 4, 4))
    array = 2 * normal(6, FRAMES, 3, 8, 8)
    wanted = executed(made, array)
    for first in (False, True):
        with warnings.catch_warnings(), mock.patch("qonnx.core.onnx_exec.qonnx_make_model", _older):
            warnings.simplefilter("ignore")
            turned = ModelWrapper(made).transform(InferShapes())
            turned = turned.transform(ConvertToChannelsLastAndClean(make_input_channels_last=first))
        domains = {one.domain for one in turned.graph.node}
        assert "qonnx.custom_op.channels_last" in domains
        graph = graph_of_onnx(turned, name="net")
        frames = array.transpose(0, 2, 3, 1) if first else array
        found = outputs_of(graph, frames)[0]
        behind = found.shape != wanted.shape
        np.testing.assert_array_equal(found, wanted.transpose(0, 2, 3, 1) if behind else wanted)


def _older(*arguments: Any, **fields: Any) -> Any:
    return onnx.helper.make_model(*arguments, ir_version=10, **fields)


def test_a_flatten_of_all_axes() -> None:
    for axis in (0, -4):
        nodes = [node("Relu", "x", "r"), node("Flatten", "r", "f", axis=axis), node("Gemm", "f w", "y")]
        assert_same(model(nodes, {"x": (1, 2, 3, 4)}, {"w": normal(1, 24, 5)}), normal(2, 1, 2, 3, 4))
    assert "joins the batch" in message(model(nodes, {"x": (2, 2, 3, 4)}, {"w": normal(1, 48, 5)}))
