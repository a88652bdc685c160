"""Layers on the CPU: ONNX Runtime and PyTorch, judged by the framework's own module and by golden."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest

from hlsgen.api.from_model import from_torch
from hlsgen.base.errors import DesignError
from hlsgen.cpu.functions import WRITERS
from hlsgen.cpu.measuring import measured_seconds
from hlsgen.cpu.operators import OPERATORS
from hlsgen.cpu.running import FRAMEWORKS, Framework, cpu_part
from hlsgen.cpu.torch_functions import MAKERS, TORCH_FUNCTIONS
from hlsgen.layers.functions import FUNCTIONS
from hlsgen.model.ir import Graph, run_golden
from hlsgen.model.parts import part_of, tensors_at

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
nn = torch.nn


class Branches(nn.Module):
    """Residual addition, product with a pixel, concatenation, an input read twice."""

    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Conv2d(4, 4, 3, padding=1, groups=2)
        self.right = nn.Conv2d(4, 4, 1, bias=False)
        self.gate = nn.Conv2d(4, 4, 1)

    def forward(self, x):  # type: ignore[no-untyped-def]
        left, right = torch.relu(self.left(x)), self.right(x)
        gate = torch.sigmoid(self.gate(nn.functional.adaptive_avg_pool2d(left, 1)))
        return torch.cat([(left + right) * gate, left - x], dim=1)


class Moves(nn.Module):
    """Slices, paddings, shuffles, repeated pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(4, 8, 3)

    def forward(self, x):  # type: ignore[no-untyped-def]
        x = nn.functional.pad(self.first(x)[:, 1:7, ::2, 1:], (1, 2, 0, 3), value=0.25)
        x = nn.functional.interpolate(x[:, :4], scale_factor=2, mode="nearest")
        return nn.functional.pixel_shuffle(x, 2).permute(0, 1, 3, 2)


def one(layer: Callable[..., object]) -> object:
    return nn.Sequential(nn.Conv2d(4, 6, 3, stride=2, padding=(1, 0)), layer)


MODULES = {
    "conv": one(nn.ReLU6()),
    "dilated": one(nn.Conv2d(6, 3, (2, 3), dilation=(2, 1), padding=(2, 1))),
    "asymmetric": nn.Sequential(nn.ZeroPad2d((0, 1, 2, 1)), nn.Conv2d(4, 4, 3), nn.Hardtanh(-0.5, 0.25)),
    "depthwise": nn.Sequential(nn.Conv2d(4, 8, 3, groups=4), nn.BatchNorm2d(8), nn.LeakyReLU(0.1)),
    "max pool": one(nn.MaxPool2d(2, stride=2, padding=1, ceil_mode=True)),
    "dilated max pool": one(nn.MaxPool2d(2, stride=1, dilation=2)),
    "average pool": one(nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False)),
    "average pool with overhang": one(nn.AvgPool2d(2, stride=3, padding=1, ceil_mode=True)),
    "divided pool": one(nn.AvgPool2d(2, divisor_override=3)),
    "adaptive average": one(nn.AdaptiveAvgPool2d((2, 3))),
    "adaptive max": one(nn.AdaptiveMaxPool2d((3, 2))),
    "global": one(nn.AdaptiveAvgPool2d(1)),
    "dense": nn.Sequential(nn.Conv2d(4, 3, 3), nn.Flatten(), nn.Linear(3 * 7 * 8, 5), nn.Softmax(dim=1)),
    "scores": nn.Sequential(nn.Flatten(), nn.Linear(4 * 9 * 10, 5), nn.LogSoftmax(dim=1)),
    "slopes": one(nn.PReLU(6, init=0.3)),
    "branches": Branches(),
    "moves": Moves(),
}
ACTIVATIONS = {
    "elu": nn.ELU(0.7),
    "celu": nn.CELU(1.3),
    "selu": nn.SELU(),
    "gelu": nn.GELU(),
    "gelu_tanh": nn.GELU("tanh"),
    "silu": nn.SiLU(),
    "mish": nn.Mish(),
    "sigmoid": nn.Sigmoid(),
    "tanh": nn.Tanh(),
    "hard_sigmoid": nn.Hardsigmoid(),
    "hard_swish": nn.Hardswish(),
    "softplus": nn.Softplus(2.0, 3.0),
    "softsign": nn.Softsign(),
    "log_sigmoid": nn.LogSigmoid(),
    "tanhshrink": nn.Tanhshrink(),
    "softshrink": nn.Softshrink(0.3),
    "hardshrink": nn.Hardshrink(0.3),
    "threshold": nn.Threshold(0.1, -0.2),
}
SHAPE = (4, 9, 10)


class Side(nn.Module):
    """Every activation behind a convolution of its own, one after the other in the channels."""

    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(4, 4, 1, groups=4) for _ in ACTIVATIONS)
        self.functions = nn.ModuleList(ACTIVATIONS.values())

    def forward(self, x):  # type: ignore[no-untyped-def]
        pairs = zip(self.convs, self.functions, strict=True)
        return torch.cat([function(conv(x)) for conv, function in pairs], dim=1)


