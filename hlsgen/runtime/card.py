"""A card through pyxrt, XRT's own Python module.

One thread does everything, because pyxrt waits with Python's lock held: while compute units work on some
buffers, it fills others and reads back what is done. Not met a card yet; the tests have a stand-in for pyxrt.
"""

from __future__ import annotations

import importlib
import math
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hlsgen.base.errors import ToolError
from hlsgen.base.fixed import Codes
from hlsgen.hardware.host_interface import HostInterface, HostStep
from hlsgen.runtime.ddr_frames import (
    MEMORY,
    Bytes,
    buffer_bytes,
    packed_regions,
    result_region,
    results_of,
)
from hlsgen.runtime.opening import Backend

BUFFERS = 3
"""Buffers of a lane: one is filled, one is worked on, one is read back."""
BEAT_BYTES = 64
"""The widest memory port's word: no transfer ends inside one."""
POLL_MS = 1
"""Milliseconds to wait for the oldest call when nothing else is to be done."""

Chunk = tuple[int, int]
"""The first frame, and the one after the last."""


class Card(Backend):
    """Lanes of compute units, the n-th of each kernel, and buffers for the chunks that go through them."""

    def __init__(
        self,
        interface: HostInterface,
        constants: Mapping[str, bytes],
        xclbin: Path,
        *,
        device: int | str,
        timeout_s: float,
    ) -> None:
        """Opens the card. Raises ToolError: no pyxrt, no such card, no xclbin, or that of another build."""
        self.interface, self.timeout_s = interface, timeout_s
        self.xrt = _pyxrt()
        if not xclbin.is_file():
            raise ToolError(f"error: {xclbin} is no file\nfix: make xclbin in the build folder makes it")
        try:
            container = self.xrt.xclbin(str(xclbin))
            _check_units(container, interface, xclbin)
            self.device = self.xrt.device(device)
            uuid = self.device.load_xclbin(container)
            self.lanes = [Lane(self, uuid, number, constants) for number in range(interface.lanes)]
        except RuntimeError as error:
            raise ToolError(
                f"error: XRT cannot put {xclbin} on device {device}: {error}\n"
                "fix: xbutil examine lists the cards and their state; the xclbin must be for this platform"
            ) from None
        emulation = os.environ.get("XCL_EMULATION_MODE")
        where = f"{emulation}, an emulation," if emulation else f"device {device}"
        self.measured_on, self.fpga = f"{where} with {xclbin.name}", not emulation
        self.slots: list[Slot] = []
        self.slot_frames = 0

    def close(self) -> None:
        """XRT gives buffers and compute units back when their last handle goes."""
        self.slots, self.lanes = [], []

    def chunk(self, frames: int) -> int:
        return self.interface.chunk(frames, self.interface.lanes * BUFFERS)

    def run(self, inputs: Mapping[str, Codes], chunk: int) -> tuple[dict[str, Codes], list[float]]:
        try:
            return self._run(inputs, chunk)
        except RuntimeError as error:
            raise ToolError(
                f"error: XRT fails while {self.interface.name} runs: {error}\n"
                "fix: xbutil examine shows the card's state, dmesg the driver's messages"
            ) from None

    def _run(self, inputs: Mapping[str, Codes], chunk: int) -> tuple[dict[str, Codes], list[float]]:
        self._allocate(chunk)
        frames = len(next(iter(inputs.values())))
        chunks = iter([(first, min(first + chunk, frames)) for first in range(0, frames, chunk)])
        results: dict[int, dict[str, Codes]] = {}
        spans: list[float] = []
        # while calls are under way the buffers are nobody else's, not even after an error
        free, busy = self.slots, list[Slot]()
        self.slots = []
        while True:
            moved = self._fill(free, busy, chunks, inputs)
            for slot in list(busy):
                if not slot.advanced():
                    continue
                moved = True
                if slot.done:
                    first, tensors, seconds = slot.results()
                    results[first] = tensors
                    spans.append(seconds)
                    busy.remove(slot)
                    free.append(slot)
            if not busy and not moved:
                break
            if busy and not moved:
                busy[0].wait(POLL_MS)
        self.slots = free
        tensors = {
            port.tensor: np.concatenate([results[first][port.tensor] for first in sorted(results)])
            for port in self.interface.outputs
        }
        return tensors, spans

    def _fill(
        self,
        free: list[Slot],
        busy: list[Slot],
        chunks: Iterator[Chunk],
        inputs: Mapping[str, Codes],
    ) -> bool:
        """Gives the next chunk to a free slot; whether there were both."""
        chunk = next(chunks, None) if free else None
        if chunk is None:
            return False
        slot = free.pop(0)
        slot.begin(chunk, inputs)
        busy.append(slot)
        return True

    def _allocate(self, chunk: int) -> None:
        """Buffers for chunks of so many frames, if there are none yet. The lanes alternate."""
        if self.slots and chunk <= self.slot_frames:
            return
        self.slots = []
        self.slots = [Slot(lane, chunk) for _ in range(BUFFERS) for lane in self.lanes]
        self.slot_frames = chunk
        for slot in self.slots[: len(self.lanes)]:
            slot.load_weights()


