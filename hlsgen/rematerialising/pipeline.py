"""A module's stages over processes, in micro-batches, each process within a budget of memory of its own.

The processes are the user's, started by torchrun or torch.multiprocessing, with torch.distributed set up
(the backend gloo for the CPU). Each builds the same module and calls `pipelined`; of the parameters it trains
those of its own part. All micro-batches go forward through the parts, then backward in the opposite order
(GPipe: Huang et al., 2019). Gradients are those of plain training with the same micro-batches, summed in that
order, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Literal

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress, silent
from hlsgen.base.short_repr import Brief
from hlsgen.frontends.torch.package import nn, torch
from hlsgen.rematerialising.execution import Pass
from hlsgen.rematerialising.measuring import Measured, loss_stage
from hlsgen.rematerialising.microbatches import Part, each, inputs_only, programs_of, send_stage, whole
from hlsgen.rematerialising.network import Network, network_of
from hlsgen.rematerialising.peaks import storage_bytes
from hlsgen.rematerialising.plan import Plan
from hlsgen.rematerialising.segments import Segment
from hlsgen.rematerialising.sizes import bytes_of, size_text

dist = torch.distributed

LabelledLoss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Way = Literal["whole", "each", "inputs"]


@dataclass(frozen=True, kw_only=True)
class Pipelined(Brief):
    """This process's part of a pipeline; `step` is called by all processes.

    bounds: the first stage of each part, and the number of stages. stages: of this process. plan: of all
    micro-batches of this part. input_like: a micro-batch as this part reads it, without contents. owners: of
    the module's parameters and buffers by name, the process that trains them; those of no part are not there.
    """

    module: nn.Module
    rank: int
    parts: int
    micro_batches: int
    bounds: tuple[int, ...]
    plan: Plan
    before: Segment | None
    stages: tuple[Measured, ...]
    input_like: torch.Tensor
    loss: LabelledLoss
    owners: dict[str, int]

    @property
    def parameters(self) -> list[nn.Parameter]:
        """What this process trains: for its optimizer."""
        named = self.module.named_parameters()
        return [one for name, one in named if self.owners.get(name) == self.rank and one.requires_grad]

    def step(self, frame: torch.Tensor | None = None, labels: torch.Tensor | None = None) -> float | None:
        """A batch forward and backward: gradients are added to those of the parameters.

        frame: the batch, which the first process reads. labels: which the last one reads. The last gives the
        mean of the micro-batches' losses, others None. Raises DesignError: what a process reads is missing,
        or no multiple of the micro-batches.
        """
        first, last = self.rank == 0, self.rank == self.parts - 1
        frames = self._pieces(frame, "frame") if first else [None] * self.micro_batches
        targets = self._pieces(labels, "labels") if last else [None] * self.micro_batches
        length = len(self.stages)
        programs = programs_of(self.plan, length, self.micro_batches)
        sending = _Sending()
        ends: list[tuple[torch.Tensor, torch.Tensor]] = []
        total = 0.0
        for program, piece, target in zip(programs, frames, targets, strict=True):
            x = self._input(piece)
            y = Pass(self.stages, program, self.parameters).forward(x)
            if target is not None:
                end = self.loss(y, target) / self.micro_batches
                total += float(end.detach())
            else:
                sending.start(y.detach(), self.rank + 1)
                end = _Received.apply(y, self.rank + 1)  # type: ignore[no-untyped-call]
            del y
            ends.append((x, end))
        sending.finish()
        while ends:
            x, end = ends.pop()
            end.backward()  # type: ignore[no-untyped-call]
            if x.grad is not None:
                sending.start(x.grad, self.rank - 1)
            del x, end
        sending.finish()
        return total if last else None

    def collect(self) -> None:
        """Brings what the other processes have trained into this one's module."""
        named = {**dict(self.module.named_parameters()), **dict(self.module.named_buffers())}
        for name, owner in self.owners.items():
            if self.parts > 1:
                dist.broadcast(named[name].data, src=owner)

    def _input(self, piece: torch.Tensor | None) -> torch.Tensor:
        if piece is not None:
            return piece if self.before is None else self.before(piece).detach()
        like = self.input_like
        x = torch.empty(like.shape, dtype=like.dtype)
        dist.recv(x, src=self.rank - 1)
        return x.requires_grad_()

    def _pieces(self, batch: torch.Tensor | None, what: str) -> Sequence[torch.Tensor]:
        if batch is None or len(batch) == 0 or len(batch) % self.micro_batches:
            got = "none" if batch is None else str(len(batch))
            message = f"{what}: {self.micro_batches} micro-batches cannot be made of {got}"
            raise DesignError(Problem(message=message, fix=f"a multiple of {self.micro_batches}"))
        return batch.chunk(self.micro_batches)


