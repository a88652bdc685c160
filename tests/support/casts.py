"""What tests of casts share: types and codes, and what a cast does besides its codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from hlsgen.base.fixed import Codes, FixedType
from hlsgen.base.overflow_count import counting_overflow


def overflowing(type_: FixedType, codes: Codes, source: FixedType) -> int:
    """How many codes of `source` are beyond the range of `type_` once rounded, as casts tell it."""
    with counting_overflow() as found:
        type_.cast(codes, source)
    return sum(one.outside for one in found.values())


def ufixed(width: int, integer: int) -> FixedType:
    return FixedType(width, integer, signed=False)


# For these all 35 pairs of modes are compared, for the others below one overflow mode per rounding.


def as_array(codes: list[int], kind: FixedType) -> Any:
    return np.array(codes, dtype=np.int64 if kind.max_code < 2**63 else object)
