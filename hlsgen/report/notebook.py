"""Objects as notebooks show them: `_repr_html_` with the cards of report.html.

A card is one element with its own style: no script, nothing from elsewhere, everything escaped. It takes its
colours from JupyterLab or VS Code, where they have some, so that it is readable in dark themes too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hlsgen.emit.environment import environment
from hlsgen.report.charts import BarChart, cycles_chart, resource_charts
from hlsgen.report.content import Figures, Report
from hlsgen.report.page_tables import Table, instance_table, layer_tables
from hlsgen.report.tiles import Tile, modelled_tiles, tiles_of

MOST_ROWS = 12
"""Rows of a table and bars of a chart; how many more there are is said."""
MOST_TEXT = 160
"""Characters of a text that comes from outside."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a notebook shows of an object. kind: badge of the charts and tables. open: of `tables`, those that
    are shown without being asked for.
    """

    title: str
    about: str = ""
    tiles: tuple[Tile, ...] = ()
    charts: tuple[BarChart, ...] = ()
    tables: tuple[Table, ...] = ()
    open: int = 0
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def html(self) -> str:
        """The card as an element of a page."""
        shown = replace(
            self,
            title=_cut(self.title),
            about=_cut(self.about, 4 * MOST_TEXT),
            charts=tuple(map(_short_chart, self.charts)),
            tables=tuple(map(_short_table, self.tables)),
            warnings=tuple(_cut(text, 4 * MOST_TEXT) for text in self.warnings[:MOST_ROWS]),
        )
        return environment(html=True).get_template("report/card.html.j2").render(card=shown)


def report_card(report: Report, folder: Path) -> Card:
    """A build: what report.html begins with, and where it lies."""
    return replace(
        figures_card(report),
        tiles=tiles_of(report),
        warnings=tuple(report.warnings),
        notes=(f"All of it: {folder / 'report.html'}",),
    )


def figures_card(figures: Figures) -> Card:
    """An estimate: speed, resources, what each layer takes."""
    one_layer = figures.cost.style == "layer"
    table = instance_table(figures) if one_layer else layer_tables(figures)[0]
    return Card(
        title=f"{figures.design} on {figures.board_title}",
        about=f"{figures.part} at {figures.clock_mhz:g} MHz; clock: {figures.clock.text}",
        tiles=modelled_tiles(figures),
        charts=(resource_charts(figures)[0], *(() if one_layer else (cycles_chart(figures),))),
        tables=(table,),
    )


def _cut(text: str, most: int = MOST_TEXT) -> str:
    return text if len(text) <= most else f"{text[:most]} …"


def _short_chart(chart: BarChart) -> BarChart:
    more = len(chart.bars) - MOST_ROWS
    if more <= 0:
        return chart
    note = f"the first {MOST_ROWS} of {len(chart.bars):,}" + (f"; {chart.note}" if chart.note else "")
    return replace(chart, bars=chart.bars[:MOST_ROWS], note=note, ticks=())


def _short_table(table: Table) -> Table:
    title = table.title
    if len(table.rows) > MOST_ROWS:
        title += f", the first {MOST_ROWS} of {len(table.rows):,}"
    rows: Sequence[Sequence[str]] = table.rows[:MOST_ROWS]
    return replace(table, title=title, rows=tuple(tuple(_cut(str(cell)) for cell in row) for row in rows))
