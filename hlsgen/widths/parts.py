"""The frames that choose among widths and those that judge what was chosen, apart from each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.short_repr import Brief
from hlsgen.model.ports import Arrays, Floats
from hlsgen.quantising.float_run import FloatRun
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.widths.frames import Judged
from hlsgen.widths.metric import Metric, answers, top1
from hlsgen.widths.sensitivity import answers_of

FEWEST_FRAMES = 8
"""Frames that choose, and frames that judge, at the least."""


@dataclass(frozen=True, kw_only=True)
class Parts(Brief):
    """The frames that choose and those that are held out: values and the metric of each."""

    choosing: Mapping[str, Floats]
    held_out: Mapping[str, Floats]
    metrics: tuple[Metric, Metric]
    counts: tuple[int, int]
    floating: tuple[float, float]


def parts_of(style: StreamingNetwork, run: FloatRun, judged: Judged) -> Parts:
    known = {one.tobytes() for one in style.samples[next(iter(judged.values))]}
    first = judged.values[next(iter(judged.values))]
    choosing = np.arange(0, judged.frames, 2)
    others = [at for at in range(1, judged.frames, 2) if first[at].astype(np.float64).tobytes() not in known]
    if len(choosing) < FEWEST_FRAMES or len(others) < FEWEST_FRAMES:
        message = f"{len(choosing)} frames are left to choose and {len(others)} to judge, too few"
        fix = f"{4 * FEWEST_FRAMES} frames or more that number types are not chosen from: --input x.npy"
        raise DesignError(Problem(message=message, fix=fix))
    values, metrics, floating = [], [], []
    for at in (choosing, np.array(others)):
        some = {name: array[at] for name, array in judged.values.items()}
        outputs = joined(answers_of(run.graph, some))
        found = _metric(judged.metric, at, outputs)
        values.append(some)
        metrics.append(found)
        floating.append(found(outputs))
    return Parts(
        choosing=values[0],
        held_out=values[1],
        metrics=(metrics[0], metrics[1]),
        counts=(len(choosing), len(others)),
        floating=(floating[0], floating[1]),
    )


def _metric(given: Metric | None, at: Any, outputs: Arrays) -> Metric:
    """The metric of some frames. Raises DesignError: no labels, and no answers to agree with."""
    if given is not None:
        labels = None if given.labels is None else np.asarray(given.labels)[at]
        return top1(labels) if given.is_share else replace(given, labels=labels)
    found = answers(outputs)
    if found is None:
        message = "there are no labels, and the outputs are no scores whose largest one could be kept"
        raise DesignError(Problem(message=message, fix="--labels y.npy or --metric file.py:function"))
    return replace(top1(found), name="as in float")


def joined(outputs: list[Floats]) -> Arrays:
    """What a network with these outputs gives."""
    return outputs[0] if len(outputs) == 1 else outputs
