"""Which operations the vendor's tool builds as one, and what is charged for them.

Rules that public schedule reports follow (docs/schedule.md has the counts). An operation alone takes what
Delays.timing says; one that is merged into another takes nothing, and the last of a group is charged for all:

- LUT: a cone of logic, choices and variable shifts whose results nobody else reads, with up to six words that
  enter it. Its last node may be a sum or a comparison too. Charged: the longest delay of its nodes.
- ternary sum: a sum that only one other sum reads, of the same width, without an extension in between.
- DSP: a product that only one sum reads, extended or not, and that fits a DSP.

All nodes of a LUT or a ternary sum stand in one cycle: whoever schedules passes those that may be together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hlsgen.schedule import cores
from hlsgen.schedule.delays import FREE, Delays
from hlsgen.schedule.operation import SHIFTS, Operation, Timing, moves_bits

LUT_INPUTS = 6
WIRES = frozenset({"trunc", "zext", "sext", "bitcast", "freeze"})
LOGIC = frozenset({"and", "or", "xor", "select"}) | SHIFTS
WIRE = "wire"
EXTENSIONS = frozenset({"zext", "sext", WIRE})
MOST_BITS = 1 << 20
SUMS = frozenset({"add", "sub"})
LAST_OF_LUT = LOGIC | SUMS | {"icmp"}


@dataclass(frozen=True, kw_only=True)
class Node:
    """An operation in a graph, given by the places of what it reads in the list of all nodes."""

    operation: Operation | None
    """None: a wire, such as a conversion."""
    operands: tuple[int, ...] = ()
    """Places of the nodes that it reads; constants are left out, words from outside too."""
    outside: int = 0
    """Different words that it reads which no node makes: arguments and the like."""


Together = Callable[[int, int], bool]
"""Whether two nodes may stand in the same cycle and block."""


def anywhere(_first: int, _second: int) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Nodes and who reads them."""

    nodes: Sequence[Node]
    readers: Sequence[tuple[int, ...]] = field(init=False)

    def __post_init__(self) -> None:
        readers: list[list[int]] = [[] for _ in self.nodes]
        for place, node in enumerate(self.nodes):
            for operand in dict.fromkeys(node.operands):
                readers[operand].append(place)
        object.__setattr__(self, "readers", tuple(tuple(one) for one in readers))

    def kind(self, place: int) -> str:
        operation = self.nodes[place].operation
        return WIRE if operation is None else operation.kind

    def is_wire(self, place: int) -> bool:
        """Whether a node costs nothing: a conversion, or a shift by a constant."""
        operation = self.nodes[place].operation
        if operation is None or operation.kind in WIRES:
            return True
        return moves_bits(operation)

    def operation(self, place: int) -> Operation:
        """The operation of a node; a product at the widths that its operands have before they are extended.

        The operands that are nodes come first in `widths`, before constants, whose bits are those of the
        value.
        """
        node = self.nodes[place]
        if node.operation is None:
            raise ValueError(f"node {place} is a wire")
        if node.operation.kind != "mul":
            return node.operation
        before = [self._before_extension(one) for one in node.operands]
        widths = list(node.operation.widths)
        for index, width in enumerate(before[: len(widths)]):
            widths[index] = min(widths[index], width)
        return replace(node.operation, widths=tuple(widths))

    def _before_extension(self, place: int) -> int:
        """Bits that a word really has, as a signed one, if the graph tells."""
        operation = self.nodes[place].operation
        if operation is None:
            return MOST_BITS
        if operation.kind in EXTENSIONS and operation.widths:
            return operation.widths[0] + (operation.kind == "zext")
        return operation.result

    def only_reader(self, place: int, through: frozenset[str] = frozenset()) -> int | None:
        """The one node that reads a node, `through` conversions of these kinds; None: several do, or none."""
        while len(self.readers[place]) == 1:
            place = self.readers[place][0]
            if self.kind(place) not in through:
                return place
        return None


def lut_groups(graph: Graph, together: Together = anywhere) -> dict[int, int]:
    """The nodes that are merged into a LUT, each with the last node of its LUT, which is not among them."""
    merged: dict[int, int] = {}
    for last in range(len(graph.nodes) - 1, -1, -1):
        if last in merged or graph.kind(last) not in LAST_OF_LUT or graph.is_wire(last):
            continue
        group = _cone(graph, last, merged, together)
        if any(not graph.is_wire(place) for place in group if place != last):
            merged.update({place: last for place in group if place != last})
    return merged


