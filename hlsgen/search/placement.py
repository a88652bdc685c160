"""How many instances a board takes, in which SLR and at which DDR bank each one lies, and what binds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hlsgen.base.short_repr import Brief
from hlsgen.cost.conv_instance import AXI_PORTS, instance_resources
from hlsgen.cost.cycles import Cycles, cycles, ddr_cost
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NoFit
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.hardware.storage import bram18_for
from hlsgen.layers.conv2d import Conv2d
from hlsgen.search.board_limits import (
    KINDS,
    allowed,
    bank_rate,
    capacity,
    fitting,
    left_of,
    margin_text,
)
from hlsgen.targets.board import Board

NEARLY = 1e-9
"""What sums of numbers may be off by, relative."""
LIMIT_NAMES = {
    "lut": "LUT",
    "ff": "FF",
    "bram18": "memory (BRAM)",
    "uram": "memory (URAM)",
    "dsp": "multipliers (DSP)",
}


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One compute unit: its SLR, and the DDR bank that its ports use."""

    slr: str
    bank: str


@dataclass(frozen=True, kw_only=True)
class PlacedKernel(Brief):
    """One folding of the layer as a kernel, and its instances. Resources and cycles are those of one."""

    mapping: ConvMapping
    each: Resources
    cycles: Cycles
    instances: tuple[Instance, ...]

    @property
    def speed(self) -> float:
        """Frames a cycle of one instance, in the steady state."""
        return 1 / self.cycles.interval

    @property
    def total(self) -> Resources:
        return self.each.times(len(self.instances))

    def used_in(self, slr: str) -> Resources:
        """What its instances take of an SLR."""
        return self.each.times(sum(instance.slr == slr for instance in self.instances))


