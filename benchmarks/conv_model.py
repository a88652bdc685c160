"""The layer of figure 3.8 as hlsgen models it on the boards, and as TEXTAROSSA D4.8 published it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from machine import DESIGNS

import hlsgen
from hlsgen.cost.resources import Resources
from hlsgen.search.board_limits import KINDS, usable

PRECISIONS = {"conv": "fp32", "conv_fixed16": "fixed16", "conv_int8": "int8"}
CLOCK_MHZ = 300.0
TARGETS = {
    ("conv", "u200"): 500.0,
    ("conv_fixed16", "u200"): 2000.0,
    ("conv_int8", "u200"): 4000.0,
    ("conv", "zcu102"): 200.0,
    ("conv_fixed16", "zcu102"): 700.0,
    ("conv_int8", "zcu102"): 1400.0,
}
"""GOPS to reach, by design and board."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """What D4.8 says of its pipelined design, or what follows from that."""

    source: str = "TEXTAROSSA deliverable D4.8, section 3.6 and table 3.1"
    board: str = "u200"
    clock_mhz: float = CLOCK_MHZ
    instances: int = 10
    resources: Resources = Resources(bram18=3378, dsp=462, ff=425_818, lut=335_165, uram=17)
    """LUT: 28.35 % of 1,182,240. The table's own number repeats its FF."""
    macs_per_cycle: int = 9
    """Of an instance; derived: 46 DSP are 9 fp32 multipliers and adders, of 5 DSP each."""

    @property
    def gflops_at_most(self) -> float:
        """If every instance multiplied in every cycle; not a measurement of D4.8."""
        return 2 * self.macs_per_cycle * self.instances * self.clock_mhz / 1e3


PUBLISHED = Published()
NAIVE_FPGA_GFLOPS = 0.2 / 9
"""D4.8's FPGA version without optimisation: one operation every 9 cycles at 200 MHz."""


@dataclass(frozen=True, kw_only=True)
class Region:
    """An SLR: what the design uses there, and the board's usable share of it."""

    name: str
    instances: int
    used: Resources
    usable: Resources

    @property
    def within(self) -> bool:
        return all(getattr(self.used, kind) <= getattr(self.usable, kind) for kind in KINDS)


@dataclass(frozen=True, kw_only=True)
class Modelled:
    """A design on a board, as the cost model has it. `gops` is the steady state's.

    proven: whether the bank map that all instances share has no collision at any anchor, tried one by one.
    """

    design: str
    board: str
    precision: str
    clock_mhz: float
    gops: float
    batch: int
    batch_gops: float
    target: float
    instances: int
    resources: Resources
    binds: str
    regions: tuple[Region, ...]
    proven: bool

    @property
    def less_memory(self) -> bool:
        return self.resources.bram18 < PUBLISHED.resources.bram18

    @property
    def within(self) -> bool:
        """Whether no SLR is filled beyond its usable share."""
        return all(region.within for region in self.regions)

    @property
    def reached(self) -> bool:
        """Steady state and batch reach the target; fp32 on the U200 also with less BRAM than published."""
        fast = min(self.gops, self.batch_gops) >= self.target
        comparable = (self.precision, self.board) == ("fp32", PUBLISHED.board)
        return fast and (self.less_memory or not comparable)

    def as_json(self) -> dict[str, Any]:
        regions = [{**asdict(region), "within": region.within} for region in self.regions]
        return {
            "kind": "modelled",
            **asdict(self),
            "regions": regions,
            "within": self.within,
            "reached": self.reached,
        }


@lru_cache
def modelled(design: str, board: str) -> Modelled:
    """The figures of designs/<design>.yaml on `board`; nothing is compiled or run."""
    loaded = hlsgen.load(DESIGNS / f"{design}.yaml", board=board)
    deployment = loaded.style.hardware.deployment
    placed = [instance.slr for instance in deployment.instances]
    return Modelled(
        design=design,
        board=board,
        precision=PRECISIONS[design],
        clock_mhz=deployment.clock_mhz,
        gops=deployment.gops,
        batch=deployment.batch,
        batch_gops=deployment.batch_gops,
        target=TARGETS[design, board],
        instances=len(placed),
        resources=deployment.total,
        binds=deployment.bottleneck,
        regions=tuple(
            Region(
                name=slr.name,
                instances=placed.count(slr.name),
                used=deployment.used_in(slr.name),
                usable=usable(slr, deployment.board),
            )
            for slr in deployment.board.slrs
        ),
        proven=all(one.mapping.bank_map.proves(one.mapping.patterns) for one in deployment.kernels),
    )
