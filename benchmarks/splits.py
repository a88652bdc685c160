"""One network on several devices: its frames divided, or its layers, or all on one; measured and modelled.

python benchmarks/splits.py [--json PATH] [--plot PATH] [--rounds N]

Dense and convolutional networks of several sizes, as items of 1 to 64 frames through pipelines of hlsgen:
whole on one CPU thread, whole on two threads that take items in turn (data), and in two balanced parts on a
thread each (layers); measured in one run, in turns, the best of the rounds. Beside them what the same
network takes on a U200 as hlsgen models it, one item after the other with its way over the card's link in
and out (no launch of a call, for which there is no figure): the size and the batch from which the card is
faster than the CPU.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import machine
from rich.console import Console
from rich.table import Table
from torch import nn

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.model.parts import tensor_bytes
from hlsgen.pipelining.pipeline import Pipeline
from hlsgen.pipelining.split import Wish, split

JSON = Path("build/benchmarks/splits.json")
BATCHES = (1, 4, 16, 64)
DENSE = (32, 128, 512)
CONV = (4, 16, 64)
SECONDS = 0.3
"""For which each way is measured in each round."""
WAYS = ("one thread", "data over two", "layers over two")
CARD = "card, modelled"


@dataclass(frozen=True, kw_only=True)
class Row:
    """Frames a second. card: of a U200, modelled with its link; None: it has no room."""

    network: str
    size: int
    batch: int
    whole: float
    data: float
    layers: float
    card: float | None


def dense(size: int) -> tuple[nn.Module, tuple[int, ...]]:
    """Four layers of size x size."""
    layers: list[nn.Module] = []
    for _ in range(4):
        layers += [nn.Linear(size, size), nn.ReLU()]
    return nn.Sequential(*layers).eval(), (size,)


def conv(size: int) -> tuple[nn.Module, tuple[int, ...]]:
    """Four convolutions of 3 x 3 over 16 x 16 pixels, `size` channels each, and a dense layer."""
    layers: list[nn.Module] = [nn.Conv2d(3, size, 3, padding=1), nn.ReLU()]
    for _ in range(3):
        layers += [nn.Conv2d(size, size, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(size, 10)).eval(), (
        3,
        16,
        16,
    )


def design_of(network: str, size: int) -> hlsgen.Design:
    torch.manual_seed(size)
    module, shape = (dense if network == "dense" else conv)(size)
    calibration = np.random.default_rng(size).uniform(-1, 1, (8, *shape))
    # weights as a call brings them: adders of thousands of constants take long to find
    return hlsgen.from_torch(
        module,
        shape,
        name=f"{network}{size}",
        calibration=calibration,
        precision=8,
        board="u200",
        style="shared",
    )


def rate(pipeline: Pipeline, frames: np.ndarray, rounds: int) -> float:
    """Frames a second of the best round, opening not counted."""
    best = 0.0
    with pipeline.open(4) as running:
        for _ in range(rounds + 1):
            begin = time.perf_counter()
            count = 0
            for _ in running.stream(items(frames, begin)):
                count += len(frames)
            best = max(best, count / (time.perf_counter() - begin))
    return best


def items(frames: np.ndarray, begin: float) -> Any:
    while time.perf_counter() - begin < SECONDS:
        yield frames


def card_rate(design: hlsgen.Design, batch: int) -> float | None:
    """Frames a second of items one after the other: over the link, through the kernel, and back.

    The first frame takes the kernel's latency, each further one its interval.
    """
    link = design.board.link
    assert link is not None
    try:
        estimate = design.estimate()
    except DesignError:
        return None
    graph = design.graph
    bytes_in = sum(tensor_bytes(graph, port.name) for port in graph.inputs)
    bytes_out = sum(tensor_bytes(graph, port.source) for port in graph.outputs)
    moved = batch * (bytes_in / (link.to_gb_per_s * 1e9) + bytes_out / (link.from_gb_per_s * 1e9))
    computed = estimate.latency_cycles / (design.clock_mhz * 1e6) + (batch - 1) / estimate.frames_per_s
    return batch / (moved + computed)


def measured(network: str, size: int, rounds: int) -> list[Row]:
    design = design_of(network, size)
    shape = design.graph.inputs[0].shape
    pipelines = (
        split(design, []),
        split(design, [], wishes=[Wish(workers=2)]),
        split(design, parts=2),
    )
    rows = []
    for batch in BATCHES:
        frames = np.random.default_rng(batch).uniform(-1, 1, (batch, *shape))
        whole, data, layers = (rate(one, frames, rounds) for one in pipelines)
        card = card_rate(design, batch)
        rows.append(
            Row(network=network, size=size, batch=batch, whole=whole, data=data, layers=layers, card=card)
        )
    return rows


def show(rows: list[Row]) -> None:
    table = Table("network", "batch", WAYS[0], WAYS[1], WAYS[2], "data / one", "layers / one", CARD)
    for row in rows:
        card = "no room" if row.card is None else f"{row.card:,.0f}"
        ratios = (f"{row.data / row.whole:.2f}", f"{row.layers / row.whole:.2f}")
        rates = (f"{one:,.0f}" for one in (row.whole, row.data, row.layers))
        table.add_row(f"{row.network} {row.size}", str(row.batch), *rates, *ratios, card)
    Console().print(table)


def draw(rows: list[Row], path: Path) -> None:
    """Frames a second over the batch, a panel for each network and size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.6), layout="constrained")
    panels = figure.subplots(2, 3, sharex=True)
    for line, (network, sizes) in zip(panels, (("dense", DENSE), ("conv", CONV)), strict=True):
        for axes, size in zip(line, sizes, strict=True):
            own = [row for row in rows if (row.network, row.size) == (network, size)]
            batches = [row.batch for row in own]
            for values, style, label in (
                ([row.whole for row in own], "o-", WAYS[0]),
                ([row.data for row in own], "s-", WAYS[1]),
                ([row.layers for row in own], "^-", WAYS[2]),
                ([row.card or np.nan for row in own], "k--", "U200 with its link, modelled"),
            ):
                axes.plot(batches, values, style, label=label, markersize=4)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks(batches, [str(one) for one in batches])
            what = "side" if network == "dense" else "channels"
            axes.set_title(f"{network}, {what} {size}", fontsize="medium")
            axes.grid(color="#DDDDDD", linewidth=0.6)
    for axes in panels[1]:
        axes.set_xlabel("frames of an item")
    for axes in panels[:, 0]:
        axes.set_ylabel("frames/s")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path, default=JSON)
    parser.add_argument("--plot", type=Path, default=JSON.with_suffix(".png"))
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows = [row for size in DENSE for row in measured("dense", size, given.rounds)]
    rows += [row for size in CONV for row in measured("conv", size, given.rounds)]
    show(rows)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps({"machine": machine(), "rows": [asdict(row) for row in rows]}, indent=1))
    draw(rows, given.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
