"""Models of QKeras and of Keras 2 as graphs.

A model with quantizers becomes a fixed-point graph: weights are the codes that QKeras computes with, a layer
without a quantizer gives its exact result, a quantizer of activations is a cast. So golden is QKeras' own
prediction wherever float32 is exact there (sums of up to 24 bits). Not exact are real numbers that stay in
the model, scales that are no powers of two and batch normalisations (they keep 24 significant bits), and
functions by a table. A model without any quantizer becomes a float graph.

    graph = graph_of_keras("model.h5", name="net")

See qkeras_quantizers for types, qkeras_activations and qkeras_weights for what is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from hlsgen.errors import DesignError, Problem
from hlsgen.fixed import FixedType, NumberType, Rounding, float32_holds
from hlsgen.frontends.builder import Value
from hlsgen.frontends.qkeras_activations import activated
from hlsgen.frontends.qkeras_builder import TypedBuilder
from hlsgen.frontends.qkeras_layers import LAYERS
from hlsgen.frontends.qkeras_load import CONTAINERS, Packages, loaded_model, tensorflow_packages
from hlsgen.frontends.qkeras_quantizers import (
    SIGN,
    UnsupportedQuantizerError,
    first_type,
    is_quantizer,
    plain_type,
)
from hlsgen.frontends.qkeras_remedies import remedy
from hlsgen.frontends.qkeras_weights import Net, unquantised
from hlsgen.ir import Graph

__all__ = ["graph_of_keras"]

DEFAULT_INPUT = FixedType(16, 6, rounding=Rounding.RND)
BEFORE_QUANTIZERS = FixedType(16, 6)
"""Of an input that quantizers alone read, not alike or none of them by a cast; `Port.odd` rounds it."""
Cast: TypeAlias = Callable[[Any], FixedType | None]
KNOWN = frozenset(LAYERS) | {"InputLayer"}
WITHOUT_ACTIVATION = frozenset({"QActivation", "QBatchNormalization"})
"""Layers whose `activation` is done by themselves, or by nobody."""


def graph_of_keras(model_or_path: Any, *, name: str, input_type: NumberType | None = None) -> Graph:
    """The graph of a Functional or Sequential model of tf_keras, or of its file: .h5, .keras or SavedModel.

    name: the graph's. input_type: of a quantised model's inputs; by default the type of the cast with which
    the QActivation that alone reads an input begins, else fixed<16,6>. Raises ToolError: a package is
    missing. DesignError: the model cannot be read or built; layers that are unknown or not quantised are
    named all at once.
    """
    packages = tensorflow_packages()
    model = loaded_model(model_or_path, packages, KNOWN)
    fixed = _check(model, packages)
    builder = TypedBuilder(name, fixed=fixed)
    sigmoid = {"hard_sigmoid": "hard", "smooth_sigmoid": "smooth"}.get(
        packages.quantizers._sigmoid.__name__, "real"
    )
    walk = _Walk(Net(builder=builder, sigmoid=sigmoid))
    inputs = [walk.input(model, tensor, input_type) for tensor in model.inputs]
    outputs = walk.model(model, inputs, "")
    for label, value in zip(model.output_names, outputs, strict=True):
        builder.output(f"{label}_output", value)
    return builder.build()


# what the model has


def _check(model: Any, packages: Packages) -> bool:
    """Whether the model is quantised. Raises DesignError: everything in it that cannot be built."""
    if type(model).__name__ not in CONTAINERS or not getattr(model, "_nodes_by_depth", None):
        message = (
            f"the model {getattr(model, 'name', '')} has no graph of layers: it is a {type(model).__name__}"
        )
        fix = "a Functional model, or a Sequential one whose input shape is known"
        raise DesignError(Problem(message=message, fix=fix))
    layers = list(_layers(model, ""))
    problems = [problem for label, layer in layers for problem in _layer_problems(label, layer)]
    fixed = any(_is_quantised(layer) for _, layer in layers)
    if fixed:
        for label, layer in layers:
            missing = unquantised(layer)
            if missing:
                verb = "have" if len(missing) > 1 else "has"
                message = (
                    f"layer {label} ({type(layer).__name__}): {' and '.join(missing)} {verb} no quantizer"
                )
                fix = _quantised_form(layer, missing)
                problems.append(Problem(message=f"{message}, in a quantised model", fix=fix))
    if problems:
        raise DesignError(problems)
    return fixed


def _quantised_form(layer: Any, missing: Sequence[str]) -> str:
    kind = type(layer).__name__
    if kind == "PReLU":
        return "quantized_relu with a negative_slope"
    arguments = ", ".join(f'{name}_quantizer="quantized_bits(8,0,alpha=1)"' for name in missing)
    return f"{kind if kind.startswith('Q') else f'Q{kind}'} with {arguments}, or a model without quantizers"


def _layers(model: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """Every layer with its name, those of models inside included."""
    for layer in model.layers:
        label = f"{prefix}{layer.name}"
        if _is_container(layer):
            yield from _layers(layer, f"{label}.")
        else:
            yield label, layer


def _is_container(layer: Any) -> bool:
    return type(layer).__name__ in CONTAINERS and bool(getattr(layer, "_nodes_by_depth", None))


def _layer_problems(label: str, layer: Any) -> Iterator[Problem]:
    kind = type(layer).__name__
    home = type(layer).__module__.partition(".")[0]
    if kind not in KNOWN or home not in ("tf_keras", "qkeras"):
        message = f"layer {label} is of class {type(layer).__module__}.{kind}, which hlsgen does not know"
        yield Problem(message=message, fix=remedy(kind, KNOWN))
    elif getattr(layer, "data_format", "channels_last") != "channels_last":
        message = f"layer {label} ({kind}) has data_format={layer.data_format}"
        yield Problem(message=message, fix='data_format="channels_last", which Keras runs on every processor')
    elif layer.compute_dtype not in ("float32", "float64"):
        message = f"layer {label} ({kind}) computes in {layer.compute_dtype}, which rounds what is exact here"
        yield Problem(message=message, fix='the policy "float32"')


def _is_quantised(layer: Any) -> bool:
    found = [getattr(layer, "activation", None), getattr(layer, "quantizer", None)]
    found += getattr(layer, "quantizers", None) or []
    return any(is_quantizer(thing) for thing in found)


# building


class _Walk:
    """Builds a model's layers in the order in which Keras computes them."""

    def __init__(self, net: Net) -> None:
        self.net = net

    def input(self, model: Any, tensor: Any, wish: NumberType | None) -> Value:
        """An input of the graph for one of the model's. Raises DesignError: an open size."""
        label = tensor.node.layer.name
        shape = tuple(tensor.shape)[1:]
        if None in shape:
            open_sizes = " x ".join("?" if size is None else str(size) for size in shape)
            message = f"input {label} has open sizes: {open_sizes} without the batch"
            raise DesignError(Problem(message=message, fix="fixed sizes in keras.Input(shape)"))
        builder, sizes = self.net.builder, [int(size) for size in shape]
        if not builder.fixed:
            return builder.input(label, sizes)
        if wish:
            return builder.input(label, sizes, wish, in_float32=float32_holds(wish))
        casts = self._casts(model, tensor, first_type)
        if len(casts) == 1 and None not in casts:
            return builder.input(label, sizes, casts.pop(), in_float32=True)
        if casts and self._casts(model, tensor, lambda _: SIGN) == {SIGN}:  # quantizers and nothing else
            return builder.input(label, sizes, BEFORE_QUANTIZERS, in_float32=True, odd=True)
        return builder.input(label, sizes, DEFAULT_INPUT, in_float32=True)

    def model(self, model: Any, inputs: Sequence[Value], prefix: str) -> list[Value]:
        """The values of a model's outputs, for the values of its inputs."""
        values = {id(tensor): value for tensor, value in zip(model.inputs, inputs, strict=True)}
        for depth in sorted(model._nodes_by_depth, reverse=True):
            for node in model._nodes_by_depth[depth]:
                outputs = _tensors(node.outputs)
                if node.is_input or all(id(tensor) in values for tensor in outputs):
                    continue
                results = self._node(
                    model, node, [values[id(tensor)] for tensor in node.keras_inputs], prefix
                )
                values |= {id(tensor): value for tensor, value in zip(outputs, results, strict=True)}
        return [values[id(tensor)] for tensor in _tensors(model.outputs)]

    def _node(self, model: Any, node: Any, inputs: list[Value], prefix: str) -> list[Value]:
        layer = node.layer
        label = f"{prefix}{layer.name}"
        if _is_container(layer):
            return self.model(layer, inputs, f"{label}.")
        if layer.__class__.__name__ == "InputLayer":
            return inputs
        builder, kind = self.net.builder, type(layer).__name__
        following = self._following(model, node.outputs)
        activation = None if kind in WITHOUT_ACTIVATION else getattr(layer, "activation", None)
        first = following if activation is None or _named(activation) == "linear" else _cast_of(activation)
        with builder.at(label, said=f"layer {label}"), builder.followed_by(first):
            y = LAYERS[kind](self.net, layer, inputs)
        own = label if kind == "Activation" else f"{label}_{_named(activation)}"
        with builder.at(own, said=f"layer {label}"), builder.followed_by(following):
            return [activated(builder, y, activation, self.net.sigmoid)]

    def _following(self, model: Any, tensor: Any) -> FixedType | None:
        """The type that all readers of a tensor cast it to and nothing else; None: there is no such type."""
        types = self._casts(model, tensor, plain_type) if self.net.builder.fixed else {None}
        return types.pop() if len(types) == 1 else None

    def _casts(self, model: Any, tensor: Any, cast: Cast) -> set[FixedType | None]:
        """What `cast` says of each quantizer that reads a tensor; None for other readers, and for outputs."""
        nodes = [node for nodes in model._nodes_by_depth.values() for node in nodes]
        readers = [node.layer for node in nodes if any(read is tensor for read in node.keras_inputs)]
        types = {
            _cast_of(layer.quantizer, cast) if type(layer).__name__ == "QActivation" else None
            for layer in readers
        }
        return types | ({None} if any(tensor is output for output in _tensors(model.outputs)) else set())


def _cast_of(activation: Any, cast: Cast = plain_type) -> FixedType | None:
    """The type of an activation that is nothing but a cast; None: it is more. cast: what finds it."""
    try:
        return cast(activation) if is_quantizer(activation) else None
    except UnsupportedQuantizerError:  # the layer itself says so when it is built
        return None


def _tensors(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, list | tuple) else [outputs]


def _named(activation: Any) -> str:
    return str(getattr(activation, "__name__", type(activation).__name__))
