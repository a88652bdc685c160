"""C-simulation: run the compiled testbench on frames, and say how its result stands to golden."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hlsgen.cost.cycles import Iterations
from hlsgen.errors import MismatchError, ToolError
from hlsgen.fixed import NumberType
from hlsgen.layers.base import Codes
from hlsgen.layers.conv2d import Conv2d

PORT_CONFLICT_STATUS = 65
PROTOCOL_STATUS = 70
RUN_SECONDS = 3600


@dataclass(frozen=True, kw_only=True)
class Run:
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
        """By a memory's depth: the fewest iterations of the compute loop from a write to a read of it."""
        found = re.findall(r"^distance (\d+) (\d+)$", self.log, re.MULTILINE)
        return {int(depth): int(distance) for depth, distance in found}


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How two results differ. `first` is (frame, channel, row, column) of the first difference."""

    compared: int
    mismatches: int
    max_abs_error: float
    first: tuple[int, ...] | None = None

    @property
    def verdict(self) -> str:
        return "equal" if self.mismatches == 0 else "differs"


def save_frames(path: Path, codes: Codes, type_: NumberType) -> None:
    """Codes as the .npy file that the testbench reads."""
    np.save(path, np.ascontiguousarray(codes.astype(type_.dtype)))


def simulate(layer: Conv2d, executable: Path, codes: Codes, scratch: Path) -> Run:
    """The compiled testbench on `codes`, in a folder of its own below `scratch`."""
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        data = Path(name)
        save_frames(data / "input.npy", codes, layer.input_type)
        save_frames(data / "weights.npy", layer.weights, layer.weight_type)
        if layer.bias.size:
            save_frames(data / "biases.npy", layer.bias, layer.bias_type)
        return run_testbench(executable, data)


def run_testbench(executable: Path, data: Path) -> Run:
    """Runs the testbench on the .npy files in `data`.

    Raises MismatchError: a memory's ports or the DDR protocol are violated. ToolError: it crashed or did not
    end, or left no result.
    """
    (data / "golden.npy").unlink(missing_ok=True)  # the comparison is made here, on codes
    try:
        done = subprocess.run(
            [str(executable), str(data)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=RUN_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ToolError(
            f"error: the C-simulation did not finish in {RUN_SECONDS} s\nfix: fewer --frames"
        ) from None
    except OSError as error:
        raise ToolError(
            f"error: the compiled C-simulation cannot be started: {error.strerror}\n"
            "fix: check the compiler (CXX), and that programs in the temporary folder (TMPDIR) may run"
        ) from None
    if done.returncode in (PORT_CONFLICT_STATUS, PROTOCOL_STATUS):
        raise MismatchError(
            f"error: the emitted kernel breaks a rule of its memories:\n{done.stderr.strip()[:2000]}"
        )
    if done.returncode:
        raise ToolError(
            f"error: the C-simulation ended with status {done.returncode}:\n{done.stderr.strip()[:2000]}\n"
            "fix: report this design as a bug of hlsgen"
        )
    seconds = re.search(r"^kernel seconds (\S+)", done.stdout, re.MULTILINE)
    try:
        output = np.load(data / "output.npy")
    except (OSError, ValueError, EOFError):
        output = None
    if seconds is None or output is None:
        raise ToolError(
            "error: the C-simulation ended with status 0 and left no result\n"
            "fix: check that the compiler (CXX) is one for this machine"
        )
    return Run(output=output, seconds=float(seconds[1]), log=done.stderr)


def compare(got: Codes, want: Codes, type_: NumberType) -> Comparison:
    """Bit for bit: codes of fixed point, the bits of float32."""
    if got.dtype == np.float32:
        different = got.view(np.uint32) != want.astype(np.float32).view(np.uint32)
    else:
        different = got != want.astype(got.dtype)
    mismatches = int(np.count_nonzero(different))
    if not mismatches:
        return Comparison(compared=got.size, mismatches=0, max_abs_error=0.0)
    error = np.abs(type_.decode(got) - type_.decode(want.astype(got.dtype)))
    first = tuple(int(i) for i in np.argwhere(different)[0])
    return Comparison(compared=got.size, mismatches=mismatches, max_abs_error=float(error.max()), first=first)
