"""A network's graph as a picture: boxes in ranks from top to bottom, edges through lanes beside them.

Layered drawing after Sugiyama, Tagawa and Toda (1981): a node stands one rank below the lowest of what it
reads; an edge over several ranks takes a lane (a narrow box without content) in each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

BOX_WIDTH, BOX_HEIGHT = 316, 72
PORT_WIDTH, PORT_HEIGHT = 232, 42
LANE_WIDTH = 10
GAP, RANK_GAP = 26, 44
MARGIN = 8
LABEL_GAP = 8
LABEL_DROP = 4
"""From the middle of a label's line of text down to its base."""
LABEL_WIDTH = 92
"""Pixels of an edge's label and the lane that it stands beside."""
MOST_LANES = 20_000
"""Ranks that all edges together may pass."""
PASSES = 8
"""Times that the boxes of each rank are put in the order of what they are joined to."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A box: its identity, and what is written in it. full: all of it, as its tooltip.

    tone: "layer", "port" or "bottleneck".
    """

    key: str
    title: str
    full: str
    corner: str = ""
    lines: tuple[tuple[str, str], ...] = ()
    """Text at the left and at the right of each line below the title."""
    tone: str = "layer"

    @property
    def size(self) -> tuple[int, int]:
        return (PORT_WIDTH, PORT_HEIGHT) if self.tone == "port" else (BOX_WIDTH, BOX_HEIGHT)


@dataclass(frozen=True, kw_only=True)
class Join:
    """An edge between nodes. deep: drawn as one that holds many words."""

    source: str
    target: str
    label: str = ""
    title: str = ""
    deep: bool = False


@dataclass(frozen=True, kw_only=True)
class Box:
    """A node where it stands; left and top in pixels as SVG has them."""

    node: Node
    left: str
    top: str
    width: int
    height: int
    rank: int


@dataclass(frozen=True, kw_only=True)
class Line:
    """An edge as an SVG path, and where its label begins. ranks: of its ends; label_rank: it stands in that
    rank, or in the gap below.
    """

    join: Join
    path: str
    label_x: str
    label_y: str
    ranks: tuple[int, int]
    label_rank: int


