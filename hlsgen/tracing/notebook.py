"""Profiles and traces as a notebook shows them."""

from __future__ import annotations

from hlsgen.report.notebook import Card
from hlsgen.report.page_tables import Table
from hlsgen.report.profile import ProfileFigures, decibels_text
from hlsgen.report.profile_pictures import (
    noise_chart,
    noise_table,
    range_table,
    share_chart,
    trace_chart,
    trace_table,
)
from hlsgen.report.tiles import Tile
from hlsgen.tracing.figures import profile_figures, trace_figures
from hlsgen.tracing.profile import Profile
from hlsgen.tracing.trace import Trace

MEASURED = "measured"


def profile_card(profile: Profile) -> Card:
    """Which layer makes the noise, what each adds, and what wider types would mend."""
    figures = profile_figures(profile)
    worst = figures.worst
    charts = (share_chart(figures), noise_chart(figures.noise, worst.name if worst else ""))
    return Card(
        title=f"Profile of {profile.design}",
        about=f"on {profile.frames:,} frames, measured: types beside values, noise against floating point",
        tiles=_profile_tiles(figures),
        charts=charts if figures.noise else (),
        tables=(
            *((_advice_table(figures),) if figures.advice else ()),
            *((noise_table(figures),) if figures.noise else ()),
            range_table(figures),
        ),
        open=1 if figures.advice else 0,
        notes=figures.verdict,
    )


def _profile_tiles(figures: ProfileFigures) -> tuple[Tile, ...]:
    clipped, dead = (
        sum(one.clipped > 0 for one in figures.tensors),
        sum(one.dead and one.part == "result" for one in figures.tensors),
    )
    worst = figures.worst
    note = "" if worst is None else f"{worst.share:.0%} of what all layers make"
    return (
        Tile(
            name="Most noise",
            value="none" if worst is None else worst.name,
            note=f"{note}, by {worst.cause}" if worst is not None and worst.cause else note,
            kind=MEASURED,
            width="double",
        ),
        Tile(
            name="Clipped",
            value=f"{clipped:,}",
            note=f"of {len(figures.tensors):,} tensors",
            kind=MEASURED,
            tone="bad" if clipped else "good",
        ),
        Tile(name="Always one value", value=f"{dead:,}", note="results of layers", kind=MEASURED),
    )


def _advice_table(figures: ProfileFigures) -> Table:
    return Table(
        title="Wider types that would mend it",
        head=("layer", "now", "wider", "why"),
        rows=tuple((one.layer, one.type, one.wider, one.why) for one in figures.advice),
    )


def trace_card(trace: Trace) -> Card:
    """Each layer of the framework beside the design's."""
    figures = trace_figures(trace)
    compared = [one for one in figures.layers if one.compared]
    wrong = [one.name for one in compared if one.wrong]
    tiles: tuple[Tile, ...] = ()
    if compared:
        least = min(compared, key=lambda one: float("inf") if one.snr_db is None else one.snr_db)
        count, whole = len(compared) - len(wrong), len(compared)
        tiles = (
            Tile(
                name="As in the framework",
                value=f"{count:,} of {whole:,} layers",
                note=f"not: {', '.join(wrong[:3])}" if wrong else "",
                kind=MEASURED,
                tone="bad" if wrong else "good",
                width="double",
            ),
            Tile(name="Least", value=decibels_text(least.snr_db), note=least.name, kind=MEASURED),
        )
    about = f"against {figures.judge}" if figures.judge else "compared with nothing"
    return Card(
        title=f"Trace of {trace.design}",
        about=f"{figures.frames:,} frames, {about}",
        tiles=tiles,
        charts=(trace_chart(figures),) if compared else (),
        tables=(trace_table(figures),),
        notes=figures.verdict,
    )
