"""Models of QKeras and of Keras 2 as graphs.

A model with quantizers becomes a fixed-point graph: weights are the codes that QKeras computes with, a layer
without a quantizer gives its exact result, a quantizer of activations is a cast. So golden is QKeras' own
prediction wherever float32 is exact there (sums of up to 24 bits). Not exact are real numbers that stay in
the model, scales that are no powers of two and batch normalisations (they keep 24 significant bits), and
functions by a table. A model without any quantizer becomes a float graph.

    graph = graph_of_keras("model.h5", name="net")

See quantizers.py for types, activations.py and weights.py for what is exact.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from hlsgen.base.coded import SIGN
from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType, NumberType, Rounding, float32_holds
from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.qkeras import hgq
from hlsgen.frontends.qkeras.activations import FUNCTIONS, KERAS_3, PIECEWISE, QUANTIZERS, activated
from hlsgen.frontends.qkeras.alternatives import refused_layer
from hlsgen.frontends.qkeras.builder import TypedBuilder
from hlsgen.frontends.qkeras.calls import (
    WRAPPER,
    Call,
    KerasModel,
    ResultNames,
    generation,
    graph_holder,
    is_model,
    layers_of,
    model_calls,
    with_graph,
)
from hlsgen.frontends.qkeras.description import Names
from hlsgen.frontends.qkeras.layers import IDENTITIES, LAYERS
from hlsgen.frontends.qkeras.load import loaded_model
from hlsgen.frontends.qkeras.operations import MODULES, OPERATIONS, operated, operation_of
from hlsgen.frontends.qkeras.quantizers import (
    STEPS,
    UnsupportedQuantizerError,
    first_type,
    is_quantizer,
)
from hlsgen.frontends.qkeras.weights import DefaultTypes, Net, unquantised
from hlsgen.model.ir import Graph
from hlsgen.model.precision import Bits, Precision, saturating

__all__ = ["graph_of_keras"]

DEFAULT_INPUT = FixedType(16, 6, rounding=Rounding.RND)
BEFORE_QUANTIZERS = FixedType(16, 6)
"""The type of an input that quantizers alone read, not alike or not by casts; `Port.odd` rounds it."""
Cast: TypeAlias = Callable[[Any], FixedType | None]
KNOWN = frozenset(LAYERS) | {"InputLayer", WRAPPER}
HOMES = {2: ("tf_keras", "qkeras", "hlsgen"), 3: ("keras",)}
"""The packages of known layers, by the generation of Keras that they derive from."""
WITHOUT_ACTIVATION = frozenset({"QActivation", "QBatchNormalization"})
"""Layers whose `activation` is done by themselves, or by nobody."""
ALIKE = frozenset({*IDENTITIES, "Dense", "QDense", "ReLU", "LeakyReLU", "ELU", "QActivation", "Rescaling"})
"""Layers that treat every step of a sequence alike, as they treat everything before the last axis."""
MOST_STEPS = 16
"""Steps of a TimeDistributed that each have a layer of their own."""
ONLY_IN_TRAINING = frozenset({"BatchNormalization", "QBatchNormalization", "Dropout", "GaussianNoise"})
OTHER_QUANTIZERS = frozenset({"bernoulli", "stochastic_binary", "stochastic_ternary", "quantized_ulaw"})
"""Quantizers that a file may name, so that the message about them names their layer."""
NAMES = Names(
    layers=KNOWN,
    functions=frozenset(FUNCTIONS) | frozenset(KERAS_3) | frozenset(PIECEWISE),
    quantizers=frozenset(QUANTIZERS) | frozenset(STEPS) | OTHER_QUANTIZERS,
    operations=MODULES,
    hgq=hgq.KNOWN,
)


def graph_of_keras(
    model_or_path: Any,
    *,
    name: str,
    input_type: NumberType | None = None,
    precision: Precision | None = None,
    weights: Path | None = None,
) -> Graph:
    """The graph of a model of tf_keras or Keras 3, or of its file: .h5, .keras, .json, SavedModel.

    name: the graph's. input_type: of a quantised model's inputs; by default the type of the cast with which
    the QActivation that alone reads an input begins, else fixed<16,6>. precision: in a model where some
    layers have quantizers, the types of those that have none, and of the outputs. Raises ToolError: a package
    is missing. DesignError: the model cannot be read or built; layers that are unknown or not quantised are
    named all at once.
    """
    model = with_graph(loaded_model(model_or_path, NAMES, weights))
    default = _default_types(precision)
    fixed = _check(model, default)
    builder = TypedBuilder(name, fixed=fixed, fallback=default.results if default else None)
    quantizers = sys.modules.get("qkeras.quantizers")
    # the package of this name in HGQ2 has none
    function = getattr(getattr(quantizers, "_sigmoid", None), "__name__", "hard_sigmoid")
    sigmoid = {"hard_sigmoid": "hard", "smooth_sigmoid": "smooth"}.get(function, "real")
    walk = _Walk(Net(builder=builder, sigmoid=sigmoid, default=default))
    calls = model_calls(model)
    inputs = [walk.input(calls, tensor, input_type) for tensor in calls.inputs]
    outputs = walk.model(calls, inputs, "")
    output_type = precision.output if fixed and precision is not None else None
    for label, value in zip(calls.output_names, outputs, strict=True):
        if isinstance(output_type, FixedType):
            value = builder.converted(value, saturating(output_type))
        builder.output(f"{label}_output", value)
    if fixed and default is not None:
        _check_precision(precision, walk.used_default or builder.fallback_used)
    return builder.build()


SAID = ("default", "weights", "input", "output", "accumulator", "layers")
"""What a precision may say of a network some of whose layers have quantizers."""


def _check_precision(precision: Precision | None, used: bool) -> None:
    """Refuses a precision that says what nothing in a quantised network goes by, as a DesignError."""
    assert precision is not None
    if not used:
        message = "every layer of the network has its quantizers: precision= says a default of nothing"
        fix = 'leave default out; {"conv1": {"output": "fixed<8,3>"}} is of a layer'
        raise DesignError(Problem(message=message, fix=fix))
    if isinstance(precision.weights, Bits):
        message = "precision: the weights of layers without quantizers beside others take a type, not a width"
        raise DesignError(Problem(message=message, fix='a type such as {"weights": "fixed<8,1>"}'))
    known = replace(Precision(), **{key: getattr(precision, key) for key in SAID})
    if precision != known:
        message = f"of a network with quantizers, precision= can only say {', '.join(SAID)}"
        raise DesignError(Problem(message=message, fix='{"default": "fixed<16,6>"}, and QKeras for the rest'))


def _default_types(precision: Precision | None) -> DefaultTypes | None:
    """The types for what has no quantizer. Raises DesignError: more is wished than can be."""
    if precision is None or not isinstance(precision.default, FixedType):
        return None
    weights = saturating(precision.weights) if isinstance(precision.weights, FixedType) else None
    return DefaultTypes(results=saturating(precision.default), weights=weights)


# what the model has


def _check(model: Any, default: DefaultTypes | None) -> bool:
    """Whether the model is quantised. Raises DesignError: everything in it that cannot be built."""
    layers = list(layers_of(model))
    problems = [problem for label, layer in layers for problem in _layer_problems(label, layer)]
    problems += _training_problems(model_calls(model))
    fixed = any(_is_quantised(layer) for _, layer in layers)
    if fixed and default is None:
        for label, layer in layers:
            missing = () if hgq.is_hgq(layer) else unquantised(layer)
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


def _training_problems(calls: KerasModel) -> list[Problem]:
    """Layers that are called as in training, which makes them draw lots or use the batch's statistics."""
    return [
        Problem(
            message=f"layer {call.layer.name} ({type(call.layer).__name__}) is called with training=True",
            fix="leave training out: a design predicts",
        )
        for call in calls.calls
        if call.options.get("training") and type(call.layer).__name__ in ONLY_IN_TRAINING
    ]


