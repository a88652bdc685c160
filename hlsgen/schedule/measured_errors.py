"""How far schedules were off on public designs that the method was not made with (docs/schedule.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class MeasuredErrors:
    """Of loops in reports of Vitis HLS: shares in %, errors where the II is right, absolute.

    ii_decided: of all loops; ii_right: of those decided; one_right: of those of which II 1 is said;
    above_right: of the `above` loops of which a larger one is. median, within_90: what half, and 90 %, of the
    loops stay within.
    """

    loops: int
    repositories: int
    ii_decided: int
    ii_right: int
    one_right: int
    above_right: int
    above: int
    depth_median: int
    depth_within_90: int
    chain_ns_median: float
    chain_ns_within_90: float

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"measured on {self.loops} loops of {self.repositories} public repositories that it was not made "
            f"with: the II decided in {self.ii_decided} % and right in {self.ii_right} % of these (in "
            f"{self.one_right} % where it is 1, in {self.above_right} % of {self.above} where it is more); "
            f"where right, the depth is off by {self.depth_median} in the median and by up to "
            f"{self.depth_within_90} in 90 %, the chain by {self.chain_ns_median:g} and "
            f"{self.chain_ns_within_90:g} ns"
        )


HELD_OUT = MeasuredErrors(
    loops=1791,
    repositories=287,
    ii_decided=76,
    ii_right=90,
    one_right=95,
    above_right=68,
    above=252,
    depth_median=0,
    depth_within_90=5,
    chain_ns_median=0.19,
    chain_ns_within_90=1.67,
)
"""The eighth and the tenth to the twenty-fourth score of repositories that nobody had looked at, each with
the method as it was frozen for it: loops added up. Depth and chain: of the loops of the eighteenth to the
twentieth whose II was right and of which they are told."""
