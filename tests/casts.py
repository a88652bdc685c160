"""What a cast does besides its codes."""

from __future__ import annotations

from hlsgen.base.excess import counting_excess
from hlsgen.base.fixed import Codes, FixedType


def overflowing(type_: FixedType, codes: Codes, source: FixedType) -> int:
    """How many codes of `source` are beyond the range of `type_` once rounded, as casts tell it."""
    with counting_excess() as found:
        type_.cast(codes, source)
    return sum(one.outside for one in found.values())
