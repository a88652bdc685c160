"""Adders of constant weights beside da4ml's for the same matrices: how many, their bits, depth and seconds.

python benchmarks/adders.py [--json PATH] [--most N]

da4ml (pip install da4ml; 0.6.0 was used) takes constant matrices apart into adders as well; its figure of
bits is within 13 % of placed LUTs over 20 published designs. Each of its graphs is counted by its own
operations and by its own cost, ours by `AdderGraph`, and both are held against the product by NumPy. Nothing
is synthesised.
--most: only matrices of up to so many weights (da4ml takes minutes for the largest).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import hlsgen
from hlsgen.layers.adder_graph import Interval, adder_graph, digit_count
from hlsgen.layers.conv2d import Conv2d

DESIGNS = Path(__file__).parents[1] / "designs"
JSON = Path("build/benchmarks/adders.json")
FRAMES = 64
"""Random inputs with which both are held against the product."""
Matrix = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A matrix [outputs, inputs] by ours and by da4ml. digits: adders, were nothing shared."""

    matrix: str
    outputs: int
    inputs: int
    input_bits: int
    digits: int
    adders: int
    bits: int
    depth: int
    seconds: float
    da4ml_adders: int
    da4ml_bits: float
    da4ml_depth: float
    da4ml_seconds: float


def matrices() -> Iterator[tuple[str, Matrix, Interval]]:
    """The layers of RAIDER, then random weights of few bits; inputs of each."""
    graph = hlsgen.from_qkeras(str(DESIGNS / "raider" / "raider.h5")).graph
    for layer in graph.layers:
        if isinstance(layer, Conv2d):
            weights = np.asarray(layer.weights, np.int64).reshape(layer.out_channels, -1)
            type_: Any = layer.input_type
            yield f"raider {layer.name}", weights, Interval(type_.min_code, type_.max_code)
    generator = np.random.default_rng(0)
    for size, bits in ((16, 8), (32, 8), (64, 8), (64, 4), (64, 2)):
        ends = (1 << bits - 1) - 1
        weights = generator.integers(-ends, ends, (size, size), endpoint=True)
        yield f"random, {bits} bits", weights, Interval(-ends - 1, ends)
    ternary = generator.integers(-1, 1, (32, 288), endpoint=True)
    yield "ternary 3 x 3, 32 to 32 channels", ternary, Interval(0, 3)


def measured(name: str, weights: Matrix, reach: Interval, solve: Callable[..., Any]) -> Row:
    """Both graphs of a matrix, checked. Raises AssertionError: one is not the product."""
    started = time.perf_counter()
    ours = adder_graph(weights, (reach,) * weights.shape[1])
    between = time.perf_counter()
    theirs = solve(
        np.ascontiguousarray(weights.T, np.float32),  # whatever order it has, C order is read
        qintervals=[(float(reach.low), float(reach.high), 1.0)] * weights.shape[1],
        adder_size=1,
        carry_size=-1,
    )
    ended = time.perf_counter()
    inputs = np.random.default_rng(1).integers(
        reach.low, reach.high, (FRAMES, weights.shape[1]), endpoint=True
    )
    np.testing.assert_array_equal(ours.of(inputs), inputs @ weights.T)
    answers = [theirs(frame.astype(float)) for frame in inputs[:4]]
    np.testing.assert_array_equal(answers, inputs[:4] @ weights.T)
    operations = [one for part in theirs.solutions for one in part.ops if one.opcode in (0, 1)]
    return Row(
        matrix=name,
        outputs=weights.shape[0],
        inputs=weights.shape[1],
        input_bits=reach.bits,
        digits=digit_count(weights),
        adders=ours.count,
        bits=ours.bits,
        depth=ours.depth,
        seconds=between - started,
        da4ml_adders=len(operations),
        da4ml_bits=float(theirs.cost),
        da4ml_depth=float(max(theirs.latency)),
        da4ml_seconds=ended - between,
    )


def table(rows: list[Row]) -> Table:
    found = Table(title="adders of constant weights: ours / da4ml's")
    for title in ("matrix", "outputs x inputs", "input bits", "digits", "adders", "bits", "depth", "seconds"):
        found.add_column(title, justify="left" if title == "matrix" else "right")
    for row in rows:
        found.add_row(
            row.matrix,
            f"{row.outputs} x {row.inputs}",
            f"{row.input_bits}",
            f"{row.digits:,}",
            f"{row.adders:,} / {row.da4ml_adders:,} = {row.adders / row.da4ml_adders:.2f}",
            f"{row.bits:,} / {row.da4ml_bits:,.0f} = {row.bits / row.da4ml_bits:.2f}",
            f"{row.depth} / {row.da4ml_depth:.0f}",
            f"{row.seconds:.2f} / {row.da4ml_seconds:.2f}",
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--json", type=Path, default=JSON)
    parser.add_argument("--most", type=int, default=1 << 20)
    given = parser.parse_args()
    try:
        from da4ml.cmvm import solve
    except ImportError:
        raise SystemExit("da4ml is not installed: pip install da4ml==0.6.0") from None
    rows = [measured(*one, solve) for one in matrices() if one[1].size <= given.most]
    Console().print(table(rows))
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
