"""Frames between codes [N, C, H, W] and the bytes of a kernel's words in DDR, or of a processor's memory
there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType
from hlsgen.csim.streaming import signed_codes
from hlsgen.hardware.host_interface import HostInterface, HostPort, HostTensor
from hlsgen.hardware.host_program import HostPlace
from hlsgen.hardware.processor import FLOAT_BITS
from hlsgen.program.layout import Layout
from hlsgen.program.unfolding import unfolded_columns

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
        return elements.astype(number.dtype)
    return signed_codes(elements.view(f"<u{tensor.element_bytes}"), number)


MEMORY = "memory"
"""The buffer of a shared processor, in which all of its tensors lie."""


@dataclass(frozen=True, kw_only=True)
class Region:
    """Bytes of a buffer from `first` on."""

    buffer: str
    first: int
    content: Bytes


def buffer_bytes(interface: HostInterface, frames: int) -> dict[str, int]:
    """The buffers of a call of up to so many frames, and the bytes of each."""
    program = interface.program
    own = {one.name: frames * one.frame_bytes for one in interface.tensors if not _held(interface, one.name)}
    return own if program is None else {MEMORY: program.memory_bytes, **own}


def _held(interface: HostInterface, tensor: str) -> bool:
    """Whether a tensor lies in the memory of a shared processor."""
    return interface.program is not None and interface.program.holds(tensor)


def packed_regions(interface: HostInterface, port: HostPort, codes: Codes) -> list[Region]:
    """Frames [N, C, H, W] of an input wherever kernels read them."""
    if interface.program is None or not _held(interface, port.tensor):
        content = packed(codes, interface.tensor(port.tensor))
        return [Region(buffer=port.tensor, first=0, content=content)]
    return [
        Region(buffer=MEMORY, first=place.first_byte, content=_blocks(codes, place))
        for place in interface.program.of(port.tensor)
    ]


def result_region(interface: HostInterface, port: HostPort, frames: int) -> tuple[str, int, int]:
    """Where the frames of an output lie: the buffer, the first byte, and how many bytes."""
    if interface.program is None or not _held(interface, port.tensor):
        return port.tensor, 0, frames * interface.tensor(port.tensor).frame_bytes
    place = interface.program.of(port.tensor)[0]
    return MEMORY, place.first_byte, frames * place.frame_bytes


def results_of(interface: HostInterface, port: HostPort, content: Bytes) -> Codes:
    """The bytes of `result_region` -> codes [N, C, H, W]."""
    tensor = interface.tensor(port.tensor)
    if interface.program is None or not _held(interface, port.tensor):
        return unpacked(content, tensor)
    place = interface.program.of(port.tensor)[0]
    layout, number = _layout(place), tensor.number
    signed = not isinstance(number, FixedType) or number.signed
    found = layout.unpacked(content.reshape(-1, layout.frame_bytes), signed=signed)
    return found.astype(number.dtype)


def _blocks(codes: Codes, place: HostPlace) -> Bytes:
    how = None
    if place.columns > 1:
        how = (place.columns, place.dilation, place.stride, place.left)
    return _layout(place).packed(unfolded_columns(np.asarray(codes), how, place.width)).reshape(-1)


def _layout(place: HostPlace) -> Layout:
    return Layout(
        shape=place.shape,
        rows=place.rows,
        lanes=place.lanes,
        bits=8 * place.element_bytes,
        floating=8 * place.element_bytes == FLOAT_BITS,
    )
