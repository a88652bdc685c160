"""Micro-batches of one part of a pipeline as a chain, and three ways to train it within a budget.

In a pipeline each process trains a part of the stages. All micro-batches go forward through it one after the
other, and then backward in the opposite order. As a chain the part is

    receive, its stages, send, receive, its stages, send, ...

where receiving and sending are stages that must not be computed again: an input is kept from when it comes
until its gradient goes. `whole` searches the best schedule of this chain, in which micro-batches may share
memory unequally and those that go backward later use what is free by then. `each` plans one micro-batch with
its share of the memory, for all of them. `inputs_only` keeps nothing but the inputs, as GPipe does. The first
two are the global and the direct approach of TEXTAROSSA's deliverable D4.8 (2023), section 2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hlsgen.base.errors import DesignError
from hlsgen.base.short_repr import Brief
from hlsgen.rematerialising.chain import Chain, Kind, Operation, Stage
from hlsgen.rematerialising.execution import Program
from hlsgen.rematerialising.plan import Plan, plan_for


@dataclass(frozen=True, kw_only=True)
class Part(Brief):
    """A process's part of a pipeline, for one micro-batch.

    stages: its own. received: bytes of its input, 0 where that is there from the beginning;
    received_gradient: of the input's gradient, 0 where it needs none. end: the loss, or what sends the output
    on. fixed_bytes: held from beginning to end.
    """

    stages: tuple[Stage, ...]
    received: int
    received_gradient: int
    end: Stage
    fixed_bytes: int

    def chain(self, count: int) -> Chain:
        """So many micro-batches. Gradients of parameters come with the last, and are there for the others."""
        accumulated = tuple(replace(stage, parameter_gradient_bytes=0) for stage in self.stages)
        blocks = [(self._receive(first=False), *accumulated, self.end)] * (count - 1)
        last = (self._receive(first=False), *self.stages, self.end)
        stages = [stage for block in [*blocks, last] for stage in block]
        stages[0] = self._receive(first=True)
        return Chain(stages=tuple(stages), fixed_bytes=self.fixed_bytes)

    def _receive(self, *, first: bool) -> Stage:
        """Backward it sends the input's gradient on."""
        return Stage(
            name="receive",
            forward_s=0.0,
            backward_s=0.0,
            output_bytes=self.received,
            saved_bytes=self.received,
            gradient_bytes=self.received_gradient,
            forward_peak=self.received,
            keep_peak=self.received,
            backward_peak=self.received_gradient + (0 if first else self.end.gradient_bytes),
            again=False,
        )


def send_stage(output_bytes: int) -> Stage:
    """What sends an output on, which is gone then, and backward receives its gradient."""
    return Stage(
        name="send",
        forward_s=0.0,
        backward_s=0.0,
        output_bytes=0,
        saved_bytes=0,
        gradient_bytes=0,
        forward_peak=0,
        keep_peak=0,
        backward_peak=output_bytes,
        again=False,
    )


def whole(part: Part, count: int, budget: int) -> Plan:
    """The fastest schedule of all micro-batches together. Raises DesignError: none is within the budget."""
    return plan_for(part.chain(count), budget)


def each(part: Part, count: int, budget: int) -> Plan | None:
    """The best with an equal share of the memory for every micro-batch; None: none is within the budget."""
    share = part.fixed_bytes + (budget - part.fixed_bytes) // count
    try:
        one = plan_for(part.chain(1), share)
    except DesignError:
        return None
    return _repeated(part, count, budget, one.operations)


def inputs_only(part: Part, count: int, budget: int) -> Plan | None:
    """Inputs alone are kept, everything else is computed again; None: that is not within the budget."""
    stages = len(part.stages)
    operations = [Operation(Kind.KEEP, 0), Operation(Kind.CHECKPOINT, 1)]
    operations += [Operation(Kind.DROP, stage) for stage in range(2, stages + 1)]
    operations += [Operation(Kind.KEEP, stages + 1), Operation(Kind.BACKWARD, stages + 1)]
    operations += [Operation(Kind.KEEP, stage) for stage in range(1, stages + 1)]
    operations += [Operation(Kind.BACKWARD, stage) for stage in reversed(range(stages + 1))]
    return _repeated(part, count, budget, operations)


def _repeated(part: Part, count: int, budget: int, operations: Sequence[Operation]) -> Plan | None:
    """The operations of one micro-batch for all of them, forward and then backward."""
    length = len(part.stages) + 2
    turn = next(n for n, one in enumerate(operations) if one.kind is Kind.BACKWARD)
    done = [
        Operation(kind, stage + length * block) for block in range(count) for kind, stage in operations[:turn]
    ]
    for block in reversed(range(count)):
        done += [Operation(kind, stage + length * block) for kind, stage in operations[turn:]]
    plan = Plan(chain=part.chain(count), budget=budget, operations=tuple(done))
    return plan if plan.peak <= budget else None


def programs_of(plan: Plan, stages: int, count: int) -> tuple[Program, ...]:
    """What each micro-batch does, by the index of its stages alone."""
    length = stages + 2
    forward: list[list[Operation]] = [[] for _ in range(count)]
    backward: list[list[tuple[Operation, ...]]] = [[()] * stages for _ in range(count)]
    pending: list[Operation] = []
    turned = False
    for kind, index in plan.operations:
        block, stage = divmod(index, length)
        own = Operation(kind, stage - 1)
        inside = 0 < stage <= stages
        if kind is Kind.BACKWARD:
            turned = True
            if inside:
                backward[block][stage - 1] = tuple(pending)
                pending = []
        elif inside and not turned:
            forward[block].append(own)
        elif inside:
            pending.append(own)
    return tuple(
        Program(forward=tuple(one), backward=tuple(other))
        for one, other in zip(forward, backward, strict=True)
    )
