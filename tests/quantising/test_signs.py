"""What signs read and give, in a network in floating point: narrow exact types, and no channel lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hlsgen.base.fixed import FixedType
from hlsgen.layers.conv2d import Conv2d

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'hlsgen[torch]'")

import hlsgen  # noqa: E402

nn = torch.nn
CHANNELS = 24


class Apply(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


FUNCTIONS: dict[str, Any] = {
    "sign": torch.sign,
    "at least 0": lambda x: torch.where(x >= 0, 1.0, -1.0),
    "above 0": lambda x: (x > 0).float(),
    "at least 0, halves": lambda x: torch.where(x >= 0, 0.5, -0.5),
}


def normalised(seed: int, least: float) -> Any:
    """Batch normalisation with scales from 10**least to 1, as training leaves channels that it gave up."""
    rng = np.random.default_rng(seed)
    norm = nn.BatchNorm2d(CHANNELS)
    scales = 10.0 ** rng.uniform(least, 0, CHANNELS) * rng.choice([-1, 1], CHANNELS)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor(scales))
        norm.bias.copy_(torch.tensor(scales * rng.normal(0, 0.3, CHANNELS)))
        norm.running_var.uniform_(0.5, 2)
    return norm


def network(function: str, seed: int, least: float, *, pooled: bool = False, tanh: bool = False) -> Any:
    torch.manual_seed(seed)
    between = [nn.MaxPool2d(2)] if pooled else []
    between += [nn.Hardtanh()] if tanh else []
    conv = nn.Conv2d(3, CHANNELS, 3, bias=False)
    return nn.Sequential(conv, normalised(seed, least), *between, Apply(FUNCTIONS[function])).eval()


X = np.random.default_rng(7).normal(0, 1, (24, 3, 8, 8))


def differing(net: Any, **given: Any) -> tuple[Any, float]:
    """The design, and the share of results that are not PyTorch's."""
    design = hlsgen.from_torch(net, (3, 8, 8), calibration=X, **given)
    with torch.no_grad():
        wanted = net(torch.tensor(X, dtype=torch.float32)).numpy()
    return design, float((np.asarray(design.golden(X)) != wanted).mean())


@pytest.mark.parametrize("pooled, tanh", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_channel_before_a_sign_loses_its_bits(function: str, pooled: bool, tanh: bool) -> None:
    net = network(function, 0, -9.0, pooled=pooled, tanh=tanh)
    _, share = differing(net, precision=16)
    assert share < 1e-3  # weights and inputs of 16 bits; half of all without
    assert differing(net, precision=8)[1] < 0.03


def test_channels_of_one_size_are_as_near_as_they_were() -> None:
    assert differing(network("sign", 3, -0.1), precision=8)[1] < 0.03


@pytest.mark.parametrize("function, width", [("sign", 2), ("at least 0", 1), ("above 0", 2)])
def test_signs_read_a_bit_or_two_and_give_as_many(function: str, width: int) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = network(function, 1, -3.0), nn.Conv2d(CHANNELS, 4, 3)

        def forward(self, x: Any) -> Any:
            return self.last(self.first(x))

    torch.manual_seed(0)
    design, _ = differing(Net().eval(), precision={"default": 8, "weights": 1})
    convolutions = [layer for layer in design.graph.layers if isinstance(layer, Conv2d)]
    first, last = (one.output_type for one in convolutions), [one.input_type for one in convolutions]
    assert isinstance(last[1], FixedType) and last[1].width <= 2
    found = next(first)
    assert isinstance(found, FixedType) and found.width == width
    estimate = design.estimate().as_json()["layers"]
    assert next(one for one in estimate if one["name"] == "last")["dsp"] == 0


def test_a_type_that_is_given_counts_for_a_sign_too() -> None:
    net = network("sign", 1, -1.0)
    given = {"default": 8, "0": {"weights": "fixed<12,2>", "output": "fixed<12,3>"}}
    name = hlsgen.from_torch(net, (3, 8, 8), calibration=X, precision=8).graph.layers[0].name
    design, _ = differing(net, precision={name: given.pop("0"), **given})
    layer: Any = design.graph.layers[0]
    assert (layer.weight_type.width, layer.output_type.width) == (12, 12)
