"""What hardware takes and how fast it is, as report.json has it: layers, processes, SLRs. All modelled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import fifo_resources, process_resources
from hlsgen.designfile.clock import Clock
from hlsgen.hardware.pipeline import Stream
from hlsgen.hardware.processes import Process, StageProcess
from hlsgen.report.cells import CellsByTarget
from hlsgen.report.section import (
    Count,
    Counted,
    Flag,
    Number,
    Positive,
    ResourceFigures,
    Rows,
    Section,
    Shape,
    Some,
    Text,
    Texts,
    resource_counts,
)
from hlsgen.search.board_limits import usable
from hlsgen.targets.board import SLR, Board

Depths = Literal["modelled", "scheduled"]


@dataclass(frozen=True, kw_only=True)
class ClockBudget(Section):
    """The clock's period, the share of it that HLS keeps back for routing, and what is left for logic."""

    period_ns: Positive
    uncertainty: Number
    budget_ns: Positive

    @classmethod
    def of(cls, clock: Clock) -> ClockBudget:
        return cls(
            period_ns=round(clock.period_ns, 3),
            uncertainty=clock.uncertainty,
            budget_ns=round(clock.budget_ns, 3),
        )

    @property
    def text(self) -> str:
        """The budget in words."""
        return (
            f"{self.budget_ns:.2f} of {self.period_ns:.2f} ns for logic, "
            f"{100 * self.uncertainty:g} % kept back for routing"
        )


@dataclass(frozen=True, kw_only=True)
class Folding(Section):
    """A layer's folding: PX, PE and SIMD of a stage, or rows, PE, SIMD and more of a convolution's kernel.

    fabric_pe: the PE whose adders or multipliers are LUTs. chain: products added before packed lanes are
    taken apart. in_lanes, out_lanes: elements of a word.
    """

    px: Count | None = None
    rows: Count | None = None
    pe: Count
    simd: Count
    fabric_pe: Count | None = None
    multipliers: Text = ""
    order: Text = ""
    algorithm: Text = ""
    arithmetic: Text = ""
    chain: Count | None = None
    macs_per_cycle: Count
    in_lanes: Count | None = None
    out_lanes: Count | None = None


@dataclass(frozen=True, kw_only=True)
class Weights(Section):
    """The weights of a stage and where they lie. batch_reuse: frames that read streamed ones once."""

    type: Text
    codes: Count
    place: Text
    storage: Text
    batch_reuse: Count | None = None


@dataclass(frozen=True, kw_only=True)
class DdrBytes(Section):
    """Bytes that a kernel moves for a frame."""

    read: Count
    written: Count


@dataclass(frozen=True, kw_only=True)
class Layer(Section):
    """A layer and its stage, or in a network of tasks its kernel: the fields from `kernel` on are of that.

    slr: of a kernel that lies across several. task: of a program. kernel: the C++ function. ddr_cycles:
    cycles of a frame that DDR takes. cells: LUTs and FFs of the kernel without what lies outside of it.
    """

    name: Text
    kind: Text
    macs: Count
    type: Text
    shape: Shape
    folding: Folding
    ii: Count
    interval_cycles: Count
    latency_cycles: Count
    weights: Weights | None = None
    dsp: Count
    bram18: Count
    uram: Count
    lut: Count
    ff: Count
    slr: Text = ""
    kernel: Text = ""
    stage_interval_cycles: Count | None = None
    kernel_interval_cycles: Count | None = None
    ddr_cycles: Count | None = None
    ddr_bytes: DdrBytes | None = None
    binds: Text = ""
    cells: CellsByTarget | None = None
    task: Text = ""


@dataclass(frozen=True, kw_only=True)
class Joint(Section):
    """A process between stages or at a port: load, store, fork or width converter."""

    kernel: Text = ""
    name: Text
    interval_cycles: Count
    dsp: Count
    bram18: Count
    uram: Count
    lut: Count
    ff: Count


@dataclass(frozen=True, kw_only=True)
class Fifo(Section):
    """A stream. least_depth: below it the kernel stands still, smallest_depth: from it on it is no slower;
    None: not computed. lanes: elements of a word.
    """

    kernel: Text = ""
    name: Text
    depth: Count
    least_depth: Count | None = None
    smallest_depth: Count | None = None
    lanes: Some
    type: Text
    dsp: Count
    bram18: Count
    uram: Count
    lut: Count
    ff: Count

    @property
    def nulls(self) -> Collection[str]:
        return () if self.kernel else ("least_depth", "smallest_depth")


@dataclass(frozen=True, kw_only=True)
class Total(Section):
    """All instances together; cycles are those of one.

    depths: whose depths of pipelines the latency rests on: round figures of the model, or the schedule of
    the emitted code.
    """

    macs: Count
    interval_cycles: Some
    latency_cycles: Count
    dsp: Count
    bram18: Count
    uram: Count
    lut: Count
    ff: Count
    instances: Count
    depths: Depths = "modelled"

    @property
    def depths_text(self) -> str:
        """The same in words, as a remark to the latency."""
        return f"with the {self.depths} depths of pipelines"


@dataclass(frozen=True, kw_only=True)
class Performance(Section):
    """Speed in the steady state, and of a batch in one go."""

    frames_per_s: Number
    gops: Number
    batch: Count
    batch_frames_per_s: Number
    batch_gops: Number
    binds: Text
    kind: Text = "modelled"


@dataclass(frozen=True, kw_only=True)
class Slr(Section):
    """What of an SLR is used, may be used, and is left free by the platform. ddr: banks in use there."""

    name: Text
    instances: Count
    used: ResourceFigures
    usable: ResourceFigures
    free: ResourceFigures
    ddr: Texts


