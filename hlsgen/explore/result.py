"""What explore found, as Python sees it and as --json prints it. Every figure is the cost model's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Generic, Protocol, TypeVar

from hlsgen.base.short_repr import Brief, lines
from hlsgen.report.estimates import Estimates
from hlsgen.report.explored import FrontPoint, Search, SearchPoint
from hlsgen.report.section import Section
from hlsgen.targets.board import Board

GREEDY = "greedy baseline (FINN's way)"


class Explorable(Protocol):
    """What is said of the design that is explored, whoever holds it."""

    @property
    def name(self) -> str: ...

    @property
    def board(self) -> Board: ...

    @property
    def clock_mhz(self) -> float: ...

    @property
    def batch(self) -> int: ...

    def estimate(self) -> Estimates: ...


D = TypeVar("D", bound=Explorable)


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What is asked for; without either: the most frames a second, else the least cost."""

    target_fps: float | None = None
    max_latency_us: float | None = None

    @property
    def fastest(self) -> bool:
        return self.target_fps is None and self.max_latency_us is None


@dataclass(frozen=True, kw_only=True)
class LayerChoice:
    """What was chosen for a layer. mapping: as in a design file. slr: if one instance lies over several.

    seen, options: how many there were, and how many of them no other beats.
    """

    name: str
    kind: str
    mapping: Mapping[str, Any]
    slr: str | None
    interval_cycles: int
    used: Mapping[str, int]
    seen: int
    options: int


@dataclass(frozen=True, kw_only=True)
class Explored(Brief, Generic[D]):
    """The best mapping of `design`, and how far it can be from anything better.

    bound: no kernel of this model is faster (or, with a goal, cheaper); gap: from `point` to it, relative.
    multiplier_fps: all usable DSPs at work in every cycle; None: no layer needs one. greedy: the baseline;
    None: it finds nothing that fits. crossings: borders of SLRs that streams of an instance cross.
    chosen: the design with this mapping fixed. mapping: the same as the design file's key. streamed: layers
    whose weights are streamed for want of room; which, was chosen before the search.
    """

    design: D
    goal: Goal
    point: SearchPoint
    bound: float
    gap: float
    multiplier_fps: float | None
    binds: str
    greedy: SearchPoint | None
    front: tuple[FrontPoint, ...]
    layers: tuple[LayerChoice, ...]
    crossings: int
    solved: int
    built: int
    chosen: D
    mapping: Mapping[str, Any]
    streamed: int = 0
    baseline: str = GREEDY
    """What `greedy` is, in words."""

    def __repr__(self) -> str:
        design, point = self.design, self.point
        best = "fastest" if self.goal.fastest else "cheapest"
        proof = f"proven the {best}" if self.proven else f"within {self.gap:.2%} of the {best}"
        return lines(
            f"Explored {design.name} on {design.board.name} at {design.clock_mhz:g} MHz, modelled",
            f"{point.frames_per_s:,.0f} frames/s, latency {point.latency_us:,.1f} us",
            f"{point.instances} instances, a frame every {point.interval_cycles:,} cycles each; {proof}",
            f"binds: {self.binds}",
            f"{len(self.front)} points on the front; chosen is the design with this mapping",
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the result, the layers' choices, the Pareto front."""
        from hlsgen.explore.notebook import explored_card

        return explored_card(self).html()

    @property
    def proven(self) -> bool:
        """Whether nothing better exists within the model."""
        return self.gap < PROVEN_GAP

    @property
    def multiplier_share(self) -> float | None:
        """The share that is reached of what the multipliers allow."""
        return self.point.frames_per_s / self.multiplier_fps if self.multiplier_fps else None

    def as_json(self) -> dict[str, Any]:
        return {
            "design": self.design.name,
            "board": self.design.board.name,
            "clock_mhz": self.design.clock_mhz,
            "batch": self.design.batch,
            "goal": asdict(self.goal),
            **self.summary(),
            "layers": [asdict(one) for one in self.layers],
            "mapping": dict(self.mapping),
            "cost": self.chosen.estimate().cost.as_json(),
            "fit": self.chosen.estimate().fit.as_json(),
            "kind": "modelled",
        }

    def summary(self) -> dict[str, Any]:
        """The section `explored` of report.json: what was found beside what could have been."""
        return self.search_figures().as_json()

    def search_figures(self) -> Search:
        """The same, typed. Floats have nine digits: so many are the same on every machine."""
        found: Search = _rounded(
            Search(
                point=self.point,
                bound=self.bound,
                gap=self.gap,
                proven=self.proven,
                multiplier_fps=self.multiplier_fps,
                multiplier_share=self.multiplier_share,
                binds=self.binds,
                greedy=self.greedy if self.baseline == GREEDY else None,
                front=self.front,
                slr_crossings=self.crossings,
                problems_solved=self.solved,
                kernels_made=self.built,
                streamed_layers=self.streamed,
            )
        )
        return found


PROVEN_GAP = 1e-4
"""The relative gap of what counts as proven: the solver's own tolerance."""


def _rounded(value: Any) -> Any:
    """The value with its floats to nine digits, in whatever they lie."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, Mapping):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return tuple(_rounded(one) for one in value)
    if isinstance(value, Section):
        return replace(value, **{one.name: _rounded(getattr(value, one.name)) for one in fields(value)})
    return value
