"""The pictures of a profile and of a trace: shares, decibels layer by layer, values beside bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlsgen.report.charts import Bar, BarChart, percent
from hlsgen.report.graph_picture import number
from hlsgen.report.page_tables import Table
from hlsgen.report.profile import (
    NoiseFigures,
    ProfileFigures,
    TensorFigures,
    TraceFigures,
    decibels_text,
    share_text,
    short_type,
)

MOST_SHARES = 12
"""Layers in the chart of shares, the worst first."""
PARAMETERS = ("weights", "bias")
MOST_PICTURED = 200
"""Tensors in a picture of binades."""
MOST_BINADES = 40
"""Columns of that; what is smaller still is in the leftmost."""
LABEL, COLUMN, ROW, HEAD = 250, 17, 19, 22
"""Pixels: of the names, of a binade, of a tensor, of the axis."""


def share_chart(profile: ProfileFigures) -> BarChart:
    """The layers that make most noise, the worst marked."""
    ranked = sorted((one for one in profile.noise if one.share), key=lambda one: -one.share)[:MOST_SHARES]
    most = max((one.share for one in ranked), default=1.0)
    bars = [
        Bar(
            name=one.name,
            note=f"{short_type(one.type)}, {one.cause}" if one.cause else short_type(one.type),
            parts=(("0", percent(one.share, most), "hot" if place == 0 else "fill"),),
            text=f"{one.share:.1%}",
            title=f"{one.name}: {one.share:.1%} of the noise that all layers make, most by {one.cause}",
            tone="hot" if place == 0 else "",
        )
        for place, one in enumerate(ranked)
    ]
    where = "at the outputs" if profile.effect_frames else "in their own results"
    more = sum(bool(one.share) for one in profile.noise) - len(bars)
    note = f"share of the noise that all layers make {where}" + (f"; {more} more" if more > 0 else "")
    return BarChart(title="Which layer ruins it", bars=tuple(bars), note=note)


def noise_chart(noise: Sequence[NoiseFigures], worst: str = "") -> BarChart:
    """Decibels of what each layer adds (the bar) and of its result (the mark), in the order of the graph."""
    found = [level for one in noise for level in (one.snr_db, one.added_db) if level is not None]
    whole = max([*found, 1.0])
    bars = [
        Bar(
            name=one.name,
            parts=(
                (
                    "0",
                    percent(whole if one.added_db is None else one.added_db, whole),
                    "pale" if one.added_db is None else "hot" if one.name == worst else "fill",
                ),
            ),
            text=f"adds {_added_text(one)}; {decibels_text(one.snr_db)}",
            title=f"{one.name}: {decibels_text(one.snr_db)}; alone {decibels_text(one.added_db)}",
            marks=()
            if one.snr_db is None
            else ((percent(one.snr_db, whole), f"accumulated: {decibels_text(one.snr_db)}"),),
            tone="hot" if one.name == worst else "",
        )
        for one in noise
    ]
    note = "dB of signal to noise: the bar of what it adds itself, the mark of its result with all before"
    return BarChart(title="Layer by layer", bars=tuple(bars), note=note)


def _added_text(one: NoiseFigures) -> str:
    return "nothing" if one.added_db is None else decibels_text(one.added_db)


def trace_chart(trace: TraceFigures) -> BarChart:
    """Decibels of each layer that was compared, in the framework's order."""
    rows = [one for one in trace.layers if one.compared]
    whole = max([one.snr_db for one in rows if one.snr_db is not None] + [1.0])
    bars = [
        Bar(
            name=one.name,
            note=one.note,
            parts=(
                (
                    "0",
                    percent(whole if one.snr_db is None else one.snr_db, whole),
                    "hot" if one.wrong else "pale" if one.snr_db is None else "fill",
                ),
            ),
            text=decibels_text(one.snr_db),
            title=f"{one.name}: {decibels_text(one.snr_db)}, errors up to {one.largest_error or 0:.4g}",
            tone="hot" if one.wrong else "",
        )
        for one in rows
    ]
    return BarChart(title="dB of signal to noise", bars=tuple(bars), note=f"against {trace.judge}")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Values between 2^n and 2^(n + 1): how far across, how dark (of 1), within the type's bits or beyond."""

    left: str
    opacity: str
    tone: str
    title: str


@dataclass(frozen=True, kw_only=True)
class BinadeRow:
    """A tensor: its cells, and (left, width) of the bits that its type spans; None: it has no such bits."""

    top: int
    name: str
    type: str
    cells: tuple[Cell, ...]
    span: tuple[str, str] | None
    note: str


@dataclass(frozen=True, kw_only=True)
class BinadePicture:
    """Tensors below each other, their values by binade across. ticks: (x, label)."""

    title: str
    width: int
    height: int
    rows: tuple[BinadeRow, ...]
    ticks: tuple[tuple[str, str], ...]
    row: int = ROW
    column: int = COLUMN
    left: int = LABEL
    more: int = 0


