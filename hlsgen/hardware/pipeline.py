"""A graph as one streaming kernel: its processes, and the streams that join them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from hlsgen.base.errors import DesignError
from hlsgen.base.short_repr import Brief
from hlsgen.hardware.port_processes import (
    DmaProcess,
    DmaRead,
    DmaWrite,
    LoadWeights,
    StoreBlocks,
    weight_loader,
)
from hlsgen.hardware.ports import DDR_ONLY, DdrPort, Interfaces, ddr_word_bits
from hlsgen.hardware.processes import (
    REGISTER_LANES,
    Carrier,
    Fork,
    Process,
    Relay,
    StageProcess,
    WidthConverter,
)
from hlsgen.hardware.weights import WeightPlace, auto_places, packing_problems
from hlsgen.layers.base import Layer
from hlsgen.layers.row_blocks import RowBlocks
from hlsgen.layers.stage import Fold, Stage, StreamFormat
from hlsgen.model.ir import Graph, Port

SomeProcess = TypeVar("SomeProcess", bound=Process)


@dataclass(frozen=True, kw_only=True)
class Stream:
    """A FIFO of `depth` words from one process to another."""

    name: str
    words: StreamFormat
    depth: int = 2


def weight_streams(loader: LoadWeights) -> tuple[Stream, ...]:
    """The FIFOs that `loader` fills."""
    stage = loader.stage
    given = zip(loader.writes, stage.weight_streams, stage.words_ahead, strict=True)
    return tuple(Stream(name=name, words=words, depth=depth) for name, words, depth in given)


@dataclass(frozen=True, kw_only=True)
class Pipeline(Brief):
    """Processes in an order of computation, and their streams by name.

    slrs: the number of the SLR that each layer lies in, with what carries its words; empty: all in one.
    """

    graph: Graph
    stages: Mapping[str, Stage]
    processes: tuple[Process, ...]
    streams: Mapping[str, Stream]
    interfaces: Interfaces = DDR_ONLY
    slrs: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def interval(self) -> int:
        """Cycles from frame to frame: those of the slowest process."""
        return max(process.interval for process in self.processes)

    @cached_property
    def weights(self) -> dict[str, WeightPlace]:
        """Where the weights of each layer that has some lie."""
        return {one.name: one.place for one in self.stage_processes if one.place is not None}

    def _of(self, kind: type[SomeProcess]) -> tuple[SomeProcess, ...]:
        """The processes of a kind, in their order."""
        return tuple(one for one in self.processes if isinstance(one, kind))

    @property
    def stage_processes(self) -> tuple[StageProcess, ...]:
        """The layers' processes."""
        return self._of(StageProcess)

    @property
    def adapters(self) -> tuple[Process, ...]:
        """What stands between stages and around them: the processes of ports, forks and converters."""
        return tuple(one for one in self.processes if one.name not in self.stages)

    @property
    def dma(self) -> tuple[DmaProcess, ...]:
        """The processes that move frames: those of the inputs, then those of the outputs."""
        return (*self.dma_reads, *self.dma_writes)

    @property
    def dma_reads(self) -> tuple[DmaRead, ...]:
        """The processes that bring frames in."""
        return self._of(DmaRead)

    @property
    def dma_writes(self) -> tuple[DmaWrite, ...]:
        """The processes that take results out."""
        return self._of(DmaWrite)

    @property
    def loaders(self) -> tuple[Stage, ...]:
        """The stages whose weights are loaded into their memories at run time, in their order."""
        return tuple(self.stages[name] for name, one in self.weights.items() if one.place == "runtime")

    @property
    def streamers(self) -> tuple[LoadWeights, ...]:
        """The processes that bring weights from DDR for every block of frames."""
        return self._of(LoadWeights)

    @property
    def ports(self) -> dict[str, StreamFormat]:
        """The words that each port takes or gives, by its name."""
        return {one.argument: one.words for one in self.dma}

    @property
    def carriers(self) -> tuple[Carrier, ...]:
        """What moves the port words of those processes that do not do it themselves, in their order."""
        found = (one.carrier for one in self.processes)
        return tuple(one for one in found if one is not None)

    @property
    def counted(self) -> tuple[str, ...]:
        """What C-simulation counts the iterations of, by its numbers there."""
        processes = (process.name for process in self.processes)
        return (*processes, *(carrier.name for carrier in self.carriers))

    @property
    def free_running(self) -> bool:
        """Whether it has AXI streams only, so that nobody need start it: it runs as long as frames come."""
        return not (any(one.frame_bytes for one in self.dma) or self.loaders or self.streamers)

    @property
    def frame_bytes(self) -> int:
        """Moved between DDR and the kernel for a frame, of full blocks where weights are streamed."""
        return sum(one.frame_bytes for one in self.processes)

    @property
    def frames_at_once(self) -> int:
        """Frames that the stage with the largest blocks takes in before results come out."""
        return max(stage.frames_at_once for stage in self.stages.values())

    @property
    def slowest(self) -> Process:
        return max(self.processes, key=lambda process: process.interval)

    def writer_stream(self, tensor: str) -> str:
        """The stream that the layer or input `tensor` writes."""
        return f"{tensor}_s"

    def with_graph(self, graph: Graph) -> Pipeline:
        """The same kernel for `graph`, which has the same layers and types but other weights.

        Raises DesignError: packed multipliers would not be exact for them.
        """
        folds = {name: stage.fold for name, stage in self.stages.items()}
        depths = {name: stream.depth for name, stream in self.streams.items()}
        fresh = pipeline_of(graph, folds, self.weights, self.ports, self.interfaces)
        fresh = fresh.across(self.slrs).with_depths(depths)
        problems = [
            problem
            for name, stage in fresh.stages.items()
            for problem in packing_problems(self.stages[name], stage)
        ]
        if problems:
            raise DesignError(problems)
        return fresh

    @cached_property
    def owners(self) -> dict[str, str]:
        """The layer that each process and each stream belongs to: that whose words it carries.

        What brings an input belongs to its first reader, an input that goes straight out to the first layer.
        """
        first = first_readers(self.graph)
        fallback = (self.graph.layers[0].name, 0)
        readers = {one.name: first.get(one.argument, fallback)[0] for one in self.dma_reads}
        found: dict[str, str] = {}
        for process in self.processes:
            owner = process.layer or readers.get(process.name) or found[process.reads[0]]
            found |= dict.fromkeys((process.name, *process.writes), owner)
        return found

    @property
    def relays(self) -> tuple[Relay, ...]:
        """The register stages at the borders of SLRs."""
        return self._of(Relay)

    def across(self, slrs: Mapping[str, int]) -> Pipeline:
        """The same with its layers in these SLRs, by number: a relay at each border that a stream crosses."""
        if not slrs:
            return self
        processes: list[Process] = []
        streams = dict(self.streams)
        for process in self.processes:
            reads = []
            here = slrs[self.owners[process.name]]
            for stream in process.reads:
                added = _relays(streams[stream], slrs[self.owners[stream]], here)
                processes += added
                streams |= {one.writes[0]: Stream(name=one.writes[0], words=one.words) for one in added}
                reads.append(added[-1].writes[0] if added else stream)
            processes.append(replace(process, reads=tuple(reads)))
        return replace(self, processes=tuple(processes), streams=streams, slrs=dict(slrs))

    def with_depths(self, depths: Mapping[str, int]) -> Pipeline:
        streams = {name: replace(one, depth=depths[name]) for name, one in self.streams.items()}
        return replace(self, streams=streams)


