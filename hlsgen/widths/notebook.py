"""Accuracy by precision and searches of widths as a notebook shows them."""

from __future__ import annotations

from hlsgen.report.notebook import Card
from hlsgen.report.page_tables import Table
from hlsgen.report.tiles import Tile
from hlsgen.widths.quantised import Quantised
from hlsgen.widths.table import AccuracyTable


def quantised_card(found: Quantised) -> Card:
    """The chosen widths beside the design's own and uniform ones, and the front."""
    text, chosen = found.metric.text, found.chosen
    of = chosen.hardware
    first, *rest = found.headline
    return Card(
        title=f"Widths of {found.design.name} for {found.design.board.name}",
        about=first,
        tiles=(
            Tile(
                name=f"{found.metric.name}, held out",
                value=text(chosen.held_out),
                note=f"floating point: {text(found.floating[1])}; on {found.held_out:,} frames",
                kind="measured",
                tone="bad" if found.warnings else "good",
                width="double",
            ),
            Tile(name="Weights / others", value=chosen.bits, note="bits", kind="chosen"),
            Tile(name="LUT", value="none fits" if of.refusal else f"{of.lut:,}", note=of.refusal),
            Tile(name="DSP", value="" if of.refusal else f"{of.dsp:,}", note=""),
        ),
        tables=(
            Table(title="Candidates; * is on the front", head=found.heads, rows=found.cells),
            Table(title="Chosen widths", head=("tensor", "bits"), rows=_widths(found), numbers=(1,)),
        ),
        open=1,
        warnings=tuple(found.warnings),
        notes=tuple(rest),
    )


def _widths(found: Quantised) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(bits)) for name, bits in found.chosen.widths.items())


def accuracy_card(found: AccuracyTable) -> Card:
    """What each precision keeps of the answers, and what its hardware is."""
    return Card(
        title=f"Accuracy of {found.design} by precision",
        about=found.headline,
        tables=(
            Table(
                title="By precision",
                head=tuple(found.heads),
                rows=tuple(tuple(row.cells(found.metric)) for row in found.rows),
                numbers=tuple(range(1, len(found.heads))),
            ),
        ),
        open=1,
        warnings=tuple(found.signs),
        notes=found.notes,
    )
