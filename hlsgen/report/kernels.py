"""The kernels of a layer whose instances differ in folding, as reports have them. All modelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from hlsgen.report.cells import CellsByTarget
from hlsgen.report.figures import Banks, Folding, Memory
from hlsgen.report.section import Count, Number, Rows, Section, Some, Text, Texts
from hlsgen.report.tables import KIND_HEADS, kind_cells


@dataclass(frozen=True, kw_only=True)
class KernelFigures(Section):
    """A kernel and its instances, of which each takes the resources here.

    kernel: the C++ function. frames_share: the part of a large batch that all its instances take. slrs: of
    each instance. cells: LUTs and FFs without what lies outside of the kernel.
    """

    kernel: Text
    folding: Folding
    instances: Some
    slrs: Texts
    frames_share: Number
    interval_cycles: Some
    latency_cycles: Count
    dsp: Count
    bram18: Count
    uram: Count
    lut: Count
    ff: Count
    cells: CellsByTarget
    banks: Banks
    memories: Annotated[tuple[Memory, ...], Rows]

    @property
    def text(self) -> str:
        """Its instances and their folding in words."""
        return f"{self.instances} of {folding_line(self.folding)}"


KERNEL_HEADS = (
    "kernel",
    "instances",
    "rows x PE x SIMD",
    "in LUTs",
    "cycles a frame",
    "of the frames",
    *KIND_HEADS,
)


def kernel_rows(kernels: tuple[KernelFigures, ...]) -> list[tuple[str, ...]]:
    """The cells of each kernel, below KERNEL_HEADS; resources are those of one instance."""
    return [
        (
            one.kernel,
            f"{one.instances:,}",
            f"{one.folding.rows} x {one.folding.pe} x {one.folding.simd}, {one.folding.algorithm}",
            f"{one.folding.fabric_pe} of {one.folding.pe} PE",
            f"{one.interval_cycles:,}",
            f"{one.frames_share:.1%}",
            *kind_cells(one),
        )
        for one in kernels
    ]


def folding_line(folding: Folding) -> str:
    """A convolution's folding in a line."""
    return (
        f"{folding.macs_per_cycle} multiply-accumulates a cycle (rows {folding.rows}, "
        f"PE {folding.pe}, SIMD {folding.simd}, {folding.arithmetic}, {folding.algorithm})"
    )
