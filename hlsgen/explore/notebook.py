"""What explore found, as a notebook shows it."""

from __future__ import annotations

from typing import Any

from hlsgen.base.rates import rate_text
from hlsgen.explore.console import headline, layer_table
from hlsgen.explore.result import Explored
from hlsgen.report.notebook import Card
from hlsgen.report.page_tables import Table, front_table
from hlsgen.report.tiles import Tile


def explored_card(found: Explored[Any]) -> Card:
    """The mapping with how near it is to the bound, the layers' choices and the Pareto front."""
    design, point = found.design, found.point
    best = "fastest" if found.goal.fastest else "cheapest"
    proof = f"proven the {best}" if found.proven else f"within {found.gap:.2%} of the {best}"
    greedy = "finds nothing that fits" if found.greedy is None else rate_text(found.greedy.frames_per_s)
    first, *rest = headline(found)
    choices = layer_table(found)
    columns = choices.columns
    return Card(
        title=f"Explored {design.name} on {design.board.name}",
        about=first,
        tiles=(
            Tile(name="Frames a second", value=rate_text(point.frames_per_s), note=proof, tone="good"),
            Tile(name="Latency", value=f"{point.latency_us:,.1f} µs", note="one frame, from DDR to DDR"),
            Tile(
                name="Instances",
                value=f"{point.instances:,}",
                note=f"a frame every {point.interval_cycles:,} cycles each",
            ),
            Tile(name="Baseline", value=greedy, note=found.baseline),
            Tile(name="What binds", value=found.binds, note="", width="wide"),
        ),
        tables=(
            Table(
                title="Choices by layer",
                head=tuple(str(column.header) for column in columns),
                rows=tuple(zip(*(map(str, column.cells) for column in columns), strict=True)),
            ),
            front_table(found.search_figures()),
        ),
        open=1,
        notes=tuple(rest),
    )
