"""Frames that a design is simulated with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hlsgen.base.fixed import Codes
from hlsgen.base.short_repr import Brief
from hlsgen.model.ports import Floats


@dataclass(frozen=True, kw_only=True)
class SimulationFrames(Brief):
    """Frames [frames, C, H, W] of each input: `values` before they are quantised, and their `codes`."""

    values: Mapping[str, Floats]
    codes: dict[str, Codes]