def _quantised_form(layer: Any, missing: Sequence[str]) -> str:
    kind = type(layer).__name__
    default = (
        'a type for all that have none, precision={"default": "fixed<16,6>"}, or in a design file '
        'precision: {default: "fixed<16,6>"} (hlsgen import --default-type "fixed<16,6>")'
    )
    if kind == "PReLU":
        return f"quantized_relu with a negative_slope, or {default}"
    arguments = ", ".join(f'{name}_quantizer="quantized_bits(8,0,alpha=1)"' for name in missing)
    return f"{kind if kind.startswith('Q') else f'Q{kind}'} with {arguments}, or {default}"


def _layer_problems(label: str, layer: Any) -> Iterator[Problem]:
    kind, home = type(layer).__name__, type(layer).__module__
    known = home.partition(".")[0] in HOMES.get(generation(layer) or 0, ())
    operation = operation_of(layer)
    if operation is not None:
        if operation not in OPERATIONS:
            message = f"layer {label} calls the function {operation}, which no layer of hlsgen stands for"
            yield Problem(message=message, fix=f"layers, or one of: {', '.join(sorted(OPERATIONS))}")
    elif hgq.is_hgq(layer) and kind not in hgq.KNOWN:
        message, fix = refused_layer(label, kind, hgq.KNOWN, home)
        yield Problem(message=message, fix=fix)
    elif not hgq.is_hgq(layer) and (kind not in KNOWN or not known):
        message, fix = refused_layer(label, kind, KNOWN, home)
        yield Problem(message=message, fix=fix)
    elif getattr(layer, "data_format", None) not in (None, "channels_last"):
        message = f"layer {label} ({kind}) has data_format={layer.data_format}"
        yield Problem(message=message, fix='data_format="channels_last", which Keras runs on every processor')
    elif layer.compute_dtype not in ("float32", "float64"):
        message = f"layer {label} ({kind}) computes in {layer.compute_dtype}, which rounds what is exact here"
        yield Problem(message=message, fix='the policy "float32"')
    elif getattr(layer, "quantization_mode", None):
        message = f"layer {label} ({kind}) is quantised by Keras itself ({layer.quantization_mode})"
        yield Problem(message=message, fix="the model before model.quantize(), or one of QKeras")


