"""Profiles and traces as the figures that pages and reports show."""

from __future__ import annotations

from hlsgen.report.profile import (
    AdviceFigures,
    NoiseFigures,
    ProfileFigures,
    TensorFigures,
    TracedFigures,
    TraceFigures,
)
from hlsgen.tracing.advice import shares_of
from hlsgen.tracing.noise import LayerNoise
from hlsgen.tracing.profile import Profile
from hlsgen.tracing.ranges import TensorRange
from hlsgen.tracing.tables import finite
from hlsgen.tracing.trace import Trace, TracedLayer

DIGITS = 6
"""Of shares and decibels: logarithms differ in their last bits from machine to machine."""


def profile_figures(profile: Profile) -> ProfileFigures:
    """The figures of a profile."""
    shares = shares_of(profile.noise)
    return ProfileFigures(
        frames=profile.frames,
        effect_frames=profile.effect_frames,
        verdict=tuple(profile.verdict()),
        advice=tuple(
            AdviceFigures(
                layer=one.layer,
                why=one.why,
                type=str(one.old),
                wider=str(one.new),
                design_file=one.design_file,
            )
            for one in profile.advice
        ),
        noise=tuple(_noise(one, shares[one.name]) for one in profile.noise),
        tensors=tuple(_tensor(one) for one in profile.tensors),
    )


def _noise(one: LayerNoise, share: float) -> NoiseFigures:
    return NoiseFigures(
        name=one.name,
        type=one.type,
        snr_db=_rounded(finite(one.total_db)),
        added_db=_rounded(finite(one.added_db)),
        output_db=None if one.output_db is None else _rounded(finite(one.output_db)),
        share=round(share, DIGITS),
        cause=one.cause,
    )


def _tensor(one: TensorRange) -> TensorFigures:
    return TensorFigures(
        name=one.name,
        part=one.part,
        type=str(one.type),
        of_floats=one.of_floats,
        min=one.least,
        max=one.most,
        mean_abs=one.mean_abs,
        clipped=round(one.clipped, 2 * DIGITS),
        lost=None if one.lost is None else round(one.lost, 2 * DIGITS),
        spare_bits=one.spare,
        spare_bits_below=one.spare_below,
        dead=one.dead,
        dead_channels=one.dead_channels,
        top=one.top,
        bottom=one.bottom,
        binades={str(power): count for power, count in sorted(one.binades.items())},
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def trace_figures(trace: Trace) -> TraceFigures:
    """The figures of a trace."""
    return TraceFigures(
        frames=trace.frames,
        judge=trace.judge or "",
        verdict=tuple(trace.verdict()),
        layers=tuple(_traced(one) for one in trace.layers),
    )


def _traced(one: TracedLayer) -> TracedFigures:
    error = one.error
    return TracedFigures(
        name=one.name,
        kind=one.kind,
        shape=" x ".join(map(str, one.shape)),
        type=one.type,
        compared=error is not None,
        snr_db=None if error is None else _rounded(finite(error.snr_db)),
        largest_error=None if error is None else finite(error.largest),
        note=one.note,
        wrong=error is not None and error.is_wrong,
    )