@dataclass(frozen=True, kw_only=True)
class GraphPicture:
    """The picture. tops: y of each rank's upper end."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    tops: tuple[float, ...]


@dataclass(kw_only=True, eq=False)
class _Item:
    """A node, or the lane of an edge, in a rank. x: of its middle."""

    width: int
    height: int
    node: Node | None = None
    above: list[_Item] = field(default_factory=list)
    below: list[_Item] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0

    @property
    def line_x(self) -> float:
        """The x at which edges meet it: a box in its middle; a lane at its left, with its label beside."""
        return self.x if self.node else self.left + LANE_WIDTH / 2

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2


def draw_graph(nodes: Sequence[Node], joins: Sequence[Join]) -> GraphPicture | None:
    """The picture of nodes, in an order in which every join leads from an earlier one to a later one.

    None: so many edges pass so many boxes that nobody could follow them.
    """
    ranks = _ranks(nodes, joins)
    if sum(ranks[join.target] - ranks[join.source] for join in joins) > MOST_LANES:
        return None
    items = {node.key: _Item(width=node.size[0], height=node.size[1], node=node) for node in nodes}
    rows: list[list[_Item]] = [[] for _ in range(max(ranks.values(), default=-1) + 1)]
    for node in nodes:
        rows[ranks[node.key]].append(items[node.key])
    ways = [_way(join, items, ranks, rows) for join in joins]
    _order(rows)
    _place(rows)
    return _picture(rows, joins, ways)


def _ranks(nodes: Sequence[Node], joins: Sequence[Join]) -> dict[str, int]:
    above: dict[str, list[str]] = {}
    for join in joins:
        above.setdefault(join.target, []).append(join.source)
    ranks: dict[str, int] = {}
    for node in nodes:
        ranks[node.key] = max((ranks[key] + 1 for key in above.get(node.key, ())), default=0)
    return ranks


def _way(
    join: Join, items: Mapping[str, _Item], ranks: Mapping[str, int], rows: list[list[_Item]]
) -> list[_Item]:
    """The items that the edge goes through, with a lane in each rank between its ends."""
    way = [items[join.source]]
    for rank in range(ranks[join.source] + 1, ranks[join.target]):
        labelled = len(way) == 1 and join.label
        lane = _Item(width=LABEL_WIDTH if labelled else LANE_WIDTH, height=0)
        rows[rank].append(lane)
        way.append(lane)
    way.append(items[join.target])
    for upper, lower in zip(way, way[1:], strict=False):
        upper.below.append(lower)
        lower.above.append(upper)
    return way


def _order(rows: list[list[_Item]]) -> None:
    """Sorts each rank by the mean place of its neighbours above, then below; lanes stand right of boxes."""
    for row in rows:
        _number(row)
    for turn in range(PASSES):
        down = turn % 2 == 0
        for row in rows if down else rows[::-1]:
            near = {item: item.above if down else item.below for item in row}
            row.sort(key=lambda item: (_mean(near[item], item.x), item.node is None))
            _number(row)


def _number(row: list[_Item]) -> None:
    for index, item in enumerate(row):
        item.x = float(index)


def _mean(items: Sequence[_Item], otherwise: float) -> float:
    return sum(item.x for item in items) / len(items) if items else otherwise


def _place(rows: list[list[_Item]]) -> None:
    """The longest path stands straight, one box of it in each rank; all else makes room beside it."""
    path = set(_longest_path(rows))
    y = float(MARGIN)
    for row in rows:
        middle = next(index for index, item in enumerate(row) if item in path)
        for item in row:
            item.x, item.y = 0.0 if item in path else _wanted(item), y
        for last, item in zip(row[middle:], row[middle + 1 :], strict=False):
            item.x = max(item.x, last.right + GAP + item.width / 2)
        for last, item in zip(row[middle::-1], row[:middle][::-1], strict=False):
            item.x = min(item.x, last.left - GAP - item.width / 2)
        y += max(item.height for item in row) + RANK_GAP


def _longest_path(rows: list[list[_Item]]) -> list[_Item]:
    """The items of the longest path from the top rank to the lowest one; it passes no lane."""
    below: dict[_Item, tuple[int, _Item | None]] = {}
    for row in rows[::-1]:
        for item in row:
            boxes = [one for one in item.below if one.node]
            best = max(boxes, key=lambda one: below[one][0], default=None)
            below[item] = (below[best][0] + 1 if best else 1, best)
    found: list[_Item] = []
    step = max(rows[0], key=lambda one: below[one][0], default=None) if rows else None
    while step:
        found.append(step)
        step = below[step][1]
    return found


def _wanted(item: _Item) -> float:
    """The x at which the item stands best: a box below what it reads, a lane straight down."""
    if item.node:
        return _mean([one for one in item.above if one.node] or item.above, 0.0)
    (upper,) = item.above
    left = upper.right + GAP if upper.node else upper.line_x - LANE_WIDTH / 2
    return left + item.width / 2


def _picture(rows: list[list[_Item]], joins: Sequence[Join], ways: Sequence[list[_Item]]) -> GraphPicture:
    everything = [item for row in rows for item in row]
    shift = MARGIN - min((item.x - item.width / 2 for item in everything), default=0.0)
    for item in everything:
        item.x += shift
    heights = {item: max(one.height for one in row) for row in rows for item in row}
    ranks = {item: rank for rank, row in enumerate(rows) for item in row}
    labels = [LABEL_WIDTH / 2 * bool(join.label) for join in joins]
    beside = [way[-1].x + room for way, room in zip(ways, labels, strict=True)]
    right = max([item.right for item in everything] + beside, default=0.0)
    boxes = tuple(
        Box(
            node=item.node,
            left=number(item.x - item.width / 2),
            top=number(item.y),
            width=item.width,
            height=item.height,
            rank=ranks[item],
        )
        for item in everything
        if item.node
    )
    return GraphPicture(
        width=round(right + MARGIN),
        height=round(max((item.y + item.height for item in everything), default=0) + MARGIN),
        boxes=boxes,
        lines=tuple(_line(join, way, heights, ranks) for join, way in zip(joins, ways, strict=True)),
        tops=tuple(row[0].y for row in rows),
    )


def _line(join: Join, way: Sequence[_Item], heights: Mapping[_Item, int], ranks: Mapping[_Item, int]) -> Line:
    """The edge from below the first box, straight through lanes, to the top of the last one."""
    first, last = way[0], way[-1]
    x, y = first.line_x, first.y + first.height
    parts = [f"M{number(x)},{number(y)}"]
    for item in way[1:]:
        middle = (y + item.y) / 2
        parts.append(
            f"C{number(x)},{number(middle)} {number(item.line_x)},{number(middle)} "
            f"{number(item.line_x)},{number(item.y)}"
        )
        x, y = item.line_x, item.y
        if item is not last:
            y += heights[item]
            parts.append(f"V{number(y)}")
    lane = way[1]
    if lane is not last:
        at = lane.line_x + LABEL_GAP, lane.y + heights[lane] / 2
    else:
        at = (first.line_x + last.line_x) / 2 + LABEL_GAP, (first.y + first.height + last.y) / 2
    return Line(
        join=join,
        path="".join(parts),
        label_x=number(at[0]),
        label_y=number(at[1] + LABEL_DROP),
        ranks=(ranks[first], ranks[last]),
        label_rank=ranks[first if lane is last else lane],
    )


def number(value: float) -> str:
    """A number with at most one decimal, so that the last bit of a double never shows."""
    return f"{value:.1f}".rstrip("0").rstrip(".")
