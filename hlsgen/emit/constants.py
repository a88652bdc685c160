"""Constants that the templates of several styles name: C types of codes, and a layer's shapes."""

from __future__ import annotations

from collections.abc import Iterable

from hlsgen.base.fixed import NumberType
from hlsgen.emit.environment import source_text
from hlsgen.layers.base import Layer

_C_TYPES = {
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float32": "float",
    "float16": "unsigned short",  # the bits: compilers of hosts need not know half
}


def c_type(type_: NumberType) -> str:
    """The C type of an element's code in a plain array, or of the number itself in floating point."""
    return _C_TYPES[type_.dtype.name]


HALF_HEADERS = ("half.h", "half_sums.h")
"""What kernels in half include besides."""


def header_files(names: Iterable[str], *, half: bool) -> dict[str, str]:
    """{"src/hlsgen/lanes.h": text, ...}: headers that kernels include, for elements of half too if there are
    such.
    """
    texts = {name: source_text(f"hls/hlsgen/{name}") for name in (*names, *(HALF_HEADERS if half else ()))}
    if half:
        # what packs elements must find the bits of a half when it is declared
        static = '#include "hlsgen/static.h"\n'
        assert texts["lanes.h"].count(static) == 1
        texts["lanes.h"] = texts["lanes.h"].replace(static, f'#include "hlsgen/half.h"\n{static}')
    return {f"src/hlsgen/{name}": text for name, text in texts.items()}


def shape_constants(layer: Layer) -> dict[str, int]:
    """The sizes of a layer's first input and of its output, by the names of their constants."""
    channels, height, width = layer.sources[0].shape
    out_channels, out_height, out_width = layer.output_shape
    return {
        "IN_CHANNELS": channels,
        "IN_HEIGHT": height,
        "IN_WIDTH": width,
        "OUT_CHANNELS": out_channels,
        "OUT_HEIGHT": out_height,
        "OUT_WIDTH": out_width,
    }
