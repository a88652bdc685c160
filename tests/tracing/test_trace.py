"""`Design.trace`: names, layouts and values beside the framework's own, and which layer goes wrong first."""

from __future__ import annotations

import importlib.util
import math
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import hlsgen
from hlsgen.base.errors import DesignError, ToolError
from hlsgen.tracing import frames as frames_module
from hlsgen.tracing import trace as trace_module

DESIGNS = Path(__file__).parents[2] / "designs"


class Block(nn.Module):
    """A residual block as torchvision writes it: one ReLU, in place, called twice."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.relu(y + x)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, stride=2), nn.Hardswish())
        self.block = Block(4)
        self.pool = nn.MaxPool2d(2)
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(4 * 3 * 2, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.pool(self.block(self.stem(x)))
        return self.fc(self.flatten(y) * 0.5)


def made_net() -> Net:
    torch.manual_seed(5)
    net = Net()
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-0.2, 0.2)
            module.running_var.uniform_(0.5, 1.5)
    return net.eval()


@cache
def made_design() -> hlsgen.Design:
    return hlsgen.from_torch(made_net(), (3, 13, 9), calibration=X)


X = np.random.default_rng(2).normal(size=(24, 3, 13, 9))


def of_hooks(net: nn.Module, x: np.ndarray[Any, Any]) -> dict[str, list[np.ndarray[Any, Any]]]:
    """What every module without others inside gives, call by call: the judge, written apart."""
    found: dict[str, list[np.ndarray[Any, Any]]] = {}
    hooks = [
        module.register_forward_hook(
            lambda _m, _x, y, path=path: found.setdefault(path, []).append(y.detach().numpy().copy())
        )
        for path, module in net.named_modules()
        if not list(module.children())
    ]
    with torch.no_grad():
        net(torch.from_numpy(x).float())
    for hook in hooks:
        hook.remove()
    return found


def held(design: hlsgen.Design, x: Any) -> Any:
    """Frames as the input's type holds them: what both the design and the framework are given."""
    return design.graph.inputs[0].tensor.type.decode(design.inputs_of(x)[design.graph.inputs[0].name])


def test_torch_names_and_layouts_are_those_of_forward_hooks() -> None:
    net = made_net()
    design = hlsgen.from_torch(net, (3, 13, 9), calibration=X)
    trace = design.trace(X)
    judged = 0
    for path, calls in of_hooks(net, held(design, X)).items():
        for number, wanted in enumerate(calls):
            layer = trace.layer(f"{path}@{number}" if number else path)
            if layer.fused:
                continue
            assert layer.values is not None and layer.values.shape == wanted.shape
            noise = np.square(layer.values - wanted).mean()
            assert noise < 0.01 * np.square(wanted).mean(), path
            assert layer.wanted is not None
            np.testing.assert_array_equal(layer.wanted, wanted)
            judged += 1
    assert judged == 8
    assert trace.judge is not None and trace.judge.startswith("PyTorch")
    assert trace.first_wrong is None and trace.misread is None


def test_a_fused_layer_says_where_it_went() -> None:
    trace = made_design().trace(X[:4])
    assert [trace.layer(f"block.{name}").note for name in ("conv1", "bn1", "relu")] == [
        "fused into block_conv1",
        "fused into block_conv1",
        "block.conv1, block.bn1 fused into it",
    ]
    assert "block.conv1" not in trace
    with pytest.raises(DesignError, match="(?s)block.bn1 is fused into block_conv1.*block.relu"):
        trace["block.bn1"]


