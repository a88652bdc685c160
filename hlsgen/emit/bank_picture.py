"""The bank map as a picture (SVG) and as a table: which reads and writes of one iteration want the same bank.

Three layouts of the same circular row band side by side: one memory, banks by column, banks by column with an
offset a row slot. Every count is taken from the bank map and the access patterns themselves.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from html import escape

from hlsgen.hardware.banks import BankMap, Pattern
from hlsgen.hardware.conv_band import access_patterns
from hlsgen.hardware.wave import Wave

WIDTH = 900
MARGIN = 18
GAP = 18
SLOT_GUTTER, OFFSET_GUTTER = 24, 30
"""Left of a panel stand the slots, right of it the offsets."""
TITLE_HEIGHT, CAPTION_LINE = 68, 17
LEAST_COLUMNS, MOST_COLUMNS, MOST_SLOTS = 8, 16, 20
LARGEST_CELL = 26.0

PALETTE = ("#CFE6F5", "#FBE3B3", "#C9EBDD", "#EAD3E3", "#F6F0B0", "#B9CCE3", "#E2D5C3", "#DDDDDD")
"""Tints of the Okabe-Ito colours without its reds; bank 8 has the first colour again, and its number."""
CONFLICT, READ, WRITE, INK, FAINT = "#C62828", "#111111", "#0B4F8A", "#222222", "#777777"
OUTLINES = {
    READ: f'fill="none" stroke="{READ}" stroke-width="2"',
    WRITE: f'fill="none" stroke="{WRITE}" stroke-width="2" stroke-dasharray="4 2"',
}


@dataclass(frozen=True)
class Access:
    """A pattern of one iteration on a layout: the elements [(slot, column)] and the bank of each."""

    pattern: str
    elements: tuple[tuple[int, int], ...]
    banks: tuple[int, ...]

    @cached_property
    def load(self) -> Counter[int]:
        """Elements in each bank; a bank serves one of them a cycle."""
        return Counter(self.banks)

    @property
    def cycles(self) -> int:
        return max(self.load.values())

    @property
    def conflicts(self) -> set[tuple[int, int]]:
        """The elements that share their bank with another one."""
        return {e for e, bank in zip(self.elements, self.banks, strict=True) if self.load[bank] > 1}


def access(bank_map: BankMap, pattern: Pattern, slot: int, column: int) -> Access:
    """What `pattern` touches when it is anchored at `slot` and `column`."""
    elements = tuple(
        ((slot + row) % bank_map.slots, column + across) for row, across in sorted(pattern.elements)
    )
    return Access(pattern.name, elements, tuple(bank_map.bank(*element) for element in elements))


def bank_table(bank_map: BankMap) -> str:
    """A Markdown table slot -> offset, under the formula that uses it."""
    lines = [
        f"bank = (column + offset) mod {bank_map.banks}",
        "",
        "| slot | offset |",
        "| ---: | ---: |",
        *(f"| {slot} | {offset} |" for slot, offset in enumerate(bank_map.offsets)),
    ]
    return "\n".join(lines) + "\n"


def bank_picture(wave: Wave, bank_map: BankMap, in_lanes: int) -> str:
    """An SVG of 900 pixels' width. The same arguments give the same bytes.

    Drawn is one iteration: the wave it reads and the word of `in_lanes` elements that arrives meanwhile. A
    large band is cropped, which a note says; the counts are always those of the whole iteration.
    """
    return _Picture(wave, bank_map, in_lanes).svg()


@dataclass(frozen=True)
class _Picture:
    wave: Wave
    bank_map: BankMap
    in_lanes: int

    @property
    def patterns(self) -> tuple[Pattern, Pattern]:
        read, write = access_patterns(self.wave, self.in_lanes)
        return read, write

    @property
    def layouts(self) -> tuple[tuple[str, BankMap], ...]:
        """Title and map of each panel, left to right."""
        banks, nowhere = self.bank_map.banks, (0,) * self.bank_map.slots
        return (
            ("(a) one memory", BankMap(1, nowhere)),
            (f"(b) {_counted(banks, 'bank')} by column", BankMap(banks, nowhere)),
            (f"(c) {_counted(banks, 'bank')}, an offset per row", self.bank_map),
        )

    @property
    def band_columns(self) -> int:
        return self.wave.layer.in_shape[2]

    @cached_property
    def slots(self) -> int:
        """Row slots drawn."""
        return min(self.bank_map.slots, MOST_SLOTS)

    @cached_property
    def columns(self) -> int:
        """Columns drawn."""
        wanted = max(self.read_column + self.wave.columns_read, self.in_lanes) + 2
        return min(self.band_columns, max(LEAST_COLUMNS, min(MOST_COLUMNS, wanted)))

    @property
    def read_column(self) -> int:
        """The second iteration's, so that the wave does not stand at the edge."""
        step = self.wave.columns_read
        return step if 2 * step <= min(self.band_columns, MOST_COLUMNS) else 0

    @property
    def write_slot(self) -> int:
        """The first slot below the wave, or else between its rows, that the wave does not read."""
        rows = {row % self.bank_map.slots for row in self.wave.row_offsets}
        free = [slot for slot in range(self.bank_map.slots) if slot not in rows]
        below = [slot for slot in free if slot > max(rows)]
        seen = [slot for slot in (*below, *free) if slot < self.slots]
        return next(iter(seen or below or free), 0)

    @property
    def panel_width(self) -> float:
        return (WIDTH - 2 * MARGIN - 2 * GAP) / 3

    @cached_property
    def cell(self) -> float:
        """Width and height of a cell in pixels, a multiple of 0.5."""
        room = (self.panel_width - SLOT_GUTTER - OFFSET_GUTTER) / self.columns
        return min(LARGEST_CELL, int(room * 2) / 2)

    @property
    def cells_bottom(self) -> float:
        return TITLE_HEIGHT + self.slots * self.cell

    def accesses(self, layout: BankMap) -> tuple[Access, Access]:
        """The wave read and the word written in the iteration that is drawn."""
        read, write = self.patterns
        return access(layout, read, 0, self.read_column), access(layout, write, self.write_slot, 0)

    def svg(self) -> str:
        note = self._note()
        captions = [self._captions(layout) for _, layout in self.layouts]
        legend_top = self.cells_bottom + 22 + CAPTION_LINE * (max(map(len, captions)) + bool(note)) + 10
        height = round(legend_top + 52)
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" font-family="DejaVu Sans, Verdana, sans-serif" fill="{INK}">',
            f"<title>{escape(self._title())}</title>",
            f'<rect width="{WIDTH}" height="{height}" fill="#FFFFFF"/>',
            _text(MARGIN, 22, self._title(), 13, "bold"),
        ]
        for index, (title, layout) in enumerate(self.layouts):
            left = MARGIN + index * (self.panel_width + GAP)
            lines += self._panel(left, title, layout, captions[index])
        if note:
            lines.append(_text(MARGIN, legend_top - 14, note, 11, colour=FAINT))
        lines += _legend(legend_top, shared=any(self._conflicts(layout) for _, layout in self.layouts))
        return "\n".join([*lines, "</svg>"]) + "\n"

    def _title(self) -> str:
        layer = self.wave.layer
        kernel = " x ".join(map(str, layer.kernel))
        parts = [f"{layer.name}: {kernel} kernel", f"{_counted(self.wave.rows, 'output row')} at once"]
        if layer.stride != (1, 1):
            parts.append(f"stride {_pair(layer.stride)}")
        if layer.dilation != (1, 1):
            parts.append(f"dilation {_pair(layer.dilation)}")
        return ", ".join(parts) + ": the row band in one iteration"

    def _conflicts(self, layout: BankMap) -> set[tuple[int, int]]:
        read, write = self.accesses(layout)
        return read.conflicts | write.conflicts

    def _captions(self, layout: BankMap) -> list[str]:
        lines = [
            f"{_counted(len(one.elements), noun)}, {_counted(len(one.load), 'bank')}: "
            f"{_counted(one.cycles, 'cycle')}"
            for one, noun in zip(self.accesses(layout), ("read", "write"), strict=True)
        ]
        if layout is self.bank_map and layout.proves(self.patterns):
            lines.append("none collide, at any row and column")
        return lines

    def _note(self) -> str:
        """What is left out of the drawing, or nothing."""
        cut = []
        if self.slots < self.bank_map.slots:
            cut.append(f"row slots 0 to {self.slots - 1} of {self.bank_map.slots}")
        if self.columns < self.band_columns:
            cut.append(f"columns 0 to {self.columns - 1} of {self.band_columns}")
        if not cut:
            return ""
        hidden = [
            f"{_counted(count, noun)} not drawn"
            for one, noun in zip(self.accesses(self.bank_map), ("read", "write"), strict=True)
            if (count := sum(not self._drawn(*element) for element in one.elements))
        ]
        return "… drawn: " + "; ".join([", ".join(cut), *hidden])

    def _drawn(self, slot: int, column: int) -> bool:
        return slot < self.slots and column < self.columns

    # ------------------------------------------------------------ panels

    def _panel(self, left: float, title: str, layout: BankMap, captions: list[str]) -> list[str]:
        cells_left = left + SLOT_GUTTER
        lines = ["<g>", _text(left, 46, title, 12, "bold"), *self._axes(cells_left, layout)]
        conflicts = self._conflicts(layout)
        for slot in range(self.slots):
            for column in range(self.columns):
                bank = layout.bank(slot, column)
                lines += self._cell(cells_left, slot, column, bank, (slot, column) in conflicts)
        read, write = self.accesses(layout)
        lines += [
            self._outline(cells_left, element, element[1], READ)
            for element in read.elements
            if self._drawn(*element)
        ]
        word = [column for slot, column in write.elements if self._drawn(slot, column)]
        if word:
            lines.append(self._outline(cells_left, (self.write_slot, word[0]), word[-1], WRITE))
        for index, caption in enumerate(captions):
            lines.append(_text(left, self.cells_bottom + 26 + index * CAPTION_LINE, caption, 12))
        return [*lines, "</g>"]

    def _axes(self, left: float, layout: BankMap) -> list[str]:
        """Column numbers, slot numbers, the offsets, and an ellipsis where the band goes on."""
        small = min(10.0, self.cell * 0.62)
        right, bottom = left + self.columns * self.cell, self.cells_bottom
        lines = [
            _text(
                self._middle(left, column),
                TITLE_HEIGHT - 4,
                str(column),
                small,
                anchor="middle",
                colour=FAINT,
            )
            for column in range(self.columns)
        ]
        for slot in range(self.slots):
            y = self._middle(TITLE_HEIGHT, slot) + small * 0.36
            lines.append(_text(left - 5, y, str(slot), small, anchor="end", colour=FAINT))
            if layout is self.bank_map:
                lines.append(_text(right + 5, y, f"+{layout.offsets[slot]}", small))
        if self.columns < self.band_columns and layout is not self.bank_map:
            lines.append(_text(right + 5, TITLE_HEIGHT + self.cell * 0.6, "…", 12, colour=FAINT))
        if self.slots < self.bank_map.slots:
            lines.append(_text(left + 2, bottom + 10, "…", 12, colour=FAINT))
        return lines

    def _middle(self, start: float, index: int) -> float:
        return start + (index + 0.5) * self.cell

    def _cell(self, left: float, slot: int, column: int, bank: int, conflict: bool) -> list[str]:
        x, y = left + column * self.cell, TITLE_HEIGHT + slot * self.cell
        fill = CONFLICT if conflict else PALETTE[bank % len(PALETTE)]
        size = min(10.0, self.cell * (0.62 if bank < 100 else 0.48))
        return [
            _rect(x, y, self.cell, self.cell, f'fill="{fill}" stroke="#FFFFFF" stroke-width="1"'),
            _text(
                x + self.cell / 2,
                y + self.cell / 2 + size * 0.36,
                str(bank),
                size,
                "bold" if conflict else "normal",
                anchor="middle",
                colour="#FFFFFF" if conflict else INK,
            ),
        ]

    def _outline(self, left: float, first: tuple[int, int], last_column: int, colour: str) -> str:
        """A frame around the cells from `first` (slot, column) to `last_column` of the same slot."""
        slot, column = first
        x, y = left + column * self.cell + 1, TITLE_HEIGHT + slot * self.cell + 1
        width = (last_column - column + 1) * self.cell - 2
        return _rect(x, y, width, self.cell - 2, OUTLINES[colour])


