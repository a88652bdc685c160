"""hlsgen explore: how good its choice is, and how long it takes.

python benchmarks/explore.py [--json PATH] [--sizes N ...] [--boards N] [DESIGN ...]

DESIGN: a name in designs/ or a path to a design file; without any, all of designs/. Three tables: the designs
beside the greedy baseline and the search that `hlsgen build` does by itself; a small network on random boards
beside every kernel that it can have; chains of convolutions of growing length. Frames a second are modelled;
seconds are measured on this machine, in one run.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from machine import DESIGNS, machine
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.cost.stages import total_resources
from hlsgen.explore.explore import explore
from hlsgen.explore.options import vector
from hlsgen.explore.result import Explored
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.storage import Storage
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.base import Tensor
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph, Port
from hlsgen.search.board_limits import usable
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.styles.style import Style
from hlsgen.targets.board import SLR, Board, load_board
from hlsgen.timing.fifos import fifo_depths

JSON = Path("build/benchmarks/explore.json")
SIZES = (1, 2, 4, 8, 16, 32, 64)
NUMBERS, WIDE = FixedType(8, 2), FixedType(28, 14)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A design. build_fps: of the search that `hlsgen build` does. Seconds: of reading, then of explore."""

    design: str
    board: str
    frames_per_s: float
    gap: float
    multiplier_share: float | None
    binds: str
    greedy_fps: float | None
    build_fps: float
    read_s: float
    explore_s: float


@dataclass(frozen=True, kw_only=True)
class Tried:
    """Random boards. equal: those on which explore is as fast as the fastest of all kernels."""

    kernels: int
    boards: int
    equal: int
    greedy_equal: int
    worst: float
    greedy_worst: float


@dataclass(frozen=True, kw_only=True)
class Timed:
    """A chain of `layers` convolutions on a U200."""

    layers: int
    options: int
    frames_per_s: float
    gap: float
    explore_s: float


def measured(name: str) -> Row:
    """Raises DesignError: the design cannot be read or explored."""
    path = Path(name) if name.endswith(".yaml") else DESIGNS / f"{name}.yaml"
    begin = time.perf_counter()
    design = hlsgen.load(path)
    middle = time.perf_counter()
    found = design.explore()
    end = time.perf_counter()
    build = design.estimate().as_json()["performance"]["frames_per_s"]
    return Row(
        design=design.name,
        board=design.board.name,
        frames_per_s=found.point.frames_per_s,
        gap=found.gap,
        multiplier_share=found.multiplier_share,
        binds=found.binds,
        greedy_fps=found.greedy.frames_per_s if found.greedy else None,
        build_fps=build,
        read_s=middle - begin,
        explore_s=end - middle,
    )


def chain(layers: int, channels: int, side: int) -> Graph:
    """Convolutions of 3 x 3, one after the other."""
    shape = (channels, side, side)
    generator = np.random.default_rng(layers)
    found = []
    for number in range(layers):
        found.append(
            Conv2d(
                name=f"conv{number}",
                inputs=(f"conv{number - 1}" if number else "x",),
                in_shape=shape,
                out_channels=channels,
                kernel=(3, 3),
                padding=(1, 1, 1, 1),
                input_type=NUMBERS,
                weight_type=NUMBERS,
                bias_type=WIDE,
                accumulator=WIDE,
                result_type=NUMBERS,
                weights=generator.integers(-100, 100, (channels, channels, 3, 3)),
                bias=np.zeros(0, np.int64),
            )
        )
    return Graph(
        name=f"chain{layers}",
        inputs=(Port.of("x", Tensor(shape=shape, type=NUMBERS)),),
        layers=tuple(found),
        outputs=(Port.of("y", found[-1].output, found[-1].name),),
    )


def design_of(graph: Graph, board: Board) -> StreamingNetwork:
    return StreamingNetwork(
        name=graph.name, graph=graph, board=board, clock_mhz=300, batch=64, source="chain"
    )


