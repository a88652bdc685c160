"""An FPGA as a device: processors that its tasks share in turn, or hardware of its own for every layer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress, silent
from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.explore.options import LayerOptions, possible_options, vector, vector_of_board
from hlsgen.explore.slr_layouts import layouts
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.model.parts import part_of, tensor_bytes
from hlsgen.partitioning.chain import Chain, Task
from hlsgen.partitioning.problem import Assignment, Device, Option
from hlsgen.search.board_limits import KINDS, allowed_whole
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.styles.shared import SharedNetwork
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.targets.board import Board, Link

LADDER = 1.1
"""Ratio of the intervals that streaming kernels are tried at."""
SLOWEST = 4
"""Times slower than the network as one kernel, or at all, that a kernel may be to be looked at."""
FILLS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
"""Parts of the resources that options are chosen for, until the kernels made of them fit: converters, deep
FIFOs and margins come on top."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Fpga:
    """A board with the network that it may run. link, memory: of the devices file, or the board's."""

    name: str
    network: NetworkStyle[Any]
    chain: Chain
    link: Link | None
    memory: float

    @classmethod
    def of(
        cls,
        name: str,
        network: NetworkStyle[Any],
        board: Board,
        chain: Chain,
        link: Link | None,
        memory_gb: float | None,
    ) -> Fpga:
        own = {one.name: getattr(network, one.name) for one in fields(NetworkStyle)}
        gb = memory_gb if memory_gb is not None else board.memory.size_gb
        return cls(
            name=name,
            network=StreamingNetwork(**{**own, "board": board, "chosen": None}),
            chain=chain,
            link=link or board.link,
            memory=math.inf if gb is None else gb * 1e9,
        )

    @property
    def graph(self) -> Graph:
        return self.network.graph

    @property
    def hertz(self) -> float:
        return self.network.clock_mhz * 1e6

    def _device(self, seconds: Sequence[float], **more: Any) -> Device:
        link = self.link
        return Device(
            name=self.name,
            seconds=tuple(seconds),
            bytes_held=tuple(self._held(task) for task in self.chain.tasks),
            memory=self.memory,
            coded=True,
            to_bytes=math.inf if link is None else link.to_gb_per_s * 1e9,
            from_bytes=math.inf if link is None else link.from_gb_per_s * 1e9,
            **more,
        )

    def _held(self, task: Task) -> float:
        """Bytes of DDR: weights as they are stored, and every tensor of the frames of a batch."""
        layers = self.graph.layers[task.first : task.end]
        weights = sum(
            layer.weights.size * -(-layer.weight_type.container_bits // 8) + 4 * layer.bias.size
            for layer in layers
            if isinstance(layer, Conv2d)
        )
        return float(weights + self.network.batch * sum(tensor_bytes(self.graph, one.name) for one in layers))

    def shared(self, progress: Progress) -> tuple[Device, str]:
        """Processors that run one task after the other, each on frames of its own.

        A task takes its part of the cycles of a frame. Raises DesignError: they do not fit the board.
        """
        own = {one.name: getattr(self.network, one.name) for one in fields(NetworkStyle)}
        own["constraints"] = NetworkConstraints()
        network = SharedNetwork(**own)
        network.choose(progress)
        estimate = network.estimate()
        cycles = {one["name"]: one["interval_cycles"] for one in estimate.as_json()["layers"]}
        frame = 1 / estimate.frames_per_s
        total = sum(cycles.values())
        seconds = [
            max(frame * sum(cycles.get(name, 0) for name in task.layers) / total, 1e-12)
            for task in self.chain.tasks
        ]
        count = network.hardware.instances
        text = f"{count} shared processor{'s' if count > 1 else ''}"
        return self._device(seconds), text

    @cached_property
    def options(self) -> Mapping[str, LayerOptions | None]:
        """Every layer's options; None: of a layer that has no room on the board."""
        return possible_options(self.graph, self.network.board, NetworkConstraints())

    def intervals(self) -> list[int]:
        """Cycles between frames that streaming kernels are tried at, the shortest first."""
        every = [one for one in self.options.values() if one is not None]
        if not every:
            return []
        interval = float(min(one.intervals[0] for one in every))
        last = SLOWEST * max(float(one.intervals[0]) for one in every)
        slowest = max(last, sum(float(np.median(one.intervals)) for one in every))
        found = []
        while interval <= slowest:
            found.append(math.floor(interval))
            interval = max(interval * LADDER, interval + 1)
        return found

    def own_hardware(self, instances: int, interval: int, fill: float = 1.0) -> Device | None:
        """Streaming kernels of the tasks that are chosen, so many times, that take a frame every `interval`
        cycles; None: so many have no room.

        Of each layer there are the options that are cheapest in all, in DSPs and in LUTs.
        """
        board = self.network.board
        if instances == 1:
            capacity = vector(allowed_whole(board))
        else:
            found = layouts(board, instances, instances)
            if not found:
                return None
            capacity = max((one.capacity for one in found), key=tuple)
        options = tuple(
            tuple(self._near(self.options[name], interval) for name in task.layers)
            for task in self.chain.tasks
        )
        return self._device(
            [math.inf] * len(self.chain.tasks),
            options=options,
            capacity=np.floor(capacity * fill),
            instances=instances,
        )

    def _near(self, layer: LayerOptions | None, interval: int) -> tuple[Option, ...]:
        """The cheapest options that keep to an interval: by the board's shares, by DSPs, by LUTs."""
        if layer is None:
            return ()
        count = int(np.searchsorted(layer.intervals, interval, side="right"))
        if not count:
            return ()
        total = vector_of_board(self.network.board)
        shares = layer.costs[:count] * np.where(total > 0, 1 / np.maximum(total, 1), 0.0)
        price = shares.sum(axis=1)
        picks = {int(np.argmin(price))}
        for kind in ("dsp", "lut"):
            picks.add(int(np.argmin(shares[:, KINDS.index(kind)] + 1e-6 * price)))
        return tuple(
            Option(seconds=interval / self.hertz, cost=layer.costs[at].astype(float)) for at in sorted(picks)
        )

    def whole(self) -> StreamingNetwork:
        """The whole network as one streaming kernel, as `hlsgen estimate` has it."""
        own = {one.name: getattr(self.network, one.name) for one in fields(NetworkStyle)}
        return StreamingNetwork(**own)

    def whole_device(self, frames_per_s: float) -> Device:
        """That kernel as a device: every task at its rate, and all of them or none."""
        count = len(self.chain.tasks)
        one = Option(seconds=1 / frames_per_s, cost=np.zeros(1))
        return self._device([math.inf] * count, options=(((one,),),) * count, capacity=np.ones(1), whole=True)

    def realised(self, found: Assignment, device: Device, number: int) -> list[StreamingNetwork] | None:
        """The kernels of an assignment, searched for and estimated; None: they do not fit, or are slower."""
        kernels: list[StreamingNetwork] = []
        for first, end in segments(found, number):
            rate = float(found.shares[first, number])
            graph = part_of(
                self.graph,
                self.chain.tasks[first].first,
                self.chain.tasks[end - 1].end,
                f"{self.network.name}_{self.name}_{len(kernels)}",
            )
            kernel = StreamingNetwork(
                name=graph.name,
                graph=graph,
                board=self.network.board,
                clock_mhz=self.network.clock_mhz,
                batch=self.network.batch,
                source=self.network.source,
                uncertainty=self.network.uncertainty,
                constraints=NetworkConstraints(
                    target_interval=max(1, math.floor(device.instances * self.hertz / rate)),
                    instances=device.instances,
                ),
            )
            try:
                kernel.choose(silent)
            except DesignError:
                return None
            kernels.append(kernel)
        total = sum(np.array(vector(one.hardware.each)) * one.hardware.instances for one in kernels)
        limit = vector(allowed_whole(self.network.board))
        return kernels if not kernels or bool((total <= limit).all()) else None


def segments(found: Assignment, number: int) -> list[tuple[int, int]]:
    """The runs of neighbouring tasks that a device computes: (first, end)."""
    on = [bool(one) for one in found.shares[:, number] > 0]
    starts = [at for at, here in enumerate(on) if here and not (at and on[at - 1])]
    ends = [at + 1 for at, here in enumerate(on) if here and not (at + 1 < len(on) and on[at + 1])]
    return list(zip(starts, ends, strict=True))


def no_hardware(name: str, reasons: Sequence[Problem]) -> DesignError:
    """None of the styles that a device may have fits it."""
    message = f"{name}: no hardware fits: {'; '.join(one.message for one in reasons)}"
    return DesignError(Problem(message=message, fix=reasons[-1].fix if reasons else "another board"))
