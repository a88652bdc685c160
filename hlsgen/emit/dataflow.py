"""A pipeline as C++: one file a stage, the kernel that joins them, its testbench and weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.board import Board
from hlsgen.emit.environment import render, safe_comment, source_text
from hlsgen.fixed import FixedType
from hlsgen.layers.base import Codes
from hlsgen.layers.dense_stream import DenseStream
from hlsgen.layers.stage import WEIGHT_BEAT_BITS, Stage, Words
from hlsgen.mapping.pipeline import Pipeline
from hlsgen.mapping.processes import (
    Convert,
    Fork,
    Load,
    LoadWeights,
    Process,
    StageProcess,
    Store,
    port_beats,
    port_width,
    slot_bits,
    width_of,
)
from hlsgen.mapping.storage import choose_storage
from hlsgen.mapping.weights import WeightPlace
from hlsgen.version import VERSION

SHARED_HEADERS = ("static.h", "lanes.h", "dot.h", "nest.h", "raster.h", "stage.h", "stream.h")
COSIM_FRAMES = 2
LINE = 16
"""Numbers in a line of a constant array."""


@dataclass(frozen=True, kw_only=True)
class DataflowNames:
    """The kernel's name, and where the design was written (for the files' headers)."""

    kernel: str
    source: str


def dataflow_files(pipeline: Pipeline, names: DataflowNames, board: Board) -> dict[str, str]:
    """The kernel's sources and its testbench, by path in the build folder."""
    k = kernel_context(pipeline, names, pipeline_numbers(pipeline))
    testbench = render("hls/dataflow/testbench.cpp.j2", k=k, version=VERSION)
    return shared_files() | kernel_files(pipeline, names, board) | {f"tb/{names.kernel}_tb.cpp": testbench}


def shared_files() -> dict[str, str]:
    """What every kernel includes, and every testbench."""
    files = {f"src/hlsgen/{name}": source_text(f"hls/hlsgen/{name}") for name in SHARED_HEADERS}
    files["tb/npy.h"] = source_text("hls/npy.h")
    files["tb/frames.h"] = source_text("hls/dataflow/frames.h")
    return files


def pipeline_numbers(pipeline: Pipeline) -> dict[str, int]:
    return {process.name: number for number, process in enumerate(pipeline.processes)}


def kernel_files(pipeline: Pipeline, names: DataflowNames, board: Board) -> dict[str, str]:
    """The kernel's own sources: those of its stages, and what joins them."""
    files: dict[str, str] = {}
    numbers = pipeline_numbers(pipeline)
    for name, stage in pipeline.stages.items():
        k = stage_constants(stage, pipeline.weights.get(name), numbers[name], names, board)
        files[f"src/{name}.h"] = render(f"hls/stages/{stage.template}.h.j2", k=k, version=VERSION)
        if k.get("weights") == "constant":
            files[f"src/{name}_weights.h"] = render("hls/dataflow/weights.h.j2", k=k, version=VERSION)
        if k["tables"]:
            files[f"src/{name}_table.h"] = render("hls/dataflow/table.h.j2", k=k, version=VERSION)
    k = kernel_context(pipeline, names, numbers)
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
    buffers = {
        buffer.name: choose_storage(buffer.name, buffer.depth, buffer.bits, buffer.copies, board)
        for buffer in stage.buffers()
    }
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
        **{f"{name}_storage": memory.storage.value for name, memory in buffers.items()},
        **{f"{name}_depth": memory.depth for name, memory in buffers.items()},
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


def weight_files(pipeline: Pipeline) -> dict[str, NDArray[np.uint64]]:
    """The .npy files of weights that the testbench reads, by name; none if all are constants."""
    files = {"weights.npy": weight_data(pipeline)} if pipeline.loaders else {}
    return files | {f"{one.port}.npy": _streamed_beats(one.stage) for one in pipeline.streamers}


