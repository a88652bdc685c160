"""Networks in half: PyTorch in float64 judges golden within half's rounding, golden the C-simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.emit.constants import header_files
from hlsgen.layers.conv2d import Conv2d
from tests.support.build_folders import make

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch import nn  # noqa: E402

NETWORK = """
name: net
board: zcu102
style: tasks
batch: 2
input: {name: x, shape: [4, 9, 8], type: half}
layers:
  - {name: conv1, kind: conv2d, out_channels: 6, kernel: 3, padding: same, weights: {seed: 1}}
  - {name: relu1, kind: clamp, low: 0, high: 2.1}
  - {name: conv2, kind: conv2d, out_channels: 6, kernel: 1, groups: 2, weights: {seed: 3}}
  - {name: sum, kind: add, inputs: [conv2, relu1]}
  - {name: product, kind: mul, inputs: [sum, relu1]}
  - {name: pool1, kind: pool2d, function: max, kernel: 2, stride: 2}
  - {name: pool2, kind: pool2d, function: average, kernel: 3, stride: 1, padding: 1}
  - {name: mean, kind: global_pool, function: average}
  - {name: fc1, kind: dense, out_channels: 3, weights: {seed: 2}}
mapping: {conv1: {rows: 3, pe: 2, simd: 2, fabric_pe: 1}}
"""
IN_FLOAT = """
name: net
board: zcu102
style: tasks
batch: 2
input: {name: x, shape: [4, 7, 6]}
layers:
  - {name: padded, kind: pad, padding: [1, 1, 0, 2], value: 0.3}
  - {name: conv1, kind: conv2d, out_channels: 4, kernel: 3, weights: {seed: 1}}
  - {name: relu1, kind: clamp, low: 0, high: 1.3}
  - {name: largest, kind: global_pool, function: max}
precision: {default: half, accumulator: float32}
mapping: {conv1: {rows: 2, pe: 2, simd: 2, weights: runtime}}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "net.yaml"
    path.write_text(text)
    return path


def test_every_layer_equals_golden(tmp_path: Path) -> None:
    built = hlsgen.load(written(tmp_path, NETWORK)).build(tmp_path / "net")
    csim = built.report["csim"]
    assert csim["verdict"] == "equal" and csim["compared"] > 1000
    assert {layer["type"] for layer in built.report["layers"]} == {"half"}
    codes = np.load(tmp_path / "net" / "tb" / "output1_golden.npy")
    assert codes.dtype == np.float16
    weights = (tmp_path / "net" / "src" / "conv1_weights.h").read_text()
    assert "static const unsigned short WEIGHTS" in weights
    lanes = (tmp_path / "net" / "src" / "hlsgen" / "lanes.h").read_text()
    assert '#include "hlsgen/half.h"' in lanes
    done = make(tmp_path / "net" / "ompss", "sequential")
    assert done.returncode == 0 and "6 of 6 equal" in done.stdout, done.stderr


def test_sums_in_float32_and_weights_at_run_time(tmp_path: Path) -> None:
    design = hlsgen.load(written(tmp_path, IN_FLOAT))
    convolution = next(layer for layer in design.graph.layers if isinstance(layer, Conv2d))
    assert (str(convolution.accumulator), str(convolution.result_type)) == ("float32", "half")
    built = design.build(tmp_path / "net")
    assert built.report["csim"]["verdict"] == "equal"
    x = np.random.default_rng(0).standard_normal((2, 4, 7, 6))
    np.testing.assert_array_equal(built.csim(x), design.golden(x))


class Deep(nn.Module):  # type: ignore[misc]
    """Sums of 1,152 products."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 128, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(128, 8, 3), nn.ReLU()
        )
        self.head = nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        return self.head(self.body(x).mean(dim=(2, 3)))


def error_of(precision: object) -> float:
    """The largest difference from float64 of a network with half weights, beside its largest output."""
    torch.manual_seed(3)
    model = Deep().eval().half().double()
    design = hlsgen.from_torch(
        model.float(), input_shape=(3, 12, 12), name="net", precision=precision, style="tasks", board="u200"
    )
    x = np.random.default_rng(0).standard_normal((4, 3, 12, 12)).astype(np.float16)
    with torch.no_grad():
        want = model.double()(torch.from_numpy(x.astype(np.float64))).numpy()
    return float(np.abs(design.golden(x) - want).max() / np.abs(want).max())


def test_golden_is_near_the_framework() -> None:
    in_half, in_float = error_of("half"), error_of({"default": "half", "accumulator": "float32"})
    assert in_half < 16 * 2.0**-11, "a few last bits: sums are trees"
    assert in_float < 3 * 2.0**-11 and in_float < in_half


def test_other_styles_and_types_are_refused(tmp_path: Path) -> None:
    for text, message in (
        (
            NETWORK.replace("style: tasks", "style: dataflow").split("mapping")[0],
            "a streaming kernel computes",
        ),
        (
            NETWORK.replace("style: tasks", "style: shared").split("mapping")[0],
            "shared processors compute in",
        ),
        (
            NETWORK.replace("kind: clamp, low: 0, high: 2.1", "kind: softmax"),
            "a softmax has no hardware for half",
        ),
        (IN_FLOAT.replace("default: half, ", ""), "in which only products of halves are added up"),
        (
            IN_FLOAT.replace("half, accumulator: float32", "half, weights: 'fixed<8,2>'"),
            "no other key but accu",
        ),
        (
            IN_FLOAT.replace("default: half, accumulator: float32", "default: float32, accumulator: half"),
            "no other",
        ),
    ):
        with pytest.raises(DesignError) as refused:
            hlsgen.load(written(tmp_path, text))
        assert message in str(refused.value), text


def test_weights_beyond_half_are_refused() -> None:
    model = nn.Sequential(nn.Conv2d(1, 1, 1))
    with torch.no_grad():
        model[0].weight.fill_(7e4)
    with pytest.raises(DesignError, match="of its weights a value exceeds the range of half"):
        hlsgen.from_torch(model, input_shape=(1, 4, 4), precision="half", style="tasks")


def test_what_is_not_half_emits_no_half() -> None:
    names = ("static.h", "lanes.h", "dot.h")
    plain, half = (header_files(names, half=one) for one in (False, True))
    assert set(half) - set(plain) == {"src/hlsgen/half.h", "src/hlsgen/half_sums.h"}
    assert "half" not in plain["src/hlsgen/lanes.h"]
    assert plain["src/hlsgen/dot.h"] == half["src/hlsgen/dot.h"]
