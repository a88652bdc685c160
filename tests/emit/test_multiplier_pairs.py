"""Networks whose layers multiply in different ways, widths and pixels a cycle compile, without a warning.

A compiler merges functions of one source file that are alike: what compiles alone may not beside another one.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import hlsgen

COMPILERS = ("g++-11", "g++-12", "g++-13", "g++-14", "g++", "clang++")
Way = tuple[str, int]
"""What multiplies, and the pixels a cycle."""


def network(ways: list[Way], bits: int) -> dict[str, Any]:
    """A convolution for each way."""
    conv = {"kind": "conv2d", "out_channels": 2, "kernel": 3, "padding": 1, "weights": {"seed": 1}}
    types = f"ufixed<{bits},{bits - 1}"
    folds = {
        f"c{index}": {"px": px, "pe": 2, "simd": 2, "multipliers": kind}
        for index, (kind, px) in enumerate(ways)
    }
    return {
        "name": "ways",
        "board": "u200",
        "batch": 2,
        "input": {"shape": [2, 16, 16], "type": f"{types}>", "samples": "random"},
        "precision": {"default": f"{types},rnd,sat>", "weights": f"fixed<{bits},2>"},
        "layers": [{"name": name, **conv} for name in folds],
        "mapping": {"instances": 1, **folds},
    }


def loaded(folder: Path, ways: list[Way], bits: int) -> hlsgen.Design:
    (folder / "ways.yaml").write_text(yaml.safe_dump(network(ways, bits)))
    return hlsgen.load(folder / "ways.yaml")


def legal_ways(folder: Path, bits: int) -> list[Way]:
    """Those that the search may choose for such a layer."""
    layer, _ = loaded(folder, [("dsp", 1)] * 2, bits).graph.layers
    folds = [one for one in layer.folds() if one.pe == one.simd == 2]
    return sorted({(one.multipliers, one.px) for one in folds if one.multipliers})


def assert_compiles(folder: Path, ways: list[Way], bits: int, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXX", compiler)
        project = loaded(folder, ways, bits).build(folder / "b", frames=1, schedule=False)
    assert project.figures.csim.verdict == "equal"


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_quads_of_two_widths(tmp_path: Path, compiler: str) -> None:
    """Eight pixels after sixteen: g++ took the one's array for the other's and warned of its bounds."""
    assert_compiles(tmp_path, [("quad", 16), ("quad", 8), ("quad", 8)], 4, compiler)


@pytest.mark.nightly
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("bits", [1, 2, 3, 4, 6, 8])
def test_every_pair(tmp_path: Path, bits: int, compiler: str) -> None:
    ways = legal_ways(tmp_path, bits)
    assert len(ways) > 4
    assert_compiles(tmp_path, ways, bits, compiler)
