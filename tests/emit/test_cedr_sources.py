"""Applications of CEDR from every style, layers and frameworks, in float32; their graph before fusing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.api.cedr import build_cedr
from hlsgen.base.errors import DesignError
from hlsgen.emit.cedr_float import TOLERANCE_BITS
from tests.support.places import ROOT

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


def model() -> Any:
    """Strides, groups, dilation, a kernel that is not square, limits on both sides, a skip, a dense layer."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    nn = torch.nn

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(3, 9, 3, 2, 1), nn.ReLU6())
            self.wide = nn.Conv2d(9, 6, (1, 3), dilation=(1, 2), groups=3, padding=(0, 2), bias=False)
            self.norm = nn.BatchNorm2d(6)
            self.head = nn.Linear(96, 5)

        def forward(self, x: Any) -> Any:
            y = self.wide(self.stem(x))
            return self.head((torch.relu(self.norm(y)) + y).flatten(1))

    torch.manual_seed(3)
    return Net().eval()


def design(style: str, precision: object) -> hlsgen.Design:
    x = np.random.default_rng(4).normal(0, 1, (8, 3, 8, 8))
    return hlsgen.from_torch(
        model(), input_shape=(3, 8, 8), calibration=x, precision=precision, board="zcu102", style=style
    )


@pytest.mark.parametrize("style", ["dataflow", "shared", "mixed", "auto"])
def test_any_style_is_a_source(style: str, tmp_path: Path) -> None:
    run = style == "dataflow"  # the files of the others are the same
    made = build_cedr(design(style, 8), tmp_path / "made", frames=2, run=run)
    assert not run or "10 of 10 results equal golden" in made.said
    assert list(made.calls) == ["stem_0", "wide", "norm", "head"] and "add" in made.on_cpu


