"""What the schedule of the emitted code says of its loops, as reports have it (docs/schedule.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from hlsgen.report.section import Count, Number, Rows, Section, Text, Texts
from hlsgen.report.tables import table
from hlsgen.schedule.measured_errors import HELD_OUT
from hlsgen.schedule.results import KernelSchedule, LoopSchedule, Tier

SHOWN_LOOPS = 40
"""The most loops that report.md lists; report.json and report.html have all."""
Known = Literal["shown", "likely", "undecided"]


@dataclass(frozen=True, kw_only=True)
class ScheduledLoop(Section):
    """A pipelined loop of an emitted file, or a function that is pipelined as a whole.

    place: file and line, from the build folder. known: how the II is (docs/schedule.md). depth, chain_ns,
    registers: estimates, of an iteration in cycles, of the longest chain of a cycle, of the bits between
    stages. copies: in the hardware. reasons: why the II is above what is asked for, or not decided.
    """

    kernel: Text
    label: Text
    place: Text
    ii: Count | None
    ii_target: Count
    known: Known
    depth_estimated: Count
    chain_ns_estimated: Number
    registers_estimated: Count
    trips: Count | None = None
    copies: Count
    reasons: Texts = ()

    @property
    def name(self) -> str:
        """The label and the place without its folder."""
        return f"{self.label} {self.place.rpartition('/')[2]}".strip()


@dataclass(frozen=True, kw_only=True)
class KernelCells(Section):
    """What a compute unit takes by the operations of its code, beside the cost model's figures.

    csynth_*: what Vitis HLS will report. routed_*: of the routed design, with the least and the greatest by
    the share that public designs have of csynth's. modelled_*: the cost model's, routed.
    """

    kernel: Text
    csynth_lut_estimated: Count
    csynth_ff_estimated: Count
    csynth_dsp_estimated: Count
    csynth_bram18_estimated: Count
    routed_lut_estimated: Count
    routed_lut_low: Count
    routed_lut_high: Count
    routed_ff_estimated: Count
    routed_ff_low: Count
    routed_ff_high: Count
    modelled_lut: Count
    modelled_ff: Count


@dataclass(frozen=True, kw_only=True)
class ScheduleFigures(Section):
    """What is known of the II and the chains of the emitted code before any vendor tool has run.

    verdict: "met": each loop has the II that is asked for, by what is shown or likely; "open": of some it is
    not decided. why: what it was skipped for. warnings: chains beyond a clock that is faster than the
    board's. instructions: of the IR, the size of the vendor's front end's work. errors_measured: how far such
    figures were off on public designs.
    """

    verdict: Literal["met", "open", "skipped"]
    why: Text = ""
    tool_version: Text = ""
    budget_ns: Number | None = None
    instructions: Count | None = None
    loops: Annotated[tuple[ScheduledLoop, ...], Rows] = ()
    cells: Annotated[tuple[KernelCells, ...], Rows] = ()
    warnings: Texts = ()
    errors_measured: Text = ""

    @property
    def longest_ns(self) -> float:
        """The longest chain of all loops."""
        return max((loop.chain_ns_estimated for loop in self.loops), default=0.0)

    @property
    def longest(self) -> ScheduledLoop | None:
        """The loop with the longest chain."""
        return max(self.loops, key=lambda loop: loop.chain_ns_estimated, default=None)


def skipped_schedule(why: str) -> ScheduleFigures:
    """The section of a build without a schedule."""
    return ScheduleFigures(verdict="skipped", why=why)


def schedule_figures(
    kernels: Sequence[KernelSchedule], warnings: Sequence[str], modelled: Mapping[str, Mapping[str, int]]
) -> ScheduleFigures:
    """The section of a build whose kernels were scheduled; all of them are for one device and clock.

    modelled: what a compute unit of each kernel takes, by kind, as the cost model has it.
    """
    loops = tuple(_figures(kernel.kernel, loop) for kernel in kernels for loop in kernel.loops)
    return ScheduleFigures(
        verdict="met" if all(loop.ii is not None for loop in loops) else "open",
        tool_version=kernels[0].version,
        budget_ns=round(kernels[0].budget_ns, 3),
        instructions=sum(kernel.instructions for kernel in kernels),
        loops=loops,
        cells=tuple(_cells(kernel, modelled[kernel.kernel]) for kernel in kernels),
        warnings=tuple(warnings),
        errors_measured=str(HELD_OUT),
    )


def _figures(kernel: str, loop: LoopSchedule) -> ScheduledLoop:
    return ScheduledLoop(
        kernel=kernel,
        label=loop.label,
        place=str(loop.place) if loop.place else loop.function,
        ii=loop.interval,
        ii_target=loop.target,
        known=loop.tier.value,
        depth_estimated=loop.depth,
        chain_ns_estimated=round(loop.chain_ns, 2),
        registers_estimated=loop.registers,
        trips=loop.trips,
        copies=loop.copies,
        reasons=loop.reasons,
    )


def _cells(kernel: KernelSchedule, modelled: Mapping[str, int]) -> KernelCells:
    csynth, routed = kernel.usage.csynth, kernel.usage.routed
    return KernelCells(
        kernel=kernel.kernel,
        csynth_lut_estimated=csynth.lut,
        csynth_ff_estimated=csynth.ff,
        csynth_dsp_estimated=csynth.dsp,
        csynth_bram18_estimated=csynth.bram18,
        routed_lut_estimated=routed.lut,
        routed_lut_low=routed.lut_low,
        routed_lut_high=routed.lut_high,
        routed_ff_estimated=routed.ff,
        routed_ff_low=routed.ff_low,
        routed_ff_high=routed.ff_high,
        modelled_lut=modelled["lut"],
        modelled_ff=modelled["ff"],
    )


def schedule_line(schedule: ScheduleFigures) -> str:
    """The II of all loops and their longest chain, in a line."""
    if schedule.verdict == "skipped":
        return f"skipped: {schedule.why}"
    longest = schedule.longest
    if longest is None:
        return "no pipelined loop"
    counts = Counter(loop.known for loop in schedule.loops)
    known = ", ".join(f"{counts[tier.value]} {tier.value}" for tier in Tier if counts[tier.value])
    intervals = Counter("?" if loop.ii is None else str(loop.ii) for loop in schedule.loops)
    said = ", ".join(f"II {ii} in {count}" for ii, count in sorted(intervals.items()))
    plural = "s" if len(schedule.loops) > 1 else ""
    return (
        f"{said} of {len(schedule.loops)} loop{plural} ({known}); longest chain about "
        f"{longest.chain_ns_estimated:.2f} of {schedule.budget_ns:.2f} ns ({longest.name})"
    )


def interval_text(ii: int, schedule: ScheduleFigures | None) -> str:
    """A layer's II with how it is known, which is how the least certain of its loops is."""
    if schedule is None or not schedule.loops:
        return f"{ii}, modelled: the code was not scheduled"
    return f"{ii}, {max((Tier(loop.known) for loop in schedule.loops), key=list(Tier).index).value}"


