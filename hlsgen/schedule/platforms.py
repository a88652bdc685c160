"""The part and the clock of a Vitis platform that a configuration names in place of a part."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hlsgen.targets.board import list_boards
from hlsgen.targets.device_family import BOARDS_WITHOUT_A_FILE

ALVEO_MHZ = 300.0
"""The kernels' clock of Alveo platforms, if nothing else is asked for (their default_300mhz clocks)."""
_CARD = re.compile(r"^(?:xilinx|amd)_([a-z]+\d+[a-z]?)_", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Platform:
    """clock_mhz: None where it is not known, as of embedded platforms, whose versions differ in it."""

    part: str
    clock_mhz: float | None


def platform_named(text: str) -> Platform | None:
    """The platform of a name or an .xpfm file, as xilinx_u250_gen3x16_xdma_4_1_202210_1: that of the board
    whose card it names; None if none is known."""
    card = _CARD.match(re.split(r"[/\\]", text.strip())[-1])
    if card is None:
        return None
    parts = {
        found[1].lower(): board.part for board in list_boards() if (found := _CARD.match(board.platform))
    }
    part = (BOARDS_WITHOUT_A_FILE | parts).get(card[1].lower())
    if part is None:
        return None
    return Platform(part=part, clock_mhz=ALVEO_MHZ if part.startswith("xcu") else None)
