"""Layers of HGQ2 (the package hgq), on Keras 3: quantizers at their ends, weights of any width each.

A quantizer has k (0 or 1: a sign), i and f bits for every element or for some of its axes together, and gives

    fixed<k+i+f, k+i, rounding, overflow>, and 0 where these are no bits

Weights are what the layer itself computes with. Bits of a tensor that differ by channel (the last axis) are
one cast between two exact scales by powers of two; those that differ by pixel have no hardware here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.coded import Doubles
from hlsgen.base.fixed import MAX_TENSOR_WIDTH, FixedType, Overflow, Rounding
from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.qkeras.layers import LAYERS as KERAS_LAYERS
from hlsgen.frontends.qkeras.quantizers import UnsupportedQuantizerError, exact
from hlsgen.frontends.qkeras.weights import Build, Filters, Net, convolved, pair

HOME = "hgq"
OVERFLOWS = {"WRAP": Overflow.WRAP, "SAT": Overflow.SAT, "SAT_SYM": Overflow.SAT_SYM}
ROUNDS_ALIKE = (Rounding.TRN, Rounding.RND, Rounding.RND_MIN_INF)
"""Roundings that whole numbers may be added before: the others ask for the sign, or for even neighbours."""
BY_CHANNEL = (
    "bits for each channel: QuantizerConfigScope(place='datalane', heterogeneous_axis=(-1,), "
    "homogeneous_axis=None), or for the whole tensor: heterogeneous_axis=()"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Bits:
    """What a quantizer does to the channels of a tensor, [C] each: sign (0 or 1), integer and fraction bits.

    alive: where there are any; elsewhere it gives 0.
    """

    sign: NDArray[np.int64]
    integer: NDArray[np.int64]
    fraction: NDArray[np.int64]
    alive: NDArray[np.bool_]
    rounding: Rounding
    overflow: Overflow

    @property
    def width(self) -> NDArray[np.int64]:
        return self.sign + self.integer + self.fraction

    @property
    def type(self) -> FixedType | None:
        """The type of all channels; None: they differ."""
        triples = {*zip(self.sign.tolist(), self.integer.tolist(), self.fraction.tolist(), strict=True)}
        if len(triples) > 1 or not self.alive.all():
            return None
        sign, integer, fraction = triples.pop()
        return FixedType(sign + integer + fraction, sign + integer, bool(sign), self.rounding, self.overflow)

    @property
    def read_exactly(self) -> FixedType:
        """A type of what they read that changes no result: finer than the finest, as wide as the widest."""
        alive = self.alive if self.alive.any() else np.ones_like(self.alive)
        integer = int((self.sign + self.integer)[alive].max())
        fraction = int(self.fraction[alive].max()) + 1
        signed = bool(self.sign[alive].any())
        return FixedType(max(1, integer + fraction), integer, signed, overflow=self.overflow)


def is_hgq(thing: object) -> bool:
    """Whether it is a layer of HGQ2's."""
    return type(thing).__module__.partition(".")[0] == HOME


def input_bits(layer: Any) -> Bits | None:
    """What a layer's quantizer does to its input; None: it has none, several, or one for each pixel.

    Raises UnsupportedQuantizerError: as `bits_of`.
    """
    if type(layer).__name__ == "Quantizer":
        quantizer = layer
    elif getattr(layer, "enable_iq", False) and not hasattr(layer, "iq_confs"):
        quantizer = layer.iq
    else:
        return None
    return bits_of(quantizer)


