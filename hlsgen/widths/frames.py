"""The frames that answers are judged on, and their labels: given, of files, or those that a design names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError, Problem
from hlsgen.model import samples
from hlsgen.model.ir import Port
from hlsgen.model.ports import Floats
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.widths.metric import Function, Metric, own_metric, top1


@dataclass(frozen=True, kw_only=True)
class Judged:
    """values: [frames, C, H, W] of each input. metric: what their answers are worth; None: no labels are at
    hand. source: of the frames, in words.
    """

    values: dict[str, Floats]
    metric: Metric | None
    source: str

    @property
    def frames(self) -> int:
        return min(len(array) for array in self.values.values())


def judged_frames(
    design: Design,
    x: ArrayLike | Sequence[ArrayLike] | Path | None = None,
    labels: Any = None,
    metric: Function | str | None = None,
    frames: int | None = None,
) -> Judged:
    """What is given, else what the design names. x, labels: arrays, or paths of .npy files; metric: a
    function, or file.py:function; frames: no more than these, from the first.

    Raises DesignError: no frames, no labels that fit them, files that cannot be read, a metric that fails.
    """
    style = design.given
    if not isinstance(style, NetworkStyle):
        message = f"{design.name} is a single layer, whose results are no answers"
        raise DesignError(Problem(message=message, fix="a design of a network"))
    named = style.judging
    values, source = _values(style, x if x is not None else named.frames)
    count = min(len(array) for array in values.values())
    count = count if frames is None else min(frames, count)
    given: Any = labels if labels is not None or x is not None else named.labels
    if given is None and x is not None and _same_file(x, named.frames):
        given = named.labels
    found = None if given is None else _labels(given)
    if found is not None and len(found) < count:
        message = f"there are {len(found)} labels for {count} frames"
        raise DesignError(Problem(message=message, fix="a label for each frame"))
    some = None if found is None else found[:count]
    return Judged(
        values={name: array[:count] for name, array in values.items()},
        metric=_metric(style, metric, some),
        source=source,
    )


def _values(style: NetworkStyle[Any], given: Any) -> tuple[dict[str, Floats], str]:
    ports = style.graph.inputs
    if given is None:
        if not style.samples:
            message = f"{style.name}: there are no frames to judge answers on"
            raise DesignError(Problem(message=message, fix="--input x.npy, or accuracy: {frames: x.npy}"))
        source = "the design's samples" if style.calibration is None else style.calibration.source
        return dict(style.samples), source
    if isinstance(given, str | Path):
        if len(ports) > 1:
            message = f"{given} gives one input, and {style.name} has {len(ports)}"
            raise DesignError(Problem(message=message, fix="hlsgen.accuracy(design, [x, y]) in Python"))
        path = Path(given)
        return {ports[0].name: ports[0].to_tensor(samples.from_file(path, ports[0].shape))}, path.name
    arrays = [given] if len(ports) == 1 else list(given)
    if len(arrays) != len(ports):
        message = f"{style.name} has {len(ports)} inputs, and {len(arrays)} arrays are given"
        raise DesignError(Problem(message=message, fix="a list with an array for each input"))
    return {port.name: _array(port, array) for port, array in zip(ports, arrays, strict=True)}, "x"


def _array(port: Port, given: Any) -> Floats:
    wanted = ", ".join(map(str, port.shape))
    try:
        array = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != len(port.shape) + 1 or array.shape[1:] != port.shape or not np.isfinite(array).all():
        message = f"frames of {port.name} have shape {array.shape}, or hold NaN or infinity"
        raise DesignError(Problem(message=message, fix=f"finite numbers [frames, {wanted}]"))
    if not len(array):
        raise DesignError(Problem(message=f"there are no frames of {port.name}", fix="one or more"))
    found: Floats = port.to_tensor(array)
    return found


def _same_file(x: Any, named: Path | None) -> bool:
    return isinstance(x, str | Path) and named is not None and Path(x).resolve() == named.resolve()


def _labels(given: Any) -> Any:
    """An array, whose first axis is the frames. Raises DesignError: a file that holds none."""
    if not isinstance(given, str | Path):
        array = np.asarray(given)
    else:
        fix = "a .npy file of numbers, as numpy.save writes it"
        try:
            # mapped: a header that promises more than the file holds takes no memory
            array = np.asarray(np.load(given, mmap_mode="r", allow_pickle=False))
        except (OSError, ValueError, EOFError, SyntaxError, TypeError, KeyError) as error:
            message = f"labels cannot be read: {given}: {(str(error).splitlines() or [''])[0]:.120}"
            raise DesignError(Problem(message=message, fix=fix)) from None
    if array.ndim == 0 or array.dtype == object:
        message = f"labels are {array.dtype} of shape {array.shape}"
        raise DesignError(Problem(message=message, fix="an array whose first axis is the frames"))
    return array


def _metric(style: NetworkStyle[Any], given: Function | str | None, labels: Any) -> Metric | None:
    named = style.judging
    if isinstance(given, str):
        file, _, function = given.rpartition(":")
        if not file.endswith(".py") or not function.isidentifier():
            message = f"the metric is {given!r:.80}"
            raise DesignError(Problem(message=message, fix="the file and the function, metric.py:function"))
        return own_metric(Path(file), function, labels)
    if given is not None:
        name = getattr(given, "__name__", type(given).__name__)
        return Metric(name=name, function=given, labels=labels)
    if named.metric is not None:
        return own_metric(named.metric, named.function, labels)
    return None if labels is None else top1(labels)
