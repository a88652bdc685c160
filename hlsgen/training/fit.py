"""What training loops of all frameworks share: the order of steps, the learning rate, what is wanted."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress
from hlsgen.base.short_repr import Brief
from hlsgen.model.ports import Floats
from hlsgen.training.frames import TrainingFrames
from hlsgen.training.recipe import Recipe

Goal: TypeAlias = Literal["outputs", "classes", "values"]
"""What is wanted without a loss of the recipe's own: what floating point gives, the class of each frame
(cross-entropy), or its label's numbers (mean square error)."""
OWN_LOSS = "def loss(outputs, y) in the recipe"


@dataclass(frozen=True, kw_only=True)
class Fitted(Brief):
    """losses: the mean loss of each epoch. seconds: measured, of all epochs."""

    losses: tuple[float, ...]
    seconds: float


class Steps(Protocol):
    """A network, its frames and its optimiser, in a framework of its own."""

    def order(self) -> Any:
        """All frames' numbers, shuffled."""

    def step(self, at: Any, epoch: int) -> float:
        """Fits the network to these frames and lowers the learning rate; the loss before."""


def fitted(steps: Steps, frames: TrainingFrames, recipe: Recipe, name: str, progress: Progress) -> Fitted:
    """Runs the recipe's epochs. Raises DesignError: as `step` does."""
    start = time.perf_counter()
    count = steps_of_an_epoch(frames, recipe)
    losses: list[float] = []
    for epoch in range(recipe.epochs):
        summed = 0.0
        order = steps.order()
        for step in range(count):
            at = order[step * recipe.batch : (step + 1) * recipe.batch]
            last = f", loss {losses[-1]:.4g}" if losses else ""
            said = f"{name}: training, epoch {epoch + 1} of {recipe.epochs}{last}"
            progress(said, epoch * count + step, recipe.epochs * count)
            summed += steps.step(at, epoch) * len(at)
        losses.append(summed / frames.count)
    return Fitted(losses=tuple(losses), seconds=time.perf_counter() - start)


def steps_of_an_epoch(frames: TrainingFrames, recipe: Recipe) -> int:
    return -(-frames.count // recipe.batch)


def half_cosine(step: int, total: int) -> float:
    """What the first learning rate is multiplied by: from 1 down to 0."""
    return (1 + math.cos(math.pi * min(step, total) / total)) / 2


def goal_of(frames: TrainingFrames, wanted: Sequence[Floats]) -> Goal:
    """What the labels mean for outputs such as `wanted`. Raises DesignError: they go with no goal."""
    labels = frames.labels
    if labels is None:
        return "outputs"
    if len(wanted) == 1 and labels.dtype.kind in "biu" and labels.size == len(labels):
        classes = int(np.prod(wanted[0].shape[1:]))
        if classes > 1 and int(labels.min()) >= 0 and int(labels.max()) < classes:
            return "classes"
        message = f"labels are {labels.min()} to {labels.max()}, and a frame has {classes} scores"
        raise DesignError(
            Problem(message=message, fix=f"whole numbers from 0 to {classes - 1}, or {OWN_LOSS}")
        )
    if len(wanted) == 1 and labels.dtype.kind == "f" and labels.shape == wanted[0].shape:
        return "values"
    message = f"labels of shape {labels.shape} are neither classes nor what the network gives"
    raise DesignError(Problem(message=message, fix=f"the class of each frame, or {OWN_LOSS}"))


def targets_of(frames: TrainingFrames, wanted: Sequence[Floats]) -> list[Any]:
    """Arrays that the outputs are fitted to: integers of 64 bits, or float32."""
    if frames.labels is None:
        return [np.asarray(one, np.float32) for one in wanted]
    kind = np.int64 if frames.labels.dtype.kind in "biu" else np.float32
    return [np.ascontiguousarray(frames.labels.astype(kind))]


def no_loss(what: str) -> DesignError:
    """A loss that training cannot lower. what: it, in words."""
    message = f"the loss is {what}, which training cannot lower"
    return DesignError(Problem(message=message, fix=f"a single number computed from outputs: {OWN_LOSS}"))


def check_finite(loss: float, epoch: int, recipe: Recipe) -> None:
    """Raises DesignError: the loss is NaN or infinite."""
    if not math.isfinite(loss):
        message = f"the loss is {loss:g} in epoch {epoch + 1}"
        fix = f"a learning_rate below {recipe.learning_rate:g} in the recipe, or another loss"
        raise DesignError(Problem(message=message, fix=fix))


def changed_shape(recipe: Recipe) -> DesignError:
    message = f"augment() of {recipe.path.name} changes the frames' shape"
    return DesignError(Problem(message=message, fix="return frames of the shape that it was given"))


def no_optimiser(recipe: Recipe, found: object, fix: str) -> DesignError:
    message = f"optimiser() of {recipe.path.name} returns {type(found).__name__}"
    return DesignError(Problem(message=message, fix=fix))
