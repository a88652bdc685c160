"""Resources of a streaming kernel: each stage, converter, FIFO and port, from what is emitted.

DSP, BRAM18 and URAM follow from the structure; LUT and FF are amounts of the board's terms, as in
hlsgen/cost/resources.py.
"""

from __future__ import annotations

from hlsgen.cost.published_cores import address_bits, fifo_term
from hlsgen.cost.resources import (
    PackedSums,
    QuadSums,
    Resources,
    axi_ports,
    cells,
    constant_products,
    conversions,
    counted_products,
    dsp_products,
    fabric_products,
    float_adders,
    float_multipliers,
    float_products,
    lut_products,
    memory_resources,
    multiplexers,
    packed_products,
    packing,
    quad_products,
)
from hlsgen.hardware.pipeline import Pipeline, Stream, weight_streams
from hlsgen.hardware.port_processes import LoadWeights
from hlsgen.hardware.processes import Carrier, Process, StageProcess
from hlsgen.hardware.storage import Storage, block_fifo, bram18_for, lutram_luts
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.float_cores import FLOAT_CORES, HALF_CORES, WIDENED_CORES
from hlsgen.layers.packing import FABRIC_PRODUCT_BITS, QUAD
from hlsgen.layers.stage import Stage, Work
from hlsgen.targets.board import Board
from hlsgen.targets.terms import Terms

BURST_WORDS = 64
BURSTS_AHEAD = 8
"""Bursts that an m_axi adapter holds: 512 words, as deep as a BRAM18 of 36 bits is, and at 512 bits 32 KiB,
several times what DDR delivers in the time that it takes to answer.
"""
CARRIER_FIFO_WORDS = 2
"""The FIFO between what moves port words and what takes them apart, in registers; the adapter's buffer is
what waits for DDR.
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


def layer_resources(pipeline: Pipeline, board: Board) -> dict[str, Resources]:
    """All that each layer takes: a process or FIFO counts for the layer whose words it carries."""
    parts: dict[str, list[Resources]] = {layer.name: [] for layer in pipeline.graph.layers}
    for process in pipeline.processes:
        parts[pipeline.owners[process.name]].append(process_resources(process, board))
    for name, stream in pipeline.streams.items():
        parts[pipeline.owners[name]].append(fifo_resources(stream, board))
    if pipeline.loaders:
        parts[pipeline.loaders[0].name].append(weight_port_resources(pipeline, board))
    return {name: Resources.sum(found) for name, found in parts.items()}


def weight_port_resources(pipeline: Pipeline, board: Board) -> Resources:
    """What loads the weights of all stages that keep them; nothing if none does."""
    return weight_port_cost(board) if pipeline.loaders else Resources()


def weight_port_cost(board: Board) -> Resources:
    """A kernel's port for weights that it keeps, with the process that reads them."""
    return cells(board.terms, "process_control", one=1) + ddr_resources(WEIGHT_PORT_BITS, board.terms)


def process_resources(process: Process, board: Board) -> Resources:
    """One call of the dataflow region, from what it says that it is built of.

    A port into DDR takes its m_axi adapter, and where several stream words share a port word what takes it
    apart or puts it together. An AXI stream takes the register slice that Vitis HLS puts there, both ways two
    words deep.
    """
    terms = board.terms
    parts = [cells(terms, "process_control", one=1)]
    if process.word_bits:
        parts.append(cells(terms, "stream_word", bits=process.word_bits))
    if process.result_bits:
        parts.append(cells(terms, "register", bits=process.result_bits))
    parts += [_work(work, terms) for work in process.work()]
    parts += [memory_resources(terms, memory) for memory in process.memories(board)]
    if process.ddr_bits:
        parts.append(ddr_resources(process.ddr_bits, terms))
    if process.carrier:
        parts.append(_carrier_resources(process.carrier, terms))
    if process.axi_bits:
        bits = process.axi_bits + process.axi_bits // 8 + 1
        parts.append(cells(terms, "fifo_registers", one=1, bits=bits))
    return Resources.sum(parts)


def stage_resources(stage: Stage, board: Board, place: WeightPlace | None) -> Resources:
    """A layer's stage with its buffers, and with its weights where `place` says."""
    bare = StageProcess(name=stage.name, reads=(), writes=(), stage=stage)
    return process_resources(bare, board) + held_weights_resources(stage, board, place)


def held_weights_resources(stage: Stage, board: Board, place: WeightPlace | None) -> Resources:
    """The memory of a stage's weights; nothing if it has none on chip."""
    weights = place.memory(stage, board) if place else None
    return Resources() if weights is None else memory_resources(board.terms, weights)


def weight_stream_resources(loader: LoadWeights, board: Board) -> Resources:
    """What brings a stage's weights from DDR: the port with its process, and the FIFOs."""
    fifos = [fifo_resources(stream, board) for stream in weight_streams(loader)]
    return Resources.sum([process_resources(loader, board), *fifos])


