"""A pipeline at work: a thread for each worker of each part, bounded queues between them, order kept."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.base.errors import DesignError, Problem, ToolError
from hlsgen.base.fixed import FixedType
from hlsgen.model.ports import Arrays, Floats, tensor_codes
from hlsgen.pipelining.channels import Channel, Stopped
from hlsgen.pipelining.computing import OnFpga
from hlsgen.pipelining.part import Compute, Input, Part, Values
from hlsgen.pipelining.pipeline import OUTSIDE, Pipeline

FEEDER_SECONDS = 1.0
"""For which the end of a run waits for who gives frames."""
END = object()
"""What follows the last item of a run."""


@dataclass
class PartFigures:
    """Of one worker, measured: seconds in which it computed, items that it did."""

    busy: float = 0.0
    items: int = 0


@dataclass(eq=False)
class Worker:
    """One thread of a part. Worker r of k does items r, r + k, r + 2k ... from channels of its own, so that
    order needs no numbers: who reads takes from the workers in turn.
    """

    part: Part
    number: int
    reads: dict[str, list[Channel]] = field(default_factory=dict)
    gives: dict[str, list[list[Channel]]] = field(default_factory=dict)
    figures: PartFigures = field(default_factory=PartFigures)
    compute: Compute | None = None


class Running:
    """An open pipeline. `run` on frames at hand, `stream` on those that come; `close` ends its threads.

    What a part raises ends the run with that error; the pipeline is then closed.
    """

    def __init__(self, pipeline: Pipeline, depth: int = 2) -> None:
        """depth: items that wait between two workers at the most. Raises DesignError: as `in_order`."""
        if depth < 1:
            raise DesignError(
                Problem(message=f"queues of {depth} items hold none", fix="a depth of 1 or more")
            )
        self.pipeline = pipeline
        self.order = pipeline.in_order()
        self.depth = depth
        self.workers = {
            part.name: [Worker(part, number) for number in range(part.workers)] for part in self.order
        }
        self.channels: list[Channel] = []
        self.feeding: dict[str, list[list[Channel]]] = {port.name: [] for port in pipeline.sources}
        self.results: dict[str, list[Channel]] = {}
        self._connect()
        self.error: BaseException | None = None
        self.closed = False
        self._next = 0
        self._feeder: threading.Thread | None = None
        self._lock = threading.Lock()
        self._ready = threading.Barrier(1 + sum(part.workers for part in self.order))
        self.threads = [
            threading.Thread(
                target=self._work, args=(worker,), name=f"{part.name}_{worker.number}", daemon=True
            )
            for part in self.order
            for worker in self.workers[part.name]
        ]
        for thread in self.threads:
            thread.start()
        try:
            self._ready.wait()
        except threading.BrokenBarrierError:
            self.close()
            self._raise()

    def _connect(self) -> None:
        """Channels from every worker of who gives to every worker of who reads."""
        for part in self.order:
            for port in part.inputs:
                for worker in self.workers[part.name]:
                    worker.reads[port.name] = self._channels(port, worker.number, part.workers)
        for port in self.pipeline.results:
            self.results[port.name] = self._channels(port, 0, 1)

    def _channels(self, port: Input, reader: int, readers: int) -> list[Channel]:
        """Of one reader: one channel from each worker of the source, taken from in turn.

        Item n comes from worker n mod k and goes to reader n mod m: so a worker has a row of channels, one to
        each reader, and both sides take the one of the item's number.
        """
        assert port.source is not None
        outside = port.source.owner == OUTSIDE
        givers = 1 if outside else self.pipeline.parts[port.source.owner].workers
        found = [Channel(self.depth) for _ in range(givers)]
        self.channels += found
        for number, channel in enumerate(found):
            if outside:
                rows = self.feeding[port.source.name]
            else:
                rows = self.workers[port.source.owner][number].gives.setdefault(port.source.name, [])
            if reader == 0:
                rows.append([])
            rows[-1].append(channel)
        return found

    def _work(self, worker: Worker) -> None:
        part = worker.part
        try:
            if part.cpus and hasattr(os, "sched_setaffinity"):
                check_cpus(part.name, part.cpus)  # an archive may come from a machine with more
                os.sched_setaffinity(threading.get_native_id(), part.cpus)
            worker.compute = part.make()
            self._ready.wait()
            item = worker.number
            while True:
                self._one(worker, item)
                item += part.workers
        except (Stopped, threading.BrokenBarrierError):
            pass
        except BaseException as error:
            self._fail(error)
        finally:
            close = getattr(worker.compute, "close", None)
            if close is not None:
                close()

    def _one(self, worker: Worker, item: int) -> None:
        """Item number `item`: the end of a run passes through like any other."""
        values = {name: channels[item % len(channels)].get() for name, channels in worker.reads.items()}
        if any(value is END for value in values.values()):
            found: Mapping[str, Any] = {port.name: END for port in worker.part.outputs}
        else:
            begin = time.perf_counter()
            assert worker.compute is not None
            found = worker.compute(values)
            worker.figures.busy += time.perf_counter() - begin
            worker.figures.items += 1
        for name, rows in worker.gives.items():
            for row in rows:
                row[item % len(row)].put(found[name])

    def _fail(self, error: BaseException) -> None:
        with self._lock:
            if self.error is None:
                self.error = error
        self._ready.abort()
        for channel in self.channels:
            channel.stop()

    def _raise(self) -> None:
        error = self.error
        if error is None:
            raise DesignError(Problem(message=f"{self.pipeline.name} is closed", fix="open it again"))
        raise error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends all threads, whatever they wait for."""
        self.closed = True
        self._ready.abort()
        for channel in self.channels:
            channel.stop()
        for thread in self.threads:
            thread.join()
        if self._feeder is not None and self._feeder is not threading.current_thread():
            # it may wait for frames that never come, which nobody can end
            self._feeder.join(FEEDER_SECONDS)

    def run(self, x: ArrayLike | Sequence[ArrayLike], batch: int = 1) -> Arrays:
        """Frames in the framework's layout, batch first -> results likewise; several of either are a list.

        batch: frames of an item that passes through the parts. Raises DesignError: x does not fit. What a
        part raises.
        """
        given = _inputs(self.pipeline, x)
        count = len(given[0])
        pieces = ([one[at : at + batch] for one in given] for at in range(0, count, batch))
        found = [one if isinstance(one, list) else [one] for one in self.stream(pieces)]
        joined: list[Floats] = [np.concatenate(parts) for parts in zip(*found, strict=True)]
        return joined[0] if len(joined) == 1 else joined

    def stream(self, items: Iterable[Any]) -> Iterator[Arrays]:
        """Results of items (frames, or a list of those of each input), in their order, as they come.

        No more items are taken than the queues and parts hold. Ending it early ends the pipeline.
        """
        if self.closed or self.error is not None:
            self._raise()
        item, ended = self._next, False
        feeder = threading.Thread(target=self._feed, args=(items, item), name="feeder", daemon=True)
        self._feeder = feeder
        feeder.start()
        try:
            while True:
                try:
                    values = {
                        name: channels[item % len(channels)].get() for name, channels in self.results.items()
                    }
                except Stopped:
                    self._raise()
                item += 1
                if any(value is END for value in values.values()):
                    break
                found = laid_out(self.pipeline, values)
                yield found[0] if len(found) == 1 else found
            ended = True
        finally:
            if not ended:
                self.close()
        feeder.join()
        # the end was an item like any other: all count on from there
        self._next = item

    def _feed(self, items: Iterable[Any], number: int) -> None:
        try:
            for item in items:
                self._put(number, dict(zip(self.feeding, self._tensors(item), strict=True)))
                number += 1
            self._put(number, dict.fromkeys(self.feeding, END))
        except Stopped:
            pass
        except BaseException as error:
            self._fail(error)

    def _put(self, number: int, values: Mapping[str, Any]) -> None:
        for name, rows in self.feeding.items():
            for row in rows:
                row[number % len(row)].put(values[name])

    def _tensors(self, item: Any) -> list[Values]:
        return tensors_of(self.pipeline, _inputs(self.pipeline, item))

    def in_sequence(self, x: ArrayLike | Sequence[ArrayLike], batch: int = 1) -> Arrays:
        """As `run`, by one worker of each part, one part after the other: what parts at once are beside."""
        if self.closed or self.error is not None:
            self._raise()
        made = []
        for part in self.order:
            compute = self.workers[part.name][0].compute
            assert compute is not None, "all have opened before the first run"
            made.append((part, compute))
        return _in_sequence(self.pipeline, made, x, batch)

    @property
    def simulated(self) -> bool:
        """Whether a part's time is that of a C-simulation or an emulation, and no FPGA's."""
        made = (worker.compute for workers in self.workers.values() for worker in workers)
        return any(isinstance(one, OnFpga) and not one.runtime.backend.fpga for one in made)

    def figures(self) -> dict[str, PartFigures]:
        """Measured, of all workers of each part together."""
        return {
            name: PartFigures(
                busy=sum(one.figures.busy for one in workers), items=sum(one.figures.items for one in workers)
            )
            for name, workers in self.workers.items()
        }


