"""The compiled C-simulation of a build folder in the place of a card."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from hlsgen.base.errors import ToolError
from hlsgen.base.fixed import Codes, FloatType
from hlsgen.base.scratch import scratch_errors, scratch_of
from hlsgen.csim.compiler import compile_testbench
from hlsgen.csim.streaming import REFUSALS, signed_codes
from hlsgen.csim.testbench import no_result, run_testbench, save_frames
from hlsgen.emit.mixed import FRONT
from hlsgen.hardware.host_interface import HostInterface, HostPort, HostStep
from hlsgen.runtime.ddr_frames import Bytes, of_container, packed_regions, result_region, results_of
from hlsgen.runtime.opening import Backend
from hlsgen.styles.network_style import workers


class Simulation(Backend):
    """A process for each part of a batch, as many at once as there are cores."""

    fpga = False
    measured_on = "C-simulation on this machine"

    def __init__(self, folder: Path, interface: HostInterface, data: Path) -> None:
        """Compiles the testbench of `folder`, or that of each kernel which does the same. data: of constants.

        Raises ToolError: no compiler, or it fails.
        """
        self.data, self.interface = data, interface
        with scratch_errors():
            # removed also for who never closes it
            self.scratch, self._remove = scratch_of(self)
        self.feeding = _feeding(interface)
        self.fed_by = self.scratch / "testbench_of_feeding"
        self.executables = [self.scratch / f"testbench_{name}" for name in _testbenches(interface)]
        try:
            for name, executable in zip(_testbenches(interface), self.executables, strict=True):
                compile_testbench(
                    folder,
                    name,
                    executable,
                    streaming=interface.streaming,
                    kernels=[] if interface.program else _other_kernels(interface),
                )
            if self.feeding is not None:
                compile_testbench(folder / FRONT, self.feeding.kernel, self.fed_by, streaming=True)
        except ToolError:
            self.close()
            raise

    def close(self) -> None:
        self._remove()

    def chunk(self, frames: int) -> int:
        return min(-(-frames // workers()), self.interface.chunk_frames)

    def run(self, inputs: Mapping[str, Codes], chunk: int) -> tuple[dict[str, Codes], list[float]]:
        frames = len(next(iter(inputs.values())))
        parts = [
            {name: codes[first : first + chunk] for name, codes in inputs.items()}
            for first in range(0, frames, chunk)
        ]
        with scratch_errors(), ThreadPoolExecutor(max_workers=workers()) as pool:
            done = list(pool.map(self._run_part, itertools.cycle(self.executables), parts))
        tensors = {
            port.tensor: np.concatenate([part[port.tensor] for part, _ in done])
            for port in self.interface.outputs
        }
        return tensors, [seconds for _, seconds in done]

    def _run_part(self, executable: Path, inputs: Mapping[str, Codes]) -> tuple[dict[str, Codes], float]:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory(dir=self.scratch) as name:
            folder = Path(name)
            for one in self.interface.constants:
                shutil.copy(self.data / one.file, folder / one.file)
            run = self._run_frames if self.interface.program is None else self._run_rounds
            tensors = run(executable, folder, inputs)
        return tensors, time.perf_counter() - start

    def _run_frames(self, executable: Path, folder: Path, inputs: Mapping[str, Codes]) -> dict[str, Codes]:
        for port in self.interface.inputs:
            number = self.interface.tensor(port.tensor).number
            save_frames(folder / f"{port.name}.npy", inputs[port.name], number)
        run_testbench([str(executable), str(folder)], REFUSALS)
        return {port.tensor: self._result(folder, port) for port in self.interface.outputs}

    def _run_rounds(self, executable: Path, folder: Path, inputs: Mapping[str, Codes]) -> dict[str, Codes]:
        """On a shared processor: frames go into its memory, and results come from there."""
        interface, program = self.interface, self.interface.program
        assert program is not None
        frames = len(next(iter(inputs.values())))
        memory = np.zeros(program.memory_bytes, np.uint8)
        if self.feeding is not None:
            left = self._left_by_feeding(self.feeding, folder, inputs)
            memory[: len(left)] = left
        for port in interface.inputs if self.feeding is None else ():
            for region in packed_regions(interface, port, inputs[port.name]):
                memory[region.first : region.first + len(region.content)] = region.content
        np.save(folder / "memory.npy", memory)
        np.save(folder / "rounds.npy", np.array([program.rounds_of(frames)], np.int32))
        run_testbench([str(executable), str(folder)], REFUSALS)
        try:
            found = np.load(folder / "memory_csim.npy", allow_pickle=False)
        except (OSError, ValueError, EOFError):
            raise no_result() from None
        tensors = {}
        for port in interface.outputs:
            _, first, size = result_region(interface, port, frames)
            tensors[port.tensor] = results_of(interface, port, found[first : first + size])
        return tensors

    def _left_by_feeding(self, step: HostStep, folder: Path, inputs: Mapping[str, Codes]) -> Bytes:
        """What a streaming kernel leaves at the beginning of the processor's memory."""
        own = folder / FRONT
        own.mkdir()
        for one in self.interface.constants:
            if one.file.startswith(f"{FRONT}."):
                shutil.copy(self.data / one.file, own / one.file.removeprefix(f"{FRONT}."))
        for port in self.interface.inputs:
            number = self.interface.tensor(port.tensor).number
            save_frames(own / f"{port.name}.npy", inputs[port.name], number)
        run_testbench([str(self.fed_by), str(own)], REFUSALS)
        (name,) = (one.port for one in step.arguments if one.source == "memory")
        try:
            codes = np.load(own / f"{name}_csim.npy", allow_pickle=False)
        except (OSError, ValueError, EOFError):
            raise no_result() from None
        program = self.interface.program
        assert program is not None
        words = np.ascontiguousarray(codes.transpose(0, 2, 3, 1))
        return words.astype(f"<u{program.places[0].element_bytes}").view(np.uint8).reshape(-1)

    def _result(self, folder: Path, port: HostPort) -> Codes:
        tensor = self.interface.tensor(port.tensor)
        try:
            found = np.load(folder / port.csim, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            raise no_result() from None
        if self.interface.streaming and isinstance(tensor.number, FloatType):
            # a streaming testbench writes the bits of elements as whole numbers
            found = signed_codes(found, tensor.number)
        return of_container(found.astype(tensor.number.dtype), tensor)


def _testbenches(interface: HostInterface) -> list[str]:
    """The design's, or that of each kernel which does the same."""
    # a program's name is that of a network, which may be another one than the processor was built with
    step = next((one for one in interface.steps if one.runs_tasks), interface.steps[0])
    alone = step.kernel if interface.program else interface.name
    return list(dict.fromkeys(step.kernels)) or [alone]


def _feeding(interface: HostInterface) -> HostStep | None:
    """The kernel that writes into a shared processor's memory what this reads; None: the host does."""
    steps = [step for step in interface.steps if not step.runs_tasks] if interface.program else []
    return steps[0] if steps else None


def _other_kernels(interface: HostInterface) -> list[str]:
    """Those besides the testbench's own."""
    return [step.kernel for step in interface.steps if step.kernel != interface.name]
