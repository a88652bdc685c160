"""QONNX's Trunc: integers of fewer bits, by leaving the lowest ones out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hlsgen.frontends.onnx.elementwise import moved
from hlsgen.frontends.onnx.model import Node
from hlsgen.frontends.onnx.quant import MOST_BITS, direction_of, number_of, on_grid, positive
from hlsgen.frontends.onnx.reading import Reading
from hlsgen.frontends.onnx.values import Known, Real
from hlsgen.passes.quantisers import Grid


def trunc(reading: Reading, node: Node) -> Sequence[Known]:
    """Trunc(x, scale, zero point, bits, bits of the result), or with the result's scale before its bits.

    The first form has no limits, and its result has the steps of the input; so it is smaller by what was left
    out. Raises DesignError: other bits, a zero point, or scales whose ratio is no power of two.
    """
    x = reading.view(node)
    scale = float(positive(node, reading.needed(node, 1).values).reshape(-1)[0])
    zero, bits = number_of(reading, node, 2, "zero point"), number_of(reading, node, 3, "bit width")
    second = len(node.inputs) > 5
    left = number_of(reading, node, 5 if second else 4, "bit width of the result")
    if zero or not (1 <= left <= MOST_BITS and 1 <= bits <= MOST_BITS) or {left % 1, bits % 1} != {0}:
        message = f"it truncates {bits:g} bits to {left:g}, with the zero point {zero:g}"
        raise node.problem(message, f"1 to {MOST_BITS} bits and a zero point of 0")
    shift = int(bits - left)
    if second:
        shift = round(math.log2(number_of(reading, node, 4, "scale of the result") / scale))
    step = scale * 2.0**shift
    if second and not math.isclose(step, number_of(reading, node, 4, "scale"), rel_tol=1e-6):
        message = "the scale of its result is no power of two times that of its input"
        raise node.problem(message, "a Quant in its place")
    ends = 1 << int(bits)
    exact = Grid(
        scale=np.array([scale]), low=-ends, high=ends
    )  # in which sums of floats lie but for rounding
    view = on_grid(reading, node, x, exact, np.array([scale]))
    low, high = _ends(node, int(left), limited=second)
    cut = Grid(scale=np.array([step]), low=low, high=high, direction=direction_of(node, "FLOOR"))
    view = on_grid(
        reading, replace(node, name=f"{node.name or node.outputs[0]}_cut"), view, cut, np.array([step])
    )
    return [moved(reading, node, Real(view=view), 1.0 if second else 2.0**-shift, 0.0)]


def _ends(node: Node, bits: int, limited: bool) -> tuple[int, int]:
    if not limited:
        return -(1 << bits), (1 << bits) - 1
    signed, narrow = node.flag("signed", 1), node.flag("narrow", 0)
    top = 1 << (bits - signed)
    return (-top + narrow, top - 1) if signed else (0, top - 1 - narrow)