def test_operations_that_are_no_modules_have_names_too() -> None:
    net = made_net()
    design = hlsgen.from_torch(net, (3, 13, 9), calibration=X)
    trace, hooks = design.trace(X), of_hooks(net, held(design, X))
    stem, bn2 = hooks["stem.1"][0], hooks["block.bn2"][0]
    np.testing.assert_allclose(trace.layer("block.add").wanted, stem + bn2, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(trace.layer("mul").wanted, hooks["flatten"][0] * np.float32(0.5))


def test_the_layer_with_too_narrow_a_type_is_the_first_wrong_one() -> None:
    net = made_net()
    precision = {"default": "fixed<16,6>", "block_conv2": {"output": "fixed<3,2>"}}
    trace = hlsgen.from_torch(net, (3, 13, 9), precision=precision).trace(X)
    assert trace.first_wrong is not None and trace.first_wrong.name == "block.bn2"
    assert "goes wrong in block.bn2 first" in trace.verdict()[0]
    error = trace.first_wrong.error
    assert error is not None
    values, wanted = trace["block.bn2"], trace.layer("block.bn2").wanted
    assert wanted is not None
    assert error.largest == np.abs(values - wanted).max()
    assert abs(values - wanted)[error.where] == error.largest
    assert error.snr_db == pytest.approx(
        10 * math.log10(np.square(wanted).sum() / np.square(values - wanted).sum())
    )


def test_a_model_that_changed_since_is_told() -> None:
    net = made_net()
    design = hlsgen.from_torch(net, (3, 13, 9), calibration=X)
    with torch.no_grad():
        net.block.conv2.weight.mul_(1.5)
    trace = design.trace(X)
    assert trace.misread is not None and trace.misread.name == "block.bn2"
    assert "the model has changed" in trace.verdict()[0]


def test_the_model_is_left_as_it_was() -> None:
    net = made_net()
    design = hlsgen.from_torch(net, (3, 13, 9), calibration=X)
    net.train()
    net.block.bn1.eval()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    design.trace(X)
    assert net.training and not net.block.bn1.training and net.block.bn2.training
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert not any(module._forward_hooks for module in net.modules())


def test_without_the_framework_floating_point_judges() -> None:
    design = made_design()
    own, theirs = design.trace(X, framework=False), design.trace(X)
    assert own.judge == "hlsgen's floating point"
    for one in theirs.layers:
        other = own.layer(one.name)
        if one.error is not None and one.error.noise:
            assert other.error is not None
            assert other.error.snr_db == pytest.approx(one.error.snr_db, abs=0.01)


def test_frames_in_parts_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    design = made_design()
    whole = design.trace(X)
    monkeypatch.setattr(frames_module, "PART_ELEMENTS", 7 * 1200)
    parts = design.trace(X)
    for one, other in zip(whole.layers, parts.layers, strict=True):
        assert (one.values is None) == (other.values is None)
        if one.values is not None and other.values is not None:
            np.testing.assert_array_equal(one.values, other.values)
        if one.error is not None and other.error is not None:
            assert (one.error.largest, one.error.where) == (
                pytest.approx(other.error.largest, rel=1e-4),
                other.error.where,
            )


def test_values_that_are_too_many_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    design = made_design()
    monkeypatch.setattr(trace_module, "KEPT_ELEMENTS", 24 * 40)
    trace = design.trace(X)
    assert not len(trace) and trace.layer("fc").error is not None
    with pytest.raises(DesignError, match=r'(?s)trace\(x, layers=\["fc"\]\)'):
        trace["fc"]
    assert list(design.trace(X, layers=["fc"])) == ["fc"]
    with pytest.raises(DesignError, match="more than 960"):
        design.trace(X, layers=["fc", "pool", "block.add"])
    with pytest.raises(DesignError, match="(?s)no layer 'block.bn3'.*block.bn2"):
        design.trace(X, layers=["block.bn3"])
    with pytest.raises(DesignError, match="(?s)no layer 'pol'.*pool"):
        trace.layer("pol")


def test_a_design_file_runs_its_model_again(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\nfrom torch import nn\n\n\ndef make():\n    torch.manual_seed(1)\n"
        "    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4))\n"
    )
    file = tmp_path / "net.yaml"
    file.write_text(
        'name: net\nboard: u200\nmodel: {torch: "net.py:make"}\ninput: {shape: [1, 6, 6], samples: random}\n'
    )
    trace = hlsgen.load(file).trace(X[:4, :1, :6, :6])
    assert [one.name for one in trace.layers] == ["input1", "0", "1", "2", "3"]
    assert trace.layer("0").note == "fused into n0"
    assert trace.first_wrong is None and trace.misread is None


@pytest.mark.parametrize("name", ["conv.yaml", "three_layers.yaml"])
def test_layers_that_are_written_have_their_own_names(name: str) -> None:
    design = hlsgen.load(DESIGNS / name)
    x = np.random.default_rng(0).uniform(-0.5, 0.5, (2, *design.graph.inputs[0].shape))
    trace = design.trace(x)
    assert [one.name for one in trace.layers[1:]] == [one.name for one in design.graph.layers]
    np.testing.assert_array_equal(
        trace[trace.layers[-1].name].reshape(2, -1), np.reshape(design.golden(x), (2, -1))
    )


@pytest.mark.skipif(importlib.util.find_spec("qkeras") is None, reason="needs qkeras")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_qkeras_layers_are_equal_to_the_last_bit() -> None:
    from tests.support.frontends.keras_models import packages, quantizers, randomised

    keras, q = packages().keras, packages().qkeras
    kernel = quantizers("kernel")
    inner = keras.Sequential(
        [
            keras.Input((6, 6, 4)),
            q.QConv2D(4, 3, padding="same", **kernel, name="conv"),
            q.QActivation("quantized_relu(6,2)", name="act"),
        ],
        name="inner",
    )
    source = keras.Input((6, 6, 2), name="image")
    x = q.QActivation("quantized_bits(8,2,alpha=1)", name="start")(source)
    y = q.QActivation("quantized_relu(6,2)", name="act")(q.QConv2D(4, 3, padding="same", **kernel)(x))
    z = keras.layers.Add(name="sum")([inner(inner(y)), y])
    z = keras.layers.Flatten(name="flat")(q.QActivation("quantized_relu(7,3)", name="last")(z))
    model = randomised(keras.Model(source, q.QDense(3, **kernel, name="scores")(z)))
    trace = hlsgen.from_qkeras(model).trace(X[:5, :2, :6, :6].transpose(0, 2, 3, 1))
    assert trace.verdict() == [
        f"All 7 layers that are not fused equal {trace.judge}'s, bit for bit",
    ]
    names = ["start", "act", "inner.act", "inner.act@1", "last", "flat", "scores"]
    given = trace.layer("image").wanted
    for name in ("start", "act", "last", "flat", "scores"):
        shown = keras.Model(source, model.get_layer(name).output)
        np.testing.assert_array_equal(trace[name], np.asarray(shown(np.float32(given))), err_msg=name)
    assert set(names) <= set(trace)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensors_of_onnx_have_their_names() -> None:
    pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    pytest.importorskip("qonnx", reason="needs qonnx")
    from tests.support.frontends.onnx_networks import brevitas_like, executed

    made, step = brevitas_like(scales=False)
    array = np.float32(X[:8, :, :8, :8])
    trace = hlsgen.from_onnx(made).trace(array)
    assert trace.judge == "QONNX"
    output = made.graph.output[0].name
    before = made.graph.node[-1].input[0]
    assert trace[before].shape == executed(made, array).shape
    np.testing.assert_allclose(trace.layer(before).wanted, executed(made, array), atol=1e-6)
    assert np.abs(trace[before] - executed(made, array)).max() <= 1.001 * step
    weights = {f"t{number}" for number, node in enumerate(made.graph.node) if node.input[0].startswith("c")}
    every = {name for node in made.graph.node for name in node.output}
    assert len(weights) == 3
    assert {one.name for one in trace.layers} >= every - weights - {output}


def test_a_table_needs_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = made_design().trace(X[:2])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ToolError, match="fix: pip install pandas"):
        trace.to_frame()


def test_a_table_of_pandas() -> None:
    pytest.importorskip("pandas", reason="needs pandas")
    frame = made_design().trace(X[:2]).to_frame()
    assert frame.loc["block.conv1", "note"] == "fused into block_conv1"
    assert frame.loc["fc", "snr_db"] > 20
