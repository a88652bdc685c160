"""C-simulation of a streaming kernel: every layer's output, and what each stream and stage did."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import Codes, FixedType, FloatType
from hlsgen.base.short_repr import Brief
from hlsgen.csim.testbench import run_testbench, save_frames
from hlsgen.emit.dataflow import weight_files
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.layers.stage import StreamFormat
from hlsgen.model.ir import Graph

STANDS_STILL = "stands still"
REFUSALS = {
    65: "asks a memory for more ports than it has",
    66: STANDS_STILL,
    67: "is given frames that do not end where they should",
    68: "reads an element of a memory sooner than its dependence pragma promises",
    70: STANDS_STILL,
}
"""What is wrong, by the testbench's exit status; 70: a stream is read while empty."""


@dataclass(frozen=True, kw_only=True)
class StreamRecord:
    """What a stream carried: words, checksums of when they were written and read, most held at once."""

    words: int
    write_times: int
    read_times: int
    most: int


@dataclass(frozen=True, kw_only=True)
class NetworkRun(Brief, ABC):
    """What a network's testbench gave: codes of tensors by name (all layers' if kept); seconds, measured."""

    tensors: dict[str, Codes]
    seconds: float

    @abstractmethod
    def check_schedule(self, frames: int) -> None:
        """The iterations that read and wrote each word are those of the schedules.

        Raises MismatchError: a stage that does not do what cycles and FIFO depths are computed from.
        """

    @property
    @abstractmethod
    def counted(self) -> dict[str, Any]:
        """Iterations of each process, by its name; of several kernels: such a dict by the kernel's name."""


@dataclass(frozen=True, kw_only=True)
class StreamingRun(NetworkRun):
    """A run of one kernel: the records of its streams, and the iterations of its processes."""

    pipeline: Pipeline
    streams: dict[str, StreamRecord]
    iterations: list[int]

    def check_schedule(self, frames: int) -> None:
        made = self.counted
        for carrier in self.pipeline.carriers:
            _same_count(carrier.name, made[carrier.name], carrier.iterations(frames))
        for process in self.pipeline.processes:
            schedule = process.schedule(frames)
            _same_count(process.name, made[process.name], schedule.iterations)
            for stream, times in zip(process.reads, schedule.reads, strict=True):
                _same_times(process.name, "reads", stream, times, self.streams[stream].read_times)
            for stream, times in zip(process.writes, schedule.writes, strict=True):
                _same_times(process.name, "writes", stream, times, self.streams[stream].write_times)

    @property
    def counted(self) -> dict[str, int]:
        return dict(zip(self.pipeline.counted, self.iterations, strict=True))


def save_inputs(pipeline: Pipeline, inputs: Mapping[str, Codes], folder: Path) -> None:
    """The .npy files that the testbench reads."""
    for port in pipeline.graph.inputs:
        save_frames(folder / f"{port.name}.npy", inputs[port.name], port.tensor.type)
    for file, beats in weight_files(pipeline).items():
        np.save(folder / file, beats)


def simulate(
    pipeline: Pipeline,
    executable: Path,
    inputs: Mapping[str, Codes],
    scratch: Path,
    *,
    keep: bool = True,
    bounded: bool = False,
    depths: Mapping[str, int] | None = None,
) -> StreamingRun:
    """The compiled testbench on `inputs`, in a folder of its own below `scratch`.

    keep: with the output of every layer. bounded: all stages at once, FIFOs as deep as declared (or as
    `depths` says). Raises MismatchError: a deadlock, or a stream read while empty. ToolError: it crashed.
    """
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder = Path(name)
        save_inputs(pipeline, inputs, folder)
        if keep:
            names = (pipeline.writer_stream(layer.name) for layer in pipeline.graph.layers)
            (folder / "keep.txt").write_text("\n".join(names) + "\n")
        command = [str(executable), str(folder)] + (["--bounded"] if bounded else [])
        for stream, depth in (depths or {}).items():
            command += ["--depth", f"{stream}={depth}"]
        seconds = run_testbench(command, REFUSALS).seconds
        streams, iterations = read_trace(folder / "trace.txt")
        return StreamingRun(
            tensors=_tensors(pipeline, folder, keep),
            seconds=seconds,
            pipeline=pipeline,
            streams=streams,
            iterations=iterations,
        )


def read_trace(path: Path) -> tuple[dict[str, StreamRecord], list[int]]:
    """The records of streams by name, and the iterations of each process."""
    streams: dict[str, StreamRecord] = {}
    iterations: list[int] = []
    for line in path.read_text().splitlines():
        kind, name, *numbers = line.split()
        if kind == "stage":
            iterations.append(int(numbers[0]))
        else:
            words, write_times, read_times, most = map(int, numbers)
            streams[name] = StreamRecord(
                words=words, write_times=write_times, read_times=read_times, most=most
            )
    return streams, iterations


def _tensors(pipeline: Pipeline, folder: Path, keep: bool) -> dict[str, Codes]:
    graph: Graph = pipeline.graph
    found: dict[str, Codes] = {}
    stores = {one.argument: one for one in pipeline.dma_writes}
    for port in graph.outputs:
        codes = signed_codes(np.load(folder / f"{port.name}_csim.npy"), port.tensor.type)
        found[port.source] = stores[port.name].from_ddr(codes)
    if keep:
        for layer in graph.layers:
            stream = pipeline.writer_stream(layer.name)
            words = pipeline.streams[stream].words
            found[layer.name] = frames_of_words(
                signed_codes(np.load(folder / f"{stream}.npy"), words.type), words
            )
    return found


def signed_codes(bits: Codes, type_: object) -> Codes:
    """The low bits of 64-bit words as codes of a type."""
    if isinstance(type_, FloatType):
        return bits.astype(f"u{type_.dtype.itemsize}").view(type_.dtype)
    assert isinstance(type_, FixedType)
    unused = np.uint64(64 - type_.width)
    high = bits.astype(np.uint64) << unused
    if type_.signed:
        return high.view(np.int64) >> np.int64(unused)
    codes = high >> unused
    return codes.astype(np.int64) if type_.width < 64 else codes.astype(object)


def frames_of_words(codes: Codes, words: StreamFormat) -> Codes:
    """The elements of a stream, in the order of its words -> [frames, C, H, W]."""
    channels, height, width = words.shape
    frames = codes.reshape(-1, height, words.groups, words.folds, words.px, words.channels)
    image = frames.transpose(0, 3, 5, 1, 2, 4).reshape(-1, channels, height, words.groups * words.px)
    return image[..., :width]


def _same_count(process: str, made: int, modelled: int) -> None:
    if made != modelled:
        raise MismatchError(
            f"error: {process} makes {made} iterations in C-simulation, the schedule has {modelled}"
        )


def _same_times(process: str, does: str, stream: str, times: Codes, measured: int) -> None:
    weights = np.arange(1, len(times) + 1, dtype=np.uint64)
    modelled = int((times.astype(np.uint64) * weights).sum(dtype=np.uint64))
    if modelled != measured:
        raise MismatchError(
            f"error: {process} {does} {stream} in other iterations of the C-simulation than its schedule has"
        )
