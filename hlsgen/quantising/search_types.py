"""A network in floating point becomes the one in fixed point that is built, as near to it as is asked for.

before  conv1 -> relu1, both float32, and calibration frames
after   conv1 gives fixed<8,3,rnd,sat> and limits as relu1 did, its weights codes of fixed<8,0>
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

from hlsgen.base.errors import DesignError
from hlsgen.base.progress import Progress, silent
from hlsgen.model.accuracy import Chosen, Measured, Quality
from hlsgen.model.ir import Graph
from hlsgen.model.precision import LEAST_TARGET_DB, MOST_TARGET_DB, START_DB, Precision
from hlsgen.passes import FIXED_PASSES, run_passes
from hlsgen.quantising.accuracy import judged, measured
from hlsgen.quantising.choose_types import choose_types
from hlsgen.quantising.float_run import FloatRun
from hlsgen.quantising.value_ranges import ValueRanges

MOST_TRIALS = 7
"""Targets of all tensors that are tried for the sake of the outputs' decibels."""
TRIAL_MACS = 1 << 32
"""Fewer, if together they would need more multiply-accumulates."""
FEW_TRIALS = 2
"""More trials are judged by the outputs alone: the last one hardly pays for what all would measure."""
FINEST_DB = 2.0
"""Nearer to the least target that suffices is not worth a trial."""
LEAST_GAIN = 0.25
"""The share of a raised target that the outputs must gain for more to be tried."""
STEP_DB = 6.0
"""A bit, half the noise: so the target is raised where answers differ though the decibels are reached."""
ROOMS = (2.0, 4.0)
"""Times the headroom that is tried where the outputs do not reach their decibels."""
ROOM_DB = 1.0
"""What more room must gain."""
MOST_STEPS = 4
"""How many: what differs then is as good as a tie."""


def quantised_network(
    reference: Graph,
    precision: Precision,
    calibration: FloatRun | None,
    any_weights: Collection[str] = (),
    progress: Progress = silent,
) -> tuple[Graph, Measured | None]:
    """`reference` with types, after all passes, and what was measured of it; None without calibration.

    With auto, the least target of all tensors is looked for that gives the outputs `precision.output_db` and
    `precision.agreement` on frames that are held out. any_weights and errors: those of `choose_types`.
    """
    if calibration is None:
        return run_passes(choose_types(reference, precision, None, any_weights), FIXED_PASSES), None
    if precision.default != "auto":
        ranges = ValueRanges(calibration, precision.headroom) if precision.by_frames else None
        fixed = run_passes(choose_types(reference, precision, ranges, any_weights), FIXED_PASSES)
        progress("comparing the types with floating point")
        found = measured(fixed, calibration)
        return fixed, found if ranges is None else _with(found, Chosen(headrooms=ranges.headrooms))
    search, target_db = _searched(reference, precision, calibration, any_weights, progress)
    graph = search.graph(target_db)
    progress("comparing the chosen types with floating point")
    known = search.known_of(graph) or measured(graph, calibration)
    return graph, _with(known, Chosen(target_db=target_db, headrooms=search.ranges.headrooms))


def _searched(
    reference: Graph,
    precision: Precision,
    run: FloatRun,
    any_weights: Collection[str],
    progress: Progress,
) -> tuple[_Search, float]:
    """The search that reaches what is asked for, or comes nearest, and its target.

    Where frames held out are clipped, wider types gain nothing: their resolution is traded for room.
    """
    best = _Search(reference, precision, run, any_weights, progress)
    trial = best.found()
    for room in ROOMS if precision.headroom is None else ():
        reached = trial.quality
        if reached.worst_db >= precision.output_db and reached.likely_agreement >= precision.agreement:
            break
        wider = _Search(reference, precision, run, any_weights, progress, room)
        other = wider.found()
        gained = other.quality.likely_agreement - reached.likely_agreement
        if other.quality.worst_db > reached.worst_db + ROOM_DB and gained >= 0:
            best, trial = wider, other
    return best, trial.target_db


def _with(found: Measured, chosen: Chosen) -> Measured:
    """The same, and what was chosen by the frames."""
    return replace(found, reached=replace(found.reached, chosen=chosen))


@dataclass(frozen=True, kw_only=True)
class _Trial:
    """How near the outputs of the network are whose tensors all have `target_db`."""

    target_db: float
    quality: Quality


def _nearer(before: _Trial, after: _Trial) -> bool:
    """Whether a raised target shows in the outputs: else something that it does not change limits them."""
    gained = after.quality.worst_db - before.quality.worst_db
    return gained > LEAST_GAIN * (after.target_db - before.target_db)


