"""Quantisation in ONNX: Quant nodes (QONNX, Brevitas), QuantizeLinear, DequantizeLinear, integer operations.

A tensor of integers is kept as the real tensor that they stand for, with scale and zero point; operations on
integers are the real ones, with a quantiser after them where the result is requantised. Zero points are
subtracted, exactly, before anything else, so that a padding of zeros is a padding with the zero point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hlsgen.base.coded import Doubles
from hlsgen.frontends.builder.views import Value
from hlsgen.frontends.onnx.elementwise import moved
from hlsgen.frontends.onnx.model import MULTI_THRESHOLD, Node
from hlsgen.frontends.onnx.reading import Handler, Reading
from hlsgen.frontends.onnx.sums import convolution, product_of
from hlsgen.frontends.onnx.thresholds import multi_threshold
from hlsgen.frontends.onnx.values import Array, Constant, Integers, Known, Real
from hlsgen.passes.quantisers import Direction, FakeQuant, Grid

MOST_BITS = 32
INTEGER_TYPES = ("int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", "uint16", "int32")


# QONNX


def quant(reading: Reading, node: Node) -> Sequence[Known]:
    """Quant(x, scale, zero point, bits): limits first, then rounds, which is the same as the reverse."""
    scale = positive(node, reading.needed(node, 1).values)
    zero, bits = number_of(reading, node, 2, "zero point"), number_of(reading, node, 3, "bit width")
    if not _is_whole(bits, 1, MOST_BITS) or not _is_whole(zero, -(1 << MOST_BITS), 1 << MOST_BITS):
        message = f"it has {bits:g} bits and the zero point {zero:g}"
        raise node.problem(message, f"1 to {MOST_BITS} bits and a whole zero point")
    signed, narrow = node.flag("signed", 1), node.flag("narrow", 1)
    direction = direction_of(node)
    if zero and not direction.shifts_with_zero:
        message = f"its rounding mode {direction.value} goes with a zero point of {zero:g}"
        raise node.problem(message, "a zero point of 0, or rounding mode ROUND, FLOOR or CEIL")
    if bits == 1 and signed:
        grid = Grid(scale=scale.reshape(-1), low=-1, high=1, bipolar=True)
        if zero:
            raise node.problem(f"one signed bit goes with a zero point of {zero:g}", "a zero point of 0")
    else:
        top = 1 << (int(bits) - signed)
        low = -top + narrow if signed else 0
        high = top - 1 if signed else top - 1 - narrow
        offset = int(zero)
        grid = Grid(
            scale=scale.reshape(-1), low=low - offset, high=high - offset, direction=direction, zero=offset
        )
    return [_quantised(reading, node, grid, scale)]


def number_of(reading: Reading, node: Node, index: int, what: str) -> float:
    reading.needed(node, index)
    found = reading.number(node, index, what)
    assert found is not None
    return found


def _is_whole(number: float, least: int, most: int) -> bool:
    return least <= number <= most and number == int(number)


def bipolar_quant(reading: Reading, node: Node) -> Sequence[Known]:
    scale = positive(node, reading.needed(node, 1).values)
    grid = Grid(scale=scale.reshape(-1), low=-1, high=1, bipolar=True)
    return [_quantised(reading, node, grid, scale)]


def thresholds(reading: Reading, node: Node) -> Sequence[Known]:
    """MultiThreshold, of real values or of what integers stand for."""
    known = reading.value(node, 0)
    x = plain_integers(reading, node, known) if isinstance(known, Integers) else reading.view(node)
    return multi_threshold(reading, node, x)


def direction_of(node: Node, default: str = "ROUND") -> Direction:
    """The attribute rounding_mode. Raises DesignError: there is no such mode."""
    name = str(node.attribute("rounding_mode", default)).upper()
    name = {"HALF_EVEN": "ROUND", "ROUND_TO_ZERO": "DOWN"}.get(name, name)
    if name not in Direction.__members__:
        modes = ", ".join(Direction.__members__)
        raise node.problem(f"its rounding mode is {name}", f"one of {modes}")
    return Direction(name)


def positive(node: Node, scale: Array) -> Doubles:
    values = scale.astype(np.float64)
    if not (values.size and np.isfinite(values).all() and (values > 0).all()):
        raise node.problem("a scale is missing or not positive", "scales above 0")
    return values


def _quantised(reading: Reading, node: Node, grid: Grid, scale: Array) -> Known:
    """A constant or a real tensor on a grid; `scale` broadcasts to it."""
    known = reading.value(node, 0)
    if isinstance(known, Constant):
        values = known.values.astype(np.float64)
        if _joint(values.shape, scale.shape) != values.shape:
            message = f"its scale has the shape {list(scale.shape)} for {list(values.shape)}"
            raise node.problem(message, "a scale that broadcasts to the constant")
        codes = grid.codes(values, scale)
        steps = np.broadcast_to(scale, codes.shape)
        return Constant(values=codes * steps, scale=steps, low=grid.low, high=grid.high, bipolar=grid.bipolar)
    return Real(view=on_grid(reading, node, reading.view(node), grid, scale))


def _joint(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape to which both broadcast; None: there is none."""
    try:
        return np.broadcast_shapes(first, second)
    except ValueError:
        return None


