"""The PyTorch frontend: names, structure, any parameters, and whole networks."""

# ruff: noqa: E402 (PyTorch has to be there for the imports below the first)

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
import torch.nn.functional as F
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from torch import nn

from hlsgen.frontends.torch.to_graph import graph_of_module, load_module
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from tests.support.frontends.ports import kinds, outputs_of
from tests.support.frontends.torch_models import IMAGE, TOLERANCE, Of, Shape, Together, same

NETWORKS = Path(__file__).resolve().parents[2] / "designs"


def names(graph: Graph) -> list[str]:
    return [layer.name for layer in graph.layers]


class Block(nn.Module):
    """A residual block whose last ReLU works in place."""

    def __init__(self, channels: int, filters: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, filters, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(filters)
        self.conv2 = nn.Conv2d(filters, filters, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(filters)
        self.down = nn.Conv2d(channels, filters, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu_(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += self.down(x)
        return F.relu_(y)


def test_a_residual_network() -> None:
    graph = same(
        nn.Sequential(Block(4, 4, 1), Block(4, 6, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 5)),
        (4, 8, 8),
        layers=["conv2d", "affine", "clamp", "conv2d", "affine", "add", "clamp"]
        + ["conv2d", "affine", "clamp", "conv2d", "affine", "conv2d", "add", "clamp", "global_pool", "dense"],
    )
    assert names(graph)[:8] == [
        *("n0_conv1", "n0_bn1", "n0_relu", "n0_conv2", "n0_bn2", "n0_add", "n0_relu_2", "n1_conv1")
    ]
    assert names(graph)[-2:] == ["n2", "n4"]


def test_a_module_that_is_used_twice_becomes_two_layers() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(4, 4, 3, padding=1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.conv(F.relu(self.conv(x)))

    graph = same(Twice(), IMAGE, layers=["conv2d", "clamp", "conv2d"])
    assert names(graph) == ["conv", "relu", "conv_2"]
    first, _, second = graph.layers
    assert isinstance(first, Conv2d) and isinstance(second, Conv2d)
    np.testing.assert_array_equal(first.weights, second.weights)


def test_what_works_in_place_changes_every_other_use() -> None:
    def function(_: nn.Module, x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        z = y[:, :2]
        F.relu_(y)
        return z + y[:, 2:]

    same(Of(function), IMAGE)


def test_inputs_and_outputs_are_called_as_in_the_model() -> None:
    class Two(nn.Module):
        def forward(self, left: torch.Tensor, right: torch.Tensor) -> dict[str, Any]:
            return {"both": left + right, "parts": (left * 2, [right * 3]), "float": left - right}

    graph = same(Two(), IMAGE, IMAGE)
    assert [port.name for port in graph.inputs] == ["left", "right"]
    assert [port.name for port in graph.outputs] == ["both", "parts_0", "parts_1_0", "float1"]


def test_outputs_of_tuples_are_numbered() -> None:
    graph = same(Of(lambda m, x: (x + 1, x * 2)), IMAGE)
    assert [port.name for port in graph.outputs] == ["out0", "out1"]
    assert [port.name for port in same(Of(lambda m, x: x + 1), IMAGE).outputs] == ["out0"]


def test_an_output_that_is_the_input_and_one_that_is_given_twice() -> None:
    same(Of(lambda m, x: (y := x * 2, x, y)), IMAGE)


class Last(nn.Module):
    """A model of [N, C, H, W] for [N, H, W, C]."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


def test_images_that_come_channels_last_cost_nothing() -> None:
    model = nn.Sequential(nn.Conv2d(4, 3, 3), nn.ReLU())
    same(Last(model), (6, 5, 4), layers=["conv2d", "clamp"])


def test_flatten_before_a_linear_layer_permutes_the_weights() -> None:
    """The vector comes in the order of the image's stream: row, column, channel."""
    model = nn.Sequential(nn.Conv2d(4, 3, 3), nn.Flatten(), nn.Linear(48, 7))
    graph = same(model, IMAGE, layers=["conv2d", "rearrange", "dense"])
    dense = graph.layers[-1]
    assert isinstance(dense, Conv2d)
    weight = model[2].weight.detach().numpy()
    np.testing.assert_array_equal(
        dense.weights[:, :, 0, 0], weight.reshape(7, 3, 4, 4).transpose(0, 2, 3, 1).reshape(7, 48)
    )


def test_normalisation_after_a_transposed_convolution_comes_before_the_shuffle() -> None:
    model = nn.Sequential(nn.ConvTranspose2d(4, 3, 4, 2, 1, bias=False), nn.BatchNorm2d(3), nn.ReLU())
    same(model, IMAGE, layers=["conv2d", "affine", "clamp", "rearrange", "crop"])


def test_layers_of_convnext_on_channels_that_are_last_rearrange_nothing() -> None:
    class Mix(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wide = nn.Linear(4, 8)
            self.narrow = nn.Linear(8, 4)
            self.gamma = nn.Parameter(torch.rand(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x.permute(0, 2, 3, 1)
            y = self.gamma * self.narrow(F.gelu(self.wide(y)))
            return x + y.permute(0, 3, 1, 2)

    same(Mix(), IMAGE, layers=["conv2d", "table", "conv2d", "affine", "add"])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_batch_never_leaks_into_shapes(size: int) -> None:
    """Whatever size is the number of frames that the model is traced with."""
    same(Of(lambda m, x: F.relu(x.view(x.shape[0], -1, size)).transpose(1, 2).flatten(1)), (size, size, size))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_weights_are_the_models_own_to_the_last_bit(dtype: torch.dtype) -> None:
    model = nn.Conv2d(4, 3, 3).to(dtype)
    graph = graph_of_module(model, [IMAGE], name="net")
    (layer,) = graph.layers
    assert isinstance(layer, Conv2d)
    weights = model.weight.detach().numpy().copy()
    assert layer.weights.dtype == weights.dtype
    bias = model.bias.detach().numpy().copy()  # type: ignore[union-attr]
    with torch.no_grad():  # the model may be trained further
        model.weight += 1
        model.bias += 1  # type: ignore[operator]
    np.testing.assert_array_equal(layer.weights, weights)
    assert not np.shares_memory(layer.weights, model.weight.detach().numpy())
    np.testing.assert_array_equal(layer.bias, bias)


# many parameters


def together(models: list[nn.Module], shape: Shape) -> None:
    """That each of the models gives what its layers give."""

    same(Together(models), shape)


PAIRS = st.tuples(st.integers(1, 4), st.integers(1, 4))
SMALL = st.tuples(st.integers(1, 3), st.integers(1, 3))
BORDER = st.tuples(st.integers(0, 3), st.integers(0, 3))
FEW = settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def convolutions(draw: st.DrawFn) -> nn.Module:
    groups = draw(st.sampled_from((1, 2, 4)))
    mode = draw(st.sampled_from(("zeros", "zeros", "reflect", "replicate", "circular")))
    dilation = draw(SMALL)
    padding: Any = draw(st.one_of(BORDER, st.just("valid")))
    stride = draw(PAIRS)
    if draw(st.booleans()):
        padding, stride = "same", (1, 1)
    filters = groups * draw(st.integers(1, 2))
    kernel = draw(SMALL)
    bias = draw(st.booleans())
    return nn.Conv2d(4, filters, kernel, stride, padding, dilation, groups, bias, mode)


@FEW
@given(st.lists(convolutions(), min_size=16, max_size=16))
def test_any_convolution(models: list[nn.Module]) -> None:
    together(models, (4, 8, 9))


@st.composite
def transposed(draw: st.DrawFn) -> nn.Module:
    groups = draw(st.sampled_from((1, 2, 4)))
    kernel, stride, dilation, padding = draw(PAIRS), draw(PAIRS), draw(SMALL), draw(BORDER)
    extra = tuple(
        draw(st.integers(0, max(step, space) - 1)) for step, space in zip(stride, dilation, strict=True)
    )
    sizes = [
        (size - 1) * step - 2 * cut + (taps - 1) * space + 1 + more
        for size, step, cut, taps, space, more in zip(
            (4, 5), stride, padding, kernel, dilation, extra, strict=True
        )
    ]
    assume(min(sizes) > 0)
    filters = groups * draw(st.integers(1, 2))
    bias = draw(st.booleans())
    return nn.ConvTranspose2d(4, filters, kernel, stride, padding, extra, groups, bias, dilation)


@FEW
@given(st.lists(transposed(), min_size=16, max_size=16))
def test_any_transposed_convolution(models: list[nn.Module]) -> None:
    together(models, (4, 4, 5))


@st.composite
def pools(draw: st.DrawFn) -> nn.Module:
    kernel, stride = draw(PAIRS), draw(PAIRS)
    padding = tuple(draw(st.integers(0, side // 2)) for side in kernel)
    ceil = draw(st.booleans())
    if draw(st.booleans()):
        divisor = draw(st.sampled_from((None, 1, 5)))
        return nn.AvgPool2d(kernel, stride, padding, ceil, draw(st.booleans()), divisor)
    dilation = draw(st.integers(1, 2)) if max(kernel) < 4 else 1
    return nn.MaxPool2d(kernel, stride, padding, dilation, ceil_mode=ceil)


@FEW
@given(st.lists(pools(), min_size=16, max_size=16))
def test_any_pool(models: list[nn.Module]) -> None:
    together(models, (2, 9, 8))


# the networks that come with the designs


@pytest.fixture(autouse=True)
def no_leftovers() -> Iterator[None]:
    """Loading a file leaves neither its folder on sys.path nor its modules behind."""
    before, path = set(sys.modules), list(sys.path)
    yield
    assert sys.path == path
    mine = [
        name
        for name in set(sys.modules) - before
        if str(NETWORKS) in str(getattr(sys.modules[name], "__file__", ""))
    ]
    assert mine == []


@pytest.mark.parametrize(
    ("file", "maker", "size", "layers"),
    [
        ("vgg_cifar", "VggCifar", 32, 13 * 3 + 5 + 1),
        ("resnet18", "ResNet18", 64, 20 * 2 + 17 + 1 + 8 + 2),
        ("mobilenet_v2", "MobileNetV2", 64, 52 * 2 + 35 + 10 + 2),
        ("yolov3_tiny", "YoloV3Tiny", 64, 11 * 3 + 2 + 6 + 1 + 2),
    ],
)
def test_network(file: str, maker: str, size: int, layers: int) -> None:
    graph = same(load_module(NETWORKS / "networks" / f"{file}.py", maker), (3, size, size))
    assert len(graph.layers) == layers, kinds(graph)


def test_digits_with_their_trained_weights() -> None:
    folder = NETWORKS / "digits"
    model = load_module(folder / "digits.py", "make_net", folder / "digits.pt")
    graph = graph_of_module(model, [(1, 8, 8)], name="digits_net")
    images = np.load(folder / "test_images.npy")[:50].astype(np.float64)
    labels = np.load(folder / "test_labels.npy")[:50]
    scores = outputs_of(graph, images)["out0"]
    with torch.no_grad():
        wanted = model.double()(torch.from_numpy(images))
    np.testing.assert_allclose(scores, wanted.numpy(), rtol=0, atol=TOLERANCE)
    assert (scores.argmax(1) == labels).mean() > 0.95
    assert names(graph) == [
        *("conv1", "bn1", "relu1", "pool1", "conv2", "bn2", "relu2", "pool2", "fc_rearrange", "fc")
    ]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.float8_e5m2])
def test_modules_of_short_floats(dtype: torch.dtype) -> None:
    """Weights as they are, and arithmetic without the roundings of their type: as PyTorch in float32."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4)).to(dtype)
    graph = graph_of_module(net, [(2, 6, 6)], name="net")
    x = torch.randn(2, 2, 6, 6)
    with torch.no_grad():
        wanted = net.to(torch.float32)(x).numpy()
    (found,) = outputs_of(graph, x.numpy()).values()
    np.testing.assert_allclose(found, wanted, atol=1e-5)
