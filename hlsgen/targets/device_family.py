"""Which FPGA family a part belongs to, by its name, and what its DSPs multiply.

A DSP48E2 of UltraScale+ multiplies 27 x 18 bits (UG579), so that two weights of eight bits lie beside each
other in the wide port; a DSP48E1 of the 7 series 25 x 18 (UG479), where two of seven bits do. Both add in 48.
A DSP58 of Versal multiplies 27 x 24 (AM004) and has other modes: there counts and packing would be wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Dsp:
    """A kind of DSP block: the bits of its multiplier's signed operands."""

    name: str
    wide: int
    narrow: int

    def __str__(self) -> str:
        return self.name

    @property
    def multiplier(self) -> str:
        return f"{self.wide} x {self.narrow}"

    def blocks(self, a: int, w: int) -> int:
        """How many a signed product of a x w bits takes: tiles of both ports, all but the first of each a bit
        narrower, since they have no sign.
        """
        wide, narrow = self.wide - 1, self.narrow - 1
        return min(-(-max(1, x - 1) // wide) * -(-max(1, y - 1) // narrow) for x, y in ((a, w), (w, a)))


DSP48E2 = Dsp(name="DSP48E2", wide=27, narrow=18)
DSP48E1 = Dsp(name="DSP48E1", wide=25, narrow=18)
DSP58 = Dsp(name="DSP58", wide=27, narrow=24)
MODELLED = (DSP48E2, DSP48E1)
"""What hlsgen counts and packs products for."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """Parts whose names begin like `pattern`; `dsp` is what they have, `has_uram` whether any has URAM."""

    name: str
    pattern: str
    dsp: Dsp
    has_uram: bool = False


FAMILIES = (
    # XC is commercial, XA automotive, XQ defence grade
    Family(name="Zynq UltraScale+", pattern=r"x[caq]zu\d", dsp=DSP48E2, has_uram=True),
    Family(name="Alveo UltraScale+", pattern=r"xcu\d", dsp=DSP48E2, has_uram=True),
    Family(name="Kria UltraScale+", pattern=r"x[caq]k2[46]", dsp=DSP48E2, has_uram=True),
    Family(name="Virtex UltraScale+", pattern=r"x[caq]vu\d+p", dsp=DSP48E2, has_uram=True),
    Family(name="Kintex UltraScale+", pattern=r"x[caq]ku\d+p", dsp=DSP48E2, has_uram=True),
    Family(name="Artix UltraScale+", pattern=r"x[caq]au\d+p", dsp=DSP48E2, has_uram=True),
    Family(name="UltraScale", pattern=r"x[caq][kv]u\d+", dsp=DSP48E2),
    Family(name="Zynq-7000", pattern=r"x[caq]7z", dsp=DSP48E1),
    Family(name="7 series", pattern=r"x[caq]7", dsp=DSP48E1),
    Family(name="Versal", pattern=r"x[caq]v[cmehpr]\d|xcv80", dsp=DSP58, has_uram=True),
)
"""The families, in the order in which they are looked at."""

BOARDS_WITHOUT_A_FILE = {
    "vck190": "xcvc1902-vsva2197-2MP-e-S",
    "vek280": "xcve2802-vsvh1760-2MP-e-S",
    "zc702": "xc7z020clg484-1",
    "zc706": "xc7z045ffg900-2",
    "zedboard": "xc7z020clg484-1",
    "zybo": "xc7z010clg400-1",
}
"""Well-known boards that boards/ has no file of, and their parts: FINN src/finn/util/basic.py (vck190,
vek280), board_info.json of AIT 8.1.0 (the others).
"""


def family_of(part: str) -> Family | None:
    """The family of a part such as xczu9eg-ffvb1156-2-e, or None."""
    return next((one for one in FAMILIES if re.match(one.pattern, part.lower())), None)