@dataclass(frozen=True, kw_only=True)
class Border(Section):
    """A border of neighbouring SLRs that one kernel lies across.

    bits: of the streams that cross it, each with a relay there.
    """

    between: Text
    bits: Count


@dataclass(frozen=True, kw_only=True)
class DdrTraffic(Section):
    """What a network of tasks moves through DDR for a frame. bound_cycles: in which a kernel waits for it."""

    port_bits: Count
    word_bits: Count
    frame_bytes: Count
    intermediate_bytes: Count
    weight_bytes: Count
    gb_per_s: Number
    gb_per_s_of_an_instance: Number
    bound_cycles: Count
    banks: Texts


@dataclass(frozen=True, kw_only=True)
class OmpssFigures(Section):
    """Instances of the OmpSs-2@FPGA application, and what whole frames on chip take more in each."""

    instances: Count
    frames_bram18: Count


@dataclass(frozen=True, kw_only=True)
class Banks(Section):
    """The banks of the row band. fewest: no such map with fewer banks exists."""

    banks: Count
    slots: Count
    offsets: Annotated[tuple[Count, ...], Rows]
    fewest: Flag
    reads_per_iteration: Count
    proven_anchors: Count

    @property
    def proof(self) -> str:
        """Whether fewer banks would do, in words."""
        return "no such map with fewer banks exists" if self.fewest else "fewer banks were not ruled out"


@dataclass(frozen=True, kw_only=True)
class Memory(Section):
    """A memory of the convolution's kernel. depth: words; bits: of a word."""

    name: Text
    depth: Count
    bits: Count
    copies: Count
    storage: Text
    bram18: Count
    uram: Count
    lut: Count


def fifo_memory(fifo: Fifo) -> str:
    """The memories that a FIFO is of, in words; empty if of logic cells."""
    return f"{fifo.uram} URAM" if fifo.uram else f"{fifo.bram18} BRAM18" if fifo.bram18 else ""


def batch_cycles(batch: int, instances: int, latency: int, interval: int) -> int:
    """Cycles of a batch in one go: those of the instance with the most frames, whose first takes longest."""
    return latency + (-(-batch // instances) - 1) * interval


def slr_figures(slr: SLR, board: Board, *, instances: int, used: Resources, banks: Sequence[str]) -> Slr:
    """A row of the section `slrs`. banks: of DDR in use there."""
    return region_figures(slr.name, slr, usable(slr, board), instances=instances, used=used, banks=banks)


def region_figures(
    name: str, free: Counted, limit: Resources, *, instances: int, used: Resources, banks: Sequence[str]
) -> Slr:
    """The same of any region. free: what the platform leaves free, of which a design may use `limit`."""
    used_, usable_, free_ = (ResourceFigures(**resource_counts(one)) for one in (used, limit, free))
    return Slr(name=name, instances=instances, used=used_, usable=usable_, free=free_, ddr=tuple(banks))


def performance_figures(
    *, frames_per_s: float, batch: int, batch_frames_per_s: float, macs: int, binds: str
) -> Performance:
    """Speed in the steady state and of a batch; each of the `macs` of a frame is two operations."""
    return Performance(
        frames_per_s=round(frames_per_s, 3),
        gops=round(2 * macs * frames_per_s / 1e9, 3),
        batch=batch,
        batch_frames_per_s=round(batch_frames_per_s, 3),
        batch_gops=round(2 * macs * batch_frames_per_s / 1e9, 3),
        binds=binds,
    )


def layer_figures(process: StageProcess, board: Board, latency: int) -> Layer:
    """A layer's stage as report.json has it. latency: cycles from reading to writing."""
    stage = process.stage
    layer = stage.layer
    return Layer(
        name=layer.name,
        kind=layer.kind,
        macs=layer.macs,
        type=str(layer.output_type),
        shape=layer.output_shape,
        folding=Folding(
            **stage.folding(), macs_per_cycle=-(-layer.macs // stage.interval) if layer.macs else 0
        ),
        ii=1,
        interval_cycles=stage.interval,
        latency_cycles=int(stage.schedule(1).writes[0][0]) + latency,
        weights=_weights(process, board),
        **resource_counts(process_resources(process, board)),
    )


def _weights(process: StageProcess, board: Board) -> Weights | None:
    """The weights and where they lie; None for a layer without any."""
    if process.place is None or process.stage.weight_shape() is None:
        return None
    memory = process.place.memory(process.stage, board)
    layer: Any = process.stage.layer
    return Weights(
        type=str(layer.weight_type),
        codes=int(layer.weights.size),
        place=process.place.place,
        storage=memory.storage.value if memory else _without_memory(process),
        batch_reuse=process.place.batch if process.place.place == "stream" else None,
    )


def _without_memory(process: StageProcess) -> str:
    return "adders" if process.stage.fold.multipliers == "constants" else "ddr"


def adapter_figures(process: Process, board: Board, kernel: str = "") -> Joint:
    """What stands between stages: loads, stores, forks and converters. kernel: of a network of tasks."""
    return Joint(
        kernel=kernel,
        name=process.name,
        interval_cycles=process.interval,
        **resource_counts(process_resources(process, board)),
    )


def fifo_figures(
    stream: Stream, board: Board, kernel: str = "", *, least: int | None = None, smallest: int | None = None
) -> Fifo:
    """A FIFO. kernel: of a network of tasks; least, smallest: depths, if they were computed."""
    return Fifo(
        kernel=kernel,
        name=stream.name,
        depth=stream.depth,
        least_depth=least,
        smallest_depth=smallest,
        lanes=stream.words.lanes,
        type=str(stream.words.type),
        **resource_counts(fifo_resources(stream, board)),
    )
