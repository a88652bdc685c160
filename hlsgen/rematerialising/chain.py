"""A network as a chain of stages, each with its times and bytes, and the operations that train it.

Stage i computes the tensor a[i + 1] from a[i]; a[0] is the network's input. Its backward operation needs
a[i], what autograd saved of its forward operation, and the gradient d[i + 1] of a[i + 1], and makes d[i].
The last stage is the loss, after which everything goes backward.

The model, a chain in which a forward operation keeps nothing, its input, or all that its backward operation
needs, is that of Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova, "Optimal checkpointing for
heterogeneous chains: how to train deep neural networks with limited memory" (ACM TOMS 2024; hal-02352969).
Three things are added to it: gradients of parameters as they arise, peaks that are measured whole instead of
as overheads, and stages that must not be computed again.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from hlsgen.base.short_repr import Brief


class Kind(enum.Enum):
    """What an operation does with memory."""

    DROP = "forward, keeping nothing"
    CHECKPOINT = "forward, keeping its input"
    KEEP = "forward, keeping all that backward needs"
    BACKWARD = "backward"


class Operation(NamedTuple):
    """An operation of the stage with this index."""

    kind: Kind
    stage: int


@dataclass(frozen=True, kw_only=True)
class Stage(Brief):
    """Seconds and bytes of a stage for one batch.

    forward_s, backward_s: of one operation. output_bytes: of a[i + 1]. saved_bytes: of all that autograd
    keeps, a[i + 1] included and a[i] not. gradient_bytes: of d[i + 1], 0 where it needs none.
    forward_peak: the most that a forward operation takes beside a[i], its output included; keep_peak: the
    same where everything is kept. backward_peak: the most that the backward operation takes beside a[i] and
    what is saved, with d[i + 1], d[i] and gradients of parameters. parameter_gradient_bytes: what it leaves
    of these. again: whether it may be computed more than once.
    """

    name: str
    forward_s: float
    backward_s: float
    output_bytes: int
    saved_bytes: int
    gradient_bytes: int
    forward_peak: int
    keep_peak: int
    backward_peak: int
    parameter_gradient_bytes: int = 0
    again: bool = True


@dataclass(frozen=True, kw_only=True)
class Chain(Brief):
    """Stages from the input to the loss, which is the last.

    fixed_bytes: what is held from beginning to end, a[0] included. gradients_kept: whether gradients of
    parameters are there before the first operation and part of fixed_bytes, as where they are accumulated.
    """

    stages: tuple[Stage, ...]
    fixed_bytes: int = 0
    gradients_kept: bool = False

    def gradients_from(self, first: int) -> int:
        """Bytes of gradients of parameters once the stages from `first` on have gone backward."""
        return 0 if self.gradients_kept else self._gradients[first]

    @cached_property
    def _gradients(self) -> tuple[int, ...]:
        backwards = accumulate((s.parameter_gradient_bytes for s in reversed(self.stages)), initial=0)
        return tuple(backwards)[::-1]

    def keeps_everything(self) -> tuple[Operation, ...]:
        """The operations of training with enough memory."""
        count = len(self.stages)
        forward = [Operation(Kind.KEEP, stage) for stage in range(count)]
        return (*forward, *(Operation(Kind.BACKWARD, stage) for stage in reversed(range(count))))

    def seconds(self, operations: Sequence[Operation]) -> float:
        """What the operations take one after the other."""
        return sum(
            self.stages[stage].backward_s if kind is Kind.BACKWARD else self.stages[stage].forward_s
            for kind, stage in operations
        )


def dropped_need(chain: Chain, first: int, stage: int, last: int) -> int:
    """Bytes beside a[first] for a forward operation of `stage`, nothing kept, on the way from `first`.

    The stages after `last` have gone backward, and d[last + 1] is there.
    """
    one = chain.stages[stage]
    of_input = chain.stages[stage - 1].output_bytes if stage > first else 0
    return chain.gradients_from(last + 1) + chain.stages[last].gradient_bytes + of_input + one.forward_peak


def kept_need(chain: Chain, stage: int, last: int) -> int:
    """Bytes beside a[stage] for its forward operation that keeps everything, and its backward one."""
    one = chain.stages[stage]
    forward = chain.gradients_from(last + 1) + chain.stages[last].gradient_bytes + one.keep_peak
    return max(forward, chain.gradients_from(stage + 1) + one.saved_bytes + one.backward_peak)
