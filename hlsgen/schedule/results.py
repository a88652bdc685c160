"""What is said of a kernel's loops: facts, what is likely, and estimates, never one as another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from hlsgen.schedule.directives import Unplaced
from hlsgen.schedule.ir import Place
from hlsgen.schedule.measured_errors import HELD_OUT
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.usage import PartUsage, Usage


class Tier(StrEnum):
    """How an II is known."""

    SHOWN = "shown"
    """Ports of banks and recurrences that the code fixes, with no assumption."""
    LIKELY = "likely"
    """It rests on dependences that the vendor's compiler has to assume, or on the cycles of its cores."""
    UNDECIDED = "undecided"
    """It hangs on what is not known here; `reasons` says on what."""


@dataclass(frozen=True, kw_only=True)
class BankUse:
    """The busiest bank of an array in one iteration."""

    array: str
    banks: int
    bank: tuple[int, ...]
    reads: int
    writes: int
    together: int
    interval: int
    """The least II that the bank's ports allow."""
    runtime: bool
    """Whether indices into split dimensions stay run-time."""
    storage: str
    neighbours: bool = False
    """Whether words of an AXI port lie side by side that the tool may take for a wide one."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One operation of a chain."""

    kind: str
    bits: int
    ns: float
    place: Place | None


@dataclass(frozen=True, kw_only=True)
class Recurrence:
    """What an iteration waits for in an earlier one, and keeps its II up."""

    through: str
    distance: int
    assumed: bool
    steps: tuple[Step, ...]
    interval: int


@dataclass(frozen=True, kw_only=True)
class LoopSchedule:
    """What is said of one pipelined loop, or of a function that is pipelined as a whole."""

    place: Place | None
    function: str
    label: str = ""
    automatic: bool = False
    """No pragma asks for it: the vendor's compiler pipelines such loops by itself."""
    target: int
    tier: Tier
    interval: int | None
    """The II; None where it is undecided."""
    estimate: int | None = None
    """Of a loop that is undecided: the II that it likely has, if one was found (confidence.py)."""
    between: tuple[int, int]
    """The least and the greatest II that is possible by what is known."""
    reasons: tuple[str, ...]
    """Why the II is above the target, or undecided."""
    trips: int | None
    banks: tuple[BankUse, ...]
    recurrence: Recurrence | None
    depth: int
    """Estimate: cycles of one iteration."""
    chain_ns: float
    """Estimate: the longest chain of a cycle."""
    chain: tuple[Step, ...]
    budget_ns: float
    registers: int
    """Estimate: bits alive between stages, in all stages together."""
    operations: dict[str, int] = field(default_factory=dict)
    """Operations by kind and widths, as `mul 8x8`."""
    rolled: tuple[str, ...] = ()
    """Places of inner loops that could not be unrolled."""
    unknown_calls: tuple[str, ...] = ()
    kept_calls: tuple[str, ...] = ()
    """Functions that are pipelined by themselves and that an iteration calls which leaves something to the
    next: the vendor's tool keeps them as modules, and here they are inlined."""
    copies: int = 1
    """How often the loop stands in the hardware with the same schedule: functions are inlined, loops
    unrolled."""
    other_places: tuple[Place, ...] = ()
    """Of the copies: the same line by other calls."""

    @property
    def likely(self) -> int | None:
        """The II that is decided, or the estimate of one that is not; None: there is none."""
        return self.estimate if self.interval is None else self.interval

    @property
    def title(self) -> str:
        """The loop's label, if it has one, and its place."""
        where = f"{Path(self.place.file).name}:{self.place.line}" if self.place else self.function
        return f"{self.label} {where}".strip()

    def findings(self) -> list[str]:
        """What is wrong with it, each in one sentence."""
        found = []
        if self.interval is None or self.interval > self.target:
            interval = f"II {self.interval}" if self.interval else "an II that cannot be decided"
            found.append(
                f"{self.title}: {interval} where {self.target} is asked for: " + "; ".join(self.reasons)
            )
        if not self.fits_budget:
            chain = " > ".join(step.kind for step in self.chain)
            found.append(
                f"{self.title}: a chain of {self.chain_ns:.2f} ns "
                f"where the clock leaves {self.budget_ns:.2f}: {chain}"
            )
        return found

    def as_json(self) -> dict[str, Any]:
        """Plain values; places as `file:line`."""
        return {
            "place": str(self.place) if self.place else None,
            "label": self.label,
            "function": self.function,
            "automatic": self.automatic,
            "ii_target": self.target,
            "ii": self.interval,
            "ii_estimated": self.estimate,
            "ii_between": list(self.between),
            "known": self.tier.value,
            "reasons": list(self.reasons),
            "trips": self.trips,
            "banks": [asdict(bank) for bank in self.banks],
            "recurrence": None if self.recurrence is None else _recurrence_json(self.recurrence),
            "depth_estimated": self.depth,
            "chain_ns_estimated": round(self.chain_ns, 3),
            "chain": [_step_json(step) for step in self.chain],
            "budget_ns": round(self.budget_ns, 3),
            "registers_estimated": self.registers,
            "operations": self.operations,
            "rolled": list(self.rolled),
            "unknown_calls": list(self.unknown_calls),
            "copies": self.copies,
        }

    @property
    def meets_target(self) -> bool:
        """Whether the II is known and no more than asked for."""
        return self.interval is not None and self.interval <= self.target

    @property
    def misses_target(self) -> bool:
        """Whether the II is more than asked for, as far as is known or likely."""
        likely = self.likely
        if likely is not None:
            return likely > self.target
        return self.between[0] > self.target and not self.unknown_calls and not self.rolled

    @property
    def fits_budget(self) -> bool:
        """Whether the longest chain is within the clock less its uncertainty."""
        return self.chain_ns <= self.budget_ns + 1e-6


