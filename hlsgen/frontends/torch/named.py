"""What the results of an exported program are called: by the modules and operations that give them."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass

from hlsgen.frontends.torch.package import fx, nn, torch

NODE = "%"
"""Begins the key of a result that is no module's: the name of its node in the exported program."""


@dataclass(frozen=True, kw_only=True)
class ResultName:
    """text: layer1.0.relu, of its second call layer1.0.relu@1; of a function layer1.0.add. kind: ReLU,
    aten.add. key: text of a module, else NODE and the node.
    """

    text: str
    kind: str
    key: str


class Names:
    """Names for the nodes of a program that `model` was exported to."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._given: dict[str, str] = {}
        """The call of each name that is no module's."""

    def path(self, node: fx.Node) -> tuple[str, str]:
        """The name that a node's layers are called after, and how messages call it.

        The module that consists of this operation, or the module and the operation.
        """
        path, _ = _innermost(node)
        module = self._module(path)
        label = _label(node)
        if module is not None:
            label = f"{path} ({type(module).__name__}): {label}"
        return (path if is_leaf(module) else _inside(path, node)), label

    def of_result(self, node: fx.Node) -> ResultName:
        """The name of a node's result as users know it. The last result of a call of a module is its own."""
        path, call = _innermost(node)
        module = self._module(path)
        if module is not None and is_leaf(module):
            text = f"{path}@{call}" if call else path
            return ResultName(text=text, kind=type(module).__name__, key=text)
        part, key = "", f"{NODE}{node.name}"
        while node.target is operator.getitem and isinstance(node.args[0], fx.Node):
            part, node = f"[{node.args[1]}]{part}", node.args[0]
        function, of_call = _function(node)
        wish = f"{path}.{function}{part}" if path else f"{function}{part}"
        return ResultName(text=self._unique(wish, of_call), kind=_label(node), key=key)

    def _unique(self, wish: str, call: str) -> str:
        """The wish, or wish@1 and so on where other calls have that."""
        text, count = wish, 0
        while self._given.setdefault(text, call) != call:
            count += 1
            text = f"{wish}@{count}"
        return text

    def _module(self, path: str) -> nn.Module | None:
        """The module of a path; None for the model itself, and where a path is no module's."""
        try:
            return self._model.get_submodule(path) if path else None
        except AttributeError:
            return None


def _innermost(node: fx.Node) -> tuple[str, int]:
    """The path of the module that a node is part of, and which of its calls this is, from 0."""
    stack = node.meta.get("nn_module_stack") or {}
    if not stack:
        return "", 0
    key, (path, *_) = list(stack.items())[-1]
    found = re.search(r"@(\d+)$", str(key))
    return str(path), int(found[1]) if found else 0


def _function(node: fx.Node) -> tuple[str, str]:
    """The function that the model's author wrote, flatten where export has a view, and which call this is.

    Of what export has taken apart all nodes are of one call, whose last result is the function's.
    """
    call, function = node.meta.get("torch_fn") or (node.name, "")
    name = str(function).rpartition(".")[2]
    return (name, str(call)) if name.isidentifier() else (_short(node), node.name)


def is_leaf(module: nn.Module | None) -> bool:
    """Whether it is one of PyTorch's own, without others inside."""
    return (
        module is not None and type(module).__module__.startswith("torch.nn") and not any(module.children())
    )


def _inside(path: str, node: fx.Node) -> str:
    short = _short(node)
    return f"{path}.{short}" if path else short


def _short(node: fx.Node) -> str:
    return re.sub(r"_?native_batch_norm_legit.*", "batch_norm", op_name(node)).strip("_")


def _label(node: fx.Node) -> str:
    library = "aten" if isinstance(node.target, torch._ops.OpOverload) else "torch"
    return f"{library}.{_short(node)}"


def op_name(node: fx.Node) -> str:
    """The operation without its overload: aten.conv2d.padding -> conv2d."""
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        return target._schema.name.split("::")[-1]
    return str(getattr(target, "__name__", target))
