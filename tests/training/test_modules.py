"""Modules of Brevitas against golden: every rounding and end of a type, every kind of layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hlsgen
from hlsgen.base.errors import DesignError, MismatchError
from hlsgen.base.fixed import FixedType, Overflow, Rounding

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("brevitas", reason="brevitas is not installed: pip install 'hlsgen[train]'")
nn = torch.nn

from hlsgen.training import quantisers  # noqa: E402
from hlsgen.training.backend import weights_of  # noqa: E402
from hlsgen.training.budget import within  # noqa: E402
from hlsgen.training.judge import compared  # noqa: E402
from hlsgen.training.network import Network  # noqa: E402

TYPES = st.builds(
    FixedType,
    st.integers(2, 16),
    st.integers(-4, 8),
    st.booleans(),
    st.sampled_from(Rounding),
    st.sampled_from([Overflow.SAT, Overflow.SAT_SYM]),
)


@settings(max_examples=60, deadline=None)
@given(TYPES, st.lists(st.integers(-(1 << 12), 1 << 12), min_size=1, max_size=40))
def test_activations_are_rounded_and_limited_as_the_type_does(type_: FixedType, numbers: list[int]) -> None:
    """Quarters of the type's steps: exact, just below and above, and halves."""
    x = np.array(numbers) * type_.resolution / 4
    module = quantisers.activation_quantiser(type_, "x").double()
    assert np.array_equal(module(torch.from_numpy(x)).numpy(), type_.decode(type_.encode(x)))


def test_gradients_pass_within_the_range_and_end_at_it() -> None:
    type_ = FixedType(4, 2, False, Rounding.RND, Overflow.SAT)
    x = torch.tensor([-1.0, 0.3, 1.2, 9.0], requires_grad=True)
    quantisers.activation_quantiser(type_, "x")(x).sum().backward()
    assert x.grad.tolist() == [0, 1, 1, 0]


def test_types_that_wrap_are_refused() -> None:
    with pytest.raises(DesignError, match=r"conv1 is fixed<4,2>, which wraps .*\nfix: .*fixed<4,2,rnd,sat>"):
        quantisers.activation_quantiser(FixedType(4, 2), "conv1")


