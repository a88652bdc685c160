"""C-simulation of a shared processor: the tensors that its tasks leave in DDR, and the iterations of its
processes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import Codes
from hlsgen.cost.program_time import iterations
from hlsgen.csim.streaming import REFUSALS, NetworkRun, read_trace
from hlsgen.csim.testbench import run_testbench
from hlsgen.emit.shared import PROCESS_NAMES, program_data
from hlsgen.program.program import Program


@dataclass(frozen=True, kw_only=True)
class SharedRun(NetworkRun):
    """A run of `rounds` rounds. tensors: of all frames where every round has its own place, else of the last
    one.
    """

    program: Program
    rounds: int
    made: dict[str, int]

    def check_schedule(self, frames: int) -> None:
        expected = self.rounds * sum(map(iterations, self.program.tilings))
        found = self.made["array"]
        if found != expected:
            raise MismatchError(
                f"error: the array makes {found} iterations in C-simulation, the model has {expected}"
            )

    @property
    def counted(self) -> dict[str, int]:
        return self.made


def padded(inputs: Mapping[str, Codes], together: int) -> dict[str, Codes]:
    """The frames filled up to whole rounds, by the last one again."""
    frames = len(next(iter(inputs.values())))
    missing = -frames % together
    return {name: np.concatenate([codes, *[codes[-1:]] * missing]) for name, codes in inputs.items()}


def simulate(
    program: Program,
    executable: Path,
    inputs: Mapping[str, Codes],
    scratch: Path,
    *,
    keep: bool = True,
    bounded: bool = False,
) -> SharedRun:
    """The compiled testbench on `inputs`, in a folder of its own below `scratch`.

    keep: every tensor has a place of its own, and all are read; else places are shared as on the board, and
    only the outputs are read. bounded: all processes of a task at once, FIFOs as deep as declared.
    Raises MismatchError: a deadlock, or a stream read while empty. ToolError: it crashed.
    """
    frames = len(next(iter(inputs.values())))
    whole = padded(inputs, program.together)
    rounds = len(next(iter(whole.values()))) // program.together
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder = Path(name)
        for file, array in program_data(program, whole, rounds, keep=keep).items():
            np.save(folder / file, array)
        command = [str(executable), str(folder)] + (["--bounded"] if bounded else [])
        seconds = run_testbench(command, REFUSALS).seconds
        data = np.load(folder / "memory_csim.npy", mmap_mode="r")
        plan = program.plan(rounds, keep=keep)
        names = [task.output.name for task in program.tasks] if keep else []
        names += [port.source for port in program.graph.outputs]
        tensors = {one: program.tensor(one, data, plan, frames) for one in dict.fromkeys(names)}
        _, made = read_trace(folder / "trace.txt")
        return SharedRun(
            tensors=tensors,
            seconds=seconds,
            program=program,
            rounds=rounds,
            made=dict(zip(PROCESS_NAMES, made, strict=True)),
        )
