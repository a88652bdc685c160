"""What stands between stages, as C++: functions of ports, forks and converters, and how they are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hlsgen.cost.stages import CARRIER_FIFO_WORDS
from hlsgen.emit.environment import counted
from hlsgen.hardware.ports import MOST_DDR_BITS, DdrPort, StreamPort, ddr_word_bits, slot_bits, width_of
from hlsgen.hardware.processes import (
    Carrier,
    DmaRead,
    DmaWrite,
    Fork,
    LoadWeights,
    Process,
    StageProcess,
    WidthConverter,
)
from hlsgen.layers.stage import WEIGHT_BEAT_BITS, StreamFormat

COSIM_FRAMES = 2


def kernel_port(process: DmaRead | DmaWrite) -> dict[str, Any]:
    """A tensor's port as the kernel and its testbench have it."""
    port, words = process.port, process.words
    found = {
        "name": process.argument,
        "way": "read" if isinstance(process, DmaRead) else "write",
        "axi": isinstance(port, StreamPort),
    }
    if isinstance(port, StreamPort):
        return found | axi_format(words, port)
    cosim = port.port_words(words, words.frame_words * COSIM_FRAMES)
    return found | ddr_format(words) | {"PORT": port.bits, "DEPTH": cosim}


def ddr_format(words: StreamFormat) -> dict[str, Any]:
    """How a tensor lies in DDR, whatever port moves it: a stream word is BEATS parts of WIDTH bits."""
    bits = ddr_word_bits(words)
    width = min(MOST_DDR_BITS, bits)
    return _format(words) | {
        "SLOT": slot_bits(words.type),
        "BEATS": bits // width,
        "WIDTH": width,
        "FRAME_BEATS": words.frame_words * bits // width,
    }


def axi_format(words: StreamFormat, port: StreamPort) -> dict[str, Any]:
    """How a tensor comes through an AXI stream: a stream word is BEATS transfers of WIDTH bits."""
    transfers = port.transfers(words)
    return _format(words) | {
        "SLOT": width_of(words.type),
        "BEATS": transfers,
        "WIDTH": port.bits(words),
        "FRAME_BEATS": words.frame_words * transfers,
    }


def _format(words: StreamFormat) -> dict[str, Any]:
    channels, height, width = words.shape
    return {
        "channels": channels,
        "height": height,
        "width": width,
        "px": words.px,
        "ch": words.channels,
        "format": format_text(words),
        "type": str(words.type),
        "BITS": width_of(words.type),
    }


def weight_port(process: LoadWeights) -> dict[str, Any]:
    """The port of weights that are streamed. In the .npy file they lie in parts of 64 bits."""
    stage = process.stage
    return {
        "name": process.argument,
        "way": "read",
        "axi": False,
        "stage": stage.name,
        "PORT": process.port.bits,
        "CODES": stage.block_beats * stage.beat_bits // WEIGHT_BEAT_BITS,
        "DEPTH": process.block_port_words,
        "BATCH": stage.batch,
    }


def carrier_fifo(carrier: Carrier) -> dict[str, Any]:
    """Between what moves port words and what takes them apart or puts them together."""
    port = carrier.of.port
    assert isinstance(port, DdrPort)
    word = f"ap_uint<{port.bits}>"
    return {"name": _fifo_name(carrier), "word": word, "depth": CARRIER_FIFO_WORDS, "uram": False}


def _fifo_name(carrier: Carrier) -> str:
    return f"{carrier.of.name}_beats"


def calls_of(process: Process, loaders: set[str]) -> Iterator[str]:
    """The calls in the kernel's dataflow region, what is written before what reads it.

    loaders: layers whose weights arrive by a call.
    """
    streams = ", ".join((*process.reads, *process.writes))
    if isinstance(process, StageProcess):
        weights = f"{process.name}_beats, reload, " if process.name in loaders else ""
        yield f"{process.name}::run, {streams}, {weights}frames"
        return
    if not isinstance(process, DmaRead | DmaWrite | LoadWeights):
        yield f"{process.name}, {streams}, frames"
        return
    carrier = process.carrier
    if isinstance(process, DmaWrite):
        yield f"{process.name}, {streams}, {_fifo_name(carrier) if carrier else process.argument}, frames"
        if carrier:
            yield f"{carrier.name}, {_fifo_name(carrier)}, {process.argument}, frames"
        return
    if carrier:
        yield f"{carrier.name}, {process.argument}, {_fifo_name(carrier)}, frames"
    yield f"{process.name}, {_fifo_name(carrier) if carrier else process.argument}, {streams}, frames"


