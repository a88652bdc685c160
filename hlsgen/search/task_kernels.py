"""A layer as a kernel of its own: from DDR through its one stage back to DDR.

Every tensor lies in DDR in words that do not depend on how its writer and its readers are folded, so that the
foldings can be chosen kernel by kernel; converters inside a kernel lead from these words to the stage's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from hlsgen.base.short_repr import Brief
from hlsgen.cost.resources import Resources, cells
from hlsgen.cost.stages import fifo_resources, process_resources, total_resources, weight_port_cost
from hlsgen.designfile.constraints import InterfaceConstraints
from hlsgen.hardware.pipeline import Pipeline, Stream, conversion, pipeline_of, staged
from hlsgen.hardware.port_processes import DmaRead, DmaWrite
from hlsgen.hardware.ports import DdrPort, frame_bytes, interfaces_of, slot_bits
from hlsgen.hardware.processes import Process, WidthConverter
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.base import Layer, Tensor
from hlsgen.layers.stage import Fold, StreamFormat, divisors
from hlsgen.model.ir import Graph, Port
from hlsgen.search.candidates import Candidate
from hlsgen.targets.board import Board
from hlsgen.timing.fifos import fifo_depths, run_unbounded

Formats = Mapping[str, StreamFormat]
"""The words of each tensor in DDR, by its name."""

PIXELS = (1, 2, 4, 8, 16, 32, 64)
"""The pixels of a row that one word of DDR may hold."""


def ddr_words(tensor: Tensor, most_bits: int, port: DdrPort) -> StreamFormat:
    """The words of a tensor in DDR: of those with at most `most_bits` bits, the ones that move fastest.

    One pixel with some of its channels, or several pixels with all of them.
    """
    channels, _, width = tensor.shape
    slot = slot_bits(tensor.type)
    formats = [(1, part) for part in divisors(channels)]
    formats += [(px, channels) for px in PIXELS[1:] if px <= width]
    found = [
        StreamFormat(tensor=tensor, px=px, channels=part)
        for px, part in formats
        if px * part * slot <= most_bits or px * part == 1
    ]
    return min(found, key=lambda words: (words.frame_words * port.transfers(words), frame_bytes(words)))


def kernel_names(design: str, layers: Iterable[Layer]) -> dict[str, str]:
    """The kernel's name for each layer: <design>_<layer>, unless a layer's own files would be called so."""
    layers = list(layers)
    taken = {f"{layer.name}{end}".lower() for layer in layers for end in ("", "_weights", "_table")}
    names = {}
    for layer in layers:
        name = f"{design}_{layer.name}"
        while name.lower() in taken:
            name += "_kernel"
        taken.add(name.lower())
        names[layer.name] = name
    return names


def kernel_graph(layer: Layer, name: str) -> Graph:
    """The layer by itself: its inputs are ports in0, in1, ..., its output is port out.

    A tensor that it reads twice comes through two ports, so that no fork needs deep FIFOs.
    """
    inputs = tuple(
        Port.of(_other_than(layer, f"in{index}"), source) for index, source in enumerate(layer.sources)
    )
    alone = replace(layer, inputs=tuple(port.name for port in inputs))
    output = Port.of(_other_than(layer, "out"), layer.output, layer.name)
    return Graph(name=name, inputs=inputs, layers=(alone,), outputs=(output,))


def _other_than(layer: Layer, name: str) -> str:
    return f"{name}1" if name == layer.name else name


@dataclass(frozen=True, kw_only=True)
class TaskKernel(Brief):
    """One layer's kernel, with one folding. `reads`: by port the tensor of the network that it takes."""

    layer: Layer
    fold: Fold
    pipeline: Pipeline
    resources: Resources

    @property
    def name(self) -> str:
        """The C++ function."""
        return self.pipeline.graph.name

    @property
    def reads(self) -> dict[str, str]:
        ports = self.pipeline.graph.inputs
        return {port.name: source for port, source in zip(ports, self.layer.inputs, strict=True)}

    @property
    def writes(self) -> str:
        """The port of its result."""
        return self.pipeline.graph.outputs[0].name

    @property
    def interval(self) -> int:
        """Cycles a frame, as far as DDR keeps up."""
        return self.pipeline.interval

    @cached_property
    def bytes_read(self) -> int:
        """Bytes read from DDR for a frame, weights not counted: they stay in the kernel."""
        return sum(one.frame_bytes for one in self.pipeline.dma_reads)

    @cached_property
    def bytes_written(self) -> int:
        return sum(one.frame_bytes for one in self.pipeline.dma_writes)

    @property
    def bytes_moved(self) -> int:
        return self.bytes_read + self.bytes_written

    def latency_with(self, latencies: Mapping[str, int]) -> int:
        """Cycles of one frame from the call to its last word in DDR.

        latencies: of processes by name, in place of their round figures.
        """
        return run_unbounded(self.pipeline, 1, latencies).latency_cycles

    @property
    def place(self) -> WeightPlace | None:
        """Where its weights lie; None if it has none."""
        return self.pipeline.weights.get(self.layer.name)

    def with_layer(self, layer: Layer) -> TaskKernel:
        """The same kernel for `layer`, which differs in its weights only."""
        return replace(self, layer=layer, pipeline=self.pipeline.with_graph(kernel_graph(layer, self.name)))

    def with_fifos(self, board: Board) -> TaskKernel:
        """The same with FIFOs deep enough for its interval, which its resources then count."""
        pipeline = self.pipeline.with_depths(fifo_depths(self.pipeline))
        return replace(self, pipeline=pipeline, resources=kernel_resources(pipeline, board))


