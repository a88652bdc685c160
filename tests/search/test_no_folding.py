"""A folding that does not exist: the remedy is written into the design, and hardware is found."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
import yaml

import hlsgen
from hlsgen.base.errors import DesignError

DESIGN = """name: net
board: zcu102
style: {style}
input: {{shape: {shape}, type: "ufixed<8,0>", samples: random}}
layers:
  - {{name: c1, kind: conv2d, out_channels: 4, kernel: {kernel}, weights: {{seed: 1}}}}
  - {{name: d1, kind: dense, out_channels: 10, weights: {{seed: 2}}}}
precision: "fixed<8,2>"
mapping: {mapping}
"""
FREE = "mapping: auto"
ASKED = {
    "adders": "multipliers: constants",
    "adders, one output": "multipliers: constants, pe: 1",
    "adders, one input": "multipliers: constants, simd: 1",
    "adders, a divisor of nothing": "multipliers: constants, pe: 3, simd: 3",
    "adders of loaded weights": "multipliers: constants, weights: runtime",
    "adders of weights in a memory": "multipliers: constants, storage: bram",
    "all of these": "multipliers: constants, weights: runtime, storage: bram, pe: 2",
    "four products": "multipliers: quad",
    "bits": "multipliers: popcount",
    "a divisor of nothing": "pe: 3",
    "two of these": "pe: 7, simd: 9",
    "pixels": "px: 5, pe: 2",
    "more than there is": "pe: 4096",
}
IMAGES = {"rows": ("[1, 6, 6]", "3"), "a row": ("[1, 1, 6]", "[1, 3]"), "a pixel": ("[3, 1, 1]", "1")}


def said(path: Path, style: str, image: str, mapping: str) -> str | None:
    """The error of the hardware; None: there is some."""
    shape, kernel = IMAGES[image]
    path.write_text(DESIGN.format(style=style, shape=shape, kernel=kernel, mapping=mapping))
    try:
        hlsgen.load(path).check()
    except DesignError as error:
        return str(error)
    return None


def obeyed(mapping: dict[str, object], fix: str) -> dict[str, object]:
    """A layer's mapping with what a remedy names; `no storage` takes that key away."""
    changed = dict(mapping)
    if "no storage" in fix:
        changed.pop("storage", None)
    for key, value in re.findall(r"(\w+): (\w+)", fix.partition(", or ")[0]):
        changed[key] = yaml.safe_load(value)
    return changed


@pytest.mark.parametrize(("style", "layer"), list(product(("dataflow", "tasks"), ("c1", "d1"))))
def test_the_remedy_is_a_folding(tmp_path: Path, style: str, layer: str) -> None:
    path, refused = tmp_path / "net.yaml", 0
    for image, (what, asked) in product(IMAGES, ASKED.items()):
        own = yaml.safe_load(f"{{{asked}}}")
        error = said(path, style, image, f"{{{layer}: {{{asked}}}}}")
        if error is None or "px" in error.partition("fix:")[0] and "keys here" in error:
            continue
        refused += 1
        fix = error.rpartition("fix: ")[2]
        assert not fix.startswith("the keys here"), error
        if fix.startswith(FREE):
            after = said(path, style, image, "auto")
        else:
            written = yaml.safe_dump({layer: obeyed(own, fix)}, default_flow_style=True, width=1000).strip()
            after = said(path, style, image, written)
        assert after is None, f"{image}, {what}: {error}\n{after}"
    assert refused >= 15
