"""Dominators, natural loops and control dependence of a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hlsgen.schedule.ir import Function

Edges = Mapping[str, Sequence[str]]


@dataclass(slots=True, eq=False)
class Loop:
    """A natural loop.

    `blocks` holds those of inner loops too; `node` is the metadata node of its latch (-1 if it has none).
    """

    header: str
    latches: list[str]
    blocks: set[str]
    node: int = -1
    parent: Loop | None = None
    inner: list[Loop] = field(default_factory=list)
    always: list[str] = field(default_factory=list)
    """The blocks that every iteration goes through which another one follows, from the header on."""

    def leaving(self, function: Function) -> list[str]:
        """The blocks from which the loop may be left, but for what is never reached: Clang's end of a block
        that `continue` leaves has a way out for each of the others' numbers."""
        return [
            name
            for name in self.blocks
            if any(
                one not in self.blocks and not _is_never_reached(function, one)
                for one in function.blocks[name].successors
            )
        ]


def _is_never_reached(function: Function, name: str) -> bool:
    block = function.blocks.get(name)
    return block is not None and [one.opcode for one in block.instructions[:1]] == ["unreachable"]


def reverse_postorder(entry: str, successors: Edges) -> list[str]:
    """The nodes that `entry` reaches, each after all that come before it on a way without a back edge."""
    order: list[str] = []
    seen = {entry}
    stack = [(entry, iter(successors.get(entry, ())))]
    while stack:
        node, following = stack[-1]
        for one in following:
            if one not in seen:
                seen.add(one)
                stack.append((one, iter(successors.get(one, ()))))
                break
        else:
            order.append(node)
            stack.pop()
    return order[::-1]


def predecessors_of(nodes: Sequence[str], successors: Edges) -> dict[str, list[str]]:
    """The edges turned around, among `nodes`."""
    before: dict[str, list[str]] = {node: [] for node in nodes}
    for node in nodes:
        for one in dict.fromkeys(successors.get(node, ())):
            if one in before:
                before[one].append(node)
    return before


def dominators(entry: str, successors: Edges) -> dict[str, str]:
    """The immediate dominator of each node that `entry` reaches, its own of the entry.

    Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", 2001.
    """
    order = reverse_postorder(entry, successors)
    rank = {node: index for index, node in enumerate(order)}
    before = predecessors_of(order, successors)
    immediate = {entry: entry}
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            above: str | None = None  # the exit's name is empty
            for one in before[node]:
                if one in immediate:
                    above = one if above is None else _meet(one, above, immediate, rank)
            if above is not None and immediate.get(node) != above:
                immediate[node] = above
                changed = True
    return immediate


def _meet(first: str, second: str, immediate: dict[str, str], rank: dict[str, int]) -> str:
    while first != second:
        while rank[first] > rank[second]:
            first = immediate[first]
        while rank[second] > rank[first]:
            second = immediate[second]
    return first


def loops_of(function: Function) -> list[Loop]:
    """The natural loops of a function, outer ones before those within."""
    if not function.blocks:
        return []
    entry = next(iter(function.blocks))
    successors = {name: block.successors for name, block in function.blocks.items()}
    immediate = dominators(entry, successors)
    depth = _depths(immediate, entry)
    before = predecessors_of(list(immediate), successors)
    found: dict[str, Loop] = {}
    for node in immediate:
        for header in dict.fromkeys(successors[node]):
            if _dominates(header, node, immediate, depth):
                loop = found.setdefault(header, Loop(header, [], {header}))
                loop.latches.append(node)
                loop.node = max(loop.node, function.blocks[node].instructions[-1].loop)
                _grow(loop.blocks, node, before)
    for loop in found.values():
        loop.always = _above_all(loop, immediate)
    return _nested(list(found.values()))


def _above_all(loop: Loop, immediate: dict[str, str]) -> list[str]:
    """The blocks of a loop that dominate each of its latches."""
    common: list[str] | None = None
    for node in loop.latches:
        chain = [node]
        while node != loop.header:
            node = immediate[node]
            chain.append(node)
        common = chain if common is None else [one for one in common if one in set(chain)]
    return (common or [])[::-1]


