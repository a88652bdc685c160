"""The figures of a profile and of a trace (hlsgen/tracing finds them), for pages and the console."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from hlsgen.report.section import Any_, Count, Flag, Number, Rows, Section, Text, Texts

Binades = Annotated[Mapping[Text, Count], Field(max_length=4096)]
EXACT = "exact"
"""A signal to noise without noise."""


@dataclass(frozen=True, kw_only=True)
class TensorFigures(Section):
    """A tensor's values beside its type, measured. part: input, result, weights, bias. of_floats: the values
    are floating point's. binades: counts from 2^n up to 2^(n + 1), by n; top, bottom: the n that the bits of
    the type span. lost, top and bottom of null: not known.
    """

    name: Text
    part: Text
    type: Text
    of_floats: Flag
    min: Any_
    max: Any_
    mean_abs: Number
    clipped: Number
    lost: Number | None
    spare_bits: Count
    spare_bits_below: Count
    dead: Flag
    dead_channels: Count
    top: Any_ | None
    bottom: Any_ | None
    binades: Binades


@dataclass(frozen=True, kw_only=True)
class NoiseFigures(Section):
    """The noise of a layer's result, and of that what the layer adds itself, measured. Decibels of null: no
    noise, of output_db also that it was not run. share: of the noise that all layers make.
    """

    name: Text
    type: Text
    snr_db: Any_ | None
    added_db: Any_ | None
    output_db: Any_ | None
    share: Number
    cause: Text


@dataclass(frozen=True, kw_only=True)
class AdviceFigures(Section):
    """A type to widen: why, and what to write in a design file."""

    layer: Text
    why: Text
    type: Text
    wider: Text
    design_file: Text


@dataclass(frozen=True, kw_only=True)
class ProfileFigures(Section):
    """Ranges beside types and the noise of every layer, on so many frames; effect_frames: what each layer
    does to the outputs was run on these.
    """

    frames: Count
    effect_frames: Count
    verdict: Texts
    advice: Annotated[tuple[AdviceFigures, ...], Rows]
    noise: Annotated[tuple[NoiseFigures, ...], Rows]
    tensors: Annotated[tuple[TensorFigures, ...], Rows]

    @property
    def worst(self) -> NoiseFigures | None:
        """The layer whose own noise does most harm."""
        worst = max(self.noise, key=lambda one: one.share, default=None)
        return worst if worst is not None and worst.share else None


@dataclass(frozen=True, kw_only=True)
class TracedFigures(Section):
    """A layer of the framework beside the design's, measured. snr_db of null: equal, or not compared."""

    name: Text
    kind: Text
    shape: Text
    type: Text
    compared: Flag
    snr_db: Any_ | None
    largest_error: Number | None
    note: Text
    wrong: Flag


@dataclass(frozen=True, kw_only=True)
class TraceFigures(Section):
    """Every layer of the framework beside the design's, on so many frames. judge: what runs the framework's
    model; empty: nothing was compared.
    """

    frames: Count
    judge: Text
    verdict: Texts
    layers: Annotated[tuple[TracedFigures, ...], Rows]


def decibels_text(snr_db: float | None) -> str:
    """A cell or a bar's text: 31.4 dB, exact."""
    return EXACT if snr_db is None else f"{snr_db:.1f} dB"


def share_text(share: float | None) -> str:
    """A share that is mostly 0: nothing, 0.3 %, <0.01 %."""
    if not share:
        return ""
    return f"{share:.2%}" if share >= 1e-4 else "<0.01%"


def short_type(type_: str) -> str:
    """A type without its modes, which hardly fit a cell: fixed<8,3,rnd,sat> -> fixed<8,3>."""
    parts = type_.removesuffix(">").split(",")
    return type_ if len(parts) < 3 else ",".join(parts[:2]) + ">"
