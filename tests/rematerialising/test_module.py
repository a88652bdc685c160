"""Modules under a budget: gradients bit for bit, what they change, peaks as predicted, refusals."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

import hlsgen
from hlsgen.base.errors import BudgetWarning, DesignError
from hlsgen.rematerialising.chain import Kind
from hlsgen.rematerialising.module import Rematerialised
from hlsgen.rematerialising.peaks import step_cost
from hlsgen.rematerialising.plan import Plan
from tests.rematerialising import nets


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(3)
    yield
    torch.set_num_threads(threads)


def least(module: nn.Module, frame: torch.Tensor) -> int:
    return hlsgen.rematerialise(module, frame, "1GB").plan.least_memory


def trained(module: nn.Module, frames: list[torch.Tensor]) -> list[torch.Tensor]:
    """Outputs, parameters and buffers after a training step with each frame, random numbers seeded."""
    torch.manual_seed(11)
    optimizer = torch.optim.SGD([one for one in module.parameters() if one.requires_grad], 0.1, momentum=0.9)
    found = []
    for frame in frames:
        optimizer.zero_grad()
        output = module(frame)
        output.square().sum().backward()
        found += [output.detach(), *(one.grad for one in module.parameters() if one.grad is not None)]
        optimizer.step()
    return [*found, *module.parameters(), *module.buffers(), torch.rand(3)]


@functools.cache
def with_plan(name: str) -> tuple[nn.Module, torch.Tensor, Plan]:
    """A net, a batch, and the plan in plenty of memory: each takes a measurement of all stages."""
    make, shape = nets.NETS[name]
    module, frame = make().train(), torch.rand(shape)
    return module, frame, hlsgen.rematerialise(module, frame, "1GB").plan


@pytest.mark.parametrize("share", [0.0, 0.5, 2.0], ids=["least", "between", "plenty"])
@pytest.mark.parametrize("name", nets.NETS)
def test_three_steps_leave_what_plain_training_leaves(name: str, share: float) -> None:
    net, frame, plan = with_plan(name)
    module, plain = copy.deepcopy(net), copy.deepcopy(net)
    memory = plan.least_memory + int(share * (plan.plain_peak - plan.least_memory))
    budgeted = hlsgen.rematerialise(module, frame, memory)
    assert bool(budgeted.plan.again) == (share < 1 and plan.least_memory < plan.plain_peak)
    frames = [torch.rand(frame.shape) for _ in range(3)]
    for one, other in zip(trained(plain, frames), trained(budgeted, frames), strict=True):
        assert torch.equal(one, other)


def test_most_nets_have_something_to_compute_again() -> None:
    """Else the test above would prove nothing."""
    again = {}
    for name in nets.NETS:
        module, frame, plan = with_plan(name)
        again[name] = hlsgen.rematerialise(module, frame, plan.least_memory).plan.again
    assert all(again[name] for name in ("layers", "residual", "residual in place", "own modules", "tied"))
    dropouts = [name for name in again["residual"] if name.startswith("blocks")]
    assert dropouts, again["residual"]


def test_planning_and_measuring_leave_the_module_and_random_numbers_alone() -> None:
    module, frame = nets.with_own_modules().train(), torch.rand(nets.PICTURE)
    before = copy.deepcopy(module)
    torch.manual_seed(5)
    hlsgen.rematerialise(module, frame, "1GB").measure(frame, repeats=1)
    state = torch.get_rng_state()
    torch.manual_seed(5)
    assert torch.equal(state, torch.get_rng_state())
    for one, other in zip(before.state_dict().values(), module.state_dict().values(), strict=True):
        assert torch.equal(one, other)
    assert [one.seen for one in module.modules() if isinstance(one, nets.Counting)] == [0, 0]
    assert all(one.grad is None for one in module.parameters())


@pytest.mark.parametrize("budget", ["least", "plenty"])
def test_the_measured_peak_is_the_predicted_one(budget: str) -> None:
    """Wide and deep enough for activations of megabytes; operations' own small needs are what is left."""
    layers = [nn.Conv2d(3, 16, 3, padding=1)]
    for _ in range(4):
        layers += [nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1)]
    module, frame = nn.Sequential(*layers), torch.rand(4, 3, 48, 48)
    plan = hlsgen.rematerialise(module, frame, "1GB").plan
    memory = plan.least_memory if budget == "least" else plan.plain_peak
    budgeted = hlsgen.rematerialise(module, frame, memory)
    cost = budgeted.measure(frame, repeats=1)
    assert cost.peak <= memory
    assert cost.peak >= 0.9 * budgeted.plan.peak
    assert cost.seconds > 0
    if budget == "plenty":
        plain = step_cost(module, frame, repeats=1)
        assert plain.peak <= budgeted.plan.plain_peak <= 1.15 * plain.peak


