"""A PyTorch model written down: every module with its attributes, and the calls of modules and functions.

A call of a Sequential of PyTorch's own modules is one entry with its members, as a call of one of these is.
Everything else, x + y or torch.flatten(x, 1), is an entry with the operation and its arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.frontends.torch.export import Program, exported, traceable
from hlsgen.frontends.torch.named import Names, is_leaf, op_name
from hlsgen.frontends.torch.package import fx, nn, torch
from hlsgen.frontends.torch.to_graph import CHECKS
from hlsgen.model.documents import Entry, ModelDocument, as_json, connected


def module_document(model: Any, input_shapes: Sequence[tuple[int, ...]]) -> ModelDocument:
    """The model in evaluation mode. Raises DesignError: as `exported`."""
    module = traceable(model)
    program = exported(model, input_shapes, as_written=True)
    names = _unique_names(module)
    calls = _Calls(module, program, names)
    return ModelDocument(
        layers=_layers(module, names),
        dag=calls.entries(),
        parameters={path: _array(one) for path, one in _tensors(module, program).items()},
        owners=calls.owners,
    )


def _tensors(module: nn.Module, program: Program) -> dict[str, torch.Tensor]:
    return dict(module.state_dict()) | {program.paths[node]: one for node, one in program.constants.items()}


def _array(tensor: torch.Tensor) -> NDArray[np.generic]:
    """A copy; NumPy has no bfloat16 and the like."""
    plain = tensor.detach().cpu()
    whole: NDArray[np.generic]
    try:
        whole = plain.numpy().copy()
    except TypeError:
        whole = plain.float().numpy().copy()
    return whole


def _unique_names(model: nn.Module) -> dict[str, str]:
    """A name for each path of a module: conv_relu.0 is conv_relu_0, unless another has that."""
    names: dict[str, str] = {}
    for path, module in model.named_modules(remove_duplicate=False):
        wish = path.replace(".", "_") or type(module).__name__
        names[path] = wish if wish not in names.values() else path
    return names


def _layers(model: nn.Module, names: Mapping[str, str]) -> list[Entry]:
    """The model's modules in the order in which they were declared."""
    if not any(model.children()):
        return [_entry(model, "", names)]
    return [_entry(one, path, names) for path, one in model.named_children()]


def _entry(module: nn.Module, path: str, names: Mapping[str, str]) -> Entry:
    """A module with its attributes and those inside: of a Sequential by their places, else by their names."""
    children = list(module.named_children())
    prefix = f"{path}." if path else ""
    inside = {key: _entry(one, f"{prefix}{key}", names) for key, one in children}
    if _is_sequential(module):
        members = {str(place): one for place, one in enumerate(inside.values())}
        for one in members.values():
            if one["sequential"] == "no":  # of a group's members CEDR's files say only that they are groups
                del one["sequential"]
        return {"sequential": "yes", "name": names[path], "path": path, "length": len(members), **members}
    entry: Entry = {"sequential": "no", "name": names[path], "path": path, "type": type(module).__name__}
    entry |= _attributes(module)
    return entry | ({"modules": inside} if inside else {})


def _is_sequential(module: nn.Module) -> bool:
    """Whether it is PyTorch's own, which calls its members in turn."""
    return type(module) is nn.Sequential


def _attributes(module: nn.Module) -> Entry:
    """What the module's author gave it: its plain attributes; of the rest, whether it has a bias."""
    found: Entry = {}
    for name, value in vars(module).items():
        if name.startswith("_") or name == "training":
            continue
        try:
            found[name] = as_json(value)
        except TypeError:
            continue  # a function or an object of the user's: no JSON
    if "bias" in inspect.signature(type(module).__init__).parameters and "bias" not in found:
        found["bias"] = getattr(module, "bias", None) is not None
    return found


@dataclass
class _Call:
    """Nodes that one entry computes. path: of the module that is called; None: an operation."""

    nodes: list[fx.Node] = field(default_factory=list)
    path: str | None = None