def _depths(immediate: dict[str, str], entry: str) -> dict[str, int]:
    depth = {entry: 0}
    for node in immediate:
        chain = []
        while node not in depth:
            chain.append(node)
            node = immediate[node]
        for one in reversed(chain):
            depth[one] = depth[immediate[one]] + 1
    return depth


def _dominates(above: str, node: str, immediate: dict[str, str], depth: dict[str, int]) -> bool:
    while depth[node] > depth.get(above, 0):
        node = immediate[node]
    return node == above


def _grow(blocks: set[str], latch: str, before: dict[str, list[str]]) -> None:
    stack = [latch]
    while stack:
        node = stack.pop()
        if node not in blocks:
            blocks.add(node)
            stack.extend(before[node])


def is_passed_by(loop: Loop, block: str, function: Function) -> bool:
    """Whether an iteration of a loop may come to its end without a block of it."""
    waiting, seen = [loop.header], {loop.header, block}
    while waiting and block != loop.header:
        following = function.blocks[waiting.pop()].successors
        if loop.header in following:
            return True
        new = [one for one in following if one in loop.blocks and one not in seen]
        seen.update(new)
        waiting += new
    return False


def _nested(loops: list[Loop]) -> list[Loop]:
    loops.sort(key=lambda loop: -len(loop.blocks))
    innermost: dict[str, Loop] = {}
    for loop in loops:
        loop.parent = innermost.get(loop.header)
        if loop.parent:
            loop.parent.inner.append(loop)
        innermost.update(dict.fromkeys(loop.blocks, loop))
    return loops


def passing_by(inner: Sequence[Loop], successors: Edges) -> dict[str, list[str]]:
    """The edges among the nodes outside of loops: one that leads into a loop leads to where that ends."""
    home = {node: loop for loop in inner for node in loop.blocks}
    ends = {
        loop.header: [
            one
            for node in successors
            if node in loop.blocks
            for one in successors[node]
            if one not in loop.blocks
        ]
        for loop in inner
    }

    def outside(node: str, passed: frozenset[str]) -> list[str]:
        loop = home.get(node)
        if loop is None or loop.header in passed:
            return [node] if loop is None else []
        through = passed | {loop.header}
        return [end for one in ends[loop.header] for end in outside(one, through)]

    return {
        node: list(dict.fromkeys(end for one in following for end in outside(one, frozenset())))
        for node, following in successors.items()
        if node not in home
    }


def innermost_loops(loops: Sequence[Loop]) -> dict[str, Loop]:
    """The innermost loop of each block that stands in one."""
    innermost: dict[str, Loop] = {}
    for loop in loops:
        innermost.update(dict.fromkeys(loop.blocks, loop))
    return innermost


def control_dependence(entry: str, successors: Edges) -> dict[str, set[tuple[str, str]]]:
    """The edges (branching node, its successor) that decide on each node of an acyclic graph.

    Ferrante, Ottenstein and Warren, 1987: a node depends on an edge if it comes after the edge for certain
    and not after the branching node for certain. Nodes without successors lead to one exit.
    """
    nodes = reverse_postorder(entry, successors)
    inside = set(nodes)
    turned: dict[str, list[str]] = {"": []}
    for node in nodes:
        following = [one for one in successors.get(node, ()) if one in inside] or [""]
        for one in following:
            turned.setdefault(one, []).append(node)
    after = dominators("", turned)
    depends: dict[str, set[tuple[str, str]]] = {node: set() for node in nodes}
    for node in nodes:
        following = list(dict.fromkeys(one for one in successors.get(node, ()) if one in inside))
        if len(following) + (len(following) < len(set(successors.get(node, ())))) < 2:
            continue
        for one in following:
            walker = one
            while walker and walker != after.get(node, ""):
                depends[walker].add((node, one))
                walker = after.get(walker, "")
    return depends
