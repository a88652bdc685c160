"""`Style.explore`: the best mapping of a design of any style."""

from __future__ import annotations

import math
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress, silent
from hlsgen.base.real_numbers import is_number
from hlsgen.explore.result import Explored, Goal
from hlsgen.styles.conv_kernel import ConvKernel
from hlsgen.styles.layerwise import LayerwiseNetwork
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.styles.style import Style


def explore(
    design: Style[Any],
    *,
    target_fps: float | None = None,
    max_latency_us: float | None = None,
    progress: Progress = silent,
) -> Explored[Style[Any]]:
    """The fastest mapping for the design's board, or the cheapest that reaches the targets.

    target_fps: frames a second, steady state, of all instances. max_latency_us: of one frame, from DDR to
    DDR. What the design fixes stays fixed. The same design always gives the same result.
    Raises DesignError: nothing fits, or a target is out of reach (with what is reachable).
    """
    for name, value in (("target_fps", target_fps), ("max_latency_us", max_latency_us)):
        if value is not None and not (is_number(value) and math.isfinite(value) and value > 0):
            raise DesignError(Problem(message=f"{name} is {value!r:.80}", fix="a number above 0"))
    goal = Goal(target_fps=target_fps, max_latency_us=max_latency_us)
    if isinstance(design, StreamingNetwork):
        from hlsgen.explore.streaming import explore_streaming

        return explore_streaming(design, goal, progress)
    if isinstance(design, ConvKernel):
        from hlsgen.explore.conv_kernel import explore_conv_kernel

        return explore_conv_kernel(design, goal, progress)
    assert isinstance(design, LayerwiseNetwork), "there are three styles"
    from hlsgen.explore.layerwise import explore_layerwise

    return explore_layerwise(design, goal, progress)