def first_readers(graph: Graph) -> dict[str, tuple[str, int]]:
    """The layer, and its input, whose words each port has, by the name of the graph's input."""
    found: dict[str, tuple[str, int]] = {}
    ports = {port.name for port in graph.inputs}
    for layer in graph.layers:
        for index, source in enumerate(layer.inputs):
            if source in ports:
                found.setdefault(source, (layer.name, index))
    return found


def _relays(stream: Stream, begin: int, end: int) -> list[Relay]:
    """One for each border between the SLRs of a stream's writer and of its reader."""
    found: list[Relay] = []
    name = stream.name
    for number in range(1, abs(end - begin) + 1):
        after = f"{stream.name.removesuffix('_s')}_border{number}_s"
        relay = f"relay_{after.removesuffix('_s')}"
        found.append(Relay(name=relay, reads=(name,), writes=(after,), words=stream.words))
        name = after
    return found


def pipeline_of(
    graph: Graph,
    folds: Mapping[str, Fold],
    weights: Mapping[str, WeightPlace] | None = None,
    ports: Mapping[str, StreamFormat] | None = None,
    interfaces: Interfaces = DDR_ONLY,
) -> Pipeline:
    """The kernel of `graph` with each layer folded as given: with ports, forks and converters, FIFOs of 2.

    weights: where they lie, by layer; None: as if nothing were wished. ports: by port the words that it takes
    or gives; without, an input has its first reader's, an output its writer's.
    """
    places = auto_places(graph) if weights is None else weights
    return _Joining(graph, folds, places, ports or {}, interfaces).pipeline()


def staged(layer: Layer, fold: Fold, place: WeightPlace | None) -> Stage:
    """`layer` as hardware, with its weights where they shall lie."""
    return layer.stage(fold) if place is None else place.stage(layer, fold)


