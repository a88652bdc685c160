"""The modelled figures of a design of any style."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.short_repr import Brief, lines
from hlsgen.cost.resources import Resources
from hlsgen.targets.board import Board


class Estimates(Brief, ABC):
    """The modelled figures of a design, which is called `design`."""

    design: str

    def __repr__(self) -> str:
        board, clock_mhz = self.target
        used = self.used
        return lines(
            f"{type(self).__name__} of {self.design} on {board.name} at {clock_mhz:g} MHz, modelled",
            self.hardware_text,
            f"{self.frames_per_s:,.0f} frames/s in the steady state",
            f"DSP {used.dsp:,}, BRAM18 {used.bram18:,}, URAM {used.uram:,}, LUT {used.lut:,}, FF {used.ff:,}",
            "as_json() has all figures",
        )

    @property
    @abstractmethod
    def target(self) -> tuple[Board, float]:
        """The board, and the clock in MHz."""

    @property
    @abstractmethod
    def hardware_text(self) -> str:
        """Instances, their interval and what binds, in words."""

    @property
    @abstractmethod
    def frames_per_s(self) -> float:
        """Frames a second of all instances, in the steady state."""

    @property
    @abstractmethod
    def used(self) -> Resources:
        """What all instances take."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """The figures as report.json has them."""

    def with_smallest_fifos(self) -> Estimates:
        """The same with the shallowest FIFOs that cost no speed, however long that takes.

        Raises DesignError: not a streaming network, or one too large to search.
        """
        message = "only a network of style dataflow has FIFOs to search"
        raise DesignError(Problem(message=message, fix="leave --fifos out"))
