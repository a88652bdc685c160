"""How many instances a board takes, in which SLR and at which DDR bank each one lies, and what binds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlsgen.base.short_repr import Brief
from hlsgen.cost.conv_instance import instance_resources
from hlsgen.cost.cycles import Cycles, cycles, ddr_cost
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NoFit
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.hardware.storage import bram18_for
from hlsgen.search.board_limits import KINDS, allowed, bank_rate, fitting, margin_text
from hlsgen.targets.board import Board

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
class Deployment(Brief):
    """Equal instances of one layer on a board. Every figure is modelled.

    frames_per_s: steady state, the whole board. batch_frames_per_s: `batch` frames in one go, the loading of
    the weights, the uneven last frames and the way through the pipeline included. bottleneck: what keeps it
    from being faster.
    """

    mapping: ConvMapping
    board: Board
    clock_mhz: float
    batch: int
    instances: tuple[Instance, ...]
    each: Resources
    cycles: Cycles
    frames_per_s: float
    batch_frames_per_s: float
    bottleneck: str

    def __str__(self) -> str:
        count = len(self.instances)
        each = f"a frame every {self.cycles.interval:,} cycles each"
        return f"{count} instance{'s' if count > 1 else ''}, {each}; binds: {self.bottleneck}"

    @property
    def total(self) -> Resources:
        return self.each.times(len(self.instances))

    @property
    def gops(self) -> float:
        """Operations (two a multiply-accumulate) in 10^9 a second, steady state."""
        return 2 * self.mapping.layer.macs * self.frames_per_s / 1e9

    @property
    def batch_gops(self) -> float:
        return 2 * self.mapping.layer.macs * self.batch_frames_per_s / 1e9

    def used_in(self, slr: str) -> Resources:
        return self.each.times(sum(instance.slr == slr for instance in self.instances))


def slrs_with(deployment: Deployment, extra: Resources) -> tuple[str, ...]:
    """The SLRs of as many of the deployment's instances as fit when each takes `extra` besides."""
    board = deployment.board
    each = deployment.each + extra
    fits = fitting(each, board)
    count = min(sum(number for number, _ in fits.values()), len(deployment.instances))
    return tuple(instance.slr for instance in _place(fits, count, board))


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


def ddr_bytes_per_s(placed: Sequence[Instance], board: Board, clock_mhz: float) -> float:
    """What DDR carries for all instances together when every one works alike: the bank with the most
    instances for its speed sets it.
    """
    limits = []
    for bank in board.memory.banks:
        share = sum(instance.bank == bank.name for instance in placed) / len(placed)
        if share:
            limits.append(bank_rate(bank, board, clock_mhz) / share)
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
    limit = min(most, board.max_compute_units)
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
    return Deployment(
        mapping=mapping,
        board=board,
        clock_mhz=clock_mhz,
        batch=batch,
        instances=placements[count],
        each=each,
        cycles=timing,
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
    load = {bank.name: 0 for bank in board.memory.banks}
    home = {bank.name: bank.slr for bank in board.memory.banks}
    fair = -(-len(slrs) // len(load))
    placed = []
    for slr in sorted(slrs, key=[s.name for s in board.slrs].index):
        bank = min(load, key=lambda b: (load[b] >= fair, home[b] != slr, load[b]))
        load[bank] += 1
        placed.append(Instance(slr=slr, bank=bank))
    return tuple(placed)


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
    if count < min(most, board.max_compute_units):
        return "the batch: it does not divide evenly over more instances"
    if most > board.max_compute_units:
        return f"the platform's {board.max_compute_units} compute units"
    names = [LIMIT_NAMES[kind] for kind in KINDS if any(binding == kind for _, binding in fits.values())]
    return ", ".join(names)


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
