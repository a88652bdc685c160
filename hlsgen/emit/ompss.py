"""The layer as tasks of OmpSs-2@FPGA: accelerator, nested batch task, host program and Makefile."""

from __future__ import annotations

from typing import Any

from hlsgen.base.fixed import FixedType, NumberType
from hlsgen.designfile.clock import Clock
from hlsgen.emit.constants import c_type
from hlsgen.emit.environment import render, safe_comment
from hlsgen.emit.ompss_project import Accelerator, creator, function_name, tool_files
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.search.placement import Deployment, frame_copies, slrs_with

BLOCK_BITS = 512
"""Local arrays are filled up to blocks of this size: the widest memory port that is asked for."""
NARROWEST_PORT_BITS = 64


def ompss_files(deployment: Deployment, clock: Clock, k: dict[str, Any], version: str) -> dict[str, str]:
    """{"ompss/Makefile": text, ...}"""
    slrs = slrs_with(deployment, frame_copies(deployment.mapping))
    instance = Accelerator(
        name=function_name(f"{k['name']}_instance"), instances=max(1, len(slrs)), slrs=slrs
    )
    batch = creator(deployment.board, function_name(f"{k['name']}_batch"))
    context: dict[str, Any] = {"k": k, "version": version, "source": safe_comment(k["source"])}
    context |= {"instances": instance.instances, "instance": instance.name, "batch": batch.name}
    context |= _arrays(deployment.mapping, k, instance.name, batch.name)
    names = {
        "kernel.fpga.h": f"{k['name']}_kernel.fpga.h",
        "tasks.cpp": f"{k['name']}_tasks.cpp",
        "main.cpp": "main.cpp",
    }
    files = {f"ompss/{path}": render(f"ompss/{name}.j2", **context) for name, path in names.items()}
    return files | tool_files(
        deployment.board,
        clock,
        k,
        (instance, batch),
        version,
        port_bits=_port_bits(deployment),
        arguments=not deployment.mapping.layer.is_float,
    )


def _arrays(mapping: ConvMapping, k: dict[str, Any], instance: str, batch: str) -> dict[str, Any]:
    """Sizes of the local arrays, the code's integer type, and the columns that continued lines begin at."""
    layer, name = mapping.layer, k["name"]
    channels, height, width = layer.in_shape
    out_channels, out_height, out_width = layer.output_shape
    decoded = not layer.is_float
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
    return found