def _inputs(pipeline: Pipeline, x: Any) -> list[Floats]:
    """One array [N, ...] for each input. Raises DesignError: another number, or shapes that differ."""
    ports = pipeline.input_ports
    given = [x] if len(ports) == 1 and not (isinstance(x, list) and len(x) == 1) else x
    if not isinstance(given, list | tuple) or len(given) != len(ports):
        names = ", ".join(port.name for port in ports)
        message = f"{pipeline.name} has {len(ports)} inputs: {names}"
        raise DesignError(Problem(message=message, fix=f"a list of {len(ports)} arrays in this order"))
    found = []
    for port, one in zip(ports, given, strict=True):
        array = np.asarray(one, np.float64)
        if array.ndim != len(port.shape) + 1 or array.shape[1:] != port.shape or not len(array):
            wanted = ", ".join(map(str, port.shape))
            message = f"input {port.name} has shape {array.shape}"
            raise DesignError(Problem(message=message, fix=f"[frames, {wanted}], batch first"))
        found.append(array)
    if len({len(one) for one in found}) > 1:
        raise DesignError(
            Problem(message="the inputs have different numbers of frames", fix="the same in all")
        )
    return found


def tensors_of(pipeline: Pipeline, given: Sequence[Floats]) -> list[Values]:
    """Values [N, C, H, W] of the inputs, on the grid of their types where the network has some of its own.

    Raises DesignError: NaN, out of the type's range.
    """
    found: list[Values] = []
    for port, one in zip(pipeline.input_ports, given, strict=True):
        tensor, type_ = port.to_tensor(one), port.tensor.type
        if isinstance(type_, FixedType):
            tensor = type_.decode(tensor_codes(port, tensor, port.name))
        found.append(tensor)
    return found


