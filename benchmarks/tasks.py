"""A convolution in a network of `style: tasks` beside the same layer as a design of its own, both modelled.

python benchmarks/tasks.py [--json PATH]

Frames a second of all instances on a U200 and a ZCU102 at 300 MHz, of the quick choice of each; a ratio
below 1 would mean that a layer loses by standing in a network.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

import hlsgen


class Sizes(NamedTuple):
    """A convolution: input shape, output channels, kernel, padding, and the types that it is compared in."""

    shape: str
    out: int
    kernel: int
    padding: int
    types: tuple[str, ...]


JSON = Path("build/benchmarks/tasks.json")
BOARDS = ("u200", "zcu102")
FLOAT, BYTE, WORD = "float32", "fixed<8,4>", "fixed<16,6>"
LAYERS = {
    "3x3": Sizes("[16, 64, 64]", 16, 3, 1, (BYTE, WORD)),
    "3x3 unpadded": Sizes("[16, 64, 64]", 16, 3, 0, (FLOAT,)),
    "5x5": Sizes("[16, 30, 30]", 8, 5, 0, (FLOAT, BYTE)),
    "1x1": Sizes("[128, 14, 14]", 128, 1, 0, (BYTE,)),
    "many channels": Sizes("[64, 28, 28]", 64, 3, 1, (BYTE,)),
}
DESIGN = """name: layer
board: {board}
clock_mhz: 300
style: tasks
batch: 64
input: {{shape: {shape}, type: "{type}"}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: {out}, kernel: {kernel}, padding: {padding}}}
"""
OWN = 'precision: {{weights: "{weights}", accumulator: exact, output: "{type}"}}\n'
"""A file with one plain convolution is a design of a layer."""
NETWORK = '  - {{name: relu1, kind: clamp, low: 0}}\nprecision: "{type}"\n'
"""With a limit, which goes into the convolution, it is a network."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Modelled frames a second, and the network's over the layer's own."""

    layer: str
    type: str
    board: str
    own: float
    network: float
    folding: str

    @property
    def ratio(self) -> float:
        return self.network / self.own


def compared(layer: str, type_: str, board: str) -> Compared:
    """The layer both ways, each as the quick search chooses it."""
    values = {"board": board, "type": type_, **LAYERS[layer]._asdict()}
    own = OWN.format(type=type_, weights=type_.replace(",4", ",1").replace(",6", ",2"))
    network = NETWORK.format(type=type_)
    if type_ == FLOAT:
        own = ""
    with TemporaryDirectory() as folder:
        rates, foldings = [], []
        for name, rest in (("own", own), ("network", network)):
            path = Path(folder) / f"{name}.yaml"
            path.write_text(DESIGN.format(**values) + rest)
            estimate = hlsgen.load(path).estimate()
            rates.append(estimate.frames_per_s)
            folding = estimate.as_json()["layers"][0]["folding"]
            first = f"{folding['rows']} rows" if "rows" in folding else f"{folding['px']} px"
            foldings.append(f"{first}/{folding['pe']}/{folding['simd']}")
    return Compared(layer=layer, type=type_, board=board, own=rates[0], network=rates[1], folding=foldings[1])


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", type=Path, default=JSON)
    options = parser.parse_args(arguments)
    table = Table("layer", "type", "board", "of its own", "in a network", "ratio", "folding there")
    found = []
    for layer, sizes in LAYERS.items():
        for type_ in sizes.types:
            for board in BOARDS:
                one = compared(layer, type_, board)
                found.append({**asdict(one), "ratio": one.ratio})
                rates = (f"{one.own:,.0f}", f"{one.network:,.0f}", f"{one.ratio:.2f}")
                table.add_row(layer, type_, board, *rates, one.folding)
    table.title = "frames a second, modelled"
    Console().print(table)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"kind": "modelled", "layers": found}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
