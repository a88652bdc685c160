"""What binary points, or scales, for each output channel are worth: decibels of weights for hardware.

python benchmarks/channel_points.py [--json PATH]

For each layer with weights of designs/digits.yaml and raider_plain.yaml, data of 8 bits, and two intervals:
the cheapest folding with weights of 2 to 10 bits of one type, of 2 to 7 with a binary point for each output
channel, and with a free scale for each. A point of its own is a shift: the channel's codes lie on the finest
channel's grid, in a type that holds all of them, so that constants have the same digits and the templates
need nothing else. A scale takes at least a DSP for each output channel that is computed at once, which alone
is counted. Prices: shares of the board, as `hlsgen quantise` has them. Modelled; nothing is synthesised.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import hlsgen
from hlsgen.base.fixed import FixedType
from hlsgen.explore.options import LayerOptions, all_options
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.model.precision import Bits, Fits, Floats, LayerPrecision, Precision
from hlsgen.passes import FIXED_PASSES, run_passes
from hlsgen.quantising.choose_types import choose_types
from hlsgen.quantising.float_run import FloatRun
from hlsgen.quantising.value_ranges import ValueRanges
from hlsgen.search.board_limits import KINDS
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.widths.layer_costs import prices_of

DESIGNS = Path(__file__).parents[1] / "designs"
JSON = Path("build/benchmarks/channel_points.json")
NETWORKS = {"digits": (64, 1152), "raider_plain": (64, 256)}
"""Cycles a frame: many multipliers, and few."""
BITS = range(2, 11)
"""Of one type."""
OTHERS = range(2, 8)
"""Of points and scales, so that there is a single type beyond each."""
WIDEST = 16
"""Bits of a weight that shifts and adders are made for."""
DATA = 8
EXACT = 99.0
"""Decibels of what loses nothing."""
Weights = dict[str, tuple[FixedType, Floats]]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A layer with one kind of weights. decibels: of the weights over their rounding; price: share of the
    board. better: decibels more than those of the best single type that costs no more; along: than those on
    the line between single types at that price, which other layers' widths can make up for.
    """

    network: str
    interval: int
    layer: str
    kind: str
    bits: int
    multipliers: str
    decibels: float
    price: float
    better: float = 0.0
    along: float = 0.0


def fitted(values: Floats, width: int) -> FixedType:
    return Fits(values=values.reshape(-1).astype(np.float64), signed=True).of_width(width)


def rounded(values: Floats, type_: FixedType) -> Floats:
    return type_.decode(type_.encode(values))


def of_one_type(values: Floats, width: int) -> tuple[FixedType, Floats]:
    type_ = fitted(values, width)
    return type_, rounded(values, type_)


def with_points(values: Floats, width: int) -> tuple[FixedType, Floats]:
    """Each channel with the binary point that suits it, and the type that holds all of these numbers."""
    types = [fitted(one, width) for one in values]
    integer = max(type_.integer for type_, one in zip(types, values, strict=True) if one.any())
    least = integer - (WIDEST - width)
    points = [min(max(type_.integer, least), integer) for type_ in types]
    found = [
        rounded(one, replace(type_, integer=point))
        for one, type_, point in zip(values, types, points, strict=True)
    ]
    return FixedType(integer + width - min(points), integer), np.stack(found)


def with_scales(values: Floats, width: int) -> Floats:
    """Each channel by whole numbers and the best of some scales, which is as free as it can be."""
    found = []
    for one in values:
        largest = float(np.abs(one).max()) or 1.0
        tried = [largest / (2 ** (width - 1) - 0.5) * share for share in np.linspace(0.4, 1.2, 81)]
        codes = [np.clip(np.rint(one / step), -(2 ** (width - 1)), 2 ** (width - 1) - 1) for step in tried]
        errors = [float(((code * step - one) ** 2).sum()) for code, step in zip(codes, tried, strict=True)]
        best = int(np.argmin(errors))
        found.append(codes[best] * tried[best])
    return np.stack(found)


def decibels(values: Floats, made: Floats) -> float:
    error = float(((values - made) ** 2).sum())
    return float(10 * np.log10(float((values**2).sum()) / error)) if error else EXACT


