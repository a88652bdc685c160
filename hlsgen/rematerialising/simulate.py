"""What a sequence of operations holds at every step, and whether it trains the chain at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hlsgen.rematerialising.chain import Chain, Kind, Operation


class InvalidSequence(Exception):
    """The operations do not train the chain: a bug of hlsgen's, never the user's mistake."""


@dataclass
class _Memory:
    """What is held: inputs of stages (a[i] by i), what autograd saved, the gradient that arrived last."""

    chain: Chain
    inputs: set[int] = field(default_factory=lambda: {0})
    saved: set[int] = field(default_factory=set)
    gone_back: int = 0
    """The first stage that has gone backward."""

    def held(self) -> int:
        """Bytes; a[i] within what stage i - 1 saved is not counted twice. d[gone_back] is one of them."""
        stages = self.chain.stages
        inputs = sum(stages[i - 1].output_bytes for i in self.inputs if i > 0 and i - 1 not in self.saved)
        gradient = stages[self.gone_back - 1].gradient_bytes if self.gone_back else 0
        return inputs + sum(stages[i].saved_bytes for i in self.saved) + gradient

    def has(self, value: int) -> bool:
        return value in self.inputs or value - 1 in self.saved


def peak_bytes(chain: Chain, operations: Sequence[Operation]) -> int:
    """The most that is held at a time, chain.fixed_bytes included. Raises InvalidSequence."""
    memory = _Memory(chain, gone_back=len(chain.stages))
    ran: set[int] = set()
    peak = 0
    for kind, index in operations:
        stage = chain.stages[index]
        if not memory.has(index):
            raise InvalidSequence(f"{kind.name} of stage {index} has no input")
        gradients = chain.gradients_from(memory.gone_back)
        if kind is Kind.BACKWARD:
            if index != memory.gone_back - 1 or index not in memory.saved:
                raise InvalidSequence(f"stage {index} cannot go backward yet")
            own = stage.backward_peak - stage.gradient_bytes  # both have d[index + 1] in them
        else:
            if not stage.again and index in ran:
                raise InvalidSequence(f"stage {index} is computed twice")
            ran.add(index)
            own = stage.keep_peak if kind is Kind.KEEP else stage.forward_peak
        peak = max(peak, memory.held() + gradients + own)
        _after(memory, kind, index)
    if memory.gone_back != 0:
        raise InvalidSequence(f"the stages before {memory.gone_back} never go backward")
    return peak + chain.fixed_bytes


def _after(memory: _Memory, kind: Kind, index: int) -> None:
    if kind is Kind.BACKWARD:
        memory.saved.discard(index)
        memory.inputs -= {index, index + 1}
        memory.gone_back = index
        return
    if kind is Kind.KEEP:
        memory.saved.add(index)
        return
    if kind is Kind.DROP:
        memory.inputs.discard(index)
    memory.inputs.add(index + 1)
