"""Seconds that a part of a network takes on this machine's CPU, measured."""

from __future__ import annotations

import statistics
import time

import numpy as np

from hlsgen.cpu.running import CpuPart

LEAST_SECONDS = 0.1
"""For which a part is repeated, and at least LEAST_RUNS times."""
LEAST_RUNS = 5
MOST_RUNS = 1000


def measured_seconds(part: CpuPart, frames: int = 1, seed: int = 1) -> float:
    """Seconds a frame of `part`, `frames` in a call: the median of calls, the first of which do not count.

    Values are random within 0 and 1: time on a CPU does not hang on them but for subnormal numbers.
    """
    random = np.random.default_rng(seed)
    values = {
        port.name: random.random((frames, *port.tensor.shape), np.float32) for port in part.graph.inputs
    }
    for _ in range(2):
        part(values)
    taken: list[float] = []
    while len(taken) < LEAST_RUNS or (sum(taken) < LEAST_SECONDS and len(taken) < MOST_RUNS):
        begin = time.perf_counter()
        part(values)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken) / frames
