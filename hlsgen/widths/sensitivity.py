"""How much noise each tensor's width makes at the outputs: golden with that tensor alone narrowed.

What comes before the tensor is the same for all its widths, and held (rerun.py). A network so large that its
runs are too much work is measured on fewer frames, and where noise has come to fall as that of rounding does,
a quarter a bit, wider types are taken from that law.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.progress import Progress
from hlsgen.model.ir import Graph
from hlsgen.model.ports import Floats
from hlsgen.widths.rerun import Rerun
from hlsgen.widths.tensors import Typing, Variable

MOST_FRAMES = 64
"""Frames that noise is measured on."""
LEAST_FRAMES = 4
"""No fewer: of one frame the noise of one output would be a matter of chance."""
MOST_MACS = 1 << 40
"""Fewer frames, where all runs together would need more multiply-accumulates."""
HELD_ELEMENTS = 1 << 28
"""Or where all tensors of the frames would have more elements, of two bytes each."""
LAW = 2.0
"""Noise within this factor of a quarter a bit, between two widths, follows the law of rounding."""
LAW_BITS = 6
"""Narrower types clip and miss more than the law says."""


def sensitivity(
    typing: Typing,
    values: Mapping[str, Floats],
    wanted: Sequence[Floats],
    known: Sequence[Variable],
    widths: Sequence[int],
    progress: Progress,
) -> dict[Variable, NDArray[np.float64]]:
    """The noise of each tensor at each of `widths`, the narrowest first, as a share of the outputs' power:
    those of all outputs added.

    Every other tensor has 16 bits, whose own noise is taken off. It never grows with the width: what does is
    chance, and becomes that of the narrower one. values: frames [N, C, H, W] of each input; wanted: the
    outputs in floating point for them.
    """
    base = typing.graph(typing.precision({}))
    most = _frames(base, known, len(widths))
    wanted = [array[:most] for array in wanted]
    run = Rerun(base, {name: array[:most] for name, array in values.items()})
    own = noise_of(run.answers_of(base), wanted)
    found, runs = {}, len(known) * len(widths)
    for index, one in enumerate(known):
        noise: list[float] = []
        for step, bits in enumerate(widths):
            progress("measuring what each tensor's width costs", index * len(widths) + step, runs)
            if most < MOST_FRAMES and _follows_law(noise, widths):
                noise.append(noise[-1] * 4.0 ** (widths[step - 1] - bits))
                continue
            graph = typing.graph(typing.precision({one: bits}))
            noise.append(max(0.0, noise_of(run.answers_of(graph), wanted) - own))
        found[one] = np.maximum.accumulate(np.array(noise)[::-1])[::-1]
    return found


def _frames(graph: Graph, known: Sequence[Variable], widths: int) -> int:
    """How many frames the work and the memory allow."""
    after, left = {}, graph.macs
    for layer in graph.layers:
        after[layer.name] = left
        left -= layer.macs
    work = widths * sum(after.get(one.name, graph.macs) for one in known)
    elements = sum(math.prod(tensor.shape) for tensor in graph.tensors().values())
    return max(LEAST_FRAMES, min(MOST_FRAMES, MOST_MACS // max(1, work), HELD_ELEMENTS // elements))


def _follows_law(noise: Sequence[float], widths: Sequence[int]) -> bool:
    """Whether the last two widths that were measured differ as rounding to them does."""
    if len(noise) < 2 or noise[-1] <= 0 or widths[len(noise) - 1] < LAW_BITS:
        return False
    law = 4.0 ** (widths[len(noise) - 1] - widths[len(noise) - 2])
    return law / LAW <= noise[-2] / noise[-1] <= law * LAW


def noise_of(outputs: Sequence[Floats], wanted: Sequence[Floats]) -> float:
    """The power of what differs, over that of what varies, summed over the outputs."""
    total = 0.0
    for got, exact in zip(outputs, wanted, strict=True):
        signal = float(np.var(exact)) or float(np.mean(exact**2)) or 1.0
        total += float(np.mean((got - exact) ** 2)) / signal
    return total
