"""What a C-simulation has shown, of any style of design."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from hlsgen.base.fixed import Codes, NumberType
from hlsgen.base.short_repr import Brief


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How two results differ. `first` is (frame, channel, row, column) of the first difference."""

    compared: int
    mismatches: int
    max_abs_error: float
    first: tuple[int, ...] | None = None

    @property
    def verdict(self) -> str:
        return "equal" if self.mismatches == 0 else "differs"


def compare(got: Codes, want: Codes, type_: NumberType) -> Comparison:
    """Bit for bit: codes of fixed point, the bits of float32."""
    if got.dtype == np.float32:
        different = got.view(np.uint32) != want.astype(np.float32).view(np.uint32)
    else:
        different = got != want.astype(got.dtype)
    mismatches = int(np.count_nonzero(different))
    if not mismatches:
        return Comparison(compared=got.size, mismatches=0, max_abs_error=0.0)
    error = np.abs(type_.decode(got) - type_.decode(want.astype(got.dtype)))
    first = tuple(int(i) for i in np.argwhere(different)[0])
    return Comparison(compared=got.size, mismatches=mismatches, max_abs_error=float(error.max()), first=first)


@dataclass(frozen=True, kw_only=True)
class Verification(Brief, ABC):
    """What C-simulation showed. The seconds are measured here and say nothing about the FPGA."""

    comparison: Comparison
    frames: int
    compile_seconds: float
    run_seconds: float

    @abstractmethod
    def report(self) -> dict[str, Any]:
        """What report.json says besides the comparison; nothing in it depends on the machine."""

    @abstractmethod
    def checked(self) -> str:
        """One line on what was checked besides the results."""


@dataclass(frozen=True, kw_only=True)
class LayerComparison:
    name: str
    comparison: Comparison


@dataclass(frozen=True, kw_only=True)
class NetworkVerification(Verification):
    """`comparison` covers every layer; `iterations` are counted in C-simulation, by the name of a process.

    subject: what is compared, in words. A network of tasks has `iterations` by kernel, then by process.
    """

    subject: str

    layers: tuple[LayerComparison, ...]
    iterations: dict[str, Any]
    bounded_frames: int

    def report(self) -> dict[str, Any]:
        return {
            "layers": [
                {
                    "name": layer.name,
                    "compared": layer.comparison.compared,
                    "mismatches": layer.comparison.mismatches,
                }
                for layer in self.layers
            ],
            "iterations_measured": self.iterations,
            "bounded_fifos": {"frames": self.bounded_frames, "verdict": "ran through"},
        }

    def checked(self) -> str:
        return (
            f"{len(self.layers)} {self.subject}; every stage reads and writes in the modelled iterations; "
            f"FIFOs of the emitted depths do not deadlock"
        )
