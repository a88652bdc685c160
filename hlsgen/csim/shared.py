"""C-simulation of a shared processor: the tensors that its tasks leave in DDR, and the iterations of its
processes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import Codes
from hlsgen.cost.program_time import iterations
from hlsgen.csim.streaming import REFUSALS, NetworkRun, read_trace
from hlsgen.csim.testbench import run_testbench
from hlsgen.csim.verification import Comparison, LayerComparison, NetworkVerification, compared_layer
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
        names = program.compared if keep else []
        names += [port.source for port in program.graph.outputs]
        tensors = {one: program.tensor(one, data, plan, frames) for one in dict.fromkeys(names)}
        _, made = read_trace(folder / "trace.txt")
        return SharedRun(
            tensors=tensors,
            seconds=seconds,
            program=program,
            rounds=rounds,
            made=dict(zip(PROCESS_NAMES[: len(made)], made, strict=True)),
        )


SUBJECT = "tasks compared"
BOUNDED_FRAMES = 1
"""Frames of the run with all processes of a task at once: every task runs once."""


def verified(
    program: Program,
    executable: Path,
    inputs: Mapping[str, Codes],
    golden: Mapping[str, Codes],
    scratch: Path,
    *,
    compile_seconds: float,
    processes: int,
) -> NetworkVerification:
    """The compiled testbench beside golden: the tensors of every task in a round, the outputs of all
    frames, and a round with all processes of a task at once, which is all frames if a round holds them.
    processes: that run at a time.

    Raises MismatchError: something differs, or it stands still. ToolError: it crashed.
    """
    frames = len(next(iter(inputs.values())))
    one_round = frames <= program.together
    at_once = frames if one_round else BOUNDED_FRAMES
    few = {name: codes[:at_once] for name, codes in inputs.items()}
    first = {name: codes[: program.together] for name, codes in inputs.items()}
    with ThreadPoolExecutor(max_workers=processes) as pool:
        kept = pool.submit(simulate, program, executable, first, scratch)
        all_at_once = pool.submit(simulate, program, executable, few, scratch, keep=False, bounded=True)
        many = None if one_round else pool.submit(simulate, program, executable, inputs, scratch, keep=False)
        bounded = all_at_once.result()
        runs = kept.result(), bounded if many is None else many.result()
    layers = _compared(program, *runs, golden)
    for run in runs:
        run.check_schedule(frames)
    for port in program.graph.outputs:
        if not np.array_equal(bounded.tensors[port.source], golden[port.source][:at_once]):
            raise MismatchError(
                f"error: {port.name} differs when all processes of a task run at once "
                "and tensors share places"
            )
    return NetworkVerification(
        subject=SUBJECT,
        comparison=Comparison(
            compared=sum(layer.comparison.compared for layer in layers), mismatches=0, max_abs_error=0.0
        ),
        frames=frames,
        compile_seconds=compile_seconds,
        run_seconds=sum(run.seconds for run in runs),
        layers=tuple(layers),
        iterations=runs[1].counted,
        bounded_frames=at_once,
    )


def _compared(
    program: Program, kept: SharedRun, whole: SharedRun, golden: Mapping[str, Codes]
) -> list[LayerComparison]:
    """The results of every task on the frames of a round, then the outputs of all frames, by layer."""
    types = {name: tensor.type for name, tensor in program.graph.tensors().items()}
    outputs = {port.source for port in program.graph.outputs}
    found = []
    for name, codes in kept.tensors.items():
        if name not in outputs:
            found.append(compared_layer(name, [codes], golden[name][: len(codes)], types[name]))
    found += [
        compared_layer(name, [whole.tensors[name]], golden[name], types[name]) for name in sorted(outputs)
    ]
    order = {name: at for at, name in enumerate(program.graph.tensors())}
    return sorted(found, key=lambda one: order[one.name])
