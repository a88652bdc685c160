"""A pipeline as C++: one file a stage, the kernel that joins them, its testbench and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType
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
from hlsgen.emit.environment import render, safe_comment, source_text
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.ports import width_of
from hlsgen.hardware.processes import buffer_memories
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.conv2d_stream import ConvStream
from hlsgen.layers.stage import WEIGHT_BEAT_BITS, Stage, StreamFormat
from hlsgen.targets.board import Board

SHARED_HEADERS = ("static.h", "lanes.h", "dot.h", "nest.h", "port.h", "raster.h", "stage.h", "stream.h")
LINE = 16
"""Numbers in a line of a constant array."""


@dataclass(frozen=True, kw_only=True)
class DataflowNames:
    """The kernel's name, and where the design was written (for the files' headers)."""

    kernel: str
    source: str


def dataflow_files(pipeline: Pipeline, names: DataflowNames, board: Board) -> dict[str, str]:
    """The kernel's sources and its testbench, by path in the build folder."""
    k = kernel_context(pipeline, names, board)
    testbench = render("hls/dataflow/testbench.cpp.j2", k=k, version=VERSION)
    return shared_files() | kernel_files(pipeline, names, board) | {f"tb/{names.kernel}_tb.cpp": testbench}


def shared_files() -> dict[str, str]:
    """What every kernel includes, and every testbench."""
    files = {f"src/hlsgen/{name}": source_text(f"hls/hlsgen/{name}") for name in SHARED_HEADERS}
    files["tb/npy.h"] = source_text("hls/npy.h")
    files["tb/frames.h"] = source_text("hls/dataflow/frames.h")
    return files


def _numbers(pipeline: Pipeline) -> dict[str, int]:
    """Of what C-simulation counts the iterations of."""
    return {name: number for number, name in enumerate(pipeline.counted)}


def kernel_files(pipeline: Pipeline, names: DataflowNames, board: Board) -> dict[str, str]:
    """The kernel's own sources: those of its stages, and what joins them."""
    files: dict[str, str] = {}
    numbers = _numbers(pipeline)
    for name, stage in pipeline.stages.items():
        k = stage_constants(stage, pipeline.weights.get(name), numbers[name], names, board)
        files[f"src/{name}.h"] = render(f"hls/stages/{stage.template}.h.j2", k=k, version=VERSION)
        if k.get("weights") == "constant":
            files[f"src/{name}_weights.h"] = render("hls/dataflow/weights.h.j2", k=k, version=VERSION)
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
    stage: Stage, place: WeightPlace | None, number: int, names: DataflowNames, board: Board
) -> dict[str, Any]:
    """Everything that a stage's template names."""
    layer = stage.layer
    channels, height, width = layer.sources[0].shape
    out_channels, out_height, out_width = layer.output_shape
    memories = buffer_memories(stage, board)
    return {
        "layer": layer.name,
        "kind": layer.kind,
        "guard": f"HLSGEN_{layer.name.upper()}",
        "source": safe_comment(names.source),
        "STAGE": number,
        "in_t": layer.sources[0].type.cpp,
        "out_t": layer.output_type.cpp,
        "IN_CHANNELS": channels,
        "IN_HEIGHT": height,
        "IN_WIDTH": width,
        "OUT_CHANNELS": out_channels,
        "OUT_HEIGHT": out_height,
        "OUT_WIDTH": out_width,
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
        **(_weights(stage, place, board) if place else {}),
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
        "WEIGHT_BITS": width_of(layer.weight_type),
        "BIAS_BITS": width_of(layer.bias_type),
        "weight_storage": memory.storage.value if memory is not None and bound else None,
    }
    if place.place == "constant":
        words = stage.weight_words()
        assert words is not None
        found |= _table("weight", words, layer.weight_type)
        found |= _table("bias", stage.bias_words(), layer.bias_type) if layer.bias.size else {}  # type: ignore[attr-defined]
    return found


def _table(name: str, words: Codes, type_: FixedType) -> dict[str, Any]:
    """A constant array's rows as C++ text, and its element's type."""
    from hlsgen.emit.conv2d import C_TYPE

    rows = ["{" + ", ".join(str(int(code)) for code in row) + "}" for row in words]
    return {f"{name}_rows": rows, f"{name}_lanes": words.shape[1], f"{name}_c": C_TYPE[type_.dtype.name]}


def _constant_array(name: str, codes: Codes, type_: FixedType) -> dict[str, Any]:
    """One of a stage's tables as C++ text: a table of two dimensions by its rows, another in lines."""
    from hlsgen.emit.conv2d import C_TYPE

    rows = codes if codes.ndim == 2 else [codes[at : at + LINE] for at in range(0, len(codes), LINE)]
    lines = [", ".join(_code_literal(int(code)) for code in row) for row in rows]
    return {
        "name": name,
        "type": str(type_),
        "c": C_TYPE[type_.dtype.name],
        "sizes": "".join(f"[{size}]" for size in codes.shape),
        "lines": [f"{{{line}}}" for line in lines] if codes.ndim == 2 else lines,
    }


