"""A pipeline as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlsgen.report.notebook import Card
from hlsgen.report.page_graph import shape_text
from hlsgen.report.page_tables import Table

if TYPE_CHECKING:
    from hlsgen.pipelining.part import Input, Output
    from hlsgen.pipelining.pipeline import Pipeline


def pipeline_card(pipeline: Pipeline) -> Card:
    """The parts, what computes each, and what is connected to what."""
    parts = pipeline.parts.values()
    rows = tuple(
        (one.name, one.about, f"{one.workers}", ", ".join(map(str, one.cpus)) or "all") for one in parts
    )
    wires = tuple(_wire(end) for ends in (*(one.inputs for one in parts), pipeline.results) for end in ends)
    return Card(
        title=f"Pipeline {pipeline.name}",
        about=f"{len(rows)} parts that work at once; open() runs it, save() keeps it in one file",
        tables=(
            Table(title="Parts", head=("part", "computed by", "workers", "cores"), rows=rows, numbers=(2,)),
            Table(title="Connections", head=("from", "to", "shape", "type"), rows=wires),
        ),
        open=2,
    )


def _wire(end: Input) -> tuple[str, str, str, str]:
    source: Output | None = end.source
    return (
        "nothing yet" if source is None else f"{source.owner}: {source.name}",
        f"{end.owner}: {end.name}",
        shape_text(end.shape),
        str(end.type),
    )
