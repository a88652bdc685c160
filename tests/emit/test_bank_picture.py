"""The picture of the bank map: its counts, its colours, its determinism, and layers of every shape."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from hlsgen.base.fixed import FixedType
from hlsgen.emit.bank_picture import CONFLICT, WIDTH, access, bank_picture, bank_table
from hlsgen.hardware.banks import BankMap, Pattern, map_banks
from hlsgen.hardware.conv_band import access_patterns
from hlsgen.hardware.wave import Wave
from hlsgen.layers.conv2d import Conv2d

SVG = "{http://www.w3.org/2000/svg}"
TYPE = FixedType(16, 6)


def wave_of(
    kernel: int, rows: int, stride: int = 1, dilation: int = 1, size: int = 64, name: str = "conv1"
) -> Wave:
    layer = Conv2d(
        name=name,
        in_shape=(2, size, size),
        out_channels=2,
        kernel=(kernel, kernel),
        stride=(stride, stride),
        dilation=(dilation, dilation),
        input_type=TYPE,
        weight_type=TYPE,
        bias_type=TYPE,
        accumulator=TYPE,
        result_type=TYPE,
        weights=np.zeros((2, 2, kernel, kernel), np.int64),
        bias=np.zeros(2, np.int64),
    )
    return Wave(layer, rows)


def map_of(wave: Wave, in_lanes: int) -> BankMap:
    slots = max(wave.slots_needed, wave.row_offsets[-1] + 1)
    found = map_banks(access_patterns(wave, in_lanes), slots)
    while found is None:
        slots += 1
        found = map_banks(access_patterns(wave, in_lanes), slots)
    return found


def panels_of(svg: str) -> list[list[str]]:
    """The texts of each panel, in order."""
    root = ElementTree.fromstring(svg)
    return [[text.text or "" for text in panel.iter(f"{SVG}text")] for panel in root.iter(f"{SVG}g")]


def captions_of(svg: str) -> list[list[str]]:
    return [[text for text in panel if re.search("cycle|collide", text)] for panel in panels_of(svg)]


def red_cells(svg: str) -> list[int]:
    root = ElementTree.fromstring(svg)
    return [
        sum(cell.get("fill") == CONFLICT for cell in panel.iter(f"{SVG}rect"))
        for panel in root.iter(f"{SVG}g")
    ]


CASES = [
    pytest.param(wave_of(3, 1), 2, id="seed"),
    pytest.param(wave_of(3, 2), 2, id="two-rows"),
    pytest.param(wave_of(3, 2, stride=2), 8, id="stride-2"),
    pytest.param(wave_of(3, 2, dilation=3), 4, id="dilation-3"),
    pytest.param(wave_of(7, 4, stride=2), 4, id="kernel-7"),
    pytest.param(wave_of(7, 2, dilation=4), 4, id="taller-than-drawn"),
    pytest.param(wave_of(5, 8), 32, id="word-wider-than-drawn"),
    pytest.param(wave_of(2, 1, stride=20, size=128), 4, id="wave-wider-than-drawn"),
    pytest.param(wave_of(1, 1, size=5), 1, id="1x1"),
    pytest.param(wave_of(1, 1, size=1), 1, id="one-pixel"),
    pytest.param(wave_of(3, 62), 1, id="all-rows-at-once"),
]


def test_seed_counts() -> None:
    wave = wave_of(3, 1)
    svg = bank_picture(wave, map_of(wave, 2), 2)
    assert captions_of(svg) == [
        ["3 reads, 1 bank: 3 cycles", "2 writes, 1 bank: 2 cycles"],
        ["3 reads, 1 bank: 3 cycles", "2 writes, 2 banks: 1 cycle"],
        ["3 reads, 3 banks: 1 cycle", "2 writes, 2 banks: 1 cycle", "none collide, at any row and column"],
    ]
    assert red_cells(svg) == [5, 3, 0]


def test_partitions_help_a_wave_of_two_columns() -> None:
    wave = wave_of(3, 2, stride=2)
    svg = bank_picture(wave, map_of(wave, 8), 8)
    first = [captions[0] for captions in captions_of(svg)]
    assert first == [
        "10 reads, 1 bank: 10 cycles",
        "10 reads, 2 banks: 5 cycles",
        "10 reads, 10 banks: 1 cycle",
    ]


@pytest.mark.parametrize(("wave", "in_lanes"), CASES)
def test_every_case(wave: Wave, in_lanes: int) -> None:
    bank_map = map_of(wave, in_lanes)
    svg = bank_picture(wave, bank_map, in_lanes)
    reads = len(wave.row_offsets) * wave.columns_read
    plain, _, offset = captions_of(svg)
    assert plain[0].split(",")[0].split()[0] == offset[0].split()[0] == str(reads)
    assert plain[0].endswith(f": {reads} cycle{'s' * (reads > 1)}")
    assert [line.rsplit(": ")[1] for line in offset[:2]] == ["1 cycle", "1 cycle"]
    assert red_cells(svg)[2] == 0
    assert svg == bank_picture(wave, bank_map, in_lanes)


@pytest.mark.parametrize(("wave", "in_lanes"), CASES)
def test_nothing_leaves_the_picture(wave: Wave, in_lanes: int) -> None:
    root = ElementTree.fromstring(bank_picture(wave, map_of(wave, in_lanes), in_lanes))
    assert root.get("width") == str(WIDTH)
    height = float(root.get("height", ""))
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(key, 0)) for key in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= WIDTH and 0 <= y <= y + h <= height
    for text in root.iter(f"{SVG}text"):
        assert 0 < float(text.get("x", "")) < WIDTH and 0 < float(text.get("y", "")) < height


def test_cells_show_the_map() -> None:
    wave = wave_of(3, 2)
    bank_map = map_of(wave, 2)
    texts = panels_of(bank_picture(wave, bank_map, 2))[2]
    # the cells are the texts between the axes and the captions, row by row
    columns = 8
    cells = texts[1 + columns + 2 * bank_map.slots : -3]
    assert cells == [str(bank_map.bank(s, c)) for s in range(bank_map.slots) for c in range(columns)]


def test_a_map_that_collides_is_shown_so() -> None:
    wave = wave_of(3, 1)
    svg = bank_picture(wave, BankMap(3, (0, 0, 1, 2, 0, 0)), 2)
    assert captions_of(svg)[2] == ["3 reads, 2 banks: 2 cycles", "2 writes, 2 banks: 1 cycle"]
    assert red_cells(svg)[2] == 2


def test_what_is_cropped_is_said() -> None:
    wave = wave_of(5, 8)
    assert "drawn: columns 0 to 15 of 64; 16 writes not drawn" in bank_picture(wave, map_of(wave, 32), 32)
    wave = wave_of(1, 1, size=5)
    assert "drawn:" not in bank_picture(wave, map_of(wave, 1), 1)


def test_the_legend_has_red_only_if_the_picture_has() -> None:
    wave = wave_of(1, 1, size=5)
    assert "must wait" not in bank_picture(wave, map_of(wave, 1), 1)
    wave = wave_of(3, 1)
    assert "must wait" in bank_picture(wave, map_of(wave, 2), 2)


def test_names_are_escaped() -> None:
    wave = wave_of(3, 1, name="a<b&c")
    assert "a<b&c: 3 x 3 kernel" in "".join(
        text.text or "" for text in ElementTree.fromstring(bank_picture(wave, map_of(wave, 2), 2))
    )


def test_access_goes_round_the_slots() -> None:
    found = access(BankMap(2, (0, 1, 0)), Pattern.grid("wave", (0, 1), 1), 2, 5)
    assert found.elements == ((2, 5), (0, 5))
    assert found.banks == (1, 1)
    assert found.cycles == 2
    assert found.conflicts == {(2, 5), (0, 5)}


def test_table() -> None:
    assert bank_table(BankMap(3, (0, 1, 2))) == (
        "bank = (column + offset) mod 3\n\n"
        "| slot | offset |\n| ---: | ---: |\n| 0 | 0 |\n| 1 | 1 |\n| 2 | 2 |\n"
    )
