"""Which FPGA family a part belongs to, by its name: what is counted and packed is that of one kind of DSP.

hlsgen's arithmetic is the DSP48E2's (UG579): 27 x 18 bits, so that two weights lie beside each other in the
wide port. A DSP48E1 of the 7 series multiplies 25 x 18 (UG479), a DSP58 of Versal 27 x 24 (AM004): there
counts, packing and host programs would be wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Family:
    """Parts whose names begin like `pattern`; `dsp` is what they have, `has_uram` whether any has URAM."""

    name: str
    pattern: str
    dsp: str
    has_uram: bool = False


FAMILIES = (
    # XC is commercial, XA automotive, XQ defence grade
    Family(name="Zynq UltraScale+", pattern=r"x[caq]zu\d", dsp="DSP48E2", has_uram=True),
    Family(name="Alveo UltraScale+", pattern=r"xcu\d", dsp="DSP48E2", has_uram=True),
    Family(name="Kria UltraScale+", pattern=r"x[caq]k2[46]", dsp="DSP48E2", has_uram=True),
    Family(name="Virtex UltraScale+", pattern=r"x[caq]vu\d+p", dsp="DSP48E2", has_uram=True),
    Family(name="Kintex UltraScale+", pattern=r"x[caq]ku\d+p", dsp="DSP48E2", has_uram=True),
    Family(name="Artix UltraScale+", pattern=r"x[caq]au\d+p", dsp="DSP48E2", has_uram=True),
    Family(name="UltraScale", pattern=r"x[caq][kv]u\d+", dsp="DSP48E2"),
    Family(name="Zynq-7000", pattern=r"x[caq]7z", dsp="DSP48E1"),
    Family(name="7 series", pattern=r"x[caq]7", dsp="DSP48E1"),
    Family(name="Versal", pattern=r"x[caq]v[cmehpr]\d|xcv80", dsp="DSP58", has_uram=True),
)
"""The families, in the order in which they are looked at."""
MODELLED_DSP = "DSP48E2"
MULTIPLIERS = {"DSP48E2": "27 x 18", "DSP48E1": "25 x 18", "DSP58": "27 x 24"}

UNMODELLED_BOARDS = {
    "pynq_z1": "xc7z020clg400-1",
    "pynq_z2": "xc7z020clg400-1",
    "vck190": "xcvc1902-vsva2197-2MP-e-S",
    "vek280": "xcve2802-vsvh1760-2MP-e-S",
    "zc702": "xc7z020clg484-1",
    "zc706": "xc7z045ffg900-2",
    "zedboard": "xc7z020clg484-1",
    "zybo": "xc7z010clg400-1",
}
"""Well-known boards with another DSP, and their parts: FINN src/finn/util/basic.py (pynq_z1, pynq_z2, vck190,
vek280), board_info.json of AIT 8.1.0 (the others).
"""


def family_of(part: str) -> Family | None:
    """The family of a part such as xczu9eg-ffvb1156-2-e, or None."""
    return next((one for one in FAMILIES if re.match(one.pattern, part.lower())), None)