def bits_of(quantizer: Any) -> Bits | None:
    """The bits of a quantizer by channel; None: it changes nothing.

    Raises UnsupportedQuantizerError: it has bits for each pixel, a scale, or is of floating point.
    """
    inner = quantizer.quantizer
    if getattr(inner, "__dummy__", False):
        return None
    scaled = quantizer.scaler is not None or quantizer.affine is not None
    if scaled or not hasattr(inner, "overflow_mode"):
        what = "a scaler or an affine map" if scaled else f"the type {quantizer.q_type}"
        raise UnsupportedQuantizerError(f"{quantizer.name} has {what}", "q_type kif or kbi, without a scale")
    overflow = OVERFLOWS.get(inner.overflow_mode)
    if overflow is None:
        raise UnsupportedQuantizerError(
            f"{quantizer.name} has overflow_mode={inner.overflow_mode}", f"one of {', '.join(OVERFLOWS)}"
        )
    sign, integer, fraction = (_by_channel(quantizer.name, one) for one in inner.kif)
    alive = sign + integer + fraction > 0
    # as the quantizer itself does, so that a width is never below 0
    integer = np.where(alive, np.maximum(integer, -fraction), 0)
    sign, fraction = np.where(alive, sign, 0), np.where(alive, fraction, 0)
    if overflow is Overflow.SAT_SYM:
        alive &= (sign + integer + fraction > 1) | (sign == 0)  # -0 to 0
    return Bits(
        sign=sign,
        integer=integer,
        fraction=fraction,
        alive=alive,
        rounding=Rounding(inner.round_mode.removeprefix("S_").lower()),
        overflow=overflow,
    )


def _by_channel(name: str, variable: Any) -> NDArray[np.int64]:
    """Whole numbers [1, ..., C] of which only the last axis tells any apart, as [C] or [1]."""
    numbers = np.rint(_array(variable))
    # what was never reached has some -1e9 integer bits
    numbers = np.clip(numbers, -MAX_TENSOR_WIDTH, MAX_TENSOR_WIDTH).astype(np.int64)
    rows = numbers.reshape(-1, numbers.shape[-1] if numbers.ndim else 1)
    if (rows != rows[0]).any():
        raise UnsupportedQuantizerError(f"{name} has other bits for each pixel", BY_CHANNEL)
    found: NDArray[np.int64] = rows[0]
    return found


def _array(variable: Any) -> Doubles:
    keras = importlib.import_module("keras")
    return np.asarray(keras.ops.convert_to_numpy(variable), np.float64)


def quantised(net: Net, x: Value, quantizer: Any) -> Value:
    """`x` as a quantizer gives it, exactly. Raises DesignError: one that has no hardware here."""
    builder = net.builder
    with builder.quantizing():
        bits = bits_of(quantizer)
        if bits is None:
            return x
        type_ = bits.type
        if type_ is not None:
            return builder.converted(x, type_)
        return _apart(net, x, bits)


def _apart(net: Net, x: Value, bits: Bits) -> Value:
    """A cast whose bits differ by channel: each channel's steps are made 1 and its middle 0 before, and what
    they were afterwards.
    """
    builder, width = net.builder, int(bits.width.max(initial=1))
    if not bits.alive.any():
        return builder.affine_of(x, exact(np.zeros(1)), None)
    step = np.where(bits.alive, np.ldexp(1.0, -bits.fraction), 0.0)
    steps = np.where(bits.alive, np.ldexp(1.0, bits.fraction), 0.0)
    # an unsigned range is a signed one, moved
    signs = bool(bits.sign[bits.alive].any())
    middle = np.where(bits.alive & (bits.sign == 0), np.ldexp(0.5, bits.width), 0.0) * signs
    if bits.overflow is Overflow.SAT_SYM and signs and (bits.sign[bits.alive] == 0).any():
        message = "its channels have signs and have none, with overflow_mode=SAT_SYM"
        raise UnsupportedQuantizerError(message, "WRAP or SAT, or one sign for all channels")
    same = len(set(bits.width[bits.alive].tolist())) == 1
    if same and (bits.rounding in ROUNDS_ALIKE or not middle.any()):
        whole = builder.affine_of(x, exact(steps), exact(-middle) if middle.any() else None)
        ends = FixedType(width, width, signs, bits.rounding, bits.overflow)
        made = builder.converted(whole, ends)
        return builder.affine_of(made, exact(step), exact(middle * step) if middle.any() else None)
    if bits.overflow is Overflow.SAT_SYM:
        message = "its channels have different numbers of bits, with overflow_mode=SAT_SYM"
        raise UnsupportedQuantizerError(message, "overflow_mode WRAP or SAT")
    whole = builder.affine_of(x, exact(steps), None)
    room = builder.type_of(whole).integer + 1
    rounded = builder.converted(whole, FixedType(room, room, True, bits.rounding))
    # ends of all channels are made one
    spread = np.where(bits.alive, np.ldexp(1.0, width - bits.width), 0.0)
    moved = exact(-middle * spread) if middle.any() else None
    ends = FixedType(width, width, signs, overflow=bits.overflow)
    limited = builder.converted(builder.affine_of(rounded, exact(spread), moved), ends)
    back = np.where(bits.alive, np.ldexp(1.0, bits.width - width), 0.0)
    if bits.overflow is Overflow.SAT:
        # the largest of all is a little more than a channel's own: without its last bits it is that
        made = builder.affine_of(limited, exact(back), None)
        made = builder.converted(made, FixedType(width, width, signs))
        back = np.ones_like(step)
    else:
        made = limited
    return builder.affine_of(made, exact(back * step), exact(middle * step) if middle.any() else None)