@dataclass(frozen=True, kw_only=True)
class Deployment(Brief):
    """Instances of one layer on a board, of one folding or of several. Every figure is modelled.

    kernels: a folding each, the fastest instances first; all of them give the same results and read and write
    the same words. frames_per_s: steady state, the whole board. batch_frames_per_s: `batch` frames in one go,
    the loading of the weights, the uneven last frames and the way through the pipeline included. bottleneck:
    what keeps it from being faster.
    """

    kernels: tuple[PlacedKernel, ...]
    board: Board
    clock_mhz: float
    batch: int
    frames_per_s: float
    batch_frames_per_s: float
    bottleneck: str

    def __str__(self) -> str:
        count = len(self.instances)
        each = f"a frame every {self.cycles.interval:,} cycles each"
        if len(self.kernels) > 1:
            each = "; ".join(
                f"{len(one.instances)} with a frame every {one.cycles.interval:,} cycles"
                for one in self.kernels
            )
            each = f"of {len(self.kernels)} foldings: {each}"
        return f"{count} instance{'s' if count > 1 else ''}, {each}; binds: {self.bottleneck}"

    @property
    def layer(self) -> Conv2d:
        return self.kernels[0].mapping.layer

    @property
    def mapping(self) -> ConvMapping:
        """That of the first kernel."""
        return self.kernels[0].mapping

    @property
    def cycles(self) -> Cycles:
        """Those of an instance of the first kernel."""
        return self.kernels[0].cycles

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Of all kernels, in their order."""
        return tuple(instance for kernel in self.kernels for instance in kernel.instances)

    @property
    def total(self) -> Resources:
        return Resources.sum(kernel.total for kernel in self.kernels)

    @property
    def shares(self) -> tuple[float, ...]:
        """The part of a large batch that the instances of each kernel take together."""
        speeds = [kernel.speed * len(kernel.instances) for kernel in self.kernels]
        return tuple(speed / sum(speeds) for speed in speeds)

    @property
    def ddr_cost(self) -> float:
        """What `ddr_cost` says of a frame, on the average over the kernels."""
        costs = [ddr_cost(kernel.mapping) for kernel in self.kernels]
        return sum(share * cost for share, cost in zip(self.shares, costs, strict=True))

    @property
    def ddr_rate(self) -> float:
        """Bytes a second that DDR carries for all instances together."""
        return ddr_bytes_per_s(self.instances, self.board, self.clock_mhz, demands(self.kernels))

    @property
    def gops(self) -> float:
        """Operations (two a multiply-accumulate) in 10^9 a second, steady state."""
        return 2 * self.layer.macs * self.frames_per_s / 1e9

    @property
    def batch_gops(self) -> float:
        return 2 * self.layer.macs * self.batch_frames_per_s / 1e9

    def used_in(self, slr: str) -> Resources:
        return Resources.sum(kernel.used_in(slr) for kernel in self.kernels)


def demands(kernels: Sequence[PlacedKernel]) -> list[float]:
    """Bytes a cycle that each instance moves when it does not wait, kernel by kernel."""
    each = [one.speed * ddr_cost(one.mapping) for one in kernels]
    return [moved for moved, one in zip(each, kernels, strict=True) for _ in one.instances]


def slrs_with(deployment: Deployment, extra: Sequence[Resources]) -> tuple[tuple[str, ...], ...]:
    """By kernel the SLRs of as many of its instances as fit when each takes its `extra` besides.

    Those of the first kernel come first.
    """
    board, found = deployment.board, list[tuple[str, ...]]()
    room = {slr.name: allowed(slr, board) for slr in board.slrs}
    for kernel, more in zip(deployment.kernels, extra, strict=True):
        each = kernel.each + more
        fits = {name: capacity(each, limit) for name, limit in room.items()}
        count = min(sum(number for number, _ in fits.values()), len(kernel.instances))
        slrs = tuple(instance.slr for instance in _place(fits, count, board))
        room = {name: left_of(limit, each.times(slrs.count(name))) for name, limit in room.items()}
        found.append(slrs)
    return tuple(found)


def frame_copies(mapping: ConvMapping) -> Resources:
    """The local arrays that copy_deps of an OmpSs-2@FPGA task keeps: a frame in, a frame out, the weights."""
    layer = mapping.layer
    channels, height, width = layer.in_shape
    out_channels, out_height, out_width = layer.output_shape
    arrays = (
        (channels * height * width, layer.input_type.container_bits, mapping.in_lanes),
        (out_channels * out_height * out_width, layer.result_type.container_bits, mapping.out_lanes),
        (layer.weights.size, layer.weight_type.container_bits, 1),
    )
    return Resources(bram18=sum(lanes * bram18_for(-(-size // lanes), bits) for size, bits, lanes in arrays))


def ddr_bytes_per_s(
    placed: Sequence[Instance], board: Board, clock_mhz: float, demand: Sequence[float] | None = None
) -> float:
    """What DDR carries for all instances together when each has its part: the bank with the most to carry
    for its speed sets it.

    demand: of each instance, in any unit; None: every one works alike.
    """
    weights = [1.0] * len(placed) if demand is None else demand
    limits = []
    for bank in board.memory.banks:
        here = sum(one for instance, one in zip(placed, weights, strict=True) if instance.bank == bank.name)
        if here:
            limits.append(bank_rate(bank, board, clock_mhz) * sum(weights) / here)
    return min(limits)


def deploy(
    mapping: ConvMapping, board: Board, *, clock_mhz: float, batch: int, instances: int | None = None
) -> Deployment:
    """The number of instances that takes the batch through fastest (or just `instances` of them).

    Raises NoFit: not even one instance, or fewer than `instances`, fit the usable share of the board's
    SLRs.
    """
    each = instance_resources(mapping, board.terms)
    fits = fitting(each, board)
    most = sum(count for count, _ in fits.values())
    limit = min(most, board.most_units(AXI_PORTS))
    if limit < (instances or 1):
        raise NoFit(
            _too_large(each, board, limit, instances), _smaller(limit), "instances" if limit else None
        )
    timing = cycles(mapping)
    options = [instances] if instances else _worthwhile(batch, limit)
    placements = {count: _place(fits, count, board) for count in options}
    cost = ddr_cost(mapping)
    ddr = {count: ddr_bytes_per_s(placements[count], board, clock_mhz) / cost for count in options}
    speeds = {count: min(_batch_rate(timing, clock_mhz, batch, count), ddr[count]) for count in options}
    count = max(options, key=lambda n: (round(speeds[n], 6), -n))
    compute = count * clock_mhz * 1e6 / timing.interval
    bound = ddr[count] <= compute
    kernel = PlacedKernel(mapping=mapping, each=each, cycles=timing, instances=placements[count])
    return Deployment(
        kernels=(kernel,),
        board=board,
        clock_mhz=clock_mhz,
        batch=batch,
        frames_per_s=min(compute, ddr[count]),
        batch_frames_per_s=speeds[count],
        bottleneck=_bottleneck(fits, count, most, board, bound, fixed=instances is not None, batch=batch),
    )


def _worthwhile(batch: int, limit: int) -> list[int]:
    """Instance counts that shorten the batch: one more only helps when the largest share of the batch
    shrinks.
    """
    counts = range(1, min(limit, batch) + 1)
    return [count for count in counts if count in (-(-batch // -(-batch // count)), counts[-1])]


def _batch_rate(timing: Cycles, clock_mhz: float, batch: int, count: int) -> float:
    """Frames a second for the whole batch: the instance with the most frames ends last."""
    return batch * clock_mhz * 1e6 / timing.call(-(-batch // count))


def _place(fits: dict[str, tuple[int, str]], count: int, board: Board) -> tuple[Instance, ...]:
    """Instances over the SLRs in proportion to what each takes, each at a bank."""
    left = {name: number for name, (number, _) in fits.items()}
    taken = dict.fromkeys(left, 0)
    slrs: list[str] = []
    for _ in range(count):
        slr = max((s for s in left if taken[s] < left[s]), key=lambda s: (left[s] - taken[s]) / left[s])
        taken[slr] += 1
        slrs.append(slr)
    return at_banks(slrs, board)


def at_banks(slrs: Sequence[str], board: Board) -> tuple[Instance, ...]:
    """An instance for each of `slrs`, in the board's order: at the least loaded bank, its SLR's first."""
    ordered = sorted(slrs, key=[s.name for s in board.slrs].index)
    return tuple(unlike_at_banks([(slr, 1.0) for slr in ordered], board))


def unlike_at_banks(moving: Sequence[tuple[str, float]], board: Board) -> list[Instance]:
    """Instances in their order, each with its SLR and what it moves, in any unit.

    Those that move the most come first to the banks: to the least loaded one, that of its SLR first as long
    as no bank gets more than an even share.
    """
    load = {bank.name: 0.0 for bank in board.memory.banks}
    home = {bank.name: bank.slr for bank in board.memory.banks}
    largest = max((moved for _, moved in moving), default=1.0)
    smallest = min((moved for _, moved in moving), default=1.0)
    share = sum(moved for _, moved in moving) / len(load)
    fair = max(largest, math.ceil(share / smallest * (1 - NEARLY)) * smallest) * (1 + NEARLY)
    banks = [""] * len(moving)
    for at in sorted(range(len(moving)), key=lambda one: -moving[one][1]):
        slr, moved = moving[at]
        room = [bank for bank in load if load[bank] + moved <= fair]
        if room:
            bank = min(room, key=lambda b: (home[b] != slr, load[b]))
        else:
            bank = min(load, key=lambda b: (load[b], home[b] != slr))
        load[bank] += moved
        banks[at] = bank
    return [Instance(slr=slr, bank=bank) for (slr, _), bank in zip(moving, banks, strict=True)]


def _bottleneck(
    fits: dict[str, tuple[int, str]],
    count: int,
    most: int,
    board: Board,
    ddr: bool,
    *,
    fixed: bool,
    batch: int,
) -> str:
    if ddr:
        return "DDR bandwidth"
    if fixed and count < most:
        return "the number of instances that the design fixes"
    if count >= batch:
        return "the batch: there is no frame for another instance"
    if count < min(most, board.most_units(AXI_PORTS)):
        return "the batch: it does not divide evenly over more instances"
    if most > board.most_units(AXI_PORTS):
        return f"the platform's {board.most_units(AXI_PORTS)} compute units"
    return limits_text(binding for _, binding in fits.values())


def limits_text(kinds: Iterable[str]) -> str:
    """The kinds of resources that bind, in words."""
    found = set(kinds)
    return ", ".join(LIMIT_NAMES[kind] for kind in KINDS if kind in found)


def _too_large(each: Resources, board: Board, limit: int, instances: int | None) -> str:
    if limit:
        return f"instances: {instances} do not fit {board.title}: {limit} do"
    largest = {kind: max(getattr(allowed(slr, board), kind) for slr in board.slrs) for kind in KINDS}
    over = [
        f"{getattr(each, kind):,} {kind.upper()} of {largest[kind]:,}"
        for kind in KINDS
        if getattr(each, kind) > largest[kind]
    ]
    return (
        f"one instance does not fit the usable share of any SLR of {board.title}{margin_text(board)}: "
        f"it needs {', '.join(over)}"
    )


def _smaller(limit: int) -> str:
    return f"instances: 1 to {limit}" if limit else "a smaller rows, pe or simd, or mapping: auto"
