"""A graph as one streaming kernel: its processes, and the streams that join them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from hlsgen.ir import Graph, Port
from hlsgen.layers.stage import Fold, Stage, Words
from hlsgen.mapping.processes import (
    REGISTER_LANES,
    Convert,
    Fork,
    Load,
    Process,
    StageProcess,
    Store,
)


@dataclass(frozen=True, kw_only=True)
class Stream:
    """A FIFO of `depth` words from one process to another."""

    name: str
    words: Words
    depth: int = 2


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Processes in an order of computation, and their streams by name."""

    graph: Graph
    stages: Mapping[str, Stage]
    processes: tuple[Process, ...]
    streams: Mapping[str, Stream]

    @cached_property
    def interval(self) -> int:
        """Cycles from frame to frame: those of the slowest process."""
        return max(process.interval for process in self.processes)

    @property
    def slowest(self) -> Process:
        return max(self.processes, key=lambda process: process.interval)

    def writer_stream(self, tensor: str) -> str:
        """The stream that the layer or input `tensor` writes."""
        return f"{tensor}_s"

    def with_depths(self, depths: Mapping[str, int]) -> Pipeline:
        streams = {name: replace(one, depth=depths[name]) for name, one in self.streams.items()}
        return replace(self, streams=streams)


def pipeline_of(
    graph: Graph, folds: Mapping[str, Fold], ports: Mapping[str, Words] | None = None
) -> Pipeline:
    """The kernel of `graph` with each layer folded as given: with ports, forks and converters, FIFOs of 2.

    ports: by port the words that it has in DDR; without, an input has its first reader's, an output its
    writer's.
    """
    stages = {layer.name: layer.stage(folds[layer.name]) for layer in graph.layers}
    return _Joining(graph, stages, ports or {}).pipeline()


class _Joining:
    """Joins stages by streams; each stream has one writer and one reader."""

    def __init__(self, graph: Graph, stages: Mapping[str, Stage], ports: Mapping[str, Words]) -> None:
        self.graph = graph
        self.stages = stages
        self.ports = ports
        self.processes: list[Process] = []
        self.streams: dict[str, Stream] = {}
        self.free: dict[tuple[str, str, int], str] = {}  # (tensor, reader, its input) -> stream to read

    def pipeline(self) -> Pipeline:
        for port in self.graph.inputs:
            words = self._input_words(port)
            stream = self._stream(port.name, words)
            self.processes.append(Load(name=f"load_{port.name}", reads=(), writes=(stream,), words=words))
            self._offer(port.name, stream)
        for layer in self.graph.layers:
            stage = self.stages[layer.name]
            reads = tuple(
                self._converted(self.free[source, layer.name, index], words, f"{layer.name}_{index}")
                for index, (source, words) in enumerate(zip(layer.inputs, stage.inputs, strict=True))
            )
            stream = self._stream(layer.name, stage.output)
            self.processes.append(StageProcess(name=layer.name, reads=reads, writes=(stream,), stage=stage))
            self._offer(layer.name, stream)
        for port in self.graph.outputs:
            stream = self.free[port.source, port.name, -1]
            stream = self._converted(stream, self.ports.get(port.name, self.streams[stream].words), port.name)
            words = self.streams[stream].words
            self.processes.append(Store(name=f"store_{port.name}", reads=(stream,), writes=(), words=words))
        return Pipeline(
            graph=self.graph, stages=self.stages, processes=tuple(self.processes), streams=self.streams
        )

    def _stream(self, name: str, words: Words) -> str:
        name = f"{name}_s"
        assert name not in self.streams
        self.streams[name] = Stream(name=name, words=words)
        return name

    def _input_words(self, port: Port) -> Words:
        """An input comes in the words of its port, or of its first reader."""
        if port.name in self.ports:
            return self.ports[port.name]
        for layer in self.graph.layers:
            for source, words in zip(layer.inputs, self.stages[layer.name].inputs, strict=True):
                if source == port.name:
                    return words
        return Words(tensor=port.tensor)

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

    def _converted(self, stream: str, wanted: Words, reader: str) -> str:
        """The stream in words of `wanted`, by the converters that it takes."""
        for number, words in enumerate(_steps(self.streams[stream].words, wanted)):
            fresh = self._stream(f"{reader}_words{number}", words)
            self.processes.append(
                Convert(
                    name=f"convert_{reader}_{number}",
                    reads=(stream,),
                    writes=(fresh,),
                    before=self.streams[stream].words,
                    after=words,
                )
            )
            stream = fresh
        return stream


def _steps(have: Words, want: Words) -> Iterator[Words]:
    """The formats to go through from `have` to `want`, the last one `want`; none if they are the same."""
    if (have.px, have.channels) == (want.px, want.channels):
        return
    if have.px != want.px and max(have.px, want.px) * have.shape[0] <= REGISTER_LANES:
        whole = have.shape[0]
        whole_ratio = max(have.px, want.px) % min(have.px, want.px) == 0
        middle = [replace(have, channels=whole), replace(want, channels=whole)]
        for words in middle:
            known = ((have.px, have.channels), (want.px, want.channels))
            if whole_ratio and (words.px, words.channels) not in known:
                yield words
    yield want