@pytest.mark.parametrize("elements", [{}, {"CPU": "0"}, {"GEMM": "0"}], ids=str)
def test_float32_is_near_golden_and_pytorch(elements: dict[str, str], tmp_path: Path) -> None:
    """Products of matrices, wherever they run; golden itself is what PyTorch computes."""
    given = design("tasks", "float32")
    made = build_cedr(given, tmp_path / "made", frames=3, run=False)
    assert made.calls == {"stem_0": 1, "wide": 3, "norm": 6, "head": 1}
    environment = {**os.environ, **{f"HLSGEN_{name}": count for name, count in elements.items()}}
    done = subprocess.run(
        ["make", "-s", "run"], cwd=tmp_path / "made/cedr", env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"15 of 15 results are within 2^-{TOLERANCE_BITS} of golden" in done.stdout
    import torch

    x = np.random.default_rng(2).normal(0, 1, (3, 3, 8, 8)).astype(np.float32)
    with torch.no_grad():
        wanted = model()(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(given.golden(x), wanted, rtol=0, atol=np.abs(wanted).max() / 2**TOLERANCE_BITS)


def test_a_wrong_float_weight_is_seen(tmp_path: Path) -> None:
    build_cedr(design("tasks", "float32"), tmp_path / "made", frames=2, run=False)
    path = tmp_path / "made/cedr/data/wide.masks.npy"
    weights = np.load(path)
    weights *= np.float32(1.01)
    np.save(path, weights)
    done = subprocess.run(["make", "-s", "run"], cwd=tmp_path / "made/cedr", capture_output=True, text=True)
    assert done.returncode != 0 and "are within" in done.stdout


def test_a_layer_and_a_written_network_are_sources(tmp_path: Path) -> None:
    """One in float32, one in fixed point; the graph has its layers as the file has them, ReLU too."""
    layer = build_cedr(hlsgen.load(ROOT / "designs/conv.yaml"), tmp_path / "layer", frames=1)
    assert layer.calls == {"conv1": 1} and "are within" in layer.said
    build_cedr(hlsgen.load(ROOT / "designs/three_layers.yaml"), tmp_path / "three", frames=2)
    dag = json.loads((tmp_path / "three/cedr/dag.json").read_text())
    assert [one["type"] for one in dag][:3] == ["conv2d", "clamp", "pool2d"]
    assert {"kernel", "stride", "padding", "dilation", "groups"} <= set(dag[0])


def test_a_float32_layer_without_a_kernel_is_refused(tmp_path: Path) -> None:
    """LeakyReLU in float32 is the shared processor's alone."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.LeakyReLU(0.2))
    given = hlsgen.from_torch(net, input_shape=(3, 8, 8), precision="float32", board="zcu102", style="shared")
    with pytest.raises(DesignError, match="has no hardware for float32"):
        build_cedr(given, tmp_path / "made")


def onnx_model() -> Any:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    make, array = onnx.helper, onnx.numpy_helper.from_array
    rng = np.random.default_rng(6)
    held = {"w": rng.normal(0, 0.4, (4, 2, 3, 3)), **{name: rng.uniform(0.5, 2, 4) for name in "sbmv"}}
    nodes = [
        make.make_node("Conv", ["x", "w"], ["c"], name="conv", strides=[2, 1], pads=[1, 0, 1, 2]),
        make.make_node("BatchNormalization", ["c", *"sbmv"], ["n"], name="norm", epsilon=1e-3),
        make.make_node("LeakyRelu", ["n"], ["l"], alpha=0.375),
        make.make_node("MaxPool", ["l"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        make.make_node("Add", ["p", "p"], ["a"]),
        make.make_node("Relu", ["a"], ["y"]),
    ]
    values = [make.make_tensor_value_info(name, 1, shape) for name, shape in SHAPES.items()]
    held_arrays = [array(one.astype(np.float32), name) for name, one in held.items()]
    graph = make.make_graph(nodes, "net", values[:1], values[1:], held_arrays)
    return make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)


SHAPES = {"x": [1, 2, 8, 8], "y": [1, 4, 2, 4]}


def test_layers_of_onnx_are_written_down_before_they_are_fused(tmp_path: Path) -> None:
    """PyTorch computes from dag.json what ONNX Runtime computes from the file."""
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    build_cedr(
        hlsgen.from_onnx(onnx_model(), precision="fixed<18,8>", board="zcu102"), tmp_path / "made", frames=2
    )
    dag = json.loads((tmp_path / "made/cedr/dag.json").read_text())
    held = np.load(tmp_path / "made/cedr/parameters.npz")
    x = np.random.default_rng(7).normal(0, 1, SHAPES["x"]).astype(np.float32)
    session = runtime.InferenceSession(onnx_model().SerializeToString(), providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, {"x": x})
    values = {"x": torch.from_numpy(x).double()}
    for one in dag:
        read = [values[name] for name in ([one["input"]] if isinstance(one["input"], str) else one["input"])]
        values[one["output"]] = computed(torch, one, held, *read)
    assert one["outputs"] == ["y"]
    np.testing.assert_allclose(values[one["output"]].numpy(), wanted, rtol=1e-5, atol=1e-5)


def computed(torch: Any, entry: dict[str, Any], held: Any, *read: Any) -> Any:
    """An entry of a graph that is no PyTorch module's, from its fields."""
    F = torch.nn.functional
    kind = entry["type"]
    if kind in ("conv2d", "affine"):
        top, left, bottom, right = entry["padding"]
        weights, bias = (
            torch.from_numpy(held[entry[key]["parameter"]]).double() for key in ("weights", "bias")
        )
        padded = F.pad(read[0], (left, right, top, bottom))
        options = {key: entry[key] for key in ("stride", "dilation", "groups")}
        return F.conv2d(padded, weights, bias if len(bias) else None, **options)
    if kind == "leaky":
        return F.prelu(read[0], torch.from_numpy(np.atleast_1d(held[entry["slopes"]["parameter"]])).double())
    if kind == "pool2d":
        assert (entry["function"], entry["padding"]) == ("max", [0, 0, 0, 0])
        return F.max_pool2d(read[0], entry["kernel"], entry["stride"])
    if kind == "clamp":
        return read[0].clamp(entry["low"], entry["high"])
    assert kind == "add"
    return read[0] + read[1]
