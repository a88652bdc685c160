"""`precision: {balance: true}`: channels scaled by powers of two. PyTorch says what a network gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import run_golden
from hlsgen.passes import FLOAT_PASSES, run_passes
from hlsgen.quantising.balance_channels import balanced_run
from hlsgen.quantising.channel_groups import by_channel, channel_groups
from hlsgen.quantising.float_run import FloatRun
from hlsgen.training.train import check as check_training
from tests.support.command_line import run as command
from tests.support.networks import residual_network

torch = pytest.importorskip("torch")
nn = torch.nn
SHAPE = (3, 12, 12)


def uneven_net(spread: float, last: Any = None) -> Any:
    """Convolutions, a depthwise one, a residual sum and a pool; batch norms whose channels differ in size by
    up to 2^spread either way, and weights behind them that make up for it.
    """
    torch.manual_seed(0)

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
            self.deep, self.bn2 = nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False), nn.BatchNorm2d(16)
            self.conv2 = nn.Conv2d(16, 16, 1)
            self.conv3, self.relu = nn.Conv2d(16, 16, 1), last or nn.ReLU()
            self.pool, self.fc = nn.AvgPool2d(12), nn.Linear(16, 10)

        def forward(self, x: Any) -> Any:
            x = torch.relu(self.bn1(self.conv1(x)))
            x = self.conv2(torch.relu(self.bn2(self.deep(x))))
            x = self.relu(self.conv3(torch.relu(x)) + x)
            return self.fc(self.pool(x).flatten(1))

    net = Net().eval()
    with torch.no_grad():
        for norm, readers in ((net.bn1, [net.deep]), (net.bn2, [net.conv2])):
            sizes = 2.0 ** (spread * (2 * torch.rand(16) - 1))
            norm.weight.mul_(sizes), norm.bias.mul_(sizes)
            for reader in readers:
                own = reader.weight.shape[1] == 1
                reader.weight.div_(sizes.reshape(-1, 1, 1, 1) if own else sizes.reshape(1, -1, 1, 1))
    return net


def decibels(design: Any, net: Any, x: Any) -> float:
    with torch.no_grad():
        wanted = net(torch.from_numpy(x)).double().numpy()
    noise = ((design.golden(x) - wanted) ** 2).sum()
    return float(10 * np.log10(((wanted - wanted.mean(axis=0)) ** 2).sum() / noise))


def some_frames(count: int, seed: int) -> Any:
    return np.random.default_rng(seed).uniform(-1, 1, (count, *SHAPE)).astype(np.float32)


def converted(net: Any, **keys: Any) -> Any:
    return hlsgen.from_torch(net, SHAPE, calibration=some_frames(32, 1), precision={"default": 8, **keys})


def test_uneven_channels_keep_their_bits() -> None:
    """In 8 bits, on frames that chose nothing: near what the network with even channels has."""
    net, x = uneven_net(5.0), some_frames(64, 2)
    plain, balanced = (decibels(converted(net, balance=given), net, x) for given in (False, True))
    even = decibels(converted(uneven_net(0.0)), uneven_net(0.0), x)
    assert plain < even - 10
    assert balanced > even - 3


def test_the_trace_has_the_values_of_the_framework() -> None:
    """Tensors are scaled in the design, and shown as PyTorch has them."""
    net = uneven_net(5.0)
    design = hlsgen.from_torch(
        net, SHAPE, calibration=some_frames(32, 1), precision={"default": 14, "balance": True}
    )
    assert any(np.any(np.asarray(one.scale) != 1) for one in design.given.graph.origins)
    trace = design.trace(some_frames(4, 3))
    assert "PyTorch" in trace.judge and trace.misread is None
    assert trace.first_below(50) is None


def floating_run(net: Any, count: int = 32) -> FloatRun:
    """The network in floating point, as a frontend reads it, on frames."""
    graph = hlsgen.from_torch(net, SHAPE, precision="fixed<16,6>").given.reference
    assert graph is not None
    return FloatRun(graph, {graph.inputs[0].name: some_frames(count, 1).astype(np.float64)})


def test_floating_point_stays_as_it_is() -> None:
    """But for the 40 bits of `exact_product`: the factors are powers of two."""
    run = floating_run(uneven_net(5.0))
    found = balanced_run(run, (), None)
    shown = {port.source for port in run.graph.outputs}
    before, after = (run_golden(one.graph, one.frames, shown) for one in (run, found))
    assert shown and all(np.abs(before[name] - after[name]).max() < 2.0**-38 for name in shown)
    changed = set()
    for layer, other in zip(run.graph.layers, found.graph.layers, strict=True):
        if isinstance(layer, Conv2d) and isinstance(other, Conv2d):
            assert np.array_equal(layer.weights == 0, other.weights == 0)
            assert set(np.frexp(layer.weights / other.weights)[0].reshape(-1)) == {0.5}
            changed |= set() if np.array_equal(layer.weights, other.weights) else {layer.name}
    assert {"conv1", "deep", "conv2"} <= changed


def test_channels_that_are_even_stay_where_scaling_gains_nothing() -> None:
    """Of one layer between input and output nothing can be scaled; a run of no better decibels is kept."""
    single = floating_run(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()).eval())
    assert balanced_run(single, (), None) is single
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 1), nn.ReLU(), nn.Conv2d(8, 4, 1)).eval()
    with torch.no_grad():
        for layer in (net[0], net[2]):
            layer.weight.copy_(torch.where(layer.weight < 0, -0.5, 0.5))
            layer.bias.zero_()
    even = floating_run(net)
    assert balanced_run(even, (), None) is even


def test_layers_that_take_other_weights_keep_theirs() -> None:
    run = floating_run(uneven_net(5.0))
    found = balanced_run(run, {"deep"}, None)
    weights = [
        {layer.name: layer.weights for layer in one.graph.layers if isinstance(layer, Conv2d)}
        for one in (run, found)
    ]
    assert np.array_equal(weights[0]["deep"], weights[1]["deep"])
    assert np.array_equal(weights[0]["conv1"], weights[1]["conv1"])  # what deep reads stays, too


def grouped(graph: Any) -> list[tuple[set[str], list[str], list[str]]]:
    return [
        (set(one.tensors), [p.name for p in one.producers], [c.name for c in one.consumers])
        for one in channel_groups(graph)
    ]


def test_groups() -> None:
    found = grouped(floating_run(uneven_net(0.0)).graph)
    assert [(given, read) for _, given, read in found] == [
        (["conv1"], ["deep"]),
        (["deep"], ["conv2"]),
        (["conv2", "conv3"], ["conv3", "fc"]),  # the sum joins both sides of conv3
    ]
    assert {"conv1"} <= found[0][0] and {"add", "pool"} <= found[2][0]


@pytest.mark.parametrize(
    "last", [nn.ReLU6(), nn.Sigmoid(), nn.Hardswish()], ids=lambda one: type(one).__name__
)
def test_functions_that_are_not_homogeneous_keep_their_tensors(last: Any) -> None:
    found = grouped(floating_run(uneven_net(0.0, last)).graph)
    assert [given for _, given, _ in found] == [["conv1"], ["deep"]]


def test_what_is_shown_keeps_its_values() -> None:
    """The residual network shows its pool, and by it all behind the first sum."""
    graph = run_passes(residual_network(), FLOAT_PASSES)
    assert [given for _, given, _ in grouped(graph)] == [["conv2"]]
    assert grouped(graph)[0][0] == {"conv2", "leaky2"}


def test_weights_by_the_channel_that_is_read() -> None:
    """Groups read their own channels: by adding one at a time."""
    torch.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(3, 12, 1), nn.ReLU(), nn.Conv2d(12, 8, 3, groups=4)).eval()
    layer = next(one for one in floating_run(net).graph.layers if isinstance(one, Conv2d) and one.groups == 4)
    weights = net[2].weight.detach().abs().amax(dim=(2, 3)).double().numpy()
    wanted = np.zeros(12)
    for output in range(8):
        for column in range(3):
            channel = output // 2 * 3 + column
            wanted[channel] = max(wanted[channel], weights[output, column])
    assert np.array_equal(by_channel(layer, weights, np.maximum), wanted)


@pytest.mark.parametrize("default", ["fixed<16,6>", "float32", "half"])
def test_types_that_no_frames_choose_are_refused(default: str) -> None:
    precision = {"default": default, "balance": True}
    with pytest.raises(DesignError, match=f"balance: channels are scaled .* precision is {default}"):
        hlsgen.from_torch(
            uneven_net(0.0), SHAPE, calibration=some_frames(8, 1), precision=precision, style="tasks"
        )


def test_training_is_refused() -> None:
    design = converted(uneven_net(5.0), balance=True)
    with pytest.raises(DesignError, match="balance: the weights are scaled"):
        check_training(design)


def test_widths_that_are_found_are_found_again(tmp_path: Path) -> None:
    """`hlsgen quantise` writes the key, and the file makes the same network."""
    (tmp_path / "net.py").write_text(
        "import torch\nfrom torch import nn\n\n\ndef make_net():\n    torch.manual_seed(0)\n"
        "    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Flatten(), "
        "nn.Linear(128, 5))\n    with torch.no_grad():\n"
        "        sizes = 2.0 ** torch.tensor([-5.0, 5, -3, 4, 0, 1, -4, 2])\n"
        "        net[0].weight.mul_(sizes.reshape(-1, 1, 1, 1)), net[0].bias.mul_(sizes)\n"
        "        net[2].weight.div_(sizes.reshape(1, -1, 1, 1))\n    return net.eval()\n"
    )
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(0, 0.5, (160, 3, 8, 8)).astype(np.float32))
    design = {
        "name": "net",
        "board": "zcu102",
        "model": {"torch": "net.py:make_net"},
        "input": {"shape": [3, 8, 8], "samples": "x.npy"},
        "precision": {"default": 8, "balance": True},
    }
    (tmp_path / "net.yaml").write_text(yaml.safe_dump(design))
    command("quantise", str(tmp_path / "net.yaml"), "--widths", "4,6,8", "-o", str(tmp_path / "found.yaml"))
    written = yaml.safe_load((tmp_path / "found.yaml").read_text())
    assert written["precision"]["balance"] is True
    first, second = (hlsgen.load(tmp_path / name).given.reference for name in ("net.yaml", "found.yaml"))
    for layer, other in zip(first.layers, second.layers, strict=True):
        if isinstance(layer, Conv2d) and isinstance(other, Conv2d):
            assert np.array_equal(layer.weights, other.weights)
