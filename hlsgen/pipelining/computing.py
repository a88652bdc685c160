"""What computes a part: a CPU's session, or a build folder's kernel on a card or in C-simulation."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.base.type_text import parse_type
from hlsgen.cpu.conversion import into_codes
from hlsgen.pipelining.part import Compute, Input, Values
from hlsgen.runtime.opening import Runtime
from hlsgen.runtime.opening import open as open_build


def on_cpu(model: bytes, reads: Sequence[str], gives: Sequence[str], threads: int) -> Compute:
    """An ONNX model in a session of its own. Raises as `OnnxSession`."""
    from hlsgen.cpu.running import OnnxSession

    return OnnxSession(model, reads, gives, threads)


class OnFpga:
    """A build folder at work: values in, values out, in the types of its kernel's tensors.

    What comes from a CPU is rounded and limited as the type of the tensor does; what comes from another FPGA
    part has that type. A C-simulation is a process for each item: its time is never that of an FPGA.
    """

    _opening = threading.Lock()

    def __init__(
        self, folder: Path, inputs: Sequence[Input], gives: Sequence[str], xclbin: Path | None = None
    ) -> None:
        """gives: the tensor that each output of the build shows. Raises as `hlsgen.runtime.open`."""
        self.inputs = tuple(inputs)
        with self._opening:
            self.runtime: Runtime = open_build(folder, xclbin=xclbin)
        interface = self.runtime.interface
        assert len(interface.inputs) == len(inputs) and len(interface.outputs) == len(gives)
        self.names = [port.name for port in interface.inputs]
        self.outputs = [
            (port.name, tensor, interface.tensor(port.tensor).number)
            for port, tensor in zip(interface.outputs, gives, strict=True)
        ]

    def __call__(self, values: Mapping[str, Values]) -> dict[str, Values]:
        codes = {
            name: as_codes(values[port.name], port.type)
            for name, port in zip(self.names, self.inputs, strict=True)
        }
        found = self.runtime.run_codes(codes)
        return {tensor: np.asarray(number.decode(found[name])) for name, tensor, number in self.outputs}

    def close(self) -> None:
        self.runtime.close()


def on_fpga_text(board: str, xclbin: Path | None) -> str:
    """Where an FPGA part is computed, in words."""
    return f"{board}, {'C-simulation' if xclbin is None else xclbin.name}"


def as_codes(values: Values, type_text: str) -> Codes:
    """Codes of values, those beyond the type's range at its ends."""
    return into_codes(values, parse_type(type_text))
