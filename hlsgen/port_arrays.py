"""Frames in the framework's layout, as numbers, and the codes of the tensors that ports show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen.errors import DesignError, Place, Problem
from hlsgen.ir import Port
from hlsgen.layers.base import Codes
from hlsgen.quantise import quantised
from hlsgen.real_numbers import real_array

Floats = NDArray[np.float64]
Arrays: TypeAlias = "Floats | list[Floats]"
"""What a network gives: one array [frames, ...] in the framework's layout, or one for each output."""


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
        raise DesignError(Problem(message=f"{what} has shape {array.shape}", fix=fix))
    frames = port.to_tensor(array.reshape(-1, *port.shape)) / port.scale
    return quantised(frames, port.tensor.type, what, place)


def outputs_of(ports: Sequence[Port], tensors: Mapping[str, Codes]) -> Arrays:
    """Codes of the tensors that the ports show -> numbers in the framework's layout."""
    arrays = [port.from_tensor(port.tensor.type.decode(tensors[port.source])) * port.scale for port in ports]
    return arrays[0] if len(arrays) == 1 else arrays
