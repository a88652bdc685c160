"""Which segments are stages: neighbours are joined where nothing is won by dropping what lies between.

That is where what lies between is not one tensor, is a view of what the segment read, is written over by the
next segment, or is kept by neither of them for its backward operation. What comes before the first parameter
that is trained runs once, before the chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.short_repr import Brief
from hlsgen.frontends.torch.package import torch
from hlsgen.rematerialising.segments import FIX, Segment
from hlsgen.rematerialising.state import Everything


@dataclass(frozen=True, kw_only=True)
class Walked(Brief):
    """A segment that ran once. writes_input: it changes the tensor that it reads. view: its output is one."""

    segment: Segment
    trained: bool
    writes_input: bool
    saves_input: bool
    saves_output: bool
    view: bool

    def then(self, other: Walked) -> Walked:
        """Both as one."""
        return Walked(
            segment=self.segment.then(other.segment),
            trained=other.trained,
            writes_input=self.writes_input,
            saves_input=self.saves_input,
            saves_output=other.saves_output,
            view=self.view and other.view,
        )


@dataclass(frozen=True, kw_only=True)
class Joined(Brief):
    """before: what needs no gradients, and is run once. stages: the segments of the chain."""

    before: Segment | None
    stages: tuple[Walked, ...]


def joined(segments: Sequence[Segment], frame: torch.Tensor) -> Joined:
    """The segments as stages. Nothing of them is changed by it.

    Raises DesignError: nothing is to be trained, or what comes out is not one tensor.
    """
    before: Segment | None = None
    stages: list[Walked] = []
    x, rest = frame.detach().requires_grad_(frame.requires_grad), list(segments)
    while rest:
        segment = rest.pop(0)
        walked, output = _walked(segment, x, first=not stages)
        while not _is_tensor(output) and rest:
            segment = segment.then(rest.pop(0))
            walked, output = _walked(segment, x, first=not stages)
        if not _is_tensor(output):
            message = f"{segment.name} gives {type(output).__name__} instead of one tensor of real numbers"
            raise DesignError(Problem(message=message, fix=FIX))
        if not walked.trained:
            before = segment if before is None else before.then(segment)
        elif stages and _belong_together(stages[-1], walked):
            stages[-1] = stages[-1].then(walked)
        else:
            stages.append(walked)
        x = output
    if not stages:
        fix = "parameters with requires_grad, or plain inference"
        raise DesignError(Problem(message="no parameter of the module is to be trained", fix=fix))
    if len(stages) > 1 and stages[-1].view:
        stages[-2:] = [stages[-2].then(stages[-1])]
    return Joined(before=before, stages=tuple(stages))


def _belong_together(one: Walked, following: Walked) -> bool:
    return one.view or following.writes_input or not (one.saves_output or following.saves_input)


def _is_tensor(output: Any) -> bool:
    return isinstance(output, torch.Tensor) and output.is_floating_point()


def _walked(segment: Segment, x: torch.Tensor, *, first: bool) -> tuple[Walked, torch.Tensor]:
    """What the segment does with its input and output, and the latter, without a graph."""
    source = x.detach().clone().requires_grad_(x.requires_grad)
    if not first:
        source = source.clone()  # no leaf, which must not be written over
    storages: set[int] = set()

    def saved(tensor: torch.Tensor) -> torch.Tensor:
        storages.add(_storage(tensor))
        return tensor.detach()

    everything, version = Everything(segment.modules), source._version
    try:
        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(saved, lambda one: one):
            output = segment(source)
    finally:
        everything.undo()
    if not _is_tensor(output):
        output_storage, trained, result = -1, False, output
    else:
        output_storage, trained = _storage(output), output.requires_grad
        result = output.detach().requires_grad_(trained)
    walked = Walked(
        segment=segment,
        trained=trained,
        writes_input=source._version != version,
        saves_input=_storage(source) in storages,
        saves_output=output_storage in storages,
        view=output_storage == _storage(source),
    )
    return walked, result


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