def fifo_resources(stream: Stream, board: Board) -> Resources:
    """A FIFO: registers, shift registers, LUTRAM or BRAM as Vitis HLS chooses, or URAM as it is told."""
    return _fifo(stream.depth, _word_bits(stream), board)


def lies_in_uram(stream: Stream, board: Board) -> bool:
    """Whether a FIFO is told to be of URAM."""
    depth, bits = stream.depth, _word_bits(stream)
    return fifo_term(depth, bits) == "fifo_block" and block_fifo(depth, bits, board).storage is Storage.URAM


def _word_bits(stream: Stream) -> int:
    return stream.words.lanes * stream.words.type.width


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
    if work.operator == "mac" and min(work.bits) == 1:
        return fabric_products(terms, work.count, *work.bits)
    if work.operator in ("mac", "mul"):
        return _products(terms, work.count, *work.bits)
    if work.operator == "fabric":
        return fabric_products(terms, work.count, *work.bits)
    if work.operator == "packed":
        return _packed(terms, work)
    if work.operator == "quad":
        return _quads(terms, work)
    if work.operator == "popcount":
        return counted_products(terms, work.count, *work.bits)
    if work.operator == "constants":
        return constant_products(terms, work.count, *work.bits)
    if work.operator == "mux":
        return multiplexers(terms, work.count, *work.bits)
    if work.operator in FLOAT_MACS:
        in_fabric = work.count if work.operator.endswith("_fabric") else 0
        return float_products(terms, work.count, in_fabric, FLOAT_MACS[work.operator])
    if work.operator == "convert":
        widened, narrowed = work.bits
        return conversions(terms, WIDENED_CORES, widened=widened, narrowed=narrowed)
    if work.operator in ("float_mul", "half_mul"):
        return float_multipliers(terms, work.count, FLOAT_MACS[work.operator.replace("mul", "mac")])
    if work.operator in ("float_add", "half_add"):
        return float_adders(terms, work.count, FLOAT_MACS[work.operator.replace("add", "mac")])
    bits = work.count * max(work.bits, default=0)
    total = cells(terms, "register", bits=work.count * sum(work.bits) // 2)
    for name in OPERATORS[work.operator]:
        total += cells(terms, name, one=work.count, bits=bits)
    return total


FLOAT_MACS = {
    f"{cores.arithmetic}_mac{where}": cores
    for cores in (FLOAT_CORES, HALF_CORES, WIDENED_CORES)
    for where in ("", "_fabric")
}
"""Floating-point products and their sums: by the operator, what they are built of."""
OPERATORS = {"add": ("adder",), "compare": ("compare",), "select": ("select",), "max": ("compare", "select")}
"""What a stage's operators are built of."""


def _packed(terms: Terms, work: Work) -> Resources:
    """`count` pairs of sums, of the products of two channels with a pixel's inputs each."""
    a, w, bits, products, chain, pixels, groups = work.bits
    words = work.count // pixels * products
    sums = PackedSums(
        pairs=work.count,
        terms=products,
        chain=chain,
        bits=bits,
        pair_words=words,
        factor_words=pixels * groups * products,
        factor_bits=a,
    )
    return packed_products(terms, sums) + packing(terms, words, w)


def _quads(terms: Terms, work: Work) -> Resources:
    """`count` fours of sums: of some channels with the inputs of one or two pixels each."""
    a, w, bits, products, chain, pixels, groups, shared, lane = work.bits
    channels = QUAD // shared
    words = work.count * shared // pixels * products
    quads = QuadSums(
        quads=work.count,
        terms=products,
        chain=chain,
        bits=bits,
        lane=lane,
        words=words,
        word_bits=(channels - 1) * shared * lane + w,
        factors=pixels // shared * groups * products,
        factor_bits=(shared - 1) * lane + a,
    )
    beside = packing(terms, words * (channels - 1), w) + packing(terms, quads.factors * (shared - 1), a)
    return quad_products(terms, quads) + beside


def _products(terms: Terms, count: int, a: int, w: int) -> Resources:
    if min(a, w) == 1:
        return lut_products(terms, count, a, w)
    if a + w <= FABRIC_PRODUCT_BITS:
        return fabric_products(terms, count, a, w)
    return dsp_products(terms, count, a, w)


def _carrier_resources(carrier: Carrier, terms: Terms) -> Resources:
    """A process that moves port words, its FIFO, and a port word that is taken apart or put together."""
    bits = carrier.of.port_bits
    control = cells(terms, "process_control", one=1) + cells(terms, "stream_word", bits=bits)
    return control + cells(terms, "fifo_registers", one=1, bits=bits)


def ddr_resources(width: int, terms: Terms) -> Resources:
    """An m_axi port of `width` bits with its burst buffer."""
    return Resources(bram18=bram18_for(BURST_WORDS * BURSTS_AHEAD, width)) + axi_ports(terms, 1, width)
