"""A partition as a notebook shows it."""

from __future__ import annotations

from hlsgen.base.rates import rate_text
from hlsgen.partitioning.result import DEVICE_HEADS, Partitioned
from hlsgen.report.notebook import Card
from hlsgen.report.page_tables import Table
from hlsgen.report.tiles import Tile


def partitioned_card(found: Partitioned) -> Card:
    """The rate beside the best device's alone, which device computes what, and what binds."""
    best = found.best_alone
    kinds = {one.kind for one in found.devices}
    kind = "measured" if kinds == {"cpu"} else "modelled" if kinds == {"fpga"} else "measured and modelled"
    alone = "none can" if best is None else rate_text(best.alone or 0.0)
    return Card(
        title=f"{found.design} over {', '.join(one.name for one in found.devices)}",
        about="CPU times are measured, FPGA times modelled, tables as given",
        tiles=(
            Tile(
                name="Frames a second", value=rate_text(found.frames_per_s), note="", kind=kind, tone="good"
            ),
            Tile(name="Best device alone", value=alone, note="" if best is None else best.name, kind=kind),
            Tile(name="What binds", value=", ".join(found.found.binds[:3]), note="", kind=kind, width="wide"),
        ),
        tables=(
            Table(title="Tasks: frames a second by device", head=found.task_heads, rows=found.task_cells),
            Table(title="Devices", head=DEVICE_HEADS, rows=found.device_cells),
        ),
        open=1,
        notes=(found.bound_text, *found.route_texts, *found.notes),
    )
