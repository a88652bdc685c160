"""The roofline of a design as report.json has it: what multipliers and DDR allow, and what is reached.

After Williams, Waterman and Patterson, "Roofline" (CACM 2009): operations a second are at most those of the
multipliers, and at most the operations for each byte from DDR times the bytes a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated

from hlsgen.designfile.validation import Entries
from hlsgen.layers.packing import QUAD
from hlsgen.layers.stage import Stage
from hlsgen.report.section import Count, Number, Positive, Section, Text
from hlsgen.search.board_limits import usable
from hlsgen.targets.board import Board


@dataclass(frozen=True, kw_only=True)
class Ceiling(Section):
    """What some multipliers would do if all of them worked in every cycle."""

    name: Text
    gops: Positive
    basis: Text


@dataclass(frozen=True, kw_only=True)
class Roofline(Section):
    """What DDR and multipliers allow, and what is reached. The last ceiling is the design's own."""

    ops_per_byte: Number
    frame_bytes: Count
    ddr_gb_per_s: Positive
    ddr_basis: Text
    ceilings: Annotated[tuple[Ceiling, ...], Entries(1, 10)]
    attainable_gops: Number
    achieved_gops: Number
    kind: Text = "modelled"


def dsp_ceiling(board: Board, clock_mhz: float, *, products: int, dsps: int) -> Ceiling:
    """All usable DSPs of the board, where `dsps` of them make `products` products a cycle."""
    total = sum(usable(slr, board).dsp for slr in board.slrs)
    counted = "one product" if products == 1 else f"{products} products"
    each = f"{counted} a DSP" if dsps == 1 else f"{counted} for {dsps} DSPs"
    return Ceiling(
        name=f"usable DSPs, {each}",
        gops=2 * total // dsps * products * clock_mhz / 1e3,
        basis=f"{total:,} usable DSPs of the board, {each}, two operations a product, {clock_mhz:g} MHz",
    )


def stage_ceilings(stages: Iterable[Stage], board: Board, clock_mhz: float) -> tuple[Ceiling, ...]:
    """The DSPs with one product each, and with two or four if any of the stages packs so many."""
    kinds = {one.fold.multipliers for one in stages}
    packed = [products for kind, products in (("packed", 2), ("quad", QUAD)) if kind in kinds]
    return tuple(dsp_ceiling(board, clock_mhz, products=products, dsps=1) for products in (1, *packed))


def built_ceiling(kernels: Iterable[tuple[int, int]], clock_mhz: float) -> Ceiling:
    """The multipliers that are built, in DSPs or in logic cells.

    kernels: of each the products a cycle of an instance, and how many instances there are.
    """
    found = list(kernels)
    if len(found) == 1:
        products, instances = found[0]
        basis = f"{products:,} products a cycle and instance, all of them busy, {instances} in all"
    else:
        parts = " and ".join(f"{instances} instances of {products:,}" for products, instances in found)
        basis = f"{parts} products a cycle, all of them busy"
    return Ceiling(
        name="multipliers built",
        gops=2 * sum(products * instances for products, instances in found) * clock_mhz / 1e3,
        basis=f"{basis}, {clock_mhz:g} MHz",
    )


def roofline_figures(
    *, ceilings: tuple[Ceiling, ...], gops: float, macs: int, frame_bytes: int, ddr_gb_per_s: float
) -> Roofline | None:
    """The section `roofline`; None if there is nothing to multiply, or no DDR is used.

    The last ceiling is the design's own. ddr_gb_per_s: of the banks in use.
    """
    if not macs or not frame_bytes:
        return None
    intensity = 2 * macs / frame_bytes
    return Roofline(
        ops_per_byte=round(intensity, 3),
        frame_bytes=frame_bytes,
        ddr_gb_per_s=round(ddr_gb_per_s, 3),
        ddr_basis="peak rate of the DDR banks in use times the efficiency of long bursts",
        ceilings=tuple(replace(one, gops=round(one.gops, 3)) for one in ceilings),
        attainable_gops=round(min(ceilings[-1].gops, intensity * ddr_gb_per_s), 3),
        achieved_gops=round(gops, 3),
    )
