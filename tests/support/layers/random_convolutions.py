"""Convolutions of any size, kernel, stride, padding, dilation and types that keep to the rules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType, Overflow, Rounding, tight_accumulator
from hlsgen.layers.conv2d import Conv2d


@st.composite
def convolutions(draw: st.DrawFn, most_groups: int = 4, most_channels: int = 4) -> Conv2d:
    """most_channels: of a group, in and out."""
    groups = draw(st.sampled_from([1, 1, 1, *range(2, most_groups + 1)]))
    size, members = draw(st.integers(1, most_channels)), draw(st.integers(1, most_channels))
    kernel = (draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    stride = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    dilation = (draw(st.integers(1, 2)), draw(st.integers(1, 2)))
    padding = tuple(draw(st.integers(0, 3)) for _ in range(4))
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    height = draw(st.integers(max(1, reach[0] - padding[0] - padding[2]), 9))
    width = draw(st.integers(max(1, reach[1] - padding[1] - padding[3]), 9))
    seed = draw(st.integers(0, 1 << 30))
    generator = np.random.default_rng(seed)
    source = FixedType(draw(st.integers(1, 12)), draw(st.integers(0, 4)), draw(st.booleans()))
    weight = FixedType(draw(st.integers(2, 9)), draw(st.integers(0, 2)))
    bias = FixedType(draw(st.integers(2, 12)), draw(st.integers(0, 3)))
    shape = (groups * members, size, *kernel)
    layer = Conv2d(
        name="conv",
        in_shape=(groups * size, height, width),
        out_channels=groups * members,
        kernel=kernel,
        stride=stride,
        padding=padding,  # type: ignore[arg-type]
        dilation=dilation,
        groups=groups,
        low=draw(st.sampled_from([None, 0.0])),
        high=draw(st.sampled_from([None, 1.0])),
        input_type=source,
        weight_type=weight,
        bias_type=bias,
        accumulator=weight,
        result_type=FixedType(
            draw(st.integers(4, 16)), draw(st.integers(1, 6)), True, Rounding.RND, Overflow.SAT
        ),
        weights=generator.integers(weight.min_code, weight.max_code, shape, endpoint=True),
        bias=generator.integers(
            bias.min_code, bias.max_code, (shape[0] * draw(st.booleans()),), endpoint=True
        ),
    )
    layer = layer.retyped((source,), layer.result_type)
    low, high = layer.worst_case_sum
    return replace(layer, accumulator=tight_accumulator(low, high, layer.sum_fraction))