@functools.cache
def float_graph(module: object) -> Graph:
    design = from_torch(
        module, SHAPE, name="part", calibration=np.random.default_rng(0).normal(size=(4, *SHAPE))
    )
    reference = design.given.reference
    assert reference is not None
    return reference


SIDE = Side().eval()


def result(graph: Graph, framework: Framework, x: np.ndarray) -> np.ndarray:
    found = cpu_part(graph, framework)({graph.inputs[0].name: graph.inputs[0].to_tensor(x)})
    port = graph.outputs[0]
    return port.from_tensor(found[port.source])


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", MODULES)
def test_layers_equal_the_module(name: str, framework: Framework) -> None:
    module = MODULES[name].eval()
    x = np.random.default_rng(1).normal(size=(3, *SHAPE))
    with torch.no_grad():
        wanted = module.double()(torch.from_numpy(x)).numpy()
    found = result(float_graph(module.float()), framework, x)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_functions_equal_the_module(framework: Framework) -> None:
    x = np.random.default_rng(2).normal(size=(2, *SHAPE)) * 2
    with torch.no_grad():
        wanted = SIDE.double()(torch.from_numpy(x)).numpy()
    found = result(float_graph(SIDE.float()), framework, x)
    assert found.shape[1] == 4 * len(ACTIVATIONS)
    for number, name in enumerate(ACTIVATIONS):
        channels = np.s_[:, 4 * number : 4 * number + 4]
        np.testing.assert_allclose(found[channels], wanted[channels], rtol=1e-4, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", ["conv", "average pool", "branches", "dense"])
def test_fixed_point_equals_golden(name: str, framework: Framework) -> None:
    """Sums of few bits are exact in float32, and results round and saturate as their types do."""
    module = MODULES[name].eval()
    module = module[:-1] if name == "dense" else module  # a softmax rounds in its own way
    x = np.random.default_rng(4).normal(size=(3, *SHAPE))
    design = from_torch(module.float(), SHAPE, name="part", calibration=x, precision=6)
    graph = design.graph
    codes = design.inputs_of(x)
    wanted = run_golden(graph, codes)
    tensors = graph.tensors()
    part = cpu_part(graph, framework)
    found = part({one: tensors[one].type.decode(array) for one, array in codes.items()})
    for one, values in found.items():
        np.testing.assert_array_equal(values, tensors[one].type.decode(wanted[one]))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_parts_in_sequence_are_the_whole(framework: Framework) -> None:
    """Bit for bit, wherever it is cut: what passes a cut is all that the layers behind it read."""
    graph = float_graph(MODULES["branches"])
    x = np.random.default_rng(5).random((2, *SHAPE), np.float32)
    whole = cpu_part(graph, framework)({graph.inputs[0].name: x})
    for cut in range(1, len(graph.layers)):
        first, second = part_of(graph, 0, cut, "a"), part_of(graph, cut, len(graph.layers), "b")
        values = {graph.inputs[0].name: x, **cpu_part(first, framework)({graph.inputs[0].name: x})}
        assert {port.name for port in second.inputs} <= set(tensors_at(graph, cut))
        found = cpu_part(second, framework)(values)
        for name, array in whole.items():
            np.testing.assert_allclose(found[name], array, rtol=1e-6, atol=1e-6)


def test_both_frameworks_have_the_same_kinds() -> None:
    """A layer or function that one of them lacks would make the measured minimum depend on what is there."""
    assert set(OPERATORS) == set(MAKERS)
    assert set(WRITERS) == set(TORCH_FUNCTIONS) == set(FUNCTIONS)


def test_time_is_measured() -> None:
    """More work takes longer; a judge that no machine makes doubtful."""
    small, large = (
        cpu_part(float_graph(nn.Sequential(nn.Conv2d(4, count, 3), nn.ReLU())), "onnxruntime")
        for count in (1, 4096)
    )
    assert 0 < measured_seconds(small) < measured_seconds(large)


def test_what_no_framework_has_is_refused() -> None:
    from hlsgen.hardware.processor import Processor
    from hlsgen.search.graph_cuts import before, cuts

    module = nn.Sequential(nn.Conv2d(4, 4, 3), nn.Conv2d(4, 4, 3)).eval()
    design = from_torch(module, SHAPE, name="part", precision=8, calibration=np.ones((1, *SHAPE)))
    cut = cuts(design.graph)[0]
    processor = Processor.__new__(Processor)
    for key, value in (("rows", 2), ("lanes", 4), ("activation_bits", 16)):
        object.__setattr__(processor, key, value)
    try:
        graph = before(design.graph, cut, processor)
    except AttributeError:
        pytest.skip("lanes of a processor follow from others")
    with pytest.raises(DesignError, match="row_blocks has no form on the CPU"):
        cpu_part(graph, "onnxruntime")
