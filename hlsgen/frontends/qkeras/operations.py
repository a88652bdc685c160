"""Functions on Keras' tensors, such as `x + y`: TFOpLambda of legacy Keras, Operations of Keras 3.

Both call the same converters, which have the functions' own parameters; where Keras 3 keeps some of them in
the operation, they are taken from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.qkeras.activations import FUNCTIONS, elu, leaky, log_softmax, softmax
from hlsgen.frontends.qkeras.calls import Call
from hlsgen.frontends.qkeras.choices import (
    Converter,
    Operand,
    both,
    cast,
    compared,
    either,
    inverse,
    numbers_like,
    where,
)
from hlsgen.frontends.qkeras.layers import merged, without_batch
from hlsgen.frontends.qkeras.weights import Net


def operation_of(layer: Any) -> str | None:
    """The name in OPERATIONS of a function on tensors, known or not; None: it is a layer."""
    kind, home = type(layer).__name__, type(layer).__module__
    if home.startswith("keras.src.ops."):
        return kind
    if kind in ("TFOpLambda", "SlicingOpLambda") and home.startswith("tf_keras."):
        return str(layer.get_config()["function"])
    return None


def operated(net: Net, call: Call, values: dict[int, Value]) -> Value:
    """The value of a call of a known function; `values` by the identity of tensors."""
    name = operation_of(call.layer)
    assert name is not None
    convert, module, parameters = OPERATIONS[name]
    named = {}
    if module:  # an operation of Keras 3 keeps some arguments
        named = {own: getattr(call.layer, own) for own in parameters if hasattr(call.layer, own)}
    named |= {parameters.get(key, key): value for key, value in call.options.items() if key != "name"}
    arguments = [_with_values(argument, values) for argument in call.arguments]
    try:
        return convert(net, *arguments, **{key: _with_values(value, values) for key, value in named.items()})
    except TypeError:  # an argument that no converter has
        written = ", ".join(sorted(named)) or "those given"
        raise net.builder.refusal(
            f"{name} is called with arguments that hlsgen does not know ({written})", "its tensors alone"
        ) from None


def _with_values(argument: Any, values: dict[int, Value]) -> Any:
    if id(argument) in values:
        return values[id(argument)]
    if isinstance(argument, list | tuple):
        return type(argument)(_with_values(item, values) for item in argument)
    return argument


def _binary(operation: str) -> Converter:
    def convert(net: Net, x: Operand, y: Operand) -> Value:
        if isinstance(x, Value) and isinstance(y, Value):
            return merged(net, [x, y], operation)
        if isinstance(x, Value):
            return _with_constant(net, operation, x, numbers_like(net, y, x.rank))
        return _after_constant(net, operation, numbers_like(net, x, y.rank), y)

    return convert


def _with_constant(net: Net, operation: str, x: Value, c: Any) -> Value:
    if operation == "add":
        return net.builder.scaled(x, 1.0, c)
    if operation == "sub":
        return net.builder.scaled(x, 1.0, -c)
    if operation == "mul":
        return net.builder.scaled(x, c)
    if c.size != 1:
        raise net.builder.refusal("its limits differ from element to element", "one number")
    limit = float(c.reshape(-1)[0])
    return (
        net.builder.limited(x, limit, None) if operation == "maximum" else net.builder.limited(x, None, limit)
    )


def _after_constant(net: Net, operation: str, c: Any, y: Value) -> Value:
    return net.builder.scaled(y, -1.0, c) if operation == "sub" else _with_constant(net, operation, y, c)


def _divided(net: Net, x: Operand, y: Operand) -> Value:
    if isinstance(y, Value) or not isinstance(x, Value):
        raise net.builder.refusal("it divides by a tensor", "a constant divisor")
    return net.builder.scaled(x, 1 / numbers_like(net, y, x.rank))


def _negative(net: Net, x: Value) -> Value:
    return net.builder.scaled(x, -1.0)


def _squared(net: Net, x: Value) -> Value:
    return net.builder.mul(x, x)


def _function(name: str) -> Converter:
    return lambda net, x: FUNCTIONS[name](net.builder, x)


def _gelu(net: Net, x: Value, approximate: bool = False) -> Value:
    if approximate:
        raise net.builder.refusal("its gelu is the approximate one", "approximate=False")
    return FUNCTIONS["gelu"](net.builder, x)


def _leaky(slope: str, default: float) -> Converter:
    def convert(net: Net, x: Value, *arguments: float, **named: float) -> Value:
        given = arguments[0] if arguments else named.pop(slope, default)
        if named or len(arguments) > 1:
            raise TypeError
        return leaky(net.builder, x, float(given))

    return convert


def _elu(net: Net, x: Value, alpha: float = 1.0) -> Value:
    return elu(net.builder, x, alpha)


def _softmax(net: Net, x: Value, axis: int | None = -1) -> Value:
    return softmax(net.builder, x, without_batch(net, x, -1 if axis is None else axis))


def _log_softmax(net: Net, x: Value, axis: int | None = -1) -> Value:
    return log_softmax(net.builder, x, without_batch(net, x, -1 if axis is None else axis))


def _clipped(net: Net, x: Value, x_min: float, x_max: float) -> Value:
    return net.builder.limited(x, float(x_min), float(x_max))


def _concatenated(net: Net, values: Sequence[Value], axis: int = -1) -> Value:
    if not all(isinstance(value, Value) for value in values):
        raise net.builder.refusal("it joins a tensor and a constant", "tensors")
    return net.builder.concat(values, without_batch(net, values[0], axis))


def _reshaped(net: Net, x: Value, newshape: Sequence[int]) -> Value:
    sizes = [int(size) for size in newshape]
    if sizes[0] != -1 or -1 in sizes[1:]:
        raise net.builder.refusal(f"it reshapes to {sizes}, batch included", "sizes after a first one of -1")
    return net.builder.reshape(x, sizes[1:])


def _transposed(net: Net, x: Value, axes: Sequence[int] | None = None, conjugate: bool = False) -> Value:
    """conjugate: of complex numbers, which there are none of here."""
    if axes is None or axes[0] != 0:
        raise net.builder.refusal(f"it permutes the batch: {axes}", "axes that begin with 0")
    return net.builder.permute(x, [int(axis) - 1 for axis in axes[1:]])


def _reduced(function: Any) -> Converter:
    def convert(net: Net, x: Value, axis: Any = None, keepdims: bool = False) -> Value:
        if axis is None:
            raise net.builder.refusal("it reduces the batch too", "axes from 1 on")
        axes = [without_batch(net, x, one) for one in np.reshape(axis, -1).tolist()]
        if function == "average":
            return net.builder.reduce(x, "average", axes, keepdims, net.builder.averaged_as())
        return net.builder.reduce(x, function, axes, keepdims)

    return convert


def _sliced(net: Net, x: Value, key: Any) -> Value:
    """x[key]: slices with bounds, one position, an ellipsis; the batch as it is."""
    entries = [_slice(entry) for entry in (key if isinstance(key, list | tuple) else (key,))]
    if Ellipsis in entries:
        at = entries.index(Ellipsis)
        entries[at : at + 1] = [slice(None)] * (x.rank + 2 - len(entries))
    if not entries or entries[0] != slice(None) or len(entries) > x.rank + 1:
        raise net.builder.refusal("it takes a part of the batch", "x[:, ...] with the whole batch")
    gone = []
    for axis, entry in enumerate(entries[1:]):
        if entry == slice(None):
            continue
        single = isinstance(entry, int)
        if not single and not isinstance(entry, slice):
            raise net.builder.refusal(f"it takes {entry!r} of an axis", "slices and whole numbers")
        picked = range(x.shape[axis])[slice(entry, entry + 1 or None) if single else entry]
        if not picked or picked.step < 0:
            raise net.builder.refusal(f"it takes {entry!r} of {x.shape[axis]} elements", "some, forwards")
        x = net.builder.slice(x, axis, picked.start, len(picked), picked.step)
        gone += [axis] if single else []
    return net.builder.squeeze(x, gone) if gone else x


def _slice(entry: Any) -> Any:
    """A slice as Python has it, of one that legacy Keras keeps as an object."""
    if isinstance(entry, dict) and set(entry) == {"start", "stop", "step"}:
        return slice(entry["start"], entry["stop"], entry["step"])
    return entry


Entry = tuple[Converter, str, dict[str, str]]


def _kept(module: str, convert: Converter, *parameters: str, **renamed: str) -> Entry:
    """parameters: kept by the operation, or by Keras 3's name where the converter has another one."""
    return convert, f"keras.src.ops.{module}", {**dict(zip(parameters, parameters, strict=True)), **renamed}