class _Search:
    """The least target for all tensors that suffices: first by what is missing or to spare, then by halves.

    What suffices for one target does for a higher one, or nearly: noise falls with it.
    """

    def __init__(
        self,
        reference: Graph,
        precision: Precision,
        run: FloatRun,
        any_weights: Collection[str],
        progress: Progress,
        room: float = 1.0,
    ) -> None:
        """room: as of `ValueRanges`."""
        self.progress = progress
        self.reference = reference
        self.precision = precision
        self.run = run
        self.any_weights = any_weights
        self.ranges = ValueRanges(run, precision.headroom, room)
        self.made: list[_Trial] = []
        self._last: tuple[float, Graph] | None = None
        self._known: Measured | None = None
        affordable = TRIAL_MACS // max(1, reference.macs * len(run.judging))
        self.trials = max(2, min(MOST_TRIALS, affordable))
        self.steps = max(1, min(MOST_STEPS, affordable))

    def found(self) -> _Trial:
        enough = self._with_decibels()
        tried = [enough]
        most = min(max(enough.target_db, START_DB) + MOST_STEPS * STEP_DB, MOST_TARGET_DB)
        for _ in range(self.steps):
            target = min(tried[-1].target_db + self._step(tried[-1]), most)
            # what suffices may be known already
            known = min((one.target_db for one in self._sufficing()), default=math.inf)
            if not tried[-1].target_db < target < known:
                break
            trial = self._tried(target)
            if trial is None or not _nearer(tried[-1], trial):
                break
            tried.append(trial)
        least = min(self._sufficing(), key=lambda one: one.target_db, default=None)
        return least or max(tried, key=lambda one: one.quality.likely_agreement)

    def _with_decibels(self) -> _Trial:
        """The cheapest trial whose outputs have the decibels; else the nearest one."""
        low: _Trial | None = None
        high: _Trial | None = None
        trial = self._trial(START_DB if self.precision.target_db is None else self.precision.target_db)
        for _ in range(self.trials - 1):
            if self._missing(trial) > 0:
                low = trial
            else:
                high = trial
            target = self._next(low, high)
            following = None if target is None else self._tried(target)
            if following is None or (high is None and not _nearer(trial, following)):
                break
            trial = following
        return high if high is not None and self._missing(trial) > 0 else trial

    def _next(self, low: _Trial | None, high: _Trial | None) -> float | None:
        """A target between the highest that is too low and the lowest that suffices; None: near enough."""
        if low is not None and high is not None:
            near = high.target_db - low.target_db <= FINEST_DB
            return None if near else (low.target_db + high.target_db) / 2
        if low is not None:
            more = min(low.target_db + max(2 * self._missing(low), STEP_DB / 2), MOST_TARGET_DB)
            return more if more > low.target_db else None
        assert high is not None
        least = LEAST_TARGET_DB if self.precision.target_db is None else self.precision.target_db
        less = max(high.target_db + min(self._missing(high), 0.0) - FINEST_DB / 2, least)
        spare = high.target_db - less
        return less if spare > FINEST_DB else None

    def _sufficing(self) -> list[_Trial]:
        """The tried types that have the decibels and the answers."""
        asked = self.precision.agreement
        return [one for one in self.made if self._missing(one) <= 0 and one.quality.likely_agreement >= asked]

    def _step(self, trial: _Trial) -> float:
        """Decibels for the answers that differ: half the noise loses half of them."""
        allowed, lost, step = 1 - self.precision.agreement, 1 - trial.quality.likely_agreement, 0.0
        while lost > allowed and step < MOST_STEPS * STEP_DB:
            lost, step = lost / 2, step + STEP_DB
        return step

    def _missing(self, trial: _Trial) -> float:
        """Decibels; negative: to spare, at most a few bits, since noise that is not there says nothing."""
        return max(self.precision.output_db - trial.quality.worst_db, -4 * STEP_DB)

    def _tried(self, target_db: float) -> _Trial | None:
        """The types that a target chooses, measured; None: types as wide as these cannot be built."""
        try:
            return self._trial(target_db)
        except DesignError:
            return None

    def _trial(self, target_db: float) -> _Trial:
        target_db = round(target_db, 2)  # decibels come from logarithms, whose last bits are the machine's
        self.progress(
            f"choosing number types: trial {len(self.made) + 1}, {target_db:.0f} dB for each tensor"
        )
        trial = _Trial(target_db=target_db, quality=self._quality(self.graph(target_db)))
        self.made.append(trial)
        return trial

    def _quality(self, graph: Graph) -> Quality:
        if len(self.run.kept) > 1 or self.trials > FEW_TRIALS:
            return judged(graph, self.run)
        # of a single frame all is judged that is measured in the end: golden runs once less
        self._known = measured(graph, self.run)
        return self._known.reached.judged

    def known_of(self, graph: Graph) -> Measured | None:
        """What a trial has measured of `graph`, if it was the last one."""
        return self._known if self._known is not None and self._known.graph is graph else None

    def graph(self, target_db: float) -> Graph:
        """The network with the types of a target. The last one is kept: each has codes of all weights."""
        if self._last is None or self._last[0] != target_db:
            self._last = self._known = None
            constraints = replace(self.precision, target_db=target_db)
            typed = choose_types(self.reference, constraints, self.ranges, self.any_weights)
            self._last = target_db, run_passes(typed, FIXED_PASSES)
        return self._last[1]
