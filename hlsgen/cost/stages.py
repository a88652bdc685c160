"""Resources of a streaming kernel: each stage, converter, FIFO and port, from what is emitted.

DSP, BRAM18 and URAM follow from the structure; LUT and FF are terms of the same kind as in
hlsgen/cost/resources.py, estimates of +- 30 %.
"""

from __future__ import annotations

from hlsgen.board import Board
from hlsgen.cost.resources import (
    AXI_ADAPTER,
    AXI_BIT,
    CHAIN_ADDER_SHARE,
    CHAIN_DELAY_FF,
    CHAIN_DELAY_LUT,
    INTERCONNECT,
    PIPELINE_FF,
    Resources,
    dsps_of_product,
)
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
from hlsgen.mapping.storage import Memory, Storage, bram18_for, choose_storage
from hlsgen.mapping.weights import WeightPlace

STAGE_CONTROL = (250, 350)
"""LUT, FF: counters and loop control of one process."""
FABRIC_PRODUCT_BITS = 9
"""A product whose operands have no more bits together is built in LUTs, as HLS does by itself."""
PORT_BURST_WORDS = 64 * 16
SRL_DEPTH = 32
"""A FIFO up to this depth is one shift-register LUT a bit."""
FIFO_CONTROL = (20, 20)


def total_resources(pipeline: Pipeline, board: Board) -> Resources:
    """The whole kernel: one instance."""
    total = Resources()
    for process in pipeline.processes:
        total += process_resources(process, board)
    for stream in pipeline.streams.values():
        total += fifo_resources(stream)
    return total


def process_resources(process: Process, board: Board) -> Resources:
    """One call of the dataflow region."""
    if isinstance(process, StageProcess):
        return stage_resources(process.stage, board, process.place)
    control = Resources(lut=STAGE_CONTROL[0], ff=STAGE_CONTROL[1])
    if isinstance(process, Load | Store):
        return control + port_resources(port_width(process.words))
    if isinstance(process, LoadWeights):
        bits = sum(words.lanes * width_of(words.type) for words in process.stage.weight_streams)
        return control + Resources(lut=bits, ff=bits) + port_resources(process.stage.beat_bits)
    if isinstance(process, Fork):
        return control
    assert isinstance(process, Convert)
    bits = (process.before.lanes + process.after.lanes) * width_of(process.before.type)
    resources = control + Resources(lut=bits, ff=bits)
    if process.form == "regroup":
        channels = process.before.shape[0]
        together = max(process.before.channels, process.after.channels)
        depth = 2 * -(-channels // together)
        width = width_of(process.before.type)
        resources += _memory(choose_storage("block", depth, width, process.block * together, board))
    return resources


def stage_resources(stage: Stage, board: Board, place: WeightPlace | None) -> Resources:
    """A layer's stage with its buffers, and with its weights where `place` says."""
    out = stage.output.lanes * width_of(stage.output.type)
    total = Resources(lut=STAGE_CONTROL[0] + out, ff=STAGE_CONTROL[1] + 2 * out)
    for work in stage.work():
        total += _work(work)
    for buffer in stage.buffers():
        total += _memory(choose_storage(buffer.name, buffer.depth, buffer.bits, buffer.copies, board))
    memory = place.memory(stage, board) if place else None
    return total + _memory(memory) if memory else total


def fifo_resources(stream: Stream) -> Resources:
    """A FIFO: shift registers while it is shallow, else BRAM."""
    bits = stream.words.lanes * width_of(stream.words.type)
    if stream.depth <= SRL_DEPTH:
        return Resources(lut=bits + FIFO_CONTROL[0], ff=bits + FIFO_CONTROL[1])
    return Resources(
        lut=2 * FIFO_CONTROL[0], ff=2 * FIFO_CONTROL[1] + bits, bram18=bram18_for(stream.depth, bits)
    )


def _work(work: Work) -> Resources:
    bits = sum(work.bits)
    if work.operator == "mac":
        return _multipliers(work.count, *work.bits)
    if work.operator == "mul":
        return _multipliers(work.count, *work.bits)
    return Resources(lut=work.count * max(work.bits, default=0), ff=work.count * bits // 2)


def _multipliers(count: int, a: int, w: int) -> Resources:
    bits = a + w
    if min(a, w) == 1:
        return Resources(lut=count * bits, ff=count * bits)
    if bits <= FABRIC_PRODUCT_BITS:
        multiplier = (2 * -(-bits // 6) - 1) * bits
        return Resources(lut=count * (multiplier + bits + 4), ff=int(count * PIPELINE_FF * bits))
    each = dsps_of_product(a, w)
    return Resources(
        dsp=count * each,
        lut=int(count * (CHAIN_DELAY_LUT + CHAIN_ADDER_SHARE) * bits) + count * (each - 1) * bits,
        ff=int(count * CHAIN_DELAY_FF * bits),
    )


def _memory(memory: Memory) -> Resources:
    if memory.storage is Storage.REGISTER:
        return Resources(ff=memory.ff)
    return Resources(lut=memory.lut, ff=memory.bits * memory.copies, bram18=memory.bram18, uram=memory.uram)


def port_resources(width: int) -> Resources:
    """An m_axi port of `width` bits with its burst buffer."""
    return Resources(
        lut=AXI_ADAPTER[0] + INTERCONNECT[0] + int(width * AXI_BIT[0]),
        ff=AXI_ADAPTER[1] + INTERCONNECT[1] + int(width * AXI_BIT[1]),
        bram18=bram18_for(PORT_BURST_WORDS, max(32, width)),
    )
