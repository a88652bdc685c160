"""The most memory that tensors take, as PyTorch's own allocator reports it to its profiler.

Every allocation and release of the CPU's allocator is an event: activations, gradients, and what operations
and oneDNN take for themselves while they run. Not among them: the interpreter, libraries, code, and what the
C library keeps of released memory. A release is seen only if its allocation was.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hlsgen.base.short_repr import Brief
from hlsgen.frontends.torch.package import nn, torch
from hlsgen.rematerialising.state import Everything

# the profiler's library else writes a line to stderr whenever it starts and stops
os.environ.setdefault("KINETO_LOG_LEVEL", "99")

MARK = "hlsgen"


@dataclass(frozen=True, kw_only=True)
class Period(Brief):
    """Bytes between two marks, from the level at the first: the highest level, and that at the end."""

    peak: int
    left: int


class Recorder:
    """What `recorded` gives: periods are known when its block has ended."""

    def __init__(self) -> None:
        self.periods: list[Period] = []

    def mark(self) -> None:
        """A new period starts here."""
        with torch.profiler.record_function(MARK):
            pass


@contextmanager
def recorded() -> Iterator[Recorder]:
    """Records allocations of the block; its first period starts at the first mark."""
    recorder = Recorder()
    collecting = gc.isenabled()
    gc.disable()  # what is released here was allocated here
    try:
        with torch.autograd.profiler.profile(profile_memory=True) as profile:
            yield recorder
    finally:
        if collecting:
            gc.enable()
    events = sorted(profile.kineto_results.events(), key=lambda event: event.start_ns())
    levels: list[list[int]] = []
    for event in events:
        if event.name() == MARK:
            levels.append([0])
        elif event.name() == "[memory]" and levels:
            levels[-1].append(levels[-1][-1] + event.nbytes())
    recorder.periods = [Period(peak=max(one), left=one[-1]) for one in levels]


def now() -> float:
    """Seconds of a clock: the processor's own with one thread, which other programs do not delay."""
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


@dataclass(frozen=True, kw_only=True)
class StepCost(Brief):
    """A training step, measured. peak: bytes of tensors, parameters, gradients and input included."""

    peak: int
    seconds: float


def step_cost(
    module: nn.Module,
    frame: torch.Tensor,
    loss: Callable[[torch.Tensor], torch.Tensor] | None = None,
    *,
    repeats: int = 3,
) -> StepCost:
    """Forward and backward of one batch, gradients anew; nothing of the module is changed by it.

    loss: of the module's output; left out, its sum. seconds: the best of `repeats` after the one that
    memory is recorded in. Gradients, buffers, counters and random numbers are as before afterwards.
    """
    everything = Everything(list(module.modules()))
    kept = [(parameter, parameter.grad) for parameter in module.parameters()]

    def step() -> None:
        for parameter, _ in kept:
            parameter.grad = None
        output = module(frame)
        (output.sum() if loss is None else loss(output)).backward()

    try:
        step()
        for parameter, _ in kept:
            parameter.grad = None
        with recorded() as recorder:
            recorder.mark()
            step()
        seconds = []
        for _ in range(repeats):
            start = now()
            step()
            seconds.append(now() - start)
    finally:
        for parameter, gradient in kept:
            parameter.grad = gradient
        everything.undo()
    peak = recorder.periods[0].peak + held_bytes(module, frame)
    return StepCost(peak=peak, seconds=min(seconds, default=0.0))


def held_bytes(module: nn.Module, frame: torch.Tensor) -> int:
    """Bytes of parameters, buffers and the batch, each storage once."""
    return storage_bytes([*module.parameters(), *module.buffers(), frame])


def storage_bytes(tensors: list[torch.Tensor] | list[nn.Parameter]) -> int:
    """Bytes of the storages of tensors, each once."""
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors}
    return sum(storages.values())
