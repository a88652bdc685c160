"""The host program of a build folder, and interface.json: how a kernel is called, for whoever calls it.

Both say the same: what arguments kernels take, how tensors lie in DDR, which compute units there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from hlsgen.base.fixed import FixedType, NumberType
from hlsgen.emit.environment import render, safe_comment, source_text
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.hardware.host_interface import (
    INTERFACE,
    Container,
    HostArgument,
    HostConstants,
    HostInterface,
    HostPacking,
    HostPort,
    HostStep,
    HostTensor,
)
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.ports import ddr_word_bits, slot_bits
from hlsgen.hardware.weight_beats import weight_beats
from hlsgen.layers import winograd
from hlsgen.layers.packing import lower_lane_limit
from hlsgen.layers.stage import WEIGHT_BEAT_BITS, StreamFormat
from hlsgen.model.ir import Graph, Port
from hlsgen.search.layerwise import LayerwiseHardware
from hlsgen.search.placement import Deployment
from hlsgen.search.task_kernels import TaskKernel

HEADERS = (
    "interface.h",
    "pack.h",
    "blocks.h",
    "arrays.h",
    "options.h",
    "device.h",
    "lane.h",
    "statistics.h",
    "batch.h",
)
CALL_SECONDS = 2e-3
"""Frames of a call take about this long: much longer than the start of a call, short enough to overlap."""
BUFFER_BYTES = 1 << 26
"""The most DDR that one set of buffers takes, if a frame allows it."""


def host_files(interface: HostInterface, version: str, *, data: str = "../tb") -> dict[str, str]:
    """{"host/main.cpp": text, ..., "interface.json": text}; data: where frames and weights lie, from
    host/.
    """
    files = {f"host/{name}": source_text(f"xrt/{name}") for name in HEADERS}
    for name in ("main.cpp", "design.h", "Makefile"):
        files[f"host/{name}"] = render(f"xrt/{name}.j2", d=interface, version=version, data=data)
    files[INTERFACE] = interface.as_json()
    return files


def conv_interface(
    deployment: Deployment, *, source: str, units: Mapping[str, Sequence[str]]
) -> HostInterface:
    """The host's view of a convolution. units: compute units by kernel; the first is called as the design."""
    mapping, layer, name = deployment.mapping, deployment.layer, next(iter(units))
    kernels = [kernel for kernel, here in units.items() for _ in here] if len(units) > 1 else []
    tensors = (
        _planar("input", layer.in_shape, layer.input_type, mapping.in_lanes),
        _planar("output", layer.output_shape, layer.result_type, mapping.out_lanes),
    )
    constants = [_constants("weights", "weights.npy", layer.weights.size, layer.weight_type)]
    if layer.bias.size:
        constants.append(_constants("biases", "biases.npy", layer.bias.size, layer.bias_type))
    arguments = (
        HostArgument(port="input", source="tensor", name="input"),
        *(HostArgument(port=one.name, source="constants", name=one.name) for one in constants),
        HostArgument(port="output", source="tensor", name="output"),
        HostArgument(port="frames", source="frames", name="frames"),
    )
    ports = [
        HostPort(
            name=tensor.name,
            tensor=tensor.name,
            shape=(tensor.channels, tensor.height, tensor.width),
            axes=(0, 1, 2),
            scale=1.0,
            golden="golden.npy" if tensor.name == "output" else "",
            csim="output.npy" if tensor.name == "output" else "",
        )
        for tensor in tensors
    ]
    return HostInterface(
        name=name,
        source=safe_comment(source),
        board=deployment.board.title,
        clock_mhz=deployment.clock_mhz,
        streaming=False,
        tensors=tensors,
        constants=tuple(constants),
        steps=(
            HostStep(
                kernel=name,
                units=tuple(unit for here in units.values() for unit in here),
                arguments=arguments,
                kernels=tuple(kernels),
            ),
        ),
        inputs=(ports[0],),
        outputs=(ports[1],),
        chunk_frames=_chunk_frames(tensors, deployment.cycles.interval, deployment.clock_mhz),
        block_frames=1,
        packing=tuple(
            packing
            for packing in (_packing(kernel.mapping) for kernel in deployment.kernels)
            if packing is not None
        ),
    )


def network_interface(
    pipeline: Pipeline, *, name: str, source: str, units: Sequence[str], board: str, clock_mhz: float
) -> HostInterface:
    """The host's view of a network that is one streaming kernel."""
    tensors = tuple(_rows(port, words) for port, words in pipeline.ports.items())
    graph = pipeline.graph
    files = {one.argument: one.stage.block_beats * one.stage.beat_bits for one in pipeline.streamers}
    if pipeline.loaders:
        files = {"weights": _loaded_bits(pipeline), **files}
    return HostInterface(
        name=name,
        source=safe_comment(source),
        board=board,
        clock_mhz=clock_mhz,
        streaming=True,
        tensors=tensors,
        constants=tuple(_beats(name, bits) for name, bits in files.items()),
        steps=(
            HostStep(
                kernel=name,
                units=tuple(units),
                arguments=_arguments(pipeline, {port: port for port in pipeline.ports}, "weights"),
            ),
        ),
        inputs=tuple(host_port(port, port.name, output=False) for port in graph.inputs),
        outputs=tuple(
            host_port(port, port.name, output=True, csim=f"{port.name}_csim.npy") for port in graph.outputs
        ),
        chunk_frames=_chunk_frames(tensors, pipeline.interval, clock_mhz),
        block_frames=int(np.lcm.reduce([one.stage.batch for one in pipeline.streamers] or [1])),
    )