# layers


def built(net: Net, layer: Any, inputs: list[Value], activated: Callable[[Value, Any], Value]) -> Value:
    """A layer with its quantizers and its activation. activated: a value after one."""
    if type(layer).__name__ == "Quantizer":
        return quantised(net, inputs[0], layer)
    if layer.enable_iq:
        several = len(inputs) > 1 or hasattr(layer, "iq_confs")
        quantizers = list(layer.iq) if several else [layer.iq]
        inputs = [quantised(net, x, one) for x, one in zip(inputs, quantizers, strict=True)]
    following = None
    if layer.enable_oq:
        with net.builder.quantizing():
            bits = bits_of(layer.oq)
            following = None if bits is None else bits.type
    with net.builder.followed_by(following):
        y = LAYERS[type(layer).__name__](net, layer, inputs)
        activation = getattr(layer, "activation", None)
        if activation is not None:
            y = activated(y, activation)
    return quantised(net, y, layer.oq) if layer.enable_oq else y


def _filters(net: Net, layer: Any, axes: tuple[int, ...]) -> Filters:
    """What the layer multiplies with and adds. axes: of its kernel, in the order [M, C / groups, KH, KW]."""
    with net.builder.quantizing():
        kernel = _array(layer.qkernel)
        image = kernel.reshape((1,) * (len(axes) - kernel.ndim) + kernel.shape)
        weights = exact(image.transpose(axes))
        bias = None if layer.qbias is None else exact(_array(layer.qbias))
    return Filters(weights=weights, bias=bias, scale=None)


def _conv(net: Net, layer: Any, inputs: list[Value]) -> Value:
    used = _filters(net, layer, (3, 2, 0, 1))
    return convolved(net, inputs[0], used, layer, pair(layer.dilation_rate), int(layer.groups))


def _dense(net: Net, layer: Any, inputs: list[Value]) -> Value:
    used = _filters(net, layer, (1, 0))
    parameters = net.builder.parameters(used.weights, used.bias)
    return net.builder.dense(inputs[0], parameters.pop("weights"), **parameters)


def _normalisation(net: Net, layer: Any, inputs: list[Value]) -> Value:
    x = inputs[0]
    if int(layer.axis) not in (x.rank, -1):
        raise net.builder.refusal(f"it normalises axis {layer.axis}", "axis=-1: channels last")
    with net.builder.quantizing():
        scale, offset = (exact(_array(one)) for one in layer.qscaler_and_qoffset)
    return net.builder.affine_of(x, scale, offset)


def _of_keras(name: str) -> Build:
    """What builds the layer of Keras that one of HGQ2 is, but for its quantizers."""
    return KERAS_LAYERS[name]


def _function(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """A function by a table: the activation itself."""
    return inputs[0]


POOLS = ("MaxPooling1D", "MaxPooling2D", "AveragePooling1D", "AveragePooling2D")
GLOBAL_POOLS = tuple(f"Global{kind}Pooling{rank}D" for kind in ("Max", "Average") for rank in (1, 2))
JOINS = ("Add", "Subtract", "Multiply", "Maximum", "Minimum")
LAYERS: dict[str, Build] = {
    "QConv1D": _conv,
    "QConv2D": _conv,
    "QDense": _dense,
    "QBatchNormDense": _dense,
    "QBatchNormalization": _normalisation,
    "QUnaryFunctionLUT": _function,
    **{f"Q{name}": _of_keras(name) for name in (*POOLS, *GLOBAL_POOLS, *JOINS)},
}
"""What builds a layer of HGQ2 after its inputs' quantizers, by its class."""
KNOWN = frozenset({*LAYERS, "Quantizer"})
