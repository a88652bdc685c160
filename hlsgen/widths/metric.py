"""What a network's answers are worth, as one number that is larger where they are better.

By default the share of frames whose largest score is the label's; else a function of the user's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.base.own_code import failure, importable, imported, own_functions
from hlsgen.model.ports import Arrays

Function = Callable[[Any, Any], float]
"""(outputs, labels) -> a number, larger is better."""
TOP1 = "top-1"
OWN = "labels [frames] of whole numbers; or a metric of your own, --metric file.py:function"


@dataclass(frozen=True, kw_only=True)
class Metric:
    """name: in reports. labels: what the function gets beside the outputs; None: nothing.

    is_share: of frames that are right, so that it is shown in percent.
    """

    name: str
    function: Function
    labels: Any = None
    is_share: bool = False

    def __call__(self, outputs: Arrays) -> float:
        """Raises DesignError: the user's function fails, or gives no finite number."""
        found = self.function(outputs, self.labels)
        try:
            number = float(found)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            message = f"the metric {self.name} gave {found!r:.80}, which is no finite number"
            raise DesignError(Problem(message=message, fix="a function(outputs, labels) -> float"))
        return number

    def of(self, frames: NDArray[Any]) -> Metric:
        """The same of some frames: their positions, or which they are."""
        if self.labels is None:
            return self
        labels = np.asarray(self.labels)[frames]
        return replace(top1(labels), name=self.name) if self.is_share else replace(self, labels=labels)

    def text(self, value: float) -> str:
        """The value as reports say it."""
        return f"{value:.2%}" if self.is_share else f"{value:.4f}"


def top1(labels: Any) -> Metric:
    """The share of frames whose largest score is that of the label.

    Raises DesignError: labels that are no whole numbers of each frame.
    """
    classes = np.asarray(labels)
    if classes.ndim == 2 and classes.shape[1] == 1:
        classes = classes[:, 0]
    whole = classes.ndim == 1 and np.issubdtype(classes.dtype, np.number) and not np.iscomplexobj(classes)
    if not whole or not classes.size or not np.array_equal(classes, np.rint(classes)):
        message = f"labels are {classes.dtype} of shape {classes.shape}, not a whole number for each frame"
        raise DesignError(Problem(message=message, fix=OWN))
    wanted = classes.astype(np.int64)
    return Metric(
        name=TOP1, function=lambda outputs, _: _share(outputs, wanted), labels=wanted, is_share=True
    )


def _share(outputs: Arrays, labels: NDArray[np.int64]) -> float:
    found = answers(outputs)
    if found is None:
        shapes = [one.shape for one in outputs] if isinstance(outputs, list) else outputs.shape
        message = f"the network's outputs {shapes} are no scores of one class or another"
        raise DesignError(Problem(message=message, fix="a metric of your own, --metric file.py:function"))
    if len(found) != len(labels):
        message = f"there are {len(labels)} labels for {len(found)} frames"
        raise DesignError(Problem(message=message, fix="a label for each frame"))
    classes = scores_of(outputs)
    if classes is not None and not 0 <= int(labels.min()) <= int(labels.max()) < classes:
        message = f"labels are {labels.min()} to {labels.max()}, and the network has {classes} classes"
        raise DesignError(Problem(message=message, fix=f"whole numbers from 0 to {classes - 1}"))
    return float(np.mean(found == labels))


def scores_of(outputs: Arrays) -> int | None:
    """How many scores each frame has; None: none, but an index, or something else."""
    if isinstance(outputs, list):
        return None
    sizes = [size for size in outputs.shape[1:] if size > 1]
    return sizes[0] if len(sizes) == 1 else None


def answers(outputs: Arrays) -> NDArray[np.int64] | None:
    """The class that each frame's one output says: its largest score, or an index; None: neither."""
    if isinstance(outputs, list):
        return None
    if scores_of(outputs) is not None:
        return np.asarray(outputs.reshape(len(outputs), -1).argmax(axis=1), np.int64)
    flat = outputs.reshape(len(outputs), -1)
    if flat.shape[1] != 1 or not np.array_equal(flat, np.rint(flat)):
        return None
    return flat[:, 0].astype(np.int64)


def own_metric(path: Path, function: str, labels: Any, place: Place | None = None) -> Metric:
    """The function of a Python file, which is run: the file now, the function on the outputs.

    Raises DesignError, at `place` or at the line of the user's code: no such file or function, an error in
    it.
    """
    if not path.is_file():
        message = f"there is no file {path} with a metric"
        raise DesignError(Problem(message=message, fix="the path of a Python file", place=place))
    fix = "mend the metric's own code"
    folder = path.resolve().parent
    with importable(folder):
        try:
            module = imported(path.resolve())
        except BaseException as error:
            raise failure(error, f"importing {path.name} fails", path, fix, place) from error
    found = getattr(module, function, None)
    if not callable(found):
        known = own_functions(module)
        remedy = f"one of {', '.join(known)}" if known else "define function(outputs, labels) -> float"
        message = f"{path.name} has no function {function}"
        raise DesignError(Problem(message=message, fix=remedy, place=place))

    def judged(outputs: Any, labels: Any) -> float:
        with importable(folder):
            try:
                value: float = found(outputs, labels)
            except BaseException as error:
                raise failure(error, f"{function}() of {path.name} fails", path, fix, place) from error
        return value

    return Metric(name=function, function=judged, labels=labels)
