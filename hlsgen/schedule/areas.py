"""LUT, FF, DSP and BRAM18 that the tool counts (csynth) for operations, and what is left when routed.

Memories, FIFOs and registers are counted by the terms of hlsgen/targets/terms.py, as in the cost model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hlsgen.cost.published_cores import address_bits, fifo_term
from hlsgen.cost.resources import Resources, cells, memory_resources
from hlsgen.hardware.storage import Memory, bram18_for, uram_for
from hlsgen.layers.float_cores import HALF_CORES
from hlsgen.schedule.area_figures import AREAS, AreaFigure, between, figures_of, routed_share
from hlsgen.schedule.cores import ALWAYS_FABRIC, DSP_ALONE_UNTIL, LIKE, dsp_of
from hlsgen.schedule.delays import FLOATS, Delays
from hlsgen.schedule.memories import SMALL_BITS
from hlsgen.schedule.operation import DIVISIONS, SHIFTS, Operation
from hlsgen.targets.terms import Terms, packaged_terms

SMALL_SUMS = {1: 2, 2: 9, 3: 10, 4: 12}
"""LUTs of sums and comparisons of few bits; from 5 bits on one a bit, and 7."""
SUM_OVERHEAD = 7
TILE = 17
"""Bits of a product in a DSP, without its sign."""
PRODUCT_IN_DSP = 5
"""LUTs beside the DSPs of a product."""
HALF_OF_TERNARY = {8: 19, 12: 17, 14: 16}
"""LUTs of each half of a sum of three words, where that is more than its bits."""


@dataclass(frozen=True, kw_only=True)
class RatePerBit:
    """Cells that grow with the bits of a word."""

    lut: float
    ff: float


SHALLOW_FIFO = Resources(lut=67, ff=99)
"""Of all depths up to 10 words and all widths up to 64 bits that were seen, but on cards."""
CARDS_SINCE = 2021.1
CARD_SMALL_BITS, CARD_SMALL_WORDS = 4096, 256
"""Banks of no more are LUTs on cards: 128 x 32 is, 160 x 32 and 512 x 8 are not. Elsewhere 64 x 15 is and
64 x 16 is not."""
SLOW_DIVISION = RatePerBit(lut=49 / 9, ff=119 / 9)
"""Of a core named `_seq`, by the one width that was seen."""
SLOW_DIVISIONS_SINCE = 2021.1
ADAPTERS = (
    (2023.1, Resources(lut=770, ff=850, bram18=4)),
    (2022.2, Resources(lut=1044, ff=727)),
    (2021.1, Resources(lut=1390, ff=740)),
    (0.0, Resources(lut=580, ff=512, bram18=2)),
)
"""AXI adapters by the first release that has them so."""
LITE_PORT = Resources(lut=40, ff=36)
LITE_FLAGS = 6
HALF_BITS = 16
HALF_TERMS = {"fmul": (HALF_CORES.terms[0], ""), "fadd": HALF_CORES.terms[1:]}
"""The terms of cores of half numbers with DSPs and without; the other operations count as single."""
SQUARE = {"fdiv", "sqrt"}
"""Cores whose cells grow with the square of the width of a word."""


@dataclass(frozen=True, kw_only=True)
class RoutedCells:
    """LUT and FF of a routed design, with the range that public designs span."""

    lut: int
    ff: int
    lut_low: int
    lut_high: int
    ff_low: int
    ff_high: int


@dataclass(frozen=True, kw_only=True)
class Areas:
    """The cells of operations on the part, in the release and at the clock of `delays`."""

    delays: Delays
    terms: Terms = field(default_factory=lambda: packaged_terms().of("csynth"))
    figures: Path = AREAS

    def operation(self, operation: Operation, *, fabric: bool = False) -> Resources:
        """An operation that is not merged into a DSP or a ternary sum; LUT groups count each of theirs.

        fabric: of a floating-point core, that it may use no DSP.
        """
        kind, width = operation.kind, operation.result
        if kind in ("add", "sub"):
            return Resources(lut=_sum_luts(width))
        if kind == "icmp":
            return Resources(lut=self._comparison(max(operation.widths)))
        if kind in ("and", "or", "xor", "select", "fneg"):
            return Resources(lut=max(2, width))
        if kind in SHIFTS:
            return (
                Resources() if operation.constants else self._by_size("shift", max(*operation.widths, width))
            )
        if kind == "mux":
            return self.mux(len(operation.widths))
        if kind == "register_write":
            return self.mux(max(2, len(operation.widths)))
        if kind == "mul":
            return self._product(operation)
        if kind in DIVISIONS:
            return self._by_size("divide", max(operation.widths))
        if kind in FLOATS or kind in LIKE:
            name = FLOATS.get(kind) or LIKE[kind]
            if name in HALF_TERMS and max(*operation.widths, width) <= HALF_BITS:
                return self._half(name, fabric=fabric)
            return self._float(
                operation, f"{name}_nodsp" if fabric and self._figures(f"{name}_nodsp") else name
            )
        return Resources()

    def uncounted(self, operation: Operation) -> Resources:
        """What csynth leaves out of an operation though it is there when routed: it counts nothing for cores
        of division, comparison, roots and conversions in floating point.
        """
        name = FLOATS.get(operation.kind) or LIKE.get(operation.kind, "")
        counted = self.operation(operation)
        if not name or counted.lut or counted.ff:
            return Resources()
        bits = 64 if max((*operation.widths, operation.result)) > 32 else 32
        netlists = self._figures(f"{NETLIST_OF.get(name, name)}_netlist")
        if not netlists:
            return Resources()
        nearest = min(netlists, key=lambda one: abs(one.size - bits))
        growth = (bits / nearest.size) ** (2 if name in SQUARE else 1)
        return Resources(lut=round(nearest.lut * growth), ff=round(nearest.ff * growth))

    def ternary_half(self, width: int) -> Resources:
        """Each of the two sums that together add three words."""
        least = next((luts for below, luts in HALF_OF_TERNARY.items() if width <= below), 0)
        return Resources(lut=max(width, least))

    def product_in_fabric(self, operation: Operation) -> Resources:
        """A product that may use no DSP."""
        if min(operation.widths) == 1:
            return self._product(operation)
        return self._by_size("multiplier", max(operation.widths))

    def product_in_sum(self) -> Resources:
        """A product together with the sum that it shares a DSP with."""
        return Resources(dsp=1)

    def mux(self, inputs: int) -> Resources:
        """A choice of one of `inputs` words of any width: a phi, a register's writers, a port's addresses."""
        return self._by_size("mux", inputs) if inputs > 1 else Resources()

    def register(self, bits: int) -> Resources:
        """Bits that are alive from one cycle to the next."""
        return Resources(ff=bits)

    def memory(self, memory: Memory) -> Resources:
        return memory_resources(self.terms, memory)

    def fifo(self, depth: int, bits: int) -> Resources:
        """A stream between processes."""
        name = fifo_term(depth, bits)
        taken = cells(self.terms, name, one=1, bits=bits, address=address_bits(depth))
        return taken + Resources(bram18=bram18_for(depth, bits) if name == "fifo_block" else 0)

    def array(self, depth: int, bits: int, storage: str, reads: int) -> Resources:
        """A bank of `depth` words in memory (`storage`: bram, lutram or uram) that is read at `reads` ports.

        csynth has the best fitting blocks of LUTs for cards, 64 words a LUT on average for other parts.
        """
        if storage == "uram":
            return Resources(uram=uram_for(depth, bits))
        if storage != "lutram":
            return Resources(bram18=bram18_for(depth, bits))
        luts = 1 + bits * -(-depth // 64) if self._is_card else -(-depth * bits // 64)
        return Resources(lut=luts, ff=bits * reads)

    def chosen_storage(self, depth: int, bits: int) -> str:
        """Where the tool puts a bank that no pragma is about."""
        if self._is_card:
            small = depth * bits <= CARD_SMALL_BITS and depth <= CARD_SMALL_WORDS
        else:
            small = depth * bits < SMALL_BITS
        return "lutram" if small else "bram"

    def stream(self, depth: int, bits: int) -> Resources:
        """A FIFO between processes; shallow ones are all alike in reports but those of cards."""
        if self._is_card or fifo_term(depth, bits) == "fifo_block":
            return self.fifo(depth, bits)
        return SHALLOW_FIFO

    def axi_adapter(self, bits: int) -> Resources:
        """The adapter of an AXI port of words of `bits` bits."""
        version = self.delays.library.version
        return next(taken for since, taken in ADAPTERS if version >= since)

    def division_alone(self, operation: Operation) -> Resources:
        """A division that nothing follows before it is done: it has one stage for all of its bits."""
        if self.delays.library.version < SLOW_DIVISIONS_SINCE:
            return self.operation(operation)
        bits = max(operation.widths)
        return Resources(lut=round(SLOW_DIVISION.lut * bits), ff=round(SLOW_DIVISION.ff * bits))

    def registers_of_host(self, arguments: Sequence[int]) -> Resources:
        """The AXI-lite port, with a register for each argument of so many bits."""
        bits = sum(arguments)
        return LITE_PORT + Resources(lut=2 * bits, ff=bits + LITE_FLAGS * len(arguments))

    @property
    def _is_card(self) -> bool:
        library = self.delays.library
        return library.speed.family == "virtexuplus" and library.version >= CARDS_SINCE

    def routed(self, counted: Resources, uncounted: Resources | None = None) -> RoutedCells:
        """What is left of a whole design when routed, by public designs; `uncounted` is added as it is."""
        lut, ff = routed_share("lut"), routed_share("ff")
        more = uncounted or Resources()
        return RoutedCells(
            lut=round(counted.lut * lut.factor) + more.lut,
            ff=round(counted.ff * ff.factor) + more.ff,
            lut_low=round(counted.lut * lut.low) + more.lut,
            lut_high=round(counted.lut * lut.high) + more.lut,
            ff_low=round(counted.ff * ff.low) + more.ff,
            ff_high=round(counted.ff * ff.high) + more.ff,
        )

    def _figures(self, operation: str) -> tuple[AreaFigure, ...]:
        library = self.delays.library
        return figures_of(operation, library.speed.family, library.version, self.figures)

    def _by_size(self, operation: str, size: int) -> Resources:
        found = self._figures(operation)
        return Resources(lut=round(between(found, size, "lut")), ff=round(between(found, size, "ff")))

    def _comparison(self, width: int) -> int:
        older = self._figures("icmp")
        return round(between(older, width, "lut")) if older else _sum_luts(width)

    def _product(self, operation: Operation) -> Resources:
        wide, narrow = max(operation.widths), min(operation.widths)
        if narrow == 1:
            return Resources(lut=max(2, operation.result))
        if wide <= ALWAYS_FABRIC:
            return self._by_size("multiplier", wide)
        timing = self.delays.timing(operation)
        dsp = dsp_of(self.delays.library)
        dsps = min(dsp.blocks(wide, narrow), _low_tiles(wide, narrow, operation.result))
        alone = self.delays.library.version <= DSP_ALONE_UNTIL and dsps == 1
        if not timing.cycles or dsps == 1:  # a single DSP has all its registers inside
            return Resources(dsp=dsps, lut=0 if alone else PRODUCT_IN_DSP * dsps)
        return Resources(dsp=dsps) + self._by_size("multiplier_half", wide)

    def _half(self, name: str, *, fabric: bool) -> Resources:
        """The half core by the terms of the cost model: no report that these figures are made of has one."""
        in_dsp, in_fabric = HALF_TERMS[name]
        if fabric and in_fabric:
            return cells(self.terms, in_fabric, one=1)
        dsp = HALF_CORES.multiplier_dsp if name == "fmul" else HALF_CORES.adder_dsp
        return Resources(dsp=dsp) + cells(self.terms, in_dsp, one=1)

    def _float(self, operation: Operation, name: str) -> Resources:
        """The core with the nearest number of cycles, of numbers of the same width if there is one."""
        bits = 64 if max((*operation.widths, operation.result)) > 32 else 32
        found = self._figures(name)
        if not found:
            return Resources()
        same = [one for one in found if one.size == bits] or list(found)
        cycles = self.delays.timing(operation).cycles
        nearest = min(same, key=lambda one: (abs(one.cycles - cycles), one.cycles))
        return Resources(dsp=nearest.dsp, lut=nearest.lut, ff=nearest.ff)


NETLIST_OF = {"sqrt": "fdiv", "rsqrt": "fdiv", "fptrunc": "fpext"}
"""Cores that no report of an older release counts, and one of about the same size."""


def _low_tiles(wide: int, narrow: int, result: int) -> int:
    """Products of 17 bits that the low bits of a product are made of: 3 for 32 of 32 x 32 bits, 10 for 64 of
    64 x 64."""
    return sum(
        TILE * (at + other) < result for at in range(-(-wide // TILE)) for other in range(-(-narrow // TILE))
    )


def _sum_luts(width: int) -> int:
    return SMALL_SUMS.get(width, width + SUM_OVERHEAD)
