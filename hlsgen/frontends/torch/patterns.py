"""Activations that PyTorch writes out in several operations: found in a program and put back into one.

F.softsign is x / (|x| + 1); F.hardshrink and F.softshrink choose by |x| > lambd.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from hlsgen.frontends.torch.package import fx, torch

aten = torch.ops.aten


def restored(graph: fx.Graph) -> None:
    """Replaces each such group of nodes in `graph` by a call of softsign, softshrink or hardshrink."""
    for node in list(graph.nodes):
        for find in (_softsign, _softshrink, _hardshrink):
            found = find(node)
            if found is None:
                continue
            target, arguments = found
            with graph.inserting_before(node):
                fresh = graph.call_function(target, arguments)
            fresh.meta = dict(node.meta)
            node.replace_all_uses_with(fresh)
            break
    graph.eliminate_dead_code()


def softsign(self: torch.Tensor) -> torch.Tensor:
    """A node's target."""
    return self / (self.abs() + 1)


def softshrink(self: torch.Tensor, lambd: float) -> torch.Tensor:
    """A node's target."""
    return torch.nn.functional.softshrink(self, lambd)


def hardshrink(self: torch.Tensor, lambd: float) -> torch.Tensor:
    """A node's target."""
    return torch.nn.functional.hardshrink(self, lambd)


RESTORED: tuple[Callable[..., torch.Tensor], ...] = (softsign, softshrink, hardshrink)
Found = tuple[Callable[..., torch.Tensor], tuple[fx.node.Argument, ...]] | None


def _softsign(node: fx.Node) -> Found:
    """x / (|x| + 1)"""
    if _is(node, aten.div.Tensor):
        x, below = node.args[:2]
        if _is(below, aten.add.Tensor) and below.args[1] == 1 and _is_abs(below.args[0], x):
            return softsign, (x,)
    return None


def _softshrink(node: fx.Node) -> Found:
    """where(|x| > lambd, x - sign(x) * lambd, x * 0)"""
    if not _is(node, aten.where.self):
        return None
    condition, moved, zero = node.args[:3]
    if not (_is(condition, aten.gt.Scalar) and _is(moved, aten.sub.Tensor) and _is(zero, aten.mul.Tensor)):
        return None
    x, limit = zero.args[0], condition.args[1]
    step = moved.args[1]
    if not _is(step, aten.mul.Tensor) or step.args[1] != limit or zero.args[1] != 0:
        return None
    sign, of_x = step.args[0], moved.args[0] is x and _is_abs(condition.args[0], x)
    return (softshrink, (x, limit)) if of_x and _is(sign, aten.sign.default) and sign.args[0] is x else None


def _hardshrink(node: fx.Node) -> Found:
    """where(|x| <= lambd, 0, x)"""
    if not _is(node, aten.where.ScalarSelf):
        return None
    condition, zero, x = node.args[:3]
    if zero == 0 and _is(condition, aten.le.Scalar) and _is_abs(condition.args[0], x):
        return hardshrink, (x, condition.args[1])
    return None


def _is(node: object, target: object) -> TypeGuard[fx.Node]:
    return isinstance(node, fx.Node) and node.op == "call_function" and node.target is target


def _is_abs(node: object, x: object) -> bool:
    return isinstance(node, fx.Node) and _is(node, aten.abs.default) and node.args[0] is x
