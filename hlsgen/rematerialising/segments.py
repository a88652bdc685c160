"""A module as a chain of segments, cut wherever a single tensor is alive.

torch.fx traces the module. Between two of its operations where one tensor alone is read later, the network
can be cut; a residual block, whose input is alive beside its inner tensors, becomes one segment. Modules that
cannot be traced (their forward branches on values, or changes numbers of their own) are taken whole, as are
those of torch.nn and of Brevitas.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from os.path import commonprefix
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.own_code import first_line
from hlsgen.base.short_repr import Brief
from hlsgen.frontends.torch.package import fx, nn, torch

WHOLE = ("torch.nn.", "torch.ao.", "brevitas.")
"""Packages whose modules are not looked into."""
FIX = "a module whose forward takes one tensor and gives one, such as nn.Sequential of its blocks"


@dataclass(frozen=True, kw_only=True)
class Segment(Brief):
    """Functions one after the other, from a tensor to a tensor, and the modules that they run.

    paths: of the modules, as they are called. label: of what calls none.
    """

    label: str
    paths: tuple[str, ...]
    functions: tuple[Callable[[torch.Tensor], torch.Tensor], ...]
    modules: tuple[nn.Module, ...]

    @property
    def name(self) -> str:
        """Where in the module it is: the path that all of it shares, or its first and last."""
        if not self.paths:
            return self.label
        shared = ".".join(commonprefix([path.split(".") for path in self.paths]))
        return shared or f"{self.paths[0]} to {self.paths[-1]}"

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        for function in self.functions:
            x = function(x)
        return x

    def then(self, other: Segment) -> Segment:
        """Both as one."""
        return Segment(
            label=self.label,
            paths=self.paths + other.paths,
            functions=self.functions + other.functions,
            modules=tuple(dict.fromkeys(self.modules + other.modules)),
        )


def segments_of(module: nn.Module) -> list[Segment]:
    """The module's segments in order; they share its parameters.

    Raises DesignError: it cannot be traced, or it takes or gives anything but one tensor.
    """
    if module._forward_hooks or module._forward_pre_hooks:
        raise DesignError(
            Problem(
                message=f"{_name(module)} has forward hooks, which a module cut into stages would not run",
                fix="wrap it: nn.Sequential(module)",
            )
        )
    graph = _traced(module)
    inputs = [node for node in graph.nodes if node.op == "placeholder" and node.users]
    results = next(node for node in graph.nodes if node.op == "output").args[0]
    if len(inputs) != 1 or not isinstance(results, fx.Node):
        what = f"takes {len(inputs)} inputs" if len(inputs) != 1 else "gives more than one tensor"
        raise DesignError(Problem(message=f"{_name(module)} {what}: no chain of stages", fix=FIX))
    return [
        _segment(module, nodes, before, after) for nodes, before, after in _cut(graph, inputs[0], results)
    ]


def _name(module: nn.Module) -> str:
    return type(module).__name__


def _cut(
    graph: fx.Graph, first: fx.Node, result: fx.Node
) -> Iterator[tuple[list[fx.Node], fx.Node, fx.Node]]:
    """Runs of operations, the tensor that each reads, and the one that it gives."""
    operations = [node for node in graph.nodes if node.op not in ("placeholder", "get_attr", "output")]
    alive, read, before = {first}, dict.fromkeys(operations, 0), first
    read[first] = 0
    nodes: list[fx.Node] = []
    for node in operations:
        nodes.append(node)
        for one in node.all_input_nodes:
            if one in read:
                read[one] += 1
                if read[one] == sum(user in read for user in one.users) and one is not result:
                    alive.discard(one)
        if node.users:
            alive.add(node)
        if alive == {node}:
            yield nodes, before, node
            nodes, before = [], node


def _segment(module: nn.Module, nodes: list[fx.Node], before: fx.Node, after: fx.Node) -> Segment:
    graph = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {before: graph.placeholder("x")}

    def copied(node: fx.Node) -> fx.Node:
        if node not in copies:
            copies[node] = graph.node_copy(node)  # a parameter, which needs no inputs
        return copies[node]

    for node in nodes:
        copies[node] = graph.node_copy(node, copied)
    graph.output(copies[after])
    called = [str(node.target) for node in nodes if node.op == "call_module"]
    modules = dict.fromkeys(inner for target in called for inner in module.get_submodule(target).modules())
    function: Callable[[torch.Tensor], torch.Tensor] = fx.GraphModule(module, graph)
    only = nodes[0]
    if len(nodes) == 1 and only.op == "call_module" and only.args == (before,) and not only.kwargs:
        function = module.get_submodule(called[0])
    return Segment(label=after.name, paths=tuple(called), functions=(function,), modules=tuple(modules))


class _TakeWholeError(Exception):
    """The module of this path cannot be traced."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass
