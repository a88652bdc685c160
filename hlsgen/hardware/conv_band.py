"""The band of rows that a convolution keeps on chip: its offset banks and their memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from hlsgen.hardware.banks import BankMap, Pattern, map_banks
from hlsgen.hardware.storage import Memory, choose_storage
from hlsgen.hardware.wave import Wave
from hlsgen.layers.conv2d import Conv2d
from hlsgen.targets.board import Board

MOST_EXTRA_SLOTS = 16
"""Row slots beyond the fewest that are tried: more slots can mean fewer banks."""


def access_patterns(wave: Wave, in_lanes: int) -> tuple[Pattern, ...]:
    """What the band's read ports and its write ports serve in one iteration."""
    return (
        Pattern.grid("wave", wave.row_offsets, wave.columns_read),
        Pattern.grid("fill", (0,), in_lanes),
    )


def cheapest_band(wave: Wave, simd: int, in_lanes: int, board: Board) -> BankMap:
    """The bank map whose memory is cheapest, over the number of row slots."""
    fewest = max(wave.slots_needed, wave.row_offsets[-1] + 1)
    return _cheapest(access_patterns(wave, in_lanes), fewest, Band.of(wave.layer, simd), board)


@dataclass(frozen=True, kw_only=True)
class Band:
    """What is kept of each row: `width` columns, `words` a column in each of `simd` memories."""

    width: int
    words: int
    bits: int
    simd: int

    @classmethod
    def of(cls, layer: Conv2d, simd: int) -> Band:
        channels, _, width = layer.in_shape
        return cls(width=width, words=channels // simd, bits=layer.input_type.width, simd=simd)

    def memory(self, bank_map: BankMap, board: Board) -> Memory:
        depth = bank_map.slots * self.words * -(-self.width // bank_map.banks)
        # one word deep would be a register, but the band is indexed
        return choose_storage("band", max(2, depth), self.bits, self.simd * bank_map.banks, board)


@lru_cache(maxsize=4096)
def _cheapest(patterns: tuple[Pattern, ...], fewest: int, band: Band, board: Board) -> BankMap:
    """fewest: row slots, of which some more may need fewer banks."""
    best: tuple[float, bool, int, int] | None = None
    chosen: BankMap | None = None
    for slots in range(fewest, fewest + min(fewest, MOST_EXTRA_SLOTS) + 1):
        found = _fewest_banks(patterns, slots)
        if found is None:
            continue
        memory = band.memory(found, board)
        share = max(
            memory.bram18 / board.total.bram18,
            memory.lut / board.total.lut,
            memory.uram / max(1, board.total.uram),
        )
        merit = share, found.step is None, found.banks, slots
        if best is None or merit < best:
            best, chosen = merit, found
    assert chosen is not None, "slots beyond the reach of the wave always have a map"
    return chosen


@lru_cache(maxsize=4096)
def _fewest_banks(patterns: tuple[Pattern, ...], slots: int) -> BankMap | None:
    return map_banks(patterns, slots)
