"""A pipeline as C++: one file a stage, the kernel that joins them, its testbench and weights."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType, FloatType, NumberType
from hlsgen.base.floating import HALF
from hlsgen.base.version import VERSION
from hlsgen.cost.stages import BURST_WORDS, BURSTS_AHEAD, WEIGHT_PORT_BITS, lies_in_uram
from hlsgen.emit.adapters import (
    calls_of,
    carrier_fifo,
    format_text,
    functions_of,
    kernel_port,
    weight_port,
    word_name,
)
from hlsgen.emit.adder_lines import adder_constants
from hlsgen.emit.constants import c_type, header_files, shape_constants
from hlsgen.emit.environment import render, safe_comment, source_text
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.processes import buffer_memories
from hlsgen.hardware.weight_beats import streamed_beats, weight_beats, weight_data
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.conv2d_stage import ConvStage
from hlsgen.layers.stage import Stage
from hlsgen.targets.board import Board

SHARED_HEADERS = (
    "static.h",
    "counter.h",
    "lanes.h",
    "dot.h",
    "memory.h",
    "port.h",
    "raster.h",
    "stage.h",
    "stream.h",
    "words.h",
)
LINE = 16
"""Numbers in a line of a constant array."""


def dataflow_files(pipeline: Pipeline, names: KernelNames, board: Board) -> dict[str, str]:
    """The kernel's sources and its testbench, by path in the build folder."""
    k = kernel_context(pipeline, names, board)
    testbench = render("hls/dataflow/testbench.cpp.j2", k=k, version=VERSION)
    half = any(tensor.type == HALF for tensor in pipeline.graph.tensors().values())
    return (
        shared_files(half=half)
        | kernel_files(pipeline, names, board)
        | {f"tb/{names.kernel}_tb.cpp": testbench}
    )


def shared_files(*, half: bool = False) -> dict[str, str]:
    """What every kernel includes, and every testbench. half: there are tensors of this type."""
    files = header_files(SHARED_HEADERS, half=half)
    files["tb/npy.h"] = source_text("hls/npy.h")
    files["tb/frames.h"] = source_text("hls/dataflow/frames.h")
    return files


def _numbers(pipeline: Pipeline) -> dict[str, int]:
    """The numbers by which C-simulation counts iterations, by what they are of."""
    return {name: number for number, name in enumerate(pipeline.counted)}


def kernel_files(pipeline: Pipeline, names: KernelNames, board: Board) -> dict[str, str]:
    """The kernel's own sources: those of its stages, and what joins them."""
    files: dict[str, str] = {}
    numbers = _numbers(pipeline)
    for name, stage in pipeline.stages.items():
        k = stage_constants(stage, pipeline.weights.get(name), numbers[name], names, board)
        files |= {f"src/hlsgen/{own}": source_text(f"hls/hlsgen/{own}") for own in stage.headers}
        files[f"src/{name}.h"] = render(f"hls/stages/{stage.template}.h.j2", k=k, version=VERSION)
        if k.get("weights") == "constant":
            template = "adders" if "ADDERS" in k else "weights"
            files[f"src/{name}_weights.h"] = render(f"hls/dataflow/{template}.h.j2", k=k, version=VERSION)
        if k["tables"]:
            files[f"src/{name}_table.h"] = render("hls/dataflow/table.h.j2", k=k, version=VERSION)
    k = kernel_context(pipeline, names, board)
    for template, path in (
        ("kernel.h.j2", f"src/{names.kernel}.h"),
        ("kernel.cpp.j2", f"src/{names.kernel}.cpp"),
    ):
        files[path] = render(f"hls/dataflow/{template}", k=k, version=VERSION)
    return files