class _Joining:
    """Joins stages by streams; each stream has one writer and one reader."""

    def __init__(
        self,
        graph: Graph,
        folds: Mapping[str, Fold],
        weights: Mapping[str, WeightPlace],
        ports: Mapping[str, StreamFormat],
        interfaces: Interfaces,
    ) -> None:
        self.graph = graph
        self.weights = weights
        self.ports = ports
        self.interfaces = interfaces
        self.stages = {
            layer.name: staged(layer, folds[layer.name], weights.get(layer.name)) for layer in graph.layers
        }
        self.processes: list[Process] = []
        self.streams: dict[str, Stream] = {}
        self.free: dict[tuple[str, str, int], str] = {}  # (tensor, reader, its input) -> stream to read

    def pipeline(self) -> Pipeline:
        for port in self.graph.inputs:
            words = self._input_words(port)
            stream = self._stream(port.name, words)
            self.processes.append(
                DmaRead(
                    name=f"load_{port.name}",
                    reads=(),
                    writes=(stream,),
                    words=words,
                    port=self.interfaces.input,
                )
            )
            self._offer(port.name, stream)
        for layer in self.graph.layers:
            stage = self.stages[layer.name]
            reads = tuple(
                self._converted(self.free[source, layer.name, index], words, f"{layer.name}_{index}")
                for index, (source, words) in enumerate(zip(layer.inputs, stage.inputs, strict=True))
            )
            reads += self._weights(stage)
            stream = self._stream(layer.name, stage.output)
            self.processes.append(
                StageProcess(
                    name=layer.name,
                    reads=reads,
                    writes=(stream,),
                    stage=stage,
                    place=self.weights.get(layer.name),
                )
            )
            self._offer(layer.name, stream)
        for port in self.graph.outputs:
            stream = self.free[port.source, port.name, -1]
            stream = self._converted(stream, self.ports.get(port.name, self.streams[stream].words), port.name)
            self.processes.append(self._store(port, stream))
        return Pipeline(
            graph=self.graph,
            stages=self.stages,
            processes=tuple(self.processes),
            streams=self.streams,
            interfaces=self.interfaces,
        )

    def _store(self, port: Port, stream: str) -> DmaWrite:
        """What writes an output's words into DDR, or to an AXI stream."""
        name, words = f"store_{port.name}", self.streams[stream].words
        stage = self.stages.get(port.source)
        if self.interfaces.in_blocks and stage is not None and isinstance(stage.layer, RowBlocks):
            return StoreBlocks(
                name=name,
                reads=(stream,),
                writes=(),
                words=words,
                port=DdrPort(bits=ddr_word_bits(words)),
                blocks=stage.layer.blocks,
                groups=stage.layer.groups,
            )
        return DmaWrite(name=name, reads=(stream,), writes=(), words=words, port=self.interfaces.output)

    def _weights(self, stage: Stage) -> tuple[str, ...]:
        """The streams of weights that `stage` reads, with what fills them."""
        loader = weight_loader(stage, self.interfaces.ddr)
        if loader is None:
            return ()
        for stream in weight_streams(loader):
            assert stream.name not in self.streams
            self.streams[stream.name] = stream
        self.processes.append(loader)
        return loader.writes

    def _stream(self, name: str, words: StreamFormat) -> str:
        name = f"{name}_s"
        assert name not in self.streams
        self.streams[name] = Stream(name=name, words=words)
        return name

    def _input_words(self, port: Port) -> StreamFormat:
        """An input comes in the words of its port, or of its first reader."""
        if port.name in self.ports:
            return self.ports[port.name]
        for layer in self.graph.layers:
            for source, words in zip(layer.inputs, self.stages[layer.name].inputs, strict=True):
                if source == port.name:
                    return words
        return StreamFormat(tensor=port.tensor)

    def _offer(self, tensor: str, stream: str) -> None:
        """Gives every reader of `tensor` a stream of its own."""
        readers = self.graph.consumers()[tensor]
        words = self.streams[stream].words
        for number, (reader, index) in enumerate(readers):
            if number == len(readers) - 1:
                self.free[tensor, reader, index] = stream
                return
            branch = self._stream(
                f"{tensor}_to_{reader}_{index}" if index >= 0 else f"{tensor}_to_{reader}", words
            )
            rest = self._stream(f"{tensor}_rest{number + 1}", words)
            self.processes.append(
                Fork(name=f"fork_{tensor}_{number}", reads=(stream,), writes=(branch, rest), words=words)
            )
            self.free[tensor, reader, index] = branch
            stream = rest

    def _converted(self, stream: str, wanted: StreamFormat, reader: str) -> str:
        """The stream in words of `wanted`, by the converters that it takes."""
        for number, words in enumerate(conversion(self.streams[stream].words, wanted)):
            fresh = self._stream(f"{reader}_words{number}", words)
            self.processes.append(
                WidthConverter(
                    name=f"convert_{reader}_{number}",
                    reads=(stream,),
                    writes=(fresh,),
                    before=self.streams[stream].words,
                    after=words,
                )
            )
            stream = fresh
        return stream


def conversion(have: StreamFormat, want: StreamFormat) -> Iterator[StreamFormat]:
    """The formats to go through from `have` to `want`, the last one `want`; none if they are the same.

    Where one of them has all channels in a word, both changes are simple; else one with a memory does it.
    """
    if (have.px, have.channels) == (want.px, want.channels):
        return
    whole = have.shape[0]
    simple = max(have.px, want.px) % min(have.px, want.px) == 0
    narrow = max(have.px, want.px) * whole <= REGISTER_LANES
    if have.px != want.px and simple and narrow:
        if have.channels == whole and want.channels != whole:
            yield replace(want, channels=whole)
        elif want.channels == whole and have.channels != whole:
            yield replace(have, channels=whole)
    yield want
