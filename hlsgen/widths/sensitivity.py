"""How much noise each tensor's width makes at the outputs: golden with that tensor alone narrowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.progress import Progress
from hlsgen.model.ir import Graph, run_golden
from hlsgen.model.ports import Floats, outputs_of, tensor_codes
from hlsgen.widths.tensors import Typing, Variable

MOST_FRAMES = 64
"""Frames that noise is measured on."""
MOST_MACS = 1 << 36
"""Fewer, but two, where all runs together would need more multiply-accumulates."""


def sensitivity(
    typing: Typing,
    values: Mapping[str, Floats],
    known: Sequence[Variable],
    widths: Sequence[int],
    progress: Progress,
) -> dict[Variable, NDArray[np.float64]]:
    """The noise of each tensor at each width, as a share of the outputs' power: those of all outputs added.

    Every other tensor has 16 bits, whose own noise is taken off. It never grows with the width: what does is
    chance, and becomes that of the narrower one. values: frames [N, C, H, W] of each input.
    """
    runs = len(known) * len(widths)
    most = max(2, min(MOST_FRAMES, MOST_MACS // max(1, typing.reference.macs * runs)))
    some = {name: array[:most] for name, array in values.items()}
    wanted = answers_of(typing.reference, some)
    base = noise_of(answers_of(typing.graph(typing.precision({})), some), wanted)
    found = {}
    for index, one in enumerate(known):
        noise = []
        for step, bits in enumerate(widths):
            progress("measuring what each tensor's width costs", index * len(widths) + step, runs)
            graph = typing.graph(typing.precision({one: bits}))
            noise.append(max(0.0, noise_of(answers_of(graph, some), wanted) - base))
        found[one] = np.maximum.accumulate(np.array(noise)[::-1])[::-1]
    return found


def answers_of(graph: Graph, values: Mapping[str, Floats]) -> list[Floats]:
    """The outputs of a network in floating or fixed point, in the framework's layout."""
    given = dict(values)
    if not graph.inputs[0].tensor.is_float:
        given = {
            port.name: tensor_codes(port, values[port.name], f"the frames of {port.name}")
            for port in graph.inputs
        }
    found = outputs_of(graph.outputs, run_golden(graph, given, {port.source for port in graph.outputs}))
    return found if isinstance(found, list) else [found]


def noise_of(outputs: Sequence[Floats], wanted: Sequence[Floats]) -> float:
    """The power of what differs, over that of what varies, summed over the outputs."""
    total = 0.0
    for got, exact in zip(outputs, wanted, strict=True):
        signal = float(np.var(exact)) or float(np.mean(exact**2)) or 1.0
        total += float(np.mean((got - exact) ** 2)) / signal
    return total
