"""A module as measured stages: cut, joined and run a few times, and nothing of it changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.own_code import first_line
from hlsgen.base.progress import Progress, silent
from hlsgen.base.short_repr import Brief
from hlsgen.frontends.torch.package import nn, torch
from hlsgen.rematerialising.joining import joined
from hlsgen.rematerialising.measuring import Measured, measured
from hlsgen.rematerialising.peaks import storage_bytes
from hlsgen.rematerialising.segments import FIX, Segment, segments_of
from hlsgen.rematerialising.state import Everything, same


@dataclass(frozen=True, kw_only=True)
class Network(Brief):
    """before: what needs no gradients and is run once. stages: the chain, without its loss.

    inputs: what each stage reads, without its contents (on the device "meta"). keeps_output: whether autograd
    holds what a stage gives while nothing else does. input_bytes: of what `before` gives, 0 where the chain
    starts with the batch. output: of the batch that it was measured with.
    """

    before: Segment | None
    stages: tuple[Measured, ...]
    inputs: tuple[torch.Tensor, ...]
    keeps_output: tuple[bool, ...]
    input_bytes: int
    output: torch.Tensor


def network_of(module: nn.Module, frame: torch.Tensor, progress: Progress = silent) -> Network:
    """The module's stages, measured with this batch.

    Raises DesignError: the module is elsewhere than on the CPU, no chain, or does not compute the same twice.
    """
    if frame.device.type != "cpu" or any(one.device.type != "cpu" for one in module.parameters()):
        message = "stages are measured on the CPU, and the module or its batch is elsewhere"
        raise DesignError(Problem(message=message, fix="module.cpu() and frame.cpu()"))
    segments = segments_of(module)
    if not segments:
        raise DesignError(Problem(message="the module gives back its input: nothing to train", fix=FIX))
    _check_same(module, segments, frame)
    cut = joined(segments, frame)
    x = frame
    if cut.before is not None:
        everything = Everything(cut.before.modules)
        x = _run(cut.before, frame)
        everything.undo()
    input_bytes = 0 if cut.before is None else storage_bytes([x])
    stages: list[Measured] = []
    inputs: list[torch.Tensor] = []
    for number, walked in enumerate(cut.stages):
        progress("measuring stages", number, len(cut.stages))
        inputs.append(x.to("meta"))
        one, x = measured(walked.segment, x, again=not walked.writes_input)
        stages.append(one)
    return Network(
        before=cut.before,
        stages=tuple(stages),
        inputs=tuple(inputs),
        keeps_output=tuple(walked.saves_output for walked in cut.stages),
        input_bytes=input_bytes,
        output=x,
    )


def _run(function: Any, frame: torch.Tensor) -> torch.Tensor:
    """Without gradients, on a copy that may be written over."""
    with torch.no_grad():
        output: torch.Tensor = function(frame.detach().clone())
    return output


def _check_same(module: nn.Module, segments: Sequence[Segment], frame: torch.Tensor) -> None:
    """Refuses segments that do not compute what the module computes. Raises DesignError."""
    everything = Everything(list(module.modules()))
    try:
        whole = _run(module, frame)
    except Exception as error:  # of the user's forward, which may raise anything
        everything.undo()
        text = f"{type(module).__name__} does not run on a batch of {list(frame.shape)}"
        message = f"{text}: {type(error).__name__}: {first_line(error)}"
        raise DesignError(Problem(message=message, fix="a batch as training has it")) from error
    try:
        everything.undo()
        parts = _run(lambda x: _through(segments, x), frame)
    finally:
        everything.undo()
    if not isinstance(whole, torch.Tensor) or not same(whole, parts):
        message = f"{type(module).__name__} computes something else when it is cut into stages"
        fix = "no control flow on values, random numbers or training flags outside its submodules"
        raise DesignError(Problem(message=message, fix=fix))


def _through(segments: Sequence[Segment], x: torch.Tensor) -> torch.Tensor:
    for segment in segments:
        x = segment(x)
    return x
