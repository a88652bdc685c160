"""What an operation takes in the vendor's tool, in ns and cycles, by part, release and clock."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from hlsgen.schedule import cores
from hlsgen.schedule.delay_figures import PACKAGED, Figure, Library, library_of, read_figures
from hlsgen.schedule.operation import DIVISIONS, SHIFTS, Operation, Timing
from hlsgen.schedule.speed import speed_of

DEFAULT_UNCERTAINTY = 0.27
"""Share of the clock that the tool keeps back unless told otherwise."""
NEWEST = "2024.2"
"""Release whose figures count where none is named."""
FREE = Timing(cycles=0, first_ns=0.0, last_ns=0.0)

LINEAR = {"add": "add", "sub": "add", "select": "select", "and": "logic", "or": "logic", "xor": "logic"}
"""Combinational operations by the width of their result, and the curve of each."""
NOTHING = frozenset(
    {"phi", "register_read", "trunc", "zext", "sext", "bitcast", "freeze", "switch", "fifo_state"}
)
"""Wires, as is whether a FIFO has words. (What chooses among the values of a phi is a mux before it.)"""
FLOATS = {
    "fadd": "fadd",
    "fsub": "fadd",
    "fmul": "fmul",
    "fdiv": "fdiv",
    "frem": "fdiv",
    "fcmp": "fcmp",
    "sitofp": "sitofp",
    "uitofp": "sitofp",
    "fpext": "fpext",
    "fptrunc": "fptrunc",
}
BETWEEN_PRECISIONS = frozenset({"fpext", "fptrunc"})
"""Those of half have cores of their own, whatever the wider type."""
HALF_BITS = 16
TO_INTEGER = frozenset({"fptosi", "fptoui", "floor", "ceil", "round", "rint", "nearbyint", "lround", "lrint"})
"""The tool has no core for these and inlines them."""
SLOWER_REQUESTS = 2023.1
"""From this release on a request to read takes 7 cycles, before it 6."""
FIRST_WRITE_JOINS = 2023.2
WRITES_REGISTERS, ALWAYS_WRITES_REGISTERS = 2021.1, 2021.2
ACCUMULATES_UNTIL = 2020.9
WRITE_RESPONSE = 4
KERNEL_LATENCY = 64
"""Cycles that memory is taken to need in the flow of kernels, of which a request or an answer has one."""


HELD_OUT_NS = {"zynquplus": 0.03, "virtexuplus": 0.12, "zynq": 0.17, "kintexu": 0.58}
"""How far off the delay of a state is in nine of ten, in reports of repositories that nothing was fitted to
(docs/schedule.md), by family; double precision apart.
"""

FITTED_GRADE = {"zynq": 1}
"""Grade of the reports that were held out, where it is not 2."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """How sure a timing is."""

    count: int
    """Operations in reports that had the nearest figure; 0: no report has any."""
    repositories: int
    spread_ns: float
    """Largest less smallest delay of those operations."""
    source: str
    """measured, interpolated (sizes beside it were seen), extrapolated, borrowed (from another family or
    grade, named behind it), rule (a structure of the tool, no delay of its own).
    """


@dataclass(frozen=True, kw_only=True)
class Delays:
    """The delays of one part in one release of the tool at one clock."""

    part: str
    version: str = NEWEST
    clock_ns: float
    uncertainty_ns: float | None = None
    """None: 27 % of the clock, the tool's default."""
    kernel_flow: bool = False
    """Whether it is built as a kernel of a card (v++), where memory answers later, not as an IP."""
    reorders_sums: bool = False
    """Whether sums of floating-point numbers may be reordered before they are scheduled."""
    axi_latency: int | None = None
    """Cycles of the memory behind AXI ports of which no pragma says it; None: what the flow has."""
    figures: Path = PACKAGED

    @cached_property
    def library(self) -> Library:
        """The figures of the part's family and grade."""
        found = re.match(r"\d+(?:\.\d+)?", self.version)
        number = float(found[0]) if found else float(NEWEST)
        return library_of(speed_of(self.part), number, self.figures)

    @property
    def budget_ns(self) -> float:
        """What a chain may take in one cycle."""
        kept = DEFAULT_UNCERTAINTY * self.clock_ns if self.uncertainty_ns is None else self.uncertainty_ns
        return self.clock_ns - kept

    @property
    def basis(self) -> str:
        """What the delays of this part rest on, in a sentence for reports."""
        asked, own = speed_of(self.part), self.library.speed
        figures = [one for one in read_figures(self.figures) if one.speed == own]
        name = f"{own.family} grade {own.grade}"
        if not figures:
            return f"no public report is of {name}: delays are those of other grades and families, scaled"
        seen = f"{len(figures)} figures of {name} in public schedule reports"
        if asked.family != own.family:
            return f"no public report is of {asked.family}: taken from {seen}"
        error = HELD_OUT_NS.get(own.family)
        held = (
            f"; states of designs held out were off by up to {error:.2f} ns in nine of ten" if error else ""
        )
        return seen + (held if own.grade == FITTED_GRADE.get(own.family, 2) else "")

    @property
    def first_write_joins(self) -> bool:
        """Whether the write of a register's first value shares the first state of a pipeline, in front of its
        read, as it does from 2023.2 on; before, it has a state of its own.
        """
        return self.library.version >= FIRST_WRITE_JOINS

    def writes_registers(self, loops: int) -> bool:
        """Whether a function of so many loops, inner ones apart, keeps what they carry in registers that a
        cycle writes and reads, and not in a choice before the next iteration's first cycle: where each
        pipelined loop is a module of its own. That is so in all 229 pipelines of 2021.2 in public reports, in
        103 of 104 modules of loops of 2021.1, and in 14 of its 110 functions that are a pipeline themselves.
        """
        return self.library.version >= (WRITES_REGISTERS if loops > 1 else ALWAYS_WRITES_REGISTERS)

    @property
    def accumulates(self) -> bool:
        """Whether sums of floats that begin with zero are accumulators (accumulators.py), as up to 2020.2."""
        return self.library.version <= ACCUMULATES_UNTIL

    def timing(self, operation: Operation) -> Timing:
        """When the result of an operation is there that no other operation is merged with (groups.py).

        Raises KeyError: there is no such operation.
        """
        found = self._known.get(operation)
        if found is None:
            found = self._known[operation] = self._timing(operation)
        return found

    def _timing(self, operation: Operation) -> Timing:
        if _is_free(operation):
            return FREE
        curve = self._curve_of(operation)
        if curve is not None:
            name, size = curve
            return Timing(cycles=0, first_ns=round(self.library.curve(name).at(size), 3), last_ns=0.0)
        return self._several_cycles(operation)

    @cached_property
    def _known(self) -> dict[Operation, Timing]:
        """The timings that were asked for: designs have few different operations, and many of each."""
        return {}

    def quick_sum(self, operation: Operation, *, stored: bool = False) -> Timing | None:
        """Of a floating-point sum: its timing in logic alone, where that was seen with fewer cycles.
        `stored`: whether a memory takes it.

        In all 81 pipelines that are known to have it the register of the sum is written in its last cycle,
        even where that breaks the budget (2.47 ns and more of 2.43), and so is a word of a memory
        (cornell-zhang/allo-pldi24-artifact, 2022.1: 2.23 ns of 1.82). As much is taken to be left for it: the
        chain comes out too short by what reports have beyond the budget. Families in which none was seen have
        none (abyanzaim6000-source/LENET5_FPGA, zynq: II 4 at 10 ns, as long as the usual adder).
        """
        if FLOATS.get(operation.kind) != "fadd" or not self.library.has_seen("fadd_nodsp"):
            return None
        seen = cores.candidates(self.library, "fadd_nodsp", max((*operation.widths, operation.result)))
        figure = cores.chosen(seen, self.budget_ns) if seen else None
        if figure is None or not figure.count or figure.cycles >= self.timing(operation).cycles:
            return None
        timing = cores.core_timing(figure, self.budget_ns)
        write_ns = self.library.curve("store_bram").at(0) if stored else self.register_write_ns(2)
        return replace(timing, last_ns=max(0.0, min(timing.last_ns, self.budget_ns - write_ns)))

    def evidence(self, operation: Operation) -> Evidence:
        """How sure the timing of an operation is."""
        if _is_free(operation) or operation.kind.startswith("axi"):
            return Evidence(count=0, repositories=0, spread_ns=0.0, source="rule")
        curve = self._curve_of(operation)
        if curve is not None:
            return self._evidence_of_curve(*curve)
        figure = self._core(operation)
        if figure is None:
            return Evidence(count=0, repositories=0, spread_ns=0.0, source="rule")
        found = self._evidence(figure, "measured" if figure.count else "extrapolated")
        of_half = self._precision_of(operation) == HALF_BITS and figure.size > HALF_BITS
        return replace(found, source="borrowed from single precision") if of_half else found

    def register_write_ns(self, writers: int) -> float:
        """Writing a register that `writers` operations of the function write, its reset included: a mux."""
        return self.mux_ns(writers)

    def mux_ns(self, inputs: int) -> float:
        """A choice of one of `inputs` words; nothing for a single one."""
        return self.library.curve("mux").at(inputs) if inputs > 1 else 0.0

    def sum_of_three_ns(self, width: int) -> float:
        """A sum of three words in one row of LUTs."""
        return self.library.curve("add3").at(width)

    def product_and_sum(self) -> tuple[Timing, Timing]:
        """A product and the sum that share a DSP."""
        product, total = self.library.fixed("dsp_mul"), self.library.fixed("dsp_add")
        return cores.core_timing(product), cores.core_timing(total)

    def _curve_of(self, operation: Operation) -> tuple[str, int] | None:
        """The curve that a combinational operation lies on, and its size; None: it is none of those."""
        kind, widths = operation.kind, operation.widths
        if kind in LINEAR:
            return _logic_if_a_bit(LINEAR[kind], operation.result)
        if kind in ("icmp", "fneg", "fabs", "copysign"):
            return ("icmp" if kind == "icmp" else "logic"), max(widths, default=1)
        if kind in SHIFTS:
            return ("shift", max(*widths, operation.result)) if not operation.constants else ("wire", 0)
        if kind == "mux":
            return "mux", max(2, len(widths))
        if kind == "register_write" or (kind == "store" and operation.storage == "register"):
            return "mux", max(2, len(widths))
        if kind == "store":
            return f"store_{operation.storage or 'bram'}", 0
        if kind in ("fifo_read", "fifo_write"):
            return ("wire", 0) if operation.storage == "axis" else (f"fifo_{operation.storage or 'srl'}", 0)
        if kind == "shift_register":
            return "shift_register", 0
        if kind == "control":
            return "logic", 1
        return None

    def _evidence_of_curve(self, name: str, size: int) -> Evidence:
        points = self.library.curve(name).points
        nearest = self.library.curve(name).nearest(size)
        if nearest.size in (0, size):
            return self._evidence(nearest, "measured")
        if points[0].size <= size <= points[-1].size:
            return self._evidence(nearest, "interpolated")
        return replace(self._evidence(nearest, "extrapolated"), source="extrapolated")

    def _evidence(self, figure: Figure, source: str) -> Evidence:
        lender = figure.borrowed
        if not lender and self.library.speed != speed_of(self.part):
            lender = f"{self.library.speed.family}-{self.library.speed.grade}"
        return Evidence(
            count=figure.count,
            repositories=figure.repositories,
            spread_ns=round(figure.high_ns - figure.low_ns, 3),
            source=f"borrowed from {lender}" if lender else source,
        )

    def _several_cycles(self, operation: Operation) -> Timing:
        kind, widths = operation.kind, operation.widths
        if kind == "mul":
            return cores.multiplier(self.library, widths or (operation.result,), self.budget_ns)
        if kind in DIVISIONS:
            return cores.divider(self.library, max(widths, default=operation.result), self.budget_ns)
        if kind.startswith("axi"):
            return self._axi(operation)
        if kind in TO_INTEGER:
            return self._to_integer(operation)
        figure = self._core(operation)
        if figure is None:
            raise KeyError(f"no figures of {kind}")
        return cores.core_timing(figure, self.budget_ns)

    def _precision_of(self, operation: Operation) -> int:
        """Bits of the numbers that the core of an operation is made for."""
        widths = (*operation.widths, operation.result)
        to_or_from_half = operation.kind in BETWEEN_PRECISIONS and min(widths) == HALF_BITS
        return HALF_BITS if to_or_from_half else max(widths)

    def _core(self, operation: Operation) -> Figure | None:
        """The core of an operation of several cycles that has figures of its own."""
        kind, bits = operation.kind, self._precision_of(operation)
        if kind == "load":
            return self.library.fixed(f"load_{operation.storage or 'bram'}")
        name = cores.LIKE.get(kind) or FLOATS.get(kind, "")
        if not name:
            return None
        return cores.chosen(cores.candidates(self.library, name, bits), self.budget_ns)

    def _axi(self, operation: Operation) -> Timing:
        """An access to an AXI memory port fills its cycles: the adapter's delay is said to be the budget."""
        kind, latency = operation.kind, operation.latency
        usual = KERNEL_LATENCY if self.kernel_flow else 0
        usual = usual if self.axi_latency is None else self.axi_latency
        latency = usual if latency is None else latency
        more = max(0, latency - 1)
        cycles = 0
        if kind == "axi_read_request":
            cycles = more + (6 if self.library.version < SLOWER_REQUESTS else 7)
        elif kind == "axi_write_response":
            cycles = more + WRITE_RESPONSE
        whole = self.budget_ns
        return Timing(cycles=cycles, first_ns=whole, last_ns=whole if cycles else 0.0)

    def _to_integer(self, operation: Operation) -> Timing:
        """A float to an integer: the tool inlines it as a difference of exponents, a shift and a sign."""
        bits = max(24, operation.result)
        whole = sum(self.library.curve(name).at(size) for name, size in _conversion(bits))
        if whole <= self.budget_ns:
            return Timing(cycles=0, first_ns=whole, last_ns=0.0)
        cycles = int(whole / self.budget_ns)
        return Timing(cycles=cycles, first_ns=self.budget_ns, last_ns=whole - cycles * self.budget_ns)


def _is_free(operation: Operation) -> bool:
    """Whether an operation is a wire: elements of a register array are chosen by a mux of their own."""
    return operation.kind in NOTHING or (operation.kind, operation.storage) == ("load", "register")


def _conversion(bits: int) -> tuple[tuple[str, int], ...]:
    """What stands one behind the other in a float to an integer."""
    return (("add", 9), ("select", 9), ("shift", bits), ("add", bits), ("select", bits))


def _logic_if_a_bit(name: str, width: int) -> tuple[str, int]:
    """Sums and choices of a single bit are logic."""
    return ("logic", 1) if width == 1 and name != "select" else (name, width)
