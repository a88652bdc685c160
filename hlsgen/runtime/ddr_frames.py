"""Frames between codes [N, C, H, W] and the bytes of a kernel's words in DDR."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType
from hlsgen.csim.streaming import signed_codes
from hlsgen.hardware.host_interface import HostTensor

Bytes: TypeAlias = "NDArray[np.uint8]"

ROWS = (0, 3, 4, 1, 5, 2)
"""[N, folds, ch, H, groups, px] -> row, group, fold; in a word the pixels, of each its channels."""
PLANES = (0, 1, 3, 4, 5, 2)
"""The same, the channels apart."""


def packed(codes: Codes, tensor: HostTensor) -> Bytes:
    """[N, C, H, W] -> the bytes of N frames; what no element fills is zero."""
    frames = len(codes)
    given = np.asarray(codes).astype(tensor.number.dtype.newbyteorder("<"))
    padding = tensor.groups * tensor.px - tensor.width
    wide = np.pad(given, ((0, 0), (0, 0), (0, 0), (0, padding)))
    elements = wide.reshape(frames, tensor.folds, tensor.ch, tensor.height, tensor.groups, tensor.px)
    words = np.ascontiguousarray(elements.transpose(PLANES if tensor.planar else ROWS))
    content = words.view(np.uint8).reshape(-1, tensor.px * tensor.ch * tensor.element_bytes)
    room = tensor.word_bytes - content.shape[1]
    return np.pad(content, ((0, 0), (0, room))).reshape(-1)


def unpacked(content: Bytes, tensor: HostTensor) -> Codes:
    """The bytes of whole frames -> codes [N, C, H, W]."""
    used = tensor.px * tensor.ch * tensor.element_bytes
    words = np.ascontiguousarray(content.reshape(-1, tensor.word_bytes)[:, :used])
    elements = words.reshape(-1).view(tensor.number.dtype.newbyteorder("<"))
    sizes = (tensor.folds, tensor.ch, tensor.height, tensor.groups, tensor.px)
    order = PLANES if tensor.planar else ROWS
    apart = elements.reshape(-1, *(sizes[axis - 1] for axis in order[1:]))
    wide = apart.transpose(np.argsort(order)).reshape(
        -1, tensor.channels, tensor.height, tensor.groups * tensor.px
    )
    return of_container(wide[..., : tensor.width], tensor)


def of_container(elements: Codes, tensor: HostTensor) -> Codes:
    """Codes of what a kernel left in containers, whose bits above the code's mean nothing."""
    number = tensor.number
    if not isinstance(number, FixedType):
        return elements.astype(np.float32)
    return signed_codes(elements.view(f"<u{tensor.element_bytes}"), number)
