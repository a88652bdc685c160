"""The frames that choose among widths and those that judge what was chosen, apart from each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress
from hlsgen.base.short_repr import Brief
from hlsgen.model.ports import Arrays, Floats
from hlsgen.quantising.float_run import FloatRun
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.widths.frames import Judged
from hlsgen.widths.losses import Losses, joined
from hlsgen.widths.metric import Metric, answers, top1
from hlsgen.widths.rerun import answers_of

FEWEST_FRAMES = 8
"""Frames that choose, and frames that judge, at the least."""


@dataclass(frozen=True, kw_only=True)
class Part(Brief):
    """Some frames: their values, and what is lost of their metric."""

    values: Mapping[str, Floats]
    wanted: list[Floats]
    losses: Losses

    @property
    def count(self) -> int:
        return len(self.wanted[0])


def parts_of(
    style: NetworkStyle[Any], run: FloatRun, judged: Judged, progress: Progress
) -> tuple[Part, Part]:
    """The frames that choose, and those that are held out."""
    name = next(iter(judged.values))
    known = {one.tobytes() for one in run.frames[name][run.range_frames]}
    first = judged.values[name]
    choosing = np.arange(0, judged.frames, 2)
    others = [at for at in range(1, judged.frames, 2) if first[at].astype(np.float64).tobytes() not in known]
    if len(choosing) < FEWEST_FRAMES or len(others) < FEWEST_FRAMES:
        message = f"{len(choosing)} frames are left to choose and {len(others)} to judge, too few"
        fix = f"{4 * FEWEST_FRAMES} frames or more that number types are not chosen from: --input x.npy"
        raise DesignError(Problem(message=message, fix=fix))
    found = []
    for at in (choosing, np.array(others)):
        values = {name: array[at] for name, array in judged.values.items()}
        outputs = answers_of(run.graph, values, progress)
        losses = Losses(_metric(judged.metric, at, joined(outputs)), outputs)
        found.append(Part(values=values, wanted=outputs, losses=losses))
    return found[0], found[1]


def _metric(given: Metric | None, at: NDArray[Any], outputs: Arrays) -> Metric:
    """The metric of some frames. Raises DesignError: no labels, and no answers to agree with."""
    if given is not None:
        return given.of(at)
    found = answers(outputs)
    if found is None:
        message = "there are no labels, and the outputs are no scores whose largest one could be kept"
        raise DesignError(Problem(message=message, fix="--labels y.npy or --metric file.py:function"))
    return replace(top1(found), name="as in float")