class _Sending:
    """One tensor at a time under way to another process, while this one goes on."""

    def __init__(self) -> None:
        self._work: Any = None
        self._tensor: torch.Tensor | None = None

    def start(self, tensor: torch.Tensor, to: int) -> None:
        self.finish()
        self._tensor = tensor.contiguous()
        self._work = dist.isend(self._tensor, dst=to)

    def finish(self) -> None:
        if self._work is not None:
            self._work.wait()
        self._work = self._tensor = None


class _Received(torch.autograd.Function):
    """A number in place of what was sent on, whose gradient is the one that comes back."""

    @staticmethod
    def forward(ctx: Any, y: torch.Tensor, source: int) -> torch.Tensor:
        ctx.like = (y.shape, y.dtype, source)
        return y.new_zeros(())

    @staticmethod
    def backward(ctx: Any, *_: torch.Tensor) -> tuple[torch.Tensor, None]:
        shape, dtype, source = ctx.like
        gradient = torch.empty(shape, dtype=dtype)
        dist.recv(gradient, src=source)
        return gradient, None


def pipelined(
    module: nn.Module,
    frame: torch.Tensor,
    labels: torch.Tensor,
    loss: LabelledLoss,
    memory: str | int,
    *,
    micro_batches: int,
    way: Way = "whole",
    bounds: Sequence[int] | None = None,
    held: str | int = 0,
    progress: Progress = silent,
) -> Pipelined:
    """This process's part of the module, trained within `memory`; every process of the group calls it.

    frame, labels: a batch as training has it, whose contents do not matter; micro_batches divides it. loss:
    of an output and labels, a mean over the batch. memory: as of `rematerialise`, of this process; it may
    differ between them. way: "whole" plans all micro-batches together, "each" one for all of them, "inputs"
    keeps their inputs alone. bounds: as the result has them, of an earlier call; left out, the cut whose
    slowest part is fastest, by the first process's measurements.

    Raises DesignError, in all processes alike: as `rematerialise`; more processes than stages; a parameter in
    two parts.
    """
    budget = bytes_of(memory)
    rank, parts = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
    if micro_batches < 1 or len(frame) % micro_batches or not len(frame):
        message = f"{micro_batches} micro-batches cannot be made of {len(frame)} frames"
        raise DesignError(Problem(message=message, fix="a number that divides the batch"))
    size = len(frame) // micro_batches
    network = network_of(module, frame[:size], progress)
    bounds = _bounds(network, parts, bounds)
    owners = _owners(module, network, bounds)
    own = slice(bounds[rank], bounds[rank + 1])
    part = _part(module, network, bounds, rank, owners, micro_batches, frame, labels, loss)
    part = replace(part, fixed_bytes=part.fixed_bytes + (0 if held == 0 else bytes_of(held)))
    plan = _for_all(parts, lambda: _plan(part, micro_batches, budget, way))
    return Pipelined(
        module=module,
        rank=rank,
        parts=parts,
        micro_batches=micro_batches,
        bounds=tuple(bounds),
        plan=plan,
        before=network.before if rank == 0 else None,
        stages=network.stages[own],
        input_like=network.inputs[bounds[rank]],
        loss=loss,
        owners=owners,
    )


def _plan(part: Part, count: int, budget: int, way: Way) -> Plan:
    if way == "whole":
        return whole(part, count, budget)
    plan = each(part, count, budget) if way == "each" else inputs_only(part, count, budget)
    if plan is None:
        message = f"{size_text(budget)} are not enough where every micro-batch is planned alike"
        raise DesignError(Problem(message=message, fix='way="whole", or more memory'))
    return plan


def _for_all(parts: int, plan: Callable[[], Plan]) -> Plan:
    """What `plan` gives. Raises DesignError: it raises that here or in another process, which would wait."""
    found: Plan | None = None
    problems: tuple[Problem, ...] = ()
    try:
        found = plan()
    except DesignError as error:
        problems = error.problems
    everyone: list[Any] = [problems] * parts
    if parts > 1:
        dist.all_gather_object(everyone, problems)
    if found is None or any(everyone):
        raise DesignError(
            [
                replace(problem, message=f"process {rank}: {problem.message}")
                for rank, own in enumerate(everyone)
                for problem in own
            ]
        )
    return found


