"""What a run took, and what it was measured on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hlsgen.base.rates import rate_text

PERCENTS = (50, 90, 99, 100)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Measured on this machine's clock, from codes in memory to codes in memory.

    measured_on: a card, or C-simulation, whose time says nothing about an FPGA. latency_s: by percent, the
    seconds in which that share of the chunks of `chunk_frames` frames were done, from the first byte packed.
    """

    measured_on: str
    fpga: bool
    frames: int
    seconds: float
    chunk_frames: int
    latency_s: Mapping[int, float]

    @property
    def frames_per_s(self) -> float:
        return self.frames / self.seconds

    def __str__(self) -> str:
        note = "" if self.fpga else "; this is no FPGA time"
        latency = ", ".join(
            f"{'max' if percent == 100 else f'p{percent}'} {1e3 * seconds:.3f} ms"
            for percent, seconds in self.latency_s.items()
        )
        return (
            f"measured on {self.measured_on}{note}: {rate_text(self.frames_per_s)} frames/s "
            f"({self.frames} frames in {self.seconds:.6f} s); chunks of {self.chunk_frames}: {latency}"
        )


def figures_of(
    spans: Sequence[float], *, measured_on: str, fpga: bool, frames: int, seconds: float, chunk_frames: int
) -> Figures:
    """The figures of a run. spans: seconds of each chunk."""
    ranked = np.percentile(np.asarray(spans), PERCENTS, method="inverted_cdf")
    return Figures(
        measured_on=measured_on,
        fpga=fpga,
        frames=frames,
        seconds=seconds,
        chunk_frames=chunk_frames,
        latency_s=dict(zip(PERCENTS, map(float, ranked), strict=True)),
    )
