"""Resources of a streaming kernel: each stage, converter, FIFO and port, from what is emitted.

DSP, BRAM18 and URAM follow from the structure; LUT and FF are amounts of the board's terms, as in
hlsgen/cost/resources.py.
"""

from __future__ import annotations

from hlsgen.board import Board
from hlsgen.cost.families import address_bits, fifo_term
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
from hlsgen.cost.terms import Terms
from hlsgen.layers.packing import FABRIC_PRODUCT_BITS
from hlsgen.layers.stage import Stage, Work
from hlsgen.mapping.pipeline import Pipeline, Stream
from hlsgen.mapping.processes import (
    Convert,
    Fork,
    Load,
    LoadWeights,
    Process,
    StageProcess,
    Store,
    port_width,
    width_of,
)
from hlsgen.mapping.storage import bram18_for, choose_storage, lutram_luts
from hlsgen.mapping.weights import WeightPlace

PORT_BURST_WORDS = 64 * 16


def total_resources(pipeline: Pipeline, board: Board) -> Resources:
    """The whole kernel: one instance."""
    total = Resources()
    for process in pipeline.processes:
        total += process_resources(process, board)
    for stream in pipeline.streams.values():
        total += fifo_resources(stream, board)
    return total


def process_resources(process: Process, board: Board) -> Resources:
    """One call of the dataflow region."""
    if isinstance(process, StageProcess):
        return stage_resources(process.stage, board, process.place)
    terms = board.terms
    control = cells(terms, "process_control", one=1)
    if isinstance(process, Load | Store):
        return control + port_resources(port_width(process.words), terms)
    if isinstance(process, LoadWeights):
        bits = sum(words.lanes * width_of(words.type) for words in process.stage.weight_streams)
        port = port_resources(process.stage.beat_bits, terms)
        return control + cells(terms, "stream_word", bits=bits) + port
    if isinstance(process, Fork):
        return control
    assert isinstance(process, Convert)
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
    total = cells(terms, "process_control", one=1)
    total += cells(terms, "stream_word", bits=out) + cells(terms, "register", bits=out)
    for work in stage.work():
        total += _work(work, terms)
    for buffer in stage.buffers():
        memory = choose_storage(buffer.name, buffer.depth, buffer.bits, buffer.copies, board)
        total += memory_resources(terms, memory)
    weights = place.memory(stage, board) if place else None
    return total + memory_resources(terms, weights) if weights else total


def fifo_resources(stream: Stream, board: Board) -> Resources:
    """A FIFO, as Vitis HLS builds it by itself: registers, shift registers, LUTRAM or BRAM."""
    bits = stream.words.lanes * width_of(stream.words.type)
    name = fifo_term(stream.depth, bits)
    amounts = {"one": 1, "bits": bits, "address": address_bits(stream.depth)}
    if name == "fifo_lutram":
        amounts["primitives"] = lutram_luts(stream.depth, bits)
    taken = cells(board.terms, name, **amounts)
    return taken + Resources(bram18=bram18_for(stream.depth, bits) if name == "fifo_block" else 0)


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


def port_resources(width: int, terms: Terms) -> Resources:
    """An m_axi port of `width` bits with its burst buffer."""
    return Resources(bram18=bram18_for(PORT_BURST_WORDS, max(32, width))) + axi_ports(terms, 1, width)