class Residual(nn.Module):  # type: ignore[name-defined, misc]
    """Additions, products, averages with and without their border, concatenation, leaky slopes, padding."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv2d(2, 4, 3, padding=(1, 0), stride=(1, 2))
        self.b = nn.Conv2d(4, 4, 3, padding=1, groups=2)
        self.average = nn.AvgPool2d(3, 2, padding=1, count_include_pad=False)
        self.divided = nn.AvgPool2d(2, ceil_mode=True)
        self.adaptive = nn.AdaptiveAvgPool2d((2, 3))
        self.leaky = nn.LeakyReLU(0.2)
        self.fc = nn.Linear(4 * 6, 5)

    def forward(self, x: Any) -> Any:
        x = nn.functional.relu6(self.a(x))
        y = self.leaky(self.b(x)) + x
        z = self.average(y) - 0.5 * self.divided(y)[:, :, :5, :3]
        z = torch.cat([z[:, 2:], z[:, :2] * z[:, 2:]], 1)
        pooled = self.adaptive(nn.functional.pad(z, (1, 1, 0, 0)))
        return self.fc((pooled + z.mean((2, 3), keepdim=True)).flatten(1))


def design_of(module: Any, shape: tuple[int, ...], bits: int = 6) -> Any:
    x = np.random.default_rng(1).normal(0, 1, (24, *shape))
    return hlsgen.from_torch(module.eval(), shape, calibration=x, precision=bits, board="u200"), x


@pytest.mark.parametrize("bits", [3, 6, 10])
def test_a_network_of_many_kinds_gives_golden(bits: int) -> None:
    torch.manual_seed(bits)
    design, x = design_of(Residual(), (2, 9, 8), bits)
    kinds = {layer.kind for layer in design.graph.layers}
    assert kinds >= {"conv2d", "dense", "add", "sub", "mul", "pool2d", "adaptive_pool", "concat", "leaky"}
    network = Network(design.graph, weights_of(design.given.reference))
    assert network.as_chain() is None
    values = {"x": x}
    assert np.array_equal(network.evaluated(values)[0], design.golden(x))
    assert compared(network, design.graph, [values]) == 24 * 5


def test_a_chain_is_the_same_modules_one_after_the_other() -> None:
    design, x = design_of(nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2)), (1, 6, 6))
    network = Network(design.graph, weights_of(design.given.reference)).double()
    chain = network.as_chain()
    assert chain is not None and len(chain) == 2 + len(design.graph.layers)
    frames = torch.from_numpy(x)
    assert torch.equal(chain(frames), network(frames))
    assert {id(one) for one in chain.parameters()} == {id(one) for one in network.parameters()}


def test_channels_last_and_dense_order() -> None:
    class Last(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.fc = nn.Conv2d(1, 3, 3), nn.Linear(3 * 16, 4)

        def forward(self, x: Any) -> Any:
            return self.fc(torch.relu(self.conv(x.permute(0, 3, 1, 2))).permute(0, 2, 3, 1).flatten(1))

    design, x = design_of(Last(), (6, 6, 1))
    network = Network(design.graph, weights_of(design.given.reference))
    values = {port.name: port.to_tensor(x) for port in design.graph.inputs}
    assert np.array_equal(network.evaluated(values)[0], design.golden(x))


def test_other_rounding_or_another_weight_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutants of the modules: halves to even, a weight one step further, a ReLU left out."""
    torch.manual_seed(1)
    module = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.AvgPool2d(2))
    design, x = design_of(module, (1, 6, 6), 5)
    values = {port.name: port.to_tensor(x) for port in design.graph.inputs}

    def made() -> Network:
        return Network(design.graph, weights_of(design.given.reference))

    assert compared(made(), design.graph, [values]) == 24 * 12
    further = made()
    with torch.no_grad():
        further.stages[0].computed.products.weight.view(-1)[0] += design.graph.layers[
            0
        ].weight_type.resolution
    limits = made()
    limits.stages[0].computed.limits = (None, None)
    limits.stages[0].result = nn.Identity()
    monkeypatch.setitem(quantisers.ROUNDED, Rounding.RND, quantisers.HalvesEven)
    for mutant in (further, limits, made()):
        with pytest.raises(MismatchError, match="differs from the trained module in"):
            compared(mutant, design.graph, [values])


def test_a_budget_is_kept_with_the_gradients_of_plain_training() -> None:
    torch.manual_seed(3)
    module = nn.Sequential(*[nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.ReLU()) for _ in range(6)])
    design, x = design_of(module, (4, 12, 12), 4)
    network = Network(design.graph, weights_of(design.given.reference)).float().train()
    frames = torch.from_numpy(x).float()
    network(frames).square().sum().backward()
    wanted = [one.grad.clone() for one in network.parameters()]
    network.zero_grad()
    plan = within("1GB")(network, [frames]).plan
    assert plan.least_memory < 0.8 * plan.plain_peak
    budget = (plan.least_memory + plan.plain_peak) // 2
    said: list[str] = []
    made = within(budget, said.append)(network, [frames])
    made(frames).square().sum().backward()
    assert all(torch.equal(one.grad, other) for one, other in zip(network.parameters(), wanted, strict=True))
    held = 2 * sum(one.numel() * 4 for one in network.parameters())
    assert made.measure(frames).peak + held <= budget and "MB measured" in said[0]


def test_weights_of_one_bit_stay_minus_one_and_one() -> None:
    torch.manual_seed(4)
    module = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4))
    x = np.random.default_rng(1).normal(0, 1, (24, 1, 6, 6))
    types = {"default": 6, "weights": 1}
    design = hlsgen.from_torch(module.eval(), (1, 6, 6), calibration=x, precision=types, board="u200")
    network = Network(design.graph, weights_of(design.given.reference))
    values = {port.name: port.to_tensor(x) for port in design.graph.inputs}
    assert compared(network, design.graph, [values]) == 24 * 4
    network(torch.from_numpy(x)).square().sum().backward()
    for layer, (weights, _) in zip(
        [one for one in design.graph.layers if one.kind != "clamp"], network.weights().values(), strict=True
    ):
        assert np.array_equal(weights, layer.weight_type.decode(layer.weights))
        assert set(np.unique(np.abs(weights))) == {layer.weight_type.resolution}
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in network.parameters())
