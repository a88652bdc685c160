"""What exporters take apart into plain operations, and hlsgen has no layer for: found, to be refused by name.

LayerNorm comes as ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt and Div, attention as MatMul, Softmax and
MatMul. Told one by one, those would mislead: who wrote nn.LayerNorm(8) has written no square root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hlsgen.base.errors import Problem
from hlsgen.frontends.onnx.model import Node

NORM = "BatchNormalization, whose statistics are constant (nn.BatchNorm1d, nn.BatchNorm2d)"
TWO_TENSORS = "convolutions and linear layers, whose weights are constant"
SEQUENCE = "convolutions over the sequence (Conv of [N, C, L]): a layer keeps no state between steps"
RECURRENT = {
    "LSTM": "an LSTM",
    "GRU": "a GRU",
    "RNN": "a recurrent layer",
    "Scan": "a loop",
    "Loop": "a loop",
}
WITH_ARRANGEMENT = frozenset({*RECURRENT, "Attention", "LayerNormalization", "InstanceNormalization"})
"""Operations before which exporters move axes, the batch too: only they themselves are to be told."""
MOVES = frozenset({
    "Cast", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze",
})  # fmt: skip
BETWEEN = MOVES | frozenset({"Add", "Clip", "Div", "Dropout", "Mul", "Sub", "Where"})
"""What may come between an attention's product of queries and keys, its softmax, and the other product."""
BEFORE = BETWEEN | frozenset({"Gemm", "MatMul"})
"""What may come before those, and for them alone: projections too."""


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Nodes that together are one thing. None of them is told alone; `problem` is told in their place.

    Without a problem they only rearrange what another operation takes, which is told itself.
    """

    nodes: tuple[Node, ...]
    problem: Problem | None


@dataclass(frozen=True, kw_only=True)
class Links:
    """Who gives a tensor, and who reads it; `computed`: the names of those that depend on an input."""

    makers: Mapping[str, Node]
    readers: Mapping[str, Sequence[Node]]
    computed: frozenset[str]

    @classmethod
    def of(cls, nodes: Sequence[Node], inputs: Iterable[str]) -> Links:
        computed = set(inputs)
        readers: dict[str, list[Node]] = {}
        for node in nodes:
            for name in node.inputs:
                readers.setdefault(name, []).append(node)
            if node.op not in ("Shape", "Size") and not computed.isdisjoint(node.inputs):
                computed.update(filter(None, node.outputs))
        makers = {name: node for node in nodes for name in node.outputs if name}
        return cls(makers=makers, readers=readers, computed=frozenset(computed))

    def before(self, node: Node, index: int = 0) -> Node | None:
        """Who made an input."""
        return self.makers.get(node.input(index))

    def after(self, node: Node) -> list[Node]:
        return [reader for name in node.outputs if name for reader in self.readers.get(name, ())]

    def operands(self, node: Node) -> list[Node]:
        """Who made those of its inputs that depend on an input of the model."""
        return [self.makers[name] for name in node.inputs if name in self.computed and name in self.makers]

    def is_product(self, node: Node) -> bool:
        """Whether it multiplies two matrices that both depend on an input."""
        return node.op == "MatMul" and all(name in self.computed for name in node.inputs)


def patterns(nodes: Sequence[Node], inputs: Iterable[str]) -> list[Pattern]:
    """All that a graph has; no node is in two of them."""
    links = Links.of(nodes, inputs)
    found: list[Pattern] = []
    taken: set[int] = set()
    for node in nodes:
        pattern = _normalisation(links, node) or _attention(links, node)
        if pattern is not None and taken.isdisjoint(map(id, pattern.nodes)):
            found.append(pattern)
            taken.update(map(id, pattern.nodes))
    ends = {id(node): node for one in found for node in one.nodes}
    ends |= {id(node): node for node in nodes if node.op in WITH_ARRANGEMENT}
    moves = tuple(_moves_before(links, ends.values(), taken | set(ends)))
    return [*found, Pattern(nodes=moves, problem=None)] if moves else found


def _told(first: Node, what: str, nodes: Sequence[Node], fix: str) -> Pattern:
    operations = ", ".join(node.op for node in nodes)
    message = (
        f"{first.label}: with those around it this is {what}, taken apart by the exporter ({operations}); "
        "hlsgen has no layer for it"
    )
    return Pattern(nodes=tuple(nodes), problem=Problem(message=message, fix=fix))


def _normalisation(links: Links, root: Node) -> Pattern | None:
    """A normalisation, (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) or without the mean, by its root."""
    if root.op != "Sqrt" or root.input(0) not in links.computed:
        return None
    chain = [root]
    step = links.before(root)
    if step is not None and step.op in ("Add", "Clip", "Max"):
        chain.insert(0, step)
        step = next(iter(links.operands(step)), None)
    if step is None or step.op not in ("ReduceMean", "ReduceSum", "GlobalAveragePool"):
        return None
    squares = links.before(step)
    if squares is None or not (
        squares.op == "Pow" or (squares.op == "Mul" and len(set(squares.inputs)) == 1)
    ):
        return None
    chain[:0] = [squares, step]
    centred = links.before(squares)
    what = "RMSNorm"
    if centred is not None and centred.op == "Sub":
        mean = links.before(centred, 1)
        if mean is not None and mean.op in ("ReduceMean", "GlobalAveragePool"):
            what = "LayerNorm (or a GroupNorm or InstanceNorm)"
            chain[:0] = [mean, centred]
    quotients = [reader for reader in links.after(root) if reader.op in ("Div", "Reciprocal", "Mul")]
    inverses = [reader for one in quotients if one.op == "Reciprocal" for reader in links.after(one)]
    if not quotients:
        return None
    return _told(root, what, _once([*chain, *quotients, *inverses]), NORM)


def _attention(links: Links, last: Node) -> Pattern | None:
    """softmax(queries x keys) x values; `last`: the product with the values."""
    if not links.is_product(last):
        return None
    for way in _back(links, last, ()):
        kinds = [node.op for node in way]
        if "Softmax" in kinds and links.is_product(way[-1]) and len(way) > 1:
            return _told(last, "attention", [*way[::-1], last], TWO_TENSORS)
    return None


def _back(links: Links, node: Node, way: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """Ways back from a node over what may stand within an attention, to a product of two tensors."""
    if len(way) > 12:
        return
    for before in links.operands(node):
        if links.is_product(before):
            yield (*way, before)
        elif before.op in BETWEEN or (before.op == "Softmax" and "Softmax" not in [one.op for one in way]):
            yield from _back(links, before, (*way, before))


def _moves_before(links: Links, ends: Iterable[Node], taken: set[int]) -> Iterator[Node]:
    """Nodes that arrange what something that is told takes, and that alone."""
    waiting = list(ends)
    inside = set(taken)
    while waiting:
        for before in links.operands(waiting.pop()):
            readers = [reader for reader in links.after(before) if reader.op not in ("Shape", "Size")]
            alone = all(id(reader) in inside for reader in readers)
            if id(before) not in inside and before.op in BEFORE and alone and not links.is_product(before):
                inside.add(id(before))
                waiting.append(before)
                yield before


def _once(nodes: Sequence[Node]) -> list[Node]:
    return list({id(node): node for node in nodes}.values())