def typed(run: FloatRun, ranges: ValueRanges, weights: Weights) -> Graph:
    """The network with these weights, data of `DATA` bits."""
    graph = run.graph.with_layers(
        replace(layer, weights=weights[layer.name][1]) if isinstance(layer, Conv2d) else layer
        for layer in run.graph.layers
    )
    layers = {name: LayerPrecision(weights=type_) for name, (type_, _) in weights.items()}
    return run_passes(choose_types(graph, Precision(default=Bits(DATA), layers=layers), ranges), FIXED_PASSES)


def cheapest(options: LayerOptions, interval: int, prices: NDArray[np.float64]) -> tuple[float, Any]:
    """The price of the cheapest folding that is fast enough, and the folding."""
    most = max(interval, int(options.intervals.min()))
    found = [
        (float(cost @ prices), one.fold)
        for cost, one, cycles in zip(options.costs, options.options, options.intervals, strict=True)
        if cycles <= most
    ]
    return min(found, key=lambda pair: pair[0])


def rows_of(network: str, interval: int) -> Iterator[Row]:
    style = hlsgen.load(DESIGNS / f"{network}.yaml", precision=DATA).style
    assert isinstance(style, StreamingNetwork) and style.reference is not None
    run = FloatRun(style.reference, style.samples)
    ranges, prices = ValueRanges(run, None), prices_of(style.board, "all")
    values = {layer.name: layer.weights for layer in run.graph.layers if isinstance(layer, Conv2d)}
    dsp = float(prices[KINDS.index("dsp")])
    constraints = replace(style.constraints, instances=1, target_interval=None)
    for bits in BITS:
        for kind, makes in (("type", of_one_type), ("points", with_points)):
            if kind == "points" and bits not in OTHERS:
                continue
            weights: Weights = {name: makes(one, bits) for name, one in values.items()}
            options = all_options(typed(run, ranges, weights), style.board, constraints, interval)
            for name, one in values.items():
                price, fold = cheapest(options[name], interval, prices)
                common: Mapping[str, Any] = {
                    "network": network,
                    "interval": interval,
                    "layer": name,
                    "bits": bits,
                    "multipliers": fold.multipliers,
                }
                yield Row(**common, kind=kind, decibels=decibels(one, weights[name][1]), price=price)
                if kind == "type" and bits in OTHERS:
                    scaled = decibels(one, with_scales(one, bits))
                    yield Row(**common, kind="scales", decibels=scaled, price=price + dsp * fold.px * fold.pe)


def judged(rows: list[Row]) -> list[Row]:
    """The rows of one layer at one interval, each beside those of one type. Weights that some type holds
    exactly, as those that were trained for 8 bits, are on no line: no decibels tell what that is worth.
    """
    single = sorted((one.price, one.decibels) for one in rows if one.kind == "type")
    found = []
    for row in rows:
        below = [worth for price, worth in single if price <= row.price]
        lines = [
            first[1] + (row.price - first[0]) / (second[0] - first[0]) * (second[1] - first[1])
            for first in single
            for second in single
            if second[1] < EXACT
            if first[0] <= row.price < second[0]
        ]
        best = max(below, default=-np.inf)
        found.append(
            replace(row, better=row.decibels - best, along=row.decibels - max([*lines, *below], default=best))
        )
    return found


def measured() -> list[Row]:
    found: list[Row] = []
    for network, intervals in NETWORKS.items():
        for interval in intervals:
            rows = list(rows_of(network, interval))
            for name in dict.fromkeys(row.layer for row in rows):
                found += judged([row for row in rows if row.layer == name])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path, default=JSON)
    path = parser.parse_args().json
    rows = measured()
    table = Table(
        "network", "cycles", "layer", "kind", "bits", "by", "dB", "price", "better", "along the line"
    )
    for row in rows:
        if row.kind != "type":
            table.add_row(
                *(row.network, f"{row.interval}", row.layer, row.kind, f"{row.bits}", row.multipliers),
                *(f"{row.decibels:.1f}", f"{row.price:.2%}", f"{row.better:+.1f}", f"{row.along:+.1f}"),
            )
    console = Console(width=120)
    console.print(table)
    for kind in ("points", "scales"):
        some = [row for row in rows if row.kind == kind and np.isfinite(row.better)]
        worth = sum(row.along > 0 for row in some)
        middle, most = np.median([row.along for row in some]), max(row.along for row in some)
        console.print(
            f"{kind}: {worth} of {len(some)} above the line; median {middle:+.1f} dB, most {most:+.1f} dB"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    main()