@dataclass(frozen=True, kw_only=True)
class KernelOption:
    """What a kernel of a layer with `fold` comes to, with FIFOs of two words.

    interval: cycles a frame as far as DDR keeps up; bytes_moved: to and from DDR for a frame.
    """

    fold: Fold
    resources: Resources
    interval: int
    bytes_moved: int


class KernelPorts:
    """What stands between the words in DDR and those of a stage; kernels differ in few of these."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.port = interfaces_of(board, InterfaceConstraints()).ddr
        self._known: dict[tuple[StreamFormat, StreamFormat, bool], tuple[Resources, int]] = {}

    def option(
        self, layer: Layer, one: Candidate, place: WeightPlace | None, formats: Formats
    ) -> KernelOption:
        """The kernel of `layer` around the stage `one`: what `task_kernel` would take, without making it."""
        stage = staged(layer, one.fold, place)
        ends = [
            (formats[source], words, True) for source, words in zip(layer.inputs, stage.inputs, strict=True)
        ]
        ends.append((formats[layer.name], stage.output, False))
        costs = [self._end(*end) for end in ends]
        parts = [one.resources, *(cost for cost, _ in costs), control(self.board)]
        if place is not None and place.place == "runtime":
            parts.append(weight_port_cost(self.board))
        return KernelOption(
            fold=one.fold,
            resources=Resources.sum(parts),
            interval=max(one.interval, *(interval for _, interval in costs)),
            bytes_moved=sum(frame_bytes(ddr) for ddr, _, _ in ends),
        )

    def _end(self, ddr: StreamFormat, stage: StreamFormat, reads: bool) -> tuple[Resources, int]:
        """The port with its converters and FIFOs: resources, and the cycles of the slowest."""
        known = self._known.get((ddr, stage, reads))
        if known is None:
            begin, end = (ddr, stage) if reads else (stage, ddr)
            words = [begin, *conversion(begin, end)]
            kind = DmaRead if reads else DmaWrite
            processes: list[Process] = [kind(name="", reads=(), writes=(), words=ddr, port=self.port)]
            processes += [
                WidthConverter(name="", reads=(), writes=(), before=before, after=after)
                for before, after in pairwise(words)
            ]
            streams = [fifo_resources(Stream(name="", words=one), self.board) for one in words]
            cost = Resources.sum([*(process_resources(one, self.board) for one in processes), *streams])
            known = self._known[ddr, stage, reads] = cost, max(one.interval for one in processes)
        return known


def task_kernel(
    layer: Layer,
    name: str,
    fold: Fold,
    place: WeightPlace | None,
    formats: Formats,
    board: Board,
) -> TaskKernel:
    """The kernel of `layer`. place: of its weights, if it has some; formats: by tensor its words in DDR."""
    graph = kernel_graph(layer, name)
    ports = {port.name: formats[source] for port, source in zip(graph.inputs, layer.inputs, strict=True)}
    ports[graph.outputs[0].name] = formats[layer.name]
    weights = {} if place is None else {layer.name: place}
    interfaces = interfaces_of(board, InterfaceConstraints())
    pipeline = pipeline_of(graph, {layer.name: fold}, weights, ports, interfaces)
    return TaskKernel(layer=layer, fold=fold, pipeline=pipeline, resources=kernel_resources(pipeline, board))


def kernel_resources(pipeline: Pipeline, board: Board) -> Resources:
    """A kernel with its control."""
    return total_resources(pipeline, board) + control(board)


def control(board: Board) -> Resources:
    """The control of a kernel."""
    return cells(board.terms, "kernel_control", one=1)