@dataclass(frozen=True, kw_only=True)
class KernelSchedule:
    """What is said of one translation unit."""

    kernel: str
    loops: tuple[LoopSchedule, ...]
    part: str
    version: str
    clock_ns: float
    budget_ns: float
    instructions: int
    """Of the IR after unrolling: the size of the vendor's front end's work."""
    seconds: float
    usage: Usage
    """Estimate: what the kernel takes."""
    solution: str = ""
    """What the script calls it that makes it."""
    dropped: tuple[Pragma, ...] = ()
    """Pragmas that count for nothing: they name what does not exist, or stand where no pragma can."""
    unplaced: tuple[Unplaced, ...] = ()
    ignored: tuple[str, ...] = ()
    """Options of its configuration that may change a schedule and are not obeyed."""
    moved: tuple[str, ...] = ()
    """Names of its configuration that are not there, with what is taken for them."""
    too_large: tuple[str, ...] = ()
    """Why nothing is said of parts of it: of their loops, and of what they take."""
    by_first_calls: tuple[str, ...] = ()
    """Why parts of it are scheduled by the first calls of their functions alone."""

    def findings(self) -> list[str]:
        """What is wrong with its loops."""
        return [*self.too_large, *(finding for loop in self.loops for finding in loop.findings())]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "kernel": self.kernel,
            "solution": self.solution,
            "part": self.part,
            "version": self.version,
            "clock_ns": round(self.clock_ns, 4),
            "budget_ns": round(self.budget_ns, 4),
            "instructions": self.instructions,
            "seconds_measured": round(self.seconds, 2),
            "usage_estimated": self.usage.as_json(),
            "loops": [loop.as_json() for loop in self.loops],
            "dropped_pragmas": [str(one) for one in self.dropped],
            "errors_measured": HELD_OUT.as_json(),
            "unplaced_directives": [str(one) for one in self.unplaced],
            "ignored_options": list(self.ignored),
            "moved_files": list(self.moved),
            "too_large": list(self.too_large),
            "by_first_calls": list(self.by_first_calls),
        }


@dataclass(frozen=True, kw_only=True)
class PartSchedule:
    """The loops of a part of a kernel. instructions: of its IR after unrolling. lost: pragmas about variables
    that nothing in the IR is known to be. too_large: why nothing is said of it, if it is for its size.
    by_first_calls: why it is scheduled by the first calls of its functions alone, if it is."""

    loops: tuple[LoopSchedule, ...]
    instructions: int
    usage: PartUsage
    lost: tuple[Pragma, ...] = ()
    too_large: str = ""
    by_first_calls: str = ""


def in_order(loops: Iterable[LoopSchedule]) -> list[LoopSchedule]:
    """The loops by file and line."""
    return sorted(loops, key=lambda loop: (loop.place.file, loop.place.line) if loop.place else ("", 0))


def merged(loops: Sequence[LoopSchedule]) -> tuple[LoopSchedule, ...]:
    """The loops, those of one place with the same figures as one, with how many they are."""
    found: dict[tuple[object, ...], LoopSchedule] = {}
    for loop in loops:
        place = (loop.place.file, loop.place.line) if loop.place else None
        key = (
            place,
            loop.function,
            loop.target,
            loop.interval,
            loop.between,
            loop.trips,
            loop.depth,
            loop.chain_ns,
        )
        before = found.get(key)
        if before is None:
            found[key] = loop
            continue
        others = before.other_places if loop.place is None else (*before.other_places, loop.place)
        found[key] = replace(before, copies=before.copies + 1, other_places=others)
    return tuple(found.values())


def _recurrence_json(recurrence: Recurrence) -> dict[str, Any]:
    return {
        "through": recurrence.through,
        "distance": recurrence.distance,
        "assumed": recurrence.assumed,
        "steps": [_step_json(step) for step in recurrence.steps],
    }


def _step_json(step: Step) -> dict[str, Any]:
    place = str(step.place) if step.place else None
    return {"kind": step.kind, "bits": step.bits, "ns": round(step.ns, 3), "place": place}