def stage_constants(
    stage: Stage, place: WeightPlace | None, number: int, names: KernelNames, board: Board
) -> dict[str, Any]:
    """Everything that a stage's template names."""
    layer = stage.layer
    memories = buffer_memories(stage, board)
    return {
        "layer": layer.name,
        "kind": layer.kind,
        "guard": f"HLSGEN_{layer.name.upper()}",
        "source": safe_comment(names.source),
        "STAGE": number,
        "in_t": layer.sources[0].type.cpp,
        "out_t": layer.output_type.cpp,
        **shape_constants(layer),
        "inputs": [
            {"t": words.type.cpp, "px": words.px, "ch": words.channels, "lanes": words.lanes}
            for words in stage.inputs
        ],
        "output": {
            "t": stage.output.type.cpp,
            "px": stage.output.px,
            "ch": stage.output.channels,
            "lanes": stage.output.lanes,
        },
        **{f"{memory.name}_storage": memory.storage.value for memory in memories},
        **{f"{memory.name}_depth": memory.depth for memory in memories},
        **(_weights(stage, place, board) if place and stage.weight_shape() is not None else {}),
        "tables": [_constant_array(name, *given) for name, given in stage.tables().items()],
        **stage.constants(),
    }


def _weights(stage: Stage, place: WeightPlace, board: Board) -> dict[str, Any]:
    layer: Any = stage.layer
    memory = place.memory(stage, board)
    # constants without a wish are left to the compiler, which knows their values
    bound = memory is not None and (place.place == "runtime" or place.storage is not None)
    found: dict[str, Any] = {
        "weights": place.place,
        "WEIGHT_BITS": layer.weight_type.width,
        "BIAS_BITS": layer.bias_type.width,
        "weight_storage": memory.storage.value if memory is not None and bound else None,
    }
    if place.place == "constant":
        words = stage.weight_words()
        assert words is not None
        adders = stage.adders if isinstance(stage, ConvStage) else None
        if adders is None:
            found |= _table("weight", words, layer.weight_type)
        else:
            found |= adder_constants(adders)
        found |= _table("bias", stage.bias_words(), layer.bias_type) if layer.bias.size else {}  # type: ignore[attr-defined]
    return found


def _table(name: str, words: Codes, type_: NumberType) -> dict[str, Any]:
    """A constant array's rows as C++ text, and its element's type."""
    literal = type_.literal if isinstance(type_, FloatType) else lambda code: str(int(code))
    if type_ == HALF:
        words, literal = words.astype(np.float16).view(np.uint16), lambda code: str(int(code))
    rows = ["{" + ", ".join(literal(code) for code in row) + "}" for row in words]
    return {f"{name}_rows": rows, f"{name}_lanes": words.shape[1], f"{name}_c": c_type(type_)}


def _constant_array(name: str, codes: Codes, type_: FixedType) -> dict[str, Any]:
    """One of a stage's tables as C++ text: a table of two dimensions by its rows, another in lines."""
    rows = codes if codes.ndim == 2 else [codes[at : at + LINE] for at in range(0, len(codes), LINE)]
    lines = [", ".join(_code_literal(int(code)) for code in row) for row in rows]
    return {
        "name": name,
        "type": str(type_),
        "c": c_type(type_),
        "sizes": "".join(f"[{size}]" for size in codes.shape),
        "lines": [f"{{{line}}}" for line in lines] if codes.ndim == 2 else lines,
    }


def _code_literal(code: int) -> str:
    """C++ has no literal for the lowest 64-bit number, and wants to be told of the largest ones."""
    if code == -(1 << 63):
        return f"{code + 1} - 1"
    return f"{code}u" if code >= 1 << 63 else str(code)


def weight_files(pipeline: Pipeline) -> dict[str, NDArray[np.uint64]]:
    """The .npy files of weights that the testbench reads, by name; none if all are constants."""
    files = {"weights.npy": weight_data(pipeline)} if pipeline.loaders else {}
    return files | {f"{one.argument}.npy": streamed_beats(one.stage) for one in pipeline.streamers}


