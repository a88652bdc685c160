"""The front wave: which rows and columns of the input one iteration reads, and which rows a tile needs.

Seed of the idea: a column of the window is read at a time and the older columns stay in registers, so that an
iteration reads (rows x stride) new elements a channel instead of a whole window.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hlsgen.layers.conv2d import Conv2d


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
        height = self.layer.in_shape[1]
        reach = self.row_offsets[-1] + 1 - self.layer.padding[0]
        return max(0, min(height, tile * self.tile_step + reach))

    @property
    def rows_used(self) -> int:
        """Rows of the image that are read at all."""
        return self.rows_needed(self.tiles - 1)

    def first_row(self, tile: int) -> int:
        """The first row of the image that `tile` still reads."""
        return min(max(0, tile * self.tile_step - self.layer.padding[0]), self.rows_used)

    def rows_filled(self, tile: int) -> int:
        """Rows that arrive while the tile before `tile` is computed (tile 0: the previous frame's last)."""
        return self.rows_needed(tile) - (self.rows_needed(tile - 1) if tile else 0)

    @cached_property
    def rows_by_tile(self) -> tuple[int, ...]:
        """rows_filled of every tile."""
        return tuple(self.rows_filled(tile) for tile in range(self.tiles))

    @cached_property
    def slots_needed(self) -> int:
        """Row slots of the circular band: the rows a tile reads and those that arrive meanwhile."""
        live = [self.rows_needed(t + 1) - self.first_row(t) for t in range(self.tiles - 1)]
        last = self.rows_used - self.first_row(self.tiles - 1)
        return max([*live, last + self.rows_filled(0), 1])
