"""Shared processors in the tests: emitted, compiled once, and run with the programs of many graphs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType
from hlsgen.base.output import write_files
from hlsgen.cost.program_time import iterations, task_time
from hlsgen.csim.compiler import Headers, compile_testbench
from hlsgen.csim.streaming import REFUSALS, read_trace
from hlsgen.csim.testbench import run_testbench
from hlsgen.emit.shared import PROCESS_NAMES, processor_files, program_data
from hlsgen.hardware.processor import Processor
from hlsgen.layers.base import Layer
from hlsgen.model.ir import Graph, counted_golden
from hlsgen.program.program import Program, program
from hlsgen.program.tiling import Tiling
from tests.support.float_graphs import float_inputs

KERNEL = "shared"
PACKED = Processor(
    rows=3,
    lanes=8,
    activation_bits=8,
    weight_bits=8,
    unsigned=True,
    pixel_depth=80,
    weight_depth=40,
    weight_beat_bits=128,
    tables=True,
)
"""Two products a DSP, signed and unsigned activations; a small memory, so that images are cut into bands."""
WIDE = Processor(
    rows=5,
    lanes=4,
    activation_bits=16,
    weight_bits=16,
    unsigned=True,
    pixel_depth=80,
    weight_depth=80,
    weight_beat_bits=64,
    pool_columns=6,
    tables=True,
)
SIGNED = Processor(
    rows=7,
    lanes=4,
    activation_bits=8,
    weight_bits=8,
    unsigned=False,
    pixel_depth=64,
    weight_depth=64,
    weight_beat_bits=128,
    fabric_lanes=2,
    pool_columns=9,
)
"""Packed; a chain of seven products, and not a beat more than a word of weights. Half of the products without
DSPs, and pools on the way to DDR.
"""
SINGLE_ROW = Processor(
    rows=1,
    lanes=16,
    activation_bits=8,
    weight_bits=8,
    unsigned=True,
    pixel_depth=150,
    weight_depth=32,
    weight_beat_bits=512,
    scales=True,
)
"""Factors of each channel, products of tensors; one row at once."""
FLOATING = Processor(
    rows=3,
    lanes=4,
    activation_bits=32,
    weight_bits=32,
    unsigned=False,
    pixel_depth=80,
    weight_depth=40,
    weight_beat_bits=128,
    floating=True,
)
"""Floats; a small memory, so that images are cut into bands and weights into parts."""
FLOATING_POOLED = Processor(
    rows=5,
    lanes=8,
    activation_bits=32,
    weight_bits=32,
    unsigned=False,
    pixel_depth=100,
    weight_depth=40,
    weight_beat_bits=256,
    fabric_lanes=2,
    pool_columns=7,
    floating=True,
)
"""Some additions in logic cells, pools on the way to DDR."""
FLOATS = {"floating": FLOATING, "floating_pooled": FLOATING_POOLED}
WINDOWED = Processor(
    rows=3,
    lanes=8,
    activation_bits=8,
    weight_bits=8,
    unsigned=True,
    pixel_depth=220,
    weight_depth=40,
    weight_beat_bits=128,
    tables=True,
    window_columns=14,
    window_results=14,
    window_products=True,
    window_largest=True,
)
"""Windows over results on their way to DDR, of both kinds."""
DEPTHWISE = Processor(
    rows=5,
    lanes=4,
    activation_bits=16,
    weight_bits=16,
    unsigned=True,
    pixel_depth=160,
    weight_depth=80,
    weight_beat_bits=64,
    window_columns=16,
    window_results=12,
    window_products=True,
)
LARGEST = Processor(
    rows=7,
    lanes=4,
    activation_bits=8,
    weight_bits=8,
    unsigned=False,
    pixel_depth=80,
    weight_depth=64,
    weight_beat_bits=128,
    window_columns=12,
    window_results=9,
    window_largest=True,
)
WINDOWS = {"windowed": WINDOWED, "depthwise": DEPTHWISE, "largest": LARGEST}
"""Processors that move windows over results."""
PROCESSORS = {"packed": PACKED, "wide": WIDE, "signed": SIGNED, "single_row": SINGLE_ROW}


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a program left: bytes of DDR, and the iterations of each process by name."""

    memory: NDArray[np.uint8]
    counted: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class BuiltProcessor:
    """A compiled processor."""

    processor: Processor
    executable: Path

    def run(self, data: Mapping[str, Codes], *options: str) -> Ran:
        """The testbench on its arrays by file name. Raises as `run_testbench`."""
        with tempfile.TemporaryDirectory(dir=self.executable.parent) as name:
            folder = Path(name)
            for file, array in data.items():
                np.save(folder / file, array)
            run_testbench([str(self.executable), str(folder), *options], REFUSALS)
            _, counts = read_trace(folder / "trace.txt")
            # a process that nobody gives work counts nothing, and those behind the last one are not shown
            counts = [*counts, *[0] * (len(PROCESS_NAMES) - len(counts))]
            counted = dict(zip(PROCESS_NAMES, counts, strict=True))
            return Ran(memory=np.load(folder / "memory_csim.npy"), counted=counted)


