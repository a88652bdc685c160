"""Trained weights in the parameters of the user's own module: read again, they are the same network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hlsgen.base.errors import DesignError
from hlsgen.passes import FLOAT_PASSES, run_passes

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn

from hlsgen.frontends.torch.to_graph import graph_of_module  # noqa: E402
from hlsgen.frontends.torch.write_back import carriers, with_weights  # noqa: E402
from hlsgen.layers.conv2d import Conv2d  # noqa: E402


def read(module: Any, shape: tuple[int, ...]) -> Any:
    return run_passes(graph_of_module(module, [shape], name="net"), FLOAT_PASSES)


class Permuted(nn.Module):  # type: ignore[name-defined, misc]
    """What the frontend turns: a dense layer behind channels last, a transposed and a 1-D convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(2, 3, 2, stride=1)
        self.before = nn.BatchNorm2d(2)
        self.conv = nn.Conv2d(3, 4, 2, groups=1)
        self.norm = nn.BatchNorm2d(4, eps=1e-3)
        self.fc = nn.Linear(4 * 9, 6)
        self.relu = nn.ReLU()

    def forward(self, x: Any) -> Any:
        x = self.relu(self.up(self.relu(self.before(x))))
        x = self.relu(self.norm(self.conv(x)))
        return self.fc(x.permute(0, 2, 3, 1).flatten(1))


def filled(module: Any) -> Any:
    torch.manual_seed(2)
    for one in module.modules():
        if isinstance(one, nn.BatchNorm2d):
            for tensor in (one.weight, one.running_var):
                nn.init.uniform_(tensor, 0.5, 2)
            for tensor in (one.bias, one.running_mean):
                nn.init.uniform_(tensor, -1, 1)
    return module.eval()


def test_other_weights_come_back_from_the_module() -> None:
    module, shape = filled(Permuted()), (2, 3, 3)
    reference = read(module, shape)
    known = carriers(module, [shape], reference)
    generator = np.random.default_rng(0)
    layers = [layer for layer in reference.layers if isinstance(layer, Conv2d)]
    assert [one.layer for one in known] == [layer.name for layer in layers] and len(layers) == 4
    wanted = {
        layer.name: (
            np.round(generator.normal(0, 9, layer.weights.shape)) / 8,
            np.round(generator.normal(0, 99, layer.bias.shape)) / 64,
        )
        for layer in layers
    }
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    state = with_weights(module, known, wanted)
    assert all(torch.equal(before[name], tensor) for name, tensor in module.state_dict().items())
    assert {name: one.dtype for name, one in state.items()} == {n: one.dtype for n, one in before.items()}
    module.load_state_dict(state)
    for layer in read(module, shape).layers:
        if isinstance(layer, Conv2d):
            weights, bias = wanted[layer.name]
            # a batch norm's scale is 1 but for float32
            assert np.allclose(layer.weights, weights, rtol=1e-6, atol=0)
            assert np.array_equal(layer.bias, bias)


class Shared(nn.Module):  # type: ignore[name-defined, misc]
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)

    def forward(self, x: Any) -> Any:
        return self.conv(torch.relu(self.conv(x)))


class Functional(nn.Module):  # type: ignore[name-defined, misc]
    def __init__(self) -> None:
        super().__init__()
        self.kernel = nn.Parameter(torch.ones(2, 2, 1, 1))

    def forward(self, x: Any) -> Any:
        return nn.functional.conv2d(x, self.kernel)


class Scaled(nn.Module):  # type: ignore[name-defined, misc]
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)

    def forward(self, x: Any) -> Any:
        return self.conv(x) * 0.3


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (Shared(), "its module is called several times"),
        (Functional(), "its weights are not those of one module"),
        (Scaled(), "its weights are not those of conv.weight, but computed from them"),
        (nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2, affine=False)), "has no scale and shift"),
    ],
)
def test_what_cannot_be_written_back_is_refused(module: Any, said: str) -> None:
    reference = read(module.eval(), (2, 3, 3))
    with pytest.raises(DesignError, match=said):
        carriers(module, [(2, 3, 3)], reference)