def _tensorflow(convert: Converter, **parameters: str) -> Entry:
    """parameters: by TensorFlow's name, which a file has also for those given by position."""
    return convert, "", parameters


ALIKE: tuple[tuple[Converter, str, str, str], ...] = (
    (_binary("add"), "numpy", "Add", "__operators__.add math.add"),
    (_binary("sub"), "numpy", "Subtract", "math.subtract"),
    (_binary("mul"), "numpy", "Multiply", "math.multiply"),
    (_binary("maximum"), "numpy", "Maximum", "math.maximum"),
    (_binary("minimum"), "numpy", "Minimum", "math.minimum"),
    (_divided, "numpy", "Divide TrueDivide", "math.truediv math.divide"),
    (_negative, "numpy", "Negative", "math.negative"),
    (_squared, "numpy", "Square", "math.square"),
    (_function("tanh"), "numpy", "Tanh", "math.tanh"),
    (_function("exponential"), "numpy", "Exp", "math.exp"),
    (_sliced, "numpy", "GetItem", ""),
    (compared("gt"), "numpy", "Greater", "math.greater"),
    (compared("ge"), "numpy", "GreaterEqual", "math.greater_equal"),
    (compared("lt"), "numpy", "Less", "math.less"),
    (compared("le"), "numpy", "LessEqual", "math.less_equal"),
    (compared("eq"), "numpy", "Equal", "__operators__.eq math.equal"),
    (compared("ne"), "numpy", "NotEqual", "__operators__.ne math.not_equal"),
    (both, "numpy", "LogicalAnd", "math.logical_and"),
    (either, "numpy", "LogicalOr", "math.logical_or"),
    (inverse, "numpy", "LogicalNot", "math.logical_not"),
    (_function("relu"), "nn", "Relu", "nn.relu"),
    (_function("relu6"), "nn", "Relu6", "nn.relu6"),
    (_function("sigmoid"), "nn", "Sigmoid", "math.sigmoid"),
    (_function("swish"), "nn", "Silu", "nn.silu"),
    (_function("selu"), "nn", "Selu", "nn.selu"),
    (_function("softplus"), "nn", "Softplus", "math.softplus"),
    (_function("softsign"), "nn", "Softsign", "nn.softsign"),
    (where, "", "", "where"),
    (cast, "", "", "cast"),
    (_reduced("average"), "", "", "math.reduce_mean"),
    (_reduced("max"), "", "", "math.reduce_max"),
    (_reduced("sum"), "", "", "math.reduce_sum"),
    (_gelu, "", "", "nn.gelu"),
    (_function("elu"), "", "", "nn.elu"),
    (_softmax, "", "", "nn.softmax"),
    (_log_softmax, "", "", "nn.log_softmax"),
    (_concatenated, "", "", "concat"),
)
"""Functions of tensors alone: the converter, Keras 3's module and classes, TensorFlow's symbols."""
OPERATIONS: dict[str, Entry] = {
    **{
        name: (convert, f"keras.src.ops.{module}", {})
        for convert, module, classes, _ in ALIKE
        for name in classes.split()
    },
    **{name: _tensorflow(convert) for convert, _, _, symbols in ALIKE for name in symbols.split()},
    "Clip": _kept("numpy", _clipped, "x_min", "x_max"),
    "Concatenate": _kept("numpy", _concatenated, "axis"),
    "Reshape": _kept("numpy", _reshaped, "newshape"),
    "Transpose": _kept("numpy", _transposed, "axes"),
    "Mean": _kept("numpy", _reduced("average"), "axis", "keepdims"),
    "Max": _kept("numpy", _reduced("max"), "axis", "keepdims"),
    "Sum": _kept("numpy", _reduced("sum"), "axis", "keepdims"),
    "Where": _kept("numpy", where, x1="x", x2="y"),
    "Cast": (cast, "keras.src.ops.core", {"dtype": "dtype"}),
    "Gelu": _kept("nn", _gelu, "approximate"),
    "LeakyRelu": _kept("nn", _leaky("negative_slope", 0.2), "negative_slope"),
    "Elu": _kept("nn", _elu, "alpha"),
    "Softmax": _kept("nn", _softmax, "axis"),
    "LogSoftmax": _kept("nn", _log_softmax, "axis"),
    "__operators__.getitem": _tensorflow(_sliced, slice_spec="key"),
    "nn.leaky_relu": _tensorflow(_leaky("alpha", 0.2)),
    "clip_by_value": _tensorflow(_clipped, clip_value_min="x_min", clip_value_max="x_max"),
    "reshape": _tensorflow(_reshaped, shape="newshape"),
    "compat.v1.transpose": _tensorflow(_transposed, perm="axes"),
}
"""The converter, the class's module, names of its parameters, by Keras 3's class or TensorFlow's symbol."""
MODULES = {name: module for name, (_, module, _) in OPERATIONS.items()}
