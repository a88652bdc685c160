"""What a build folder will hold, before anything is written."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np

from hlsgen.base.fixed import Codes, NumberType

Plan = dict[str, str | bytes]


@dataclass(frozen=True, kw_only=True)
class KernelNames:
    """The kernel's name, and where the design was written (for the files' headers).

    space: the C++ namespace and the header of a convolution's folding; empty: the layer's name.
    shared_port: an argument whose bundle is that of another one.
    """

    kernel: str
    source: str
    space: str = ""
    shared_port: tuple[str, str] = ("", "")


def npy_bytes(codes: Codes, type_: NumberType) -> bytes:
    """Codes as the bytes of a .npy file of the type's container."""
    return array_bytes(np.ascontiguousarray(codes.astype(type_.dtype)))


def array_bytes(array: Codes) -> bytes:
    """An array as the bytes of a .npy file, as numpy.save writes them."""
    stream = io.BytesIO()
    if not array.flags.c_contiguous:
        np.save(stream, array)
        return stream.getvalue()
    # the memory of a large network is copied once
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(array))
    return b"".join([stream.getvalue(), array.reshape(-1).view(np.uint8).data])