def run_in_sequence(pipeline: Pipeline, x: Any, batch: int = 1) -> Arrays:
    """The same parts one after the other in this thread: what `Running.run` gives, bit for bit."""
    made = [(part, part.make()) for part in pipeline.in_order()]
    try:
        return _in_sequence(pipeline, made, x, batch)
    finally:
        for _, compute in made:
            close = getattr(compute, "close", None)
            if close is not None:
                close()


def _in_sequence(pipeline: Pipeline, made: Sequence[tuple[Part, Compute]], x: Any, batch: int) -> Arrays:
    given = _inputs(pipeline, x)
    pieces: list[list[Floats]] = []
    for at in range(0, len(given[0]), batch):
        tensors = tensors_of(pipeline, [one[at : at + batch] for one in given])
        values: dict[tuple[str, str], Values] = {
            (OUTSIDE, port.name): tensor for port, tensor in zip(pipeline.input_ports, tensors, strict=True)
        }
        for part, compute in made:
            read = {port.name: values[_key(port)] for port in part.inputs}
            values |= {(part.name, name): one for name, one in compute(read).items()}
        results = {port.name: values[_key(port)] for port in pipeline.results}
        pieces.append(laid_out(pipeline, results))
    joined = [np.concatenate(parts) for parts in zip(*pieces, strict=True)]
    return joined[0] if len(joined) == 1 else joined


def laid_out(pipeline: Pipeline, values: Mapping[str, Values]) -> list[Floats]:
    """Results by name, [N, C, H, W], in the framework's layout."""
    return [
        np.asarray(port.from_tensor(values[port.name]), np.float64) * port.scale
        for port in pipeline.output_ports
    ]


def _key(port: Input) -> tuple[str, str]:
    assert port.source is not None
    return port.source.owner, port.source.name


def usable_cpus() -> tuple[int, ...]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def check_cpus(part: str, cpus: Sequence[int]) -> None:
    """Raises ToolError: a core that is not there."""
    missing = sorted(set(cpus) - set(usable_cpus()))
    if missing:
        here = ", ".join(map(str, usable_cpus()))
        text = f"error: part {part} wants core {missing[0]}, which this process may not use"
        raise ToolError(f"{text}\nfix: of {here}")
