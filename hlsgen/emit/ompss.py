"""The layer as tasks of OmpSs-2@FPGA: accelerator, nested batch task, host program and Makefile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hlsgen.base.fixed import FixedType, NumberType
from hlsgen.base.floating import FLOAT32
from hlsgen.designfile.clock import Clock
from hlsgen.emit.constants import c_type
from hlsgen.emit.environment import render, safe_comment
from hlsgen.emit.ompss_project import Accelerator, creator, function_name, tool_files
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.layers.conv2d import Conv2d
from hlsgen.search.placement import Deployment, frame_copies, slrs_with

BLOCK_BITS = 512
"""Local arrays are filled up to blocks of this size: the widest memory port that is asked for."""
NARROWEST_PORT_BITS = 64


def ompss_files(
    deployment: Deployment, clock: Clock, ks: Sequence[dict[str, Any]], version: str
) -> dict[str, str]:
    """{"ompss/Makefile": text, ...}; ks: what the templates use of each kernel.

    A kernel of which no instance has room for whole frames on chip is left out; the first of them is there in
    any case.
    """
    k = ks[0]
    name = k["name"]
    copies = [frame_copies(kernel.mapping) for kernel in deployment.kernels]
    placed = slrs_with(deployment, copies)
    used = [number for number, slrs in enumerate(placed) if slrs] or [0]
    batch = creator(deployment.board, function_name(f"{name}_batch"))
    instances = [
        Accelerator(
            name=function_name(f"{ks[number]['name']}_instance"),
            instances=max(1, len(placed[number])),
            slrs=placed[number],
        )
        for number in used
    ]
    shared = {"version": version, "source": safe_comment(k["source"]), "design": name, "batch": batch.name}
    speeds = [deployment.kernels[number].speed for number in used]
    parts = frame_shares([speed * one.instances for speed, one in zip(speeds, instances, strict=True)])
    contexts: list[dict[str, Any]] = [
        {
            "k": ks[number],
            "instances": one.instances,
            "instance": one.name,
            "share": part,
            "first": one is instances[0],
            **shared,
            **_arrays(deployment.kernels[number].mapping, ks[number], one.name, batch.name, name),
        }
        for number, one, part in zip(used, instances, parts, strict=True)
    ]
    files = {
        f"ompss/{context['k']['name']}_kernel.fpga.h": render("ompss/kernel.fpga.h.j2", **context)
        for context in contexts
    }
    whole = {**contexts[0], "tasks": contexts, "shares": sum(parts)}
    files[f"ompss/{name}_tasks.cpp"] = render("ompss/tasks.cpp.j2", **whole)
    files["ompss/main.cpp"] = render("ompss/main.cpp.j2", **whole)
    return files | tool_files(
        deployment.board,
        clock,
        k,
        (*instances, batch),
        version,
        port_bits=_port_bits(deployment),
        arguments=_decoded(deployment.mapping.layer),
    )


SHARES = 64
"""Of about so many frames in turn each kernel takes a whole number."""


def frame_shares(speeds: Sequence[float]) -> list[int]:
    """Of some frames in turn how many each takes, by its speed: at least one."""
    parts = [max(1, round(SHARES * one / sum(speeds))) for one in speeds]
    common = math.gcd(*parts)
    return [part // common for part in parts]


def _arrays(mapping: ConvMapping, k: dict[str, Any], instance: str, batch: str, name: str) -> dict[str, Any]:
    """Sizes of the local arrays, the code's integer type, and the columns that continued lines begin at.

    name: of the design.
    """
    layer = mapping.layer
    channels, height, width = layer.in_shape
    out_channels, out_height, out_width = layer.output_shape
    decoded = _decoded(layer)
    signed = isinstance(layer.result_type, FixedType) and layer.result_type.signed
    types = {"input": layer.input_type, "weights": layer.weight_type, "output": layer.result_type}
    elements = {
        "input": channels * height * width,
        "weights": layer.weights.size,
        "output": out_channels * out_height * out_width,
    }
    if k["has_bias"]:
        types["biases"], elements["biases"] = layer.bias_type, out_channels
    sizes = {array: _in_blocks(elements[array], type_) for array, type_ in types.items()}
    return {
        "arguments": [_argument(array, type_) for array, type_ in types.items()],
        "sizes": sizes,
        "local_kib": -(
            -sum(sizes[array] * type_.container_bits for array, type_ in types.items()) // (8 * 1024)
        ),
        "weights_size": "WEIGHTS" if decoded else "WEIGHTS_SIZE",
        "biases_size": "OUT_CHANNELS" if decoded else "BIASES_SIZE",
        "out_integer": "ap_int" if signed else "ap_uint",
        "out_conversion": "to_int64" if signed else "to_uint64",
        "block_bits": BLOCK_BITS,
        "block_bytes": BLOCK_BITS // 8,
        "instance_indent": " " * len(f"void {instance}("),
        "instance_call_indent": " " * len(f"{instance}("),
        "batch_indent": " " * len(f"void {batch}("),
        "frames_indent": " " * len(f"void {name}_frames("),
    }


def _decoded(layer: Conv2d) -> bool:
    """Whether arguments are codes, of which elements are made; float is an element as it is."""
    return layer.input_type != FLOAT32


def _in_blocks(elements: int, type_: NumberType) -> int:
    block = BLOCK_BITS // type_.container_bits
    return -(-elements // block) * block


def _port_bits(deployment: Deployment) -> int:
    """The width of the port that copies frames: a power of two."""
    port = max(NARROWEST_PORT_BITS, min(BLOCK_BITS, deployment.board.memory.port_bits))
    return 1 << (port.bit_length() - 1)


ARGUMENT_NAMES = {
    "input": "in_code_t",
    "weights": "weight_code_t",
    "biases": "bias_code_t",
    "output": "out_code_t",
}


def _argument(array: str, type_: NumberType) -> dict[str, Any]:
    """The types that an array of a task may have: plain codes, or fixed point as wide as its container."""
    found = {
        "name": ARGUMENT_NAMES[array],
        "plain": c_type(type_),
        "bytes": type_.dtype.itemsize,
        "own": type_.cpp,
    }
    if isinstance(type_, FixedType):
        bits = type_.container_bits
        whole = FixedType(bits, type_.integer + bits - type_.width, type_.signed)
        found["fixed"] = whole.cpp
    elif type_.is_half:
        found["fixed"] = type_.cpp
    return found