def task_interface(
    choice: LayerwiseHardware,
    graph: Graph,
    *,
    name: str,
    source: str,
    units: Mapping[str, Sequence[str]],
    board: str,
    clock_mhz: float,
) -> HostInterface:
    """The host's view of a network whose layers are kernels; `units`: by kernel, as many of each."""
    tensors = tuple(_rows(tensor, choice.formats[tensor]) for tensor in graph.tensors())
    return HostInterface(
        name=name,
        source=safe_comment(source),
        board=board,
        clock_mhz=clock_mhz,
        streaming=True,
        tensors=tensors,
        constants=tuple(
            _beats(_weights_of(kernel), _loaded_bits(kernel.pipeline))
            for kernel in choice.kernels
            if kernel.pipeline.loaders
        ),
        steps=tuple(_step(kernel, units[kernel.name]) for kernel in choice.kernels),
        inputs=tuple(host_port(port, port.name, output=False) for port in graph.inputs),
        outputs=tuple(
            host_port(port, port.source, output=True, csim=f"{port.source}_csim.npy")
            for port in graph.outputs
        ),
        chunk_frames=_chunk_frames(tensors, choice.interval, clock_mhz),
        block_frames=1,
    )


def _step(kernel: TaskKernel, units: Sequence[str]) -> HostStep:
    tensors = {**kernel.reads, kernel.writes: kernel.layer.name}
    arguments = _arguments(kernel.pipeline, tensors, _weights_of(kernel))
    return HostStep(kernel=kernel.name, units=tuple(units), arguments=arguments)


def _weights_of(kernel: TaskKernel) -> str:
    """No tensor has a dot in its name."""
    return f"{kernel.layer.name}.weights"


def _arguments(pipeline: Pipeline, tensors: Mapping[str, str], weights: str) -> tuple[HostArgument, ...]:
    """A streaming kernel's arguments, in their order. tensors: by port; weights: the constants' name."""
    moving = [HostArgument(port=port, source="tensor", name=tensors[port]) for port in pipeline.ports]
    streamed = [
        HostArgument(port=one.argument, source="constants", name=one.argument) for one in pipeline.streamers
    ]
    loaded = [
        HostArgument(port="weights", source="constants", name=weights),
        HostArgument(port="reload", source="reload", name="reload"),
    ]
    frames = HostArgument(port="frames", source="frames", name="frames")
    return (*moving, *streamed, *(loaded if pipeline.loaders else []), frames)


def host_port(port: Port, tensor: str, *, output: bool, csim: str = "") -> HostPort:
    return HostPort(
        name=port.name,
        tensor=tensor,
        shape=port.shape,
        axes=port.axes,
        scale=port.scale,
        in_float32=port.in_float32,
        zero=port.zero,
        ceil=port.ceil,
        odd=port.odd,
        own=port.own,
        golden=f"{port.name}_golden.npy" if output else "",
        csim=csim,
    )


def _rows(name: str, words: StreamFormat) -> HostTensor:
    """A tensor of a streaming kernel."""
    element = slot_bits(words.type) // 8
    return HostTensor(
        name=name,
        **_sizes(words.shape),
        px=words.px,
        ch=words.channels,
        element_bytes=element,
        word_bytes=ddr_word_bits(words) // 8,
        planar=False,
        **host_number(words.type),
    )


def _planar(name: str, shape: tuple[int, int, int], type_: NumberType, lanes: int) -> HostTensor:
    """A tensor of a convolution's kernel: each row of each channel in words of neighbouring columns."""
    element = type_.container_bits // 8
    return HostTensor(
        name=name,
        **_sizes(shape),
        px=lanes,
        ch=1,
        element_bytes=element,
        word_bytes=lanes * element,
        planar=True,
        **host_number(type_),
    )


def _sizes(shape: tuple[int, int, int]) -> dict[str, Any]:
    return dict(zip(("channels", "height", "width"), shape, strict=True))


def host_number(type_: NumberType) -> dict[str, Any]:
    return {"type": str(type_), "container": _container(type_), "bits": type_.width}


def _container(type_: NumberType) -> Container:
    return cast(Container, f"<{type_.dtype.kind}{type_.dtype.itemsize}")


def _packing(mapping: ConvMapping) -> HostPacking | None:
    if mapping.arithmetic != "packed":
        return None
    layer, folding = mapping.layer, mapping.folding
    assert isinstance(layer.input_type, FixedType)
    limits: tuple[int, ...] = ()
    if folding.algorithm == "winograd":
        limits = tuple(winograd.limit(layer.input_type, point) for point in range(winograd.POINTS))
    return HostPacking(
        weights="weights",
        channel_weights=layer.in_shape[0] * layer.taps,
        pe=folding.pe,
        terms=folding.simd * layer.taps,
        chain=mapping.chain,
        limit=lower_lane_limit(layer),
        columns=layer.kernel[1],
        point_limits=limits,
    )


def _constants(name: str, file: str, count: int, type_: NumberType) -> HostConstants:
    size = count * type_.dtype.itemsize
    return HostConstants(name=name, file=file, container=_container(type_), bytes=size)


def _loaded_bits(pipeline: Pipeline) -> int:
    """The size in DDR of all weights that are loaded at run time."""
    return sum(weight_beats(pipeline).values()) * WEIGHT_BEAT_BITS


def _beats(name: str, bits: int) -> HostConstants:
    return HostConstants(name=name, file=f"{name}.npy", container="<u8", bytes=bits // 8)


def _chunk_frames(tensors: Sequence[HostTensor], cycles: float, clock_mhz: float) -> int:
    """Frames of a call: about CALL_SECONDS at the modelled speed, within BUFFER_BYTES; at least one."""
    by_time = CALL_SECONDS * clock_mhz * 1e6 / cycles
    by_memory = BUFFER_BYTES / sum(tensor.frame_bytes for tensor in tensors)
    return max(1, round(min(by_time, by_memory)))
