"""MultiThreshold of QONNX: a count of the thresholds that a value reaches, scaled and moved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hlsgen.base.coded import Doubles
from hlsgen.frontends.builder.views import Value
from hlsgen.frontends.onnx.model import Node
from hlsgen.frontends.onnx.reading import Reading
from hlsgen.frontends.onnx.values import Known, Real

LAYOUTS = {2: "NC", 3: "NWC", 4: "NCHW"}
"""What QONNX takes a tensor's axes for where the node does not say it, by their number."""


def multi_threshold(reading: Reading, node: Node, x: Value) -> Sequence[Known]:
    """out_bias + out_scale * (how many of its channel's thresholds are not above x)."""
    rows = reading.needed(node, 1).values.astype(np.float64)
    scale, bias = node.number("out_scale", 1.0), node.number("out_bias", 0.0)
    if scale == 0:
        raise node.problem("out_scale is 0: all its results are alike", "a scale that is not 0")
    axis = _channel_axis(node, x.rank)
    channels = x.shape[axis]
    if rows.ndim != 2 or not rows.size or len(rows) not in (1, channels) or np.isnan(rows).any():
        message = (
            f"its thresholds have the shape {list(rows.shape)}, or are no numbers, for {channels} channels"
        )
        raise node.problem(message, f"a row of thresholds for all channels, or {channels} rows")
    ascending: Doubles = np.sort(rows, axis=1)  # a count does not depend on their order
    return [Real(view=reading.builder.thresholds(x, ascending, axis, bias, scale))]


def _channel_axis(node: Node, rank: int) -> int:
    """The axis of the channels, the batch not counted."""
    layout = str(node.attribute("data_layout", "")) or LAYOUTS.get(rank + 1, "")
    axis = layout.index("C") if "C" in layout else 1
    if not 1 <= axis <= rank:
        message = f"its data_layout {layout} has the channels at axis {axis} of {rank + 1}"
        raise node.problem(message, "a layout of as many axes, the batch first, such as NCHW or NHWC")
    return axis - 1
