"""What a C-simulation has shown, of any style of design."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from hlsgen.base.brief import Brief
from hlsgen.csim.simulation import Comparison


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