def _cone(graph: Graph, last: int, merged: dict[int, int], together: Together) -> set[int]:
    """The largest cone in front of a node that fits a LUT, grown from the nearest operand on."""
    group = {last}
    entering = set(graph.nodes[last].operands)
    outside = graph.nodes[last].outside
    grown = True
    while grown:
        grown = False
        for place in sorted(entering, reverse=True):
            node = graph.nodes[place]
            more = (entering - {place}) | set(node.operands)
            if (
                place not in merged
                and (graph.kind(place) in LOGIC or graph.is_wire(place))
                and group.issuperset(graph.readers[place])
                and len(more) + outside + node.outside <= LUT_INPUTS
                and together(place, last)
            ):
                group.add(place)
                entering, outside, grown = more, outside + node.outside, True
                break
    return group


def ternary_sums(graph: Graph, together: Together = anywhere) -> dict[int, int]:
    """Sums that are the first half of a sum of three words, each with its second half."""
    merged: dict[int, int] = {}
    taken: set[int] = set()
    for place in range(len(graph.nodes) - 1, -1, -1):
        reader = graph.only_reader(place)
        if (
            graph.kind(place) in SUMS
            and reader is not None
            and graph.kind(reader) in SUMS
            and not {place, reader} & taken
            and together(place, reader)
        ):
            merged[place] = reader
            taken |= {place, reader}
    return merged


def products_in_sums(graph: Graph, delays: Delays) -> dict[int, int]:
    """Products that share a DSP with the sum that reads them, each with that sum: one product a sum."""
    merged: dict[int, int] = {}
    taken: set[int] = set()
    for place in range(len(graph.nodes)):
        if graph.kind(place) != "mul":
            continue
        widths = graph.operation(place).widths
        reader = graph.only_reader(place, EXTENSIONS)
        if (
            reader is not None
            and widths
            and graph.kind(reader) in SUMS
            and reader not in taken
            and cores.fits_one_dsp(delays.library, max(widths), min(widths))
        ):
            merged[place] = reader
            taken.add(reader)
    return merged


@dataclass(frozen=True, kw_only=True)
class Merges:
    """Nodes that are built as a part of another, each with that other, by place."""

    products: Mapping[int, int]
    ternary: Mapping[int, int]
    luts: Mapping[int, int]


def merges_of(
    graph: Graph, delays: Delays, together: Together = anywhere, *, products_alone: bool = False
) -> Merges:
    """What is merged by all of the rules. products_alone: a product shares no DSP with a sum."""
    products = {} if products_alone else products_in_sums(graph, delays)
    busy = set(products) | set(products.values())
    ternary = ternary_sums(graph, lambda a, b: not {a, b} & busy and together(a, b))
    busy |= set(ternary) | set(ternary.values())
    luts = lut_groups(graph, lambda a, b: not {a, b} & busy and together(a, b))
    return Merges(products=products, ternary=ternary, luts=luts)


def charged(graph: Graph, delays: Delays, merges: Merges | None = None) -> list[Timing]:
    """The timing of every node with all of the rules applied: nothing for what is merged into another."""
    merged = merges or merges_of(graph, delays)
    found = [FREE if graph.is_wire(place) else None for place in range(len(graph.nodes))]
    found = _in_dsps(found, merged.products, delays)
    for first, second in merged.ternary.items():
        width = graph.operation(second).result
        found[first] = FREE
        found[second] = Timing(cycles=0, first_ns=delays.sum_of_three_ns(width), last_ns=0.0)
    _in_luts(found, merged.luts, graph, delays)
    return [delays.timing(graph.operation(place)) if one is None else one for place, one in enumerate(found)]


def _in_dsps(found: list[Timing | None], products: Mapping[int, int], delays: Delays) -> list[Timing | None]:
    """A product with its sum: all cycles before the sum, which is as fast as the DSP's own feedback is."""
    for product, total in products.items():
        first, last = delays.product_and_sum()
        found[product] = replace(first, cycles=first.cycles + last.cycles)
        found[total] = Timing(cycles=0, first_ns=last.last_ns or last.first_ns, last_ns=0.0)
    return found


def _in_luts(found: list[Timing | None], luts: Mapping[int, int], graph: Graph, delays: Delays) -> None:
    longest: dict[int, float] = {}
    for member, last in luts.items():
        parts = [place for place in (member, last) if not graph.is_wire(place)]
        own = max(delays.timing(graph.operation(place)).first_ns for place in parts)
        longest[last] = max(longest.get(last, 0.0), own)
        found[member] = FREE
    for last, ns in longest.items():
        found[last] = Timing(cycles=0, first_ns=ns, last_ns=0.0)