def kernel_context(pipeline: Pipeline, names: KernelNames, board: Board) -> dict[str, Any]:
    """Everything that the templates of the kernel and its testbench name."""
    loaders = pipeline.loaders
    beats = weight_beats(pipeline)
    ports = [kernel_port(process) for process in pipeline.dma]
    port_of = dict([names.shared_port])
    ports = [{**port, "bundle": port_of.get(port["name"], port["name"])} for port in ports]
    streamed = [{**port, "bundle": port["name"]} for port in map(weight_port, pipeline.streamers)]
    streams = [
        {
            "name": stream.name,
            "word": word_name(stream.name),
            "depth": stream.depth,
            "uram": lies_in_uram(stream, board),
        }
        for stream in pipeline.streams.values()
    ]
    streams += [carrier_fifo(carrier) for carrier in pipeline.carriers]
    streams += [
        {"name": f"{stage.name}_beats", "word": "hlsgen::weight_beat", "depth": 2, "uram": False}
        for stage in loaders
    ]
    calls = [call for process in pipeline.processes for call in calls_of(process, set(beats))]
    if loaders:
        targets = "".join(f"{stage.name}_beats, " for stage in loaders)
        calls.insert(0, f"load_weights, weights, {targets}reload")
    numbers = _numbers(pipeline)
    return {
        "name": names.kernel,
        "guard": f"HLSGEN_KERNEL_{names.kernel.upper()}",
        "source": safe_comment(names.source),
        "interval": pipeline.interval,
        "stages": list(pipeline.stages),
        "ports": ports,
        "streamed": streamed,
        "signature": ", ".join(_arguments(pipeline, names.kernel, [*ports, *streamed])),
        "given": ", ".join(_given(pipeline, [*ports, *streamed])),
        "free_running": pipeline.free_running,
        "axi": any(port["axi"] for port in ports),
        "has_weights": bool(loaders),
        "weight_beats": sum(beats.values()),
        "weight_streams": _weight_streams(beats),
        "words": [
            {"name": word_name(stream.name), "type": stream.words.cpp, "format": format_text(stream.words)}
            for stream in pipeline.streams.values()
        ],
        "streams": streams,
        "adapters": [
            render("hls/dataflow/adapters.j2", p=constants).strip() + "\n"
            for process in pipeline.adapters
            for constants in functions_of(process, numbers, names.kernel)
        ],
        "calls": calls,
        "burst_words": BURST_WORDS,
        "bursts_ahead": BURSTS_AHEAD,
        "weight_port_bits": WEIGHT_PORT_BITS,
    }


def _weight_streams(beats: dict[str, int]) -> list[dict[str, Any]]:
    """Where in the kernel's weights those of each stage begin, and how many beats they are."""
    begins = accumulate(beats.values(), initial=0)
    return [
        {"stage": name, "beats": count, "begin": begin}
        for (name, count), begin in zip(beats.items(), begins, strict=False)
    ]


def _arguments(pipeline: Pipeline, kernel: str, ports: list[dict[str, Any]]) -> list[str]:
    """The kernel's, as C++; one that runs for ever is not told how many frames there are."""
    found = []
    for port in ports:
        type_ = f"{kernel}_{port['name']}_t"
        if port["axi"]:
            found.append(f"hls::stream<{type_}> &{port['name']}")
        else:
            found.append(f"{'' if port['way'] == 'write' else 'const '}{type_} *{port['name']}")
    if pipeline.loaders:
        found += ["const hlsgen::weight_beat *weights", "int reload"]
    return found if pipeline.free_running else [*found, "int frames"]


def _given(pipeline: Pipeline, ports: list[dict[str, Any]]) -> list[str]:
    """What the testbench calls the kernel with, argument by argument."""
    found = [port["name"] if port["axi"] else f"{port['name']}.data()" for port in ports]
    if pipeline.loaders:
        found += ["weights.data()", "1"]
    return found if pipeline.free_running else [*found, "frames"]