class Lane:
    """The n-th compute unit of each kernel, and the weights in their memory."""

    def __init__(self, card: Card, uuid: Any, number: int, constants: Mapping[str, bytes]) -> None:
        self.card = card
        steps = card.interface.steps
        self.units = [step.units[number] for step in steps]
        self.kernels = [
            card.xrt.kernel(card.device, uuid, f"{step.kernel_of(number)}:{{{unit}}}", card.xrt.kernel.shared)
            for step, unit in zip(steps, self.units, strict=True)
        ]
        self.groups: dict[str, int] = {}
        for step, kernel, unit in zip(steps, self.kernels, self.units, strict=True):
            self._place(step, kernel, unit)
        self.constants = {name: self._constant(name, content) for name, content in constants.items()}

    def _place(self, step: HostStep, kernel: Any, unit: str) -> None:
        """The memory groups of what the unit reaches. Raises ToolError: a unit before has another one."""
        for index, argument in enumerate(step.arguments):
            if argument.source not in ("tensor", "constants", "memory"):
                continue
            if argument.source == "memory" and not step.runs_tasks:
                continue  # it reaches the memory of every unit of the processor
            group = kernel.group_id(index)
            if self.groups.setdefault(argument.name, group) != group:
                raise ToolError(
                    f"error: {unit} reaches {argument.name} in memory group {group}, the unit before it in "
                    f"group {self.groups[argument.name]}\nfix: the same bank for both in vitis/link.cfg (sp=)"
                )

    def _constant(self, name: str, content: bytes) -> Any:
        buffer = Buffer(self, name, len(content))
        buffer.view[: len(content)] = np.frombuffer(content, np.uint8)
        buffer.send(len(content))
        return buffer.bo


class Buffer:
    """Memory on the card, and `view`, the host's bytes of it."""

    def __init__(self, lane: Lane, name: str, size: int) -> None:
        xrt = lane.card.xrt
        self.directions = xrt.xclBOSyncDirection
        self.bo = xrt.bo(lane.card.device, _whole_beats(size), xrt.bo.normal, lane.groups[name])
        self.view: Bytes = np.frombuffer(self.bo.map(), np.uint8)
        self.view[:] = 0

    def send(self, size: int, first: int = 0) -> None:
        self._sync(self.directions.XCL_BO_SYNC_BO_TO_DEVICE, first, size)

    def fetch(self, size: int, first: int = 0) -> None:
        self._sync(self.directions.XCL_BO_SYNC_BO_FROM_DEVICE, first, size)

    def _sync(self, way: Any, first: int, size: int) -> None:
        begin = first // BEAT_BYTES * BEAT_BYTES
        self.bo.sync(way, _whole_beats(first + size) - begin, begin)


