"""Resources of a streaming kernel: each stage, converter, FIFO and port, from what is emitted.

DSP, BRAM18 and URAM follow from the structure; LUT and FF are amounts of the board's terms, as in
hlsgen/cost/resources.py.
"""

from __future__ import annotations

from hlsgen.cost.published_cores import address_bits, fifo_term
from hlsgen.cost.resources import (
    Resources,
    axi_ports,
    cells,
    dsp_products,
    fabric_products,
    lut_products,
    memory_resources,
    packed_products,
)
from hlsgen.hardware.pipeline import Pipeline, Stream
from hlsgen.hardware.ports import DdrPort, StreamPort, width_of
from hlsgen.hardware.processes import (
    DmaRead,
    DmaWrite,
    Fork,
    LoadWeights,
    Process,
    StageProcess,
    WidthConverter,
)
from hlsgen.hardware.storage import Storage, block_fifo, bram18_for, choose_storage, lutram_luts
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.conv2d_stream import ConvStream
from hlsgen.layers.packing import FABRIC_PRODUCT_BITS
from hlsgen.layers.stage import Stage, Work
from hlsgen.targets.board import Board
from hlsgen.targets.terms import Terms

BURST_WORDS = 64
BURSTS_AHEAD = 8
"""Bursts that an m_axi adapter holds: 512 words, as deep as a BRAM18 of 36 bits is, and at 512 bits 32 KiB,
several times what DDR delivers in the time that it takes to answer.
"""
CARRIER_FIFO_WORDS = 2
"""Between what moves port words and what takes them apart, in registers; the adapter's buffer is what waits
for DDR.
"""
WEIGHT_PORT_BITS = 64
"""Weights that stay on chip are read once, a beat a cycle, which is all that their memories take; a port as
wide as the board's would read them no faster and cost 13 BRAM18 more.
"""


def total_resources(pipeline: Pipeline, board: Board) -> Resources:
    """The whole kernel: one instance."""
    parts = [process_resources(process, board) for process in pipeline.processes]
    parts += [fifo_resources(stream, board) for stream in pipeline.streams.values()]
    return Resources.sum([*parts, weight_port_resources(pipeline, board)])


def weight_port_resources(pipeline: Pipeline, board: Board) -> Resources:
    """What loads the weights of all stages that keep them; nothing if none does."""
    if not pipeline.loaders:
        return Resources()
    return cells(board.terms, "process_control", one=1) + ddr_resources(WEIGHT_PORT_BITS, board.terms)


