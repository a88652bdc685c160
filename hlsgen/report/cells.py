"""What LUTs and FFs a design takes, of which terms they are made, and how far off that may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from hlsgen.cost.error_margins import Total, basis, by_term, whole_error
from hlsgen.report.section import Count, Number, Rows, Section, Text
from hlsgen.targets.board import Board
from hlsgen.targets.terms import CELLS, FEATURES, TARGETS, CostStyle, Kind, Target


@dataclass(frozen=True, kw_only=True)
class Cells(Section):
    """LUTs and FFs."""

    lut: Count
    ff: Count


@dataclass(frozen=True, kw_only=True)
class CellsByTarget(Section):
    """LUTs and FFs as they are routed, and as csynth is expected to report them."""

    routed: Cells
    csynth: Cells

    def of(self, target: Target) -> Cells:
        """The cells for `target`."""
        return self.routed if target == "routed" else self.csynth


@dataclass(frozen=True, kw_only=True)
class PredictedCells(Section):
    """LUTs and FFs for one target, and how far off they may be, relative. basis: where they come from."""

    lut: Count
    lut_error: Number
    ff: Count
    ff_error: Number
    basis: Text


@dataclass(frozen=True, kw_only=True)
class TermCells(CellsByTarget):
    """LUTs and FFs of one term of the cost model."""

    term: Text

    def as_json(self) -> dict[str, Any]:
        return {"term": self.term, "routed": self.routed.as_json(), "csynth": self.csynth.as_json()}


@dataclass(frozen=True, kw_only=True)
class Cost(Section):
    """LUTs and FFs of all instances, and of which terms they are made."""

    terms: Text
    style: CostStyle
    routed: PredictedCells
    csynth: PredictedCells
    by_term: Annotated[tuple[TermCells, ...], Rows]


def cost_figures(total: Total, board: Board) -> Cost:
    """The section `cost` of what takes `total`: LUT and FF for each target, their errors, and by term."""
    terms = board.terms
    parts = {target: by_term(total, terms.of(target)) for target in TARGETS}
    return Cost(
        terms=terms.name,
        style=terms.style,
        by_term=tuple(
            TermCells(term=name, **{target: Cells(**parts[target][name]) for target in TARGETS})
            for name in FEATURES
            if any(parts[target][name][kind] for target in TARGETS for kind in CELLS)
        ),
        **{target: _predicted(total, board, target, parts[target]) for target in TARGETS},
    )


def _predicted(
    total: Total, board: Board, target: Target, parts: Mapping[str, Mapping[Kind, int]]
) -> PredictedCells:
    terms = board.terms.of(target)
    taken = total(terms)
    lut_error, ff_error = (
        whole_error(terms, kind, {name: part[kind] for name, part in parts.items()}) for kind in CELLS
    )
    return PredictedCells(
        lut=taken.lut, lut_error=lut_error, ff=taken.ff, ff_error=ff_error, basis=basis(board, terms, parts)
    )


def cells_line(cost: Cost) -> str:
    """LUT and FF for both targets, each with its error."""
    return f"as routed: {_text(cost.routed)}; as csynth: {_text(cost.csynth)}"


def cost_text(cost: Cost) -> str:
    """The paragraph of a report on what its LUTs and FFs are."""
    return (
        f"Modelled as routed: {_text(cost.routed)} ({cost.routed.basis}). csynth is expected "
        f"to report {_text(cost.csynth)}. DSP, BRAM18 and URAM follow from the emitted structure. "
        f"Terms: {cost.terms}."
    )


def _text(cells: PredictedCells) -> str:
    """LUT 41,000 +- 20 %, FF 60,000 +- 25 %"""
    lut = f"LUT {cells.lut:,} +- {100 * cells.lut_error:.0f} %"
    return f"{lut}, FF {cells.ff:,} +- {100 * cells.ff_error:.0f} %"
