"""The steps of a training in PyTorch: a network of rounded values fitted to frames and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from hlsgen.base.progress import Progress
from hlsgen.model.ports import Floats
from hlsgen.training.fit import (
    Fitted,
    changed_shape,
    check_finite,
    fitted,
    goal_of,
    half_cosine,
    no_loss,
    no_optimiser,
    steps_of_an_epoch,
    targets_of,
)
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
    """Trains the network in float32, in place, and leaves it in doubles: the optimiser of the recipe, else
    Adam, its rate falling to 0 along half a cosine.

    wanted: what the network in floating point gives for the frames, which they are fitted to without labels.
    The generators of random numbers are those of the recipe's seed meanwhile, and afterwards as they were.
    Raises DesignError: a loss that is no finite number, or the user's code fails.
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), _threads(network, recipe):
        torch.manual_seed(recipe.seed)
        found = fitted(_Steps(network, frames, recipe, wanted, prepare), frames, recipe, name, progress)
    network.eval().double()
    return found


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


class _Steps:
    def __init__(
        self,
        network: Network,
        frames: TrainingFrames,
        recipe: Recipe,
        wanted: Sequence[Floats],
        prepare: Prepare,
    ) -> None:
        self.recipe, self.count = recipe, frames.count
        self.inputs = [torch.from_numpy(one).float() for one in frames.x]
        self.runs = prepare(network.float().train(), [one[: recipe.batch] for one in self.inputs])
        self.targets = [torch.from_numpy(one) for one in targets_of(frames, wanted)]
        self.loss_of = _loss(recipe, frames, wanted)
        self.optimiser = _optimiser(recipe, network)
        total = recipe.epochs * steps_of_an_epoch(frames, recipe)
        self.rate = torch.optim.lr_scheduler.LambdaLR(self.optimiser, lambda step: half_cosine(step, total))

    def order(self) -> torch.Tensor:
        return torch.randperm(self.count)

    def step(self, at: torch.Tensor, epoch: int) -> float:
        given = [one[at] for one in self.inputs]
        if self.recipe.augment is not None:
            given = _augmented(self.recipe, given)
        loss = self.loss_of(self.runs(*given), [one[at] for one in self.targets])
        _check_loss(loss, epoch, self.recipe)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        self.rate.step()
        return float(loss.detach())


def _optimiser(recipe: Recipe, network: Network) -> torch.optim.Optimizer:
    parameters = [one for one in network.parameters() if one.requires_grad]
    if recipe.optimiser is None:
        return torch.optim.Adam(parameters, lr=recipe.learning_rate)
    found = recipe.optimiser(parameters)
    if not isinstance(found, torch.optim.Optimizer):
        raise no_optimiser(recipe, found, "return torch.optim.SGD(parameters, lr=0.01), say")
    return found


def _augmented(recipe: Recipe, given: list[torch.Tensor]) -> list[torch.Tensor]:
    """The frames of a batch, changed by the recipe: a tensor, or a list of them for several inputs."""
    assert recipe.augment is not None
    found = recipe.augment(given[0] if len(given) == 1 else given)
    fresh = [found] if isinstance(found, torch.Tensor) else list(found)
    if [getattr(one, "shape", None) for one in fresh] != [one.shape for one in given]:
        raise changed_shape(recipe)
    return [one.float() for one in fresh]


def _loss(recipe: Recipe, frames: TrainingFrames, wanted: Sequence[Floats]) -> Loss:
    """The recipe's loss; else cross-entropy of classes, mean square error of what else is wanted.

    Raises DesignError: labels that go with neither.
    """
    if recipe.loss is not None:
        own = recipe.loss
        return lambda outputs, goal: own(outputs, goal[0] if len(goal) == 1 else goal)
    if goal_of(frames, wanted) == "classes":
        return lambda outputs, goal: nn.functional.cross_entropy(
            _list(outputs)[0].flatten(1), goal[0].flatten()
        )
    return lambda outputs, goal: sum(  # type: ignore[return-value]
        nn.functional.mse_loss(got, one) for got, one in zip(_list(outputs), goal, strict=True)
    )


def _list(outputs: Outputs) -> list[torch.Tensor]:
    return outputs if isinstance(outputs, list) else [outputs]


def _check_loss(loss: Any, epoch: int, recipe: Recipe) -> None:
    """Raises DesignError: no single finite number that gradients lead back from."""
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1 or not loss.requires_grad:
        is_tensor = isinstance(loss, torch.Tensor)
        raise no_loss(f"a tensor of shape {tuple(loss.shape)}" if is_tensor else f"{loss!r:.40}")
    check_finite(float(loss.detach()), epoch, recipe)