def process_resources(process: Process, board: Board) -> Resources:
    """One call of the dataflow region."""
    if isinstance(process, StageProcess):
        return stage_resources(process.stage, board, process.place)
    terms = board.terms
    control = cells(terms, "process_control", one=1)
    if isinstance(process, DmaRead | DmaWrite):
        return control + port_resources(process, terms)
    if isinstance(process, LoadWeights):
        bits = sum(words.lanes * width_of(words.type) for words in process.stage.weight_streams)
        carrier = carrier_resources(process.port, terms)
        return (
            control
            + cells(terms, "stream_word", bits=bits)
            + ddr_resources(process.port.bits, terms)
            + carrier
        )
    if isinstance(process, Fork):
        return control
    assert isinstance(process, WidthConverter)
    bits = (process.before.lanes + process.after.lanes) * width_of(process.before.type)
    resources = control + cells(terms, "stream_word", bits=bits)
    if process.form == "regroup":
        channels = process.before.shape[0]
        together = max(process.before.channels, process.after.channels)
        depth = 2 * -(-channels // together)
        width = width_of(process.before.type)
        memory = choose_storage("block", depth, width, process.block * together, board)
        resources += memory_resources(terms, memory)
    return resources


def stage_resources(stage: Stage, board: Board, place: WeightPlace | None) -> Resources:
    """A layer's stage with its buffers, and with its weights where `place` says."""
    terms = board.terms
    out = stage.output.lanes * width_of(stage.output.type)
    parts = [cells(terms, "process_control", one=1)]
    parts += [cells(terms, "stream_word", bits=out), cells(terms, "register", bits=out)]
    parts += [_work(work, terms) for work in stage.work()]
    memories = [
        choose_storage(buffer.name, buffer.depth, buffer.bits, buffer.copies, board)
        for buffer in stage.buffers()
    ]
    weights = place.memory(stage, board) if place else None
    parts += [memory_resources(terms, memory) for memory in (*memories, *([weights] if weights else []))]
    return Resources.sum(parts)


def weight_stream_resources(stage: ConvStream, port: DdrPort, board: Board) -> Resources:
    """What brings the weights of `stage` from DDR: the port with its process, and the FIFOs."""
    total = process_resources(LoadWeights(name="", reads=(), writes=(), stage=stage, port=port), board)
    for words, depth in zip(stage.weight_streams, stage.words_ahead, strict=True):
        total += fifo_resources(Stream(name="", words=words, depth=depth), board)
    return total


def fifo_resources(stream: Stream, board: Board) -> Resources:
    """A FIFO: registers, shift registers, LUTRAM or BRAM as Vitis HLS chooses, or URAM as it is told."""
    return _fifo(stream.depth, _word_bits(stream), board)


def lies_in_uram(stream: Stream, board: Board) -> bool:
    """Whether a FIFO is told to be of URAM."""
    depth, bits = stream.depth, _word_bits(stream)
    return fifo_term(depth, bits) == "fifo_block" and block_fifo(depth, bits, board).storage is Storage.URAM


def _word_bits(stream: Stream) -> int:
    return stream.words.lanes * width_of(stream.words.type)


def _fifo(depth: int, bits: int, board: Board) -> Resources:
    name = fifo_term(depth, bits)
    amounts = {"one": 1, "bits": bits, "address": address_bits(depth)}
    if name == "fifo_lutram":
        amounts["primitives"] = lutram_luts(depth, bits)
    taken = cells(board.terms, name, **amounts)
    if name != "fifo_block":
        return taken
    memory = block_fifo(depth, bits, board)
    return taken + Resources(bram18=memory.bram18, uram=memory.uram)


def _work(work: Work, terms: Terms) -> Resources:
    """Arithmetic of a stage, with a register for half of its operands' bits."""
    if work.operator in ("mac", "mul"):
        return _products(terms, work.count, *work.bits)
    if work.operator == "fabric":
        return fabric_products(terms, work.count, *work.bits)
    if work.operator == "packed":
        a, w, sum_bits, chunks = work.bits
        return packed_products(terms, work.count, chunks, sum_bits, a, w)
    bits = work.count * max(work.bits, default=0)
    total = cells(terms, "register", bits=work.count * sum(work.bits) // 2)
    for name in OPERATORS[work.operator]:
        total += cells(terms, name, one=work.count, bits=bits)
    return total


OPERATORS = {"add": ("adder",), "compare": ("compare",), "select": ("select",), "max": ("compare", "select")}
"""What a stage's operators are built of."""


def _products(terms: Terms, count: int, a: int, w: int) -> Resources:
    if min(a, w) == 1:
        return lut_products(terms, count, a, w)
    if a + w <= FABRIC_PRODUCT_BITS:
        return fabric_products(terms, count, a, w)
    return dsp_products(terms, count, a, w)


def port_resources(process: DmaRead | DmaWrite, terms: Terms) -> Resources:
    """What stands between a kernel's port and its stream words.

    DDR: the m_axi adapter, and where several stream words share a port word what takes it apart or puts it
    together. An AXI stream: the register slice that Vitis HLS puts there, both ways two words deep.
    """
    port = process.port
    if isinstance(port, StreamPort):
        bits = port.bits(process.words)
        parts = cells(terms, "stream_word", bits=bits) if process.transfers > 1 else Resources()
        return parts + cells(terms, "fifo_registers", one=1, bits=bits + bits // 8 + 1)
    parts = carrier_resources(port, terms) if process.carrier else Resources()
    return parts + ddr_resources(port.bits, terms)


def carrier_resources(port: DdrPort, terms: Terms) -> Resources:
    """A process that moves port words, its FIFO, and a port word that is taken apart or put together."""
    control = cells(terms, "process_control", one=1) + cells(terms, "stream_word", bits=port.bits)
    return control + cells(terms, "fifo_registers", one=1, bits=port.bits)


def ddr_resources(width: int, terms: Terms) -> Resources:
    """An m_axi port of `width` bits with its burst buffer."""
    return Resources(bram18=bram18_for(BURST_WORDS * BURSTS_AHEAD, width)) + axi_ports(terms, 1, width)
