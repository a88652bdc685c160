"""A plan at work: one pass forward through a module's stages, and what is done as gradients come back.

The graph that autograd builds is that of plain training; only what it saves is replaced. Forward, each stage
runs in order, and the tensors that autograd saves of it are kept or let go. Before the gradient goes through
a stage whose tensors were let go, they are computed again from the nearest input that was kept. Gradients are
therefore those of plain training bit for bit, summed in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.short_repr import Brief
from hlsgen.frontends.torch.package import nn, torch
from hlsgen.rematerialising.chain import Kind, Operation
from hlsgen.rematerialising.measuring import Measured, dropping
from hlsgen.rematerialising.state import Snapshot, as_it_was, taken


@dataclass(frozen=True, kw_only=True)
class Program(Brief):
    """Operations forward, and those before each stage goes backward, by its index."""

    forward: tuple[Operation, ...]
    backward: tuple[tuple[Operation, ...], ...]


def program_of(operations: Sequence[Operation], stages: int) -> Program:
    """Of a chain with so many stages before its loss, whose operations are the user's."""
    forward: list[Operation] = []
    backward: list[tuple[Operation, ...]] = [()] * stages
    for one in operations:
        if one.kind is not Kind.BACKWARD:
            if one.stage < stages:
                forward.append(one)
            continue
        if one.stage == stages:
            first = tuple(forward)
        else:
            backward[one.stage] = tuple(forward)
        forward = []
    return Program(forward=first, backward=tuple(backward))


@dataclass
class _Kept:
    """A saved tensor: how often it will still be read, and its version when it was saved."""

    tensor: torch.Tensor | None
    reads: int
    version: int


class Pass:
    """One pass forward, and then backward, through the stages."""

    def __init__(
        self, stages: Sequence[Measured], program: Program, parameters: Sequence[nn.Parameter]
    ) -> None:
        self._stages = stages
        self._program = program
        self._inputs: dict[int, torch.Tensor] = {}
        self._saved: dict[int, list[_Kept]] = {}
        self._snapshots: dict[int, Snapshot] = {}
        self._gone_back: set[int] = set()
        self._parameters = [(parameter, parameter._version) for parameter in parameters]
        self._autocast = _autocast()
        self._again = {one.stage for operations in program.backward for one in operations}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The output, in a graph that goes back by the plan."""
        self._inputs[0] = x.detach().requires_grad_(x.requires_grad)
        for kind, index in self._program.forward:
            one = self._stages[index]
            if index in self._again:
                self._snapshots[index] = taken(one.changing)
            if kind is Kind.KEEP:
                self._saved[index] = []
            with self._saving(index, keep=kind is Kind.KEEP):
                x = one.segment(x)
            self._moved(kind, index, x)
            if x.requires_grad:
                x.register_hook(self._hook(index))  # type: ignore[no-untyped-call]
        return x

    def _moved(self, kind: Kind, index: int, output: torch.Tensor) -> None:
        if kind is Kind.DROP:
            self._inputs.pop(index, None)
        if index + 1 < len(self._stages) and index + 1 not in self._gone_back:
            self._inputs[index + 1] = output.detach().requires_grad_(output.requires_grad)

    def _saving(self, index: int, *, keep: bool) -> AbstractContextManager[Any]:
        """What autograd saves of a stage in the graph of training: by its number, kept or not."""
        number = 0

        def pack(tensor: torch.Tensor) -> int:
            nonlocal number
            number += 1
            if keep:
                self._keep(index, tensor)
            return number - 1

        def unpack(which: int) -> torch.Tensor:
            return self._read(index, which)

        return torch.autograd.graph.saved_tensors_hooks(pack, unpack)

    def _keep(self, index: int, tensor: torch.Tensor) -> None:
        kept, reads = self._saved[index], self._stages[index].reads
        # a tensor that was not there when the stage was measured stays until the stage has gone backward
        often = reads[len(kept)] if len(kept) < len(reads) else 1 << 30
        kept.append(_Kept(tensor=tensor.detach(), reads=often, version=tensor._version))

    def _read(self, index: int, which: int) -> torch.Tensor:
        kept = self._saved.get(index, [])
        if which >= len(kept) or kept[which].tensor is None:
            raise _backward_again()
        one = kept[which]
        tensor = one.tensor
        assert tensor is not None
        if tensor._version != one.version:
            raise RuntimeError(
                f"a tensor needed for the gradient of {self._stages[index].stage.name} was changed in place "
                f"after the forward pass: it is at version {tensor._version}, expected {one.version}"
            )
        one.reads -= 1
        if one.reads <= 0:
            one.tensor = None
        return tensor

    def _hook(self, index: int) -> Callable[[torch.Tensor], None]:
        def before_backward(_: torch.Tensor) -> None:
            self._prepare(index)

        return before_backward

    def _prepare(self, index: int) -> None:
        """The stages behind `index` have gone backward; whatever this one needs is computed."""
        if torch.is_grad_enabled():
            message = "gradients of gradients (create_graph) cannot go through what is computed again"
            raise DesignError(Problem(message=message, fix="the module without rematerialise"))
        if index in self._gone_back:
            raise _backward_again()
        for behind in range(index + 1, len(self._stages)):
            self._gone_back.add(behind)
            self._saved.pop(behind, None)
            self._inputs.pop(behind, None)
        operations = self._program.backward[index]
        if operations and any(one._version != version for one, version in self._parameters):
            message = "parameters were changed between the forward and the backward pass"
            raise DesignError(Problem(message=message, fix="optimizer.step() after backward()"))
        for kind, stage in operations:
            self._compute(kind, stage)
        self._gone_back.add(index)

    def _compute(self, kind: Kind, index: int) -> None:
        """A forward operation once more, in a graph that is thrown away."""
        one = self._stages[index]
        held = self._inputs[index]
        source = held.detach().requires_grad_(held.requires_grad)
        with torch.enable_grad(), self._autocast(), as_it_was(one.changing, self._snapshots[index]):
            if kind is Kind.KEEP:
                self._saved[index] = []
                with torch.autograd.graph.saved_tensors_hooks(
                    lambda tensor: self._keep(index, tensor), lambda _: torch.empty(0)
                ):
                    output = one.segment(source)
            else:
                with dropping():
                    output = one.segment(source)
        self._moved(kind, index, output)


def _autocast() -> Callable[[], AbstractContextManager[Any]]:
    """Mixed precision as it is now, for later."""
    enabled = torch.is_autocast_enabled("cpu")
    dtype = torch.get_autocast_dtype("cpu")
    cached = torch.is_autocast_cache_enabled()
    return lambda: torch.autocast("cpu", dtype=dtype, enabled=enabled, cache_enabled=cached)


def _backward_again() -> DesignError:
    return DesignError(
        Problem(
            message="a pass through a re-materialised module goes backward once, and this one has",
            fix="another forward pass before each backward(), or no rematerialise",
        )
    )