def _bounds(network: Network, parts: int, given: Sequence[int] | None) -> list[int]:
    """The first stage of each part, and the number of stages; the same in every process."""
    seconds = [one.stage.forward_s + one.stage.backward_s for one in network.stages]
    if parts > len(seconds):
        message = f"{parts} processes, and the module has {len(seconds)} stages"
        raise DesignError(Problem(message=message, fix=f"{len(seconds)} processes at most"))
    found = [balanced(seconds, parts) if given is None else list(given)]
    if parts > 1:
        dist.broadcast_object_list(found, src=0)
    if [0, *sorted(set(found[0][1:-1])), len(seconds)] != found[0] or len(found[0]) != parts + 1:
        message = f"bounds {found[0]} do not cut {len(seconds)} stages for {parts} processes"
        raise DesignError(Problem(message=message, fix="bounds of an earlier call with as many processes"))
    return found[0]


def balanced(seconds: Sequence[float], parts: int) -> list[int]:
    """Bounds of so many runs of stages whose slowest is fastest."""
    count, sums = len(seconds), [0.0, *accumulate(seconds)]
    best: dict[tuple[int, int], tuple[float, list[int]]] = {(0, 0): (0.0, [0])}
    for part in range(1, parts + 1):
        for end in range(part, count + 1):
            best[part, end] = min(
                (max(best[part - 1, start][0], sums[end] - sums[start]), [*best[part - 1, start][1], end])
                for start in range(part - 1, end)
                if (part - 1, start) in best
            )
    return best[parts, count][1]


def _owners(module: nn.Module, network: Network, bounds: Sequence[int]) -> dict[str, int]:
    """By name of a parameter or buffer its part. Raises DesignError: two have it."""
    names = {id(one): name for name, one in [*module.named_parameters(), *module.named_buffers()]}
    owners: dict[str, int] = {}
    for index, one in enumerate(network.stages):
        part = next(n for n in range(len(bounds) - 1) if index < bounds[n + 1])
        for tensor in tensors_of(one.segment):
            name = names.get(id(tensor))
            if name is not None and owners.setdefault(name, part) != part:
                message = f"{name} is used by stages in two processes"
                raise DesignError(Problem(message=message, fix="fewer processes, or a parameter for each"))
    return owners


def tensors_of(segment: Segment) -> list[torch.Tensor]:
    """Parameters and buffers that a segment has."""
    modules = [one for one in segment.functions if isinstance(one, nn.Module)]
    return [tensor for one in modules for tensor in (*one.parameters(), *one.buffers())]


def _part(
    module: nn.Module,
    network: Network,
    bounds: Sequence[int],
    rank: int,
    owners: dict[str, int],
    count: int,
    frame: torch.Tensor,
    labels: torch.Tensor,
    loss: LabelledLoss,
) -> Part:
    own = network.stages[bounds[rank] : bounds[rank + 1]]
    first, last = rank == 0, bounds[rank + 1] == len(network.stages)
    stages = [one.stage for one in own]
    received = network.input_bytes if first else network.stages[bounds[rank] - 1].stage.output_bytes
    named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    held = [named[name] for name, owner in owners.items() if owner == rank]
    copies = [one.changing.bytes for one in own]
    fixed = storage_bytes(held) + count * sum(copies) + 2 * max(copies)
    fixed += (frame.nbytes if first else received) + (labels.nbytes if last else stages[-1].output_bytes)
    if last:
        size = len(labels) // count
        end = loss_stage(lambda y: loss(y, labels[:size]), network.output)
    else:
        end = send_stage(stages[-1].output_bytes)
        # gone once it is sent, which is counted as held above, unless autograd keeps it
        kept = stages[-1].saved_bytes
        if not network.keeps_output[bounds[rank + 1] - 1]:
            kept -= stages[-1].output_bytes
        stages[-1] = replace(stages[-1], output_bytes=0, saved_bytes=kept)
    return Part(
        stages=tuple(stages),
        received=received,
        received_gradient=0 if first else received,
        end=end,
        fixed_bytes=fixed,
    )
