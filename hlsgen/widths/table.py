"""A table of accuracy by precision: its rows, as JSON and as text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hlsgen.base.short_repr import Brief, lines
from hlsgen.model.confidence import CONFIDENCE
from hlsgen.widths.metric import Metric

HEADS = ("number types", "as in float", "dB", "frames/s", "LUT", "DSP", "BRAM18", "signs")


@dataclass(frozen=True, kw_only=True)
class Hardware(Brief):
    """Modelled hardware of all instances on the board; refusal: why there is none."""

    frames_per_s: float = 0.0
    instances: int = 0
    lut: int = 0
    dsp: int = 0
    bram18: int = 0
    uram: int = 0
    refusal: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"refusal": self.refusal} if self.refusal else {k: v for k, v in vars(self).items() if v != ""}


@dataclass(frozen=True, kw_only=True)
class Row(Brief):
    """A precision. metric: measured, as agreement (share of frames with the answer of floating point) and
    output_db are; at_least: the share of all frames that so many right ones show.
    """

    name: str
    precision: str
    metric: float | None
    at_least: float | None
    agreement: float | None
    output_db: float | None
    signs: tuple[str, ...]
    hardware: Hardware | None

    def as_json(self) -> dict[str, Any]:
        decibels = self.output_db
        return {
            "name": self.name,
            "precision": self.precision,
            "metric": self.metric,
            "metric_at_least": None if self.at_least is None else round(self.at_least, 4),
            "agreement": self.agreement,
            "output_db": None if decibels is None or math.isinf(decibels) else round(decibels, 2),
            "warnings": list(self.signs),
            "hardware": None if self.hardware is None else self.hardware.as_json(),
        }

    def cells(self, metric: Metric | None) -> list[str]:
        """The row as text: the metric behind the name, if there is one."""
        found = [self.name]
        if metric is not None:
            found.append("" if self.metric is None else metric.text(self.metric))
        found.append("" if self.agreement is None else f"{self.agreement:.1%}")
        decibels = self.output_db
        found.append("" if decibels is None else "equal" if math.isinf(decibels) else f"{decibels:.1f}")
        of = self.hardware
        if of is None:
            found += [""] * 4
        elif of.refusal:
            found += ["none fits", "", "", ""]
        else:
            found += [f"{of.frames_per_s:,.0f}", f"{of.lut:,}", f"{of.dsp:,}", f"{of.bram18:,}"]
        return [*found, str(len(self.signs)) if self.signs else ""]


@dataclass(frozen=True, kw_only=True)
class AccuracyTable(Brief):
    """Rows by precision on `frames` frames of `source`, `choosing` of which are equal to
    calibration frames.
    """

    design: str
    board: str
    clock_mhz: float
    frames: int
    source: str
    choosing: int
    metric: Metric | None
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from hlsgen.widths.notebook import accuracy_card

        return accuracy_card(self).html()

    @property
    def heads(self) -> list[str]:
        first, *others = HEADS
        shown = [] if self.metric is None else [self.metric.name if self.metric.is_share else "metric"]
        return [first, *shown, *others]

    @property
    def headline(self) -> str:
        """The frames, and what is measured and what modelled."""
        some = f" ({self.choosing} of them equal calibration frames)" if self.choosing else ""
        named = "" if self.metric is None or self.metric.is_share else f", metric {self.metric.name}"
        return (
            f"{self.design}: answers on {self.frames} frames of {self.source}{some}{named}, measured; "
            f"hardware on {self.board} at {self.clock_mhz:g} MHz, modelled"
        )

    @property
    def signs(self) -> list[str]:
        """What each row warns of, and why it has no hardware."""
        found = []
        for row in self.rows:
            found += [f"{row.name}: {sign}" for sign in row.signs]
            if row.hardware is not None and row.hardware.refusal:
                found.append(f"{row.name}: no hardware: {row.hardware.refusal}")
        return found

    def as_json(self) -> dict[str, Any]:
        return {
            "design": self.design,
            "board": self.board,
            "clock_mhz": self.clock_mhz,
            "frames": self.frames,
            "source": self.source,
            "calibration_frames": self.choosing,
            "metric": None if self.metric is None else self.metric.name,
            "confidence": CONFIDENCE,
            "rows": [row.as_json() for row in self.rows],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        cells = [self.heads, *(row.cells(self.metric) for row in self.rows)]
        sizes = [max(map(len, column)) for column in zip(*cells, strict=True)]
        shown = ["  ".join(cell.ljust(size) for cell, size in zip(row, sizes, strict=True)) for row in cells]
        return lines(self.headline, *(one.rstrip() for one in shown), *self.signs, *self.notes)