def on_grid(reading: Reading, node: Node, x: Value, grid: Grid, scale: Array) -> Value:
    builder = reading.builder
    if scale.size == 1:
        x = builder.compact(x)
    else:
        steps = reading.per_frame(node, scale, x.rank)
        wide = [axis - steps.ndim + x.rank for axis, size in enumerate(steps.shape) if size > 1]
        if len(wide) != 1 or steps.size != x.shape[wide[0]]:
            message = f"its scale has the shape {list(scale.shape)} for {list(reading.shape(x))}"
            raise node.problem(message, "one scale, or one for each channel")
        x = builder.materialise(x, builder.around(x, (wide[0],)))
    layer = builder.layer(FakeQuant, x, source=x.tensor, grid=grid)
    return x.on(layer.name, layer.output)


# QuantizeLinear and DequantizeLinear


def quantize_linear(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    scale, zero, low, high = integer_parameters(reading, node, 1, x.rank)
    return [_requantised(reading, node, x, scale, zero, (low, high))]


def _requantised(
    reading: Reading, node: Node, x: Value, scale: Array, zero: Array, ends: tuple[int, int]
) -> Integers:
    """A real tensor as integers from ends[0] to ends[1]."""
    if zero.size > 1 and (zero != zero[0]).any():
        message = "the zero points of its activations differ by channel"
        raise node.problem(message, "one zero point for all channels")
    offset = int(zero.reshape(-1)[0])
    axis = _axis(reading, node, x.rank) if scale.size > 1 else 0
    grid = Grid(scale=scale.reshape(-1), low=ends[0] - offset, high=ends[1] - offset)
    view = on_grid(reading, node, x, grid, _along(scale, axis, x.rank))
    return Integers(
        real=view,
        scale=grid.scale,
        zero=zero.reshape(-1),
        axis=axis,
        low=ends[0],
        high=ends[1],
        source=x,
    )


def clip_integers(reading: Reading, node: Node, x: Integers | Constant) -> Sequence[Known]:
    """Integers of fewer bits than their element type has, as Brevitas exports them (QCDQ)."""
    limits = reading.number(node, 1, "lower limit"), reading.number(node, 2, "upper limit")
    type_low, type_high = (x.low, x.high) if isinstance(x, Integers) else _range(node, x.values)
    low = type_low if limits[0] is None else max(type_low, int(limits[0]))
    high = type_high if limits[1] is None else min(type_high, int(limits[1]))
    if low >= high:
        raise node.problem(f"it leaves the integers from {low} to {high}", "at least two integers")
    if isinstance(x, Constant):
        return [Constant(values=np.clip(x.values, low, high), low=low, high=high)]
    if (x.zero != x.zero[0]).any():
        raise node.problem("the zero points of its channels differ", "one zero point for all channels")
    offset = int(x.zero[0])
    grid = Grid(scale=x.scale, low=low - offset, high=high - offset)
    before = x.real if x.source is None else x.source
    view = on_grid(reading, node, before, grid, _along(x.scale, x.axis, x.real.rank))
    return [replace(x, real=view, low=low, high=high)]


def dequantize_linear(reading: Reading, node: Node) -> Sequence[Known]:
    known = reading.value(node, 0)
    if isinstance(known, Constant):
        return [dequantised(reading, node, known, 0)]
    if isinstance(known, Real):
        message = f"its input {node.inputs[0]} holds real values"
        raise node.problem(message, "integers, of QuantizeLinear or an input of an integer type")
    rank = known.real.rank
    scale, zero, _, _ = integer_parameters(reading, node, 1, rank)
    return [Real(view=_reals(reading, node, known, scale, zero))]


def _reals(reading: Reading, node: Node, x: Integers, scale: Array, zero: Array) -> Value:
    """scale * (integer - zero): x.real itself if scale and zero point are those that made it."""
    axis = _axis(reading, node, x.real.rank) if scale.size > 1 else x.axis
    if max(scale.size, zero.size) > 1 and {scale.size, zero.size} - {1, x.real.shape[axis]}:
        message = f"it has {scale.size} scales and {zero.size} zero points for {x.real.shape[axis]} elements"
        raise node.problem(message, f"one, or one for each element of axis {axis + 1}")
    mine = _along(x.scale, x.axis, x.real.rank), _along(x.zero, x.axis, x.real.rank)
    theirs = _along(scale, axis, x.real.rank), _along(zero, axis, x.real.rank)
    ratio = theirs[0] / mine[0]
    shift = (mine[1] - theirs[1]) * theirs[0]
    return moved(reading, node, Real(view=x.real), ratio, shift).view


def dequantised(reading: Reading, node: Node, constant: Constant, first: int) -> Constant:
    """Constant integers as real values; scale and zero point are the inputs from `first` + 1 on."""
    clipped = constant.low != constant.high
    low, high = (constant.low, constant.high) if clipped else _range(node, constant.values)
    scale = positive(node, reading.needed(node, first + 1).values)
    zero = reading.array(node, first + 2)
    rank = constant.values.ndim
    axis = int(node.attribute("axis", 1)) % max(rank, 1)
    _refuse_blocks(node)
    steps = _fitting(node, scale, axis, constant.values)
    offset = np.zeros(1) if zero is None else zero.astype(np.float64)
    offsets = _fitting(node, offset, axis, constant.values)
    codes = constant.values.astype(np.float64) - offsets
    return Constant(
        values=codes * steps,
        scale=np.broadcast_to(steps, codes.shape),
        low=low - int(offset.max()),
        high=high - int(offset.min()),
    )


def _fitting(node: Node, numbers: Array, axis: int, array: Array) -> Doubles:
    """Numbers for a whole array or for one of its axes, as they broadcast to it."""
    if not numbers.size:
        raise node.problem("a scale or a zero point is empty", "one number, or one for each channel")
    if numbers.size == 1:
        return np.full((1,) * array.ndim, float(numbers.reshape(())))
    if numbers.ndim != 1 or array.ndim <= axis or numbers.size != array.shape[axis]:
        message = f"scale or zero point of shape {list(numbers.shape)} for {list(array.shape)}"
        raise node.problem(message, f"one number, or one for each element of axis {axis}")
    return _along(numbers, axis, array.ndim).astype(np.float64)


def integer_parameters(
    reading: Reading, node: Node, first: int, rank: int
) -> tuple[Doubles, Doubles, int, int]:
    """(scale, zero point, least and largest integer) of a quantised tensor, from two inputs."""
    _refuse_blocks(node)
    scale = positive(node, reading.needed(node, first).values)
    given = reading.array(node, first + 1)
    zero = np.zeros(1, np.uint8) if given is None else given
    if given is None and node.attribute("output_dtype"):
        names = {2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 21: "uint4", 22: "int4"}
        dtype = names.get(int(node.attribute("output_dtype")), "float8")
        low, high = _ends(node, dtype)
    else:
        low, high = _range(node, zero)
    if scale.ndim > 1 or zero.size not in {1, scale.size}:
        message = f"scale {list(scale.shape)} and zero point {list(zero.shape)} do not go together"
        raise node.problem(message, "one of each, or one for each channel")
    return scale.reshape(-1), zero.astype(np.float64).reshape(-1), low, high


def _range(node: Node, array: Array) -> tuple[int, int]:
    return _ends(node, str(array.dtype))


def _ends(node: Node, dtype: str) -> tuple[int, int]:
    if dtype not in INTEGER_TYPES:
        raise node.problem(f"it quantises to {dtype}", f"one of {', '.join(INTEGER_TYPES)}")
    signed, bits = not dtype.startswith("u"), int(dtype.lstrip("uint"))
    top = 1 << (bits - signed)
    return -top if signed else 0, top - 1


def _refuse_blocks(node: Node) -> None:
    if node.attribute("block_size", 0):
        raise node.problem("it quantises in blocks", "one scale for each channel, or for all")


def _axis(reading: Reading, node: Node, rank: int) -> int:
    return reading.axis(node, int(node.attribute("axis", 1)), rank)


def _along(numbers: Array, axis: int, rank: int) -> Array:
    """Numbers [n] along an axis of `rank`; one number stays one."""
    shape = [1] * rank
    if numbers.size > 1:
        shape[axis] = numbers.size
    return numbers.reshape(shape)


def cast_integers(reading: Reading, node: Node, x: Integers) -> Sequence[Known]:
    """The integers themselves as real values, or still as integers."""
    if int(node.attribute("to", 1)) in (1, 10, 11, 16):
        return [Real(view=plain_integers(reading, node, x))]
    if int(node.attribute("to", 1)) in (5, 6, 7):  # int16, int32, int64 hold what comes here
        return [x]
    raise node.problem("it casts integers to another integer type", "float32, int32 or int64")


def plain_integers(reading: Reading, node: Node, x: Integers) -> Value:
    """What the integers are, as real values."""
    scale, zero = (_along(part, x.axis, x.real.rank) for part in (x.scale, x.zero))
    return moved(reading, node, Real(view=x.real), 1 / scale, zero).view


# operations on integers


def input_of(reading: Reading, node: Node, index: int, scale: Doubles | None, zero: Doubles) -> Value:
    """What integers stand for with the scale and zero point that this node gives them."""
    known = reading.value(node, index)
    if not isinstance(known, Integers):
        message = f"its input {node.inputs[index]} is not a tensor of integers that the model computes"
        raise node.problem(message, "integers, of QuantizeLinear or an input of an integer type")
    return _reals(reading, node, known, known.scale if scale is None else scale, zero)


def qlinear_conv(reading: Reading, node: Node) -> Sequence[Known]:
    rank = _rank(reading, node)
    scale, zero, _, _ = integer_parameters(reading, node, 1, rank)
    x = input_of(reading, node, 0, scale, zero)
    weights = integer_weights(reading, node, 3, axis=0)
    bias = integer_bias(reading, node, 8, weights, float(scale[0]))
    view = convolution(reading, node, x, weights, bias)
    return [requantised_by(reading, node, view, 6)]


def qlinear_matmul(reading: Reading, node: Node) -> Sequence[Known]:
    rank = _rank(reading, node)
    scale, zero, _, _ = integer_parameters(reading, node, 1, rank)
    x = input_of(reading, node, 0, scale, zero)
    right = integer_weights(reading, node, 3, axis=1)
    (found,) = product_of(reading, node, x, right)
    assert isinstance(found, Real)
    return [requantised_by(reading, node, found.view, 6)]


def conv_integer(reading: Reading, node: Node) -> Sequence[Known]:
    weights, scale, x = _integer_operands(reading, node)
    return [_sums(convolution(reading, node, x, weights, None), scale)]


def matmul_integer(reading: Reading, node: Node) -> Sequence[Known]:
    weights, scale, x = _integer_operands(reading, node)
    (found,) = product_of(reading, node, x, weights)
    assert isinstance(found, Real)
    return [_sums(found.view, scale)]


def _integer_operands(reading: Reading, node: Node) -> tuple[Constant, Doubles, Value]:
    """Weights of scale 1, the scale of the first input, and what it stands for."""
    known = reading.value(node, 0)
    zero = reading.array(node, 2)
    zeros = np.zeros(1) if zero is None else _fitting(node, zero, 0, np.zeros(1)).reshape(-1)
    x = input_of(reading, node, 0, None, zeros)
    assert isinstance(known, Integers)
    if known.scale.size > 1:
        raise node.problem("its input has a scale for each channel", "one scale for all channels")
    integers = reading.needed(node, 1).values
    low, high = _range(node, integers)
    offset = reading.array(node, 3)
    offsets = np.zeros(1) if offset is None else offset.astype(np.float64)
    axis = 0 if node.op == "ConvInteger" else integers.ndim - 1
    codes = integers.astype(np.float64) - _fitting(node, offsets, axis, integers)
    ends = low - int(offsets.max()), high - int(offsets.min())
    weights = Constant(values=codes, scale=np.ones(codes.shape), low=ends[0], high=ends[1])
    return weights, known.scale, x


def _sums(real: Value, scale: Doubles) -> Integers:
    """The int32 result of a product of integers: real values in steps of the first input's scale."""
    return Integers(real=real, scale=scale, zero=np.zeros(1), axis=0, low=-(1 << 31), high=(1 << 31) - 1)


def _rank(reading: Reading, node: Node) -> int:
    known = reading.value(node, 0)
    return known.real.rank if isinstance(known, Integers) else 1


def integer_weights(reading: Reading, node: Node, index: int, axis: int) -> Constant:
    """Integer weights as real values, with scale and zero point from the next two inputs."""
    integers = reading.needed(node, index)
    along = replace(node, attributes={**node.attributes, "axis": axis}, inputs=node.inputs[index : index + 3])
    return dequantised(reading, along, integers, 0)


def integer_bias(
    reading: Reading, node: Node, index: int, weights: Constant, scale: float
) -> Constant | None:
    """int32 in steps of input scale * weight scale."""
    integers = reading.array(node, index)
    if integers is None:
        return None
    members = weights.values.shape[0]
    if integers.shape != (members,):
        message = f"its bias has the shape {list(integers.shape)}"
        raise node.problem(message, f"a bias of {members} elements")
    assert weights.scale is not None
    steps = scale * weights.scale.reshape(members, -1)[:, 0]
    return Constant(values=integers * steps, scale=steps)


def requantised_by(reading: Reading, node: Node, view: Value, first: int) -> Integers:
    """A real tensor as integers of the node's output scale and zero point."""
    scale, zero, low, high = integer_parameters(reading, node, first, view.rank)
    return _requantised(reading, node, view, scale, zero, (low, high))


QONNX: dict[str, Handler] = {
    "BipolarQuant": bipolar_quant,
    "IntQuant": quant,
    MULTI_THRESHOLD: thresholds,
    "Quant": quant,
}
"""Operations of the QONNX domains, but for those of truncation.py."""
INTEGER: dict[str, Handler] = {
    "ConvInteger": conv_integer,
    "DequantizeLinear": dequantize_linear,
    "MatMulInteger": matmul_integer,
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
    "QuantizeLinear": quantize_linear,
}
