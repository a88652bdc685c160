"""The training loop: a network of rounded values fitted to frames and labels."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress
from hlsgen.base.short_repr import Brief
from hlsgen.model.ports import Floats
from hlsgen.training.frames import TrainingFrames
from hlsgen.training.network import Network
from hlsgen.training.packages import nn, torch
from hlsgen.training.recipe import Recipe

Outputs: TypeAlias = "torch.Tensor | list[torch.Tensor]"
Loss: TypeAlias = Callable[[Outputs, Any], torch.Tensor]
Prepare: TypeAlias = Callable[[nn.Module, Sequence[torch.Tensor]], nn.Module]
"""(network, a batch of each input) -> the module that is run forwards and backwards in its place."""
SMALL_MACS = 1 << 28
"""Multiply-accumulates of a batch, below which one thread is quicker than several: some ten milliseconds."""
OWN_LOSS = "def loss(outputs, y) in the recipe"


@dataclass(frozen=True, kw_only=True)
class Fitted(Brief):
    """losses: the mean loss of each epoch. seconds: measured, of all epochs."""

    losses: tuple[float, ...]
    seconds: float


def as_it_is(network: nn.Module, _batch: Sequence[torch.Tensor]) -> nn.Module:
    """The network itself runs forwards and backwards; hlsgen/training/budget.py has another."""
    return network


def fit(
    network: Network,
    frames: TrainingFrames,
    recipe: Recipe,
    wanted: Sequence[Floats],
    name: str,
    progress: Progress,
    prepare: Prepare = as_it_is,
) -> Fitted:
    """Trains the network in float32, in place: the optimiser of the recipe, else Adam, its rate falling to 0
    along half a cosine.

    wanted: what the network in floating point gives for the frames, which they are fitted to without labels.
    The generators of random numbers are those of the recipe's seed meanwhile, and afterwards as they were.
    Raises DesignError: a loss that is no finite number, or the user's code fails.
    """
    start = time.perf_counter()
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), _threads(network, recipe):
        torch.manual_seed(recipe.seed)
        losses = _epochs(network, frames, recipe, wanted, name, progress, prepare)
    network.eval()
    return Fitted(losses=tuple(losses), seconds=time.perf_counter() - start)


@contextmanager
def _threads(network: Network, recipe: Recipe) -> Iterator[None]:
    """One thread for steps of little work, which several threads make slower, by far on a busy machine."""
    before = torch.get_num_threads()
    if network.graph.macs * recipe.batch < SMALL_MACS:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _epochs(
    network: Network,
    frames: TrainingFrames,
    recipe: Recipe,
    wanted: Sequence[Floats],
    name: str,
    progress: Progress,
    prepare: Prepare,
) -> list[float]:
    inputs = [torch.from_numpy(one).float() for one in frames.x]
    runs = prepare(network.float().train(), [one[: recipe.batch] for one in inputs])
    targets = _targets(frames, wanted)
    loss_of = _loss(recipe, frames, wanted)
    optimiser = _optimiser(recipe, network)
    steps = -(-frames.count // recipe.batch)
    total = recipe.epochs * steps
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: (1 + math.cos(math.pi * min(step, total) / total)) / 2
    )
    losses: list[float] = []
    for epoch in range(recipe.epochs):
        summed = 0.0
        order = torch.randperm(frames.count)
        for step in range(steps):
            at = order[step * recipe.batch : (step + 1) * recipe.batch]
            last = f", loss {losses[-1]:.4g}" if losses else ""
            said = f"{name}: training, epoch {epoch + 1} of {recipe.epochs}{last}"
            progress(said, epoch * steps + step, total)
            given = [one[at] for one in inputs]
            if recipe.augment is not None:
                given = _augmented(recipe, given)
            loss = loss_of(runs(*given), [one[at] for one in targets])
            _check_loss(loss, epoch, recipe)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            rate.step()
            summed += float(loss.detach()) * len(at)
        losses.append(summed / frames.count)
    return losses


def _optimiser(recipe: Recipe, network: Network) -> torch.optim.Optimizer:
    parameters = [one for one in network.parameters() if one.requires_grad]
    if recipe.optimiser is None:
        return torch.optim.Adam(parameters, lr=recipe.learning_rate)
    found = recipe.optimiser(parameters)
    if not isinstance(found, torch.optim.Optimizer):
        message = f"optimiser() of {recipe.path.name} returns {type(found).__name__}"
        raise DesignError(Problem(message=message, fix="return torch.optim.SGD(parameters, lr=0.01), say"))
    return found


def _augmented(recipe: Recipe, given: list[torch.Tensor]) -> list[torch.Tensor]:
    """The frames of a batch, changed by the recipe: a tensor, or a list of them for several inputs."""
    assert recipe.augment is not None
    found = recipe.augment(given[0] if len(given) == 1 else given)
    fresh = [found] if isinstance(found, torch.Tensor) else list(found)
    if [getattr(one, "shape", None) for one in fresh] != [one.shape for one in given]:
        message = f"augment() of {recipe.path.name} changes the frames' shape"
        raise DesignError(Problem(message=message, fix="return frames of the shape that it was given"))
    return [one.float() for one in fresh]


def _targets(frames: TrainingFrames, wanted: Sequence[Floats]) -> list[torch.Tensor]:
    if frames.labels is None:
        return [torch.from_numpy(np.asarray(one)).float() for one in wanted]
    labels = frames.labels
    kind = np.int64 if labels.dtype.kind in "biu" else np.float32
    return [torch.from_numpy(np.ascontiguousarray(labels.astype(kind)))]


def _loss(recipe: Recipe, frames: TrainingFrames, wanted: Sequence[Floats]) -> Loss:
    """The recipe's loss; else cross-entropy of classes, mean square error of what else is wanted.

    Raises DesignError: labels that go with neither.
    """
    labels = frames.labels
    if labels is None and recipe.loss is None:
        return lambda outputs, goal: sum(  # type: ignore[return-value]
            nn.functional.mse_loss(got, one) for got, one in zip(_list(outputs), goal, strict=True)
        )
    if recipe.loss is not None:
        own = recipe.loss
        return lambda outputs, goal: own(outputs, goal[0] if len(goal) == 1 else goal)
    assert labels is not None
    if len(wanted) == 1 and labels.dtype.kind in "biu" and labels.size == len(labels):
        classes = int(np.prod(wanted[0].shape[1:]))
        if classes > 1 and int(labels.min()) >= 0 and int(labels.max()) < classes:
            return lambda outputs, goal: nn.functional.cross_entropy(
                _list(outputs)[0].flatten(1), goal[0].flatten()
            )
        message = f"labels are {labels.min()} to {labels.max()}, and a frame has {classes} scores"
        raise DesignError(
            Problem(message=message, fix=f"whole numbers from 0 to {classes - 1}, or {OWN_LOSS}")
        )
    if len(wanted) == 1 and labels.dtype.kind == "f" and labels.shape == wanted[0].shape:
        return lambda outputs, goal: nn.functional.mse_loss(_list(outputs)[0], goal[0])
    message = f"labels of shape {labels.shape} are neither classes nor what the network gives"
    raise DesignError(Problem(message=message, fix=f"the class of each frame, or {OWN_LOSS}"))


def _list(outputs: Outputs) -> list[torch.Tensor]:
    return outputs if isinstance(outputs, list) else [outputs]


def _check_loss(loss: Any, epoch: int, recipe: Recipe) -> None:
    """Raises DesignError: no single finite number that gradients lead back from."""
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1 or not loss.requires_grad:
        what = f"a tensor of shape {tuple(loss.shape)}" if isinstance(loss, torch.Tensor) else f"{loss!r:.40}"
        message = f"the loss is {what}, which training cannot lower"
        raise DesignError(Problem(message=message, fix=f"a single number computed from outputs: {OWN_LOSS}"))
    if not bool(torch.isfinite(loss.detach()).all()):
        message = f"the loss is {float(loss.detach()):g} in epoch {epoch + 1}"
        fix = f"a learning_rate below {recipe.learning_rate:g} in the recipe, or another loss"
        raise DesignError(Problem(message=message, fix=fix))
