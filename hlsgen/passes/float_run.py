"""What a network in floating point gives for calibration frames: types are chosen and judged by it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from hlsgen.ir import Graph, run_golden
from hlsgen.precision import MOST_SAMPLES, Floats

KEPT_FRAMES = 16
"""Calibration frames whose tensors are kept: the accuracy of types is stated on them."""
KEPT_MACS = 1 << 31
"""Fewer, if together they would need more multiply-accumulates."""


class FloatRun:
    """`graph`, all float, on calibration frames [N, C, H, W] of each input; each frame is run once.

    count: frames. kept: the first ones, whose tensors are kept.
    """

    def __init__(self, graph: Graph, frames: Mapping[str, Floats]) -> None:
        self.graph = graph
        self.frames = frames
        self.count = min(len(array) for array in frames.values())
        self.kept = max(1, min(KEPT_FRAMES, KEPT_MACS // max(1, graph.macs), self.count))
        self._first = run_golden(graph, self.inputs(self.kept))

    def inputs(self, count: int) -> dict[str, Floats]:
        """The first `count` frames of each input."""
        return {name: array[:count] for name, array in self.frames.items()}

    def first(self, count: int) -> dict[str, Floats]:
        """By name every tensor of the first `count` frames, of those that are kept."""
        assert count <= self.kept
        return {name: values[:count] for name, values in self._first.items()}

    def of_frame(self, frame: int) -> dict[str, Floats]:
        """By name every tensor [1, C, H, W] of one frame."""
        part = slice(frame, frame + 1)
        if frame < self.kept:
            return {name: values[part] for name, values in self._first.items()}
        return run_golden(self.graph, {name: array[part] for name, array in self.frames.items()})

    @cached_property
    def samples(self) -> dict[str, Floats]:
        """Values of every tensor, at most MOST_SAMPLES, over all frames."""
        each = max(256, MOST_SAMPLES // self.count)
        generator = np.random.default_rng(0)
        parts: dict[str, list[Floats]] = {}
        for frame in range(self.count):
            for name, array in self.of_frame(frame).items():
                flat = array.reshape(-1)
                if flat.size > each:
                    # the extremes always belong to it: what clips them must pay for it
                    some = generator.choice(flat.size, each - 2, replace=False)
                    flat = np.concatenate([flat[some], [flat.min(), flat.max()]])
                parts.setdefault(name, []).append(flat)
        return {name: np.concatenate(arrays) for name, arrays in parts.items()}
