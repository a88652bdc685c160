"""Cores of several cycles: which one the vendor's tool takes for a budget, and when their result is there.

A core is taken with the fewest cycles whose stages fit the budget. Between the clocks that reports were seen
at, it has as many stages as the work of the next finer one needs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from hlsgen.schedule.delay_figures import Figure, Library
from hlsgen.schedule.operation import Timing
from hlsgen.targets.device_family import DSP48E1, DSP48E2, DSP58, Dsp

DSPS = {**dict.fromkeys(("zynq", "artix7", "virtex7", "kintex7"), DSP48E1), "versal": DSP58}
"""The DSP by family; DSP48E2 where it is not named."""
ALWAYS_FABRIC = 10
"""Up to this width of the wider operand a multiplier alone is built of LUTs."""
DSP_ALONE_UNTIL = 2022.9
"""Up to this release a multiplier alone that fits one DSP is a DSP with its three registers."""
FULL = 0.995
"""Share of the budget that a stage is cut to fill."""
ROUNDING = 0.005
"""ns by which reports round."""
PRECISIONS = (16, 32, 64)
"""Bits of half, single and double precision."""
DIVISION_OVERHEAD = 3
"""A division takes a cycle for each bit of the dividend and these."""
_LIKE = {
    "exp": "exp exp2 exp10 expm1 log log2 log10 log1p sin cos sinpi cospi sincos",
    "sqrt": "sqrt cbrt",
    "rsqrt": "rsqrt hypot",
    "recip": "recip",
    "fdiv": "tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh pow fmod remainder erf erfc tgamma",
    "fcmp": "fmin fmax fdim",
}
LIKE = {name: core for core, names in _LIKE.items() for name in names.split()}
"""Cores that stand for math functions: their own, or one that is near."""


def fits_one_dsp(library: Library, first: int, second: int) -> bool:
    """Whether signed operands of these widths fit the multiplier of one DSP."""
    dsp = dsp_of(library)
    return max(first, second) <= dsp.wide and min(first, second) <= dsp.narrow


def dsp_of(library: Library) -> Dsp:
    """The kind of DSP that a library's parts have."""
    return DSPS.get(library.speed.family, DSP48E2)


def multiplier(library: Library, widths: Sequence[int], budget_ns: float) -> Timing:
    """A product of its own: nothing is added to it or in front of it."""
    wide = max(widths)
    narrow = min(widths)
    combinational = library.curve("multiplier").at(wide)
    old = library.version <= DSP_ALONE_UNTIL
    if old and wide > ALWAYS_FABRIC and narrow > 1 and fits_one_dsp(library, wide, narrow):
        return core_timing(library.fixed("dsp_mul_alone"))
    if combinational <= budget_ns:
        return Timing(cycles=0, first_ns=combinational, last_ns=0.0)
    return _in_stages(combinational, library, wide, budget_ns)


def _in_stages(combinational: float, library: Library, wide: int, budget_ns: float) -> Timing:
    """A multiplier with registers inside: one level of them if that is enough, else as many as are needed."""
    halves = library.curve("multiplier_half").at(wide)
    if halves <= budget_ns:
        return Timing(cycles=1, first_ns=halves, last_ns=halves)
    cycles = max(2, math.ceil(2 * halves / (FULL * budget_ns)) - 1, math.ceil(combinational / budget_ns))
    stage = min(FULL * budget_ns, 2 * halves / (cycles + 1))
    return Timing(cycles=cycles, first_ns=stage, last_ns=stage)


def divider(library: Library, dividend: int, budget_ns: float) -> Timing:
    """An integer division or remainder, one bit of the result in a cycle."""
    stage = min(library.curve("divide_stage").at(dividend), budget_ns)
    return Timing(cycles=dividend + DIVISION_OVERHEAD, first_ns=stage, last_ns=stage)


def float_core(library: Library, operation: str, bits: int, budget_ns: float) -> Timing:
    """A core of the floating-point library, such as fadd, for numbers of `bits` bits."""
    return core_timing(chosen(candidates(library, operation, bits), budget_ns), budget_ns)


def candidates(library: Library, operation: str, bits: int) -> tuple[Figure, ...]:
    """The cores that were seen of an operation, by ascending cycles; of half and double precision those of
    single precision where none was seen.
    """
    size = next((one for one in PRECISIONS if bits <= one), PRECISIONS[-1])
    return library.cores(operation, size) or library.cores(operation, 32)


def chosen(figures: Sequence[Figure], budget_ns: float) -> Figure:
    """The core with the fewest cycles that fits, of some by ascending cycles: one of the family's own if
    there is any. Where those that fit were seen at tighter budgets alone, or none fits, one between is made
    up.
    """
    fitting = [one for one in figures if one.first_ns <= budget_ns + ROUNDING]
    coarser = [one for one in figures if one.first_ns > budget_ns + ROUNDING]
    seen = [one for one in fitting if one.budget_ns + ROUNDING >= budget_ns]
    if seen:
        own = [one for one in fitting if not one.borrowed]
        asked = next((one for one in seen if not one.borrowed), seen[0])
        return min((*own, asked), key=lambda one: one.cycles)
    fewest = 1 + max((one.cycles for one in coarser), default=0)
    made = _cut(min(figures, key=lambda one: _other_clock(one, budget_ns)), fewest, budget_ns)
    return min((*fitting[:1], made), key=lambda one: one.cycles)


def _other_clock(figure: Figure, budget_ns: float) -> tuple[bool, float]:
    """How little a core tells of another budget: one of another family least."""
    return bool(figure.borrowed), abs(math.log(figure.budget_ns / budget_ns))


def _cut(figure: Figure, fewest_cycles: int, budget_ns: float) -> Figure:
    """The work of a core divided into as many stages as the budget asks for."""
    work = (figure.cycles + 1) * figure.first_ns
    stages = max(fewest_cycles + 1, math.ceil(work / (FULL * budget_ns)))
    stage = round(min(work / stages, FULL * budget_ns), 3)
    return replace(
        figure, cycles=stages - 1, first_ns=stage, last_ns=stage, low_ns=stage, count=0, repositories=0
    )


def core_timing(figure: Figure, budget_ns: float = math.inf) -> Timing:
    """When the result of a core is there."""
    return Timing(
        cycles=figure.cycles,
        first_ns=min(figure.first_ns, budget_ns),
        last_ns=min(figure.last_ns, budget_ns),
    )
