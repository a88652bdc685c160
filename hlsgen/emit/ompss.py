"""The layer as tasks of OmpSs-2@FPGA: accelerator, nested batch task, host program and Makefile."""

from __future__ import annotations

import re
from typing import Any

from hlsgen.emit.environment import render, safe_comment
from hlsgen.emit.vitis import plain_word
from hlsgen.fixed import FixedType, NumberType
from hlsgen.mapping.conv2d import ConvMapping
from hlsgen.mapping.placement import Deployment, frame_copies, instances_with

BLOCK_BITS = 512
"""Local arrays are filled up to blocks of this size: the widest memory port that is asked for."""
NARROWEST_PORT_BITS = 64
CROSS = {"alveo": "", "zynqmp": "aarch64-linux-gnu"}
"""Target of the host's compiler, by the board's flow; empty: the machine itself."""


def ompss_files(deployment: Deployment, k: dict[str, Any], version: str) -> dict[str, str]:
    """{"ompss/Makefile": text, ...}"""
    context = {"k": k, "version": version, "source": safe_comment(k["source"])}
    context |= _arrays(deployment.mapping, k) | _tools(deployment, k["name"])
    names = {
        "kernel.fpga.h": f"{k['name']}_kernel.fpga.h",
        "tasks.cpp": f"{k['name']}_tasks.cpp",
        "main.cpp": "main.cpp",
        "Makefile": "Makefile",
    }
    return {f"ompss/{path}": render(f"ompss/{name}.j2", **context) for name, path in names.items()}


def _arrays(mapping: ConvMapping, k: dict[str, Any]) -> dict[str, Any]:
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
        "instance_indent": " " * len(f"void {name}_instance("),
        "instance_call_indent": " " * len(f"{name}_instance("),
        "batch_indent": " " * len(f"void {name}_batch("),
        "frames_indent": " " * len(f"void {name}_frames("),
    }


def _in_blocks(elements: int, type_: NumberType) -> int:
    block = BLOCK_BITS // type_.container_bits
    return -(-elements // block) * block


def _tools(deployment: Deployment, kernel: str) -> dict[str, Any]:
    board = deployment.board
    port = max(NARROWEST_PORT_BITS, min(BLOCK_BITS, board.memory.port_bits))
    return {
        "instances": max(1, instances_with(deployment, frame_copies(deployment.mapping))),
        "cross": CROSS[board.flow],
        "ait_name": ait_name(kernel),
        "ait_board": plain_word(board.ait_board),
        "whole_mhz": int(deployment.clock_mhz),
        "port_bits": 1 << (port.bit_length() - 1),
    }


def ait_name(kernel: str) -> str:
    """The kernel's name as AIT takes it: single underscores, a letter first, a letter or digit last."""
    name = re.sub("_+", "_", kernel).strip("_")
    return name if name[:1].isalpha() else f"kernel_{name}".rstrip("_")
