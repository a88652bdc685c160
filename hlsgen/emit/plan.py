"""What a build folder will hold, before anything is written."""

from __future__ import annotations

import io

import numpy as np

from hlsgen.base.fixed import Codes, NumberType

Plan = dict[str, str | bytes]


def npy_bytes(codes: Codes, type_: NumberType) -> bytes:
    """Codes as the bytes of a .npy file of the type's container."""
    return array_bytes(np.ascontiguousarray(codes.astype(type_.dtype)))


def array_bytes(array: Codes) -> bytes:
    """An array as the bytes of a .npy file."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()
