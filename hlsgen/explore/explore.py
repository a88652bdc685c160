"""`Style.explore`: the best mapping of a design of any style."""

from __future__ import annotations

import math
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress, silent
from hlsgen.base.real_numbers import is_number
from hlsgen.designfile.constraints import NoFit
from hlsgen.explore.result import Explored, Goal
from hlsgen.styles.conv_kernel import ConvKernel
from hlsgen.styles.layerwise import LayerwiseNetwork
from hlsgen.styles.margin_search import Judged, inside
from hlsgen.styles.mixed import MixedNetwork
from hlsgen.styles.shared import SharedNetwork
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.styles.style import Style
from hlsgen.targets.board import Margins

REFINEMENTS = 2
"""Searches with smaller margins than those inside which a kernel was found."""


def explore(
    design: Style[Any],
    *,
    target_fps: float | None = None,
    max_latency_us: float | None = None,
    progress: Progress = silent,
) -> Explored[Style[Any]]:
    """The fastest mapping for the design's board, or the cheapest that reaches the targets.

    target_fps: frames a second, steady state, of all instances. max_latency_us: of one frame, from DDR to
    DDR. What the design fixes stays fixed. The same design always gives the same result. With margin: auto
    the result stays inside the usable share with confidence, if a kernel does.
    Raises DesignError: nothing fits, or a target is out of reach (with what is reachable).
    """
    for name, value in (("target_fps", target_fps), ("max_latency_us", max_latency_us)):
        if value is not None and not (is_number(value) and math.isfinite(value) and value > 0):
            raise DesignError(Problem(message=f"{name} is {value!r:.80}", fix="a number above 0"))
    goal = Goal(target_fps=target_fps, max_latency_us=max_latency_us)
    if not design.board.margin_open:
        return _explored(design, goal, progress)
    return _within_margins(design, goal, progress)


def _within_margins(design: Style[Any], goal: Goal, progress: Progress) -> Explored[Style[Any]]:
    """The search with the margins that the errors of what is found ask for, those of the quick search first.

    Where no kernel fits so, the best one without margins: its build says how likely it is to fit.
    """
    margins = _quick_margins(design)
    try:
        first = _judged(design, margins, goal, progress)
    except DesignError:
        if margins == Margins() or not goal.fastest:
            raise
        return _explored(design.with_margins(Margins()), goal, progress)

    def search(tried: Margins) -> Judged[Explored[Style[Any]]] | None:
        try:
            return _judged(design, tried, goal, progress)
        except DesignError:
            return None

    return inside(search, first, margins, REFINEMENTS if goal.fastest else 0).found


def _judged(
    design: Style[Any], margins: Margins, goal: Goal, progress: Progress
) -> Judged[Explored[Style[Any]]]:
    found = _explored(design.with_margins(margins), goal, progress)
    fit = found.chosen.estimate().fit
    return Judged(found=found, fit=fit, frames_per_s=found.point.frames_per_s)


def _quick_margins(design: Style[Any]) -> Margins:
    """What the errors of the quick search's hardware ask for; none if that finds nothing."""
    try:
        quick = design.with_hardware(design.search(silent))
    except NoFit:
        return Margins()
    return quick.estimate().fit.margins


def _explored(design: Style[Any], goal: Goal, progress: Progress) -> Explored[Style[Any]]:
    """The search with the margins of the design's board."""
    if isinstance(design, StreamingNetwork):
        from hlsgen.explore.streaming import explore_streaming

        return explore_streaming(design, goal, progress)
    if isinstance(design, ConvKernel):
        from hlsgen.explore.conv_kernel import explore_conv_kernel

        return explore_conv_kernel(design, goal, progress)
    if isinstance(design, SharedNetwork):
        from hlsgen.explore.shared import explore_shared

        return explore_shared(design, goal, progress)
    if isinstance(design, MixedNetwork):
        message = f"{design.name} is of style: mixed, of which hlsgen explore has no search of its own"
        fix = "hlsgen build, which looks at every cut and processor; or style: dataflow or shared"
        raise DesignError(Problem(message=message, fix=fix))
    assert isinstance(design, LayerwiseNetwork), "there are five styles"
    from hlsgen.explore.layerwise import explore_layerwise

    return explore_layerwise(design, goal, progress)
