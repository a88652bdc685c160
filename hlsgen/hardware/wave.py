"""The front wave: which rows and columns of the input one iteration reads, and which rows a tile needs.

Seed of the idea: a column of the window is read at a time and the older columns stay in registers, so that an
iteration reads (rows x stride) new elements a channel instead of a whole window.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.hardware.banks import BankMap
from hlsgen.layers.conv2d import Conv2d

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Wave:
    """The access pattern of `layer` computed `rows` output rows at a time.

    Rows and columns are input coordinates; row 0 is the first row of the image, padding rows are negative or
    past the end. A tile is `rows` output rows; tile t begins at input row t * tile_step - padding_top.
    """

    layer: Conv2d
    rows: int

    @cached_property
    def tiles(self) -> int:
        return -(-self.layer.output_shape[1] // self.rows)

    @property
    def tile_step(self) -> int:
        """Input rows from one tile to the next."""
        return self.rows * self.layer.stride[0]

    @cached_property
    def row_offsets(self) -> tuple[int, ...]:
        """Distinct rows that an iteration reads, counted from the first row of the tile."""
        layer = self.layer
        rows = {
            r * layer.stride[0] + k * layer.dilation[0]
            for r in range(self.rows)
            for k in range(layer.kernel[0])
        }
        return tuple(sorted(rows))

    @cached_property
    def tap_rows(self) -> tuple[tuple[int, ...], ...]:
        """[rows][KH]: where in row_offsets the row of each tap stands."""
        layer = self.layer
        index = {offset: i for i, offset in enumerate(self.row_offsets)}
        return tuple(
            tuple(index[r * layer.stride[0] + k * layer.dilation[0]] for k in range(layer.kernel[0]))
            for r in range(self.rows)
        )

    @property
    def columns_read(self) -> int:
        """New input columns an iteration reads: one output column is `stride` input columns."""
        return self.layer.stride[1]

    @property
    def lag(self) -> int:
        """Iterations from the first column read to the first output column computed."""
        return (self.layer.reach[1] - 1) // self.layer.stride[1]

    @property
    def span(self) -> int:
        """Columns held in window registers."""
        return (self.lag + 1) * self.layer.stride[1]

    @cached_property
    def columns(self) -> int:
        """Iterations of one pass over a row."""
        return self.layer.output_shape[2] + self.lag

    def rows_needed(self, tile: int) -> int:
        """Rows of the image, counted from its top, that must be on chip before `tile` begins."""
        return max(0, min(self.layer.read_shape[1], tile * self.tile_step + self._reach))

    @property
    def _reach(self) -> int:
        """Rows of the image down to the last one that tile 0 reads."""
        return self.row_offsets[-1] + 1 - self.layer.padding[0]

    @property
    def rows_used(self) -> int:
        """Rows of the image that are read at all."""
        return self.rows_needed(self.tiles - 1)

    def rows_filled(self, tile: int) -> int:
        """Rows that arrive while the tile before `tile` is computed (tile 0: the previous frame's last)."""
        return self.rows_needed(tile) - (self.rows_needed(tile - 1) if tile else 0)

    @cached_property
    def rows_by_tile(self) -> Rows:
        """rows_filled of every tile."""
        return np.diff(self._rows_needed_by_tile, prepend=0)

    @cached_property
    def slots_needed(self) -> int:
        """Row slots of the circular band: the rows a tile reads and those that arrive meanwhile."""
        needed = self._rows_needed_by_tile
        after = np.append(needed[1:], needed[-1] + needed[0])
        begins = np.arange(self.tiles, dtype=np.int64) * self.tile_step - self.layer.padding[0]
        return max(int((after - begins.clip(0, needed[-1])).max()), 1)

    @cached_property
    def _rows_needed_by_tile(self) -> Rows:
        # an image may have tens of thousands of tiles, and a search looks at hundreds of foldings
        ends = np.arange(self.tiles, dtype=np.int64) * self.tile_step + self._reach
        return ends.clip(0, self.layer.read_shape[1])


# a search looks at hundreds of foldings of a layer, one layer after the other
@lru_cache(maxsize=32)
def wave_of(layer: Conv2d, rows: int) -> Wave:
    """The wave of `layer` computed `rows` output rows at a time."""
    return Wave(layer, rows)


def band_constants(wave: Wave, bank_map: BankMap) -> dict[str, Any]:
    """What a template names of the wave and of the banks that it reads."""
    slots, banks, step = bank_map.slots, bank_map.banks, bank_map.step
    top, left = wave.layer.padding[:2]
    after = [
        (row * (step or 0) + column) % banks
        for row in wave.row_offsets
        for column in range(wave.columns_read)
    ]
    return {
        "cyclic": step is not None,
        "WAVE_BANK": _numbers(tuple(after)),
        "SLOTS": slots,
        "BANKS": banks,
        "OFFSET": _numbers(bank_map.offsets),
        "WAVE_ROWS": len(wave.row_offsets),
        "WAVE_ROW": _numbers(wave.row_offsets),
        "WAVE_SLOT": _numbers(tuple(offset % slots for offset in wave.row_offsets)),
        "TAP_ROW": ", ".join("{" + _numbers(rows) + "}" for rows in wave.tap_rows),
        "SPAN": wave.span,
        "TILE_SLOTS": wave.tile_step % slots,
        "FRAME_SLOTS": (wave.rows_used - (wave.tiles - 1) * wave.tile_step) % slots,
        "FIRST_SLOT": -top % slots,
        "FIRST_BANK": -left % banks,
        "FIRST_WORD": -left // banks,
        "REACH": wave.row_offsets[-1] + 1 - top,
    }


def window_constants(layer: Conv2d) -> dict[str, Any]:
    """What a template names of a convolution's kernel."""
    return {
        "KERNEL_H": layer.kernel[0],
        "KERNEL_W": layer.kernel[1],
        "STRIDE_H": layer.stride[0],
        "STRIDE_W": layer.stride[1],
        "DILATION_H": layer.dilation[0],
        "DILATION_W": layer.dilation[1],
        "PAD_TOP": layer.padding[0],
        "PAD_LEFT": layer.padding[1],
        "TAPS": layer.taps,
        "padding": ", ".join(map(str, layer.padding)),
    }


def _numbers(values: tuple[int, ...]) -> str:
    return ", ".join(str(value) for value in values)
