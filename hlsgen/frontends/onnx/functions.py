"""The nodes of an ONNX model, and how many its local functions make of it without writing them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeAlias

Key: TypeAlias = tuple[str, str, str]


def inlined_nodes(proto: Any) -> int:
    """Nodes of a ModelProto once every call of a function is its nodes, those of inner graphs too.

    Functions that call themselves count as one node: onnx.checker refuses them.
    """
    functions = {_key(one): list(every_node(one)) for one in proto.functions}
    calls = {key: {_called(node) for node in nodes} & functions.keys() for key, nodes in functions.items()}
    sizes: dict[Key, int] = {}
    try:
        for key in TopologicalSorter(calls).static_order():
            sizes[key] = _size(functions[key], sizes)
    except CycleError:
        sizes = dict.fromkeys(functions, 1)
    return _size(every_node(proto.graph), sizes)


def _size(nodes: Any, sizes: Mapping[Key, int]) -> int:
    return sum(sizes.get(_called(node), 1) for node in nodes)


def _key(function: Any) -> Key:
    return function.domain, function.name, getattr(function, "overload", "")


def _called(node: Any) -> Key:
    """The function that a node would call."""
    return node.domain, node.op_type, getattr(node, "overload", "")


def every_node(graph: Any) -> Iterator[Any]:
    """The nodes of a graph or function, and of the graphs in it; protobuf does not nest deeper than 100."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from every_node(inner)
