"""Frames in the framework's layout, as numbers, and the codes of the tensors that ports show.

The one place where inputs become codes: of Python's `golden` and `csim`, of samples and calibration, and of
hlsgen.runtime. The C++ testbench and the host program read codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.base.fixed import Codes, FixedType, NumberType, Overflow, Rounding
from hlsgen.base.quantise import LARGEST_FLOAT, WRAPPING, quantised
from hlsgen.base.real_numbers import real_array
from hlsgen.model.ir import Port

Floats = NDArray[np.float64]
Arrays: TypeAlias = "Floats | list[Floats]"
"""What a network gives: one array [frames, ...] in the framework's layout, or one for each output."""
WHOLE_BITS = 48
"""The widest integer before it is limited: quantisers have up to 32 bits, and zero points of as many."""


def inputs_of(
    name: str, ports: Sequence[Port], x: ArrayLike | Sequence[ArrayLike], what: str = "x"
) -> dict[str, Codes]:
    """Codes by input of a design called `name`; several inputs are a list.

    Raises DesignError: as `port_codes`, a list of another length, different numbers of frames.
    """
    if len(ports) == 1:
        return {ports[0].name: port_codes(ports[0], x, what)}
    if not isinstance(x, list | tuple) or len(x) != len(ports):
        names = ", ".join(port.name for port in ports)
        message = f"{name} has {len(ports)} inputs: {names}"
        raise DesignError(Problem(message=message, fix=f"a list of {len(ports)} arrays in this order"))
    codes = {
        port.name: port_codes(port, array, f"{what}[{number}]")
        for number, (port, array) in enumerate(zip(ports, x, strict=True))
    }
    if len({len(array) for array in codes.values()}) > 1:
        counts = ", ".join(f"{name}: {len(array)}" for name, array in codes.items())
        raise DesignError(Problem(message=f"the inputs have {counts} frames", fix="the same number in all"))
    return codes


def port_codes(port: Port, x: Any, what: str, place: Place | None = None) -> Codes:
    """Codes [frames, C, H, W] of frames in the framework's layout, batch first, or of one frame without it.

    Raises DesignError: wrong shape, no real numbers, NaN, out of the type's range.
    """
    wanted = ", ".join(str(size) for size in port.shape)
    fix = f"[frames, {wanted}], batch first"
    try:
        array = real_array(x, what, place)
    except (TypeError, ValueError) as error:
        raise DesignError(Problem(message=f"{what} is no array of numbers: {error}", fix=fix)) from None
    rank = len(port.shape)
    if array.ndim not in (rank, rank + 1) or array.shape[array.ndim - rank :] != port.shape or not array.size:
        turned = transposition(array.shape, port.shape)
        if turned is not None:
            fix = f"{fix}: move its axes, {what}.transpose{turned}"
        raise DesignError(Problem(message=f"{what} has shape {array.shape}", fix=fix))
    return tensor_codes(port, port.to_tensor(array.reshape(-1, *port.shape)), what, place)


def transposition(given: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    """The order of axes that makes frames [N, *wanted] of an array, where it has channels last in place of
    first, or the other way round; None: neither does.
    """
    return next(
        (axes for axes in ((0, 3, 1, 2), (0, 2, 3, 1)) if _turned(given, axes) == wanted and given[0]), None
    )


def _turned(given: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a frame with its axes in another order."""
    return tuple(given[axis] for axis in axes[1:]) if len(given) == len(axes) else ()


def tensor_codes(port: Port, values: Codes, what: str, place: Place | None = None) -> Codes:
    """Codes of values [frames, C, H, W] of the framework, as the quantizer that the port's type stands for.

    Raises DesignError: NaN, infinity, out of the type's range.
    """
    type_ = port.tensor.type
    if not np.isfinite(values).all():
        return quantised(values, type_, what, place)  # which refuses them
    steps: Codes = values / port.scale
    if port.in_float32:
        with np.errstate(over="ignore"):
            steps = _single(_single(values) / np.float32(port.scale))
    if port.zero or port.ceil:
        return _beyond_types(port, steps)
    codes = quantised(steps, type_, what, place)
    if port.odd and isinstance(type_, FixedType):
        assert type_.rounding is Rounding.TRN
        codes |= type_.decode(codes) != steps
    return codes


def _beyond_types(port: Port, steps: Codes) -> Codes:
    """Codes of what a quantizer does that no type says: a zero point before it rounds, rounding up."""
    type_ = port.tensor.type
    assert isinstance(type_, FixedType)
    assert type_.overflow not in WRAPPING
    with np.errstate(over="ignore"):
        sums = _single(np.ldexp(_single(steps), type_.fraction) + np.float32(port.zero))
    whole = FixedType(WHOLE_BITS, WHOLE_BITS, True, type_.rounding, Overflow.SAT)
    integers = -whole.encode(-sums) if port.ceil else whole.encode(sums)
    codes: Codes = np.clip(integers - port.zero, type_.lowest_code, type_.max_code)
    return codes


def _single(values: Codes) -> Codes:
    """Finite values as float32; what is beyond its range becomes the largest, which saturates as well."""
    return np.clip(values, -LARGEST_FLOAT, LARGEST_FLOAT).astype(np.float32)


def stand_in_codes(port: Port, values: Codes) -> Codes:
    """Codes of values [frames, C, H, W] that only stand in for a user's: what leaves the range is clipped."""
    return tensor_codes(
        replace(port, tensor=replace(port.tensor, type=clipping(port.tensor.type))), values, ""
    )


def clipping(type_: NumberType) -> NumberType:
    """The type, saturating where it would wrap."""
    if isinstance(type_, FixedType) and type_.overflow in WRAPPING:
        return replace(type_, overflow=Overflow.SAT)
    return type_


def outputs_of(ports: Sequence[Port], tensors: Mapping[str, Codes]) -> Arrays:
    """Codes of the tensors that the ports show -> numbers in the framework's layout."""
    arrays = [port.from_tensor(port.tensor.type.decode(tensors[port.source])) * port.scale for port in ports]
    return arrays[0] if len(arrays) == 1 else arrays
