"""A tall graph as numbered parts side by side, so that all of it is on the page at once.

The picture is cut between ranks, each part below the labels of the edges that go on in the next one: an edge
leaves a part at its lower end and enters the next one at the same x. Parts are set apart, so that an edge at
the foot of one never seems to enter the part that happens to lie below it.
"""

from __future__ import annotations

from dataclasses import dataclass

from hlsgen.report.graph_picture import RANK_GAP, Box, GraphPicture, Line, number

PAGE_WIDTH = 1150
"""Pixels of a card of the page at its widest."""
PART_GAP = 24
LOW = 760
"""Pixels of the highest graph that stands beside the charts, in one part."""
MOST_RANKS = 8
"""Ranks of a part: about what a screen shows."""
ABOVE_BOX = 13
"""Pixels above a rank at which the picture is cut: the edge's label lies above, its arrow below."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Some ranks of the picture: from y `top` on `height` pixels of it. labels: lines whose labels it has."""

    top: str
    height: str
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    labels: tuple[Line, ...]


@dataclass(frozen=True, kw_only=True)
class PartedGraph:
    """The graph's picture in parts, each `width` pixels wide. tall: it takes the whole width of the page."""

    width: int
    parts: tuple[Part, ...]
    tall: bool


def parted(picture: GraphPicture) -> PartedGraph:
    """The picture in as many equal parts as have room side by side, or in rows of so many."""
    ranks = len(picture.tops)
    columns = max(1, (PAGE_WIDTH + PART_GAP) // (picture.width + PART_GAP))
    tall = picture.height > LOW
    count = 1
    if tall and columns > 1:
        rows = -(-ranks // (columns * MOST_RANKS))
        count = -(-ranks // -(-ranks // (rows * columns)))
    borders = [ranks * index // count for index in range(count + 1)]
    parts = [_part(picture, first, end) for first, end in zip(borders, borders[1:], strict=False)]
    return PartedGraph(width=picture.width, parts=tuple(parts), tall=tall)


def _part(picture: GraphPicture, first: int, end: int) -> Part:
    """The ranks from `first` to before `end`."""
    assert ABOVE_BOX < RANK_GAP
    ranks = range(first, end)
    top = picture.tops[first] - ABOVE_BOX if first else 0.0
    bottom = picture.tops[end] - ABOVE_BOX if end < len(picture.tops) else float(picture.height)
    return Part(
        top=number(top),
        height=number(bottom - top),
        boxes=tuple(box for box in picture.boxes if box.rank in ranks),
        lines=tuple(line for line in picture.lines if line.ranks[0] < end and line.ranks[1] >= first),
        labels=tuple(line for line in picture.lines if line.join.label and line.label_rank in ranks),
    )