SCHEDULE_HEAD = ("loop", "kernel", "II", "known", "depth ~", "chain ~ ns", "iterations", "copies")


def schedule_rows(loops: Sequence[ScheduledLoop]) -> list[tuple[str, ...]]:
    """The cells of loops, below SCHEDULE_HEAD."""
    return [
        (
            loop.name,
            loop.kernel,
            "?" if loop.ii is None else str(loop.ii),
            loop.known,
            f"{loop.depth_estimated:,}",
            f"{loop.chain_ns_estimated:.2f}",
            "" if loop.trips is None else f"{loop.trips:,}",
            f"{loop.copies:,}",
        )
        for loop in loops
    ]


CELLS_HEAD = (
    "compute unit of",
    "csynth LUT ~",
    "csynth FF ~",
    "routed LUT ~",
    "modelled",
    "routed FF ~",
    "modelled",
)


def cells_rows(cells: Sequence[KernelCells]) -> list[tuple[str, ...]]:
    """The cells of the kernels, below CELLS_HEAD."""
    return [
        (
            one.kernel,
            f"{one.csynth_lut_estimated:,}",
            f"{one.csynth_ff_estimated:,}",
            f"{one.routed_lut_estimated:,} ({one.routed_lut_low:,} to {one.routed_lut_high:,})",
            f"{one.modelled_lut:,}",
            f"{one.routed_ff_estimated:,} ({one.routed_ff_low:,} to {one.routed_ff_high:,})",
            f"{one.modelled_ff:,}",
        )
        for one in cells
    ]


CELLS_NOTE = (
    "LUT and FF of a compute unit once more, by the operations of its code at their widths, beside what the "
    "cost model has, which all other figures rest on. Both are estimates made apart from each other: where "
    "they differ by much, trust the fit less. In brackets what public designs kept of csynth's cells."
)

SCHEDULE_NOTE = (
    "Of the emitted code, compiled to LLVM IR and scheduled with the delays of public reports; no vendor "
    "tool has run. II shown: by the ports of memories and the recurrences that the code has; likely: it "
    "rests on cycles of the tool's cores, or on a dependence that it has to assume. Depth and chain are "
    f"estimates. The method's errors, {HELD_OUT} (docs/schedule.md)."
)


def schedule_text(schedule: ScheduleFigures | None) -> str:
    """A section of report.md; empty for a build of before there were schedules."""
    if schedule is None:
        return ""
    line = schedule_line(schedule)
    if not schedule.loops:
        return f"## Schedule\n\n{line[0].upper()}{line[1:]}."
    # those that are known worst and fill the clock most come first where not all are listed
    ranks = [tier.value for tier in reversed(Tier)]
    first = sorted(schedule.loops, key=lambda loop: (ranks.index(loop.known), -loop.chain_ns_estimated))[
        :SHOWN_LOOPS
    ]
    listed = [loop for loop in schedule.loops if loop in first]
    rest = len(schedule.loops) - len(listed)
    more = f"\n\nand {rest} more, in report.json and report.html." if rest else ""
    open_ones = [f"- {loop.name}: {'; '.join(loop.reasons)}" for loop in listed if loop.reasons]
    notes = [f"- {one}" for one in schedule.warnings] + open_ones
    return (
        f"## Schedule\n\n{line[0].upper()}{line[1:]}. {SCHEDULE_NOTE}\n\n"
        + table(SCHEDULE_HEAD, schedule_rows(listed))
        + more
        + f"\n\n{CELLS_NOTE}\n\n"
        + table(CELLS_HEAD, cells_rows(schedule.cells))
        + ("\n\n" + "\n".join(notes) if notes else "")
    )