def binade_picture(title: str, tensors: Sequence[TensorFigures]) -> BinadePicture | None:
    """The picture of some tensors; None: there is nothing to show."""
    shown = [one for one in tensors if one.binades or one.bottom is not None][:MOST_PICTURED]
    ends = [int(power) for one in shown for power in one.binades]
    ends += [int(end) for one in shown for end in (one.top, one.bottom) if end is not None]
    if not shown or not ends:
        return None
    high = max(ends)
    low = max(min(ends), high - MOST_BINADES + 1)
    columns = high - low + 1
    return BinadePicture(
        title=title,
        width=LABEL + columns * COLUMN + 190,
        height=HEAD + len(shown) * ROW + 4,
        rows=tuple(_row(one, HEAD + place * ROW, low, high) for place, one in enumerate(shown)),
        ticks=tuple(
            (number(LABEL + (high - power) * COLUMN + COLUMN / 2), f"{power}")
            for power in range(high, low - 1, -1)
            if power % 4 == 0
        ),
        more=len(tensors) - len(shown),
    )


def range_pictures(tensors: Sequence[TensorFigures]) -> tuple[BinadePicture, ...]:
    """Inputs and results, then weights and biases; as far as there are some."""
    results = [one for one in tensors if one.part not in PARAMETERS]
    parameters = [one for one in tensors if one.part in PARAMETERS]
    found = (
        binade_picture("Inputs and results", results),
        binade_picture("Weights and biases", parameters),
    )
    return tuple(one for one in found if one is not None)


def _row(one: TensorFigures, top: int, low: int, high: int) -> BinadeRow:
    counts: dict[int, int] = {}
    for power, count in one.binades.items():
        at = max(int(power), low)
        counts[at] = counts.get(at, 0) + count
    most = max([1, *counts.values()])
    whole = max(1, sum(counts.values()))
    span = None
    if one.top is not None and one.bottom is not None:
        first, last = min(int(one.top), high), max(int(one.bottom), low)
        if first >= last:
            span = (number(LABEL + (high - first) * COLUMN), number((first - last + 1) * COLUMN))
    return BinadeRow(
        top=top,
        name=one.name if one.part in ("input", "result") else f"{one.name} {one.part}",
        type=short_type(one.type),
        cells=tuple(_cell(one, power, counts[power], most, whole, high) for power in sorted(counts)),
        span=span,
        note=_row_note(one),
    )


def _cell(one: TensorFigures, power: int, count: int, most: int, whole: int, high: int) -> Cell:
    inside = one.top is None or one.bottom is None or one.bottom <= power <= one.top
    return Cell(
        left=number(LABEL + (high - power) * COLUMN),
        opacity=number(max(0.1, (count / most) ** 0.5)),
        tone="fill" if inside else "hot",
        title=f"{one.name}: {count:,} values ({count / whole:.2%}) from 2^{power} up to 2^{power + 1}",
    )


def _row_note(one: TensorFigures) -> str:
    """What is worth a word: clipped, lost, never used, dead."""
    parts = []
    if one.clipped:
        parts.append(f"{share_text(one.clipped)} clipped")
    if one.lost:
        parts.append(f"{share_text(one.lost)} lost")
    if one.dead:
        parts.append("dead")
    elif one.spare_bits:
        parts.append(f"{one.spare_bits} spare")
    return ", ".join(parts)


def noise_table(profile: ProfileFigures) -> Table:
    """Every layer's noise."""
    return Table(
        title=f"The noise of all {len(profile.noise)} layers",
        head=("layer", "type", "share", "adds", "result", "alone at the outputs", "cause"),
        rows=tuple(
            (
                one.name,
                short_type(one.type),
                f"{one.share:.1%}",
                _added_text(one),
                decibels_text(one.snr_db),
                "" if one.output_db is None else decibels_text(one.output_db),
                one.cause,
            )
            for one in profile.noise
        ),
        numbers=(2, 3, 4, 5),
    )


def range_table(profile: ProfileFigures) -> Table:
    """Every tensor's range beside its type."""
    return Table(
        title=f"The ranges of all {len(profile.tensors)} tensors",
        head=("tensor", "type", "least", "most", "mean of |x|", "clipped", "lost", "spare bits", "dead"),
        rows=tuple(
            (
                one.name if one.part in ("input", "result") else f"{one.name} {one.part}",
                short_type(one.type),
                f"{one.min:.4g}",
                f"{one.max:.4g}",
                f"{one.mean_abs:.4g}",
                share_text(one.clipped),
                share_text(one.lost),
                f"{one.spare_bits}" + (f" + {one.spare_bits_below} below" if one.spare_bits_below else ""),
                "all" if one.dead else f"{one.dead_channels} channels" if one.dead_channels else "",
            )
            for one in profile.tensors
        ),
        numbers=(2, 3, 4, 5, 6, 7),
    )


def trace_table(trace: TraceFigures) -> Table:
    """Every layer of the framework."""
    return Table(
        title=f"All {len(trace.layers)} layers",
        head=("layer", "kind", "shape", "type", "signal to noise", "largest error", "in the design"),
        rows=tuple(
            (
                one.name,
                one.kind,
                one.shape,
                short_type(one.type),
                decibels_text(one.snr_db) if one.compared else "",
                f"{one.largest_error:.4g}" if one.compared and one.largest_error is not None else "",
                one.note,
            )
            for one in trace.layers
        ),
        numbers=(4, 5),
    )
