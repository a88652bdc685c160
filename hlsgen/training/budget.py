"""Training within a memory budget: activations are computed again on the way back (docs/memory.md)."""

from __future__ import annotations

from collections.abc import Sequence

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress, Say, silent
from hlsgen.rematerialising.module import rematerialise
from hlsgen.training.packages import nn, torch
from hlsgen.training.torch_fit import Prepare

STATES = 2
"""What an optimiser holds of each parameter, as Adam does."""


class OneInput(nn.Module):
    """A network of one input as a module that takes one tensor."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.network(x)  # type: ignore[no-any-return]


def within(memory: str | int, say: Say = silent, progress: Progress = silent) -> Prepare:
    """What keeps a training step, an optimiser's state included, within `memory` ("400MB", or bytes).

    say: is told the predicted and the measured peak of a step, and the times. Raises DesignError, when it is
    called: several inputs, no chain of stages, or no budget as small is possible; the least is named.
    """

    def prepared(network: nn.Module, batch: Sequence[torch.Tensor]) -> nn.Module:
        if len(batch) != 1:
            message = f"the network has {len(batch)} inputs: a memory budget is kept with one"
            raise DesignError(Problem(message=message, fix="leave --memory out"))
        trained = [one for one in network.parameters() if one.requires_grad]
        held = STATES * sum(one.numel() * one.element_size() for one in trained)
        made = rematerialise(OneInput(network), batch[0], memory, held=held, progress=progress)
        plan, cost = made.plan, made.measure(batch[0])
        say(
            f"memory of a training step: {plan.peak / 1e6:.3g} MB predicted with the optimiser's state, "
            f"{(cost.peak + held) / 1e6:.3g} MB measured (plain training: {plan.plain_peak / 1e6:.3g} MB "
            f"predicted); {plan.seconds:.3g} s predicted, {plan.plain_seconds:.3g} s plain"
        )
        return made

    return prepared
