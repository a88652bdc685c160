"""Opens a build folder, and runs frames on what was opened."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.base.errors import DesignError, HostLayersWarning, Problem, warn_caller
from hlsgen.base.fixed import Codes, FixedType
from hlsgen.designfile.validation import printable
from hlsgen.hardware.host_interface import HostConstants, HostInterface, HostPacking, HostPort, read_interface
from hlsgen.model.clipping import input_clipping, values_of, warn_of_clipping
from hlsgen.model.ports import Arrays, inputs_of, outputs_of
from hlsgen.runtime.figures import Figures, figures_of

TIMEOUT_S = 60.0
CLIPPING_REMEDY = (
    "Build the design with types that hold them (precision=, or calibration frames such as these)"
)


class Backend(ABC):
    """What computes: codes of the inputs [N, C, H, W] by name -> codes of the tensors that outputs show."""

    fpga: bool
    measured_on: str

    @abstractmethod
    def chunk(self, frames: int) -> int:
        """Frames that go through together when a batch has so many."""

    @abstractmethod
    def run(self, inputs: Mapping[str, Codes], chunk: int) -> tuple[dict[str, Codes], list[float]]:
        """The outputs, and the seconds of each chunk. Raises ToolError: it fails, or a call does not end."""

    @abstractmethod
    def close(self) -> None:
        """Gives back what it holds."""


@dataclass(eq=False)
class Runtime:
    """A design that can be run. `figures`: of the last run; None before the first."""

    interface: HostInterface
    backend: Backend
    figures: Figures | None = None
    closed: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def measured_on(self) -> str:
        return self.backend.measured_on

    def close(self) -> None:
        """Gives back the card, or the folder of the C-simulation; it runs no more."""
        self.closed = True
        self.backend.close()

    def run(self, x: ArrayLike | Sequence[ArrayLike]) -> Arrays:
        """Frames in the framework's layout, batch first (or one frame), as numbers; results likewise.

        Several inputs are a list, several outputs too. Raises DesignError: x does not fit. ToolError. A
        ClippingWarning says which inputs are clipped, where that harms; of layers only golden knows.
        """
        interface = self.interface
        ports = [interface.port(port) for port in interface.inputs]
        inputs = inputs_of(interface.name, ports, x)
        warn_of_clipping(input_clipping(ports, values_of(ports, x)), CLIPPING_REMEDY)
        tensors = self._computed(inputs)
        return outputs_of([interface.port(port) for port in interface.outputs], tensors)

    def run_codes(self, inputs: Mapping[str, ArrayLike]) -> dict[str, Codes]:
        """Codes [N, C, H, W] by input -> codes by output, as the .npy files of the testbench hold them.

        Raises DesignError: inputs that are missing, of another shape, or no codes of their type. ToolError.
        """
        codes = {port.name: self._checked(port, inputs) for port in self.interface.inputs}
        if len({len(array) for array in codes.values()}) > 1:
            message = f"the inputs of {self.interface.name} have different numbers of frames"
            raise DesignError(Problem(message=message, fix="the same number in all"))
        tensors = self._computed(codes)
        return {port.name: tensors[port.tensor] for port in self.interface.outputs}

    def _checked(self, port: HostPort, inputs: Mapping[str, ArrayLike]) -> Codes:
        tensor = self.interface.tensor(port.tensor)
        wanted = f"[frames, {tensor.channels}, {tensor.height}, {tensor.width}] of {tensor.type}"
        if port.name not in inputs:
            raise DesignError(Problem(message=f"input {port.name} is missing", fix=f"an array {wanted}"))
        codes = np.asarray(inputs[port.name])
        if codes.ndim != 4 or codes.shape[1:] != tensor.shape or not len(codes):
            raise DesignError(Problem(message=f"input {port.name} has shape {codes.shape}", fix=wanted))
        number = tensor.number
        if not isinstance(number, FixedType):
            return number.stored(number.rounded(codes.astype(np.float32)))
        outside = codes.dtype.kind not in "iuO"
        if outside or (codes < number.min_code).any() or (codes > number.max_code).any():
            message = f"input {port.name} does not hold codes of {number}"
            fix = f"integers from {number.min_code} to {number.max_code}; numbers go to run()"
            raise DesignError(Problem(message=message, fix=fix))
        return codes

    def _computed(self, inputs: Mapping[str, Codes]) -> dict[str, Codes]:
        if self.closed:
            message = f"{self.interface.name} was closed, and runs no more"
            raise DesignError(Problem(message=message, fix="open its build folder again"))
        frames = len(next(iter(inputs.values())))
        chunk = self.backend.chunk(frames)
        start = time.perf_counter()
        tensors, spans = self.backend.run(inputs, chunk)
        self.figures = figures_of(
            spans,
            measured_on=self.backend.measured_on,
            fpga=self.backend.fpga,
            frames=frames,
            seconds=time.perf_counter() - start,
            chunk_frames=chunk,
        )
        return tensors


def open(
    folder: str | Path,
    *,
    xclbin: str | Path | None = None,
    device: int | str = 0,
    timeout_s: float = TIMEOUT_S,
    program: str | Path | None = None,
) -> Runtime:
    """The design in a build folder, ready to run; the model that it was made from is not needed.

    program: a folder that `hlsgen program` wrote for this build: that network runs on the build's processor.

    xclbin: what the card gets; None: the C-simulation is compiled and takes its place. device: the card's
    index or PCIe address. timeout_s: after which a call of a compute unit counts as stuck.
    Raises DesignError: no such build, its weights are not there, a program for another one. ToolError: no
    compiler; no pyxrt, no such card, an xclbin that is missing or of another build. A HostLayersWarning names
    layers at the end that no kernel computes: the results are then what these read.
    """
    folder = Path(folder)
    interface, data = read_interface(folder), folder / "tb"
    if program is not None:
        interface, data = _program_of(Path(program), interface), Path(program)
    if interface.left_to_host:
        shown, left = (", ".join(names) for names in (_names(interface.outputs), interface.left_to_host))
        message = f"{interface.name} gives {shown}: left to the host, without hardware, are {printable(left)}"
        warn_caller(message, HostLayersWarning)
    constants = {one.name: _constants(data / one.file, one, interface.packing) for one in interface.constants}
    if xclbin is None:
        from hlsgen.runtime.simulation import Simulation

        return Runtime(interface, Simulation(folder, interface, data))
    from hlsgen.runtime.card import Card

    return Runtime(interface, Card(interface, constants, Path(xclbin), device=device, timeout_s=timeout_s))


def _names(ports: Sequence[HostPort]) -> list[str]:
    return [port.name for port in ports]


def _program_of(folder: Path, built: HostInterface) -> HostInterface:
    """The interface of a program's folder. Raises DesignError: it is for the processor of another build."""
    interface = read_interface(folder)
    if (
        built.program is None
        or interface.program is None
        or interface.steps != tuple(step for step in built.steps if step.runs_tasks)
    ):
        message = f"{folder} is no program for the processor of {built.name}"
        raise DesignError(Problem(message=message, fix="hlsgen program NET --for the build that is opened"))
    return interface


def _constants(path: Path, wanted: HostConstants, packing: Sequence[HostPacking]) -> bytes:
    """The bytes of weights. Raises DesignError: the file is missing, of another size, or its weights do not
    suit the kernel.
    """
    fix = "build the design again, or write_weights of its project"
    try:
        codes = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DesignError(Problem(message=f"cannot read {path}: {error}", fix=fix)) from None
    if codes.dtype != np.dtype(wanted.container) or codes.nbytes != wanted.bytes:
        message = (
            f"{path} holds {codes.nbytes} bytes of {codes.dtype}, but the kernel takes {wanted.bytes} of "
            f"{np.dtype(wanted.container)}"
        )
        raise DesignError(Problem(message=message, fix=fix))
    if any(one.weights == wanted.name and not one.holds(codes) for one in packing):
        message = f"the weights in {path} are too large for this kernel's packing"
        raise DesignError(Problem(message=message, fix="build the design for them"))
    content: bytes = codes.tobytes()
    return content
