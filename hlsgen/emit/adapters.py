"""What stands between stages, as C++: functions of ports, forks and converters, and how they are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import singledispatch
from typing import Any

from hlsgen.cost.stages import CARRIER_FIFO_WORDS
from hlsgen.emit.environment import counted
from hlsgen.hardware.port_processes import DmaProcess, LoadWeights, StoreBlocks
from hlsgen.hardware.ports import MOST_DDR_BITS, ddr_word_bits, slot_bits
from hlsgen.hardware.processes import Carrier, Fork, PortProcess, Process, Relay, StageProcess, WidthConverter
from hlsgen.layers.stage import WEIGHT_BEAT_BITS, StreamFormat

COSIM_FRAMES = 2
DMA_FUNCTIONS = {"read": ("receive", "load", "take_apart"), "write": ("send", "store", "put_together")}
"""The functions of an AXI stream, of a port whose words are one stream word's or parts of it,
and of one whose words hold several stream words, by direction.
"""


def kernel_port(process: DmaProcess) -> dict[str, Any]:
    """A tensor's port as the kernel and its testbench have it."""
    found = {"name": process.argument, "way": process.direction, "axi": bool(process.axi_bits)}
    if process.axi_bits:
        return found | axi_format(process)
    cosim = process.port_words(COSIM_FRAMES)
    return found | ddr_format(process.words) | {"PORT": process.port_bits, "DEPTH": cosim}


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


def axi_format(process: DmaProcess) -> dict[str, Any]:
    """How a tensor comes through an AXI stream: a stream word is BEATS transfers of WIDTH bits."""
    return _format(process.words) | {
        "SLOT": process.words.type.width,
        "BEATS": process.transfers,
        "WIDTH": process.axi_bits,
        "FRAME_BEATS": process.port_words(1),
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
        "BITS": words.type.width,
    }


def weight_port(process: LoadWeights) -> dict[str, Any]:
    """The port of weights that are streamed. In the .npy file they lie in parts of 64 bits."""
    stage = process.stage
    return {
        "name": process.argument,
        "way": "read",
        "axi": False,
        "stage": stage.name,
        "PORT": process.port_bits,
        "CODES": stage.block_beats * stage.beat_bits // WEIGHT_BEAT_BITS,
        "DEPTH": process.block_port_words,
        "BATCH": stage.batch,
    }


def carrier_fifo(carrier: Carrier) -> dict[str, Any]:
    """The FIFO between what moves port words and what takes them apart or puts them together."""
    word = f"ap_uint<{carrier.of.port_bits}>"
    return {"name": _fifo_name(carrier), "word": word, "depth": CARRIER_FIFO_WORDS, "uram": False}


def _fifo_name(carrier: Carrier) -> str:
    return f"{carrier.of.name}_beats"


@singledispatch
def calls_of(process: Process, loaders: set[str]) -> Iterator[str]:
    """The calls in the kernel's dataflow region, what is written before what reads it.

    loaders: layers whose weights arrive by a call.
    """
    yield f"{process.name}, {_streams(process)}, frames"


@calls_of.register
def _(process: StageProcess, loaders: set[str]) -> Iterator[str]:
    weights = f"{process.name}_beats, reload, " if process.name in loaders else ""
    yield f"{process.name}::run, {_streams(process)}, {weights}frames"


@calls_of.register
def _(process: PortProcess, loaders: set[str]) -> Iterator[str]:
    carrier, streams = process.carrier, _streams(process)
    words = _fifo_name(carrier) if carrier else process.argument
    if process.direction == "read":
        if carrier:
            yield f"{carrier.name}, {process.argument}, {words}, frames"
        yield f"{process.name}, {words}, {streams}, frames"
        return
    yield f"{process.name}, {streams}, {words}, frames"
    if carrier:
        yield f"{carrier.name}, {words}, {process.argument}, frames"


def _streams(process: Process) -> str:
    return ", ".join((*process.reads, *process.writes))


def functions_of(process: Process, numbers: Mapping[str, int], kernel: str) -> Iterator[dict[str, Any]]:
    """What the functions of a port, fork or converter name. numbers: by what C-simulation counts of them."""
    carrier = process.carrier
    if carrier:
        constants = _carrier_constants(carrier.of) | _port_constants(carrier.of, kernel)
        yield {"name": carrier.name, "STAGE": numbers[carrier.name], **constants}
    yield {"name": process.name, "STAGE": numbers[process.name], **_constants(process, kernel)}


@singledispatch
def _constants(process: Process, kernel: str) -> dict[str, Any]:
    """What the template of a process's function names; a layer's stage has a file of its own instead."""
    raise TypeError(f"no template has a function for a {type(process).__name__}")


