"""precision: auto, at its defaults, on frames that it has not seen, beside fixed<16,6>.

python benchmarks/auto.py [--json PATH] [--calibration N] [--frames N] [--board B] [NETWORK ...]

NETWORK: of auto_networks.py, with random weights; without any, all. Frames are crops of a photograph: some
give batch norms their statistics, `--calibration` choose and judge the types, and `--frames` others judge
here, which steered no search, by PyTorch in floating point. Cost is modelled, CPU seconds measured.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from auto_networks import NETWORKS
from machine import machine
from matplotlib import cbook
from numpy.typing import NDArray
from PIL import Image
from rich.console import Console
from rich.table import Table
from torch import nn

import hlsgen
from hlsgen.base.errors import ClippingWarning, DesignError
from hlsgen.layers.conv2d import Conv2d

JSON = Path("build/benchmarks/auto.json")
SHAPE = (3, 64, 64)
TYPES = ("auto", "fixed<16,6>")
STATISTICS, CALIBRATION, UNSEEN = 7, 1, 2
"""Seeds of the frames."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A network in some types.

    snr_db, agreeing: on `frames` unseen frames; tied: frames whose two largest scores are nearer to each
    other than the error of a score is. target_db, headroom: what auto chose, of headrooms the largest.
    tensor_bits, weight_bits: the mean width of an element. choose_s: CPU seconds from PyTorch's module to the
    design, with those of tracing it. Resources and frames a second: modelled; None: nothing fits the board.
    """

    network: str
    types: str
    frames: int
    snr_db: float
    agreeing: int
    tied: int
    target_db: float | None
    headroom: float | None
    tensor_bits: float
    weight_bits: float
    choose_s: float
    dsp: int | None = None
    lut: int | None = None
    bram18: int | None = None
    frames_per_s: float | None = None


def crops(count: int, seed: int) -> NDArray[np.float32]:
    """[count, 3, H, W]: squares of any size and place of a photograph in colour, normalised as is usual."""
    generator = np.random.default_rng(seed)
    with Image.open(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)) as image:
        picture = image.convert("RGB")
    side = SHAPE[1]
    found = []
    for _ in range(count):
        size = int(generator.integers(side, 400))
        top, left = (int(generator.integers(0, whole - size + 1)) for whole in picture.size[::-1])
        square = picture.crop((left, top, left + size, top + size)).resize((side, side))
        found.append(np.asarray(square, np.float32).transpose(2, 0, 1) / 255)
    return (np.stack(found) - np.float32(0.45)) / np.float32(0.225)


def network(name: str) -> nn.Module:
    """With random weights, and batch norms that have seen some frames."""
    torch.manual_seed(0)
    net = NETWORKS[name]()
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None
    with torch.no_grad():
        net.train()(torch.from_numpy(crops(64, STATISTICS)))
    return net.eval()


def measured(name: str, types: str, calibration: int, frames: int, board: str) -> Row:
    """Raises DesignError: there is no such board."""
    net, x = network(name), crops(frames, UNSEEN)
    begin = time.process_time()
    design = hlsgen.from_torch(
        net,
        SHAPE,
        calibration=crops(calibration, CALIBRATION),
        precision=types,
        board=board,
    )
    seconds = time.process_time() - begin
    assert design.reached is not None
    with torch.no_grad():
        wanted = net(torch.from_numpy(x)).double().numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClippingWarning)  # the decibels say what it comes to
        got = design.golden(x)
    chosen = design.reached.chosen
    tensor_bits, weight_bits = _bits(design)
    return Row(
        network=name,
        types=types,
        frames=frames,
        **_nearness(np.asarray(got), wanted),
        target_db=chosen and chosen.target_db,
        headroom=chosen and max(chosen.headrooms.values()),
        tensor_bits=tensor_bits,
        weight_bits=weight_bits,
        choose_s=seconds,
        **_cost(design),
    )


def _nearness(got: NDArray[np.float64], wanted: NDArray[np.float64]) -> dict[str, float | int]:
    """Of scores [N, C] beside floating point's."""
    noise = got - wanted
    top = np.sort(wanted, axis=1)
    return {
        "snr_db": float(10 * np.log10(np.var(wanted) / np.mean(noise**2))),
        "agreeing": int((got.argmax(axis=1) == wanted.argmax(axis=1)).sum()),
        "tied": int((top[:, -1] - top[:, -2] < np.sqrt(np.mean(noise**2))).sum()),
    }


def _bits(design: hlsgen.Design) -> tuple[float, float]:
    """Of an element of a layer's tensor, and of a weight."""
    layers = design.graph.layers
    sizes = [int(np.prod(layer.output_shape)) for layer in layers]
    convolutions = [layer for layer in layers if isinstance(layer, Conv2d)]
    return (
        float(np.average([layer.output_type.width for layer in layers], weights=sizes)),
        float(
            np.average(
                [layer.weight_type.width for layer in convolutions],
                weights=[np.asarray(layer.weights).size for layer in convolutions],
            )
        ),
    )


def _cost(design: hlsgen.Design) -> dict[str, float | int]:
    try:
        found = design.estimate().as_json()
    except DesignError:
        return {}
    total = {key: found["total"][key] for key in ("dsp", "lut", "bram18")}
    return {**total, "frames_per_s": found["performance"]["frames_per_s"]}


def table(rows: Sequence[Row]) -> Table:
    head = ("network", "types", "dB", "agree", "tied", "target dB", "headroom to", "bits", "weight bits")
    found = Table(*head, "DSP", "LUT", "frames/s", "choose CPU s", title="On frames that chose nothing")
    for one in rows:
        found.add_row(
            one.network,
            one.types,
            f"{one.snr_db:.1f}",
            f"{one.agreeing} of {one.frames}",
            str(one.tied),
            "" if one.target_db is None else f"{one.target_db:.1f}",
            "" if one.headroom is None else f"{one.headroom:.1f}",
            f"{one.tensor_bits:.1f}",
            f"{one.weight_bits:.1f}",
            *("-" if value is None else f"{value:,.0f}" for value in (one.dsp, one.lut, one.frames_per_s)),
            f"{one.choose_s:.1f}",
        )
    return found


def document(rows: Sequence[Row], calibration: int, board: str) -> dict[str, object]:
    return {
        "hlsgen": hlsgen.__version__,
        "machine": machine(),
        "board": board,
        "calibration_frames": calibration,
        "rows": [asdict(one) for one in rows],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(NETWORKS)}")
    parser.add_argument("--json", type=Path, default=JSON)
    parser.add_argument("--calibration", type=int, default=16, metavar="N")
    parser.add_argument("--frames", type=int, default=64, metavar="N")
    parser.add_argument("--board", default="u200")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.networks if name not in NETWORKS]
    if unknown:
        parser.error(f"no network is called {', '.join(unknown)}")
    rows = [
        measured(name, types, options.calibration, options.frames, options.board)
        for name in options.networks or NETWORKS
        for types in TYPES
    ]
    Console(width=140).print(table(rows))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document(rows, options.calibration, options.board), indent=2, allow_nan=False)
    options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