def _is_quantised(layer: Any) -> bool:
    if hgq.is_hgq(layer):
        return True
    found = [getattr(layer, "activation", None), getattr(layer, "quantizer", None)]
    found += getattr(layer, "quantizers", None) or []
    return any(is_quantizer(thing) for thing in found)


# building


class _Walk:
    """Builds a model's layers in the order in which Keras computes them."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.used_default = False
        self.names = ResultNames()

    def input(self, model: KerasModel, tensor: Any, wish: NumberType | None) -> Value:
        """An input of the graph for one of the model's. Raises DesignError: an open size."""
        label = _name_of(tensor)
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
        exact = self._read_by_hgq(model, tensor)
        if exact is not None:
            return builder.input(label, sizes, exact, in_float32=True, own=True)
        casts = self._casts(model, tensor, first_type)
        if len(casts) == 1 and None not in casts:
            return builder.input(label, sizes, casts.pop(), in_float32=True, own=True)
        if casts and self._casts(model, tensor, lambda _: SIGN) == {SIGN}:  # quantizers and nothing else
            return builder.input(label, sizes, BEFORE_QUANTIZERS, in_float32=True, odd=True)
        return builder.input(label, sizes, DEFAULT_INPUT, in_float32=True)

    def _read_by_hgq(self, model: KerasModel, tensor: Any) -> FixedType | None:
        """The type of an input that layers of HGQ2 alone read; None: others do, or one has no quantizer."""
        layers = [call.layer for call in model.readers(tensor)]
        if not layers or not all(hgq.is_hgq(layer) for layer in layers):
            return None
        try:
            found = [hgq.input_bits(layer) for layer in layers]
        except UnsupportedQuantizerError:  # the layer itself says so when it is built
            return None
        if None in found:
            return None
        types = {bits.type or bits.read_exactly for bits in found if bits is not None}
        return types.pop() if len(types) == 1 else None

    def model(self, model: KerasModel, inputs: Sequence[Value], prefix: str) -> list[Value]:
        """The values of a model's outputs, for the values of its inputs."""
        values = {id(tensor): value for tensor, value in zip(model.inputs, inputs, strict=True)}
        for call in model.calls:
            if all(id(tensor) in values for tensor in call.outputs):
                continue
            results = self._call(model, call, values, prefix)
            _check_shapes(call, results, prefix)
            self._remember(call, results, prefix)
            values |= {id(tensor): value for tensor, value in zip(call.outputs, results, strict=True)}
        return [values[id(tensor)] for tensor in model.outputs]

    def _remember(self, call: Call, results: Sequence[Value], prefix: str) -> None:
        """Writes down that these are the results of a layer; those of a model inside have names already."""
        if is_model(call.layer) or type(call.layer).__name__ == "InputLayer":
            return
        rounded = self.net.builder.rounded_ahead()
        for name, value in zip(self.names.of_results(call, prefix), results, strict=True):
            kind = type(call.layer).__name__
            self.net.builder.known_as(name, value, kind=kind, key=name, joined=rounded)

    def _call(self, model: KerasModel, call: Call, values: dict[int, Value], prefix: str) -> list[Value]:
        layer, builder = call.layer, self.net.builder
        label, kind = f"{prefix}{layer.name}", type(layer).__name__
        inputs = [values[id(tensor)] for tensor in call.inputs]
        if is_model(layer) and graph_holder(layer) is not None:
            return self.model(model_calls(layer), inputs, f"{label}.")
        if kind == "InputLayer":
            return inputs
        if kind == WRAPPER:
            return [self._by_steps(model, call, values, prefix)]
        following = self._following(model, call.outputs)
        if hgq.is_hgq(layer):
            with builder.at(label, said=f"layer {label}"):
                return [hgq.built(self.net, layer, inputs, self._activated)]
        if operation_of(layer) is not None:
            with builder.at(label, said=f"layer {label}"), builder.followed_by(following):
                return [operated(self.net, call, values)]
        activation = None if kind in WITHOUT_ACTIVATION else getattr(layer, "activation", None)
        plain = activation is None or _named(activation) == "linear"
        first = following if plain else _cast_of(activation)
        with builder.at(label, said=f"layer {label}"), builder.followed_by(first):
            y = LAYERS[kind](self.net, layer, inputs)
            if builder.fixed and unquantised(layer):
                y = self._in_default(y, first)
        own = label if kind == "Activation" else f"{label}_{_named(activation)}"
        with builder.at(own, said=f"layer {label}"), builder.followed_by(following):
            return [self._activated(y, activation)]

    def _by_steps(self, model: KerasModel, call: Call, values: dict[int, Value], prefix: str) -> Value:
        """A layer for each step of a sequence, axis 0: one for all where it treats them alike."""
        builder, inner, key = self.net.builder, replace(call, layer=call.layer.layer), id(call.inputs[0])
        kind, x = type(inner.layer).__name__, values[key]
        if kind == "Flatten":
            return builder.reshape(x, (x.shape[0], -1))
        if kind in ALIKE:
            return self._call(model, inner, values, prefix)[0]
        label = f"{prefix}{call.layer.name}"
        if x.shape[0] > MOST_STEPS:
            with builder.at(label, said=f"layer {label}"):
                message = f"it has {x.shape[0]} steps, each with a {kind} of its own, of at most {MOST_STEPS}"
                raise builder.refusal(message, "fewer steps, or a Conv2D with one row for each step")
        made = []
        for number in range(x.shape[0]):
            part = builder.squeeze(builder.slice(x, 0, number, 1), (0,))
            (y,) = self._call(model, inner, {key: part}, f"{label}.{number}.")
            made.append(builder.unsqueeze(y, 0))
        with builder.at(label, said=f"layer {label}"):
            return builder.concat(made, 0)

    def _in_default(self, y: Value, first: FixedType | None) -> Value:
        """The result of a layer without quantizers: in the default type, unless a quantizer follows."""
        assert self.net.default is not None
        self.used_default = True
        return y if first is not None else self.net.builder.converted(y, self.net.default.results)

    def _activated(self, y: Value, activation: Any) -> Value:
        """`y` after a layer's activation: a function, a quantizer, or a layer of activation."""
        kind = type(activation).__name__
        if kind in LAYERS and hasattr(activation, "get_config") and not is_quantizer(activation):
            return LAYERS[kind](self.net, activation, [y])
        return activated(self.net.builder, y, activation, self.net.sigmoid)

    def _following(self, model: KerasModel, made: Any) -> FixedType | None:
        """The type that all readers of tensors cast them to and nothing else; None: there is no such type."""
        tensors = made if isinstance(made, tuple) else (made,)
        if not self.net.builder.fixed:
            return None
        types = set().union(*(self._casts(model, tensor, first_type) for tensor in tensors))
        return types.pop() if len(types) == 1 else None

    def _casts(self, model: KerasModel, tensor: Any, cast: Cast) -> set[FixedType | None]:
        """What `cast` says of each quantizer that reads a tensor; None for other readers, and for outputs."""
        types = {
            _cast_of(call.layer.quantizer, cast) if type(call.layer).__name__ == "QActivation" else None
            for call in model.readers(tensor)
        }
        return types | ({None} if any(tensor is output for output in model.outputs) else set())