@_constants.register
def _(process: Fork, kernel: str) -> dict[str, Any]:
    return _stream(process.reads[0], process.words) | {"kind": "fork"}


@_constants.register
def _(process: Relay, kernel: str) -> dict[str, Any]:
    words = {"out_word": word_name(process.writes[0])}
    return _stream(process.reads[0], process.words) | words | {"kind": "relay"}


@_constants.register
def _(process: DmaProcess, kernel: str) -> dict[str, Any]:
    stream = _stream((*process.reads, *process.writes)[0], process.words) | _port_constants(process, kernel)
    axi_stream, whole, shared = DMA_FUNCTIONS[process.direction]
    if process.axi_bits:
        return stream | {"kind": axi_stream} | axi_format(process)
    kind = shared if process.carrier else whole
    return stream | {"kind": kind, "SLOT": slot_bits(process.words.type), "TRANSFERS": process.transfers}


@_constants.register
def _(process: StoreBlocks, kernel: str) -> dict[str, Any]:
    return (
        _stream(process.reads[0], process.words)
        | _port_constants(process, kernel)
        | {
            "kind": "store_blocks",
            "SLOT": slot_bits(process.words.type),
            "BLOCKS": process.blocks,
            "GROUPS": process.groups,
            "RUN": process.run_words,
        }
    )


@_constants.register
def _(process: LoadWeights, kernel: str) -> dict[str, Any]:
    stage = process.stage
    weights, *biases = stage.weight_streams
    weight_word, *bias_word = map(word_name, process.writes)
    return _port_constants(process, kernel) | {
        "kind": "load_weights",
        "word": weight_word,
        "bias_word": bias_word[0] if bias_word else None,
        "WIDTH": stage.beat_bits,
        "BITS": weights.type.width,
        "BIAS_BITS": biases[0].type.width if biases else 0,
        "GROUPS": stage.passes[1],
        "WORDS": stage.filter_words,
        "BATCH": stage.batch,
    }


@_constants.register
def _(process: WidthConverter, kernel: str) -> dict[str, Any]:
    sizes = _converter_sizes(process)
    return {
        "kind": "convert",
        "form": process.form,
        **sizes,
        "sizes": list(sizes),
        "in_word": word_name(process.reads[0]),
        "out_word": word_name(process.writes[0]),
        "before": format_text(process.before),
        "after": format_text(process.after),
    }


def _converter_sizes(process: WidthConverter) -> dict[str, int]:
    """The template arguments after the stage's number, by their names; they differ from form to form."""
    a, b = process.before, process.after
    channels, height, width = a.shape
    narrow = min(a, b, key=lambda words: words.lanes)
    if process.form in ("gather_channels", "split_channels"):
        words = max(a.frame_words, b.frame_words)
        return {"PX": a.px, "CH": narrow.channels, "RATIO": process.ratio, "WORDS": words}
    if process.form == "regroup":
        formats = {"PX_A": a.px, "CH_A": a.channels, "PX_B": b.px, "CH_B": b.channels}
        return {
            "CHANNELS": channels,
            "WIDTH": width,
            "BLOCK": process.block,
            **formats,
            "TOGETHER": process.together,
            "ROWS": height,
        }
    return {"LANES": narrow.lanes, "RATIO": process.ratio, "WORDS": narrow.row_words, "ROWS": height}


def _port_constants(process: PortProcess, kernel: str) -> dict[str, Any]:
    return {"port": f"{kernel}_{process.argument}_t", "PARTS": process.together}


def _stream(name: str, words: StreamFormat) -> dict[str, Any]:
    return {"word": word_name(name), "WORDS": words.frame_words, "BITS": words.type.width}


@singledispatch
def _carrier_constants(process: PortProcess) -> dict[str, Any]:
    """What the function that moves the port words of `process` names."""
    raise TypeError(f"no template moves the port words of a {type(process).__name__}")


@_carrier_constants.register
def _(process: DmaProcess) -> dict[str, Any]:
    return {"kind": process.direction, "WORDS": process.words.frame_words}


@_carrier_constants.register
def _(process: LoadWeights) -> dict[str, Any]:
    return {"kind": "read_again", "COUNT": process.block_port_words, "BATCH": process.stage.batch}


def format_text(words: StreamFormat) -> str:
    return f"{counted(words.px, 'pixel')} x {counted(words.channels, 'channel')}"


def word_name(stream: str) -> str:
    """The C++ name of what a stream carries: conv1_s carries conv1_word."""
    return f"{stream.removesuffix('_s')}_word"
