"""Parts of report.md that several designs' reports have in common: tables of the figures in report.json."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hlsgen.report.figures import Layer, Slr, Weights
from hlsgen.report.section import Counted
from hlsgen.search.board_limits import COLUMNS

KIND_HEADS = tuple(kind.upper() for kind in COLUMNS)
SHARE_HEADS = tuple(f"{kind} (share of usable)" for kind in KIND_HEADS)
LAYER_HEADS = ("kind", "gives", "type", "PX / PE / SIMD", "cycles a frame")


def page(parts: Iterable[str]) -> str:
    """The parts that are not empty, with a line between them."""
    return "\n\n".join(part for part in parts if part) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "-|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def slr_table(slrs: Iterable[Slr], what: str = "instances") -> str:
    """What of each SLR is used; `what` its instances are."""
    rows = [(slr.name, slr.instances, *shares(slr)) for slr in slrs]
    return table(("SLR", what, *SHARE_HEADS), rows)


def shares(slr: Slr) -> list[str]:
    """The cells of an SLR, "12 (3%)" for each kind: used, of what is usable."""
    return [share_text(getattr(slr.used, kind), getattr(slr.usable, kind)) for kind in COLUMNS]


def share_text(used: int, limit: int) -> str:
    """A cell such as "12 (3%)": used, of what is usable."""
    return f"{used:,} ({used / limit:.0%})" if limit else f"{used:,}"


def kind_cells(counted: Counted) -> list[str]:
    """The resources, as cells of a table."""
    return [f"{getattr(counted, kind):,}" for kind in COLUMNS]


def weight_text(weights: Weights | None) -> str:
    """Where weights lie, such as "runtime in uram"; empty without any."""
    if weights is None:
        return ""
    text = f"{weights.place} in {weights.storage}"
    return text if weights.batch_reuse is None else f"{text}, for {block_text(weights.batch_reuse)}"


def block_text(frames: int) -> str:
    """The frames in words, such as "every block of 4 frames"."""
    return "every frame" if frames == 1 else f"every block of {frames} frames"


def layer_cells(layer: Layer) -> tuple[str, ...]:
    """The cells of a layer: kind, shape and type, folding (a front wave's "2 rows" for PX), cycles."""
    folding = layer.folding
    at_once = f"{folding.rows} row{'' if folding.rows == 1 else 's'}" if folding.px is None else folding.px
    return (
        layer.kind,
        " x ".join(map(str, layer.shape)),
        layer.type,
        f"{at_once} / {folding.pe} / {folding.simd}",
        f"{layer.interval_cycles:,}",
    )
