"""Models of legacy Keras and of Keras 3 as the same thing: calls of layers, on tensors known by identity.

Of either generation a Functional or Sequential model is a graph of nodes. A subclassed model has none: its
own `call` is followed with symbolic tensors, which makes one. Nothing of Keras is imported here: where its
class is from says whose a model is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hlsgen.base.errors import DesignError, Problem

GENERATIONS = {"tf_keras": 2, "keras": 3}
"""The generation of Keras, by package."""
WRAPPER = "TimeDistributed"
"""The class of a layer that computes another one for each step of a sequence."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Call:
    """A layer, or a function on tensors, called once. Tensors stand as Keras' own among the arguments.

    inputs: all tensors among them, in order.
    """

    layer: Any
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    arguments: tuple[Any, ...]
    options: dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class KerasModel:
    """The calls of a model, each after those that make its inputs."""

    name: str
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    output_names: tuple[str, ...]
    calls: tuple[Call, ...]

    def readers(self, tensor: Any) -> list[Call]:
        """The calls that read a tensor."""
        return [call for call in self.calls if any(read is tensor for read in call.inputs)]


def generation(thing: object) -> int | None:
    """2 or 3: the Keras that the class of a layer or model derives from; None: neither."""
    for base in type(thing).__mro__:
        package = base.__module__.partition(".")[0]
        if package in GENERATIONS:
            return GENERATIONS[package]
    return None


def is_model(thing: object) -> bool:
    """Whether it is a model of either Keras, with or without a graph."""
    return generation(thing) is not None and any(
        base.__name__ == "Model" and base.__module__.partition(".")[0] in GENERATIONS
        for base in type(thing).__mro__
    )


def graph_holder(model: Any) -> Any:
    """What has the nodes of a model: itself, or what Keras 3's Sequential keeps; None: there are none."""
    held = getattr(model, "_functional", None) or model
    return held if getattr(held, "_nodes_by_depth", None) else None


def model_calls(model: Any) -> KerasModel:
    """The calls of a model that has a graph."""
    held = graph_holder(model)
    inputs, outputs = _tensors(held.inputs), _tensors(held.outputs)
    calls = []
    for depth in sorted(held._nodes_by_depth, reverse=True):
        calls += [_call(node) for node in held._nodes_by_depth[depth] if not node.is_input]
    return KerasModel(
        name=str(model.name),
        inputs=inputs,
        outputs=outputs,
        output_names=tuple(held.output_names),
        calls=tuple(calls),
    )


def _call(node: Any) -> Call:
    if hasattr(node, "operation"):  # Keras 3
        arguments, options = node.arguments.args, dict(node.arguments.kwargs)
        return Call(
            layer=node.operation,
            inputs=tuple(node.input_tensors),
            outputs=_tensors(node.output_tensors),
            arguments=tuple(arguments),
            options=options,
        )
    return Call(
        layer=node.layer,
        inputs=tuple(node.keras_inputs),
        outputs=_tensors(node.outputs),
        arguments=tuple(node.call_args),
        options=dict(node.call_kwargs),
    )


def _tensors(found: Any) -> tuple[Any, ...]:
    if isinstance(found, dict):
        return tuple(found.values())
    return tuple(found) if isinstance(found, list | tuple) else (found,)


class ResultNames:
    """Names of what calls give: the layer's, of its second call dense@1, of several results split[0]."""

    def __init__(self) -> None:
        self._calls: dict[str, int] = {}

    def of_results(self, call: Call, prefix: str) -> list[str]:
        """The names of a call's results. prefix: of layers of a model inside. Calls come in their order."""
        label = f"{prefix}{call.layer.name}"
        count = self._calls.get(label, 0)
        self._calls[label] = count + 1
        label = f"{label}@{count}" if count else label
        return [label] if len(call.outputs) == 1 else [f"{label}[{n}]" for n in range(len(call.outputs))]


def layers_of(model: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every layer and function that the model calls, with its name; those of models inside included, once."""
    seen = set()
    for call in model_calls(model).calls:
        if id(call.layer) in seen:
            continue
        seen.add(id(call.layer))
        label, layer = f"{prefix}{call.layer.name}", call.layer
        if type(layer).__name__ == WRAPPER and generation(layer) is not None:
            yield label, layer
            label, layer = f"{label}.{layer.layer.name}", layer.layer
        if is_model(layer) and graph_holder(layer) is not None:
            yield from layers_of(layer, f"{label}.")
        else:
            yield label, layer


# subclassed models


def with_graph(model: Any) -> Any:
    """The model itself if it has a graph, else one of what its `call` does, which shares its layers.

    Raises DesignError: it was never built or called, or its `call` does what no graph of layers can say.
    """
    if graph_holder(model) is not None:
        return model
    shapes = _known_shapes(model)
    message = f"the model {model.name} has no graph of layers: it is a {type(model).__name__}"
    if shapes is None:
        fix = (
            "call it once, model(x), before: then its input's shape is known; or a Functional model, or a "
            "Sequential one whose input shape is known"
        )
        raise DesignError(Problem(message=message, fix=fix))
    base = next(base for base in type(model).__mro__ if base.__name__ == "Model")
    try:
        return _followed(model, base, shapes)
    except Exception as error:  # whatever the user's own call raises for symbolic tensors
        first = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        message = f"{message}, and its call cannot be followed: {first}"
        raise DesignError(Problem(message=message, fix="a Functional or Sequential model")) from None


def _followed(model: Any, base: type, shapes: Sequence[Sequence[int | None]]) -> Any:
    import importlib

    keras = importlib.import_module(base.__module__.partition(".")[0])
    inputs = [keras.Input(tuple(shape)[1:]) for shape in shapes]
    outputs = model.call(inputs[0] if len(inputs) == 1 else inputs)
    return keras.Model(inputs, outputs, name=model.name)


def _known_shapes(model: Any) -> list[Sequence[int | None]] | None:
    """The shapes, batch included, of a subclassed model's inputs; None: nobody knows them yet."""
    found = getattr(model, "_build_input_shape", None)
    if found is None:
        by_name = getattr(model, "_build_shapes_dict", None) or {}
        found = next(iter(by_name.values()), None) if len(by_name) == 1 else None
    if not found:
        return None
    several = isinstance(found, list | tuple) and any(isinstance(one, list | tuple) for one in found)
    return [tuple(one) for one in found] if several else [tuple(found)]
