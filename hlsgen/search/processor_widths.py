"""The widths that a network in fixed point needs of a shared processor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hlsgen.base.fixed import FixedType
from hlsgen.hardware.processor import Processor
from hlsgen.model.ir import Graph
from hlsgen.program.lowering import lowered, needs_scales, needs_tables

NARROW, WIDE = 8, 16
"""Bits of a processor's activations and weights."""
ANY_DEPTH = 64
"""Of memories, which say nothing of widths."""


def widest(graph: Graph) -> Processor:
    """One that has hardware for all that any has."""
    return Processor(
        rows=1,
        lanes=4,
        activation_bits=WIDE,
        weight_bits=WIDE,
        unsigned=True,
        pixel_depth=ANY_DEPTH,
        weight_depth=ANY_DEPTH,
        weight_beat_bits=32,
        tables=needs_tables(graph),
        scales=True,
    )


def needed_widths(graph: Graph, wished_bits: int | None = None) -> tuple[int, int, bool]:
    """The bits of activations and weights that a graph needs, and whether unsigned ones fill them.

    wished_bits: of activations, if more are wished. Raises DesignError: a layer has no hardware, needs more
    than the widest processor has.
    """
    wide = widest(graph)
    found = lowered(graph, wide if needs_scales(graph, wide) else replace(wide, scales=False))
    types = [tensor.type for tensor in found.tensors.values() if isinstance(tensor.type, FixedType)]
    activation_bits = max(NARROW if max(type_.width for type_ in types) <= NARROW else WIDE, wished_bits or 0)
    unsigned = any(not type_.signed and type_.width == activation_bits for type_ in types)
    limits = [
        max(int(task.weights.max()), ~int(task.weights.min()))
        for task in found.tasks
        if task.weights is not None and np.size(task.weights)
    ]
    weight_bits = NARROW if max(limits, default=0) < 1 << (NARROW - 1) else WIDE
    return activation_bits, weight_bits, unsigned
