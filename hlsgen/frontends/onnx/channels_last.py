"""QONNX's operations on tensors with their channels last, as its ConvertToChannelsLast writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hlsgen.frontends.onnx.model import Node
from hlsgen.frontends.onnx.reading import Handler, Reading
from hlsgen.frontends.onnx.sums import reshaped
from hlsgen.frontends.onnx.values import Known, Real


def of_channels_last(reading: Reading, node: Node, handler: Handler) -> Sequence[Known]:
    """The operation of ONNX on the tensor with its channels in front, and its result with them behind.

    The weights of a convolution have their channels last, too.
    """
    x = reading.view(node)
    name = f"{node.outputs[0]}/channels_first"
    reading.known[name] = Real(view=reading.builder.permute(x, (x.rank - 1, *range(x.rank - 1))))
    inputs = [name, *node.inputs[1:]]
    if node.op == "Conv":
        weights = reading.needed(node, 1)
        inputs[1] = f"{node.outputs[0]}/weights"
        reading.known[inputs[1]] = reshaped(weights, lambda array: np.moveaxis(array, -1, 1))
    results = handler(reading, replace(node, domain="", inputs=tuple(inputs)))
    return [
        Real(view=reading.builder.permute(one.view, (*range(1, one.view.rank), 0)))
        for one in results
        if isinstance(one, Real)
    ]
