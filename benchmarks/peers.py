"""Networks in 8 bits on both boards, by style, beside what others measured there.

python benchmarks/peers.py [--json PATH] [--clock MHZ] [--networks N ...] [--styles S ...] [--more]

Of each network every activation is fixed<8,4> and every weight has 8 bits, which is what the hardware depends
on; weights are random. Frames a second are modelled, what the quick search chooses inside the board's margin;
those of others were measured on the same boards, by the source in PEERS. Nothing is compiled.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from machine import DESIGNS
from rich.console import Console
from rich.table import Table

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.styles.auto import STYLES
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.targets.board import load_board

JSON = Path("build/benchmarks/peers.json")
BOARDS = ("zcu102", "u200")
STYLES_COMPARED = ("shared", "mixed", "dataflow")
BATCHES = (1, 8, 64, 512)
INSTANCES = (1, 2, 4)
NETWORKS = {
    "resnet8": (32, "resnet8.py"),
    "resnet18": (224, "resnet18.py"),
    "resnet50": (224, "resnet50.py"),
    "mobilenet_v2": (224, "mobilenet_v2.py"),
    "yolov3_tiny": (416, "yolov3_tiny.py"),
    "vgg16": (224, "vgg16.py"),
}
"""The side of the picture, and the file in designs/networks/."""
PEERS: dict[tuple[str, str], str] = {
    ("resnet8", "zcu102"): "60,577 (NN2FPGA's 30,000 on a KV260, by the DSPs of a ZCU102)",
    ("resnet18", "zcu102"): "499.6 (DPU, Vitis AI 2.5)",
    ("mobilenet_v2", "zcu102"): "1,910 (Jiang, TCAD 2023); 764.4 (DPU)",
    ("yolov3_tiny", "zcu102"): "393 (DPU, Vitis AI 1.4)",
    ("resnet50", "u200"): "1,054 (DPUCADF8H)",
    ("resnet18", "u200"): "1,157.8 (DPUCADX8G)",
}
"""Frames a second that others measured."""
DESIGN = """
name: {name}
board: zcu102
clock_mhz: {clock:g}
style: shared
model: {{torch: "{file}:make_net"}}
input: {{shape: [3, {side}, {side}], type: "fixed<8,1>", samples: {samples}}}
precision: "fixed<8,4>"
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A network on a board in a style. usable: the probability to stay inside the usable share.

    by_batch, by_instances: frames a second of so many frames in one go, and of so many instances; None: not
    asked for.
    problem: why there are no figures.
    """

    network: str
    board: str
    style: str
    frames_per_s: float = 0.0
    gops: float = 0.0
    hardware: str = ""
    usable: float = 0.0
    by_batch: dict[int, float] | None = None
    by_instances: dict[int, float] | None = None
    seconds: float = 0.0
    measured_by_others: str = ""
    problem: str = ""


def read(name: str, clock: float) -> NetworkStyle[Any]:
    """The network in 8 bits."""
    side, file = NETWORKS[name]
    folder = DESIGNS / "networks"
    text = DESIGN.format(
        name=name, clock=clock, file=folder / file, side=side, samples=folder / f"photograph_{side}.npy"
    )
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        style = hlsgen.load(path).style
    assert isinstance(style, NetworkStyle)
    return style


def on(
    read_as: NetworkStyle[Any],
    board: str,
    style: str,
    *,
    instances: int | None = None,
    batch: int = BATCHES[-1],
) -> NetworkStyle[Any]:
    """The same network on another board in another style, chosen for a batch."""
    constraints = replace(read_as.constraints, instances=instances)
    return STYLES[style](
        name=read_as.name,
        graph=read_as.graph,
        board=load_board(board),
        clock_mhz=read_as.clock_mhz,
        batch=batch,
        source=read_as.source,
        constraints=constraints,
    )


def measured(name: str, clock: float, styles: Sequence[str], more: bool) -> Iterator[Row]:
    """The rows of a network. more: also by batch and by instances, with hardware chosen for each."""
    network = read(name, clock)
    for board in BOARDS:
        for style in styles:
            peer = PEERS.get((name, board), "")
            row = Row(network=name, board=board, style=style, measured_by_others=peer)
            start = time.perf_counter()
            try:
                design = on(network, board, style)
                found = design.estimate()
            except DesignError as error:
                yield replace(row, problem=str(error.problems[0].message))
                continue
            seconds = time.perf_counter() - start
            yield replace(
                row,
                frames_per_s=round(found.frames_per_s, 1),
                gops=round(found.gops, 1),
                hardware=found.hardware_text,
                usable=found.fit.usable,
                by_batch=_by_batch(network, board, style) if more else None,
                by_instances=_by_instances(network, board, style) if more else None,
                seconds=round(seconds, 1),
            )


def _by_batch(network: NetworkStyle[Any], board: str, style: str) -> dict[int, float]:
    """Frames a second of so many frames in one go, with the hardware that is chosen for as many."""
    return {
        batch: round(on(network, board, style, batch=batch).estimate().batch_frames_per_s, 1)
        for batch in BATCHES
    }


def _by_instances(network: NetworkStyle[Any], board: str, style: str) -> dict[int, float]:
    """Frames a second with so many instances, of those that fit."""
    found = {}
    for instances in INSTANCES:
        try:
            found[instances] = round(
                on(network, board, style, instances=instances).estimate().frames_per_s, 1
            )
        except DesignError:
            continue
    return found


def tabled(rows: Sequence[Row]) -> Table:
    """A network and board a line, the styles beside each other."""
    heads = ("network", "board", *STYLES_COMPARED, "measured by others")
    table = Table(*heads, title="frames/s, modelled inside the margin")
    for network, board in dict.fromkeys((row.network, row.board) for row in rows):
        same = {row.style: row for row in rows if (row.network, row.board) == (network, board)}
        cells = [
            row.problem or f"{row.frames_per_s:,.1f} ({row.gops:,.0f} GOPS)" if row else ""
            for row in map(same.get, STYLES_COMPARED)
        ]
        table.add_row(network, board, *cells, PEERS.get((network, board), ""))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--styles", nargs="+", choices=STYLES_COMPARED, default=STYLES_COMPARED)
    parser.add_argument("--json", type=Path, default=JSON, metavar="PATH")
    parser.add_argument("--clock", type=float, default=300.0, metavar="MHZ")
    parser.add_argument("--more", action="store_true", help="by batch and by instances too")
    given = parser.parse_args()
    rows: list[Row] = []
    for name in given.networks:
        rows += measured(name, given.clock, given.styles, given.more)
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
    Console().print(tabled(rows))
    print(f"wrote {given.json}")


if __name__ == "__main__":
    main()
