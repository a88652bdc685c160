"""Large networks: how long hlsgen takes to read, estimate and explore them, and how much memory.

python benchmarks/large.py [--json PATH] [--no-explore] [NETWORK@SIZE ...]

NETWORK: resnet50, resnet38, vgg16; without any, those of the tables in docs/explore.md. Each is read in a
process of its own, with types chosen from one random frame, for a U200. Seconds are CPU seconds of that
process, whose matrix products run in one thread (threads that wait for each other count as if they worked),
PyTorch's import left out; MB are its peak, and beside the network as PyTorch holds it and its
weights in float64 and as codes. The second table is what a network with four times the pixels, or with the
same layers more often, takes beside the first.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from machine import machine
from processes import environment, run
from rich.console import Console
from rich.table import Table

JSON = Path("build/benchmarks/large.json")
NETWORKS = ("resnet50@112", "resnet38@224", "resnet50@224", "vgg16@224")
COMPARED = (
    ("four times the pixels", "resnet50@112", "resnet50@224"),
    ("four more blocks, all alike", "resnet38@224", "resnet50@224"),
)
BOARD = "u200"
TIMEOUT_S = 3600.0
WEIGHT_BYTES = 4 + 8 + 2
"""Of a weight: float32 of PyTorch, float64 of the reference, its code of up to 16 bits."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A network. words: of all streams, a frame; processes, loops: of the kernel, and how many differ."""

    network: str
    layers: int
    weights: int
    words: int
    processes: int
    loops: int
    read_s: float
    estimate_s: float
    explore_s: float | None
    peak_mb: float
    import_mb: float

    @property
    def beside_mb(self) -> float:
        """Peak memory but for PyTorch's own and the weights."""
        return self.peak_mb - self.import_mb - self.weights * WEIGHT_BYTES / 2**20


def measured(name: str, *, explore: bool) -> Row:
    """In this process, which must not have measured another network."""
    import numpy as np
    from large_networks import network

    import hlsgen

    kind, _, size = name.partition("@")
    shape = (3, int(size), int(size))
    import_mb = _peak_mb()
    module = network(kind, shape[1])
    weights = sum(one.numel() for one in module.parameters())
    frame = np.random.default_rng(0).normal(0, 0.3, (1, *shape))
    begin = time.process_time()
    design = hlsgen.from_torch(
        module, shape, calibration=frame, board=BOARD, name=kind, precision={"output_db": 20, "agreement": 0}
    )
    read = time.process_time()
    design.estimate().as_json()
    estimated = time.process_time()
    pipeline = design.style.hardware.pipeline
    if explore:
        design.explore()
    explored = time.process_time()
    return Row(
        network=name,
        layers=len(pipeline.graph.layers),
        weights=weights,
        words=sum(one.words.frame_words for one in pipeline.streams.values()),
        processes=len(pipeline.processes),
        loops=len({one.rhythm for one in pipeline.processes}),
        read_s=read - begin,
        estimate_s=estimated - read,
        explore_s=explored - estimated if explore else None,
        peak_mb=_peak_mb(),
        import_mb=import_mb,
    )


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def in_own_process(name: str, *, explore: bool) -> Row:
    """Raises Failed: it ends with an error, or takes too long."""
    command = [sys.executable, str(Path(__file__).resolve()), "--worker", name]
    alone = environment(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    output = run([*command, *([] if explore else ["--no-explore"])], Path.cwd(), TIMEOUT_S, alone)
    return Row(**json.loads(output.splitlines()[-1]))


def show(rows: list[Row]) -> None:
    console = Console(width=150)
    table = Table(title=f"large networks on a {BOARD}, measured")
    for head in ("network", "layers", "M words a frame", "processes", "that differ", "read s", "estimate s"):
        table.add_column(head, justify="left" if head == "network" else "right")
    for head in ("explore s", "peak MB", "beside weights MB"):
        table.add_column(head, justify="right")
    for row in rows:
        table.add_row(
            row.network,
            str(row.layers),
            f"{row.words / 1e6:.1f}",
            str(row.processes),
            str(row.loops),
            f"{row.read_s:.1f}",
            f"{row.estimate_s:.1f}",
            "-" if row.explore_s is None else f"{row.explore_s:.0f}",
            f"{row.peak_mb:,.0f}",
            f"{row.beside_mb:,.0f}",
        )
    console.print(table)
    by_name = {row.network: row for row in rows}
    ratios = Table(title="beside the smaller one, measured")
    for head in ("", "of", "words x", "processes x", "read x", "estimate x", "explore x"):
        ratios.add_column(head, justify="right" if "x" in head else "left")
    for what, small, large in COMPARED:
        if small in by_name and large in by_name:
            one, other = by_name[small], by_name[large]
            pairs = [(one.words, other.words), (one.processes, other.processes)]
            pairs += [(one.read_s, other.read_s), (one.estimate_s, other.estimate_s)]
            cells = [f"{after / before:.1f}" for before, after in pairs]
            explored = one.explore_s and other.explore_s and f"{other.explore_s / one.explore_s:.1f}"
            ratios.add_row(what, f"{large} : {small}", *cells, explored or "-")
    if ratios.row_count:
        console.print(ratios)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK@SIZE")
    parser.add_argument("--json", type=Path, default=JSON)
    parser.add_argument("--no-explore", action="store_true")
    parser.add_argument("--worker", metavar="NETWORK@SIZE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        sys.stdout.write(json.dumps(asdict(measured(given.worker, explore=not given.no_explore))) + "\n")
        return
    rows = [in_own_process(name, explore=not given.no_explore) for name in given.networks or NETWORKS]
    show(rows)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    document = {"machine": machine(), "networks": [asdict(row) for row in rows]}
    given.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
