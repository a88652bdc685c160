"""Times and bytes of a stage, measured on this machine with one batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.short_repr import Brief
from hlsgen.frontends.torch.package import torch
from hlsgen.rematerialising.chain import Stage
from hlsgen.rematerialising.peaks import now, recorded, storage_bytes
from hlsgen.rematerialising.segments import Segment
from hlsgen.rematerialising.state import Changing, Everything, same

REPEATS = 2
"""Timed runs; the fastest counts."""


@dataclass(frozen=True, kw_only=True)
class Measured(Brief):
    """A stage: its segment, what it changes, its figures, how often autograd reads each tensor it saved."""

    segment: Segment
    changing: Changing
    stage: Stage
    reads: tuple[int, ...]


def measured(segment: Segment, x: torch.Tensor, *, again: bool = True) -> tuple[Measured, torch.Tensor]:
    """The stage with x as its input, and its output without a graph.

    again: whether it may be computed again. Buffers, counters, random numbers and gradients are afterwards
    as before. Raises DesignError: it does not compute the same again, though it should.
    """
    everything = Everything(segment.modules)
    try:
        output, reads, changing = _warm(segment, x, everything)
        everything.undo()
        forward_s, backward_s, second = _timed(segment, x, everything)
        if again and not same(output, second):
            raise DesignError(
                Problem(
                    message=f"{segment.name} does not compute the same again from the same input, buffers, "
                    "counters and random numbers of PyTorch",
                    fix="random numbers from torch, and state in buffers",
                )
            )
        everything.undo()
        sizes = _sizes(segment, x)
    finally:
        everything.undo()
    stage = Stage(
        name=segment.name,
        forward_s=forward_s,
        backward_s=backward_s,
        output_bytes=storage_bytes([output]),
        gradient_bytes=output.nbytes if output.requires_grad else 0,
        again=again,
        **sizes,
    )
    return Measured(segment=segment, changing=changing, stage=stage, reads=reads), output


def _warm(
    segment: Segment, x: torch.Tensor, everything: Everything
) -> tuple[torch.Tensor, tuple[int, ...], Changing]:
    """The output, how often each saved tensor is read, and what is changed."""
    reads: list[int] = []

    def pack(tensor: torch.Tensor) -> tuple[int, torch.Tensor]:
        reads.append(0)
        return len(reads) - 1, tensor.detach()

    def unpack(packed: tuple[int, torch.Tensor]) -> torch.Tensor:
        reads[packed[0]] += 1
        return packed[1]

    source = _source(x)
    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        output = segment(source)
    changing = everything.changed()
    kept = output.detach().requires_grad_(output.requires_grad)
    _backward(output, source)
    return kept, tuple(reads), changing


def _timed(segment: Segment, x: torch.Tensor, everything: Everything) -> tuple[float, float, torch.Tensor]:
    """Seconds forward and backward, and the output of the first run."""
    times, first = [], None
    for _ in range(REPEATS):
        source = _source(x)
        start = now()
        with torch.enable_grad():
            output = segment(source)
        middle = now()
        if first is None:
            first = output.detach()
        _backward(output, source)
        times.append((middle - start, now() - middle))
        everything.undo()
    assert first is not None
    return min(one for one, _ in times), min(one for _, one in times), first


def _sizes(segment: Segment, x: torch.Tensor) -> dict[str, int]:
    """The fields of Stage in bytes that depend on what autograd keeps."""
    source = _source(x)
    with torch.enable_grad(), recorded() as recorder:
        recorder.mark()
        with dropping():
            output = segment(source)
        del output
        recorder.mark()
        output = segment(source)
        recorder.mark()
        end, leaves = _end_of(output, source)
        del output
        recorder.mark()
        gradients = torch.autograd.grad(end, leaves, allow_unused=True) if leaves else ()
        del end
        recorder.mark()
    dropped, kept, released, backward, _ = recorder.periods
    parameters = [one for leaf, one in zip(leaves, gradients, strict=True) if leaf is not source]
    return {
        "forward_peak": dropped.peak,
        "keep_peak": kept.peak,
        "saved_bytes": kept.left,
        "backward_peak": max(0, released.left + backward.peak),
        "parameter_gradient_bytes": storage_bytes([one for one in parameters if one is not None]),
    }


def dropping() -> Any:
    """A while in which autograd keeps nothing of what it would save."""

    def gone(_: None) -> torch.Tensor:
        raise AssertionError("nothing goes backward through a stage whose tensors were dropped")

    return torch.autograd.graph.saved_tensors_hooks(lambda _: None, gone)


def _source(x: torch.Tensor) -> torch.Tensor:
    """x as a leaf of its own, which the segment may write over."""
    return x.detach().clone().requires_grad_(x.requires_grad)


def _backward(output: torch.Tensor, source: torch.Tensor) -> None:
    end, leaves = _end_of(output, source)
    if leaves:
        torch.autograd.grad(end, leaves, allow_unused=True)


def _end_of(output: torch.Tensor, source: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """A number to go backward from, and the leaves that its gradient is computed for."""
    leaves = _leaves(output)
    end: torch.Tensor = _End.apply(output)  # type: ignore[no-untyped-call]
    if source.requires_grad and not any(leaf is source for leaf in leaves):
        leaves.append(source)
    return end, leaves if output.requires_grad else []


def _leaves(output: torch.Tensor) -> list[torch.Tensor]:
    """What the graph accumulates gradients in."""
    found: dict[int, torch.Tensor] = {}
    nodes, known = [output.grad_fn], set()
    while nodes:
        node = nodes.pop()
        if node is None or node in known:
            continue
        known.add(node)
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.Tensor):
            found[id(variable)] = variable
        nodes += [following for following, _ in node.next_functions]
    return list(found.values())


class _End(torch.autograd.Function):
    """A number whose gradient is small numbers of the input's shape, which autograd alone holds."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.like = (x.shape, x.dtype)
        return x.new_zeros(())

    @staticmethod
    def backward(ctx: Any, *_: torch.Tensor) -> torch.Tensor:
        shape, dtype = ctx.like
        return torch.full(shape, 1e-3, dtype=dtype)


Loss = Callable[[torch.Tensor], torch.Tensor]


def loss_stage(loss: Loss | None, output: torch.Tensor) -> Stage:
    """The last stage. Without a loss it takes no time, and no memory but the gradient of the output."""
    if loss is not None:
        one = Segment(label="loss", paths=(), functions=(loss,), modules=())
        return measured(one, output, again=False)[0].stage
    return Stage(
        name="loss",
        forward_s=0.0,
        backward_s=0.0,
        output_bytes=0,
        saved_bytes=0,
        gradient_bytes=0,
        forward_peak=0,
        keep_peak=0,
        backward_peak=output.nbytes,
        again=False,
    )