Building = Callable[..., BuiltProcessor]
Edit = Callable[[dict[str, str]], dict[str, str]]


def build_processor(
    processor: Processor,
    folder: Path,
    *,
    headers: Headers = Headers.FAST,
    optimise: str = "-O1",
    edit: Edit = dict,
) -> BuiltProcessor:
    """Emits and compiles, with memories that record their ports; `edit` changes files, to make mutants."""
    write_files(folder, edit(processor_files(processor, name=KERNEL, source="test")))
    executable = folder / "x"
    compile_testbench(folder, KERNEL, executable, headers=headers, streaming=True, optimise=optimise)
    return BuiltProcessor(processor=processor, executable=executable)


def random_inputs(graph: Graph, frames: int, seed: int) -> dict[str, Codes]:
    """Codes of every size; one in eight is an extreme, and the last frame of several is all of them. Floats
    of every size.
    """
    if graph.input.is_float:
        return float_inputs(graph, frames, seed)
    rng = np.random.default_rng(seed)
    found = {}
    for port in graph.inputs:
        type_ = port.tensor.type
        assert isinstance(type_, FixedType)
        codes = rng.integers(type_.min_code, type_.max_code, (frames, *port.tensor.shape), endpoint=True)
        extreme = rng.choice([type_.min_code, type_.max_code], codes.shape)
        codes = np.where(rng.random(codes.shape) < 1 / 8, extreme, codes)
        if frames > 1:
            codes[-1] = extreme[-1]
        found[port.name] = codes
    return found


def assert_same_bits(got: Codes, want: Codes, name: str) -> None:
    """Equal codes; of floats the sign of a zero counts too."""
    np.testing.assert_array_equal(got, want, err_msg=name)
    if got.dtype == np.float32:
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want), err_msg=f"signs of {name}")


def golden_of(made: Program, inputs: Mapping[str, Codes]) -> Mapping[str, Codes]:
    """Golden of a program's graph as its processor adds."""
    return counted_golden(made.graph, inputs, compute=made.golden_of).tensors


def assert_program_exact(
    built: BuiltProcessor,
    graph: Graph,
    *,
    together: int = 1,
    rounds: int = 1,
    inputs: Mapping[str, Codes] | None = None,
    seed: int = 0,
    options: tuple[str, ...] = (),
) -> tuple[Program, dict[str, Codes]]:
    """Every task's tensor in C-simulation equals golden: of all frames, or of the last round's where only one
    round's are kept. Gives the program, and those tensors by name.
    """
    frames = together * rounds
    made = program(graph, built.processor, together)
    given = random_inputs(graph, frames, seed) if inputs is None else inputs
    golden = golden_of(made, given)
    ran = built.run(program_data(made, given, rounds, keep=True), *options)
    plan = made.plan(rounds, keep=True)
    found = {}
    for name in dict.fromkeys(made.compared):
        found[name] = made.tensor(name, ran.memory, plan, frames)
        want = golden[name] if name in made.outer else golden[name][-together:]
        assert_same_bits(found[name], want, name)
    assert_counts(made, rounds, ran.counted)
    return made, found


def assert_counts(made: Program, rounds: int, counted: Mapping[str, int]) -> None:
    """The array's iterations, and the words that the other processes move, are the cost model's."""
    assert counted["array"] == rounds * sum(map(iterations, made.tilings))
    times = [task_time(tiling) for tiling in made.tilings]
    word, beat = made.processor.word_bits // 8, made.processor.weight_beat_bits // 8
    read = (counted["load"] + counted["load_residual"]) * word + counted["load_weights"] * beat
    assert read == rounds * sum(time.bytes_read for time in times)
    assert counted["store"] * word == rounds * sum(time.bytes_written for time in times)
    if not any(tiling.task.pooled or tiling.task.behind for tiling in made.tilings):
        assert counted["store"] == counted["finish"]
    if made.processor.window_columns:
        passed = sum(map(passed_words, made.tilings))
        assert counted["pool"] == rounds * passed


def passed_words(tiling: Tiling) -> int:
    """Cycles in which a window passes the results of a task, or these pass."""
    if tiling.task.behind is not None:
        return tiling.window_slots * tiling.out_groups * tiling.sequels
    positions = sum(tiling.positions(band) for band in range(tiling.bands))
    return positions * tiling.processor.rows * tiling.out_groups * tiling.sequels


def assert_outputs_exact(
    built: BuiltProcessor, graph: Graph, *, together: int = 1, rounds: int = 1, seed: int = 0
) -> None:
    """The graph's outputs equal golden where tensors share their places in DDR."""
    frames = together * rounds
    made = program(graph, built.processor, together)
    inputs = random_inputs(graph, frames, seed)
    golden = golden_of(made, inputs)
    ran = built.run(program_data(made, inputs, rounds))
    plan = made.plan(rounds)
    for port in graph.outputs:
        got = made.tensor(port.source, ran.memory, plan, frames)
        assert_same_bits(got, golden[port.source], port.source)


def chain(*layers: Layer) -> Graph:
    """Layers one after the other, each reading the one before it."""
    return Graph.chain("chain", layers[0].sources[0], layers)