class _Numbers:
    """What a module's forward might change of the module: its own buffers and plain attributes."""

    module: nn.Module
    plain: Mapping[str, object] = field(init=False)
    buffers: Mapping[str, tuple[torch.Tensor, int, torch.Tensor]] = field(init=False)

    def __post_init__(self) -> None:
        self.plain = plain_attributes(self.module)
        self.buffers = {
            name: (buffer, buffer._version, buffer.detach().clone())
            for name, buffer in self.module._buffers.items()
            if buffer is not None
        }

    def changed(self) -> bool:
        own = self.module._buffers
        return plain_attributes(self.module) != self.plain or any(
            own.get(name) is not buffer or buffer._version != version
            for name, (buffer, version, _) in self.buffers.items()
        )

    def restore(self) -> None:
        for name, value in self.plain.items():
            setattr(self.module, name, value)
        for name, (buffer, _, content) in self.buffers.items():
            with torch.no_grad():
                buffer.copy_(content)
            self.module._buffers[name] = buffer


def plain_attributes(module: nn.Module) -> dict[str, object]:
    """Numbers and texts that a module has as attributes."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, bool | int | float | str | type(None))
    }


class _Tracer(fx.Tracer):
    """Goes into modules but those that are taken whole."""

    def __init__(self, whole: set[str]) -> None:
        super().__init__()
        self._whole = whole

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        package = type(m).__module__ + "."
        own = package.startswith(WHOLE) and type(m).forward is not nn.Sequential.forward
        hooked = bool(m._forward_hooks or m._forward_pre_hooks)
        scripted = isinstance(m, torch.jit.ScriptModule)
        return own or hooked or scripted or module_qualified_name in self._whole

    def call_module(
        self, m: nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        path = self.path_of_module(m)
        numbers = _Numbers(m)
        try:
            found = super().call_module(m, forward, args, kwargs)
        except _TakeWholeError:
            raise
        except Exception as error:
            numbers.restore()
            raise _TakeWholeError(path) from error
        if numbers.changed():
            numbers.restore()
            raise _TakeWholeError(path)
        return found


def _traced(module: nn.Module) -> fx.Graph:
    """The graph, with as few modules taken whole as can be. Raises DesignError."""
    whole: set[str] = set()
    defaults = {
        name: one.default
        for name, one in inspect.signature(module.forward).parameters.items()
        if one.default is not inspect.Parameter.empty
    }
    while True:
        numbers = _Numbers(module)
        try:
            graph = _Tracer(whole).trace(module, concrete_args=defaults or None)
        except _TakeWholeError as one:
            whole.add(one.path)
            continue
        except Exception as error:  # of the user's forward, which may raise anything
            message = f"{_name(module)} cannot be traced: {type(error).__name__}: {first_line(error)}"
            raise DesignError(Problem(message=message, fix=FIX)) from error
        if numbers.changed():
            numbers.restore()
            message = f"the forward of {_name(module)} changes numbers of its own, which a trace does not see"
            raise DesignError(Problem(message=message, fix="wrap it: nn.Sequential(module), one stage"))
        return graph