def _streamed_beats(stage: DenseStream) -> NDArray[np.uint64]:
    """Of PE outputs the biases, then the weights, each word in whole DDR words of `stage.beat_bits`."""
    layer, filters = stage.layer, stage.passes[1]
    parts = [_whole_beats(stage.weight_words(), stage.weight_streams[0], stage)]
    if layer.bias.size:
        parts.insert(0, _whole_beats(stage.bias_words(), stage.weight_streams[1], stage))
    return np.concatenate([part.reshape(filters, -1) for part in parts], axis=1).reshape(-1)


def _whole_beats(codes: Codes, words: Words, stage: DenseStream) -> NDArray[np.uint64]:
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


def _packed(words: Codes, bits: int) -> NDArray[np.uint64]:
    """[words, lanes] codes: lanes tightly in beats of 64 bits, each word begins with a new beat."""
    lanes = WEIGHT_BEAT_BITS // bits
    count = -(-words.shape[1] // lanes)
    padded = np.zeros((len(words), count * lanes), np.uint64)
    mask = np.uint64((1 << bits) - 1)
    padded[:, : words.shape[1]] = words.astype(np.int64).view(np.uint64) & mask
    shifts = np.arange(lanes, dtype=np.uint64) * np.uint64(bits)
    beats: NDArray[np.uint64] = np.bitwise_or.reduce(
        padded.reshape(len(words), count, lanes) << shifts, axis=2
    )
    return beats.reshape(-1)


def kernel_context(pipeline: Pipeline, names: DataflowNames, numbers: Mapping[str, int]) -> dict[str, Any]:
    loaders = pipeline.loaders
    beats = {stage.name: sum(len(part) for part in _stage_beats(stage)) for stage in loaders}
    ports = [_port(process) for process in pipeline.processes if isinstance(process, Load | Store)]
    arguments = [
        f"{'const ' if port['way'] == 'read' else ''}{names.kernel}_{port['name']}_t *{port['name']}"
        for port in ports
    ]
    streamed = [_weight_port(process, names) for process in pipeline.streamers]
    arguments += [f"const {names.kernel}_{port['name']}_t *{port['name']}" for port in streamed]
    if loaders:
        arguments += ["const hlsgen::weight_beat *weights", "int reload"]
    streams = [
        {"name": stream.name, "word": word_name(stream.name), "depth": stream.depth}
        for stream in pipeline.streams.values()
    ] + [{"name": f"{stage.name}_beats", "word": "hlsgen::weight_beat", "depth": 2} for stage in loaders]
    calls = [_call(process, {stage.name for stage in loaders}) for process in pipeline.processes]
    if loaders:
        targets = "".join(f"{stage.name}_beats, " for stage in loaders)
        calls.insert(0, f"load_weights, weights, {targets}reload")
    return {
        "name": names.kernel,
        "guard": f"HLSGEN_KERNEL_{names.kernel.upper()}",
        "source": safe_comment(names.source),
        "interval": pipeline.interval,
        "stages": list(pipeline.stages),
        "ports": ports,
        "streamed": streamed,
        "signature": ", ".join([*arguments, "int frames"]),
        "has_weights": bool(loaders),
        "weight_beats": sum(beats.values()),
        "weight_streams": [{"stage": name, "beats": count} for name, count in beats.items()],
        "words": [
            {"name": word_name(stream.name), "type": stream.words.cpp, "format": _format(stream.words)}
            for stream in pipeline.streams.values()
        ],
        "streams": streams,
        "joints": [
            render("hls/dataflow/joints.j2", p=_joint(process, numbers[process.name], names)).strip() + "\n"
            for process in pipeline.processes
            if not isinstance(process, StageProcess)
        ],
        "calls": calls,
    }


def _call(process: Process, loaders: set[str]) -> str:
    streams = ", ".join((*process.reads, *process.writes))
    if isinstance(process, StageProcess):
        weights = f"{process.name}_beats, reload, " if process.name in loaders else ""
        return f"{process.name}::run, {streams}, {weights}frames"
    if isinstance(process, LoadWeights):
        return f"{process.name}, {process.port}, {streams}, frames"
    if isinstance(process, Load):
        return f"{process.name}, {process.name.removeprefix('load_')}, {streams}, frames"
    if isinstance(process, Store):
        return f"{process.name}, {streams}, {process.name.removeprefix('store_')}, frames"
    return f"{process.name}, {streams}, frames"


def _port(process: Load | Store) -> dict[str, Any]:
    return {
        "name": process.name.split("_", 1)[1],
        "way": "read" if isinstance(process, Load) else "write",
        **ddr_format(process.words),
    }


def ddr_format(words: Words) -> dict[str, Any]:
    """How a tensor lies in DDR."""
    channels, height, width = words.shape
    beats = port_beats(words)
    return {
        "channels": channels,
        "height": height,
        "width": width,
        "px": words.px,
        "ch": words.channels,
        "format": _format(words),
        "type": str(words.type),
        "BITS": width_of(words.type),
        "SLOT": slot_bits(words.type),
        "BEATS": beats,
        "WIDTH": port_width(words),
        "FRAME_BEATS": words.frame_words * beats,
        "DEPTH": words.frame_words * beats * COSIM_FRAMES,
    }


def _weight_port(process: LoadWeights, names: DataflowNames) -> dict[str, Any]:
    stage = process.stage
    return {
        "name": process.port,
        "stage": stage.name,
        "WIDTH": stage.beat_bits,
        "PARTS": stage.beat_bits // WEIGHT_BEAT_BITS,
        "BEATS": stage.block_beats,
        "BATCH": stage.batch,
    }


def _joint(process: Process, number: int, names: DataflowNames) -> dict[str, Any]:
    """What the function of a port, fork or converter names."""
    common = {"name": process.name, "STAGE": number}
    if isinstance(process, Convert):
        return common | _converter(process)
    if isinstance(process, LoadWeights):
        return common | _weight_loader(process, names)
    assert isinstance(process, Load | Store | Fork)
    words = process.words
    common |= {
        "word": word_name((*process.reads, *process.writes)[0]),
        "WORDS": words.frame_words,
        "BITS": width_of(words.type),
    }
    if isinstance(process, Fork):
        return common | {"kind": "fork"}
    kind, port = process.name.split("_", 1)
    return common | {
        "kind": kind,
        "beat": f"{names.kernel}_{port}_t",
        "SLOT": slot_bits(words.type),
        "BEATS": port_beats(words),
    }


def _weight_loader(process: LoadWeights, names: DataflowNames) -> dict[str, Any]:
    stage = process.stage
    _, filters, channels = stage.passes
    weights, *biases = stage.weight_streams
    return {
        "kind": "load_weights",
        "beat": f"{names.kernel}_{process.port}_t",
        "word": weights.cpp,
        "bias_word": biases[0].cpp if biases else None,
        "BITS": width_of(weights.type),
        "BIAS_BITS": width_of(biases[0].type) if biases else 0,
        "GROUPS": filters,
        "WORDS": channels,
        "BATCH": stage.batch,
    }


def _converter(process: Convert) -> dict[str, Any]:
    a, b = process.before, process.after
    channels, height, width = a.shape
    narrow = min(a, b, key=lambda words: words.lanes)
    if process.form in ("gather_channels", "split_channels"):
        arguments = f"{a.px}, {narrow.channels}, {process.ratio}"
        count = max(a.frame_words, b.frame_words)
    elif process.form == "regroup":
        arguments = f"{channels}, {width}, {process.block}, {a.px}, {a.channels}, {b.px}, {b.channels}"
        count = height
    else:
        arguments = f"{narrow.lanes}, {process.ratio}, {narrow.row_words}"
        count = height
    return {
        "kind": "convert",
        "form": process.form,
        "arguments": arguments,
        "in_word": word_name(process.reads[0]),
        "out_word": word_name(process.writes[0]),
        "COUNT": count,
        "before": _format(a),
        "after": _format(b),
    }


def _format(words: Words) -> str:
    return f"{counted(words.px, 'pixel')} x {counted(words.channels, 'channel')}"


def counted(number: int, noun: str) -> str:
    """1 pixel, 2 pixels."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def word_name(stream: str) -> str:
    """The C++ name of what a stream carries: conv1_s carries conv1_word."""
    return f"{stream.removesuffix('_s')}_word"
