"""When a streaming kernel does what, its FIFOs as deep as they are: interval, latency, who waits for whom.

hlsgen/timing/events.py has the model. The interval is exact in it: the longest circle of waiting, mostly just
the iterations of the slowest process. Two things it takes for granted. While a pipeline cannot write,
iterations behind close up as far as it has stages (style=flp; how Vitis builds that has not been seen). And a
frame is loaded at a DDR word a cycle, after the port's latency: what DDR carries is looked at elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.short_repr import Brief
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.timing.critical_cycles import CriticalCycle, Wait, find_critical_cycle
from hlsgen.timing.last_used import LastUsed
from hlsgen.timing.period_search import PeriodSearch
from hlsgen.timing.relaxation import Plan, Relaxation, frames_of_period
from hlsgen.timing.stalls import Asking, waiting

PATIENCE = 12
"""Evaluations of each process before a critical cycle is sought; what has enough room settles in 2 to 4."""

MOST_WORDS = 1 << 25
"""The most words of all streams in a period: a gigabyte or two of times is kept for them."""
MOST_PUSHED = 4
"""Times that a critical cycle is looked for once there must be one; then longer periods are tried."""
MOST_TIMINGS = 64
"""Timings that are kept, the last ones used: searches come to the same kernel again."""


@dataclass(frozen=True, kw_only=True)
class ProcessTiming:
    """What a process does in the steady state, in cycles of a period; and in a call with one frame.

    busy: begins an iteration. starved: waits for words, blocked: for room, by stream. begin, first_output,
    end: cycles of the call in which its first iteration that reads or writes begins, its first write lies,
    and its last iteration ends.
    """

    name: str
    busy: int
    starved: dict[str, int]
    blocked: dict[str, int]
    begin: int
    first_output: int
    end: int

    @property
    def cycles(self) -> int:
        return self.busy + sum(self.starved.values()) + sum(self.blocked.values())


@dataclass(frozen=True, kw_only=True)
class Timing(Brief):
    """A kernel's timing.

    latency_cycles: of a call with one frame, until its last word is on its way to DDR. period_cycles: of
    `period_frames` frames in the steady state. waits: the circle that makes it longer than the slowest
    process alone would; mostly empty. held: by stream the most words in its FIFO in the steady state.
    """

    latency_cycles: int
    period_cycles: int
    period_frames: int
    waits: tuple[Wait, ...]
    processes: tuple[ProcessTiming, ...]
    held: dict[str, int]

    @property
    def interval_cycles(self) -> int:
        """Cycles from frame to frame, rounded up."""
        return -(-self.period_cycles // self.period_frames)


def simulate(
    pipeline: Pipeline,
    depths: Mapping[str, int] | None = None,
    latencies: Mapping[str, int] | None = None,
) -> Timing:
    """The kernel with FIFOs of `depths`, or as deep as they are.

    latencies: of processes by name, as hlsgen.schedule.stage_depths finds them in the emitted code; without
    them the round figures of their stages, for which FIFOs are deep enough.

    Raises DesignError: it stands still with them.
    """
    depths = depths or {name: stream.depth for name, stream in pipeline.streams.items()}
    asked = _depends_on(pipeline, depths, latencies or {})
    found = None if asked is None else _known.find(asked)
    if found is None:
        found = _simulated(pipeline, depths, latencies)
        if asked is not None:
            _known.keep(asked, found)
    return found


_known = LastUsed[Timing](MOST_TIMINGS)


def _depends_on(
    pipeline: Pipeline, depths: Mapping[str, int], latencies: Mapping[str, int]
) -> Hashable | None:
    """All that a kernel's timing depends on; None where the schedule of a process cannot be told so."""
    if any(process.rhythm is None for process in pipeline.processes):
        return None
    processes = tuple(
        (one.name, one.rhythm, latencies.get(one.name, one.latency), one.reads, one.writes)
        for one in pipeline.processes
    )
    streams = tuple((name, stream.words, depths[name]) for name, stream in pipeline.streams.items())
    return frames_of_period(pipeline), processes, streams


def _simulated(pipeline: Pipeline, depths: Mapping[str, int], latencies: Mapping[str, int] | None) -> Timing:
    steady, waits = steady_state(pipeline, depths, latencies)
    call = one_call(pipeline, depths, latencies=latencies)
    spans = [_span(call, number) for number in range(len(pipeline.processes))]
    processes = []
    for number, process in enumerate(pipeline.processes):
        starved, blocked = _stalls(steady, number)
        begin, first_output, end = spans[number]
        processes.append(
            ProcessTiming(
                name=process.name,
                busy=steady.plan.loops[number].period or 0,
                starved=starved,
                blocked=blocked,
                begin=begin,
                first_output=first_output,
                end=end,
            )
        )
    return Timing(
        latency_cycles=max(end for _, _, end in spans),
        period_cycles=max(cycles or 0 for cycles in steady.cycles),
        period_frames=frames_of_period(pipeline),
        waits=waits,
        processes=tuple(processes),
        held={
            name: steady.plan.sums.most_held(steady.ends[name], steady.begins[name], _period(steady, name))
            for name in pipeline.streams
        },
    )


