"""What a user should know of tensors in half whose numbers leave its narrow range on some frames."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.base.floating import HALF, SMALLEST_HALF
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph

NEAR_ZERO = 8 * SMALLEST_HALF
"""Numbers most of which are smaller: so are sums and products of some, of which half has none."""


def half_warnings(graph: Graph, tensors: Mapping[str, Codes]) -> list[str]:
    """A line for each tensor and each layer's weights that half does not suit. tensors: golden's codes, by
    name.
    """
    found: list[str] = []
    for layer in graph.layers:
        if layer.output_type != HALF:
            continue
        if isinstance(layer, Conv2d):
            found += _small(f"{layer.name}: most weights", layer.weights)
        if layer.name in tensors:
            codes = tensors[layer.name]
            beyond = int(np.count_nonzero(~np.isfinite(codes)))
            if beyond:
                what = f"{layer.name}: {beyond:,} of {codes.size:,} results are infinite or no number"
                fix = "scale its values down, or take float32"
                found.append(f"{what}, since half ends at {HALF.largest:.0f}: {fix}")
            found += _small(f"{layer.name}: most results", codes)
    return found


def _small(what: str, codes: Codes) -> list[str]:
    sizes = np.abs(codes[(codes != 0) & np.isfinite(codes)].astype(np.float32))
    if not sizes.size or np.median(sizes) >= NEAR_ZERO:
        return []
    end = f"near {SMALLEST_HALF:.2g}, below which half counts as zero"
    return [f"{what} are below {NEAR_ZERO:.2g}, {end}: scale them up, or take float32"]
