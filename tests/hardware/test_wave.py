"""The front wave's rows by tile, by sets of the rows that each tile reads; images of very many tiles."""

from __future__ import annotations

import time

import pytest

from hlsgen.hardware.wave import Wave
from hlsgen.search.conv_kernel import ConvConstraints, choose
from hlsgen.targets.board import load_board
from tests.support.kernels import conv


def reads(wave: Wave, tile: int) -> set[int]:
    """The rows of the image that the outputs of a tile have taps in; those past the last output count too."""
    layer = wave.layer
    first = tile * wave.rows * layer.stride[0] - layer.padding[0]
    taps = {
        first + r * layer.stride[0] + k * layer.dilation[0]
        for r in range(wave.rows)
        for k in range(layer.kernel[0])
    }
    return {row for row in taps if row >= 0}


@pytest.mark.parametrize("height", [5, 9, 16])
@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), [
    (3, 1, 1, 1), (3, 2, 1, 1), (1, 3, 0, 1), (2, 3, 0, 1), (3, 1, 2, 2), (5, 1, 4, 1), (4, 2, 0, 1),
])  # fmt: skip
def test_rows_of_every_tile(height: int, kernel: int, stride: int, padding: int, dilation: int) -> None:
    layer = conv(
        (1, height, 9),
        1,
        kernel=(kernel, kernel),
        stride=(stride, stride),
        padding=(padding, padding, padding, padding),
        dilation=(dilation, dilation),
    )
    for rows in range(1, layer.output_shape[1] + 1):
        wave = Wave(layer, rows)
        needed = [min(height, max(reads(wave, tile), default=-1) + 1) for tile in range(wave.tiles)]
        filled = [now - before for now, before in zip(needed, [0, *needed], strict=False)]
        assert wave.rows_by_tile.tolist() == filled
        # beside what a tile still reads lies what arrives for the next, or for the next frame
        after = [*needed[1:], needed[-1] + needed[0]]
        steps = (tile * rows * stride - padding for tile in range(wave.tiles))
        live = [end - min(max(0, first), needed[-1]) for first, end in zip(steps, after, strict=True)]
        assert wave.slots_needed == max(1, *live)


def test_a_very_tall_image_is_mapped_in_seconds() -> None:
    layer = conv((1, 65536, 4), 1, kernel=(3, 3))
    begin = time.process_time()
    choose(layer, load_board("u200"), ConvConstraints(), clock_mhz=300, batch=4)
    assert time.process_time() - begin < 5  # it took over 20 with a number for every tile of every folding
