"""In which DDR bank each tensor of a network of tasks lies, so that no bank has more ports than it takes.

A tensor lies in one bank, and all ports that read or write it are on that bank. A kernel's first input and
its output may share one AXI port, which carries both ways at once (as `gmem0` of the vector addition in
Vitis_Accel_Examples), if both lie in one bank: only done where the ports would else be too many.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hlsgen.base.short_repr import Brief
from hlsgen.search.board_limits import bank_rate
from hlsgen.targets.board import Board

PARTS = (3, 2, 1)
"""Into how many groups a bank's ports are divided where ports are shared: small groups leave less over."""


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """A layer's kernel: the tensors of its ports in their order; weights: whether a port is for them."""

    layer: str
    reads: tuple[str, ...]
    writes: str
    weights: bool

    @property
    def tensors(self) -> tuple[str, ...]:
        """Of each port."""
        return *self.reads, self.writes


@dataclass(frozen=True, kw_only=True)
class TensorBanks(Brief):
    """Where everything lies.

    tensors, weights: of each instance the bank of each tensor, and of the weights of each layer. sharing: the
    layers whose first input and output share a port. cycles: by layer the cycles that DDR takes for a frame
    while all instances work on it.
    """

    tensors: tuple[Mapping[str, str], ...]
    weights: tuple[Mapping[str, str], ...]
    sharing: frozenset[str]
    cycles: Mapping[str, int]

    @property
    def banks(self) -> list[str]:
        """Those that anything lies in."""
        every = (*self.tensors, *self.weights)
        return sorted({bank for instance in every for bank in instance.values()})


def tensor_banks(
    kernels: Sequence[Traffic], sizes: Mapping[str, int], instances: int, board: Board, clock_mhz: float
) -> TensorBanks | None:
    """The banks of `instances` sets of the kernels; None if the banks lack ports for them.

    sizes: bytes of a frame of each tensor in DDR.
    """
    alone = [frozenset({tensor}) for tensor in sizes]
    for groups in (alone, *_shared_groups(kernels, sizes, board.memory.masters)):
        found = _Filling(kernels=kernels, sizes=sizes, board=board, clock_mhz=clock_mhz, groups=groups)
        if all(found.add() for _ in range(instances)):
            return found.result()
    return None


def _shared_groups(
    kernels: Sequence[Traffic], sizes: Mapping[str, int], masters: int | None
) -> Iterator[list[frozenset[str]]]:
    """Tensors that are to lie in one bank, so that kernels between them need one port less."""
    for parts in PARTS if masters is not None else ():
        group_of = {tensor: frozenset({tensor}) for tensor in sizes}
        for kernel in kernels:
            joined = group_of[kernel.reads[0]] | group_of[kernel.writes]
            if _ports(joined, kernels) <= (masters or 0) // parts:
                group_of |= dict.fromkeys(joined, joined)
        yield list(dict.fromkeys(group_of.values()))


def _ports(group: frozenset[str], kernels: Sequence[Traffic]) -> int:
    """The AXI ports that reach a group of tensors."""
    ports = sum(tensor in group for kernel in kernels for tensor in kernel.tensors)
    return ports - (sum(_shares(one, group) for one in kernels) if len(group) > 1 else 0)


def _shares(kernel: Traffic, group: frozenset[str]) -> bool:
    return kernel.reads[0] in group and kernel.writes in group


@dataclass(kw_only=True)
class _Filling:
    """The banks while instance after instance is placed."""

    kernels: Sequence[Traffic]
    sizes: Mapping[str, int]
    board: Board
    clock_mhz: float
    groups: Sequence[frozenset[str]]
    tensors: list[dict[str, str]] = field(default_factory=list)
    weights: list[dict[str, str]] = field(default_factory=list)
    masters: Counter[str] = field(default_factory=Counter)
    moved: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Bytes of a frame of all instances, by layer and bank."""

    def __post_init__(self) -> None:
        self.rates = {
            bank.name: bank_rate(bank, self.board, self.clock_mhz) / (self.clock_mhz * 1e6)
            for bank in self.board.memory.banks
        }

    def add(self) -> bool:
        """Place one more instance; whether there was room. The largest groups choose first."""
        placed: dict[str, str] = {}
        weights: dict[str, str] = {}
        for group in sorted(self.groups, key=lambda one: -sum(self.sizes[tensor] for tensor in one)):
            ports = _ports(group, self.kernels)
            room = [bank for bank in self.rates if self._takes(bank, ports)]
            if not room:
                return False
            added = [
                (kernel.layer, sum(self.sizes[tensor] for tensor in kernel.tensors if tensor in group))
                for kernel in self.kernels
                if group.intersection(kernel.tensors)
            ]
            best = min(room, key=lambda bank: (self._cycles_with(bank, added), self.masters[bank]))
            self.masters[best] += ports
            self.moved.update({(layer, best): size for layer, size in added})
            placed |= dict.fromkeys(group, best)
        for kernel in self.kernels:
            if kernel.weights:
                best = min(self.rates, key=lambda bank: self.masters[bank])
                if not self._takes(best, 1):
                    return False
                self.masters[best] += 1
                weights[kernel.layer] = best
        self.tensors.append(placed)
        self.weights.append(weights)
        return True

    def _takes(self, bank: str, ports: int) -> bool:
        most = self.board.memory.masters
        return most is None or self.masters[bank] + ports <= most

    def _cycles_with(self, bank: str, added: Sequence[tuple[str, int]]) -> float:
        """Cycles of the layers that move more by a bank."""
        return sum(
            max(
                (self.moved[layer, other] + (size if other == bank else 0)) / rate
                for other, rate in self.rates.items()
            )
            for layer, size in added
        )

    def result(self) -> TensorBanks:
        cycles = {
            kernel.layer: math.ceil(
                max(self.moved[kernel.layer, bank] / rate for bank, rate in self.rates.items())
            )
            for kernel in self.kernels
        }
        sharing = {kernel.layer for kernel in self.kernels for group in self.groups if _shares(kernel, group)}
        return TensorBanks(
            tensors=tuple(self.tensors),
            weights=tuple(self.weights),
            sharing=frozenset(sharing),
            cycles=cycles,
        )
