"""The macros that the vendor's tool defines for every kernel, by the 3,100 compilations in public logs.

hls4ml's tables are local where `__HLS_SYN__` is defined, and statics where it is not.
"""

from __future__ import annotations

from collections.abc import Mapping

from hlsgen.schedule.releases import release_of
from hlsgen.schedule.speed import UNKNOWN, speed_of

ALWAYS = {"__SYNTHESIS__": "1", "__HLS_SYN__": "1", "AESL_SYN": "1", "NDEBUG": "1"}
"""Without asserts, of which a schedule takes nothing."""
FIRST_VITIS = (2020, 2)
"""Vivado HLS before it does not call itself `__VITIS_HLS__`."""
_SLICES = {"versal": "__DSP58_PRIMARY__"} | dict.fromkeys(
    ("zynq", "artix7", "kintex7", "virtex7"), "__DSP48E1__"
)


def predefined_macros(part: str = UNKNOWN, version: str = "") -> Mapping[str, str]:
    """The macros for a part and a release; of the newest one if none is named."""
    macros = {**ALWAYS, _SLICES.get(speed_of(part).family, "__DSP48E2__"): "1"}
    if not version or release_of(version) >= FIRST_VITIS:
        macros["__VITIS_HLS__"] = "1"
    return macros
