"""What is refused of a PyTorch model as one, by its name: modules, and what is written out by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hlsgen.frontends.torch.alternatives import NORM, SEQUENCE, TWO_TENSORS
from hlsgen.frontends.torch.package import fx, nn, torch

WHOLE: dict[type[nn.Module], str] = (
    {nn.MultiheadAttention: TWO_TENSORS}
    | dict.fromkeys((nn.RNNBase, nn.RNNCellBase), SEQUENCE)
    | dict.fromkeys((nn.LayerNorm, nn.GroupNorm, nn.RMSNorm, nn.LocalResponseNorm), NORM)
    | dict.fromkeys((nn.InstanceNorm1d, nn.InstanceNorm2d), NORM)
)
"""Modules that are refused as a whole where a part of them is, with what could stand in their place."""
BETWEEN = frozenset({
    "_softmax", "add", "clone", "contiguous", "div", "dropout", "expand", "masked_fill", "mul", "reshape",
    "softmax", "sub", "transpose", "view", "where",
})  # fmt: skip
"""What may come between the two products of an attention."""
BEFORE_A_DIVISION = frozenset({"add", "clamp_min", "expand", "sqrt"})
"""What a normalisation does with a length or a deviation before it divides by it."""
PRODUCTS = frozenset({"bmm", "matmul", "mm"})
SOFTMAX = frozenset({"softmax", "_softmax"})
MOST_STEPS = 12


def whole_module(model: nn.Module, node: fx.Node) -> tuple[str, nn.Module, str] | None:
    """The outermost module of WHOLE in which a node lies: its path, itself, the remedy; None: none."""
    for path, _ in (node.meta.get("nn_module_stack") or {}).values():
        try:
            module = model.get_submodule(str(path))
        except AttributeError:
            continue
        for kind, fix in WHOLE.items():
            if isinstance(module, kind):
                return str(path), module, fix
    return None


def written_out(node: fx.Node) -> tuple[str, str] | None:
    """What a refused operation is a part of, and what could stand in its place; None: of nothing known."""
    op = _name(node)
    if op in ("rsqrt", "sqrt") and any(
        _name(before) in ("mean", "var") for before in made_of(node, BEFORE_A_DIVISION)
    ):
        return "LayerNorm, RMSNorm or the like", NORM
    if op in PRODUCTS:
        for around in (made_of(node, BETWEEN), _taken_by(node, BETWEEN)):
            names = {_name(one) for one in around}
            if names & SOFTMAX and names & PRODUCTS:
                return "attention", TWO_TENSORS
    return None


def _name(node: fx.Node) -> str:
    target = node.target
    return target._schema.name.split("::")[-1] if isinstance(target, torch._ops.OpOverload) else ""


def made_of(node: fx.Node, through: frozenset[str]) -> Iterator[fx.Node]:
    """The nodes that one is made of, over operations of `through`, a few steps back."""
    return _around(node, through, lambda one: one.all_input_nodes)


def _taken_by(node: fx.Node, through: frozenset[str]) -> Iterator[fx.Node]:
    """The nodes that are made of one, over operations of `through`, a few steps on."""
    return _around(node, through, lambda one: one.users)


def _around(
    node: fx.Node, through: frozenset[str], neighbours: Callable[[fx.Node], Iterable[fx.Node]]
) -> Iterator[fx.Node]:
    level = [node]
    for _ in range(MOST_STEPS):
        level = list(dict.fromkeys(other for one in level for other in neighbours(one)))
        yield from level
        level = [one for one in level if _name(one) in through]