def _code_literal(code: int) -> str:
    """C++ has no literal for the lowest 64-bit number, and wants to be told of the largest ones."""
    if code == -(1 << 63):
        return f"{code + 1} - 1"
    return f"{code}u" if code >= 1 << 63 else str(code)


def weight_data(pipeline: Pipeline) -> NDArray[np.uint64]:
    """The beats of every stage that loads its weights at run time, in the order of the stages."""
    parts = [np.zeros(0, np.uint64)]
    for stage in pipeline.loaders:
        parts += _stage_beats(stage)
    return np.concatenate(parts)


def weight_beats(pipeline: Pipeline) -> dict[str, int]:
    """How many beats each stage that loads its weights takes, without making them."""
    return {stage.name: sum(_beat_counts(stage)) for stage in pipeline.loaders}


def weight_files(pipeline: Pipeline) -> dict[str, NDArray[np.uint64]]:
    """The .npy files of weights that the testbench reads, by name; none if all are constants."""
    files = {"weights.npy": weight_data(pipeline)} if pipeline.loaders else {}
    return files | {f"{one.argument}.npy": _streamed_beats(one.stage) for one in pipeline.streamers}


def _streamed_beats(stage: ConvStream) -> NDArray[np.uint64]:
    """Of PE outputs the biases, then the weights, each word in whole DDR words of `stage.beat_bits`."""
    layer, filters = stage.layer, stage.passes[1]
    parts = [_whole_beats(stage.weight_words(), stage.weight_streams[0], stage)]
    if layer.bias.size:
        parts.insert(0, _whole_beats(stage.bias_words(), stage.weight_streams[1], stage))
    return np.concatenate([part.reshape(filters, -1) for part in parts], axis=1).reshape(-1)


def _whole_beats(codes: Codes, words: StreamFormat, stage: ConvStream) -> NDArray[np.uint64]:
    packed = _packed(codes, width_of(words.type)).reshape(len(codes), -1)
    room = stage.word_beats(words) * stage.beat_bits // WEIGHT_BEAT_BITS
    return np.pad(packed, ((0, 0), (0, room - packed.shape[1])))


def _stage_beats(stage: Stage) -> list[NDArray[np.uint64]]:
    layer: Any = stage.layer
    words = stage.weight_words()
    assert words is not None
    beats = [_packed(words, width_of(layer.weight_type))]
    if layer.bias.size:
        beats.append(_packed(stage.bias_words(), width_of(layer.bias_type)))  # type: ignore[attr-defined]
    return beats


def _beat_counts(stage: Stage) -> tuple[int, int]:
    """Beats of the weights and of the biases."""
    layer: Any = stage.layer
    shape = stage.weight_shape()
    assert shape is not None
    words, lanes, bits = shape
    biases = stage.bias_words().shape if layer.bias.size else (0, 0)  # type: ignore[attr-defined]
    return words * _word_beats(lanes, bits), biases[0] * _word_beats(biases[1], width_of(layer.bias_type))


def _word_beats(lanes: int, bits: int) -> int:
    """Beats of a word of `lanes` codes of `bits` bits."""
    return -(-lanes // (WEIGHT_BEAT_BITS // bits))


def _packed(words: Codes, bits: int) -> NDArray[np.uint64]:
    """[words, lanes] codes: lanes tightly in beats of 64 bits, each word begins with a new beat."""
    lanes = WEIGHT_BEAT_BITS // bits
    count = _word_beats(words.shape[1], bits)
    padded = np.zeros((len(words), count * lanes), np.uint64)
    mask = np.uint64((1 << bits) - 1)
    padded[:, : words.shape[1]] = words.astype(np.int64).view(np.uint64) & mask
    shifts = np.arange(lanes, dtype=np.uint64) * np.uint64(bits)
    beats: NDArray[np.uint64] = np.bitwise_or.reduce(
        padded.reshape(len(words), count, lanes) << shifts, axis=2
    )
    return beats.reshape(-1)


def kernel_context(pipeline: Pipeline, names: DataflowNames, board: Board) -> dict[str, Any]:
    """Everything that the templates of the kernel and its testbench name."""
    loaders = pipeline.loaders
    beats = weight_beats(pipeline)
    ports = [kernel_port(process) for process in pipeline.dma]
    streamed = [weight_port(process) for process in pipeline.streamers]
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
        "weight_streams": [{"stage": name, "beats": count} for name, count in beats.items()],
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
