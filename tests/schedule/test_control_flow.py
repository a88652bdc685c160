"""Dominators, loops and control dependence of random graphs, held against their definitions."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.schedule.control_flow import (
    control_dependence,
    dominators,
    innermost_loops,
    loops_of,
    predecessors_of,
    reverse_postorder,
)
from hlsgen.schedule.ir import VOID, Block, Function, Instruction

Graph = dict[str, list[str]]
CASES = settings(max_examples=200, deadline=None)


@st.composite
def graphs(draw: st.DrawFn, acyclic: bool = False) -> Graph:
    """A few nodes, each with up to three successors; node 0 is the entry."""
    count = draw(st.integers(1, 8))
    graph: Graph = {}
    for node in range(count):
        least = node + 1 if acyclic else 0
        choices = [str(one) for one in range(least, count)]
        graph[str(node)] = draw(st.lists(st.sampled_from(choices), max_size=3)) if choices else []
    return graph


def reached(graph: Mapping[str, Collection[str]], start: str, without: str = "") -> set[str]:
    """The nodes on ways from `start` that do not touch `without`."""
    if start == without:
        return set()
    found, waiting = {start}, [start]
    while waiting:
        for one in graph.get(waiting.pop(), ()):
            if one not in found and one != without:
                found.add(one)
                waiting.append(one)
    return found


def dominating(graph: Graph) -> dict[str, set[str]]:
    """For each node that is reached, those that every way to it touches."""
    inside = reached(graph, "0")
    return {
        node: {above for above in inside if above == node or node not in reached(graph, "0", above)}
        for node in inside
    }


def function_of(graph: Graph) -> Function:
    """A function whose blocks branch as the graph says."""
    blocks = {
        node: Block(node, [Instruction("", "br", VOID, labels=tuple(successors), loop=int(node))])
        for node, successors in graph.items()
    }
    return Function("top", [], blocks)


@CASES
@given(graphs())
def test_immediate_dominators(graph: Graph) -> None:
    above = dominating(graph)
    immediate = dominators("0", graph)
    assert set(immediate) == set(above)
    for node, found in immediate.items():
        if node == "0":
            assert found == "0"
        else:
            # of the nodes that dominate it, the one that all others dominate
            strict = above[node] - {node}
            assert found in strict
            assert above[found] == strict


@CASES
@given(graphs(acyclic=True))
def test_the_order_puts_nodes_behind_those_before_them(graph: Graph) -> None:
    order = reverse_postorder("0", graph)
    assert sorted(order) == sorted(reached(graph, "0"))
    for node in order:
        assert all(order.index(node) < order.index(one) for one in graph[node])


@CASES
@given(graphs())
def test_edges_turned_around(graph: Graph) -> None:
    nodes = sorted(reached(graph, "0"))
    before = predecessors_of(nodes, graph)
    assert {(one, node) for node in nodes for one in before[node]} == {
        (node, one) for node in nodes for one in graph[node]
    }


@CASES
@given(graphs())
def test_natural_loops(graph: Graph) -> None:
    above = dominating(graph)
    expected: dict[str, set[str]] = {}
    latches: dict[str, set[str]] = {}
    for node in above:
        for header in graph[node]:
            if header in above[node]:  # a back edge: the header, and what reaches the latch without it
                latches.setdefault(header, set()).add(node)
                body = {one for one in above if node in reached(graph, one, header)}
                expected.setdefault(header, {header}).update(body)
    loops = loops_of(function_of(graph))
    assert {loop.header: loop.blocks for loop in loops} == expected
    for loop in loops:
        assert set(loop.latches) == latches[loop.header]
        assert loop.node == max(int(one) for one in loop.latches)
        around = [one for one in loops if one is not loop and loop.header in one.blocks]
        # the smallest of those around it
        assert loop.parent is min(around, key=lambda one: len(one.blocks), default=None)
        assert loop.inner == [one for one in loops if one.parent is loop]
        assert all(loops.index(one) < loops.index(loop) for one in around)
    for block, loop in innermost_loops(loops).items():
        assert len(loop.blocks) == min(len(one.blocks) for one in loops if block in one.blocks)


@CASES
@given(graphs(acyclic=True))
def test_control_dependence_is_by_definition(graph: Graph) -> None:
    inside = reached(graph, "0")
    # every node that leads nowhere leads to the exit
    closed = {node: set(graph[node]) or {"exit"} for node in inside}

    def certain(node: str, target: str) -> bool:
        """Whether every way from `node` to the exit touches `target`."""
        return node == target or "exit" not in reached(closed, node, target)

    depends = control_dependence("0", graph)
    assert set(depends) == inside
    for node in inside:
        assert depends[node] == {
            (branching, one)
            for branching in inside
            for one in closed[branching] - {"exit"}
            if certain(one, node) and (branching == node or not certain(branching, node))
        }


def test_a_function_without_blocks_has_no_loops() -> None:
    assert loops_of(Function("declared", [], {})) == []