def test_it_needs_less_than_pytorchs_own_segments_of_one_length() -> None:
    """checkpoint_sequential cuts a chain into equal numbers of layers, and keeps the last of them whole."""
    blocks: list[nn.Module] = [nn.Conv2d(3, 16, 3, padding=1)]
    for _ in range(7):
        blocks.append(nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()))
    module, frame = nn.Sequential(*blocks), torch.rand(4, 3, 48, 48)

    class Segments(nn.Module):
        def __init__(self, number: int) -> None:
            super().__init__()
            self.module = module
            self.number = number

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            output: torch.Tensor = checkpoint_sequential(self.module, self.number, x, use_reentrant=False)
            return output

    theirs = min(step_cost(Segments(number), frame, repeats=0).peak for number in range(2, 5))
    assert least(module, frame) < theirs


def test_the_least_memory_is_enough_and_less_is_refused() -> None:
    module, frame = nets.plain().train(), torch.rand(nets.PICTURE)
    needed = least(module, frame)
    assert hlsgen.rematerialise(module, frame, needed).plan.peak <= needed
    with pytest.raises(DesignError, match="the least possible is"):
        hlsgen.rematerialise(module, frame, needed - 1)


@pytest.mark.parametrize("return_quant_tensor", [False, True], ids=["tensors", "tensors with scales"])
def test_layers_of_brevitas_train_alike(return_quant_tensor: bool) -> None:
    """Their scales come from statistics of the first batches, counted in plain attributes."""
    qnn = pytest.importorskip("brevitas.nn", reason="Brevitas is not installed")
    layers: list[nn.Module] = [qnn.QuantIdentity(bit_width=8, return_quant_tensor=return_quant_tensor)]
    for channels in (3, 16, 16):
        layers += [
            qnn.QuantConv2d(channels, 16, 3, padding=1, weight_bit_width=4),
            nn.BatchNorm2d(16),
            qnn.QuantReLU(bit_width=4, return_quant_tensor=return_quant_tensor),
        ]
    module, frame = (
        nn.Sequential(*layers, nn.Flatten(), nn.Linear(16 * 64, 5)).train(),
        torch.rand(6, 3, 8, 8),
    )
    plain = copy.deepcopy(module)
    budgeted = hlsgen.rematerialise(module, frame, least(module, frame))
    assert budgeted.plan.again
    frames = [torch.rand(frame.shape) for _ in range(3)]
    for one, other in zip(trained(plain, frames), trained(budgeted, frames), strict=True):
        assert torch.equal(one, other)


def test_blocks_are_one_stage_and_batch_norm_and_relu_are_one() -> None:
    plan = hlsgen.rematerialise(nets.Residual().train(), torch.rand(nets.PICTURE), "1GB").plan
    names = [stage.name for stage in plan.chain.stages]
    assert [name for name in names if name.startswith("blocks")] == [f"blocks.{i}" for i in range(3)]
    plan = hlsgen.rematerialise(nets.plain().train(), torch.rand(nets.PICTURE), "1GB").plan
    names = [stage.name for stage in plan.chain.stages]
    assert "1 to 2" in names, "a tensor that is written over"
    assert names[-3:] == ["6 to 8", "9 to 10", "loss"], "a view, and what LogSoftmax does not keep"


def test_evaluation_and_no_grad_call_the_module_itself() -> None:
    module, frame = nets.Residual().train(), torch.rand(nets.PICTURE)
    budgeted = hlsgen.rematerialise(module, frame, least(module, frame))
    budgeted.eval()
    assert not module.training
    assert torch.equal(budgeted(frame), module(frame))
    with torch.no_grad():
        assert not budgeted(frame).requires_grad


def test_mixed_precision_is_computed_again_in_mixed_precision() -> None:
    module, frame = nets.Tied().train(), torch.rand(64, 12)
    plain = copy.deepcopy(module)
    budgeted = hlsgen.rematerialise(module, frame, least(module, frame))
    for one in (plain, budgeted):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            output = one(frame)
        output.float().square().sum().backward()
    for one, other in zip(plain.parameters(), module.parameters(), strict=True):
        assert one.grad is not None and other.grad is not None and torch.equal(one.grad, other.grad)


def test_some_parameters_alone_have_their_gradients() -> None:
    module, frame = nets.plain().train(), torch.rand(nets.PICTURE)
    plain = copy.deepcopy(module)
    budgeted = hlsgen.rematerialise(module, frame, least(module, frame))

    def of_some(one: nn.Module, net: nn.Module) -> tuple[torch.Tensor, ...]:
        torch.manual_seed(1)
        return torch.autograd.grad(one(frame).sum(), [*net.parameters()][::3])

    for one, other in zip(of_some(plain, plain), of_some(budgeted, module), strict=True):
        assert torch.equal(one, other)


def budgeted_plain() -> tuple[Rematerialised, torch.Tensor]:
    module, frame = nets.plain().train(), torch.rand(nets.PICTURE)
    return hlsgen.rematerialise(module, frame, least(module, frame)), frame