def can_simulate(pipeline: Pipeline) -> bool:
    """Whether a period has no more than MOST_WORDS words."""
    words = sum(stream.words.frame_words for stream in pipeline.streams.values())
    return words * frames_of_period(pipeline) <= MOST_WORDS


def one_call(
    pipeline: Pipeline,
    depths: Mapping[str, int],
    frames: int = 1,
    latencies: Mapping[str, int] | None = None,
) -> Relaxation:
    """All times of a call with FIFOs of `depths`, with which the steady state is known not to stand still."""
    call = Relaxation(Plan(pipeline, frames, latencies), depths)
    settled = call.settle()
    assert settled
    return call


def steady_state(
    pipeline: Pipeline, depths: Mapping[str, int], latencies: Mapping[str, int] | None = None
) -> tuple[Relaxation, tuple[Wait, ...]]:
    """All times of a period, and what makes it longer than the iterations of the slowest process.

    Begins with that one's iterations as the period, and lengthens it by every circle that takes longer; where
    there are many of these, or none shows among those that take just the period, the least period with which
    it settles is searched for.
    Raises DesignError: a circle takes no period at all, so the kernel stands still.
    """
    plan = Plan(pipeline, None, latencies)
    tried = [PeriodSearch(period=part.period, short=part.period - 1) for part in plan.parts]
    anchors = [part.slowest for part in plan.parts]
    waits: tuple[Wait, ...] = ()
    while True:
        relaxation = Relaxation(plan, depths, tuple(one.period for one in tried), tuple(anchors))
        settled, critical = _settle(relaxation)
        if settled:
            if not any([one.enough() for one in tried]):
                return relaxation, waits
        elif critical is None:
            for number, one in zip(anchors, tried, strict=True):
                if number in relaxation.pushed:
                    one.too_short()
        elif critical.stands_still:
            raise DesignError(_standstill(critical))
        else:
            waits = critical.waits
            held = next(n for n, one in enumerate(pipeline.processes) if one.name == waits[0].process)
            number = next(n for n, part in enumerate(plan.parts) if held in part.processes)
            tried[number].at_least(critical.least_period)
            anchors[number] = held


def _settle(relaxation: Relaxation) -> tuple[bool, CriticalCycle | None]:
    """Whether it settles; if not, the circle that takes longer than the period, if it shows."""
    pushed = 0
    while not relaxation.settle(PATIENCE, push=pushed > 0):
        critical = find_critical_cycle(relaxation)
        if critical is not None:
            return False, critical
        if pushed or relaxation.pushed:
            # among circles that take just the period the one that takes longer may take a while to show
            pushed += 1
        if pushed > MOST_PUSHED:
            return False, None
    return pushed == 0, None


def _standstill(critical: CriticalCycle) -> Problem:
    full = [wait.stream for wait in critical.waits if wait.to_write]
    return Problem(
        message="the kernel stands still: " + ", ".join(map(str, critical.waits)),
        fix=f"more room in {' or '.join(full)}",
    )


def _span(call: Relaxation, number: int) -> tuple[int, int, int]:
    """Begin, first output and end of a process in a call; what Store writes lies in DDR."""
    process, loop = call.plan.pipeline.processes[number], call.plan.loops[number]
    begins = [call.begins[name] for name in process.reads]
    ends = [call.ends[name] for name in process.writes]
    begin = min([times.first for times in begins] + [times.first - loop.latency for times in ends])
    first_output = min([times.first for times in ends] or [times.first + loop.latency for times in begins])
    delays = [times.last - own.last for times, own in zip(begins, loop.reads, strict=True)]
    delays += [times.last - own.last - loop.latency for times, own in zip(ends, loop.writes, strict=True)]
    return begin, first_output, max(delays) + loop.iterations - 1 + loop.latency


def _stalls(steady: Relaxation, number: int) -> tuple[dict[str, int], dict[str, int]]:
    """Cycles of a period that a process waits for words, and for room, by stream.

    Its delay grows by as much as it waits. Each step belongs to the stream that first asks for it.
    """
    process, loop, drift = (
        steady.plan.pipeline.processes[number],
        steady.plan.loops[number],
        steady.drift(number),
    )
    if not drift:
        return {}, {}
    names, reads = (*process.reads, *process.writes), len(process.reads)
    asking = [
        Asking(
            iterations=own if index < reads else own.later(loop.held),
            delays=delays if index < reads else delays.later(-loop.latency),
            running=running if index < reads else running.later(-loop.latency),
        )
        for index, (own, delays, running) in enumerate(
            zip((*loop.reads, *loop.writes), steady.wanted(number), steady.running(number), strict=True)
        )
    ]
    cycles = waiting(asking, loop.period or 1, drift, steady.plan.sums)
    found = dict(zip(names, cycles, strict=True))
    return (
        {name: found[name] for name in process.reads if found[name]},
        {name: found[name] for name in process.writes if found[name]},
    )


def _period(steady: Relaxation, stream: str) -> int:
    """Cycles after which everything in a stream happens again."""
    cycles = steady.cycles[steady.plan.links[stream].reader[0]]
    assert cycles is not None
    return cycles
