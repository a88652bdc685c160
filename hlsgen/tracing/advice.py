"""Which type to widen, and how: for the layers whose noise the outputs show most."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hlsgen.base.fixed import MAX_TENSOR_WIDTH, FixedType
from hlsgen.base.short_repr import Brief
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.model.precision import binade
from hlsgen.tracing.noise import LayerNoise
from hlsgen.tracing.ranges import TensorRange

BIT_DB = 20 * math.log10(2)
"""What a bit more takes off the noise of rounding."""
MOST_BITS = 6
"""More bits at once are not proposed: with these another layer is the worst."""
HEADROOM_BITS = 1
"""Unused bits at the top of a result that stay: other frames may need them."""
MOST_ADVICE = 3
WORTH_SHARE = 0.1
"""A layer whose noise is less of that at the outputs is not worth a word."""


@dataclass(frozen=True, kw_only=True)
class Advice(Brief):
    """A type to widen. key: of `precision`: input, or output or weights of a layer. why: in words. share: the
    layer's, of the noise that all layers make at the outputs (or add, where that was not run).
    """

    layer: str
    key: str
    old: FixedType
    new: FixedType
    why: str
    share: float

    @property
    def precision(self) -> dict[str, Any]:
        """What to write in Python: precision={...}."""
        short = _short(self.new)
        return {"input": short} if self.key == "input" else {self.layer: {self.key: short}}

    @property
    def design_file(self) -> str:
        """What to write in a design file."""
        short = _short(self.new)
        inside = f'input: "{short}"' if self.key == "input" else ""
        return f"precision: {{{inside or self._layer_text(short)}}}"

    def _layer_text(self, short: str) -> str:
        value = f'"{short}"' if self.key == "output" else f'{{{self.key}: "{short}"}}'
        return f"layers: {{{self.layer}: {value}}}"

    def __str__(self) -> str:
        return f"{self.layer}: {self.why}; {self.design_file} instead of {_short(self.old)}"

    def as_json(self) -> dict[str, Any]:
        return {
            "layer": self.layer,
            "key": self.key,
            "type": _short(self.old),
            "wider": _short(self.new),
            "share": self.share,
            "why": self.why,
            "design_file": self.design_file,
            "python": f"precision={json.dumps(self.precision)}",
        }


def _short(type_: FixedType) -> str:
    """Without modes, which the design chooses: fixed<10,4>."""
    return str(FixedType(type_.width, type_.integer, type_.signed))


def shares_of(noise: Sequence[LayerNoise]) -> dict[str, float]:
    """Each layer's share of the noise: at the outputs where that was run for all, else of what is added, each
    beside its own signal.
    """
    ran = all(one.at_outputs is not None for one in noise if one.added)
    parts = {
        one.name: (one.at_outputs or 0.0) if ran else (one.added / one.signal if one.signal else 0.0)
        for one in noise
    }
    whole = sum(parts.values())
    return {name: part / whole if whole else 0.0 for name, part in parts.items()}


def advice(graph: Graph, noise: Sequence[LayerNoise], ranges: Sequence[TensorRange]) -> tuple[Advice, ...]:
    """The wider types of the layers that lose most, the worst first."""
    shares = shares_of(noise)
    usual = sorted(share for share in shares.values() if share)
    middle = usual[len(usual) // 2] if usual else 0.0
    found = []
    for one in sorted(noise, key=lambda each: -shares[each.name])[:MOST_ADVICE]:
        share = shares[one.name]
        if share < WORTH_SHARE or not one.cause:
            continue
        made = _wider(graph, one, share, middle, {(each.name, each.part): each for each in ranges})
        if made is not None:
            found.append(made)
    return tuple(found)


def _wider(
    graph: Graph,
    one: LayerNoise,
    share: float,
    usual: float,
    ranges: Mapping[tuple[str, str], TensorRange],
) -> Advice | None:
    """The type that takes a layer's noise down to the usual layer's; None: it is as wide as can be."""
    part = "input" if one.name in {port.name for port in graph.inputs} else "result"
    key = {"input": "input", "result": "output"}[part]
    old = graph.tensors()[one.name].type
    layer = next((each for each in graph.layers if each.name == one.name), None)
    said = f"{share:.0%} of all layers' noise"
    bits = min(MOST_BITS, max(1, math.ceil(10 * math.log10(share / usual) / BIT_DB))) if usual else 1
    if one.cause == "weights" and isinstance(layer, Conv2d):
        key, old = "weights", layer.weight_type
    if not isinstance(old, FixedType):
        return None
    if one.cause == "clipping":
        held = ranges[one.name, part]
        integer = _integer_bits(held, old)
        bits = min(MOST_BITS, max(1, integer - old.integer))
        why = f"{said}, {one.clipping / one.added:.0%} of that by clipping {held.clipped:.2%} of its values"
        new = replace(old, width=old.width + bits, integer=old.integer + bits)
    else:
        held = ranges[one.name, "weights" if key == "weights" else part]
        # weights are known, of a result other frames may show more
        moved = min(bits, held.spare if key == "weights" else max(0, held.spare - HEADROOM_BITS))
        what = "its weights are" if key == "weights" else "the last bit of its result is"
        unused = f", and its highest {held.spare} bits are never used" if moved else ""
        why = f"{said}; {what} too coarse{unused}"
        new = replace(old, width=old.width + bits - moved, integer=old.integer - moved)
    if new.width > MAX_TENSOR_WIDTH:
        return None
    return Advice(layer=one.name, key=key, old=old, new=new, why=why, share=share)


def _integer_bits(held: TensorRange, type_: FixedType) -> int:
    """The integer bits that hold the largest value that was seen."""
    largest = max(abs(held.least), abs(held.most))
    return binade(largest) + 1 + type_.signed if largest else type_.integer