def every_kernel(graph: Graph, board: Board) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Intervals [n] and resources [n, 5] of all foldings with all memories of weights, exactly."""
    intervals, amounts = [], []
    for folds in product(*(list(layer.folds()) for layer in graph.layers)):
        by_name = {layer.name: fold for layer, fold in zip(graph.layers, folds, strict=True)}
        depths = None
        memories = []
        for layer, fold in zip(graph.layers, folds, strict=True):
            shape = layer.stage(fold).weight_shape()
            assert shape is not None
            memories.append([Storage.REGISTER] if shape[0] == 1 else [Storage.LUTRAM, Storage.BRAM])
        for storages in product(*memories):
            places = {
                layer.name: WeightPlace(layer=layer.name, place="constant", storage=storage)
                for layer, storage in zip(graph.layers, storages, strict=True)
            }
            pipeline = pipeline_of(graph, by_name, places)
            depths = fifo_depths(pipeline) if depths is None else depths
            pipeline = pipeline.with_depths(depths)
            intervals.append(pipeline.interval)
            amounts.append(vector(total_resources(pipeline, board)))
    return np.array(intervals), np.array(amounts)


def random_board(seed: int) -> Board:
    """One SLR without URAM, so small that every kind may bind; all of what is usable may be filled."""
    generator = np.random.default_rng(seed)
    board = load_board("u200")
    sizes = {
        "lut": int(generator.integers(6_000, 60_000)),
        "ff": int(generator.integers(10_000, 90_000)),
        "bram18": int(generator.integers(36, 60)),  # the ports alone take 30
        "dsp": int(generator.integers(9, 160)),
    }
    banks = tuple(bank.model_copy(update={"slr": "SLR0"}) for bank in board.memory.banks)
    return board.model_copy(
        update={
            "margin": 0,
            "slrs": (SLR(name="SLR0", uram=0, **sizes),),
            "memory": board.memory.model_copy(update={"banks": banks}),
        }
    )


def tried(boards: int) -> Tried:
    """Two convolutions of 2 x 4 x 4 on random boards beside all their kernels."""
    graph = chain(2, 2, 4)
    intervals, amounts = every_kernel(graph, load_board("u200"))
    shares, greedy_shares = [], []
    for seed in range(boards):
        board = random_board(seed)
        limit = vector(usable(board.slrs[0], board))
        rooms = np.where(amounts > 0, limit // np.maximum(amounts, 1), board.max_compute_units).min(axis=1)
        best = float((np.minimum(rooms, board.max_compute_units) / intervals).max()) * 300e6
        found = _explored(design_of(graph, board))
        if found is None or best == 0:
            assert found is None and best == 0, "only one of explore and brute force finds a kernel"
            continue
        shares.append(found.point.frames_per_s / best)
        greedy_shares.append(found.greedy.frames_per_s / best if found.greedy else 0.0)
    return Tried(
        kernels=len(intervals),
        boards=len(shares),
        equal=sum(math.isclose(share, 1) for share in shares),
        greedy_equal=sum(math.isclose(share, 1) for share in greedy_shares),
        worst=min(shares),
        greedy_worst=min(greedy_shares),
    )


def _explored(design: StreamingNetwork) -> Explored[Style] | None:
    try:
        return explore(design)
    except DesignError:
        return None


def timed(layers: int) -> Timed:
    design = design_of(chain(layers, 16, 16), load_board("u200"))
    begin = time.perf_counter()
    found = explore(replace(design, batch=1024))
    return Timed(
        layers=layers,
        options=sum(layer.options for layer in found.layers),
        frames_per_s=found.point.frames_per_s,
        gap=found.gap,
        explore_s=time.perf_counter() - begin,
    )


def show(rows: Sequence[Row], brute: Tried, times: Sequence[Timed]) -> None:
    console = Console(width=150)
    table = Table(
        "design",
        "board",
        "frames/s",
        "gap",
        "of DSP bound",
        "greedy",
        "build's search",
        "read s",
        "explore s",
    )
    for row in rows:
        table.add_row(
            row.design,
            row.board,
            f"{row.frames_per_s:,.0f}",
            f"{row.gap:.2%}",
            f"{row.multiplier_share:.1%}" if row.multiplier_share else "",
            f"{row.greedy_fps:,.0f}" if row.greedy_fps else "nothing fits",
            f"{row.build_fps:,.0f}",
            f"{row.read_s:.1f}",
            f"{row.explore_s:.1f}",
        )
    console.print(table)
    for row in rows:
        console.print(f"{row.design}: binds: {row.binds}")
    console.print(
        f"{brute.kernels:,} kernels tried on {brute.boards} random boards: explore has the fastest one on "
        f"{brute.equal} (worst {brute.worst:.1%} of it), greedy on {brute.greedy_equal} "
        f"(worst {brute.greedy_worst:.1%})"
    )
    sizes = Table("convolutions", "options", "frames/s", "gap", "explore s", title="chains on a U200")
    for one in times:
        sizes.add_row(
            str(one.layers),
            f"{one.options:,}",
            f"{one.frames_per_s:,.0f}",
            f"{one.gap:.2%}",
            f"{one.explore_s:.1f}",
        )
    console.print(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("designs", nargs="*", metavar="DESIGN")
    parser.add_argument("--json", type=Path, default=JSON)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--boards", type=int, default=100)
    given = parser.parse_args()
    names = given.designs or sorted(path.stem for path in DESIGNS.glob("*.yaml"))
    rows = [measured(name) for name in names]
    brute = tried(given.boards)
    times = [timed(size) for size in given.sizes]
    for row in rows:
        assert row.greedy_fps is None or row.greedy_fps <= row.frames_per_s * 1.001, (
            f"{row.design}: greedy wins"
        )
    show(rows, brute, times)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "machine": machine(),
        "designs": [asdict(row) for row in rows],
        "brute_force": asdict(brute),
        "chains": [asdict(one) for one in times],
    }
    given.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