def test_a_second_way_back_and_gradients_of_gradients_are_refused() -> None:
    budgeted, frame = budgeted_plain()
    end = budgeted(frame).sum()
    end.backward(retain_graph=True)
    with pytest.raises(DesignError, match="goes backward once"):
        end.backward()
    with pytest.raises(DesignError, match="gradients of gradients"):
        torch.autograd.grad(budgeted(frame).sum(), [*budgeted.parameters()], create_graph=True)


def test_parameters_that_change_before_the_way_back_are_refused() -> None:
    budgeted, frame = budgeted_plain()
    end = budgeted(frame).sum()
    with torch.no_grad():
        next(budgeted.parameters()).add_(1)
    with pytest.raises(DesignError, match="parameters were changed"):
        end.backward()


def test_a_larger_batch_is_told() -> None:
    budgeted, frame = budgeted_plain()
    with pytest.warns(BudgetWarning, match="a batch of 12"):
        budgeted(torch.cat([frame, frame]))


class Around(nn.Module):
    """A chain within what is none: its input is used behind it once more, and layers come before it."""

    def __init__(self) -> None:
        super().__init__()
        self.before = nn.Conv2d(3, 3, 3, padding=1)
        self.features: nn.Module = nets.Residual()

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x = self.before(x)
        return self.features(x) + x.mean() + y


def test_a_part_that_is_a_chain_is_put_in_its_own_place() -> None:
    module, frame, other = Around().train(), torch.rand(nets.PICTURE), torch.rand(6, 5)
    plain = copy.deepcopy(module)
    own = torch.rand(nets.PICTURE).requires_grad_()
    module.features = hlsgen.rematerialise(module.features, own, least(module.features, own))
    for one in (plain, module):
        torch.manual_seed(1)
        one(frame, other).square().sum().backward()
    for one, changed in zip(plain.parameters(), module.parameters(), strict=True):
        assert one.grad is not None and changed.grad is not None and torch.equal(one.grad, changed.grad)


class Two(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


class Both(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(12, 12)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.fc(x), x


class OnValues(Both):
    def forward(self, x: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return self.fc(x) if x.sum() > 0 else x


class Noise(nn.Module):
    """Random numbers of its own, which nobody can set back."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = torch.Generator()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rand(x.shape, generator=self.generator) if float(x.sum()) else x


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (Two, "takes 2 inputs"),
        (Both, "gives more than one tensor"),
        (OnValues, "cannot be traced"),
        (lambda: nn.Sequential(nn.Linear(12, 12), Noise()), "computes something else|compute the same again"),
        (lambda: nn.Linear(12, 12).requires_grad_(False), "no parameter"),
        (nn.Identity, "gives back its input|no parameter"),
    ],
    ids=["two inputs", "two outputs", "on values", "noise", "frozen", "nothing"],
)
def test_what_is_no_chain_is_refused_with_the_reason(make: Callable[[], nn.Module], match: str) -> None:
    with pytest.raises(DesignError, match=match):
        hlsgen.rematerialise(make(), torch.rand(6, 12), "1GB")


def test_a_batch_that_does_not_fit_the_module_is_told() -> None:
    with pytest.raises(DesignError, match=r"does not run on a batch of \[6, 11\]: RuntimeError"):
        hlsgen.rematerialise(nn.Linear(12, 12), torch.rand(6, 11), "1GB")


@pytest.mark.parametrize("memory", ["lots", "-1MB", "0", "400 parsecs", "", "1e9", True])
def test_amounts_that_are_none_are_refused(memory: str) -> None:
    with pytest.raises(DesignError, match="no amount of memory"):
        hlsgen.rematerialise(nn.Linear(12, 12), torch.rand(6, 12), memory)


def test_held_memory_and_kept_gradients_count() -> None:
    module, frame = nets.plain().train(), torch.rand(nets.PICTURE)
    alone = least(module, frame)
    held = hlsgen.rematerialise(module, frame, "1GB", held="1MB").plan
    assert held.least_memory == alone + 10**6
    accumulating = hlsgen.rematerialise(module, frame, "1GB", accumulate=True).plan
    of_parameters = sum(one.nbytes for one in module.parameters())
    assert accumulating.least_memory > alone
    assert accumulating.chain.fixed_bytes == held.chain.fixed_bytes - 10**6 + of_parameters


def test_the_loss_counts_where_it_is_given() -> None:
    module, frame = nets.plain().train(), torch.rand(nets.PICTURE)
    labels = torch.zeros(len(frame), dtype=torch.long)
    plan = hlsgen.rematerialise(
        module, frame, "1GB", loss=lambda y: nn.functional.cross_entropy(torch.exp(y), labels)
    ).plan
    assert plan.chain.stages[-1].name == "loss"
    assert plan.chain.stages[-1].saved_bytes > 0
    assert plan.operations[len(plan.chain.stages) - 1].kind is Kind.KEEP
