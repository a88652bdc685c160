"""What a network needs of a shared processor: widths, options, and what of it is left to the host."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hlsgen.base.fixed import FixedType
from hlsgen.hardware.processor import Processor
from hlsgen.model.ir import Graph
from hlsgen.program.host_tail import Division, divided
from hlsgen.program.lowering import lowered, needs_scales, needs_tables

NARROW, WIDE = 8, 16
"""Bits of a processor's activations and weights."""
SMALLEST = 64
"""Words of the memories of a processor that only says what has hardware."""


def widest(graph: Graph) -> Processor:
    """One that has hardware for all that any has."""
    return Processor(
        rows=1,
        lanes=4,
        activation_bits=WIDE,
        weight_bits=WIDE,
        unsigned=True,
        pixel_depth=SMALLEST,
        weight_depth=SMALLEST,
        weight_beat_bits=32,
        tables=needs_tables(graph),
        scales=True,
    )


def without_tail(graph: Graph) -> Division:
    """What processors run of a graph, and what its host does; of one in floating point they run all."""
    return Division(head=graph) if graph.input.is_float else divided(graph, widest(graph))


def needed_widths(graph: Graph, wished_bits: int | None = None) -> tuple[int, int, bool]:
    """The bits of activations and weights that a graph needs, and whether unsigned ones fill them.

    wished_bits: of activations, if more are wished. Raises DesignError: a layer has no hardware, needs more
    than the widest processor has.
    """
    wide = widest(graph)
    graph = without_tail(graph).head
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
