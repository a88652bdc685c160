"""C-simulation of a convolution kernel: its result, iterations and the distances of its memories."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.base.short_repr import Brief
from hlsgen.cost.cycles import Iterations
from hlsgen.csim.testbench import no_result, run_testbench, save_frames
from hlsgen.layers.conv2d import Conv2d

BROKEN_RULE = "breaks a rule of its memories"
REFUSALS = {65: BROKEN_RULE, 70: BROKEN_RULE}
"""What is wrong by the testbench's exit status. 65: a bank has too few ports. 70: the protocol of a burst."""


@dataclass(frozen=True, kw_only=True)
class Run(Brief):
    """Output codes [frames, M, OH, OW], the kernel's own time (measured), and what it printed."""

    output: Codes
    seconds: float
    log: str

    @property
    def iterations(self) -> Iterations:
        """Iterations of each loop; only a build that records ports counts them."""
        found = {
            name: int(count)
            for name, count in re.findall(r"^iterations (\w+) (\d+)$", self.log, re.MULTILINE)
        }
        return Iterations(**found)

    @property
    def distances(self) -> dict[int, int]:
        """The fewest iterations of the compute loop from a write to a read of a memory, by its depth."""
        found = re.findall(r"^distance (\d+) (\d+)$", self.log, re.MULTILINE)
        return {int(depth): int(distance) for depth, distance in found}


def simulate(layer: Conv2d, executable: Path, codes: Codes, scratch: Path) -> Run:
    """The compiled testbench on `codes`, in a folder of its own below `scratch`.

    Raises MismatchError: a memory's ports or the DDR protocol are violated. ToolError: it crashed or did not
    end, or left no result.
    """
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        data = Path(name)
        save_frames(data / "input.npy", codes, layer.input_type)
        save_frames(data / "weights.npy", layer.weights, layer.weight_type)
        if layer.bias.size:
            save_frames(data / "biases.npy", layer.bias, layer.bias_type)
        done = run_testbench([str(executable), str(data)], REFUSALS)
        try:
            output = np.load(data / "output.npy")
        except (OSError, ValueError, EOFError):
            raise no_result() from None
    return Run(output=output, seconds=done.seconds, log=done.log)
