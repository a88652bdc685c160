"""What PyTorch itself computes in every module and operation of a model, by the names of `Names`.

Modules are watched by forward hooks while the model runs as its author wrote it. What is no module's, x + y
or torch.relu, comes from a second run, of the exported program node by node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.frontends.torch.export import Program, exported, named_results, traceable
from hlsgen.frontends.torch.named import NODE
from hlsgen.frontends.torch.package import fx, nn, torch
from hlsgen.model.origins import Floats, FrameworkRun, LayerValues, Origin


def layer_values(
    model: Any, input_shapes: Sequence[tuple[int, ...]], origins: Sequence[Origin]
) -> LayerValues:
    """Runs the model on frames and shows these tensors of it.

    The model is in evaluation mode meanwhile and afterwards as it was. Raises DesignError: as `exported`.
    """
    module = traceable(model)
    by_node = {one.key.removeprefix(NODE): one for one in origins if one.key.startswith(NODE)}
    by_module = {one.key: one for one in origins if not one.key.startswith(NODE)}
    if not isinstance(model, nn.Module):  # an ExportedProgram's own module has no modules inside
        by_module = {}
    with _evaluating(module):
        program = exported(model, input_shapes) if by_node else None

    def run(frames: Sequence[Floats]) -> FrameworkRun:
        given = _as_inputs(module, frames)
        with _evaluating(module), torch.no_grad():
            result, found = _of_modules(module, given, by_module)
            outputs = [_array(one) for _, one in named_results(result)]
            if program is not None:
                found |= _of_nodes(program, given, by_node)
        return FrameworkRun(outputs=outputs, layers=found)

    return LayerValues(title=f"PyTorch {torch.__version__}", of=run)


def _as_inputs(module: nn.Module, frames: Sequence[Floats]) -> tuple[torch.Tensor, ...]:
    """Frames in the type of the model's parameters, on their device."""
    held = [one for one in (*module.parameters(), *module.buffers()) if one.is_floating_point()]
    types = {one.dtype for one in held}
    dtype = types.pop() if len(types) == 1 else torch.float32
    device = held[0].device if held else torch.device("cpu")
    return tuple(torch.from_numpy(np.ascontiguousarray(array)).to(device, dtype) for array in frames)


@contextmanager
def _evaluating(module: nn.Module) -> Iterator[None]:
    modes = [(one, one.training) for one in module.modules()]
    for one, _ in modes:
        one.training = False
    try:
        yield
    finally:
        for one, training in modes:
            one.training = training


def _of_modules(
    module: nn.Module, given: tuple[torch.Tensor, ...], wanted: Mapping[str, Origin]
) -> tuple[object, dict[str, Floats]]:
    """The model's own result, and those of calls of modules: the k-th call of one at `path` is path@k, the
    first just path.
    """
    found: dict[str, Floats] = {}
    calls: dict[str, int] = {}

    def watching(path: str) -> Callable[..., None]:
        def watch(_module: nn.Module, _inputs: object, result: object) -> None:
            count = calls.get(path, 0)
            calls[path] = count + 1
            origin = wanted.get(f"{path}@{count}" if count else path)
            if origin is not None:
                _keep(found, origin, result)

        return watch

    paths = {key.partition("@")[0] for key in wanted}
    hooks = [
        one.register_forward_hook(watching(path)) for path, one in module.named_modules() if path in paths
    ]
    try:
        result = module(*given)
    finally:
        for hook in hooks:
            hook.remove()
    return result, found


def _of_nodes(
    program: Program, given: tuple[torch.Tensor, ...], wanted: Mapping[str, Origin]
) -> dict[str, Floats]:
    """Results of the nodes of an exported program, by their names; each is forgotten after its last use."""
    found: dict[str, Floats] = {}
    last = {source: node for node in program.nodes for source in node.all_input_nodes}
    results: dict[fx.Node, Any] = dict(zip(program.inputs, given, strict=True))
    results |= {node: tensor.detach() for node, tensor in program.constants.items()}
    for node in program.nodes:
        if node.op != "call_function":
            continue
        arguments, named = fx.map_arg((node.args, dict(node.kwargs)), results.__getitem__)
        assert callable(node.target)
        results[node] = node.target(*arguments, **named)
        if node.name in wanted:
            _keep(found, wanted[node.name], results[node])
        for source in node.all_input_nodes:
            if last[source] is node:
                results.pop(source, None)
    return found


def _keep(found: dict[str, Floats], origin: Origin, result: object) -> None:
    """A copy of a result, or of the first tensor of several: an operation in place may change it later."""
    tensor = result[0] if isinstance(result, tuple | list) and result else result
    if isinstance(tensor, torch.Tensor) and tuple(tensor.shape[1:]) == origin.shape:
        found[origin.name] = _array(tensor)


def _array(tensor: object) -> Floats:
    """A copy of a tensor. Raises DesignError: the model gives something else."""
    if not isinstance(tensor, torch.Tensor):
        message = f"the model returns {type(tensor).__name__} among its outputs"
        raise DesignError(Problem(message=message, fix="a forward() that returns tensors"))
    array: Floats = tensor.detach().cpu().double().numpy().copy()
    return array