def _legend(top: float, *, shared: bool) -> list[str]:
    """What the marks mean; the red one only where something is red."""
    marks = [
        (f'fill="{PALETTE[0]}"', "bank (its number inside)", 190),
        (OUTLINES[READ], "read in this iteration", 175),
        (OUTLINES[WRITE], "written in this iteration", 190),
    ]
    if shared:
        marks.append((f'fill="{CONFLICT}"', "shares its bank with another access: must wait", 300))
    lines = [_rect(MARGIN, top, WIDTH - 2 * MARGIN, 1, 'fill="#DDDDDD"')]
    x = float(MARGIN)
    for style, meaning, width in marks:
        lines.append(_rect(x + 1, top + 9, 13, 13, style))
        lines.append(_text(x + 21, top + 20, meaning, 11))
        x += width
    sides = "Down: row slots of the band. Across: columns. Every bank has one port to read and one to write."
    lines.append(_text(MARGIN, top + 40, sides, 11, colour=FAINT))
    return lines


def _rect(x: float, y: float, width: float, height: float, style: str) -> str:
    box = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
    return f"<rect {box} {style}/>"


def _text(
    x: float,
    y: float,
    text: str,
    size: float,
    weight: str = "normal",
    *,
    anchor: str = "start",
    colour: str = INK,
) -> str:
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" font-size="{_number(size)}" font-weight="{weight}" '
        f'text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
    )


def _number(value: float) -> str:
    """The number with at most two decimals, so that the last bit of a double never shows."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _pair(sides: tuple[int, int]) -> str:
    return str(sides[0]) if sides[0] == sides[1] else f"{sides[0]} x {sides[1]}"