def joints_of(process: Process, numbers: Mapping[str, int], kernel: str) -> Iterator[dict[str, Any]]:
    """What the functions of a port, fork or converter name. numbers: by what C-simulation counts of them."""
    common = {"name": process.name, "STAGE": numbers[process.name]}
    if isinstance(process, WidthConverter):
        yield common | _converter(process)
        return
    if isinstance(process, Fork):
        yield common | _stream(process.reads[0], process.words) | {"kind": "fork"}
        return
    assert isinstance(process, DmaRead | DmaWrite | LoadWeights)
    carrier = process.carrier
    found = common | {
        "word": word_name((*process.reads, *process.writes)[0]),
        "port": f"{kernel}_{process.argument}_t",
        "PARTS": process.together,
    }
    if carrier:
        yield found | _carrier(process) | {"name": carrier.name, "STAGE": numbers[carrier.name]}
    yield found | (_weight_loader(process) if isinstance(process, LoadWeights) else _port(process))


def _port(process: DmaRead | DmaWrite) -> dict[str, Any]:
    stream = _stream((*process.reads, *process.writes)[0], process.words)
    way = "load" if isinstance(process, DmaRead) else "store"
    if isinstance(process.port, StreamPort):
        kind = {"load": "receive", "store": "send"}[way]
        return stream | {"kind": kind} | axi_format(process.words, process.port)
    kind = {"load": "take_apart", "store": "put_together"}[way] if process.carrier else way
    return stream | {"kind": kind, "SLOT": slot_bits(process.words.type), "TRANSFERS": process.transfers}


def _stream(name: str, words: StreamFormat) -> dict[str, Any]:
    return {"word": word_name(name), "WORDS": words.frame_words, "BITS": width_of(words.type)}


def _carrier(process: DmaRead | DmaWrite | LoadWeights) -> dict[str, Any]:
    if isinstance(process, LoadWeights):
        return {"kind": "read_again", "COUNT": process.block_port_words, "BATCH": process.stage.batch}
    kind = "read" if isinstance(process, DmaRead) else "write"
    return {"kind": kind, "WORDS": process.words.frame_words}


def _weight_loader(process: LoadWeights) -> dict[str, Any]:
    stage = process.stage
    filters = stage.passes[1]
    weights, *biases = stage.weight_streams
    return {
        "kind": "load_weights",
        "word": weights.cpp,
        "bias_word": biases[0].cpp if biases else None,
        "WIDTH": stage.beat_bits,
        "BITS": width_of(weights.type),
        "BIAS_BITS": width_of(biases[0].type) if biases else 0,
        "GROUPS": filters,
        "WORDS": stage.filter_words,
        "BATCH": stage.batch,
    }


def _converter(process: WidthConverter) -> dict[str, Any]:
    a, b = process.before, process.after
    channels, height, width = a.shape
    narrow = min(a, b, key=lambda words: words.lanes)
    if process.form in ("gather_channels", "split_channels"):
        frame_words = max(a.frame_words, b.frame_words)
        arguments = f"{a.px}, {narrow.channels}, {process.ratio}, {frame_words}"
    elif process.form == "regroup":
        arguments = (
            f"{channels}, {width}, {process.block}, {a.px}, {a.channels}, {b.px}, {b.channels}, {height}"
        )
    else:
        arguments = f"{narrow.lanes}, {process.ratio}, {narrow.row_words}, {height}"
    return {
        "kind": "convert",
        "form": process.form,
        "arguments": arguments,
        "in_word": word_name(process.reads[0]),
        "out_word": word_name(process.writes[0]),
        "before": format_text(a),
        "after": format_text(b),
    }


def format_text(words: StreamFormat) -> str:
    return f"{counted(words.px, 'pixel')} x {counted(words.channels, 'channel')}"


def word_name(stream: str) -> str:
    """The C++ name of what a stream carries: conv1_s carries conv1_word."""
    return f"{stream.removesuffix('_s')}_word"
