"""A PyTorch model written down is that model: PyTorch makes it again and gives the same answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
nn, F = torch.nn, torch.nn.functional

from hlsgen.frontends.torch.export import named_results  # noqa: E402
from hlsgen.frontends.torch.modules import module_document  # noqa: E402
from hlsgen.model.documents import ModelDocument  # noqa: E402
from tests.support.cedr_rebuild import Rebuilt  # noqa: E402
from tests.support.torch_examples import EXAMPLES, Examples  # noqa: E402

Module: Any = nn.Module


def rebuilt(document: ModelDocument) -> Rebuilt:
    """From what is in the files: through JSON."""
    return Rebuilt(json.loads(json.dumps(document.dag, allow_nan=False)), dict(document.parameters))


def compare(model: Any, shapes: list[tuple[int, ...]], names: tuple[str, ...] = ("x",)) -> ModelDocument:
    """The model and the one made again on random frames: the same numbers, of every output."""
    document = module_document(model, shapes)
    generator = torch.Generator().manual_seed(3)
    frames = [torch.randn(3, *shape, generator=generator) for shape in shapes]
    with torch.no_grad():
        wanted = dict(named_results(model.eval()(*(one.clone() for one in frames))))
        found = rebuilt(document)(**dict(zip(names, frames, strict=True)))
    assert found.keys() == wanted.keys()
    for name, tensor in wanted.items():
        torch.testing.assert_close(found[name], tensor, rtol=0, atol=0, equal_nan=True, msg=name)
    return document


@pytest.mark.parametrize("shapes", list(EXAMPLES), ids=str)
def test_every_operation_is_written_down(shapes: tuple[tuple[int, ...], ...]) -> None:
    compare(Examples(EXAMPLES[shapes]), list(shapes), ("x", "y")[: len(shapes)])


class Slide(Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv_relu = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
        self.linear = nn.Linear(32, 16)
        self.maxpool = nn.MaxPool2d(2, 2)

    def forward(self, x: Any) -> Any:
        return self.linear(self.maxpool(self.conv_relu(x)).flatten(1))


def test_a_sequential_is_a_group() -> None:
    """As the slides of CEDR have it: layers as declared, calls as made."""
    document = compare(Slide(), [(3, 6, 6)])
    group, linear, maxpool = document.layers
    assert (group["sequential"], group["name"], group["length"]) == ("yes", "conv_relu", 2)
    assert (group["0"]["name"], group["0"]["type"]) == ("conv_relu_0", "Conv2d")
    assert "sequential" not in group["0"]
    assert {"in_channels": 3, "out_channels": 8, "kernel_size": [3, 3]}.items() <= group["0"].items()
    assert {"stride", "padding", "dilation", "groups", "bias", "padding_mode"} <= set(group["0"])
    assert (group["1"]["name"], group["1"]["type"]) == ("conv_relu_1", "ReLU")
    assert (linear["type"], linear["in_features"], linear["out_features"]) == ("Linear", 32, 16)
    assert (maxpool["type"], maxpool["sequential"]) == ("MaxPool2d", "no")
    calls = [(one["name"], one["input"], one["output"], one["next"]) for one in document.dag]
    assert calls == [
        ("conv_relu", "x", "conv_relu", "maxpool"),
        ("maxpool", "conv_relu", "maxpool", "flatten"),
        ("flatten", "maxpool", "flatten", "linear"),
        ("linear", "flatten", "linear", "NONE"),
    ]
    assert {key: document.dag[0][key] for key in ("0", "1", "length")} == {
        key: group[key] for key in ("0", "1", "length")
    }


class Block(Module):
    """Modules called twice, in place, with a skip; a Sequential in a Sequential; parameters of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(8, 8, 3, padding="same", dilation=2, groups=4, bias=False)
        self.norm = nn.BatchNorm2d(8, eps=1e-3, momentum=0.3)
        self.act = nn.LeakyReLU(0.17, inplace=True)
        self.down = nn.Sequential(nn.Sequential(nn.Conv2d(8, 8, 1), nn.Identity()), nn.Dropout(0.4))
        self.scale = nn.Parameter(torch.rand(8, 1, 1) + 0.5)
        self.register_buffer("shift", torch.rand(8, 1, 1), persistent=False)
        torch.nn.init.uniform_(self.norm.running_var, 0.5, 2)
        torch.nn.init.uniform_(self.norm.running_mean, -1, 1)

    def forward(self, x: Any) -> Any:
        y = self.act(self.norm(self.conv(x)))
        y = self.act(self.norm(self.conv(y)) * self.scale + self.shift)
        y += self.down(x)
        return F.relu_(y)


class Network(Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.Hardtanh(-1.0, float("inf")))
        self.stem_0 = nn.ReLU()  # its name is that of the stem's first member
        self.layers = nn.Sequential(Block(), Block())
        self.pool = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.head = nn.Linear(72, 5)

    def forward(self, x: Any, y: Any) -> Any:
        deep = self.layers(self.stem_0(self.stem(x) + y))
        first, second = torch.split(deep, [3, 5], 1)
        again = self.layers[0].down(torch.cat([second, first], dim=1))
        flat = self.pool(again).view(x.size(0), -1)
        return {"scores": self.head(flat), "mean": deep.mean((2, 3)), "first": first + torch.tensor([2.0])}


def test_blocks_and_functions_are_entries() -> None:
    torch.manual_seed(5)
    document = compare(Network(), [(3, 12, 12), (8, 6, 6)], ("x", "y"))
    names = [one["name"] for one in document.dag]
    assert len(set(names)) == len(names)
    of = {one["path"]: one for one in document.dag if "path" in one}
    assert of["layers.1.down"]["0"]["0"]["name"] == "layers_1_down_0_0"
    assert {"eps": 1e-3, "momentum": 0.3, "num_features": 8}.items() <= of["layers.0.norm"].items()
    assert of["layers.0.act"]["negative_slope"] == 0.17 and of["pool"]["ceil_mode"] is True
    assert (of["layers.0.conv"]["padding"], of["layers.0.conv"]["groups"]) == ("same", 4)
    assert document.layers[0]["1"]["max_val"] == {"float": "inf"}
    assert {"add", "split_with_sizes", "cat", "view", "mean"} <= {one.get("type") for one in document.dag}
    blocks = next(one for one in document.layers if one["name"] == "layers")
    assert blocks["1"]["modules"]["down"]["1"]["type"] == "Dropout" and blocks["1"]["type"] == "Block"


class Own(nn.Conv2d):  # type: ignore[misc]
    """A convolution that does more than its base: no entry may say that it is one."""

    def forward(self, x: Any) -> Any:
        return super().forward(x) * 2


@pytest.mark.parametrize(
    "model",
    [
        nn.Conv2d(3, 4, 3),
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(64, 3)),
        nn.Sequential(Own(3, 4, 3), nn.ReLU()),
        torch.nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 4, 3)),
    ],
    ids=["one module", "the model a Sequential", "a class of its own", "weight norm"],
)
def test_models_of_other_forms(model: Any) -> None:
    document = compare(model, [(3, 6, 6)], ("input",))
    assert document.layers and document.dag
