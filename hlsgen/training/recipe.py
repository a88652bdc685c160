"""The user's own Python file that says what a network is trained on: `frames`, and what else it wishes.

    def frames():
        return x, y        # NumPy or PyTorch, batch first; y: the class of each frame, or what a loss takes

All other names may be left out: `epochs`, `batch`, `learning_rate`, `seed`, `loss(outputs, y)`,
`optimiser(parameters)`, `augment(x)`. The file is run, as `model: {torch: file.py:function}` is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.own_code import failure, importable, imported
from hlsgen.base.real_numbers import real_array
from hlsgen.base.short_repr import Brief
from hlsgen.model.ports import Floats

EPOCHS, BATCH, LEARNING_RATE, SEED = 20, 64, 1e-3, 0
MEND = "mend the recipe's own code"
FRAMES = "def frames(): return x, y"


@dataclass(frozen=True, kw_only=True)
class Recipe(Brief):
    """frames: what trains, when it is called: (frames of each input in the framework's layout, labels or
    None). loss, optimiser, augment: the user's own; None: the default of hlsgen/training/fit.py.
    """

    path: Path
    frames: Callable[[], tuple[list[Floats], Any]]
    epochs: int = EPOCHS
    batch: int = BATCH
    learning_rate: float = LEARNING_RATE
    seed: int = SEED
    loss: Callable[[Any, Any], Any] | None = None
    optimiser: Callable[[Any], Any] | None = None
    augment: Callable[[Any], Any] | None = None


NUMBERS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "epochs": ("a whole number from 1 to 100,000", lambda value: _whole(value, 1, 100_000)),
    "batch": ("a whole number from 1 to 1,000,000", lambda value: _whole(value, 1, 1_000_000)),
    "seed": ("a whole number from 0", lambda value: _whole(value, 0, (1 << 63) - 1)),
    "learning_rate": ("a number above 0, such as 0.001", lambda value: _positive(value)),
}
"""What else a recipe may say, in which words, and when it may."""
FUNCTIONS = ("loss", "optimiser", "augment")


def _whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def load_recipe(path: Path) -> Recipe:
    """Runs the file. Raises DesignError, at the line of the user's code where it fails: no such file, no
    function frames(), values that cannot be.
    """
    if not path.is_file():
        message = f"there is no file {path} with a recipe"
        raise DesignError(Problem(message=message, fix="the path of a Python file"))
    with running(path, f"importing {path.name} fails"):
        module = imported(path.resolve())
    problems = []
    if not callable(getattr(module, "frames", None)):
        message = f"{path.name} has no function frames()"
        problems.append(Problem(message=message, fix=f"{FRAMES}, the frames to train on and their labels"))
    said: dict[str, Any] = {}
    for name, (words, fine) in NUMBERS.items():
        if hasattr(module, name):
            said[name] = getattr(module, name)
            if not fine(said[name]):
                message = f"{name} of {path.name} is {said[name]!r:.80}"
                problems.append(Problem(message=message, fix=words))
    for name in FUNCTIONS:
        if hasattr(module, name):
            if not callable(getattr(module, name)):
                message = f"{name} of {path.name} is {getattr(module, name)!r:.80}, which is no function"
                problems.append(Problem(message=message, fix=f"def {name}(...), or leave it out"))
            else:
                said[name] = guarded(path, name, getattr(module, name))
    if problems:
        raise DesignError(problems)
    given = guarded(path, "frames", module.frames)
    return Recipe(path=path, frames=lambda: _taken(given(), path), **said)


@contextmanager
def running(path: Path, what: str) -> Iterator[None]:
    """The user's code: its neighbours can be imported, and what it raises becomes an error of theirs."""
    with importable(path.resolve().parent):
        try:
            yield
        except DesignError:
            raise
        except BaseException as error:
            raise failure(error, what, path, MEND, None) from error


def guarded(path: Path, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The user's function, whose errors are theirs."""

    def called(*given: Any) -> Any:
        with running(path, f"{name}() of {path.name} fails"):
            return function(*given)

    return called


def _taken(found: Any, path: Path) -> tuple[list[Floats], Any]:
    """What frames() returned as (arrays of each input, labels)."""
    pair = found if isinstance(found, tuple) else (found, None)
    if len(pair) != 2:
        message = f"frames() of {path.name} returns {len(pair)} things"
        raise DesignError(Problem(message=message, fix="return x, y; of several inputs x is a list"))
    x, labels = pair
    given: Sequence[Any] = x if isinstance(x, list) else [x]
    try:
        arrays = [real_array(one, "frames") for one in given]
        # a tensor of PyTorch is an array too
        labels = None if labels is None else np.asarray(labels)
    except (TypeError, ValueError) as error:
        message = f"frames() of {path.name} gives no arrays of numbers: {str(error):.120}"
        raise DesignError(Problem(message=message, fix="NumPy arrays or tensors, batch first")) from None
    if labels is not None and (labels.ndim == 0 or labels.dtype.kind not in "biuf"):
        message = f"the labels of frames() of {path.name} are {labels.dtype} of shape {labels.shape}"
        raise DesignError(Problem(message=message, fix="numbers whose first axis is the frames"))
    if labels is not None and labels.dtype.kind == "f" and not np.isfinite(labels).all():
        message = f"the labels of frames() of {path.name} hold NaN or infinity"
        raise DesignError(Problem(message=message, fix="finite numbers"))
    return arrays, labels
