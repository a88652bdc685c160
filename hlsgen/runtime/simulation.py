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
from hlsgen.hardware.host_interface import HostInterface, HostPort
from hlsgen.runtime.ddr_frames import of_container
from hlsgen.runtime.opening import Backend
from hlsgen.styles.network_style import workers


class Simulation(Backend):
    """A process for each part of a batch, as many at once as there are cores."""

    fpga = False
    measured_on = "C-simulation on this machine"

    def __init__(self, folder: Path, interface: HostInterface) -> None:
        """Compiles the testbench, or that of each kernel which does the same.

        Raises ToolError: no compiler, or it fails.
        """
        self.folder, self.interface = folder, interface
        with scratch_errors():
            # removed also for who never closes it
            self.scratch, self._remove = scratch_of(self)
        self.executables = [self.scratch / f"testbench_{name}" for name in _testbenches(interface)]
        try:
            for name, executable in zip(_testbenches(interface), self.executables, strict=True):
                compile_testbench(
                    folder,
                    name,
                    executable,
                    streaming=interface.streaming,
                    kernels=[step.kernel for step in interface.steps if step.kernel != interface.name],
                )
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
            for port in self.interface.inputs:
                number = self.interface.tensor(port.tensor).number
                save_frames(folder / f"{port.name}.npy", inputs[port.name], number)
            for one in self.interface.constants:
                shutil.copy(self.folder / "tb" / one.file, folder / one.file)
            run_testbench([str(executable), str(folder)], REFUSALS)
            tensors = {port.tensor: self._result(folder, port) for port in self.interface.outputs}
        return tensors, time.perf_counter() - start

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
    return list(dict.fromkeys(interface.steps[0].kernels)) or [interface.name]