class _Calls:
    """The calls of an exported program as entries of a dag. owners: their names by those of `Names`."""

    def __init__(self, model: nn.Module, program: Program, names: Mapping[str, str]) -> None:
        self._model, self._program, self._names = model, program, names
        self._results = Names(model)
        self._given: dict[str, str] = {}
        """Names of entries by the names of results."""
        self._of_node = {node: node.name for node in program.inputs}
        self.owners: dict[str, str] = {}

    def entries(self) -> list[Entry]:
        every = self._program.nodes
        nodes = [node for node in every if node.op == "call_function" and op_name(node) not in CHECKS]
        made = []
        for call in self._split(nodes, 0):
            results = [self._results.of_result(node).text for node in call.nodes]
            name = self._name(call, results[-1])
            self.owners |= dict.fromkeys(results, name)
            attributes = self._function(call.nodes[0]) if call.path is None else self._module(call.path)
            made.append((name, self._sources(call), attributes))
            self._of_node[call.nodes[-1]] = name
        shown = {port: self._of_node[node] for port, node in self._program.outputs if node in self._of_node}
        return connected(made, shown)

    def _split(self, nodes: Sequence[fx.Node], depth: int) -> Iterator[_Call]:
        """Nodes as calls of the outermost modules that an entry can be, else of what is inside these."""
        calls: dict[str, _Call] = {}
        deeper = set()
        for node in nodes:
            around = list(self._modules(node))[depth:]
            key, path = around[0] if around else (node.name, None)
            calls.setdefault(key, _Call(path=path)).nodes.append(node)
            if path is not None:
                deeper.add(key)
        for key, call in calls.items():
            if key in deeper and not self._is_whole(call):
                yield from self._split(call.nodes, depth + 1)
            else:
                yield call

    def _modules(self, node: fx.Node) -> Iterator[tuple[str, str]]:
        """The calls of modules around a node that an entry can be, the outermost first, with their paths."""
        for key, (path, *_) in (node.meta.get("nn_module_stack") or {}).items():
            path = str(path).partition("@")[0]
            if path not in self._names:
                continue
            module = self._model.get_submodule(path)
            if is_leaf(module) or (path and _is_pure(module)):
                yield str(key), path

    def _is_whole(self, call: _Call) -> bool:
        """Whether nodes take one tensor, and nothing but the last of them is read by others."""
        inside = set(call.nodes)
        hidden = all(inside.issuperset(node.users) for node in call.nodes[:-1])
        return hidden and len(self._sources(call)) == 1

    def _sources(self, call: _Call) -> list[str]:
        """The entries and inputs that a call reads, each once."""
        inside = set(call.nodes)
        read = [source for node in call.nodes for source in node.all_input_nodes]
        outer = [one for one in read if one not in inside and one not in self._program.constants]
        return list(dict.fromkeys(self._of_node.get(one, one.name) for one in outer))

    def _name(self, call: _Call, result: str) -> str:
        """The name of a call: the module's, of its second call conv@1; of an operation that of its result."""
        wish = result.partition("@")[0].replace(".", "_").strip("_")
        if call.path is not None:
            wish = self._names[call.path]
        elif not isinstance(call.nodes[-1].meta.get("val"), torch.Tensor | tuple | list):
            wish = op_name(call.nodes[-1])
        name, count = wish, 0
        while name in self._of_node.values():
            count += 1
            name = f"{wish}@{count}"
        return name

    def _module(self, path: str) -> Entry:
        return _entry(self._model.get_submodule(path), path, self._names)

    def _function(self, node: fx.Node) -> Entry:
        """An operation with its arguments."""
        return {
            "sequential": "no",
            "type": op_name(node).strip("_"),
            "function": str(node.target) if isinstance(node.target, torch._ops.OpOverload) else op_name(node),
            "args": self._argument(node.args),
            "kwargs": {name: self._argument(value) for name, value in node.kwargs.items()},
        }

    def _argument(self, value: object) -> Any:
        """An argument as JSON: tensors by the entries and parameters that have them."""
        if isinstance(value, fx.Node):
            if value in self._program.constants:
                return {"parameter": self._program.paths[value]}
            return {"tensor": self._of_node.get(value, value.name)}
        if isinstance(value, tuple | list):
            return [self._argument(one) for one in value]
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
            return {"torch": str(value).removeprefix("torch.")}
        return as_json(value)


def _is_pure(module: nn.Module) -> bool:
    """Whether it is a Sequential of PyTorch's own modules alone, or of other such Sequentials."""
    inside = list(module.children())
    return _is_sequential(module) and all(is_leaf(one) or _is_pure(one) for one in inside)
