"""`hlsgen.rematerialise`: a module that trains within a budget of memory, gradients as in plain training."""

from __future__ import annotations

from collections.abc import Sequence

from hlsgen.base.errors import BudgetWarning, warn_caller
from hlsgen.base.progress import Progress, silent
from hlsgen.frontends.torch.package import nn, torch
from hlsgen.rematerialising.chain import Chain
from hlsgen.rematerialising.execution import Pass, program_of
from hlsgen.rematerialising.measuring import Loss, Measured, loss_stage
from hlsgen.rematerialising.network import network_of
from hlsgen.rematerialising.peaks import StepCost, held_bytes, step_cost, storage_bytes
from hlsgen.rematerialising.plan import Plan, plan_for
from hlsgen.rematerialising.segments import Segment
from hlsgen.rematerialising.sizes import bytes_of


class Rematerialised(nn.Module):
    """`module` as a chain that is trained by `plan`; it has the module's very parameters and buffers.

    In the mode (training or evaluation) that it was planned in, and while gradients are recorded, it keeps to
    the plan; in the other, the module itself is called.
    """

    def __init__(
        self, module: nn.Module, before: Segment | None, stages: Sequence[Measured], plan: Plan, batch: int
    ) -> None:
        super().__init__()
        self.module = module
        self.plan = plan
        self._before = before
        self._stages = tuple(stages)
        self._program = program_of(plan.operations, len(stages))
        self._batch = batch
        self._mode = module.training
        self.train(module.training)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not torch.is_grad_enabled() or self.module.training is not self._mode:
            output: torch.Tensor = self.module(x)
            return output
        if len(x) > self._batch:
            text = (
                f"a batch of {len(x)}, where the plan for {self.plan.budget} bytes was made for {self._batch}"
            )
            warn_caller(f"{text}: it will take more memory", BudgetWarning)
        if self._before is not None:
            x = self._before(x)
        trained = [parameter for parameter in self.module.parameters() if parameter.requires_grad]
        return Pass(self._stages, self._program, trained).forward(x)

    def measure(self, frame: torch.Tensor, loss: Loss | None = None, *, repeats: int = 3) -> StepCost:
        """The peak and the time of a training step with this batch, measured; docs/memory.md says how."""
        return step_cost(self, frame, loss, repeats=repeats)

    def extra_repr(self) -> str:
        return str(self.plan)


def rematerialise(
    module: nn.Module,
    frame: torch.Tensor,
    memory: str | int,
    *,
    loss: Loss | None = None,
    held: str | int = 0,
    accumulate: bool = False,
    progress: Progress = silent,
) -> Rematerialised:
    """The module as one that trains within `memory`, the fastest way there is by times measured here.

    frame: a batch as training has it, whose contents do not matter. memory: such as "400MB", of all tensors
    while a batch goes forward and backward: parameters, buffers, their gradients, the batch, activations,
    what operations take for themselves, and `held`, such as the optimizer's state. loss: of the output, whose
    own memory is counted then. accumulate: gradients are there before a batch already, of batches before.
    The module is run a few times, stage by stage; nothing of it is changed.

    Raises DesignError: the module is no chain of stages, it does not compute the same twice, or no budget as
    small is possible; the least possible one is named.
    """
    budget = bytes_of(memory)
    network = network_of(module, frame, progress)
    stages, x = network.stages, network.output
    fixed = held_bytes(module, frame) + network.input_bytes
    fixed += 0 if held == 0 else bytes_of(held)
    # what stages change is copied before they run, and twice more of one while it is computed again
    copies = [one.changing.bytes for one in stages]
    fixed += sum(copies) + 2 * max(copies)
    gradients = sum(one.stage.parameter_gradient_bytes for one in stages)
    chain = Chain(
        stages=(*(one.stage for one in stages), loss_stage(loss, x)),
        # whoever called the module holds its output
        fixed_bytes=fixed + storage_bytes([x]) + (gradients if accumulate else 0),
        gradients_kept=accumulate,
    )
    return Rematerialised(module, network.before, stages, plan_for(chain, budget), len(frame))