class Slot:
    """Buffers for one chunk, and the calls that work on it one after the other."""

    def __init__(self, lane: Lane, frames: int) -> None:
        self.lane, self.interface, self.xrt = lane, lane.card.interface, lane.card.xrt
        sizes = buffer_bytes(self.interface, frames)
        self.buffers = {name: Buffer(lane, name, size) for name, size in sizes.items()}
        if self.interface.program is not None:
            # zero there too: what fills up words is read
            self.buffers[MEMORY].send(sizes[MEMORY])
        self.runs = [self._run(step, kernel) for step, kernel in zip(self._steps, lane.kernels, strict=True)]
        self.chunk: Chunk = (0, 0)
        self.step = 0
        self.begun = self.limit = 0.0

    @property
    def _steps(self) -> tuple[HostStep, ...]:
        return self.interface.steps

    @property
    def done(self) -> bool:
        return self.step == len(self.runs)

    def _run(self, step: HostStep, kernel: Any) -> Any:
        run = self.xrt.run(kernel)
        for index, argument in enumerate(step.arguments):
            if argument.source in ("tensor", "memory"):
                run.set_arg(index, self.buffers[argument.name].bo)
            elif argument.source == "constants":
                run.set_arg(index, self.lane.constants[argument.name])
            elif argument.source == "reload":
                run.set_arg(index, 0)
            elif argument.source == "tasks" and self.interface.program is not None:
                run.set_arg(index, self.interface.program.tasks)
        return run

    def begin(self, chunk: Chunk, inputs: Mapping[str, Codes]) -> None:
        """Packs and sends the chunk, and starts the first call."""
        self.begun = time.perf_counter()
        self.chunk, self.step = chunk, 0
        for port in self.interface.inputs:
            for region in packed_regions(self.interface, port, inputs[port.name][slice(*chunk)]):
                buffer, size = self.buffers[region.buffer], len(region.content)
                buffer.view[region.first : region.first + size] = region.content
                buffer.send(size, region.first)
        self._start(chunk[1] - chunk[0])

    def advanced(self) -> bool:
        """Whether the call under way has ended; then the next one is started, if there is one.

        Raises ToolError: it failed, or is stuck.
        """
        if not self._ended():
            return False
        self.step += 1
        if not self.done:
            self._start(self.chunk[1] - self.chunk[0])
        return True

    def _ended(self) -> bool:
        states, state = self.xrt.ert_cmd_state, self.runs[self.step].state()
        if state == states.ERT_CMD_STATE_COMPLETED:
            return True
        failed = (
            states.ERT_CMD_STATE_ERROR,
            states.ERT_CMD_STATE_ABORT,
            states.ERT_CMD_STATE_TIMEOUT,
            states.ERT_CMD_STATE_NORESPONSE,
        )
        unit = self.lane.units[self.step]
        if state in failed:
            raise ToolError(
                f"error: a call of compute unit {unit} ended with {state}\nfix: xbutil examine, xbutil reset"
            )
        if time.perf_counter() > self.limit:
            raise ToolError(
                f"error: compute unit {unit} has not finished a call within {self.lane.card.timeout_s:g} s\n"
                "fix: timeout_s= sets another limit, xbutil reset frees the card"
            )
        return False

    def wait(self, milliseconds: int) -> None:
        """Waits for the call under way, at most so long."""
        self.runs[self.step].wait(milliseconds)

    def results(self) -> tuple[int, dict[str, Codes], float]:
        """The first frame, the outputs' tensors of the chunk, and the seconds since it was begun."""
        first, end = self.chunk
        tensors = {}
        for port in self.interface.outputs:
            name, begin, size = result_region(self.interface, port, end - first)
            buffer = self.buffers[name]
            buffer.fetch(size, begin)
            content = buffer.view[begin : begin + size].copy()
            tensors[port.tensor] = results_of(self.interface, port, content)
        return first, tensors, time.perf_counter() - self.begun

    def load_weights(self) -> None:
        """Has the kernels take the weights that they keep. The one frame's results mean nothing."""
        for number, step in enumerate(self._steps):
            self.step = number
            for index, argument in enumerate(step.arguments):
                if argument.source != "reload":
                    continue
                run = self.runs[self.step]
                run.set_arg(index, 1)
                self._start(1)
                while not self._ended():
                    self.wait(POLL_MS)
                run.set_arg(index, 0)

    def _start(self, frames: int) -> None:
        for index, argument in enumerate(self._steps[self.step].arguments):
            if argument.source == "frames":
                self.runs[self.step].set_arg(index, frames)
            elif argument.source == "rounds" and self.interface.program is not None:
                self.runs[self.step].set_arg(index, self.interface.program.rounds_of(frames))
        self.limit = time.perf_counter() + self.lane.card.timeout_s
        self.runs[self.step].start()


def _pyxrt() -> Any:
    try:
        return importlib.import_module("pyxrt")
    except ImportError as error:
        raise ToolError(
            f"error: XRT's Python module cannot be imported: {error}\n"
            "fix: source /opt/xilinx/xrt/setup.sh, and use the Python that XRT was built for; "
            "or leave xclbin out, for C-simulation"
        ) from None


def _check_units(container: Any, interface: HostInterface, path: Path) -> None:
    """Checks that the compute units are there. Raises ToolError: one is not in the xclbin."""
    there = {ip.get_name() for ip in container.get_ips()}
    for step in interface.steps:
        wanted = [f"{step.kernel_of(number)}:{unit}" for number, unit in enumerate(step.units)]
        missing = [name for name in wanted if name not in there]
        if missing:
            raise ToolError(
                f"error: {path} has no compute unit {', '.join(missing)}; it has "
                f"{', '.join(sorted(there)) or 'none'}\n"
                "fix: an xclbin that was linked with this build's vitis/link.cfg"
            )


def _whole_beats(size: int) -> int:
    return math.ceil(size / BEAT_BYTES) * BEAT_BYTES