def _check_shapes(call: Call, results: Sequence[Value], prefix: str) -> None:
    """Refuses what was misunderstood: each result has the shape that Keras gives it, as far as it says it."""
    for tensor, value in zip(call.outputs, results, strict=True):
        wanted = tuple(tensor.shape)[1:]
        alike = len(wanted) == value.rank and all(
            want in (None, size) for want, size in zip(wanted, value.shape, strict=True)
        )
        if not alike:
            message = (
                f"layer {prefix}{call.layer.name}: Keras gives its result the shape {list(wanted)} without "
                f"the batch, and hlsgen {list(value.shape)}"
            )
            raise DesignError(Problem(message=message, fix="a report of this to hlsgen"))


def _name_of(tensor: Any) -> str:
    """The name of the input layer that a tensor is from."""
    made = tensor._keras_history
    return str((made.operation if hasattr(made, "operation") else made.layer).name)


def _cast_of(activation: Any, cast: Cast = first_type) -> FixedType | None:
    """The type of the cast that an activation begins with; None: it begins otherwise. cast: what finds it."""
    try:
        return cast(activation) if is_quantizer(activation) else None
    except UnsupportedQuantizerError:  # the layer itself says so when it is built
        return None


def _named(activation: Any) -> str:
    return str(getattr(activation, "__name__", type(activation).__name__))
